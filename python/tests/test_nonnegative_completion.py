"""Completed matrices of non-negative sets: nothing of them is negative, for new rows either."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pursuit

SETS = dict(left="nonneg", right="nonneg", weights="nonneg", random_state=0)


@pytest.fixture
def seen(rng):
    X = rng.gamma(0.5, 1, (60, 3)) @ rng.gamma(0.5, 1, (3, 20)) + 0.05 * rng.random((60, 20))
    return np.where(rng.random(X.shape) < 0.3, np.nan, X)


@pytest.fixture
def others(rng):
    """Rows that no sum of parts is like."""
    X = rng.standard_normal((25, 20))
    return np.where(rng.random(X.shape) < 0.3, np.nan, X)


@pytest.mark.parametrize("options", [{}, {"offsets": False}, {"offsets": True}, {"regularization": "none"}])
def test_factors_of_new_rows_are_not_negative(seen, others, options, tmp_path):
    model = pursuit.MatrixCompletion(3, **SETS, **options).fit(seen)
    rows = model.transform(others)
    assert (rows[:, 1:] >= 0).all() and (rows[:, 1:] == 0).any()
    assert (model.components_ >= 0).all() and model.components_.shape == (model.n_components_, 20)
    assert_allclose(pickle.loads(pickle.dumps(model)).transform(others), rows)
    model.save(tmp_path / "m.npz")
    assert_allclose(pursuit.load(tmp_path / "m.npz").transform(others), rows)


def test_factors_of_rows_like_those_of_the_model_are_what_they_would_be(seen):
    model = pursuit.MatrixCompletion(3, regularization="none", offsets=False, **SETS).fit(seen[:50])
    new = model.transform(seen[50:])
    assert_allclose(new[:, 0], 0, atol=1e-6)
    close = np.abs(new[:, 1:] @ model.components_ - seen[50:])
    assert np.nanmean(close) < 0.06 * np.nanmean(seen)


def test_other_losses_too(seen, others):
    counts = np.where(np.isnan(seen), np.nan, np.floor(5 * seen))
    model = pursuit.MatrixCompletion(3, loss="poisson", **SETS).fit(counts)
    assert (model.transform(np.floor(np.abs(others)))[:, 1:] >= 0).all()
    clicks = np.where(np.isnan(seen), np.nan, seen > 0.5)
    model = pursuit.MatrixCompletion(3, loss="bernoulli", **SETS).fit(clicks)
    assert (model.transform(np.where(np.isnan(others), np.nan, others > 1))[:, 1:] >= 0).all()


def test_components_are_what_factors_are_multiplied_with(seen):
    for options in ({}, {"left": "sphere", "right": "sparse:9", "offsets": False}):
        model = pursuit.MatrixCompletion(2, clip=None, random_state=0, **options).fit(seen)
        rows = model.transform(seen)
        flat = rows.copy()
        flat[:, 1:] = 0  # what is predicted without the components
        difference = model.inverse_transform(rows) - model.inverse_transform(flat)
        assert_allclose(rows[:, 1:] @ model.components_, difference, atol=1e-5)


def test_factors_may_be_negative_where_sets_allow_it(seen, others):
    model = pursuit.MatrixCompletion(2, right="nonneg", random_state=0).fit(seen)
    assert (model.transform(others)[:, 1:] < 0).any()
