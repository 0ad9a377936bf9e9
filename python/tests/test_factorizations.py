"""MatrixPursuit, NMF and TruncatedSVD against what is known about their results."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn.decomposition
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import pursuit


def reconstruction(model):
    return model.left_ * model.weights_ @ model.components_


def test_spheres_on_both_sides_are_the_svd(rng):
    X = rng.standard_normal((30, 20))
    model = pursuit.MatrixPursuit(5).fit(X)
    U, s, Vt = np.linalg.svd(X)
    assert_allclose(model.weights_, s[:5])
    assert_allclose(reconstruction(model), U[:, :5] * s[:5] @ Vt[:5], atol=1e-10)
    assert_allclose(model.relative_error_, np.sqrt(np.sum(s[5:] ** 2) / np.sum(s**2)))
    assert_allclose(model.explained_variance_ratio_, s[:5] ** 2 / np.sum(s**2))


def test_atoms_are_in_their_sets_and_the_error_is_that_of_the_model(parts):
    model = pursuit.MatrixPursuit(
        4, left="nonneg", right="nonneg+sparse:5", weights="nonneg", random_state=0
    ).fit(parts)
    right, left = pursuit.atoms.parse("nonneg+sparse:5"), pursuit.atoms.nonneg()
    assert all(right.contains(v) for v in model.components_)
    assert all(left.contains(u) for u in model.left_.T)
    error = np.linalg.norm(parts - reconstruction(model))
    assert_allclose(model.reconstruction_err_, error, rtol=1e-6)
    assert_allclose(model.relative_error_, error / np.linalg.norm(parts), rtol=1e-6)


def test_transform_is_least_squares_on_the_right_atoms(parts):
    model = pursuit.MatrixPursuit(3, right="sparse:6", random_state=0).fit(parts)
    expected = np.linalg.lstsq(model.components_.T, parts.T, rcond=None)[0].T
    assert_allclose(model.transform(parts), expected, atol=1e-10)
    assert_allclose(model.inverse_transform(expected), expected @ model.components_)


def test_transform_is_nonnegative_where_left_factors_and_weights_are(rng):
    X = rng.standard_normal((40, 15)) + 0.5
    free = pursuit.MatrixPursuit(5, left="nonneg", right="sphere", weights="free", random_state=0).fit(X)
    bound = pursuit.MatrixPursuit(5, left="nonneg", right="sphere", weights="nonneg", random_state=0).fit(X)
    new = rng.standard_normal((100, 15))
    assert free.transform(new).min() < 0
    z = bound.transform(new)
    assert z.min() == 0
    descent = (new - z @ bound.components_) @ bound.components_.T
    assert_allclose(descent[z > 0], 0, atol=1e-9)  # no coordinate can be moved for the better
    assert descent[z == 0].max() < 1e-9


def test_score_is_the_share_of_the_sum_of_squares(parts):
    for model in (
        pursuit.NMF(3, random_state=0),
        pursuit.TruncatedSVD(3),
        pursuit.MatrixPursuit(3, right="sparse:4"),
    ):
        z = model.fit_transform(parts)
        expected = 1 - np.sum((parts - model.inverse_transform(z)) ** 2) / np.sum(parts**2)
        assert_allclose(model.score(parts), expected, rtol=1e-9)


def test_explained_variance_counts_overlapping_components_once(rng):
    X = rng.standard_normal((50, 12))
    model = pursuit.MatrixPursuit(6, right="sparse:3", random_state=0).fit(X)
    basis = np.linalg.qr(model.components_.T)[0]
    assert_allclose(model.explained_variance_ratio_.sum(), np.sum((X @ basis) ** 2) / np.sum(X**2))
    assert (model.explained_variance_ratio_ >= 0).all()


def test_path_falls_rank_by_rank_and_counts_the_support(parts):
    path = (
        pursuit.MatrixPursuit(4, left="nonneg", right="nonneg+sparse:5", weights="nonneg", random_state=0)
        .fit(parts)
        .path_
    )
    assert path["rank"].tolist() == [1, 2, 3, 4]
    assert (np.diff(path["relative_error"]) < 0).all()
    assert_allclose(path["explained_variance"], 1 - path["relative_error"] ** 2)
    assert path["support"].tolist() == [5, 10, 15, 20]
    assert path["left_support"][-1] <= 4 * 60
    assert (path["last_sweep"] >= 0).all() and path["last_sweep"][-1] < 1e-3


def test_same_seed_same_model_whatever_the_threads(parts):
    fits = [
        pursuit.MatrixPursuit(4, right="sparse:3", random_state=3, n_jobs=jobs).fit(parts).components_
        for jobs in (None, 2, -1)
    ]
    assert all((fit == fits[0]).all() for fit in fits)


def test_nmf_is_as_good_as_scikit_learns(rng):
    X = rng.random((80, 6)) @ rng.random((6, 40)) + 0.1 * rng.random((80, 40))
    ours = pursuit.NMF(6, random_state=0, tol=1e-6, max_iter=2000)
    theirs = sklearn.decomposition.NMF(6, random_state=0, init="nndsvda", max_iter=2000)
    W = ours.fit_transform(X)
    theirs.fit(X)
    assert W.min() >= 0 and ours.components_.min() >= 0
    assert ours.reconstruction_err_ < 1.002 * theirs.reconstruction_err_
    assert np.linalg.norm(X - W @ ours.components_) <= ours.reconstruction_err_ * (1 + 1e-9)


def test_nmf_transform_minimises_over_nonnegative_coordinates(rng):
    X = rng.random((50, 20))
    model = pursuit.NMF(5, random_state=0).fit(X)
    new = rng.random((30, 20))
    ours = np.linalg.norm(new - model.transform(new) @ model.components_)
    peer = sklearn.decomposition.non_negative_factorization(
        new,
        H=model.components_,
        update_H=False,
        n_components=5,
        max_iter=10000,
        tol=1e-10,
        init="custom",
        W=np.ones((30, 5)),
    )[0]
    assert ours <= np.linalg.norm(new - peer @ model.components_) * (1 + 1e-9)


def test_nmf_of_bounded_support(parts):
    model = pursuit.NMF(4, k=5, random_state=0).fit(parts)
    assert np.count_nonzero(model.components_, axis=1).max() <= 5


@pytest.mark.parametrize(
    "argument",
    [
        {"beta_loss": "squares"},
        {"init": "best"},
    ],
)
def test_nmf_refuses_arguments_that_it_does_not_have(parts, argument):
    with pytest.raises(ValueError, match=next(iter(argument))):
        pursuit.NMF(2, **argument).fit(parts)


def test_nmf_says_when_it_did_not_converge(rng):
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        pursuit.NMF(4, max_iter=2, tol=0.0).fit(rng.random((30, 20)))


@pytest.mark.parametrize("init", [None, "greedy", "random"])
def test_nmf_does_not_count_sweeps_on_the_way_as_sweeps_at_the_end(rng, init):
    X = rng.random((40, 30))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = pursuit.NMF(16, init=init, max_iter=30, tol=1e-2, random_state=0).fit(X)
    assert model.stop_reason_ == "rank_reached"


def test_nmf_ends_where_no_further_sweep_lowers_the_error(rng):
    for seed in (19, 28, 33, 77, 107):  # slow to converge: entries over many orders of magnitude
        X = np.exp(2 * np.random.default_rng(seed).standard_normal((13, 13)))
        ended = pursuit.NMF(4, init="random", tol=1e-9, max_iter=10**6, random_state=0).fit(X)
        bottom = pursuit.NMF(4, init="random", tol=0.0, max_iter=10**6, random_state=0).fit(X)
        assert ended.reconstruction_err_ < bottom.reconstruction_err_ * (1 + 3e-7)


def test_truncated_svd_agrees_with_scikit_learns(rng):
    X = scipy.sparse.random(60, 40, density=0.2, random_state=0, format="csr") + scipy.sparse.eye(60, 40)
    ours = pursuit.TruncatedSVD(4).fit(X.tocsr())
    theirs = sklearn.decomposition.TruncatedSVD(4, algorithm="arpack").fit(X)
    assert_allclose(ours.singular_values_, theirs.singular_values_)
    assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)
    assert_allclose(np.abs(ours.components_), np.abs(theirs.components_), atol=1e-8)


def test_truncated_svd_is_as_exact_as_it_is_told_to_be(rng):
    X = rng.standard_normal((600, 500))

    def residual(model):
        u, s, vt = model.left_, model.singular_values_, model.components_
        return max(
            (np.linalg.norm(X.T @ u - vt.T * s, axis=0) / s).max(),
            (np.linalg.norm(X @ vt.T - u * s, axis=0) / s).max(),
        )

    rough, usual, fine = (residual(pursuit.TruncatedSVD(5, tol=tol).fit(X)) for tol in (1e-3, 0.0, 1e-14))
    assert fine < 1e-12 < usual < 1e-8 < rough < 1e-3
    for tol in (1e-15, -1, 0.5, "1e-8", None):
        with pytest.raises(ValueError, match="tol=.*1e-14 to 0.1"):
            pursuit.TruncatedSVD(5, tol=tol).fit(X)


def test_nmf_begins_where_it_is_told_to(rng):
    X = rng.random((40, 3)) @ rng.random((3, 20))
    W, H = rng.random((40, 3)), rng.random((3, 20))
    custom = pursuit.NMF(3, init="custom", tol=1e-9, max_iter=5000)
    assert custom.fit_transform(X, W=W, H=H).shape == (40, 3)
    assert custom.relative_error_ < 0.02
    assert (
        pursuit.NMF(3, init="random", tol=1e-9, max_iter=5000, random_state=1).fit(X).relative_error_ < 0.02
    )
    with pytest.raises(
        ValueError, match="wrong first dimension passed to NMF \\(input H\\). Expected 3, but got 2"
    ):
        pursuit.NMF(3, init="custom").fit(X, W=W, H=H[:2])
    with pytest.warns(RuntimeWarning, match="provided W or H are ignored"):
        pursuit.NMF(3).fit(X, W=W, H=H)
    with pytest.raises(ValueError, match="Negative values"):
        pursuit.NMF(3, init="custom").fit(X, W=-W, H=H)


@pytest.mark.parametrize(
    "model",
    [
        pursuit.MatrixPursuit(
            2, left="nonneg", right="nonneg+sparse:5", weights="nonneg", random_state=0, warm_start=True
        ),
        pursuit.MatrixPursuit(2, random_state=0, warm_start=True),
        pursuit.NMF(2, init="greedy", random_state=0, warm_start=True),
    ],
    ids=["sparse", "svd", "nmf"],
)
def test_a_warm_start_adds_atoms_to_those_there_are(parts, model):
    first = model.fit(parts).relative_error_
    longer = model.set_params(n_components=4).fit(parts)
    assert longer.n_components_ == 4 and longer.relative_error_ < 0.5 * first
    assert longer.path_["rank"].tolist() == [1, 2, 3, 4]
    assert (np.diff(longer.path_["relative_error"]) < 0).all()
    with pytest.raises(ValueError, match="n_components=3.*adds to the 4 atoms"):
        model.set_params(n_components=3).fit(parts)
    with pytest.raises(ValueError, match="60 x 20 data, not 50 x 20"):
        model.set_params(n_components=5).fit(parts[:50])
    assert model.set_params(warm_start=False).fit(parts[:50]).left_.shape[0] == 50


def test_a_warm_start_takes_up_an_interrupted_fit(parts):
    model = pursuit.MatrixPursuit(
        4, right="sparse:5", random_state=0, warm_start=True, callback=lambda step: step.rank < 2
    )
    assert model.fit(parts).n_components_ == 2
    assert model.set_params(callback=None).fit(parts).n_components_ == 4


def test_explained_variance_of_the_svd_keeps_its_digits_under_a_large_mean(rng):
    X = 1e6 + rng.standard_normal((50, 8))
    ours, theirs = pursuit.TruncatedSVD(2).fit(X), sklearn.decomposition.TruncatedSVD(
        2, algorithm="arpack"
    ).fit(X)
    assert_allclose(ours.explained_variance_ratio_[1], theirs.explained_variance_ratio_[1], rtol=1e-3)


def test_models_survive_clone_and_pickle(parts):
    model = pursuit.MatrixPursuit(3, left=pursuit.atoms.nonneg(), right="sparse:4", random_state=0).fit(parts)
    again = pickle.loads(pickle.dumps(model))
    assert (again.transform(parts) == model.transform(parts)).all()
    assert clone(model).left == pursuit.atoms.nonneg()


def test_output_can_be_a_frame(parts):
    frame = pursuit.NMF(2, random_state=0).set_output(transform="pandas").fit_transform(parts)
    assert list(frame.columns) == ["nmf0", "nmf1"]


@pytest.mark.parametrize(
    "value, error", [(0, ValueError), (2.5, TypeError), ("two", TypeError), (21, ValueError)]
)
def test_impossible_numbers_of_components_are_refused(parts, value, error):
    with pytest.raises(error, match="n_components"):
        pursuit.MatrixPursuit(value).fit(parts)


@pytest.mark.parametrize(
    "argument",
    [
        {"weights": "heavy"},
        {"start": "late"},
        {"right": "sparse:0"},
        {"corrections": -1},
        {"target_error": 2.0},
    ],
)
def test_options_that_make_no_sense_are_value_errors(parts, argument):
    with pytest.raises(ValueError):
        pursuit.MatrixPursuit(2, **{"right": "sparse:2", **argument}).fit(parts)
