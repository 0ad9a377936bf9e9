# %% [markdown]
# # Signatures: principal components made of pathways
#
# Expression of 400 genes in 90 samples of three kinds. We look for a few directions in which samples differ, each made
# of few genes, with names, and of genes that belong together.
#
# The data are simulated, so that we know what is in them: two pathways move between the kinds of samples, and a third
# one moves in all of them.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import pursuit

rng = np.random.default_rng(1)
genes = [f"GENE{j:03}" for j in range(400)]
pathways = {f"pathway {p}": [genes[j] for j in rng.choice(400, 25, replace=False)] for p in range(20)}
kinds = np.repeat(["ALL", "AML", "MLL"], 30)

expression = pd.DataFrame(rng.standard_normal((90, 400)), columns=genes)
for name, effect in (
    ("pathway 3", kinds == "AML"),
    ("pathway 7", kinds == "MLL"),
    ("pathway 12", rng.random(90)),
):
    expression[pathways[name]] += 2.5 * np.outer(effect, rng.uniform(0.5, 1.0, 25))
expression.iloc[:3, :5].round(2)

# %% [markdown]
# ## Components of few genes
#
# `SparsePCA` bounds the number of loadings. The components are judged by what their span explains, so that nothing is
# counted twice where they overlap.

# %%
sparse = pursuit.SparsePCA(3, k=25, random_state=0).fit(expression)
print("explained:", sparse.explained_variance_ratio_.round(3))
figure = sparse.plot_atoms(top=8)

# %% [markdown]
# How many of the genes of a component are in the pathway that was planted?


# %%
def best_pathway(loadings):
    chosen = {genes[j] for j in np.flatnonzero(loadings)}
    name = max(pathways, key=lambda each: len(chosen & set(pathways[each])))
    return name, f"{len(chosen & set(pathways[name]))} of {len(chosen)} genes"


for loadings in sparse.components_:
    print(*best_pathway(loadings))

# %% [markdown]
# ## Components of pathways
#
# Where we know which genes belong together we say so: the non-zeros of a component lie within one of the gene sets,
# which may overlap. Genes are called by their names, those of the columns of the frame; a `.gmt` file does as well as a
# dictionary: `pursuit.atoms.sets("pathways.gmt", 1)`.

# %%
structured = pursuit.SparsePCA(3, atoms=pursuit.atoms.sets(pathways, 1), random_state=0).fit(expression)
for loadings in structured.components_:
    print(*best_pathway(loadings))

# %% [markdown]
# The scores tell the kinds of samples apart.

# %%
scores = structured.transform(expression)
figure, axes = plt.subplots(1, 3, figsize=(8, 2.6), layout="constrained", sharey=True)
for k, ax in enumerate(axes):
    ax.boxplot([scores[kinds == kind, k] for kind in ("ALL", "AML", "MLL")])
    ax.set_xticks([1, 2, 3], ["ALL", "AML", "MLL"])
    ax.set_title(best_pathway(structured.components_[k])[0], fontsize=9)

# %% [markdown]
# ## How many?
#
# `choose_rank` holds out single entries and predicts them: more components than there are predict no better.

# %%
centred = expression - expression.mean()
choice = pursuit.choose_rank(centred, range(1, 7), right="sparse:25", random_state=0)
print(choice.reason)
axes = choice.plot()

# %% [markdown]
# A page with everything about the model, for the browser: `structured.report("signatures.html", labels=kinds)`.
