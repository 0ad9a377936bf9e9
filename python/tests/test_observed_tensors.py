"""Arrays with gaps, weights and losses."""

import numpy as np
import pytest

import pursuit


def planted(shape, rank, seed=0):
    rng = np.random.default_rng(seed)
    factors = [rng.random((size, rank)) for size in shape]
    letters = "ijklmn"[: len(shape)]
    return np.einsum(",".join(c + "r" for c in letters) + "->" + letters, *factors)


@pytest.mark.parametrize("shape", [(14, 12, 10), (8, 7, 6, 5)])
@pytest.mark.parametrize("start", ["greedy", "random"])
def test_what_is_nan_is_unknown_and_predicted(shape, start):
    X = planted(shape, 2)
    hidden = np.random.default_rng(1).random(shape) < 0.3
    model = pursuit.TensorPursuit(
        2, modes="nonneg", weights="nonneg", start=start, tol=1e-9, max_iter=3000, random_state=0
    ).fit(np.where(hidden, np.nan, X))
    error = (model.reconstruct() - X)[hidden]
    assert np.sqrt(np.mean(error**2)) < 0.02 * X.std()
    places = np.array(np.nonzero(hidden))
    assert np.allclose(model.predict(places), model.reconstruct()[hidden])


def test_the_number_of_atoms_is_chosen_by_entries_held_back():
    X = planted((16, 14, 12), 3) + 0.02 * np.random.default_rng(2).standard_normal((16, 14, 12))
    X[np.random.default_rng(3).random(X.shape) < 0.3] = np.nan
    for regularize in ("none", "auto"):
        model = pursuit.TensorPursuit(
            None, modes="nonneg", weights="nonneg", regularize=regularize, random_state=0
        ).fit(X)
        assert 3 <= model.n_components_ <= 12
        assert min(model.validation_errors_.values()) < 0.05
        assert model.validation_errors_[model.n_components_] == min(model.validation_errors_.values())


def test_weights_of_zero_are_missing_entries():
    X = planted((9, 8, 7), 2)
    known = np.random.default_rng(4).random(X.shape) < 0.7
    options = dict(modes="nonneg", weights="nonneg", tol=1e-10, max_iter=2000, random_state=0)
    missing = pursuit.TensorPursuit(2, **options).fit(np.where(known, X, np.nan))
    weighted = pursuit.TensorPursuit(2, **options).fit(X, entry_weights=known.astype(float))
    assert np.allclose(missing.reconstruct(), weighted.reconstruct(), atol=1e-8)


def test_counts():
    rng = np.random.default_rng(5)
    X = rng.poisson(4 * planted((12, 10, 8), 2))
    options = dict(modes="nonneg", weights="nonneg", loss="poisson", random_state=0)
    model = pursuit.TensorPursuit(2, **options).fit(X)
    assert 0 < model.relative_error_ < 1
    indices = np.array(np.nonzero(X))
    sparse = pursuit.TensorPursuit(2, **options).fit((indices, X[X > 0].astype(float), X.shape))
    assert np.allclose(model.reconstruct(), sparse.reconstruct())
    assert model.reconstruct().sum() == pytest.approx(X.sum(), rel=1e-3)
    with pytest.raises(ValueError, match="transform: of squares"):
        model.transform(X)


def test_offsets_and_a_link():
    rng = np.random.default_rng(6)
    logits = rng.normal(size=(9, 1, 1)) + rng.normal(size=(1, 8, 1)) + rng.normal(size=(1, 1, 7))
    X = (rng.random(logits.shape) < 1 / (1 + np.exp(-2 * logits))).astype(float)
    X[0, 0, 0] = np.nan
    model = pursuit.TensorPursuit(1, loss="bernoulli", offsets=True, random_state=0).fit(X)
    assert [len(offset) for offset in model.offsets_] == [9, 8, 7]
    assert model.reconstruct().min() >= 0 and model.reconstruct().max() <= 1


def test_slices_with_gaps_have_coordinates():
    X = planted((10, 9, 8), 2)
    model = pursuit.TensorPursuit(
        2, modes="nonneg", weights="nonneg", tol=1e-10, max_iter=3000, random_state=0
    ).fit(X)
    gaps = np.where(np.random.default_rng(7).random(X.shape) < 0.4, np.nan, X)
    assert np.allclose(model.inverse_transform(model.transform(gaps)), X, atol=0.05)


@pytest.mark.parametrize(
    "arguments, data, weights, message",
    [
        ({}, np.full((3, 3, 3), np.nan), None, "no entry is known"),
        ({}, np.array([[[np.nan, np.inf]]]), None, "entries must be finite"),
        ({}, np.ones((3, 3, 3)), np.ones((3, 3)), "entry_weights of shape"),
        ({}, np.ones((3, 3, 3)), -np.ones((3, 3, 3)), "weights must be numbers of at least 0"),
        ({}, np.ones((3, 3, 3)), np.zeros((3, 3, 3)), "no entry has a weight above 0"),
        ({"loss": "poisson"}, np.ones((3, 3, 3)), None, "weights must be nonneg"),
        ({"loss": "round"}, np.ones((3, 3, 3)), None, "allowed are"),
        ({"n_components": None}, np.ones((3, 3, 3)), np.ones((3, 3, 3)), "too few"),
        ({"loss": "huber:1", "symmetric_modes": (0, 1)}, np.ones((3, 2, 3)), None, "have sizes 3 and 2"),
        ({"loss": "huber:1", "ridge": 0.1}, np.ones((3, 3, 3)), None, "full arrays only"),
        ({"unlisted": "gone"}, np.ones((3, 3, 3)), None, "must be 'zero' or 'unknown'"),
    ],
)
def test_what_cannot_be_is_refused(arguments, data, weights, message):
    with pytest.raises(ValueError, match=message):
        pursuit.TensorPursuit(**arguments).fit(data, entry_weights=weights)


def test_places_are_checked():
    model = pursuit.TensorPursuit(1, random_state=0).fit(planted((4, 3, 2), 1))
    with pytest.raises(ValueError, match="mode 2: must be from 0 to 1"):
        model.predict([[0], [0], [2]])
    with pytest.raises(ValueError, match="one row for each of 3 modes"):
        model.predict([[0, 1, 1]])


def test_modes_may_share_their_factors():
    rng = np.random.default_rng(8)
    u, v = rng.random((10, 2)), rng.random((7, 2))
    X = np.einsum("ir,jr,kr->ijk", u, u, v)
    gaps = np.where(rng.random(X.shape) < 0.4, np.nan, X)
    options = dict(modes="nonneg", weights="nonneg", symmetric_modes=(0, 1), random_state=0, tol=1e-8)
    model = pursuit.TensorPursuit(2, **options).fit(gaps)
    np.testing.assert_array_equal(model.factors_[0], model.factors_[1])
    assert np.linalg.norm(model.reconstruct() - X) < 0.03 * np.linalg.norm(X)
    counts = pursuit.TensorPursuit(2, loss="poisson", **options).fit(np.floor(5 * X))
    np.testing.assert_array_equal(counts.factors_[0], counts.factors_[1])
    assert counts.relative_error_ < 0.5
    with pytest.raises(ValueError, match="modes 0 and 1 share their factors and need the same set"):
        pursuit.TensorPursuit(2, modes=["nonneg", "sphere", "nonneg"], symmetric_modes=(0, 1)).fit(gaps)


def test_what_a_list_leaves_out_is_zero_or_unknown():
    X = planted((12, 10, 8), 2)
    known = np.random.default_rng(9).random(X.shape) < 0.6
    indices = np.array(np.nonzero(known))
    options = dict(modes="nonneg", weights="nonneg", tol=1e-9, max_iter=2000, random_state=0)
    listed = pursuit.TensorPursuit(2, unlisted="unknown", **options).fit((indices, X[known]))
    missing = pursuit.TensorPursuit(2, **options).fit(np.where(known, X, np.nan))
    np.testing.assert_array_equal(listed.reconstruct(), missing.reconstruct())
    zeros = pursuit.TensorPursuit(2, **options).fit((indices, X[known], X.shape))
    assert zeros.relative_error_ > 0.1 > listed.relative_error_


def test_entries_are_asked_for_by_name():
    X = planted((3, 4, 2), 1)
    names = [["a", "b", "c"], None, ["on", "off"]]
    model = pursuit.TensorPursuit(1, names=names, random_state=0).fit(X)
    np.testing.assert_allclose(model.predict([["c", "a"], [1, 3], ["on", "off"]]), [X[2, 1, 0], X[0, 3, 1]])
    with pytest.raises(ValueError, match="indices of mode 0: 'z' is none of its names"):
        model.predict([["z"], [0], ["on"]])
