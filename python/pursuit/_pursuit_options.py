"""The options that every pursuit has, in the words of the engine."""

from __future__ import annotations

from typing import Any

from ._checkpoints import checkpoint_of
from ._validation import seed_for, threads_for


def pursuit_options(
    *,
    rank: int,
    random_state: Any,
    n_jobs: int | None,
    weights: str = "free",
    corrections: int = 2,
    max_iter: int = 500,
    tol: float = 1e-5,
    restarts: int = 8,
    target_error: float = 0.0,
    time_limit: float | None = None,
    checkpoint: Any = None,
) -> dict[str, Any]:
    return dict(
        rank=rank,
        weights=weights,
        corrections=corrections,
        polish=max_iter,
        polish_tolerance=tol,
        restarts=restarts,
        seed=seed_for(random_state),
        threads=threads_for(n_jobs),
        target_error=target_error,
        time_limit=time_limit,
        checkpoint=checkpoint_of(checkpoint),
    )


def options_of(estimator: Any, rank: int) -> dict[str, Any]:
    """Those of an estimator whose parameters have their names."""
    words = "random_state n_jobs weights corrections max_iter tol restarts target_error time_limit checkpoint"
    return pursuit_options(rank=rank, **{word: getattr(estimator, word) for word in words.split()})
