"""NMF by the Itakura-Saito divergence, beside scikit-learn's."""

import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn.decomposition
from numpy.testing import assert_allclose

import pursuit


def divergence(X, M):
    return float(np.sum(X / M - np.log(X / M) - 1))


def powers(seed, shape=(30, 22), rank=3):
    rng = np.random.default_rng(seed)
    return (
        rng.gamma(0.7, 1, (shape[0], rank)) @ rng.gamma(0.7, 1, (rank, shape[1])) * rng.gamma(4, 0.25, shape)
        + 1e-3
    )


def fitted(X, k, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pursuit.NMF(k, **{"beta_loss": "itakura-saito", "random_state": 0, **options}).fit(X)


def test_agrees_with_scikit_learn_from_the_same_start():
    """One component has one minimum. With more there are many, and the same start leads to a lower one more often than to a
    higher one."""
    ratios = []
    for seed in range(6):
        rng = np.random.default_rng(100 + seed)
        X = powers(seed)
        for k in (1, 2, 3):
            W, H = rng.random((X.shape[0], k)) + 0.1, rng.random((k, X.shape[1])) + 0.1
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = sklearn.decomposition.NMF(
                    k, init="custom", solver="mu", beta_loss="itakura-saito", max_iter=20000, tol=1e-10
                ).fit(X, W=W.copy(), H=H.copy())
            ours = pursuit.NMF(k, init="custom", beta_loss=0, max_iter=5000, tol=1e-11).fit(X, W=W, H=H)
            reached = divergence(X, ours.left_ * ours.weights_ @ ours.components_)
            assert_allclose(ours.reconstruction_err_, np.sqrt(2 * reached), rtol=1e-9)
            ratios.append(ours.reconstruction_err_ / theirs.reconstruction_err_)
            assert ratios[-1] <= (1 + 1e-6 if k == 1 else 1.03)
    assert np.mean(ratios) <= 1.001


def test_stays_at_a_minimum_of_scikit_learn():
    X = powers(7)
    rng = np.random.default_rng(0)
    W, H = rng.random((30, 3)) + 0.1, rng.random((3, 22)) + 0.1
    theirs = sklearn.decomposition.NMF(
        3, init="custom", solver="mu", beta_loss="itakura-saito", max_iter=50000, tol=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        W = theirs.fit_transform(X, W=W, H=H)
        ours = pursuit.NMF(3, init="custom", beta_loss="itakura-saito", tol=1e-8).fit(
            X, W=W, H=theirs.components_
        )
    assert ours.reconstruction_err_ <= theirs.reconstruction_err_ * (1 + 1e-9)
    assert_allclose(ours.reconstruction_err_, theirs.reconstruction_err_, rtol=1e-3)


def test_objective_never_rises():
    seen = []
    X = powers(1)
    pursuit.NMF(3, beta_loss=0, tol=1e-9, callback=lambda step: seen.append(step.relative_error)).fit(X)
    assert len(seen) > 3
    assert all(b <= a * (1 + 1e-12) for a, b in zip(seen, seen[1:]))


def test_default_start_is_no_worse_than_scikit_learn_from_several():
    X = powers(2, (60, 40), 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peers = [
            sklearn.decomposition.NMF(
                4,
                init="random",
                solver="mu",
                beta_loss="itakura-saito",
                max_iter=3000,
                tol=1e-8,
                random_state=seed,
            )
            .fit(X)
            .reconstruction_err_
            for seed in range(5)
        ]
    assert fitted(X, 4, tol=1e-7, max_iter=3000).reconstruction_err_ <= np.median(peers) * 1.01


def test_scale_of_the_data_does_not_matter():
    X = powers(3)
    plain, loud = fitted(X, 3), fitted(4**20 * X, 3)
    assert_allclose(loud.reconstruction_err_, plain.reconstruction_err_, rtol=1e-9)
    assert_allclose(
        loud.inverse_transform(loud.transform(X * 4**20)),
        4**20 * plain.inverse_transform(plain.transform(X)),
        rtol=1e-5,
    )


def test_transform_finds_rows_again_and_score_is_the_share_explained():
    X = powers(4)
    model = fitted(X, 3, tol=1e-10, max_iter=5000)
    W = model.transform(X)
    assert (W >= 0).all()
    assert divergence(X, W @ model.components_) <= 0.5 * model.reconstruction_err_**2 * (1 + 1e-6)
    constant = divergence(X, np.full(X.shape, X.mean()))
    assert_allclose(model.score(X), 1 - divergence(X, W @ model.components_) / constant, rtol=1e-6)


def test_elastic_net_is_scikit_learns():
    X = powers(5)
    rng = np.random.default_rng(0)
    W, H = rng.random((30, 2)) + 0.1, rng.random((2, 22)) + 0.1
    options = {
        "init": "custom",
        "beta_loss": "itakura-saito",
        "alpha_W": 0.01,
        "alpha_H": 0.02,
        "l1_ratio": 0.7,
    }
    ends = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in (
            sklearn.decomposition.NMF(2, solver="mu", max_iter=20000, tol=1e-12, **options),
            pursuit.NMF(2, max_iter=5000, tol=1e-12, **options),
        ):
            left = model.fit_transform(X, W=W.copy(), H=H.copy())
            paid = [
                alpha * (0.7 * F.sum() + 0.15 * np.sum(F**2))
                for F, alpha in ((left, 0.01 * 22), (model.components_, 0.02 * 30))
            ]
            ends.append(divergence(X, left @ model.components_) + sum(paid))
    assert ends[1] <= ends[0] * (1 + 1e-4)


def test_threads_change_nothing():
    X = powers(6, (500, 150), 4)
    one, many = fitted(X, 3, max_iter=20), fitted(X, 3, max_iter=20, n_jobs=3)
    assert (one.components_ == many.components_).all() and (one.left_ == many.left_).all()


@pytest.mark.parametrize("sparse", [False, True])
def test_zeros_are_refused(sparse):
    X = powers(8)
    X[3, 4] = 0
    with pytest.raises(ValueError, match="beta_loss='itakura-saito'.*zeros"):
        pursuit.NMF(2, beta_loss="itakura-saito").fit(scipy.sparse.csr_matrix(X) if sparse else X)
