"""Arrays and sparse matrices of every kind: used in place, never changed, precision kept."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn.base
from numpy.testing import assert_allclose

import pursuit

DENSE_FORMS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "wide rows": lambda X: np.hstack([X, X + 1])[:, : X.shape[1]],
    "wide columns": lambda X: np.asfortranarray(np.vstack([X, X + 1]))[: X.shape[0]],
    "every other": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
}


def with_indices(X, dtype):
    X = X.copy()
    X.indices, X.indptr = X.indices.astype(dtype), X.indptr.astype(dtype)
    return X


SPARSE_FORMS = {
    "CSR": scipy.sparse.csr_matrix,
    "CSC": scipy.sparse.csc_matrix,
    "CSR, 64 bits": lambda X: with_indices(scipy.sparse.csr_matrix(X), np.int64),
    "CSC, 64 bits": lambda X: with_indices(scipy.sparse.csc_matrix(X), np.int64),
    "COO": scipy.sparse.coo_matrix,
    "unsorted": lambda X: scipy.sparse.csr_matrix(X)[:, ::-1][:, ::-1],
    "duplicates": lambda X: doubled(scipy.sparse.coo_matrix(X)),
}


def doubled(X):
    """Every entry as two halves in the same place."""
    row, col = np.tile(X.row, 2), np.tile(X.col, 2)
    order = np.argsort(row, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=X.shape[0]))])
    return scipy.sparse.csr_matrix((np.tile(X.data / 2, 2)[order], col[order], indptr), shape=X.shape)


@pytest.fixture
def X(rng):
    return np.where(rng.random((40, 25)) < 0.4, rng.standard_normal((40, 25)), 0.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", [*DENSE_FORMS, *SPARSE_FORMS])
def test_every_form_of_a_matrix_is_the_same_matrix(X, form, dtype):
    given = {**DENSE_FORMS, **SPARSE_FORMS}[form](X.astype(dtype))
    before = given.copy()
    expected = pursuit.MatrixPursuit(3, right="sparse:5", random_state=0).fit(X)
    model = pursuit.MatrixPursuit(3, right="sparse:5", random_state=0)
    coordinates = model.fit_transform(given)
    tolerance = 1e-10 if dtype is np.float64 else 1e-3
    assert_allclose(model.relative_error_, expected.relative_error_, rtol=tolerance)
    assert model.components_.dtype == model.left_.dtype == coordinates.dtype == dtype
    assert_allclose(
        model.inverse_transform(coordinates),
        expected.inverse_transform(expected.transform(X)),
        atol=10 * tolerance,
    )
    for attribute in (
        ("data", "indices", "indptr", "row", "col") if scipy.sparse.issparse(given) else ("real",)
    ):
        if hasattr(given, attribute):
            assert (getattr(given, attribute) == getattr(before, attribute)).all(), "the input was changed"


@pytest.mark.parametrize(
    "estimator",
    [pursuit.MatrixPursuit(2), pursuit.NMF(2), pursuit.SparsePCA(2, effort="low"), pursuit.TruncatedSVD(2)],
    ids=lambda e: type(e).__name__,
)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_entries_that_are_no_numbers(X, estimator, value):
    X = np.abs(X)
    estimator.fit(X)
    X[3, 4] = value
    for bad in (X, scipy.sparse.csr_matrix(X), scipy.sparse.csc_matrix(X)):
        for method in (estimator.fit, estimator.transform):
            with pytest.raises(ValueError, match="NaN|infinity"):
                method(bad)


@pytest.mark.parametrize(
    "estimator",
    [
        pursuit.MatrixPursuit(1),
        pursuit.NMF(1),
        pursuit.SparsePCA(1),
        pursuit.TruncatedSVD(1),
        pursuit.MatrixCompletion(),
    ],
    ids=lambda e: type(e).__name__,
)
@pytest.mark.parametrize(
    "given", [pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}), [["x", 1], ["y", 2]]], ids=["frame", "list"]
)
def test_what_is_not_numeric(estimator, given):
    with pytest.raises(ValueError, match="could not convert|Unable to convert|dtype='numeric'"):
        estimator.fit(given)


def test_indices_that_lead_outside_are_refused_before_they_are_followed(X):
    broken = scipy.sparse.csr_matrix(X)
    broken.indices[-1] = 1000
    with pytest.raises(ValueError, match="1001 of 25|column index|must be <"):
        pursuit.MatrixPursuit(2).fit(broken)


def peak_growth(work):
    """Bytes by which the process grew at its largest while it did the work."""

    def memory(field):
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith(field))

    with open("/proc/self/clear_refs", "w") as reset:
        reset.write("5")
    before = memory("VmRSS")
    work()
    return memory("VmHWM") - before


@pytest.mark.parametrize("form", ["C", "Fortran", "wide rows", "CSR", "CSC", "CSR, 64 bits", "CSC, 64 bits"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_dense_data_are_not_copied_and_sparse_ones_once(rng, form, dtype):
    dense = rng.random((4000, 1500)).astype(dtype)
    if form in DENSE_FORMS:
        X = DENSE_FORMS[form](dense)
        size, allowed = dense.nbytes, 0.4
    else:
        dense[dense > 0.5] = 0
        X = SPARSE_FORMS[form](dense)
        size, allowed = X.data.nbytes + X.indices.nbytes, 1.4  # the transposed copy that makes products fast
    model = pursuit.NMF(2, max_iter=2, tol=1.0, random_state=0)
    model.fit(X[:50])  # what is loaded on first use is loaded
    del dense
    growth = peak_growth(lambda: model.fit(X).transform(X))
    assert growth < allowed * size, f"{growth} bytes beside a matrix of {size}"


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64, np.bool_])
@pytest.mark.parametrize("form", DENSE_FORMS)
def test_arrays_of_whole_numbers_are_the_matrix_of_the_same_floats(rng, form, kind):
    X = DENSE_FORMS[form](rng.integers(0, 2 if kind is np.bool_ else 120, (60, 25)).astype(kind))
    floats, before = X.astype(np.float64), X.copy()
    assert pursuit.PCA(2).fit(X).mean_.dtype == np.float64
    estimators = [
        pursuit.NMF(3, random_state=0),
        pursuit.NMF(2, init="random", beta_loss=1, max_iter=5, tol=0.0, random_state=0),
        pursuit.MatrixPursuit(3, right="sparse:5", random_state=0),
        pursuit.TruncatedSVD(3),
        pursuit.PCA(3),
        pursuit.SparsePCA(2, k=5, effort="low", random_state=0),
    ]
    for estimator in estimators:
        model, expected = (sklearn.base.clone(estimator).fit(each) for each in (X, floats))
        assert model.components_.dtype == np.float64
        assert_allclose(model.components_, expected.components_, rtol=1e-6, atol=1e-6)
        ours, theirs = model.transform(X), expected.transform(floats)
        assert ours.dtype == np.float64
        assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6 * np.abs(theirs).max())
        assert_allclose(model.score(X), expected.score(floats), rtol=1e-8)
    assert X.dtype == before.dtype and (X == before).all(), "the input was changed"


def test_arrays_of_whole_numbers_are_not_copied(rng):
    X = rng.integers(0, 200, (6000, 1500)).astype(np.uint8)
    model = pursuit.NMF(2, max_iter=2, tol=1.0, random_state=0)
    model.fit(X[:50])
    growth = peak_growth(lambda: model.fit(X).transform(X))
    assert growth < 1.0 * X.nbytes, f"{growth} bytes beside an array of {X.nbytes}"  # doubles would be 8


def test_fits_after_the_first_need_no_more_memory(rng):
    dense = rng.random((4000, 1500)).astype(np.float32)
    dense[dense > 0.5] = 0
    X = scipy.sparse.csc_matrix(dense)
    model = pursuit.NMF(2, max_iter=2, tol=1.0, random_state=0)
    model.fit(X).transform(X)
    growth = peak_growth(lambda: [model.fit(X).transform(X) for _ in range(4)])
    assert growth < 0.3 * X.data.nbytes, f"{growth} bytes beside values of {X.data.nbytes}"


def test_rows_in_any_order_are_not_copied():
    X = scipy.sparse.random(4000, 1500, 0.5, "csr", random_state=0)
    X = scipy.sparse.csr_matrix((X.data, X.indices[::-1].copy(), X.indptr), shape=X.shape)
    X = scipy.sparse.csr_matrix(X[::-1])  # every row backwards
    assert not X.has_sorted_indices
    size, before = X.data.nbytes + X.indices.nbytes, X.indices.copy()
    model = pursuit.NMF(2, max_iter=2, tol=1.0, random_state=0)
    model.fit(X[:50])
    growth = peak_growth(lambda: model.fit(X))
    assert growth < 1.4 * size, f"{growth} bytes beside a matrix of {size}"  # the transposed copy
    assert (X.indices == before).all() and not X.has_sorted_indices, "the input was changed"


def test_large_whole_numbers_keep_their_digits():
    X = scipy.sparse.csr_matrix(np.array([[2**24 + 1, 0, 3], [0, 1, 0], [5, 0, 2**40 + 1]]))
    for given in (X, X.toarray(), X.tocsc()):
        values = pursuit.TruncatedSVD(2).fit(given).singular_values_
        assert_allclose(values, np.linalg.svd(X.toarray().astype(float))[1][:2], rtol=1e-14)


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8, np.bool_])
@pytest.mark.parametrize("form", ["CSR", "CSC", "CSR, 64 bits", "unsorted"])
def test_whole_numbers_are_the_matrix_of_the_same_floats(rng, form, kind):
    X = SPARSE_FORMS[form]((rng.integers(0, 3, (40, 25))).astype(kind))
    before = X.copy()
    model, expected = (pursuit.NMF(3, random_state=0).fit(each) for each in (X, X.astype(np.float64)))
    assert (model.components_ == expected.components_).all() and model.components_.dtype == np.float64
    assert (model.transform(X) == expected.transform(X.astype(np.float64))).all()
    assert X.dtype == kind
    for attribute in ("data", "indices", "indptr"):
        assert (getattr(X, attribute) == getattr(before, attribute)).all(), "the input was changed"
    seen, same = (pursuit.MatrixCompletion(2, random_state=0).fit(each) for each in (X, X.astype(np.float64)))
    assert (seen.transform(X) == same.transform(X.astype(np.float64))).all()


def test_whole_numbers_become_floats_without_a_copy_of_their_indices(rng):
    X = with_indices(scipy.sparse.random(4000, 1500, 0.5, "csr", dtype=np.int64, random_state=0), np.int64)
    X.data[:] = rng.integers(1, 9, X.nnz)
    size = X.data.nbytes + X.indices.nbytes
    model = pursuit.NMF(2, max_iter=2, tol=1.0, random_state=0)
    model.fit(X[:50])
    growth = peak_growth(lambda: model.fit(X))
    assert (
        growth < 1.75 * size
    ), f"{growth} bytes beside a matrix of {size}"  # floats 0.25, the transposed copy 0.75


def test_a_position_stored_twice_is_refused_whatever_the_order():
    twice = doubled(scipy.sparse.coo_matrix(np.eye(5) + 1))
    whole = scipy.sparse.csr_matrix((np.ones(50, np.int64), twice.indices, twice.indptr), shape=twice.shape)
    for given in (twice, twice.tocoo(), twice.T, whole):
        with pytest.raises(ValueError, match="stored twice"):
            pursuit.MatrixCompletion().fit(given)
