"""Input of the estimators: scikit-learn's checks, then matrices as the engine uses them in place."""

from __future__ import annotations

import numbers
import os
from typing import Any

import numpy as np
import scipy.sparse
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from . import _core

try:
    from sklearn.utils.validation import validate_data as _validated  # scikit-learn 1.6 and later

    ALLOW_NAN = {"ensure_all_finite": "allow-nan"}
except ImportError:
    ALLOW_NAN = {"force_all_finite": "allow-nan"}

    def _validated(estimator: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
        return estimator._validate_data(X, y, **options)


FLOATS = (np.float64, np.float32)
_WHOLE = tuple(np.dtype(kind).type for kind in ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"))
_MISSING = "pursuit.MatrixCompletion takes X with NaN as it is: what is missing is unknown, and predicted."


def validate_data(estimator: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
    """scikit-learn's checks, and what they let pass: numbers behind a mask, times as if they were numbers."""
    for name, data in (("X", X), ("y", y)):
        if np.ma.is_masked(data):
            raise ValueError(
                f"{name} has {np.ma.count_masked(data)} masked entries: fill them in; "
                "to MatrixCompletion, in X, they are unknown"
            )
        if getattr(getattr(data, "dtype", None), "kind", None) in ("M", "m"):
            raise TypeError(f"{name} holds times (dtype {data.dtype}), not numbers; convert them first")
    try:
        return _validated(estimator, X, y, **options)
    except ValueError as error:
        if "X contains NaN" in str(error):
            raise ValueError(f"{error}\n{_MISSING}") from None
        raise


def threads_for(n_jobs: int | None) -> int:
    """Threads meant by ``n_jobs`` as joblib understands it: 1 for None, all cores for -1, 1 inside its
    workers; never more than cores, which would only wait for each other."""
    return min(effective_n_jobs(n_jobs), os.cpu_count() or 1)


def seed_for(random_state: Any) -> int:
    """An integer is the seed itself, so that it means what ``--seed`` means to the program."""
    if isinstance(random_state, numbers.Integral):
        if random_state < 0:
            raise ValueError(f"random_state={random_state}: must be 0 or more")
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def with_floats(X: Any) -> Any:
    """A compressed matrix of whole numbers as one of doubles that shares its indices, which SciPy would copy."""
    if not (scipy.sparse.issparse(X) and X.format in ("csr", "csc") and X.dtype.kind in "biu"):
        return X
    floats = type(X)((X.data.astype(np.float64), X.indices, X.indptr), shape=X.shape)
    if X.has_canonical_format:  # looked at once
        floats.has_canonical_format = True
    return floats


def canonical(X: Any) -> Any:
    """A sparse matrix without duplicates and with indices of one type, in whatever order they are; the input is
    never changed."""
    if not scipy.sparse.issparse(X):
        return X
    if X.indices.dtype != X.indptr.dtype:
        X = type(X)((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
    if not X.has_canonical_format and (X.has_sorted_indices or _core.has_duplicates(X, 1)):
        X = X.copy()
        X.sum_duplicates()
    return X


def float_type(X: Any) -> Any:
    """The precision of results about X: its own, double for whole numbers."""
    return X.dtype.type if X.dtype in FLOATS else np.float64


def product(X: Any, columns: NDArray[Any], threads: int = 1) -> NDArray[Any]:
    """X times a few columns. Whole numbers, of which NumPy and SciPy would make a copy, are multiplied as they
    lie."""
    if X.dtype in FLOATS:
        # A few wide rows times a tall matrix: faster than the other way round.
        return np.asarray((columns.T.astype(X.dtype, copy=False) @ X.T).T, dtype=np.float64)
    return _core.product(X, columns.astype(np.float64), threads)


def validate_matrix(estimator: Any, X: Any, *, reset: bool, min_samples: int = 1) -> Any:
    """X as an array, or a CSR or CSC matrix without duplicates, of floats or of whole numbers as they lie. Rows
    of several processes were checked by these."""
    if isinstance(X, _core.RankedMatrix):
        return X
    X = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse=("csr", "csc"),
        accept_large_sparse=True,
        dtype=FLOATS + _WHOLE,
        order=None,
        ensure_min_samples=min_samples,
    )
    return canonical(X)


def require_count(
    name: str, value: Any, *, at_most: int | None = None, shape: tuple[int, int] | None = None
) -> int:
    """A whole number from 1, with a message that says what the data allow."""
    allowed = "an integer of at least 1" if at_most is None else f"an integer from 1 to {at_most}"
    given = "" if shape is None else f" (n_samples={shape[0]}, n_features={shape[1]})"
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise TypeError(f"{name}={value!r}: must be {allowed}{given}")
    number = int(value)
    if number < 1 or (at_most is not None and number > at_most):
        raise ValueError(f"{name}={number}: must be {allowed}{given}")
    return number


def squared_norm(X: Any) -> float:
    """Sum of squares of all entries, in double precision."""
    if isinstance(X, _core.RankedMatrix):
        return X.squared_norm()
    if scipy.sparse.issparse(X):
        return float(np.einsum("i,i->", X.data, X.data, dtype=np.float64))
    return float(np.einsum("ij,ij->", X, X, dtype=np.float64))
