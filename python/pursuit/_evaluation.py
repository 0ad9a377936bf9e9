"""How well methods of completion predict values and make lists, by protocol."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._completion import MatrixCompletion
from ._observations import Names, from_matrix, from_triplets, is_triplets
from ._validation import seed_for, threads_for


def evaluate_completion(
    X: Any,
    *,
    methods: Sequence[str] = ("popularity", "offsets", "default", "implicit"),
    split: str = "random",
    shares: Sequence[float] = (0.8, 0.2),
    repeat: int = 1,
    folds: int = 0,
    times: Any = None,
    n: int = 10,
    relevant: float | None = None,
    columns: Names = ("row", "column", "value"),
    n_jobs: int | None = None,
    random_state: Any = None,
) -> list[dict[str, Any]]:
    """Compare methods of completion on splits of observed entries, as `pursuit evaluate` does.

    Parameters
    ----------
    X : array with NaN, sparse matrix, tuple (rows, columns, values) or frame
    methods : sequence of str
        "popularity" and "offsets" (what any other should beat), "default" and "high" (self-tuned), "drift" (default
        with offsets that drift in time where that pays), "implicit" (lists only, from relevant entries), "or1mp", "or1mp-economic", "gmpr", "gmpr-sparse" (the paper's).
    split : str, default="random"
        "random", "time" (the last entries are tested), "time_per_row", "leave_one_out" (one relevant entry of
        every row), "cold_rows", "cold_columns" (all entries of some members).
    shares : sequence of float, default=(0.8, 0.2)
        Of training, validation (may be left out) and test.
    repeat, folds : int
        Splits, or folds of which every one is tested.
    times : array, optional
        One for every entry, for splits by time and drift; X is triplets then.
    n : int, default=10
        Length of lists.
    relevant : float, optional
        Values from here on say yes; by default three quarters of the way from the lowest to the highest.
    columns : (str, str, str)
        Names of the columns of frames of triplets.
    n_jobs, random_state
        As in `MatrixCompletion`.

    Returns
    -------
    list of dict
        Per method: "method", means over the splits of rmse, mae, log_likelihood, inside_50, inside_80, inside_95,
        ndcg, recall, map, coverage and seconds, standard errors of these under "<name>_error", and "of_splits", a
        dict of all figures. NaN where a method has none.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> rng = np.random.default_rng(0)
    >>> row, col = np.nonzero(rng.random((60, 40)) < np.where(np.arange(60)[:, None] % 2 == np.arange(40) % 2, .5, .05))
    >>> scores = pursuit.evaluate_completion(
    ...     (row, col), split="leave_one_out", methods=["popularity", "implicit"], random_state=0)
    >>> scores[1]["ndcg"] > scores[0]["ndcg"]
    True
    """
    triplets = is_triplets(X, columns)
    clicks = set(methods) <= {"popularity", "implicit"}
    seen = (
        from_triplets(X, columns, clicks=clicks)
        if triplets
        else from_matrix(MatrixCompletion(), X, reset=True)
    )
    if relevant is None and isinstance(X, tuple) and len(X) == 2:
        relevant = 0.0  # who came once came
    if times is not None and (not triplets or np.shape(times) != seen.value.shape):
        raise ValueError(
            f"times of shape {np.shape(times)}: must be one for each of {len(seen.value)} triplets"
        )
    scores = _core.evaluate(
        *seen.arguments(),
        methods=list(methods),
        kind=split,
        split=[float(share) for share in shares],
        repeat=repeat,
        folds=folds,
        times=[] if times is None else np.asarray(times, dtype=np.float64),
        places=n,
        relevant=relevant,
        seed=seed_for(random_state),
        threads=threads_for(n_jobs),
    )
    return [_summary(score) for score in scores]


def _summary(score: dict[str, Any]) -> dict[str, Any]:
    figures: dict[str, NDArray[np.float64]] = {name: each for name, each in score.items() if name != "method"}
    result: dict[str, Any] = {"method": score["method"]}
    for name, each in figures.items():
        result[name] = float(np.mean(each))
        result[name + "_error"] = (
            float(np.std(each, ddof=1) / np.sqrt(len(each))) if len(each) > 1 else float("nan")
        )
    result["of_splits"] = figures
    return result
