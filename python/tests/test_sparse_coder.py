"""sparse_encode, SparseCoder and orthogonal_mp beside scikit-learn's."""

import warnings

import numpy as np
import pytest
import sklearn.decomposition
import sklearn.linear_model
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import pursuit


@pytest.fixture
def rows(rng):
    dictionary = rng.standard_normal((15, 20))
    dictionary /= np.linalg.norm(dictionary, axis=1, keepdims=True)
    return rng.standard_normal((9, 20)), dictionary


@pytest.mark.parametrize(
    "settings",
    [
        {"algorithm": "lasso_cd", "alpha": 0.2},
        {"algorithm": "lasso_lars", "alpha": 0.2},
        {"algorithm": "lasso_cd", "alpha": 0.2, "positive": True},
        {"algorithm": "lasso_lars"},
        {"algorithm": "lars", "n_nonzero_coefs": 4},
        {"algorithm": "lars"},
        {"algorithm": "omp", "n_nonzero_coefs": 4},
        {"algorithm": "omp"},
        {"algorithm": "threshold", "alpha": 0.3},
        {"algorithm": "threshold", "alpha": 0.3, "positive": True},
    ],
    ids=str,
)
def test_codes_are_those_of_scikit_learn(rows, settings):
    X, dictionary = rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = sklearn.decomposition.sparse_encode(X, dictionary, max_iter=100000, **settings)
    # Their coordinate descent ends at a gap of 1e-4.
    loose = 2e-2 if settings["algorithm"] == "lasso_cd" else 1e-8
    assert_allclose(pursuit.sparse_encode(X, dictionary, **settings), peer, atol=loose)


@pytest.mark.parametrize("positive", [False, True])
def test_lasso_codes_are_optimal(rows, positive):
    X, dictionary = rows
    codes = pursuit.sparse_encode(X, dictionary, algorithm="lasso_cd", alpha=0.1, positive=positive)
    slopes = (X - codes @ dictionary) @ dictionary.T
    assert_allclose(slopes[codes != 0], 0.1 * np.sign(codes[codes != 0]), atol=1e-5)
    assert (slopes if positive else np.abs(slopes)).max() <= 0.1 + 1e-5
    assert not positive or codes.min() >= 0


def test_alpha_of_omp_is_a_squared_error(rows):
    X, dictionary = rows
    codes = pursuit.sparse_encode(X, dictionary, algorithm="omp", alpha=12.0, n_nonzero_coefs=1)
    errors = np.sum((X - codes @ dictionary) ** 2, axis=1)
    peer = sklearn.linear_model.orthogonal_mp(dictionary.T, X.T, tol=12.0).T
    assert errors.max() <= 12
    more = np.sum(X**2, axis=1) > 12  # scikit-learn takes an atom even where none is needed
    assert more.sum() > 5
    assert_allclose(codes[more], peer[more], atol=1e-9)
    assert not codes[~more].any()


def test_lasso_says_when_it_did_not_end(rows):
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        pursuit.sparse_encode(*rows, algorithm="lasso_cd", alpha=0.01, max_iter=1)


def test_inner_products_may_be_given(rows):
    X, dictionary = rows
    given = {"gram": dictionary @ dictionary.T, "cov": dictionary @ X.T}
    for algorithm in ("lasso_cd", "lars", "omp", "threshold"):
        assert_allclose(
            pursuit.sparse_encode(X, dictionary, algorithm=algorithm, **given),
            pursuit.sparse_encode(X, dictionary, algorithm=algorithm),
        )
    with pytest.raises(ValueError, match="gram of shape"):
        pursuit.sparse_encode(X, dictionary, gram=np.eye(3))
    with pytest.raises(ValueError, match="cov of shape"):
        pursuit.sparse_encode(X, dictionary, cov=np.eye(3))


def test_codes_do_not_depend_on_threads_and_keep_precision(rows):
    X, dictionary = (part.astype(np.float32) for part in rows)
    for algorithm in ("lasso_cd", "lars", "omp", "threshold"):
        codes = [pursuit.sparse_encode(X, dictionary, algorithm=algorithm, n_jobs=jobs) for jobs in (None, 2)]
        assert (codes[0] == codes[1]).all() and codes[0].dtype == np.float32


def test_coder_is_the_function(rows):
    X, dictionary = rows
    coder = pursuit.SparseCoder(dictionary, transform_algorithm="lasso_cd", transform_alpha=0.2)
    codes = clone(coder).fit_transform(X)
    assert_allclose(codes, pursuit.sparse_encode(X, dictionary, algorithm="lasso_cd", alpha=0.2))
    assert_allclose(coder.inverse_transform(codes), codes @ dictionary)
    split = clone(coder).set_params(split_sign=True)
    assert split.transform(X).shape == (9, 30) and split.transform(X).min() >= 0
    assert_allclose(split.inverse_transform(split.transform(X)), codes @ dictionary)
    assert len(split.fit(X).get_feature_names_out()) == 30
    assert coder.n_components_ == 15 and coder.n_features_in_ == 20


@pytest.mark.parametrize(
    "argument", [{"algorithm": "best"}, {"alpha": -1.0}, {"algorithm": "omp", "n_nonzero_coefs": 0}], ids=str
)
def test_impossible_codings_are_refused(rows, argument):
    with pytest.raises(ValueError, match=list(argument)[-1]):
        pursuit.sparse_encode(*rows, **argument)
    with pytest.raises(ValueError, match="not supported for 'omp'"):
        pursuit.sparse_encode(*rows, algorithm="omp", positive=True)
    with pytest.raises(ValueError, match="different numbers of features"):
        pursuit.SparseCoder(rows[1]).fit(rows[0][:, :5])


@pytest.fixture
def regression(rng):
    X = rng.standard_normal((30, 40))
    return X / np.linalg.norm(X, axis=0), rng.standard_normal((30, 5))


@pytest.mark.parametrize("settings", [{"n_nonzero_coefs": 6}, {"tol": 8.0}, {}], ids=str)
@pytest.mark.parametrize("precompute", [False, True, "auto"])
def test_orthogonal_mp_is_that_of_scikit_learn(regression, settings, precompute):
    X, y = regression
    for target in (y, y[:, 0]):
        ours, steps = pursuit.orthogonal_mp(X, target, precompute=precompute, return_n_iter=True, **settings)
        theirs, peer = sklearn.linear_model.orthogonal_mp(X, target, return_n_iter=True, **settings)
        assert_allclose(ours, theirs, atol=1e-9)
        assert np.array_equal(steps, peer)
        norms = np.sum(np.square(target), axis=0)
        if target.ndim == 2:
            from_gram = pursuit.orthogonal_mp_gram(X.T @ X, X.T @ target, norms_squared=norms, **settings)
            assert_allclose(from_gram, theirs, atol=1e-8)


def test_orthogonal_mp_shows_its_path(regression):
    X, y = regression
    path = pursuit.orthogonal_mp(X, y, n_nonzero_coefs=6, return_path=True)
    assert path.shape == (40, 5, 6)
    for steps in range(1, 7):
        assert_allclose(path[..., steps - 1], pursuit.orthogonal_mp(X, y, n_nonzero_coefs=steps), atol=1e-12)


def test_estimator_ends_at_the_squared_error_asked_for(regression):
    X, y = regression
    ours = pursuit.OrthogonalMatchingPursuit(tol=8.0, fit_intercept=False).fit(X, y)
    theirs = sklearn.linear_model.OrthogonalMatchingPursuit(tol=8.0, fit_intercept=False).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-9)
    assert ours.n_nonzero_coefs_ is None and ours.intercept_ == 0
    errors = np.sqrt(np.sum((y - ours.predict(X)) ** 2, axis=0) / np.sum(y**2, axis=0))
    assert_allclose(ours.relative_error_, errors)
    with pytest.raises(ValueError, match="tol"):
        pursuit.OrthogonalMatchingPursuit(tol=8.0, target_error=0.1).fit(X, y)


def test_dependent_columns_are_warned_of(regression):
    X, y = regression
    with pytest.warns(RuntimeWarning, match="linear dependence"):
        pursuit.orthogonal_mp(np.hstack([X[:, :3], X[:, :3]]), y, n_nonzero_coefs=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pursuit.orthogonal_mp(X, y, n_nonzero_coefs=5)
        pursuit.orthogonal_mp(X, y, tol=5.0)


@pytest.mark.parametrize(
    "settings", [{"n_nonzero_coefs": 41}, {"n_nonzero_coefs": 0}, {"tol": -1.0}], ids=str
)
def test_impossible_pursuits_are_refused(regression, settings):
    X, y = regression
    with pytest.raises(ValueError, match=next(iter(settings))):
        pursuit.orthogonal_mp(X, y, **settings)
    with pytest.raises(ValueError, match="norms_squared"):
        pursuit.orthogonal_mp_gram(X.T @ X, X.T @ y, tol=1.0)
    with pytest.raises(ValueError, match="rows"):
        pursuit.orthogonal_mp(X, y[:7])
