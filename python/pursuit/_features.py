"""What is known about rows or columns beside their entries, from whatever holds it."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from . import _core
from ._observations import Ids


def feature_table(features: Any, ids: Ids, id_column: str, kind: str) -> tuple[_core.FeatureTable, Ids]:
    """The table, and the ids with those behind them that only it has.

    A frame is read as the program reads a table: its ids are the column that is called ``id_column``, or else
    the index; columns of numbers are features, columns of text one for every word, and "a|b|c" is three of
    them. Arrays and sparse matrices have one row per id, in their order.
    """
    if hasattr(features, "columns") and hasattr(features, "iloc"):
        return _of_frame(features, ids, id_column, kind)
    table = scipy.sparse.coo_matrix(
        features if scipy.sparse.issparse(features) else np.asarray(features, dtype=np.float64)
    )
    if table.shape[0] != len(ids):
        raise ValueError(
            f"{kind}_features of {table.shape[0]} rows: needed is one for each of the {len(ids)} {kind}s; "
            "a frame may have others, by their ids"
        )
    table.sum_duplicates()
    stored = table.data != 0
    if not stored.any():
        raise ValueError(f"{kind}_features: all features are zero")
    names = [f"x{k}" for k in range(table.shape[1])]
    return _core.feature_table(len(ids), names, table.row[stored], table.col[stored], table.data[stored]), ids


def _of_frame(frame: Any, ids: Ids, id_column: str, kind: str) -> tuple[_core.FeatureTable, Ids]:
    frame = frame.copy(deep=False)
    frame.columns = [name if isinstance(name, str) else f"x{name}" for name in frame.columns]
    own = frame.pop(id_column).tolist() if id_column in frame.columns else frame.index.tolist()
    for name in frame.columns:
        if frame[name].dtype == bool:
            frame[name] = frame[name].astype(int)
    frame.insert(0, id_column, own)
    text = frame.to_csv(index=False)
    table, names = _core.read_features(text, f"{kind}_features", [str(each) for each in ids.values])
    known = {str(each): each for each in own}
    return table, ids.extended([known[name] for name in names[len(ids) :]])
