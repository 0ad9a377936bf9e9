# %% [markdown]
# # Programs of cells: consensus, and how many
#
# Counts of 300 genes in 500 cells. Every cell uses a few of five programs, and its depth (how many molecules were
# caught) is its own. We want the programs, how much of each a cell uses, and how sure we can be of both.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import pursuit

rng = np.random.default_rng(2)
programs = rng.gamma(0.15, 1.0, (5, 300))
programs /= programs.sum(axis=1, keepdims=True)
usages = rng.dirichlet(np.full(5, 0.3), 500)
depth = rng.lognormal(7.5, 0.3, 500)
counts = rng.poisson(depth[:, None] * (usages @ programs)).astype(float)
cells = pd.DataFrame(counts, columns=[f"GENE{j:03}" for j in range(300)])
print(f"{(counts == 0).mean():.0%} of the entries are zero")

# %% [markdown]
# ## How many programs?
#
# Two questions. How many *are* there: entries are held out, and predicted, under the loss that counts have.

# %%
by_prediction = pursuit.choose_rank(
    cells,
    range(2, 9),
    left="nonneg",
    right="nonneg",
    weights="nonneg",
    loss="poisson",
    folds=3,
    random_state=0,
)
print(by_prediction.reason)
axes = by_prediction.plot()

# %% [markdown]
# And how many can be *named*: NMF from many random starts, whose programs are clustered. Where starts agree, clusters are
# far apart (silhouette near 1).

# %%
by_agreement = pursuit.choose_k(cells, range(2, 9), n_seeds=20, random_state=0)
print(by_agreement.reason)
axes = by_agreement.plot()

# %% [markdown]
# ## The consensus
#
# `choose_k` keeps a fitted `ConsensusNMF` for every number. `usages_` are shares that sum to one in every cell,
# `spectra_` the programs, `marker_scores_` say which genes mark one. For real data, with thousands of genes, add
# `n_top_features=2000, unit_variance=True`, as cNMF does.

# %%
model = by_agreement.model
for k, markers in enumerate(model.top_features(5)):
    print(f"program {k + 1}: stability {model.stability_[k]:.3f}, markers {', '.join(markers)}")

# %%
units = lambda rows: rows / np.linalg.norm(rows, axis=1, keepdims=True)
likeness = units(model.components_) @ units(programs).T
print("cosines with the programs that were planted:", likeness.max(axis=1).round(3))
figure, ax = plt.subplots(figsize=(5, 3), layout="constrained")
found, true = model.usages_, usages[:, likeness.argmax(axis=1)]
ax.plot(true.ravel(), found.ravel(), ".", markersize=2)
ax.set_xlabel("share that was planted")
ax.set_ylabel("share that was found")

# %% [markdown]
# ## New cells
#
# `transform` gives the amounts of programs in cells that were not there before; `pursuit.anndata.fit` and `transform` do
# all of this on AnnData, genes matched by name.

# %%
new = rng.poisson(2000 * (np.eye(5)[[0, 3]] @ programs)).astype(float)
model.transform(pd.DataFrame(new, columns=cells.columns)).round(1)
