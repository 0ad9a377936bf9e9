"""OrthogonalMatchingPursuit against scikit-learn's."""

import subprocess
import sys

import numpy as np
import pytest
import sklearn.linear_model
from numpy.testing import assert_allclose

import pursuit


@pytest.fixture
def problem(rng):
    X = rng.standard_normal((60, 100)) + 0.5
    codes = np.zeros((100, 7))
    for target in range(7):
        codes[rng.choice(100, 4, replace=False), target] = rng.standard_normal(4) + 2
    return X, X @ codes + 3, codes


def test_finds_the_planted_features(problem):
    X, Y, codes = problem
    model = pursuit.OrthogonalMatchingPursuit(4).fit(X, Y)
    assert_allclose(model.coef_, codes.T, atol=1e-8)
    assert_allclose(model.intercept_, 3)
    assert_allclose(model.predict(X), Y)
    assert model.sparse_coef_.nnz == 28
    assert model.score(X, Y) == pytest.approx(1)


@pytest.mark.parametrize("intercept", [True, False])
def test_agrees_with_scikit_learn_on_noisy_targets(problem, rng, intercept):
    X, Y, _ = problem
    X = X / np.linalg.norm(X - X.mean(axis=0) * intercept, axis=0)  # which compares products, not directions
    noisy = Y + rng.standard_normal(Y.shape)
    ours = pursuit.OrthogonalMatchingPursuit(8, fit_intercept=intercept).fit(X, noisy)
    theirs = sklearn.linear_model.OrthogonalMatchingPursuit(n_nonzero_coefs=8, fit_intercept=intercept)
    assert_allclose(ours.coef_, theirs.fit(X, noisy).coef_, atol=1e-8)


def test_one_target_has_one_row_of_coefficients(problem):
    X, Y, codes = problem
    model = pursuit.OrthogonalMatchingPursuit(4).fit(X, Y[:, 0])
    assert model.coef_.shape == (100,) and isinstance(model.intercept_, float)
    assert model.predict(X).shape == (60,)
    assert_allclose(model.coef_, codes[:, 0], atol=1e-8)


def test_stops_at_the_error_asked_for(problem, rng):
    X, Y, _ = problem
    model = pursuit.OrthogonalMatchingPursuit(50, target_error=0.3).fit(X, Y + rng.standard_normal(Y.shape))
    assert (model.relative_error_ <= 0.3).all()
    assert model.sparse_coef_.nnz < 7 * 50


def test_coefficients_can_be_kept_nonnegative(problem):
    X, Y, _ = problem
    assert pursuit.OrthogonalMatchingPursuit(10, weights="nonneg").fit(X, -Y).sparse_coef_.min() >= 0


def test_precision_is_kept(problem):
    X, Y, _ = problem
    model = pursuit.OrthogonalMatchingPursuit(4).fit(X.astype(np.float32), Y.astype(np.float32))
    assert model.coef_.dtype == np.float32


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1e8 / 3])
def test_a_constant_feature_gets_no_coefficient(problem, value):
    X, Y, codes = problem
    X = np.insert(X, 50, value, axis=1)
    coef = pursuit.OrthogonalMatchingPursuit(4).fit(X, Y).coef_
    assert (coef[:, 50] == 0).all()
    assert_allclose(np.delete(coef, 50, axis=1), codes.T, atol=1e-8)
    theirs = sklearn.linear_model.OrthogonalMatchingPursuit(n_nonzero_coefs=4)
    assert_allclose(coef[:, 50], theirs.fit(X, Y).coef_[:, 50], atol=1e-12)


def test_dependent_features_are_told(rng):
    X = rng.standard_normal((30, 4))
    X = X[:, [0, 0, 1, 1]]
    with pytest.warns(RuntimeWarning, match="1 of 1 targets got fewer than 3 features"):
        model = pursuit.OrthogonalMatchingPursuit(3).fit(X, rng.standard_normal(30))
    assert np.count_nonzero(model.coef_) == 2


def test_the_dictionary_is_not_copied_and_inner_products_are_bounded():
    code = """
import resource, sys, numpy as np, pursuit
from pursuit import _core
rng = np.random.default_rng(0)
D, Y = rng.standard_normal((64, 6000)), rng.standard_normal((64, 400))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
_core.omp(D, Y, atoms=5, weights="free", target_error=0.0, threads=1)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    used = int(run.stdout)
    assert used < 100_000, f"{used} KB; all inner products would take 288000"


@pytest.mark.parametrize("count, error", [(0, ValueError), (101, ValueError), (1.5, TypeError)])
def test_impossible_numbers_of_features(problem, count, error):
    with pytest.raises(error, match="n_nonzero_coefs"):
        pursuit.OrthogonalMatchingPursuit(count).fit(*problem[:2])
