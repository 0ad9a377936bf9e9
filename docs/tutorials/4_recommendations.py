# %% [markdown]
# # Recommendations: ratings, lists and reasons
#
# Stars that 300 people gave to 120 films, about a fifth of all pairs. We predict the others with how surely they are known,
# make lists, and say why.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import pursuit

rng = np.random.default_rng(4)
people, films = [f"person {i}" for i in range(300)], [f"film {j}" for j in range(120)]
taste, kind = rng.standard_normal((300, 3)), rng.standard_normal((120, 3))
liked = 3.4 + 0.5 * rng.standard_normal((300, 1)) + 0.4 * rng.standard_normal(120) + 0.6 * taste @ kind.T
who, what = np.nonzero(rng.random(liked.shape) < 0.2)
stars = np.clip(np.round(liked[who, what] + 0.5 * rng.standard_normal(len(who))), 1, 5)
ratings = pd.DataFrame({"row": [people[i] for i in who], "column": [films[j] for j in what], "value": stars})
ratings.head(4)

# %% [markdown]
# ## A model without knobs
#
# Rank, noise and every variance are estimated from the data. A tenth of the ratings is kept apart to judge it.

# %%
apart = rng.random(len(ratings)) < 0.1
model = pursuit.MatrixCompletion(random_state=0).fit(ratings[~apart])
print(f"{model.n_components_} components, noise {model.noise_:.2f} stars")
print(f"error of the ratings kept apart: {-model.score(ratings[apart]):.3f} stars")

# %% [markdown]
# Predictions know how good they are: standard deviations, noise included, against what came.

# %%
value, deviation = model.predict(ratings[apart], return_std=True)
scaled = (ratings["value"][apart].to_numpy() - value) / deviation
print(f"within one deviation: {np.mean(np.abs(scaled) < 1):.0%} (of normal errors 68 %)")
figure, ax = plt.subplots(figsize=(4.5, 2.8), layout="constrained")
bins = ax.hist(scaled, bins=30, density=True, alpha=0.6)
grid = np.linspace(-4, 4, 100)
ax.plot(grid, np.exp(-(grid**2) / 2) / np.sqrt(2 * np.pi))
ax.set_xlabel("error over its standard deviation")

# %% [markdown]
# ## Lists, and why
#
# What somebody has rated is left out of the list. `explain` says what every rating of theirs adds to a recommendation.

# %%
for each in model.recommend("person 7", 3):
    print(each.column, f"{each.value:.2f}")

# %%
best = model.recommend("person 7", 1)[0].column
for reason in model.explain("person 7", best)[:3]:
    print(reason)

# %% [markdown]
# ## Somebody new
#
# Three ratings are enough for a first list; nothing is fitted again.

# %%
newcomer = [(films[j], 5.0 if kind[j, 0] > 0 else 1.0) for j in np.argsort(-np.abs(kind[:, 0]))[:3]]
print("rated:", newcomer)
table = pd.DataFrame(
    {"row": "newcomer", "column": [f for f, _ in newcomer], "value": [v for _, v in newcomer]}
)
stars_for_all = model.inverse_transform(model.transform(table))[0]
order = [model.column_ids_[j] for j in np.argsort(-stars_for_all)]
print("recommended:", [film for film in order if film not in dict(newcomer)][:5])

# %% [markdown]
# ## Against others
#
# `evaluate_completion` compares methods on the same splits.

# %%
triplets = (ratings["row"].tolist(), ratings["column"].tolist(), ratings["value"].tolist())
scores = pursuit.evaluate_completion(triplets, methods=["offsets", "default"], random_state=0)
pd.DataFrame(scores)[["method", "rmse", "mae"]]
