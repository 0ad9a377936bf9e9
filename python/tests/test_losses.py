"""Losses beyond squares: means, scores, weights, files and what is refused."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose

import pursuit


def predictors(rng, rows=40, columns=30, rank=2):
    return rng.standard_normal((rows, rank)) @ rng.standard_normal((rank, columns)) * 0.8


def numbers(rng, loss, **sizes):
    x = predictors(rng, **sizes)
    if loss == "bernoulli":
        return (rng.random(x.shape) < 1 / (1 + np.exp(-x))).astype(float)
    if loss in ("poisson", "poisson-log") or loss.startswith("negative-binomial"):
        return rng.poisson(np.exp(x + 0.5)).astype(float)
    if loss == "gamma":
        return rng.gamma(3, np.exp(x) / 3)
    if loss == "ordinal":
        return np.clip(np.round(x + rng.logistic(size=x.shape)), -1, 2)
    return x + rng.standard_normal(x.shape) * 0.3


LOSSES = [
    "huber:0.5",
    "absolute",
    "quantile:0.7",
    "bernoulli",
    "poisson-log",
    "negative-binomial:3",
    "negative-binomial:auto",
    "gamma",
    "ordinal",
]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("offsets", [False, True])
def test_every_loss_fits_transforms_scores_and_is_saved(rng, tmp_path, loss, offsets):
    X = numbers(rng, loss)
    model = pursuit.MatrixPursuit(2, loss=loss, offsets=offsets, random_state=0, tol=1e-7).fit(X)
    assert 0.02 < model.deviance_explained_ < 1
    assert_allclose(model.path_["explained_variance"][-1], model.deviance_explained_, rtol=1e-9)
    assert_allclose(model.score(X), model.deviance_explained_, atol=0.02)
    z = model.transform(X)
    assert z.shape == (40, 2) and np.isfinite(z).all()
    means = model.inverse_transform(z)
    assert np.isfinite(means).all()
    if loss == "bernoulli":
        assert means.min() >= 0 and means.max() <= 1
    if loss in ("poisson-log", "gamma"):
        assert means.min() > 0
    model.save(tmp_path / "model.npz")
    again = pursuit.load(tmp_path / "model.npz")
    assert again.loss == pursuit.MatrixPursuit(loss=loss).loss
    assert_allclose(again.inverse_transform(z), means)
    assert_allclose(again.transform(X), z, rtol=1e-6, atol=1e-6)


def test_the_objective_is_half_the_deviance(rng):
    X = numbers(rng, "poisson-log")
    model = pursuit.MatrixPursuit(2, loss="poisson-log", offsets=True, random_state=0).fit(X)
    x = (model.left_ * model.weights_) @ model.components_
    mean = np.exp(x + model.row_offsets_[:, None] + model.column_offsets_)
    log_ratio = np.where(X > 0, X * np.log(np.where(X > 0, X, 1) / mean), 0)
    assert_allclose(model.objective_, np.sum(log_ratio - X + mean), rtol=1e-9)


def test_sparse_counts_are_the_same_as_dense_ones(rng):
    X = numbers(rng, "poisson-log") * (rng.random((40, 30)) < 0.4)
    models = [
        pursuit.MatrixPursuit(2, loss="poisson-log", random_state=0).fit(each)
        for each in (X, scipy.sparse.csr_matrix(X), scipy.sparse.csc_matrix(X))
    ]
    for model in models[1:]:
        assert_allclose(model.objective_, models[0].objective_, rtol=1e-9)


def test_weights_of_zero_are_unknown_entries_and_weights_of_two_rows_twice(rng):
    X = numbers(rng, "bernoulli")
    spoilt, weights = X.copy(), np.ones_like(X)
    spoilt[3, 5] = spoilt[10, 2] = 1e6
    weights[3, 5] = weights[10, 2] = 0
    fit = pursuit.MatrixPursuit(2, loss="bernoulli", random_state=0).fit
    weighted = fit(spoilt, entry_weights=weights).objective_
    assert_allclose(weighted, fit(X, entry_weights=scipy.sparse.csr_matrix(weights)).objective_, rtol=1e-10)
    with pytest.raises(ValueError, match=r"entry \(4, 6\).*1000000.*huber"):
        fit(spoilt)
    options = {"loss": "bernoulli", "random_state": 0, "tol": 1e-10, "max_iter": 3000}
    once = pursuit.MatrixPursuit(1, **options).fit(X, sample_weight=np.r_[np.full(10, 2.0), np.ones(30)])
    twice = pursuit.MatrixPursuit(1, **options).fit(np.r_[X, X[:10]])
    assert_allclose(once.objective_, twice.objective_, rtol=1e-6)


def test_scales_of_rows(rng):
    X = numbers(rng, "poisson-log")
    X[:20] *= 10
    options = {"loss": "poisson-log", "random_state": 0}
    model = pursuit.MatrixPursuit(2, **options).fit(X, row_scale="sum")
    assert_allclose(model.row_scale_, X.sum(1) / X.sum(1).mean())
    same = pursuit.MatrixPursuit(2, **options).fit(X, row_scale=X.sum(1) / X.sum(1).mean())
    assert_allclose(model.objective_, same.objective_)
    assert_allclose(model.score(X, row_scale="sum"), model.deviance_explained_, atol=0.02)
    z = pursuit.MatrixPursuit(2, **options).fit_transform(X, row_scale="sum")
    assert_allclose(z, model.transform(X, row_scale="sum"))


@pytest.mark.parametrize(
    "parameters, fit, message",
    [
        ({"loss": "cauchy"}, {}, "allowed are squares, huber:DELTA"),
        ({"loss": "huber"}, {}, "huber:DELTA must be a number above 0"),
        ({"loss": "poisson"}, {}, "poisson-log"),
        ({"loss": "bernoulli"}, {"row_scale": "sum"}, "has no such scale"),
        ({"loss": "poisson-log"}, {"row_scale": "mean"}, "must be 'sum'"),
        ({"loss": "poisson-log"}, {"row_scale": np.ones(3)}, "there are 3"),
        ({}, {"sample_weight": -np.ones(40)}, "at least 0"),
        ({}, {"sample_weight": np.zeros(40)}, "every weight is zero"),
        ({}, {"sample_weight": np.ones((40, 1))}, "one number for every row"),
        ({}, {"entry_weights": np.ones((3, 3))}, "3 x 3"),
        ({"loss": "bernoulli", "start": "leading"}, {}, "greedy"),
    ],
)
def test_what_is_refused(rng, parameters, fit, message):
    X = numbers(rng, "bernoulli")
    with pytest.raises(ValueError, match=message):
        pursuit.MatrixPursuit(2, **parameters).fit(X, **fit)


def test_a_model_of_the_program_comes_back_with_its_loss(rng):
    model = pursuit.MatrixPursuit(1, loss="negative-binomial:auto").fit(numbers(rng, "poisson-log"))
    assert model.size_ > 0
    assert pursuit.MatrixPursuit(1).fit(numbers(rng, "poisson-log")).loss == "squares"


COMPLETED = [
    ("poisson", dict(left="nonneg", right="nonneg", weights="nonneg")),
    ("poisson-log", dict(left="sphere")),
    ("bernoulli", dict(left="sphere", right="sphere")),
    ("ordinal", dict(right="sphere")),
    ("huber:0.5", dict(left="sphere")),
    ("gamma", dict(left="sphere")),
]


@pytest.mark.parametrize("loss, sets", COMPLETED)
def test_completion_with_atom_sets_takes_any_loss(rng, tmp_path, loss, sets):
    X = np.minimum(numbers(rng, loss, rows=200, columns=50), 200)
    hidden = rng.random(X.shape) < 0.2
    known = np.where(hidden, np.nan, X)
    model = pursuit.MatrixCompletion(3, loss=loss, random_state=0, **sets).fit(known)
    rows, columns = np.nonzero(hidden)
    values, deviations = model.predict(list(zip(rows, columns)), return_std=True)
    assert np.isfinite(values).all() and (deviations > 0).all()
    assert values.min() >= np.nanmin(known) and values.max() <= np.nanmax(known)
    held_back = (rows, columns, X[hidden])
    nothing = pursuit.MatrixCompletion(
        1, loss=loss, random_state=0, validation=0, regularization="1e6", offsets=False, **sets
    ).fit(known)
    assert model.score(held_back) > nothing.score(held_back)
    assert np.isfinite(model.score(known)) and model.transform(known).shape == (200, 1 + model.n_components_)
    model.save(tmp_path / "m.npz")
    again = pursuit.load(tmp_path / "m.npz")
    assert again.loss == loss
    assert_allclose(again.predict(list(zip(rows, columns))), values)
    assert_allclose(again.score(held_back), model.score(held_back))


def test_weights_of_entries_go_with_atom_sets(rng):
    X = predictors(rng) + 0.1 * rng.standard_normal((40, 30))
    spoilt = X.copy()
    wrong = rng.random(X.shape) < 0.1
    spoilt[wrong] += 100
    model = pursuit.MatrixCompletion(
        2, left="sphere", right="sphere", offsets=False, clip=None, random_state=0
    ).fit(spoilt, entry_weights=np.where(wrong, 0.0, 1.0))
    rows, columns = np.nonzero(wrong)
    values = model.predict(list(zip(rows, columns)))
    assert np.sqrt(np.mean((values - X[wrong]) ** 2)) < 0.3


def test_completion_names_the_first_entry_outside_a_loss(rng):
    with pytest.raises(ValueError, match="loss poisson-log takes"):
        pursuit.MatrixCompletion(1, loss="poisson-log", left="sphere").fit(np.array([[1.0, 2], [-3, 1]]))
    with pytest.raises(ValueError, match="other losses go with atom"):
        pursuit.MatrixCompletion(1, loss="poisson-log").fit(np.ones((4, 4)))
