"""How many components: by entries held out, and by whether the same ones are found again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._matrix_pursuit import MatrixPursuit, _scale_of
from ._names import column_names, row_names
from ._observed_tensors import entries_of
from ._plots import curve
from ._progress import Callback, Watcher
from ._pursuit_options import pursuit_options
from ._tensor_data import engine_array
from ._validation import validate_matrix
from .atoms import AtomsLike, as_atoms


@dataclass(frozen=True)
class RankChoice:
    """What `choose_rank` found; ``int()`` of it is the rank."""

    rank: int
    """The rank to take."""
    best: int
    """The one of least error."""
    reason: str
    """Why, in words."""
    error_name: str
    ranks: NDArray[np.int64]
    error: NDArray[np.float64]
    """Of entries held out, mean over folds."""
    standard_error: NDArray[np.float64]
    errors: NDArray[np.float64]
    """Of every rank and fold."""
    training_error: NDArray[np.float64]
    stability: NDArray[np.float64]
    """Mean cosine of components with those of other folds that match them best."""
    seconds: float

    def __int__(self) -> int:
        return self.rank

    def plot(self, ax: Any = None) -> Any:
        """Errors by rank with their standard errors, and the rank that is recommended.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib axes
        """
        ax = curve(ax, self.ranks, self.training_error, "components", self.error_name, whole=True)
        ax.lines[-1].set_label("entries fitted")
        ax.errorbar(
            self.ranks, self.error, self.standard_error, marker="o", markersize=3, capsize=3, label="held out"
        )
        ax.axvline(self.rank, linestyle="--", linewidth=1, color="gray", label=f"recommended: {self.rank}")
        ax.legend()
        return ax


def choose_rank(
    X: Any,
    ranks: Iterable[int] = range(1, 11),
    *,
    left: AtomsLike = "sphere",
    right: AtomsLike = "sphere",
    modes: AtomsLike | Sequence[AtomsLike] | None = None,
    weights: str = "free",
    loss: str = "squares",
    offsets: bool = False,
    row_scale: Sequence[float] | str | None = None,
    folds: int = 5,
    max_iter: int = 100,
    tol: float = 1e-4,
    restarts: int = 4,
    callback: Callback | None = None,
    verbose: int = 0,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> RankChoice:
    """Compare numbers of components by how well entries of X that were held out are predicted.

    The entries are cut at random into folds. For every fold the others are factored, rank by rank, and the fold is
    predicted. Recommended is the smallest rank that predicts no worse than the best one, by more than the standard
    error of their difference.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features), or array of more modes as for `TensorPursuit`
        Entries that a sparse matrix does not store are zeros, and held out like any other. In an array of more modes
        NaN is unknown.
    ranks : iterable of int, default=range(1, 11)
    left, right : atom set, str or callable, default="sphere"
        As in `MatrixPursuit`; NMF is "nonneg" for both with ``weights="nonneg"``.
    modes : atom set or list of them, optional
        Of an array of more modes, as in `TensorPursuit`.
    weights, loss, offsets, row_scale
        As in `MatrixPursuit`.
    folds : int, default=5
    max_iter, tol : int, float
        Sweeps at every rank, and the gain that ends them.
    restarts : int, default=4
        Starts of the search for every atom.
    callback : callable, optional
        Called at every step; False ends the comparison, with the ranks that are done.
    verbose : int, default=0
        1 shows a bar (needs tqdm).
    n_jobs : int, optional
        Threads; None means 1, -1 all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of folds and starts.

    Returns
    -------
    RankChoice

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.gamma(1, size=(60, 3)) @ rng.gamma(1, size=(3, 40)) + 0.1 * rng.random((60, 40))
    >>> choice = pursuit.choose_rank(X, range(1, 7), left="nonneg", right="nonneg", weights="nonneg", random_state=0)
    >>> choice.rank
    3
    """
    given: dict[str, Any] = dict(
        ranks=sorted({int(rank) for rank in ranks}),
        folds=int(folds),
        pursuit=pursuit_options(
            rank=1,
            random_state=random_state,
            n_jobs=n_jobs,
            weights=weights,
            max_iter=max_iter,
            tol=tol,
            restarts=restarts,
        ),
        loss=loss,
        offsets=bool(offsets),
    )
    watcher = Watcher(callback, verbose)
    if modes is not None or isinstance(X, tuple) or len(getattr(X, "shape", ())) > 2:
        if left != "sphere" or right != "sphere" or row_scale is not None:
            raise ValueError(
                "left, right and row_scale are for matrices; an array has a set for each mode, modes="
            )
        array, shape = engine_array(X, gaps=True)
        sets = list(modes) if isinstance(modes, (list, tuple)) else [modes or "sphere"] * len(shape)
        if len(sets) != len(shape):
            raise ValueError(
                f"modes: {len(sets)} sets for an array of {len(shape)} modes; one for each is needed"
            )
        entries = entries_of(array if isinstance(array, tuple) else array.reshape(shape), shape, None)
        atoms = [as_atoms(each)._core for each in sets]
        with watcher:
            result = _core.choose_tensor_rank(
                entries,
                atoms=atoms,
                panel_of_mode=list(range(len(shape))),
                callback=watcher.function(),
                **given,
            )
    else:
        rows, cols = row_names(X), column_names(X)
        X = validate_matrix(MatrixPursuit(), X, reset=True)
        with watcher:
            result = _core.choose_rank(
                X,
                left=as_atoms(left, rows)._core,
                right=as_atoms(right, cols)._core,
                row_scale=_scale_of(X, row_scale),
                callback=watcher.function(),
                **given,
            )
    if result["failure"] is not None:
        raise result["failure"]
    if not result["ranks"]:
        raise ValueError("the comparison was stopped before the first rank was done")
    words = ("rank", "best", "reason", "error_name", "seconds")
    arrays = ("ranks", "error", "standard_error", "errors", "training_error", "stability")
    parts: dict[str, Any] = {name: result[name] for name in words}
    parts.update({name: np.asarray(result[name]) for name in arrays})
    return RankChoice(**parts)
