"""Arrays as users hold them, as the engine reads them: dense, or listing their entries; and what goes with their modes."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._validation import FLOATS

MOST_MODES = 8


def dense_array(X: Any) -> NDArray[Any]:
    X = np.asarray(X)
    if X.dtype not in FLOATS:
        if X.dtype.kind not in "fiub":
            raise TypeError(f"X holds {X.dtype}, not real numbers")
        X = X.astype(np.float64)
    return np.ascontiguousarray(X)


def listed_entries(X: Any) -> tuple[NDArray[Any], NDArray[Any], tuple[int, ...]] | None:
    """Indices, values and shape of an array that lists its entries; None for any other."""
    if hasattr(X, "coords") and hasattr(X, "data") and hasattr(X, "shape") and not isinstance(X, np.ndarray):
        if np.any(getattr(X, "fill_value", 0) != 0):
            raise ValueError(f"X: places that are not listed are {X.fill_value}; only 0 is supported")
        X = (X.coords, X.data, X.shape)
    if isinstance(X, tuple) and len(X) == 2 and np.ndim(X[0]) == 2 and np.ndim(X[1]) == 1:
        X = (*X, tuple(np.max(X[0], axis=1, initial=0) + 1))
    if not (isinstance(X, tuple) and len(X) == 3):
        return None
    indices, values, shape = np.asarray(X[0]), np.asarray(X[1], dtype=np.float64), tuple(map(int, X[2]))
    require_modes(shape)
    if indices.shape != (len(shape), len(values)):
        raise ValueError(
            f"indices of shape {indices.shape} for {len(shape)} modes and {len(values)} values: "
            f"must be {(len(shape), len(values))}"
        )
    if indices.size and (indices.max() > np.iinfo(np.int32).max or indices.min() < 0):
        raise ValueError("indices: must be from 0 to 2147483647")
    for mode, (own, size) in enumerate(zip(indices, shape)):
        if own.size and own.max() >= size:
            raise ValueError(f"indices: index {own.max()} of mode {mode} lies outside 0..{size - 1}")
    return indices.astype(np.int64), values, shape


def engine_array(X: Any, gaps: bool = False) -> tuple[Any, tuple[int, ...]]:
    """What the engine reads, and the shape."""
    listed = listed_entries(X)
    if listed:
        indices, values, shape = listed
        return (list(indices.astype(np.int32)), values), shape
    X = dense_array(X)
    require_modes(X.shape)
    bad = np.isinf(X) if gaps else ~np.isfinite(X)
    if bad.any():
        place = tuple(map(int, np.argwhere(bad)[0]))
        raise ValueError(f"X{list(place)} is {X[place]}: entries must be finite")
    split = _core.balanced_split(list(X.shape))
    return X.reshape(int(np.prod(X.shape[:split])), -1), X.shape


def known_factors(known: Mapping[int, Any] | None) -> dict[int, NDArray[Any]]:
    result = {}
    for mode, factors in (known or {}).items():
        factors = np.asarray(factors, dtype=np.float64)
        result[int(mode)] = factors[:, None] if factors.ndim == 1 else factors
    return result


def checked_names(
    names: Sequence[Sequence[str] | None] | None, shape: Sequence[int]
) -> list[list[str] | None] | None:
    if names is None:
        return None
    if len(names) != len(shape):
        raise ValueError(
            f"names: {len(names)} lists for {len(shape)} modes; one for each, or None, is needed"
        )
    for mode, (own, size) in enumerate(zip(names, shape)):
        if own is not None and len(own) != size:
            raise ValueError(f"names: {len(own)} names for the {size} indices of mode {mode}")
    return [None if own is None else list(map(str, own)) for own in names]


def require_modes(shape: Sequence[int]) -> None:
    if not 2 <= len(shape) <= MOST_MODES:
        raise ValueError(f"X has {len(shape)} modes; allowed are 2 to {MOST_MODES}")
    if min(shape) < 1:
        raise ValueError(f"X has shape {tuple(shape)}: every mode must have at least one entry")


def panels_of(modes: int, shared: Sequence[int] | None) -> list[int]:
    """The factor of every mode; those that share one have the same number."""
    shared = sorted(set(shared or ()))
    if shared and (len(shared) < 2 or shared[0] < 0 or shared[-1] >= modes):
        raise ValueError(f"symmetric_modes={shared}: must be two or more of 0 to {modes - 1}")
    panel_of: list[int] = []
    for mode in range(modes):
        first = shared[0] if mode in shared else mode
        panel_of.append(panel_of[first] if first < mode else max(panel_of, default=-1) + 1)
    return panel_of


def khatri_rao(factors: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Column k: the Kronecker product of the k-th columns."""
    product = factors[0]
    for factor in factors[1:]:
        product = (product[:, None, :] * factor[None, :, :]).reshape(-1, product.shape[1])
    return product
