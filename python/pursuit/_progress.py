"""What happens between the steps of a fit: a bar, early stopping, and the user's callback."""

from __future__ import annotations

import math
import time
from typing import Any, Callable

Callback = Callable[[Any], Any]


class Watcher:
    """One function for the engine, made of what the user asked for.

    Parameters
    ----------
    callback : callable or None
        Called with every moment; the fit ends where it returns False.
    verbose : int
        Whether to show a bar.
    min_gain : float or None
        The fit ends after an atom that explains less than this share of the sum of squares.
    """

    def __init__(self, callback: Callback | None, verbose: int, min_gain: float | None = None) -> None:
        if callback is not None and not callable(callback):
            raise TypeError(f"callback={callback!r}: must be a function of one moment")
        if min_gain is not None and not 0 <= min_gain < 1:
            raise ValueError(f"early_stopping={min_gain}: must be at least 0 and below 1")
        self.callback = callback
        self.min_gain = min_gain
        self.stopped_early = False
        self._bar = _Bar() if verbose else None
        self._explained = 0.0

    def __enter__(self) -> "Watcher":
        return self

    def __exit__(self, error: object, *_: object) -> None:
        if self._bar is not None:
            self._bar.close(finished=error is None)

    def function(self) -> Callback | None:
        """Nothing where nothing was asked for: the engine then works without Python."""
        wanted = self.callback is not None or self._bar is not None or self.min_gain is not None
        return self._go_on if wanted else None

    def _go_on(self, moment: Any) -> bool:
        if self._bar is not None:
            self._bar.show(moment)
        if self.callback is not None and self.callback(moment) is False:
            return False
        if self.min_gain is not None and moment.phase == "atom":
            explained = 1 - moment.relative_error**2
            self.stopped_early = explained - self._explained < self.min_gain
            self._explained = explained
        return not self.stopped_early


class _Bar:
    """Drawn at the beginning, at the end, and in between no more often than an eye follows."""

    seconds_between = 0.1

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise ImportError("verbose=1 shows a bar made by tqdm: pip install pursuit[progress]") from error
        self._bar = tqdm(leave=True)
        self._drawn = time.monotonic()

    def show(self, moment: Any) -> None:
        bar = self._bar
        by_rank = moment.phase in ("atom", "correction")
        bar.total, bar.n = (moment.target_rank, moment.rank) if by_rank else (moment.max_sweeps, moment.sweep)
        bar.set_description(moment.phase, refresh=False)
        completes = moment.phase in ("growing", "refining", "sampling")
        name, value = ("validation", moment.validation) if completes else ("error", moment.relative_error)
        known = {"rank": moment.rank} if moment.rank else {}
        if not math.isnan(value):
            known[name] = f"{value:.4g}"
        bar.set_postfix(known, refresh=False)
        if time.monotonic() - self._drawn >= self.seconds_between:
            bar.refresh()
            self._drawn = time.monotonic()

    def close(self, finished: bool) -> None:
        """A fit that ended before all steps that it was allowed is finished all the same."""
        if finished and self._bar.total:
            self._bar.total = self._bar.n = max(self._bar.n, 1)
        self._bar.close()
