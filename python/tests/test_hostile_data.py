"""Whatever is handed over gives the result of the plain matrix that it stands for, or one clear error."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from sklearn.base import clone

import pursuit

ESTIMATORS = {
    "MatrixPursuit": pursuit.MatrixPursuit(2, right="sparse:3", random_state=0),
    "exact": pursuit.MatrixPursuit(2),
    "NMF": pursuit.NMF(2, random_state=0),
    "TruncatedSVD": pursuit.TruncatedSVD(2),
    "SparsePCA": pursuit.SparsePCA(2, k=3, effort="low", random_state=0),
    "NonnegativeSparsePCA": pursuit.NonnegativeSparsePCA(2, k=3, effort="low", random_state=0),
    "OrthogonalMatchingPursuit": pursuit.OrthogonalMatchingPursuit(2),
    "MatrixCompletion": pursuit.MatrixCompletion(2, random_state=0),
}
PLAIN = np.random.default_rng(0).integers(1, 6, (12, 8)).astype(np.float64)  # exact in every type, no zeros
TARGET = np.arange(12.0) ** 2


def use(model, X):
    """What a fitted model makes of rows."""
    return model.predict(X) if isinstance(model, pursuit.OrthogonalMatchingPursuit) else model.transform(X)


def fitted(name, X):
    return clone(ESTIMATORS[name]).fit(X, TARGET)


def read_only(X):
    for array in (X.data, X.indices, X.indptr) if scipy.sparse.issparse(X) else (X,):
        array.flags.writeable = False
    return X


def unsorted(X):
    X = scipy.sparse.csr_matrix(X)
    for i in range(X.shape[0]):
        row = slice(X.indptr[i], X.indptr[i + 1])
        X.indices[row], X.data[row] = X.indices[row][::-1].copy(), X.data[row][::-1].copy()
    X.has_sorted_indices = False
    return X


def duplicates(X):
    halves = scipy.sparse.csr_matrix(X / 2)
    indptr, order = 2 * halves.indptr, np.argsort(np.tile(np.repeat(np.arange(12), 8), 2), kind="stable")
    data, indices = np.tile(halves.data, 2)[order], np.tile(halves.indices, 2)[order]
    return scipy.sparse.csr_matrix((data, indices, indptr), shape=X.shape)


def wide_indices(X):
    X = scipy.sparse.csr_matrix(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


DENSE = {
    "Fortran": np.asfortranarray,
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "every other": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "read-only": lambda X: read_only(X.copy()),
    "unaligned": lambda X: np.frombuffer(b"-" + X.tobytes(), np.uint8)[1:].view(np.float64).reshape(X.shape),
    "big-endian": lambda X: X.astype(">f8"),
    "longdouble": lambda X: X.astype(np.longdouble),
    "object": lambda X: X.astype(object),
    "list": np.ndarray.tolist,
    "nothing masked": lambda X: np.ma.masked_array(X, mask=np.zeros(X.shape, bool)),
    "frame": lambda X: pd.DataFrame(X.astype(int)),
    "nullable frame": lambda X: pd.DataFrame(X.astype(int)).astype("Int64"),
    **{
        kind: lambda X, kind=kind: X.astype(kind)
        for kind in ("int8", "uint8", "int64", "uint64", "float16", ">f4")
    },
}
SPARSE = {
    **{kind: getattr(scipy.sparse, f"{kind}_matrix") for kind in "csr csc coo lil dok bsr dia".split()},
    **{f"{kind} array": getattr(scipy.sparse, f"{kind}_array") for kind in "csr csc coo lil dok".split()},
    "unsorted": unsorted,
    "duplicates": duplicates,
    "64-bit indices": wide_indices,
    "read-only": lambda X: read_only(scipy.sparse.csr_matrix(X)),
    "int8": lambda X: scipy.sparse.csr_matrix(X.astype(np.int8)),
    "uint64": lambda X: scipy.sparse.csr_matrix(X.astype(np.uint64)),
    "longdouble": lambda X: scipy.sparse.csr_matrix(X.astype(np.longdouble)),
    "sparse frame": lambda X: pd.DataFrame.sparse.from_spmatrix(scipy.sparse.csr_matrix(X)),
}


@pytest.mark.parametrize("form", DENSE)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_array_in_any_form_is_its_numbers(name, form):
    X = DENSE[form](PLAIN)
    assert_allclose(use(fitted(name, X), X), use(fitted(name, PLAIN), PLAIN), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("form", SPARSE)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_sparse_matrix_in_any_form_is_its_numbers(name, form):
    X, plain = SPARSE[form](PLAIN), scipy.sparse.csr_matrix(PLAIN)
    refused = {"OrthogonalMatchingPursuit": "dense data is required"}
    if form == "duplicates":
        refused["MatrixCompletion"] = "stored twice"
    if name in refused:
        with pytest.raises((TypeError, ValueError), match=refused[name]):
            fitted(name, X)
        return
    assert_allclose(use(fitted(name, X), X), use(fitted(name, plain), plain), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_truth_values_are_zeros_and_ones(name):
    X = PLAIN > 3
    assert_allclose(use(fitted(name, X), X), use(fitted(name, X * 1.0), X * 1.0), rtol=1e-8, atol=1e-8)


def with_entry(value, X=PLAIN):
    X = X.copy()
    X[1, 2] = value
    return X


def frame_with(value, dtype):
    frame = pd.DataFrame(PLAIN.astype(int)).astype(dtype)
    frame.iloc[1, 2] = value
    return frame


MISSING = {
    "NaN": with_entry(np.nan),
    "frame with None": frame_with(None, float),
    "frame with NA": frame_with(pd.NA, "Int64"),
    "masked": np.ma.masked_array(PLAIN.copy(), mask=np.isnan(with_entry(np.nan))),
    "masked integers": np.ma.masked_array(PLAIN.astype(int), mask=np.isnan(with_entry(np.nan))),
}
IMPOSSIBLE = {
    "no rows": np.zeros((0, 8)),
    "no columns": np.zeros((12, 0)),
    "nothing": np.zeros((0, 0)),
    "sparse, no rows": scipy.sparse.csr_matrix((0, 8)),
    "sparse, no columns": scipy.sparse.csr_matrix((12, 0)),
    "infinity": with_entry(np.inf),
    "sparse infinity": scipy.sparse.csr_matrix(with_entry(-np.inf)),
    "sparse NaN": scipy.sparse.csr_matrix(with_entry(np.nan)),
    "beyond double": PLAIN.astype(np.longdouble) * np.longdouble("1e4000"),
    "words": np.full((12, 8), "x"),
    "bytes": np.full((12, 8), b"x"),
    "dictionaries": np.full((12, 8), {}),
    "complex": PLAIN + 1j,
    "sparse complex": scipy.sparse.csr_matrix(PLAIN + 1j),
    "times": np.zeros((12, 8), "M8[s]"),
    "durations": np.zeros((12, 8), "m8[s]"),
    "records": np.zeros(12, [("a", "f8"), ("b", "f8")]),
    "one dimension": PLAIN[0],
    "three dimensions": PLAIN[None],
    "a number": 3.0,
    "None": None,
    "text": "abc",
    "a dictionary": {"a": 1},
    "an empty list": [],
    "ragged": [[1.0, 2.0], [3.0]],
    "frame of words": pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}),
    "buffer": memoryview(b"abc"),
}


@pytest.mark.parametrize("what", IMPOSSIBLE)
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("ignore")
def test_what_is_no_matrix_of_numbers_is_refused(name, what):
    model = fitted(name, PLAIN)
    with pytest.raises((ValueError, TypeError)) as in_fit:
        fitted(name, IMPOSSIBLE[what])
    with pytest.raises((ValueError, TypeError)) as in_use:
        use(model, IMPOSSIBLE[what])
    assert str(in_fit.value) and str(in_use.value)


@pytest.mark.parametrize("what", MISSING)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_missing_entries_are_refused_or_unknown(name, what):
    if name == "MatrixCompletion":
        X, plain = MISSING[what], MISSING["NaN"]
        assert_allclose(use(fitted(name, X), X), use(fitted(name, plain), plain), rtol=1e-6)
        return
    for work in (lambda X: fitted(name, X), lambda X: use(fitted(name, PLAIN), X)):
        with pytest.raises((ValueError, TypeError), match="NaN|masked|NAType"):
            work(MISSING[what])


def test_masked_targets_are_refused():
    with pytest.raises(ValueError, match="y has 1 masked entries"):
        pursuit.OrthogonalMatchingPursuit(1).fit(PLAIN, np.ma.masked_array(TARGET, mask=TARGET == 4))


@pytest.mark.parametrize(
    "W, H",
    [
        (np.ones((12, 3)), np.ones((2, 8))),
        (np.ones((11, 2)), np.ones((2, 8))),
        (np.ones((12, 2)), np.ones((8, 2))),
        (np.ones(12), np.ones((2, 8))),
        (-np.ones((12, 2)), np.ones((2, 8))),
        (np.full((12, 2), np.nan), np.ones((2, 8))),
        (np.ones((12, 2)), None),
        (None, None),
        (np.full((12, 2), "x"), np.ones((2, 8))),
        (np.zeros((12, 2)), np.ones((2, 8))),
    ],
)
def test_a_beginning_that_does_not_fit_is_refused(W, H):
    with pytest.raises((ValueError, TypeError)):
        pursuit.NMF(2, init="custom").fit(PLAIN, W=W, H=H)


@pytest.mark.parametrize(
    "estimator", [pursuit.NMF(2), pursuit.PCA(2), pursuit.SparsePCA(2), pursuit.MatrixPursuit(2)]
)
def test_missing_values_lead_to_completion(estimator):
    X = np.ones((6, 5))
    X[2, 3] = np.nan
    with pytest.raises(ValueError, match="contains NaN(.|\n)*pursuit.MatrixCompletion"):
        estimator.fit(X)
