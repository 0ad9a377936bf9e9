"""NMF of counts, by the Kullback-Leibler divergence, beside scikit-learn's."""

import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn.decomposition
from numpy.testing import assert_allclose

import pursuit


def divergence(X, M):
    X = np.asarray(X, dtype=float)
    logs = np.where(X > 0, X * np.log(np.where(X > 0, X, 1) / np.maximum(M, 1e-300)), 0)
    return float(np.sum(logs - X + M))


def counts(seed, shape=(30, 22), rank=3, size=3.0):
    rng = np.random.default_rng(seed)
    return rng.poisson(
        size * rng.gamma(0.7, 1, (shape[0], rank)) @ rng.gamma(0.7, 1, (rank, shape[1]))
    ).astype(float)


def fitted(X, k, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pursuit.NMF(k, **{"beta_loss": "kullback-leibler", "random_state": 0, **options}).fit(X)


@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_scikit_learn_from_the_same_start(seed):
    """One component has one minimum; of more the same start leads to the same or a lower one."""
    rng = np.random.default_rng(100 + seed)
    X = counts(seed)
    for k in (1, 2, 3):
        W, H = rng.random((X.shape[0], k)) + 0.1, rng.random((k, X.shape[1])) + 0.1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = sklearn.decomposition.NMF(
                k, init="custom", solver="mu", beta_loss="kullback-leibler", max_iter=20000, tol=1e-10
            )
            theirs.fit(X, W=W.copy(), H=H.copy())
        ours = pursuit.NMF(
            k, init="custom", solver="mu", beta_loss="kullback-leibler", max_iter=5000, tol=1e-11
        ).fit(X, W=W, H=H)
        mine = divergence(X, ours.transform(X) @ ours.components_)
        assert_allclose(ours.reconstruction_err_, np.sqrt(2 * mine), rtol=1e-5)
        assert ours.reconstruction_err_ <= theirs.reconstruction_err_ * (1 + (1e-6 if k == 1 else 5e-3))
        if k == 1:
            assert_allclose(ours.reconstruction_err_, theirs.reconstruction_err_, rtol=1e-6)
            assert_allclose(
                ours.transform(X) @ ours.components_, np.outer(X.sum(1), X.sum(0)) / X.sum(), rtol=1e-4
            )


def test_stays_at_a_minimum_of_scikit_learn():
    X = counts(7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = sklearn.decomposition.NMF(
            3,
            init="random",
            random_state=0,
            solver="mu",
            beta_loss="kullback-leibler",
            max_iter=50000,
            tol=1e-13,
        )
        W = theirs.fit_transform(X)
    ours = fitted_from(X, W, theirs.components_)
    reached, started = (
        divergence(X, M) for M in (ours.transform(X) @ ours.components_, W @ theirs.components_)
    )
    assert reached <= started
    assert_allclose(reached, started, rtol=1e-4)


def fitted_from(X, W, H):
    return pursuit.NMF(len(H), init="custom", beta_loss="kullback-leibler", max_iter=5000, tol=1e-11).fit(
        X, W=np.maximum(W, 1e-12), H=np.maximum(H, 1e-12)
    )


@pytest.mark.parametrize("init", [None, "nndsvda", "greedy", "random"])
def test_every_start_ends_as_low_as_scikit_learn(init):
    X = counts(8, (60, 40), 4)
    ours = fitted(X, 4, init=init, tol=1e-8, max_iter=3000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = sklearn.decomposition.NMF(
            4, init="nndsvda", solver="mu", beta_loss=1, max_iter=5000, tol=1e-9, random_state=0
        ).fit(X)
    assert ours.reconstruction_err_ <= 1.01 * theirs.reconstruction_err_


def test_sparse_counts_and_single_precision():
    X = counts(9, size=0.3)
    dense, sparse = fitted(X, 3, init="random"), fitted(scipy.sparse.csr_matrix(X), 3, init="random")
    assert_allclose(dense.components_, sparse.components_, atol=1e-8)
    columns = fitted(scipy.sparse.csc_matrix(X), 3, init="random")
    assert_allclose(dense.reconstruction_err_, columns.reconstruction_err_, rtol=1e-8)
    single = fitted(X.astype(np.float32), 3, init="random")
    assert single.components_.dtype == np.float32
    assert_allclose(single.reconstruction_err_, dense.reconstruction_err_, rtol=1e-3)


def test_new_rows_reach_their_minimum():
    X = counts(10, (50, 20))
    model = fitted(X[:40], 3)
    W, H = model.transform(X[40:]), model.components_
    assert (W >= 0).all()
    M = np.maximum(W @ H, 1e-300)
    slope = H.sum(axis=1) - (X[40:] / M) @ H.T
    assert slope.min() > -1e-3 * H.sum()
    assert np.abs(slope[W > 1e-6 * W.max()]).max() < 1e-3 * H.sum()
    assert 0 < model.score(X[40:]) <= 1


def test_rows_without_counts():
    X = counts(11)
    X[3] = 0
    X[:, 5] = 0
    model = fitted(X, 2)
    assert np.isfinite(model.components_).all()
    W = model.transform(X)
    assert_allclose(W[3], 0, atol=1e-12)
    assert_allclose(model.components_[:, 5], 0, atol=1e-12)


def test_entries_that_pay_are_smaller():
    X = counts(12)
    free, paying = fitted(X, 3, init="random"), fitted(X, 3, init="random", alpha_W=0.5, l1_ratio=0.5)
    assert (
        np.abs(paying.transform(X) @ paying.components_).sum()
        < np.abs(free.transform(X) @ free.components_).sum()
    )
    assert paying.reconstruction_err_ > free.reconstruction_err_


def test_penalty_is_that_of_scikit_learn():
    X = counts(13)
    rng = np.random.default_rng(0)
    W, H = rng.random((30, 2)) + 0.1, rng.random((2, 22)) + 0.1
    penalty = {"alpha_W": 0.01, "alpha_H": 0.02, "l1_ratio": 0.7}
    ends = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for package in (pursuit, sklearn.decomposition):
            model = package.NMF(
                2,
                init="custom",
                solver="mu",
                beta_loss="kullback-leibler",
                max_iter=20000,
                tol=1e-11,
                **penalty,
            )
            left = model.fit_transform(X, W=W.copy(), H=H.copy())
            paid = [
                alpha * (0.7 * F.sum() + 0.15 * np.sum(F**2))
                for F, alpha in ((left, 0.01 * 22), (model.components_, 0.02 * 30))
            ]
            ends.append(divergence(X, left @ model.components_) + sum(paid))
    assert_allclose(*ends, rtol=1e-4)


def test_other_losses_and_sets_are_refused():
    X = counts(14)
    with pytest.raises(ValueError, match="itakura-saito"):
        pursuit.NMF(2, beta_loss="itakura-saito").fit(X)
    with pytest.raises(ValueError, match="k=3"):
        pursuit.NMF(2, k=3, beta_loss=1).fit(X)
    with pytest.raises(ValueError):
        pursuit.NMF(2, beta_loss=1).fit(-X)


def test_function_takes_the_loss():
    X = counts(15)
    W, H, _ = pursuit.non_negative_factorization(
        X, n_components=2, beta_loss="kullback-leibler", random_state=0
    )
    again, same, _ = pursuit.non_negative_factorization(X, H=H, update_H=False, beta_loss="kullback-leibler")
    assert same is not None
    assert_allclose(again @ H, W @ H, rtol=1e-4, atol=1e-6)
