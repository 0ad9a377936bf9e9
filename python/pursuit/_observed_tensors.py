"""Arrays with gaps, weights and losses, as the engine takes them."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _core

OWN_TERMS = ("row_offsets", "column_offsets", "further_offsets", "grades", "thresholds", "size")


def has_gaps(X: Any) -> bool:
    X = np.asarray(X) if isinstance(X, list) else X
    return isinstance(X, np.ndarray) and X.dtype.kind == "f" and bool(np.isnan(X).any())


def entries_of(
    data: Any, shape: Sequence[int], entry_weights: Any, others_are_zero: bool = True
) -> _core.TensorEntries:
    """What is known of an array: ``data`` are the indices and values of a sparse one, of which the rest are zeros
    or unknown, or a dense array, of which a NaN is unknown."""
    weights = None
    if entry_weights is not None:
        weights = np.asarray(entry_weights, dtype=np.float64)
        if weights.shape != tuple(shape):
            raise ValueError(f"entry_weights of shape {weights.shape}: must have the shape {tuple(shape)}")
    if isinstance(data, tuple):
        index, value = data
        if weights is None or not others_are_zero:
            own = [] if weights is None else weights[tuple(index)]
            return _core.tensor_entries(index, value, own, list(shape), others_are_zero)
        full = np.zeros(shape)
        full[tuple(index)] = value
        data = full
    known = ~np.isnan(data)
    if not known.any():
        raise ValueError("X: no entry is known, all are NaN")
    if known.all() and weights is None:
        places = np.nonzero(data)  # the rest are zeros
        return _core.tensor_entries(
            [p.astype(np.int32) for p in places], data[places].astype(np.float64), [], list(shape), True
        )
    places = np.nonzero(known)
    return _core.tensor_entries(
        [p.astype(np.int32) for p in places],
        data[places].astype(np.float64),
        [] if weights is None else weights[places],
        list(shape),
        False,
    )


def offsets_of(result: dict[str, Any]) -> list[NDArray[Any]] | None:
    if not len(result["row_offsets"]):
        return None
    return [result["row_offsets"], result["column_offsets"], *result["further_offsets"]]


def places_of(indices: Any, shape: Sequence[int]) -> list[NDArray[Any]]:
    """A row of indices for every mode."""
    indices = np.asarray(indices)
    if indices.ndim != 2 or len(indices) != len(shape) or indices.dtype.kind not in "iu":
        raise ValueError(
            f"indices of shape {indices.shape} and type {indices.dtype}: must be whole numbers, one row for "
            f"each of {len(shape)} modes"
        )
    for mode, (own, size) in enumerate(zip(indices, shape)):
        if own.size and (own.min() < 0 or own.max() >= size):
            raise ValueError(f"indices of mode {mode}: must be from 0 to {size - 1}")
    return [own.astype(np.int32) for own in indices]
