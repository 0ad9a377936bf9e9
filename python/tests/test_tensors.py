"""Arrays of three and more modes."""

import warnings

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


def test_new_slices_may_list_their_entries():
    _, X = planted((10, 8, 6), 2)
    X[X < np.median(X)] = 0
    model = pursuit.TensorPursuit(2, modes="nonneg", weights="nonneg", random_state=0).fit(X)
    indices = np.array(np.nonzero(X))
    np.testing.assert_allclose(
        model.transform((indices, X[tuple(indices)], X.shape)), model.transform(X), atol=1e-10
    )
    with pytest.raises(ValueError, match="index 9 of mode 1 lies outside 0..7"):
        model.transform((np.array([[0], [9], [0]]), [1.0], (1, 8, 6)))


def test_arrays_of_the_package_sparse():
    sparse = pytest.importorskip("sparse")
    _, X = planted((9, 8, 7), 2)
    X[X < np.median(X)] = 0
    options = dict(modes="nonneg", weights="nonneg", random_state=0)
    model = pursuit.TensorPursuit(2, **options).fit(sparse.COO.from_numpy(X))
    dense = pursuit.TensorPursuit(2, **options).fit(X)
    assert model.relative_error_ == pytest.approx(dense.relative_error_, abs=1e-6)
    np.testing.assert_allclose(model.transform(sparse.COO.from_numpy(X)), model.transform(X), atol=1e-10)


@pytest.mark.parametrize("start", ["greedy", "leading", "random"])
@pytest.mark.parametrize("starts", [None, 0, 3])
def test_every_start_finds_what_was_planted(start, starts):
    factors, X = planted((14, 12, 10), 3, noise=0.01)
    model = pursuit.TensorPursuit(
        3, modes="nonneg", weights="nonneg", start=start, starts=starts, tol=1e-8, random_state=2
    ).fit(X)
    assert model.relative_error_ < 0.03


def test_known_factors_stay():
    factors, X = planted((12, 10, 8), 3)
    model = pursuit.TensorPursuit(
        3, modes="nonneg", weights="nonneg", known={1: factors[1][:, :2]}, tol=1e-9, random_state=0
    ).fit(X)
    np.testing.assert_array_equal(model.factors_[1][:, :2], factors[1][:, :2])
    assert model.relative_error_ < 0.05
    with pytest.raises(ValueError, match="have 12 entries; the mode has 10"):
        pursuit.TensorPursuit(3, known={1: factors[0]}).fit(X)


def test_atoms_that_cancel_are_warned_of():
    X = np.zeros((2, 2, 2))
    X[0, 0, 1] = X[0, 1, 0] = X[1, 0, 0] = 1
    with pytest.warns(pursuit_warning(), match="cancel each other"):
        model = pursuit.TensorPursuit(2, random_state=0).fit(X)
    assert model.congruence_ < -0.9 and model.condition_ > 5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cured = pursuit.TensorPursuit(2, ridge=0.05, random_state=0).fit(X)
    assert cured.congruence_ > -0.9


def pursuit_warning():
    from sklearn.exceptions import ConvergenceWarning

    return ConvergenceWarning


def test_names_of_indices():
    _, X = planted((4, 3, 5), 2)
    names = [None, ["red", "green", "blue"], list("abcde")]
    model = pursuit.TensorPursuit(2, modes="nonneg", weights="nonneg", names=names, random_state=0).fit(X)
    top = model.top(1, 0, count=2)
    assert len(top) == 2 and top[0][0] in names[1] and top[0][1] == model.factors_[1][:, 0].max()
    assert isinstance(model.top(0, 1)[0][0], int)
    with pytest.raises(ValueError, match="2 names for the 3 indices of mode 1"):
        pursuit.TensorPursuit(2, names=[None, ["red", "green"], None]).fit(X)


def test_to_and_from_tensorly():
    factors, X = planted((6, 5, 4), 2)
    model = pursuit.TensorPursuit.from_cp((None, factors), weights="nonneg")
    np.testing.assert_allclose(model.reconstruct(), X)
    np.testing.assert_allclose(np.linalg.norm(model.factors_[0], axis=0), 1)
    assert model.transform(X).shape == (6, 2)
    weights, back = model.to_cp()
    np.testing.assert_allclose(np.einsum("r,ir,jr,kr->ijk", weights, *back), X)
    with pytest.raises(ValueError, match="as many columns each"):
        pursuit.TensorPursuit.from_cp((None, [factors[0], factors[1][:, :1], factors[2]]))
    tensorly = pytest.importorskip("tensorly")
    from tensorly.cp_tensor import CPTensor, cp_to_tensor

    np.testing.assert_allclose(np.asarray(cp_to_tensor(CPTensor(model.to_cp()))), X)
    again = pursuit.TensorPursuit.from_cp(CPTensor((np.ones(2), factors)))
    np.testing.assert_allclose(again.reconstruct(), X)


def test_numbers_far_from_one():
    _, X = planted((8, 7, 6), 2, noise=0.1)
    options = dict(modes="nonneg", weights="nonneg", random_state=0)
    near = pursuit.TensorPursuit(2, **options).fit(X)
    far = pursuit.TensorPursuit(2, **options).fit(X * 2.0**600)
    assert far.relative_error_ == pytest.approx(near.relative_error_, rel=1e-6)
    np.testing.assert_allclose(far.weights_ / 2.0**600, near.weights_, rtol=1e-6)
