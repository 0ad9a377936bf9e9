"""``checkpoint=``: a file in which a fit keeps its state, and from which it goes on."""

from __future__ import annotations

import os
from typing import Any


def checkpoint_of(given: Any) -> tuple[str, str] | None:
    """The file and how often it is written, in the words of the engine."""
    if given is None:
        return None
    path, every = given if isinstance(given, tuple) else (given, "60s")
    try:
        return os.fspath(path), str(every)
    except TypeError:
        raise TypeError(f"checkpoint={given!r}: must be a path, or a path and how often, as in '20' or '90s'")


def forget_checkpoint(given: Any, stop: str) -> None:
    """A fit that has come to its end needs its state no more; one that was stopped may go on."""
    kept = checkpoint_of(given)
    if kept is not None and stop not in ("time_limit", "interrupted") and os.path.exists(kept[0]):
        os.remove(kept[0])
