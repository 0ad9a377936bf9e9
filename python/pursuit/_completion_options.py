"""Parameters of a completion, in the words of the engine, and its path by rank."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from numpy.typing import NDArray

from ._observations import Observations


class CompletionOptions:
    """For estimators with these parameters."""

    loss: str
    offsets: bool | None
    regularization: str
    corrections: int | Sequence[int] | None
    max_iter: int
    effort: str
    clip: Any
    implicit: bool

    def _range(self) -> tuple[float, float] | None:
        if isinstance(self.clip, str):
            if self.clip != "auto":
                raise ValueError(f"clip={self.clip!r}: must be (low, high), 'auto' or None")
            return None
        return (-np.inf, np.inf) if self.clip is None else (float(self.clip[0]), float(self.clip[1]))

    def _has_offsets(self) -> bool:
        if self.offsets is None:
            return self.loss not in ("poisson", "itakura-saito")
        return self.offsets

    def _polish(self, plain: bool) -> int:
        if self.max_iter < 1:
            raise ValueError(f"max_iter={self.max_iter}: must be 1 or more")
        settles = self.corrections is None and (self.regularization == "none" or not plain)
        return self.max_iter if settles else 0

    def _samples(self) -> int | None:
        if self.effort not in ("normal", "default", "high"):
            raise ValueError(f"effort={self.effort!r}: must be 'normal' or 'high'")
        return None if self.effort == "high" else 0

    def _path(self, path: dict[str, Any], seen: Observations) -> dict[str, NDArray[Any]]:
        deviation = float(np.std(seen.value.astype(np.float64)))
        error = np.where(np.isnan(path["validation"]), path["noise"], path["validation"])
        if self.implicit:
            error, deviation = 1 - error, 1.0
        # Equal values leave nothing to explain.
        error = error / deviation if deviation > 0 else np.zeros_like(error)
        return {
            "rank": path["rank"],
            "relative_error": error,
            "explained_variance": 1 - error**2,
            "support": len(seen.cols) * path["rank"],
            "validation": path["validation"],
            "noise": path["noise"],
            "seconds": path["seconds"],
        }
