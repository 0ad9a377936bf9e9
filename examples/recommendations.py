# # Recommendations with confidence
#
# Ratings of some films by some users; what would the others be? `MatrixCompletion` estimates rank, noise and
# every variance from the ratings themselves, so there is nothing to tune, and every prediction comes with a
# standard deviation.

# %% Ratings: users and films have ids, most pairs were never rated
import tempfile

import numpy as np

import pursuit

rng = np.random.default_rng(0)
users, films = [f"user{i}" for i in range(400)], [f"film{j}" for j in range(150)]
taste, style = rng.standard_normal((400, 3)), rng.standard_normal((150, 3))
truth = 3 + 0.4 * rng.standard_normal((400, 1)) + 0.5 * rng.standard_normal((1, 150)) + 0.4 * taste @ style.T
pairs = np.argwhere(rng.random(truth.shape) < 0.25)
rated = truth[tuple(pairs.T)] + 0.3 * rng.standard_normal(len(pairs))
is_test = rng.random(len(pairs)) < 0.1


def triplets(chosen):
    return [users[i] for i in pairs[chosen, 0]], [films[j] for j in pairs[chosen, 1]], rated[chosen]


print(f"{np.sum(~is_test)} ratings to learn from, {is_test.sum()} to judge by")

# %% Nothing to tune
model = pursuit.MatrixCompletion(random_state=0, clip=None).fit(triplets(~is_test))
print(f"{model.n_components_} atoms beside the offsets, noise {model.noise_:.3f}; it was made with 0.3")

# %% How good the predictions are, and how well they know it
row, column, value = triplets(is_test)
predicted, deviation = model.predict(list(zip(row, column)), return_std=True)
rmse = np.sqrt(np.mean((predicted - value) ** 2))
inside = np.mean(np.abs(predicted - value) < 1.96 * deviation)
print(f"test RMSE {rmse:.3f}; {inside:.1%} of the ratings lie inside their 95 % interval")
assert rmse < 0.4 and 0.9 < inside < 0.99

# %% What to see next
best = model.recommend("user7", 5)
for each in best:
    print(f"  {each.column}: {each.value:.2f} +- {each.deviation:.2f}")
print(f"a safe bet: {max(best, key=lambda each: each.value - each.deviation).column}")

# %% A new user with five ratings
newcomer = ["new"] * 5, films[:5], [5.0, 2.0, 4.0, 3.0, 1.0]
expected = model.inverse_transform(model.transform(newcomer))[0]
print("for the newcomer:", ", ".join(model.column_ids_[j] for j in np.argsort(-expected)[:3]))
assert np.isfinite(expected).all()

# %% The file is the program's: `pursuit recommend films.npz --row user7 --top 5`
with tempfile.TemporaryDirectory() as folder:
    model.save(f"{folder}/films.npz")
    assert pursuit.load(f"{folder}/films.npz").recommend("user7", 5) == best
