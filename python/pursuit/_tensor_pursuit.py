from __future__ import annotations

import json
import warnings
from os import PathLike
from typing import Any, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._checkpoints import forget_checkpoint
from ._components import plain_parameters
from ._observed_tensors import OWN_TERMS, entries_of, has_gaps, offsets_of, places_of
from ._progress import Callback, Watcher
from ._pursuit_options import options_of
from ._reports import Reported
from ._tensor_data import (
    checked_names,
    dense_array,
    engine_array,
    khatri_rao,
    known_factors,
    listed_entries,
    panels_of,
    require_modes,
)
from ._validation import require_count, threads_for
from .atoms import AtomsLike, as_atoms


class TensorPursuit(Reported, TransformerMixin, BaseEstimator):
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

    def predict(self, indices: Any) -> NDArray[Any]:
        """What the model says of single entries, in the units of X.

        Parameters
        ----------
        indices : array of whole numbers, or of names, one row for every mode
        """
        check_is_fitted(self, "factors_")
        places = places_of(self._by_names(indices), [len(factor) for factor in self.factors_])
        return _core.predict_tensor(self.factors_, self.weights_, self.loss, self._own_terms, places)

    def _by_names(self, indices: Any) -> Any:
        """Names of the indices of a mode are as good as the indices."""
        if self.names_ is None or len(indices) != len(self.names_):
            return indices
        rows = []
        for mode, (own, names) in enumerate(zip(indices, self.names_)):
            own = np.asarray(own)
            if names is not None and own.dtype.kind in "UO":
                place = {name: i for i, name in enumerate(names)}
                unknown = [str(each) for each in own if str(each) not in place]
                if unknown:
                    raise ValueError(f"indices of mode {mode}: {unknown[0]!r} is none of its names")
                own = np.array([place[str(each)] for each in own], dtype=np.int64)
            rows.append(own)
        return rows

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[Any]:
        """The factors of the first mode, with the weights in them."""
        self.fit(X)
        return self.factors_[0] * self.weights_

    def transform(self, X: Any) -> NDArray[Any]:
        """Coordinates of new slices along the first mode: the least-squares ones, none negative where the
        weights and the fitted factors of that mode are not.

        Parameters
        ----------
        X : array of shape (n_slices, size of mode 1, ...), `sparse.COO`, or (indices, values, shape)
        """
        check_is_fitted(self, "factors_")
        self._require_squares("transform")
        listed = listed_entries(X)
        X = None if listed else dense_array(X)
        shape, expected = listed[2] if listed else X.shape, tuple(len(factor) for factor in self.factors_[1:])
        if shape[1:] != expected:
            raise ValueError(f"slices of shape {shape[1:]}; the model has slices of shape {expected}")
        if listed:
            products = np.zeros((shape[0], self.n_components_))
            indices, values, _ = listed
            terms = values[:, None] * np.ones(self.n_components_)
            for index, factor in zip(indices[1:], self.factors_[1:]):
                terms *= factor[index]
            np.add.at(products, indices[0], terms)
        else:
            columns = khatri_rao(self.factors_[1:])
            if np.isnan(X).any():
                return self._transform_known(X.reshape(len(X), -1), columns)
            products = np.asarray(X.reshape(len(X), -1) @ columns, dtype=np.float64)
        gram = np.ones((self.n_components_, self.n_components_))
        for factor in self.factors_[1:]:
            gram *= factor.T @ factor
        if _core.parse_weight_rule(self.weights) == "nonneg" and np.all(self.factors_[0] >= 0):
            return _core.nonnegative_least_squares(gram, products, threads_for(self.n_jobs))
        return products @ np.linalg.pinv(gram, hermitian=True)

    def _transform_known(self, X: NDArray[Any], columns: NDArray[Any]) -> NDArray[Any]:
        """Slice by slice, each with the entries that it has."""
        nonnegative = _core.parse_weight_rule(self.weights) == "nonneg" and np.all(self.factors_[0] >= 0)
        result = np.zeros((len(X), self.n_components_))
        for own, slice_ in zip(result, X):
            known = ~np.isnan(slice_)
            seen = columns[known]
            if nonnegative:
                products = (seen.T @ slice_[known].astype(np.float64))[None]
                own[:] = _core.nonnegative_least_squares(seen.T @ seen, products, 1)[0]
            else:
                own[:] = np.linalg.lstsq(seen, slice_[known], rcond=None)[0] if known.any() else 0.0
        return result

    def _require_squares(self, what: str) -> None:
        if self.loss != "squares" or self.offsets_ is not None:
            raise ValueError(f"{what}: of squares without offsets; see `predict` and `reconstruct`")

    def inverse_transform(self, Z: Any) -> NDArray[Any]:
        """The slices that coordinates stand for."""
        check_is_fitted(self, "factors_")
        self._require_squares("inverse_transform")
        Z = np.asarray(Z, dtype=np.float64)
        shape = tuple(len(factor) for factor in self.factors_[1:])
        return (Z @ khatri_rao(self.factors_[1:]).T).reshape(len(Z), *shape)

    def reconstruct(self) -> NDArray[Any]:
        """The array that the model stands for."""
        check_is_fitted(self, "factors_")
        shape = tuple(len(factor) for factor in self.factors_)
        if self.loss != "squares" or self.offsets_ is not None:
            return self.predict(np.indices(shape).reshape(len(shape), -1)).reshape(shape)
        return self.inverse_transform(self.factors_[0] * self.weights_)

    def to_cp(self) -> tuple[NDArray[Any], list[NDArray[Any]]]:
        """(weights, factors), of which tensorly makes its CPTensor: ``CPTensor(model.to_cp())``."""
        check_is_fitted(self, "factors_")
        return self.weights_, self.factors_

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

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file that the program and `pursuit.load` read, and NumPy too.

        Parameters
        ----------
        path : str or path
            A .npz file; it appears whole or not at all.
        """
        check_is_fitted(self, "factors_")
        specs = [str(getattr(each, "spec", each)) for each in self._mode_specs()]
        metadata = {
            "command": "python",
            "estimator": type(self).__name__,
            "modes": ",".join(specs),
            "sets_of_modes": json.dumps(specs),
            "weights": self.weights,
            "parameters": plain_parameters(self),
        }
        if hasattr(self, "stop_reason_"):  # a model from tensorly was not fitted here
            metadata["stop"] = self.stop_reason_
            for name in ("relative_error", "congruence", "condition"):
                metadata[name] = repr(float(getattr(self, f"{name}_")))
        if self.validation_errors_:
            metadata["validation_errors"] = json.dumps(
                [[int(rank), float(error)] for rank, error in self.validation_errors_.items()]
            )
        shared = panels_of(len(self.factors_), self.symmetric_modes)
        _core.save_tensor_model(
            path,
            panels=[self.factors_[shared.index(panel)] for panel in range(max(shared) + 1)],
            panel_of_mode=shared,
            weights=self.weights_,
            trace=getattr(self, "trace_", {}),
            names=[] if self.names_ is None else [names or [] for names in self.names_],
            metadata=metadata,
            loss=self.loss,
            own_terms=self._own_terms,
        )

    def _take_file(self, file: dict[str, Any]) -> "TensorPursuit":
        """A model out of a file, parameters apart."""
        metadata = file["metadata"]
        self.factors_, self.weights_, self.trace_ = file["factors"], file["weights"], file["trace"]
        self.n_components_ = len(self.weights_)
        self.names_ = [names or None for names in file["names"]] if any(file["names"]) else None
        self.offsets_ = offsets_of(file)
        self._own_terms = {name: file[name] for name in OWN_TERMS}
        self.validation_errors_ = dict(_number_pairs(metadata.get("validation_errors", "[]")))
        plain = self.loss == "squares" and self.offsets_ is None and metadata.get("completed") != "true"
        if "congruence" in metadata:
            self.congruence_, self.condition_ = float(metadata["congruence"]), float(metadata["condition"])
        elif plain:  # of the program
            self.congruence_, self.condition_ = _core.congruence_and_condition(self.factors_, self.weights_)
        else:
            self.congruence_ = self.condition_ = np.nan
        if "stop" in metadata:
            errors = self.trace_["relative_error"]
            error = metadata.get("relative_error", errors[-1] if len(errors) else np.nan)
            self.relative_error_ = float(error)
            self.stop_reason_ = metadata["stop"]
            self.n_iter_ = max(1, int(self.trace_["sweeps"].sum()))
        return self

    def top(self, mode: int, atom: int, count: int = 5) -> list[tuple[Any, float]]:
        """The largest entries of an atom's factor along a mode, with the names of their indices.

        Parameters
        ----------
        mode, atom : int
        count : int, default=5
        """
        check_is_fitted(self, "factors_")
        factor = self.factors_[mode][:, atom]
        names = self.names_[mode] if self.names_ is not None else None
        order = np.argsort(-np.abs(factor), kind="stable")[:count]
        return [(int(i) if names is None else names[i], float(factor[i])) for i in order]

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

    def _mode_specs(self) -> list[Any]:
        """What the sets of all modes are called; those out of a file may be a name alone."""
        given = self.modes if isinstance(self.modes, (list, tuple)) else [self.modes] * len(self.factors_)
        return [each if isinstance(each, str) else as_atoms(each) for each in given]


def _number_pairs(text: str) -> list[tuple[int, float]]:
    try:
        return [(int(rank), float(error)) for rank, error in json.loads(text)]
    except (ValueError, TypeError, RecursionError):
        raise ValueError("the metadata validation_errors are no pairs of numbers") from None
