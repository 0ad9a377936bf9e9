"""Factors that pay for their size: NMF with an elastic net and SparsePCA with the l1 norm, beside
scikit-learn's."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.decomposition
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

import pursuit


def objective(X, W, H, alpha_W, alpha_H, l1_ratio):
    n, m = X.shape
    paid = [
        alpha * (l1_ratio * F.sum() + 0.5 * (1 - l1_ratio) * np.sum(F**2))
        for F, alpha in ((W, alpha_W * m), (H, alpha_H * n))
    ]
    return 0.5 * np.sum((X - W @ H) ** 2) + sum(paid)


def instance(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(8, 30, 2)
    rank = int(rng.integers(1, 5))
    X = rng.random((n, rank)) @ rng.random((rank, m)) + 0.2 * rng.random((n, m))
    alpha = 10 ** rng.uniform(-4, -1.5)
    penalty = {
        "alpha_W": alpha,
        "alpha_H": alpha * 10 ** rng.uniform(-1, 1),
        "l1_ratio": rng.choice([0, 0.5, 1]),
    }
    return X, rank, penalty


def test_nmf_ends_at_or_below_the_objective_of_scikit_learn():
    above = 0
    for seed in range(40):
        X, rank, penalty = instance(seed)
        ours = pursuit.NMF(rank, tol=1e-10, max_iter=5000, random_state=0, **penalty)
        theirs = sklearn.decomposition.NMF(rank, init="nndsvda", tol=1e-9, max_iter=5000, **penalty)
        reached, peer = (objective(X, m.fit_transform(X), m.components_, **penalty) for m in (ours, theirs))
        assert reached <= 1.02 * peer  # another local minimum, at worst
        above += reached > (1 + 1e-6) * peer
    assert above <= 6


def test_nmf_meets_the_optimality_conditions():
    for seed in range(5):
        X, rank, penalty = instance(seed)
        model = pursuit.NMF(rank, tol=1e-14, max_iter=20000, random_state=0, **penalty)
        W, H = model.fit_transform(X), model.components_
        n, m = X.shape
        for Y, F, G, alpha in (
            (X, W, H, penalty["alpha_W"] * m),
            (X.T, H.T, W.T, penalty["alpha_H"] * n),
        ):
            slope = (F @ G - Y) @ G.T + alpha * (penalty["l1_ratio"] + (1 - penalty["l1_ratio"]) * F)
            assert np.abs(slope[F > 0]).max(initial=0) < 1e-4 * np.linalg.norm(X)
            assert slope[F == 0].min(initial=0) > -1e-4 * np.linalg.norm(X)


def test_nmf_of_sparse_data_is_that_of_dense_data():
    X = scipy.sparse.random(40, 20, density=0.3, random_state=0, format="csr")
    settings = {"alpha_W": 1e-3, "l1_ratio": 0.5, "init": "random", "random_state": 0, "tol": 1e-6}
    sparse, dense = pursuit.NMF(4, **settings).fit(X), pursuit.NMF(4, **settings).fit(X.toarray())
    assert_allclose(sparse.components_, dense.components_, atol=1e-8)
    assert_allclose(sparse.transform(X), dense.transform(X.toarray()), atol=1e-8)


def test_nmf_transform_pays_as_the_fit_does(rng):
    X, new = rng.random((30, 12)), rng.random((7, 12))
    model = pursuit.NMF(4, alpha_W=0.02, l1_ratio=0.5, random_state=0, tol=1e-8, max_iter=5000).fit(X)
    peer = sklearn.decomposition.non_negative_factorization(
        new, H=model.components_, update_H=False, n_components=4, alpha_W=0.02, l1_ratio=0.5, tol=1e-12,
        max_iter=20000,
    )[0]  # fmt: skip
    assert_allclose(model.transform(new), peer, atol=1e-6)


def test_nmf_takes_the_words_of_scikit_learn(parts):
    plain = pursuit.NMF(4, random_state=0).fit(parts)
    spelled = pursuit.NMF(4, solver="mu", beta_loss=2, shuffle=True, alpha_H=0.0, random_state=0).fit(parts)
    assert (plain.components_ == spelled.components_).all()
    W, H = np.ones((len(parts), 2)), np.eye(2, parts.shape[1]) + 0.1
    assert pursuit.NMF("auto", init="custom").fit(parts, W=W, H=H).n_components_ == 2
    assert pursuit.NMF("auto", max_iter=2, tol=1).fit(parts).n_components_ == parts.shape[1]
    with pytest.warns(RuntimeWarning, match="ignored"):
        pursuit.NMF(2).fit(parts, W=W, H=H)


def test_nmf_goes_through_files(parts, tmp_path):
    model = pursuit.NMF(4, alpha_W=1e-3, l1_ratio=0.5, random_state=0).fit(parts)
    model.save(tmp_path / "model.npz")
    loaded = pursuit.load(tmp_path / "model.npz")
    assert (loaded.transform(parts) == model.transform(parts)).all()
    assert loaded.alpha_W == 1e-3 and loaded.alpha_H == "same"


def test_nmf_watches_its_sweeps(parts):
    seen = []
    settings = {"alpha_W": 1e-3, "random_state": 0, "tol": 0.0, "max_iter": 5}
    with pytest.warns(ConvergenceWarning):
        model = pursuit.NMF(4, callback=lambda step: seen.append(step.relative_error), **settings).fit(parts)
    assert model.n_iter_ == len(seen) == 5 and seen == sorted(seen, reverse=True)
    ended = pursuit.NMF(4, callback=lambda step: step.sweep < 2, **settings).fit(parts)
    assert ended.stop_reason_ == "interrupted" and ended.n_iter_ == 2


def test_a_heavy_penalty_leaves_zeros_of_the_shape_asked_for(parts):
    model = pursuit.NMF(3, alpha_W=1e3, l1_ratio=1.0, random_state=0)
    assert not model.fit_transform(parts).any()
    assert model.components_.shape == (3, parts.shape[1])
    assert_allclose(model.reconstruction_err_, np.linalg.norm(parts), rtol=1e-6)


def test_functional_nmf_is_the_estimator(parts):
    W, H, sweeps = pursuit.non_negative_factorization(parts, n_components=4, random_state=0, alpha_W=1e-3)
    model = pursuit.NMF(4, random_state=0, alpha_W=1e-3)
    assert_allclose(W, model.fit_transform(parts))
    assert sweeps == model.n_iter_ and (H == model.components_).all()
    again, kept, _ = pursuit.non_negative_factorization(parts, H=H, update_H=False, alpha_W=1e-3)
    assert_allclose(again, W)
    assert (kept == H).all()


@pytest.mark.parametrize(
    "argument",
    [
        {"solver": "newton"},
        {"beta_loss": "squares"},
        {"beta_loss": 1.5},
        {"alpha_W": -0.1},
        {"alpha_H": "other"},
        {"l1_ratio": 1.5},
        {"k": 3, "alpha_W": 0.1},
    ],
)
def test_nmf_refuses_what_makes_no_sense(parts, argument):
    with pytest.raises(ValueError, match=next(iter(argument))):
        pursuit.NMF(2, **argument).fit(parts)


def test_sparse_pca_ends_at_or_below_the_objective_of_scikit_learn(rng):
    X = rng.standard_normal((40, 3)) @ np.kron(np.eye(3), np.ones(5)) + 0.3 * rng.standard_normal((40, 15))
    X -= X.mean(axis=0)
    for alpha in (0.1, 1.0, 3.0):
        V, U, costs = sklearn.decomposition.dict_learning(
            X.T, 3, alpha=alpha, max_iter=1000, tol=1e-10, method="cd", random_state=0
        )
        result = pursuit._core.l1_components(
            X, components=3, start=None, alpha=alpha, sweeps=5000, tolerance=1e-12, threads=1, time_limit=None,
            callback=None,
        )  # fmt: skip
        assert result["objective"] <= costs[-1] * (1 + 1e-6)


def test_sparse_pca_with_alpha(rng):
    X = (
        rng.standard_normal((40, 3)) @ np.kron(np.eye(3), np.ones(5))
        + 0.3 * rng.standard_normal((40, 15))
        + 2
    )
    plain = pursuit.SparsePCA(3, alpha=0).fit(X)
    pca = pursuit.PCA(3).fit(X)
    assert_allclose(plain.components_, pca.components_, atol=1e-7)
    paying = pursuit.SparsePCA(3, alpha=2.0).fit(X)
    assert 0 < np.count_nonzero(paying.components_) < np.count_nonzero(plain.components_)
    assert_allclose(np.linalg.norm(paying.components_, axis=1), 1)
    assert paying.explained_variance_ratio_.sum() < plain.explained_variance_ratio_.sum()
    sparse = pursuit.SparsePCA(3, alpha=2.0).fit(scipy.sparse.csr_matrix(X))
    assert_allclose(sparse.components_, paying.components_, atol=1e-6)


def test_sparse_pca_ridge_shrinks_the_coordinates(rng):
    X = rng.standard_normal((30, 8))
    model = pursuit.SparsePCA(3, k=4, effort="low", random_state=0).fit(X)
    plain = model.transform(X)
    model.set_params(ridge_alpha=2.0)
    expected = sklearn.linear_model.ridge_regression(
        model.components_.T, (X - model.mean_).T, 2.0, solver="cholesky"
    )
    assert_allclose(model.transform(X), expected, atol=1e-10)
    assert np.linalg.norm(model.transform(X)) < np.linalg.norm(plain)


def test_sparse_pca_of_more_components_than_there_are(rng):
    X = rng.standard_normal((6, 10))
    for model in (pursuit.SparsePCA(9, k=3, effort="low"), pursuit.SparsePCA(9, alpha=0.1)):
        Z = model.fit_transform(X)
        assert Z.shape == (6, 9) and model.components_.shape == (9, 10) and model.n_components_ == 9
        assert not model.components_[5:].any() and not Z[:, 5:].any()


def test_sparse_pca_begins_where_it_is_told(rng):
    X, U, V = rng.standard_normal((20, 6)), rng.standard_normal((20, 2)), rng.standard_normal((2, 6))
    model = pursuit.SparsePCA(2, alpha=1.0, U_init=U, V_init=V, max_iter=0).fit(X)
    assert_allclose(np.abs(model.components_), np.abs(V) / np.linalg.norm(V, axis=1, keepdims=True))
    with pytest.raises(ValueError, match="go with alpha"):
        pursuit.SparsePCA(2, U_init=U, V_init=V).fit(X)
    with pytest.raises(ValueError, match="both are needed"):
        pursuit.SparsePCA(2, alpha=1.0, V_init=V).fit(X)


@pytest.mark.parametrize(
    "argument",
    [
        {"method": "best"},
        {"correlation": True, "alpha": 1.0},
        {"total_nonzeros": 5, "alpha": 1.0},
        {"alpha": -1.0},
    ],
)
def test_sparse_pca_refuses_what_makes_no_sense(rng, argument):
    with pytest.raises(ValueError, match=next(iter(argument))):
        pursuit.SparsePCA(2, **argument).fit(rng.standard_normal((20, 6)))
    with pytest.raises(ValueError, match="alpha"):
        pursuit.NonnegativeSparsePCA(2, alpha=1.0).fit(rng.standard_normal((20, 6)))
