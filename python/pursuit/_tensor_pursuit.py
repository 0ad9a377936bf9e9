from __future__ import annotations

import warnings
from typing import Any, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from . import _core
from ._checkpoints import forget_checkpoint
from ._factored_array import FactoredArray
from ._observed_tensors import OWN_TERMS, entries_of, has_gaps, offsets_of
from ._progress import Callback, Watcher
from ._pursuit_options import options_of
from ._tensor_data import (
    checked_names,
    engine_array,
    known_factors,
    listed_entries,
    panels_of,
    require_modes,
)
from ._validation import require_count
from .atoms import AtomsLike, as_atoms


class TensorPursuit(FactoredArray):
    """Factorization of an array of two to eight modes into atoms of any structure:
    X ~ sum_i w_i u_i (x) v_i (x) w_i ..., each factor from the set of its mode.

    Parameters
    ----------
    n_components : int or None, default=10
        Number of atoms; None: as many as predict entries that are held back best.
    modes : list of atom sets, or one for all modes, default="sphere"
        Structure of the factors of every mode; see `pursuit.atoms`.
    symmetric_modes : sequence of int, optional
        Modes that share their factors. With gaps, weights or a loss the array need not be symmetric along them.
    weights : str, default="free"
        As in `MatrixPursuit`: "free", "nonneg", "newest", "convex:RADIUS", "economic".
    loss : str, default="squares"
        What an entry costs; see `MatrixPursuit`.
    offsets : bool, default=False
        Whether every place along every mode has a fitted number beside the atoms.
    regularize : str, default="none"
        Of squares with gaps: "auto" (self-tuned), "none", or a number that every factor pays for its square.
    validation : float, default=0.1
        With ``n_components=None``, the share of the known entries that is held back.
    unlisted : {"zero", "unknown"}, default="zero"
        What the entries are that an array which lists its entries does not have.
    start : {"greedy", "leading", "random"}, default="greedy"
        One atom after the other, with a result for every rank on the way; or all at once, from the leading
        directions of the unfoldings (of full data under squares) or from random members.
    starts : int, optional
        All-at-once starts that race, losers dropped early, beside the greedy one; as many as are cheap, 8 at
        most, where it is not given.
    ridge : float, default=0.0
        Every factor of an atom, with its share of the weight, pays so much for its square: against atoms
        that grow and cancel each other.
    known : mapping of int to array, optional
        Known factors of modes, one per column, those of the first atoms: they stay as they are.
    names : sequence of sequences of str, optional
        Names of the indices of every mode, None where a mode has none; `top` shows them.
    corrections, max_iter, tol, restarts, target_error, time_limit, callback, verbose, n_jobs, random_state
        As in `MatrixPursuit`.
    checkpoint : path, or path and str, optional
        As in `MatrixPursuit`; not where the number of atoms is chosen, or factors are regularised.

    Attributes
    ----------
    factors_ : list of arrays of shape (size of the mode, n_components_)
        Columns are the factors of the atoms, of unit norm where their sets are.
    weights_ : array of shape (n_components_,)
    relative_error_ : float
        ||X - model|| / ||X||, over the entries that are known; of other losses the root of the share of the
        deviance that is left.
    offsets_ : list of arrays, or None
        Of every mode.
    validation_errors_ : dict
        Of every number of atoms that was tried, where it was chosen: RMSE, of other losses the mean deviance.
        Self-tuned factors of spheres are the mean of four models: these are means too, and the model has the
        atoms of all four.
    congruence_, condition_ : float
        The cosine between the two atoms that are most alike, -1 where they cancel, and the condition of all; NaN
        with gaps and other losses, where they are not looked at.
    names_ : list of lists of str, or None
    trace_ : dict of arrays
        One row per step.
    stop_reason_ : str
    n_components_, n_iter_ : int

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> rng = np.random.default_rng(0)
    >>> spectra, times, samples = rng.random((30, 3)), rng.random((20, 3)), rng.random((8, 3))
    >>> X = np.einsum("ir,jr,kr->ijk", samples, times, spectra)
    >>> model = pursuit.TensorPursuit(3, modes="nonneg", weights="nonneg", random_state=0).fit(X)
    >>> [factor.shape for factor in model.factors_]
    [(8, 3), (20, 3), (30, 3)]
    >>> bool(model.relative_error_ < 0.05)
    True
    >>> model.transform(X[:2]).shape
    (2, 3)
    """

    def __init__(
        self,
        n_components: int | None = 10,
        *,
        modes: AtomsLike | Sequence[AtomsLike] = "sphere",
        symmetric_modes: Sequence[int] | None = None,
        weights: str = "free",
        loss: str = "squares",
        offsets: bool = False,
        regularize: str = "none",
        validation: float = 0.1,
        unlisted: str = "zero",
        start: str = "greedy",
        starts: int | None = None,
        ridge: float = 0.0,
        known: Mapping[int, Any] | None = None,
        names: Sequence[Sequence[str] | None] | None = None,
        corrections: int = 2,
        max_iter: int = 500,
        tol: float = 1e-5,
        restarts: int = 8,
        target_error: float = 0.0,
        time_limit: float | None = None,
        checkpoint: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.modes = modes
        self.symmetric_modes = symmetric_modes
        self.weights = weights
        self.loss = loss
        self.offsets = offsets
        self.regularize = regularize
        self.validation = validation
        self.unlisted = unlisted
        self.start = start
        self.starts = starts
        self.ridge = ridge
        self.known = known
        self.names = names
        self.corrections = corrections
        self.max_iter = max_iter
        self.tol = tol
        self.restarts = restarts
        self.target_error = target_error
        self.time_limit = time_limit
        self.checkpoint = checkpoint
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, entry_weights: Any = None) -> "TensorPursuit":
        """Find the atoms.

        Parameters
        ----------
        X : array of two to eight dimensions, `sparse.COO`, (indices, values, shape) or (indices, values)
            Entries that are NaN are unknown; ``unlisted`` says what those are that are not listed. ``indices``
            has one row for every mode.
        y : ignored
        entry_weights : array of the shape of X, optional
            How often every entry counts; 0 is as good as unknown.
        """
        if self.start not in ("greedy", "leading", "random"):
            raise ValueError(f"start={self.start!r}: must be 'greedy', 'leading' or 'random'")
        if self.starts is not None and self.starts < 0:
            raise ValueError(f"starts={self.starts!r}: must be None or a whole number of at least 0")
        if self.unlisted not in ("zero", "unknown"):
            raise ValueError(f"unlisted={self.unlisted!r}: must be 'zero' or 'unknown'")
        self.offsets_, self.validation_errors_, self._own_terms = None, {}, {}
        chosen = self.n_components is None or self.regularize != "none"
        gaps = has_gaps(X) or (self.unlisted == "unknown" and listed_entries(X) is not None)
        if self.loss != "squares" or self.offsets or chosen or entry_weights is not None or gaps:
            return self._fit_known(X, entry_weights, chosen)
        rank = require_count("n_components", self.n_components)
        data, shape = engine_array(X)
        self.names_ = checked_names(self.names, shape)
        atoms, panel_of = self._panel_atoms(len(shape))
        watcher = Watcher(self.callback, self.verbose)
        with watcher:
            result = _core.factor_tensor(
                data,
                shape=list(shape),
                atoms=atoms,
                panel_of_mode=panel_of,
                pursuit=options_of(self, rank),
                start=self.start,
                starts=-1 if self.starts is None else self.starts,
                ridge=self.ridge,
                known=known_factors(self.known),
                callback=watcher.function(),
            )
        return self._take(result)

    def _fit_known(self, X: Any, entry_weights: Any, chosen: bool) -> "TensorPursuit":
        """Over the entries that are known, with their weights, under any loss."""
        if self.known or self.ridge or self.starts or self.start == "leading":
            raise ValueError(
                "known, ridge, starts and start='leading' go with plain squares over full arrays only"
            )
        rank = 0 if self.n_components is None else require_count("n_components", self.n_components)
        data, shape = engine_array(X, gaps=True)
        self.names_ = checked_names(self.names, shape)
        if not isinstance(data, tuple):
            data = data.reshape(shape)
        watcher = Watcher(self.callback, self.verbose)
        atoms, panel_of = self._panel_atoms(len(shape))
        options: dict[str, Any] = dict(
            atoms=atoms,
            panel_of_mode=panel_of,
            pursuit=options_of(self, rank),
            loss=self.loss,
            offsets=self.offsets,
        )
        entries = entries_of(data, shape, entry_weights, self.unlisted == "zero")
        with watcher:
            if chosen:
                result = _core.complete_tensor(
                    entries,
                    regularize=self.regularize,
                    validation=self.validation,
                    callback=watcher.function(),
                    **options,
                )
            else:
                result = _core.factor_observed_tensor(
                    entries,
                    all_at_once=self.start == "random",
                    callback=watcher.function(),
                    **options,
                )
        self._own_terms = {name: result[name] for name in OWN_TERMS}
        self.offsets_ = offsets_of(result)
        self.validation_errors_ = dict(zip(result.get("ranks", ()), result.get("validation", ())))
        return self._take(result)

    def _take(self, result: dict[str, Any]) -> "TensorPursuit":
        self.factors_ = result["factors"]
        self.weights_ = result["weights"]
        self.relative_error_ = result["relative_error"]
        self.congruence_, self.condition_ = (result.get(name, np.nan) for name in ("congruence", "condition"))
        self.trace_ = result["trace"]
        self.stop_reason_ = result["stop"]
        self.n_components_ = len(self.weights_)
        self.n_iter_ = max(1, int(self.trace_["sweeps"].sum()))
        forget_checkpoint(self.checkpoint, self.stop_reason_)
        if result["failure"] is not None:
            raise result["failure"]
        if result.get("degenerate", False):
            warnings.warn(
                f"atoms cancel each other (congruence {self.congruence_:.4f}, condition {self.condition_:.3g}): "
                "there may be no best approximation of this rank. Cures: ridge, non-negative factors and "
                "weights, or fewer atoms",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[Any]:
        """The factors of the first mode, with the weights in them."""
        self.fit(X)
        return self.factors_[0] * self.weights_

    @classmethod
    def from_cp(cls, cp: Any, **parameters: Any) -> "TensorPursuit":
        """A fitted model from tensorly's CPTensor, or from any pair of weights and factors.

        Parameters
        ----------
        cp : (weights or None, list of factors)
        **parameters :
            Of the estimator.
        """
        weights, factors = cp
        factors = [np.array(factor, dtype=np.float64) for factor in factors]
        require_modes([len(factor) for factor in factors])
        rank = factors[0].shape[1]
        if any(factor.ndim != 2 or factor.shape[1] != rank for factor in factors):
            raise ValueError(
                f"factors of shapes {[f.shape for f in factors]}: must have as many columns each"
            )
        weights = np.ones(rank) if weights is None else np.array(weights, dtype=np.float64)
        if weights.shape != (rank,):
            raise ValueError(f"weights of shape {weights.shape} for {rank} atoms")
        if not (np.isfinite(weights).all() and all(np.isfinite(factor).all() for factor in factors)):
            raise ValueError("weights and factors must be finite")
        model = cls(rank, **parameters)
        model.offsets_, model.validation_errors_, model._own_terms = None, {}, {}
        for factor in factors:  # columns of unit norm, as those of a fit
            norms = np.linalg.norm(factor, axis=0)
            factor /= np.where(norms > 0, norms, 1)
            weights *= norms
        model.factors_, model.weights_, model.n_components_ = factors, weights, rank
        model.names_ = checked_names(model.names, tuple(len(factor) for factor in factors))
        return model

    def _panel_atoms(self, modes: int) -> tuple[list[Any], list[int]]:
        """The sets of the panels of factors, and the panel of every mode."""
        given = self.modes
        if isinstance(given, (list, tuple)) and len(given) != modes:
            raise ValueError(
                f"modes: {len(given)} sets for an array of {modes} modes; one for each is needed"
            )
        atoms = (
            [as_atoms(each) for each in given]
            if isinstance(given, (list, tuple))
            else [as_atoms(given)] * modes
        )
        panel_of = panels_of(modes, self.symmetric_modes)
        for mode, panel in enumerate(panel_of):
            first = panel_of.index(panel)
            if atoms[mode] != atoms[first]:
                raise ValueError(f"modes {first} and {mode} share their factors and need the same set")
        return [atoms[panel_of.index(panel)]._core for panel in range(max(panel_of) + 1)], panel_of
