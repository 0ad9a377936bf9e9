"""Atom sets as a model file keeps them: what they are made of, as JSON. Nothing in it opens a file or runs code of
whoever wrote it; functions and sets of other libraries are not kept."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from . import _atom_sets, _entry_sets
from ._atom_sets import AtomSet, NamedAtoms, opens_files

_MAKERS = {
    function.__name__: function
    for function in (
        _atom_sets.parse,
        _atom_sets._intersection,
        _atom_sets._per_atom,
        _atom_sets._named_intersection,
        _entry_sets._group,
        _entry_sets._group_by_names,
        _entry_sets._sets,
        _entry_sets._sets_by_names,
        _entry_sets._tree,
        _entry_sets._tree_by_names,
        _entry_sets._graph,
        _entry_sets._graph_by_names,
        _entry_sets._support,
        _entry_sets._support_by_names,
    )
}
_MOST_CHARACTERS = 1_000_000


def kept_text(value: Any) -> str | None:
    """None where the set cannot be kept: it is a function, or too large."""
    try:
        text = json.dumps(_plain(value))
    except (TypeError, ValueError):
        return None
    return text if len(text) <= _MOST_CHARACTERS else None


def set_of(text: str) -> Any:
    """ValueError for what is no such text."""
    try:
        return _made(json.loads(text))
    except (KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise ValueError(f"a set that cannot be made again: {error!r}") from None


def _plain(value: Any) -> Any:
    if isinstance(value, AtomSet):
        function, arguments = value._source
        return {"set": _known(function), "of": [_plain(each) for each in arguments]}
    if isinstance(value, NamedAtoms):
        return {"waiting": _known(value._make), "spec": value.spec, "of": [_plain(e) for e in value._data]}
    if isinstance(value, np.ndarray):
        return {"array": value.tolist(), "type": value.dtype.kind}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


def _known(function: Any) -> str:
    if _MAKERS.get(function.__name__) is not function:
        raise TypeError("not kept")
    return str(function.__name__)


def _made(value: Any) -> Any:
    if isinstance(value, list):
        return [_made(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return np.asarray(value["array"], dtype={"i": np.int64, "b": bool, "f": np.float64}[value["type"]])
    arguments = [_made(each) for each in value["of"]]
    if "waiting" in value:
        return NamedAtoms(str(value["spec"]), _MAKERS[value["waiting"]], tuple(arguments))
    if value["set"] == "parse" and opens_files(arguments[0]):
        raise KeyError("its spec opens a file")
    return _MAKERS[value["set"]](*arguments)
