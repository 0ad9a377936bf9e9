"""Arrays of three and more modes."""

import numpy as np
import pytest

import pursuit


def planted(shape, rank, seed=0, noise=0.0):
    rng = np.random.default_rng(seed)
    factors = [rng.random((size, rank)) for size in shape]
    letters = "ijklmn"[: len(shape)]
    X = np.einsum(",".join(c + "r" for c in letters) + "->" + letters, *factors)
    E = rng.standard_normal(X.shape)
    return factors, X + noise * np.linalg.norm(X) / np.linalg.norm(E) * E


def worst_match(planted_factor, found):
    unit = lambda F: F / np.linalg.norm(F, axis=0)
    return np.abs(unit(planted_factor).T @ unit(found)).max(axis=1).min()


@pytest.mark.parametrize("shape", [(12, 10, 8), (8, 7, 6, 5)])
@pytest.mark.parametrize("start", ["greedy", "random"])
def test_planted_factors_are_found(shape, start):
    factors, X = planted(shape, 3, noise=0.01)
    model = pursuit.TensorPursuit(
        3, modes="nonneg", weights="nonneg", start=start, tol=1e-9, max_iter=3000, random_state=1
    ).fit(X)
    assert model.relative_error_ <= 0.0101
    assert all(worst_match(F, G) > 0.98 for F, G in zip(factors, model.factors_))
    assert np.linalg.norm(model.reconstruct() - X) / np.linalg.norm(X) == pytest.approx(
        model.relative_error_, rel=1e-6
    )


def test_sparse_arrays_are_the_dense_ones():
    _, X = planted((9, 8, 7), 2)
    X[X < np.median(X)] = 0
    indices = np.array(np.nonzero(X))
    options = dict(modes="nonneg", weights="nonneg", random_state=0)
    dense = pursuit.TensorPursuit(2, **options).fit(X)
    listed = pursuit.TensorPursuit(2, **options).fit((indices, X[tuple(indices)], X.shape))

    class Coo:  # as the package `sparse` has it
        coords, data, shape, fill_value = indices, X[tuple(indices)], X.shape, 0.0

    coo = pursuit.TensorPursuit(2, **options).fit(Coo())
    assert listed.relative_error_ == pytest.approx(dense.relative_error_, abs=1e-6)
    assert coo.relative_error_ == listed.relative_error_


def test_new_slices_get_their_coordinates():
    _, X = planted((10, 8, 6), 2)
    model = pursuit.TensorPursuit(
        2, modes="nonneg", weights="nonneg", tol=1e-10, max_iter=5000, random_state=0
    )
    model.fit(X)
    Z = model.transform(X)
    assert Z.shape == (10, 2) and (Z >= 0).all()
    assert np.linalg.norm(model.inverse_transform(Z) - X) / np.linalg.norm(X) <= model.relative_error_ + 1e-9
    with pytest.raises(ValueError, match=r"slices of shape \(8, 5\); the model has slices of shape \(8, 6\)"):
        model.transform(X[:, :, :5])


def test_modes_may_share_factors():
    rng = np.random.default_rng(0)
    U, V = rng.random((7, 2)), rng.random((5, 2))
    X = np.einsum("ir,jr,kr->ijk", U, U, V)
    model = pursuit.TensorPursuit(
        2, modes="nonneg", symmetric_modes=[0, 1], weights="nonneg", random_state=0
    ).fit(X)
    np.testing.assert_array_equal(model.factors_[0], model.factors_[1])
    assert model.relative_error_ < 0.05


def test_two_modes_are_a_matrix():
    X = np.random.default_rng(0).random((12, 9))
    options = dict(weights="nonneg", random_state=3)
    tensor = pursuit.TensorPursuit(3, modes=["nonneg", "nonneg+sparse:4"], **options).fit(X)
    matrix = pursuit.MatrixPursuit(3, left="nonneg", right="nonneg+sparse:4", **options).fit(X)
    assert tensor.relative_error_ == pytest.approx(matrix.relative_error_, rel=1e-12)
    np.testing.assert_allclose(tensor.factors_[1], matrix.components_.T, atol=1e-12)


@pytest.mark.parametrize(
    "X, options, message",
    [
        (np.zeros(3), {}, "X has 1 modes; allowed are 2 to 8"),
        (np.zeros((2, 0, 2)), {}, "every mode must have at least one entry"),
        (np.array([[[1, np.inf]]]), {}, r"X\[0, 0, 1\] is inf: entries must be finite"),
        (np.ones((2, 2, 2)), {"modes": ["nonneg"]}, "1 sets for an array of 3 modes"),
        (np.ones((2, 2, 2)), {"symmetric_modes": [0, 3]}, r"symmetric_modes=\[0, 3\]: must be two or more"),
        (np.ones((2, 3, 2)), {"symmetric_modes": [0, 1]}, "share their factors, but have sizes 2 and 3"),
        (np.ones((2, 2, 2)), {"start": "svd"}, "start='svd': must be"),
        ((np.zeros((2, 3)), np.ones(3), (2, 2, 2)), {}, r"indices of shape \(2, 3\) for 3 modes"),
        ((np.full((3, 1), 2), np.ones(1), (2, 2, 2)), {}, r"index 2 of mode 0 lies outside 0\.\.1"),
    ],
)
def test_bad_input_is_named(X, options, message):
    with pytest.raises(ValueError, match=message):
        pursuit.TensorPursuit(1, **options).fit(X)


def test_text_is_refused():
    with pytest.raises(TypeError, match="not real numbers"):
        pursuit.TensorPursuit(1).fit(np.array([[["a"]]]))


def test_tensorly_takes_the_model():
    tensorly = pytest.importorskip("tensorly")
    _, X = planted((6, 5, 4), 2)
    model = pursuit.TensorPursuit(2, modes="nonneg", weights="nonneg", random_state=0).fit(X)
    np.testing.assert_allclose(tensorly.cp_to_tensor(model.to_cp()), model.reconstruct(), atol=1e-12)
