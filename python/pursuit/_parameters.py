"""Parameters of estimators as a model file keeps them: JSON of numbers, words, lists, tuples and arrays."""

from __future__ import annotations

import json
from os import PathLike, fspath
from typing import Any

import numpy as np

_MOST_CHARACTERS = 1_000_000  # of one parameter: known factors may be large
_KINDS = "biuf"  # of arrays that are numbers


def plain_parameters(model: Any) -> str:
    """Those that a file can hold. Functions, generators of random numbers and fitted models are not."""
    plain = {}
    for name, value in model.get_params(deep=False).items():
        try:
            text = json.dumps(_plain(value))
        except (TypeError, ValueError):
            continue
        if len(text) <= _MOST_CHARACTERS:
            plain[name] = json.loads(text)
    return json.dumps(plain)


def parameters_of(text: str) -> dict[str, Any]:
    """ValueError for what is no such text."""
    try:
        parameters = {name: _made(value) for name, value in json.loads(text).items()}
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError):
        raise ValueError("no JSON object of parameters") from None
    return parameters


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        return {"tuple": [_plain(each) for each in value]}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {"dict": [[_plain(key), _plain(each)] for key, each in value.items()]}
    if isinstance(value, np.ndarray) and value.dtype.kind in _KINDS:
        return {"array": value.tolist(), "type": value.dtype.str, "shape": list(value.shape)}
    return fspath(value) if isinstance(value, PathLike) else value


def _made(value: Any) -> Any:
    if isinstance(value, list):
        return [_made(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "tuple" in value:
        return tuple(_made(each) for each in value["tuple"])
    if "dict" in value:
        return {_made(key): _made(each) for key, each in value["dict"]}
    kind = np.dtype(str(value["type"]))
    if kind.kind not in _KINDS:
        raise TypeError("an array of objects")
    return np.asarray(value["array"], dtype=kind).reshape(value["shape"])
