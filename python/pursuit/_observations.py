"""Observed entries from whatever holds them: arrays with NaN, sparse matrices, triplets, frames with ids."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Sequence

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ._validation import ALLOW_NAN, FLOATS, validate_data, with_floats

Names = tuple[str, ...]


class Ids:
    """The ids of rows or columns, in order; an id is any hashable value."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = list(values)
        self._places = {value: place for place, value in enumerate(self.values)}
        if len(self._places) != len(self.values):
            twice = next(v for i, v in enumerate(self.values) if self._places[v] != i)
            raise ValueError(f"the id {twice!r} occurs twice")

    def __len__(self) -> int:
        return len(self.values)

    def places(self, ids: Sequence[Any], kind: str, *, unknown: str = "raise") -> NDArray[np.int32]:
        """Positions of ids; for those never seen -1, or ValueError."""
        found = np.fromiter((self._places.get(each, -1) for each in ids), np.int32, len(ids))
        if unknown == "raise" and (found < 0).any():
            strange = [each for each, place in zip(ids, found) if place < 0]
            raise ValueError(
                f"{len(strange)} {kind} id(s) never seen in fit, the first is {strange[0]!r}; "
                f"ids of this model look like {self.values[0]!r}"
            )
        return found

    def extended(self, ids: Sequence[Any]) -> "Ids":
        """With those that are new behind the ones there are."""
        return Ids(list(dict.fromkeys([*self.values, *ids])))


@dataclass
class Observations:
    """Entries (row, col, value) of a matrix; all others are unknown."""

    rows: Ids
    cols: Ids
    row: NDArray[np.int32]
    col: NDArray[np.int32]
    value: NDArray[np.float32]
    dtype: Any = field(default=np.float64)

    def arguments(self) -> tuple[int, int, NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
        """As the engine takes them."""
        return len(self.rows), len(self.cols), self.row, self.col, self.value


def is_triplets(X: Any, names: Names) -> bool:
    """A tuple of three equally long sequences, or of two (clicks), or a frame with the named columns."""
    if isinstance(X, tuple):
        return len(X) in (2, 3) and all(np.ndim(each) == 1 for each in X)
    return hasattr(X, "columns") and hasattr(X, "iloc") and set(names) <= set(map(str, X.columns))


def refuse_unnamed_triplets(X: Any, clicks: bool = False) -> None:
    """ValueError for a frame whose columns are called like those of triplets: nobody means it as a matrix."""
    needed = 2 if clicks else 3
    if not (hasattr(X, "columns") and hasattr(X, "iloc")) or not needed <= len(X.columns) <= 6:
        return
    words = {"".join(c for c in str(name).lower() if c.isalnum()): name for name in X.columns}
    found = [next((words[word] for word in kind if word in words), None) for kind in _TRIPLET_WORDS]
    if clicks and found[2] is None:
        found.pop()
    if None not in found:
        names = ", ".join(repr(name) for name in found)
        raise ValueError(
            f"the frame looks like triplets, one entry per line: say columns=({names}), "
            "or pass X.to_numpy() for a matrix with these columns"
        )


_TRIPLET_WORDS = (
    ("user", "userid", "uid", "customer", "customerid", "row"),
    ("item", "itemid", "iid", "movie", "movieid", "product", "productid", "book", "bookid", "column", "col"),
    ("rating", "ratings", "value", "score", "stars"),
)
_ID_TYPES = {"int": int, "float": float, "str": str}


def id_type(ids: Sequence[Any]) -> str:
    """The type of all ids, by a name that `typed_ids` knows; "mixed" where there is none."""
    for name, kind in _ID_TYPES.items():
        if all(type(each) is kind for each in ids):
            return name
    return "int" if all(isinstance(each, np.integer) for each in ids) else "mixed"


def typed_ids(names: list[str], kind: str) -> list[Any]:
    """Texts as the ids that they were before they were saved."""
    return [_ID_TYPES[kind](name) for name in names] if kind in _ID_TYPES else names


def from_matrix(estimator: Any, X: Any, *, reset: bool) -> Observations:
    """NaN and what is masked are unknown in an array; what is not stored is unknown in a sparse matrix, a
    stored zero was seen to be zero."""
    index, columns = getattr(X, "index", None), getattr(X, "columns", None)
    if np.ma.is_masked(X):
        X = np.ma.filled(X if X.dtype.kind == "f" else X.astype(np.float64), np.nan)
    if scipy.sparse.issparse(X) and not (X.format in ("csr", "csc") and X.has_canonical_format):
        _refuse_duplicates(X.tocoo())
    X = validate_data(
        estimator,
        with_floats(X),
        reset=reset,
        accept_sparse=("csr", "csc", "coo"),
        dtype=FLOATS,
        ensure_min_samples=1,
        **ALLOW_NAN,
    )
    rows = Ids(range(X.shape[0]) if index is None or callable(index) else index)
    cols = Ids(range(X.shape[1]) if columns is None else columns)
    if scipy.sparse.issparse(X):
        entries = X.tocoo()
        row, col, value = entries.row, entries.col, entries.data
        if not np.isfinite(value).all():
            raise ValueError(
                "Input X contains NaN or infinity: a sparse matrix stores what was observed, "
                "leave the rest out"
            )
    else:
        row, col = np.nonzero(~np.isnan(X))
        value = X[row, col]
    if reset and len(value) == 0:
        raise ValueError("Input X has no observed entry: every entry is NaN or not stored")
    return Observations(
        rows, cols, row.astype(np.int32), col.astype(np.int32), _as_float32(value), X.dtype.type
    )


def from_triplets(
    X: Any, names: Names, *, rows: Ids | None = None, cols: Ids | None = None, clicks: bool = False
) -> Observations:
    """Ids keep the places that ``rows`` and ``cols`` give them; new ones follow, but columns only where
    ``cols`` is None. Clicks need no values, and those that come again are added up."""
    parts = X if isinstance(X, tuple) else tuple(X[name] for name in names)
    if len(parts) == 2:
        if not clicks:
            raise ValueError(
                "rows and columns without values are clicks, which MatrixCompletion(implicit=True) takes"
            )
        parts = (*parts, np.ones(len(parts[0])))
    row_ids, col_ids, values = parts
    row_ids, col_ids = _plain(row_ids, "row"), _plain(col_ids, "column")
    if np.ma.is_masked(values) and len(row_ids) == len(col_ids) == len(values):
        seen = np.flatnonzero(~np.ma.getmaskarray(values))
        row_ids, col_ids = [row_ids[i] for i in seen], [col_ids[i] for i in seen]
        values = np.ma.getdata(values)[seen]
    try:
        values = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the values of the triplets are no numbers: {error}") from error
    if not len(row_ids) == len(col_ids) == len(values):
        raise ValueError(f"triplets of {len(row_ids)} rows, {len(col_ids)} columns and {len(values)} values")
    if len(values) == 0:
        raise ValueError("no observed entry: the triplets are empty")
    rows = Ids(list(dict.fromkeys(row_ids))) if rows is None else rows.extended(row_ids)
    known = Ids(list(dict.fromkeys(col_ids))) if cols is None else cols
    row, col = rows.places(row_ids, "row"), known.places(col_ids, "column")
    repeated = _repeats(row, col)
    for problem, where in (
        ("not a finite number", ~np.isfinite(values)),
        ("given twice", repeated & (not clicks)),
    ):
        if where.any():
            i = int(np.flatnonzero(where)[0])
            raise ValueError(
                f"the entry of row {row_ids[i]!r} and column {col_ids[i]!r} is {problem}; "
                f"its value is {values[i]}"
            )
    if repeated.any():
        values = _added_up(row, col, values)
        row, col = row[~repeated], col[~repeated]
    return Observations(rows, known, row, col, _as_float32(values))


def _added_up(row: NDArray[Any], col: NDArray[Any], values: NDArray[Any]) -> NDArray[np.float64]:
    """The sums over entries of the same place, in the order in which places come first."""
    _, first, which = np.unique(_places(row, col), return_index=True, return_inverse=True)
    return np.bincount(which.ravel(), values)[np.argsort(first)]


def _places(row: NDArray[Any], col: NDArray[Any]) -> NDArray[np.int64]:
    return row.astype(np.int64) * (int(col.max(initial=0)) + 1) + col


def _plain(ids: Any, kind: str) -> list[Any]:
    if np.ma.is_masked(ids):
        raise ValueError(f"a {kind} id is masked")
    ids = np.asarray(ids).tolist() if not isinstance(ids, list) else ids
    for each in ids:
        if each is None or each != each:
            raise ValueError(f"a {kind} id is missing (None or NaN)")
    return ids


def _repeats(row: NDArray[Any], col: NDArray[Any]) -> NDArray[np.bool_]:
    """True where a pair occurred before."""
    _, first = np.unique(_places(row, col), return_index=True)
    repeated = np.ones(len(row), dtype=bool)
    repeated[first] = False
    return repeated


def _refuse_duplicates(entries: Any) -> None:
    repeated = _repeats(entries.row, entries.col)
    if repeated.any():
        i = int(np.flatnonzero(repeated)[0])
        raise ValueError(
            f"entry ({entries.row[i]}, {entries.col[i]}) is stored twice; an observation has one value"
        )


def _as_float32(values: NDArray[Any]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        narrow = values.astype(np.float32)
    if not np.isfinite(narrow).all():
        i = int(np.flatnonzero(~np.isfinite(narrow))[0])
        raise ValueError(f"the value {values[i]} is too large: observations are kept in single precision")
    return narrow


def parts_of(entries: Any) -> tuple[Any, Any, Any]:
    return entries.indptr, entries.indices, entries.data


def weights_of(weights: Any, triplets: bool, seen: Observations) -> NDArray[np.float32] | None:
    """One for every entry, in their order."""
    if weights is None:
        return None
    shape = seen.value.shape if triplets else (len(seen.rows), len(seen.cols))
    if np.shape(weights) != shape:
        raise ValueError(f"entry_weights of shape {np.shape(weights)}: must have the shape {shape}")
    if len(shape) == 1:
        return np.asarray(weights, dtype=np.float32)
    if scipy.sparse.issparse(weights):
        return np.asarray(scipy.sparse.csr_matrix(weights)[seen.row, seen.col], dtype=np.float32).ravel()
    return np.asarray(weights, dtype=np.float32)[seen.row, seen.col]


def column_of(X: Any, name: str, argument: str) -> Any:
    """A column of a frame of triplets, which ``argument`` asks for."""
    if not (hasattr(X, "columns") and hasattr(X, "iloc")) or name not in X.columns:
        raise ValueError(f"{argument}={name!r}: no such column; X must be a frame of triplets that has it")
    return X[name]


def times_of(time: Any, triplets: bool, seen: Observations) -> NDArray[np.float64] | None:
    """One for every entry, in their order."""
    if time is None:
        return None
    if not triplets:
        raise ValueError("time: entries of triplets have times, those of a matrix have none")
    if np.shape(time) != seen.value.shape:
        raise ValueError(f"time of shape {np.shape(time)}: must have the shape {seen.value.shape}")
    return seconds_of(time)


def seconds_of(time: Any) -> NDArray[np.float64]:
    """Numbers as they are, dates as seconds since 1970."""
    times = np.asarray(time)
    try:
        if times.dtype.kind in "OU":
            times = times.astype("datetime64[ns]")
        if times.dtype.kind == "M":
            nothing = np.isnat(times)
            seconds = times.astype("datetime64[ns]").astype(np.int64) / 1e9
            return np.where(nothing, np.nan, seconds)
        return times.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"time: neither numbers nor dates: {error}") from error


def column_ids(X: Any, names: Names) -> list[Any]:
    return np.asarray(X[1] if isinstance(X, tuple) else X[names[1]]).tolist()
