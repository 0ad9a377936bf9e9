"""Names of rows and columns, from whatever has them."""

from __future__ import annotations

from typing import Any


def row_names(X: Any) -> list[str] | None:
    """The index of a frame, where it holds texts."""
    return _texts(getattr(X, "index", None)) if hasattr(X, "columns") else None


def column_names(X: Any) -> list[str] | None:
    """The columns of a frame, where they are texts."""
    return _texts(getattr(X, "columns", None))


def _texts(labels: Any) -> list[str] | None:
    if labels is None or callable(labels):
        return None
    values = list(labels)
    return values if values and all(isinstance(each, str) for each in values) else None
