from __future__ import annotations

import warnings
from os import PathLike
from typing import Any, Sequence

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._checkpoints import checkpoint_of, forget_checkpoint
from ._completed_matrix import CompletedMatrix
from ._completion_options import CompletionOptions
from ._features import feature_table
from ._observations import (
    Ids,
    Names,
    Observations,
    column_ids,
    column_of,
    from_matrix,
    from_triplets,
    is_triplets,
    parts_of,
    refuse_unnamed_triplets,
    times_of,
    weights_of,
)
from ._plots import CompletionPlots
from ._progress import Callback, Watcher
from ._recommending import Recommending
from ._reports import Reported
from ._validation import seed_for, threads_for
from .atoms import AtomsLike, as_atoms


class MatrixCompletion(
    Reported,
    CompletedMatrix,
    CompletionOptions,
    Recommending,
    CompletionPlots,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
):
    """Predicts the entries of a matrix that were not observed, and how surely.

    Without atom sets everything is estimated from the data: mean, offsets, rank, noise, and what the pattern
    of observed entries says (variational Bayes). With ``left`` or ``right`` the factors have the structure
    asked for, found by pursuit on the observed entries.

    Input comes in four forms. An *array*: NaN, or what is masked, is unknown. A *SciPy sparse matrix*: what
    is not stored is unknown, and a stored zero is an observation. *Triplets*: a tuple (rows, columns, values)
    with any ids. A pandas *frame* of triplets, with columns named like ``columns``; other frames are arrays
    whose labels are the ids. Clicks (``implicit=True``) need no values, (rows, columns), and may come again.

    Parameters
    ----------
    n_components : int or None, default=None
        At most so many atoms beside the offsets; None means 31, or 20 with atom sets of entries that are known (up to 80
        with sets of few non-zeros). The data decide how many are used.
    loss : str, default="squares"
        What the numbers are: "bernoulli" for zeros and ones (predictions are probabilities of a 1), and with
        atom sets any loss of `MatrixPursuit`: predictions are means (of quantiles, quantiles; of grades, the
        expected one). Without atom sets "squares" and "bernoulli", the latter with effort "normal".
    left, right : atom set, str, callable or None, default=None
        Structure of the factors of rows and columns, see `pursuit.atoms`; "sphere" where only the other one
        is given.
    weights, regularization, corrections, offsets
        With atom sets: weights as in `MatrixPursuit`; regularization "auto", "none", "LAMBDA" or
        "LAMBDA:count" ("auto" with a loss or weights of entries is the best of several LAMBDA); sweeps after
        every atom (of several numbers the best; None means 3, or with regularization "none" or a loss until
        they settle); whether there are row and column offsets. Offsets None, with squares and regularization
        "auto", chooses by entries held back: self-tuned regularization, with offsets or without, no offsets
        and a ridge that counts entries, or offsets and a plain ridge; otherwise None is True, but with the losses "poisson" and "itakura-saito", whose
        means must not be negative.
    tol, max_iter : float, default=1e-5, and int, default=500
        With regularization "none" or a loss: sweeps have settled when one lowers the objective by no more than
        this share; at most so many. A fit that has not settled warns (``ConvergenceWarning``).
    implicit : bool, default=False
        Whether the entries are implicit feedback (clicks, purchases, plays): what was not seen counts as a weak
        no, and how weak, the rank (63 at most by default) and the regularization are chosen by entries held
        back. What is predicted is an order, near 1 for what suits a row. With atom sets (at most 127 by default
        of "nonneg" and "sphere", 31 of others, which are found one by one; neither features nor
        ``warm_start``) or without, but not with a loss.
    confidence : str, default="constant"
        With ``implicit``, how much an entry counts by its value: "constant" (once), "linear:A" (1 + A value) or
        "log:A:B" (1 + A log(1 + value / B)).
    use_pattern : bool, default=True
        Whether having an entry counts as information about its row and column.
    validation : float, default=0.1
        Share of the entries held back while the rank is chosen.
    effort : {"normal", "high"}, default="normal"
        "high" averages over draws from the posterior: slower and more accurate. "default" is "normal".
    clip : (low, high), "auto" or None, default="auto"
        Range of predictions; "auto" is that of the observed entries.
    columns : (str, str, str), default=("row", "column", "value")
        Names of the columns of frames of triplets; of clicks two will do.
    time_limit : float, optional
        Seconds; what there is then is kept.
    checkpoint : path, or path and str, optional
        A file in which the fit keeps its state, every 60 seconds and where it is stopped, or as often as the
        second says: "20" is after 20 steps, "90s" after 90 seconds. A fit of the same data and parameters goes
        on from it where it is there, and ends like one that was never stopped, bit for bit; then it is removed. Not with ``implicit`` or times.
    warm_start : bool, default=False
        Whether a further `fit` begins with the model there is, and takes the fewer sweeps the fewer entries
        are new. Its rows and columns must be among the new ones; not with atom sets.
    callback : callable, optional
        Called with every step (``phase``, ``rank``, ``sweep``, ``validation``, ``noise``, ``seconds``); False
        ends the fit.
    verbose : int, default=0
        1 shows a bar (needs tqdm).
    n_jobs : int, optional
        Threads; None means 1, -1 all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    n_components_ : int
        Atoms beside the offsets.
    noise_ : float
        Standard deviation of the noise of a typical entry; NaN where it depends on the mean.
    row_ids_, column_ids_ : lists
    drift_ : dict
        Offsets that drift in time: "rows", "columns" and "all", each with (reach, ridge): an entry counts for
        another moment exp(-distance / reach), against ridge entries of nothing. What does not drift is not there.
    path_ : dict of arrays
        Per rank tried: relative_error (RMSE on entries held back over the deviation of all entries),
        explained_variance, support (numbers in the column factors), validation (that RMSE), noise, seconds.
    trace_ : dict of arrays
        The same for every sweep on the way.
    stop_reason_ : str
        Why the fit ended: "no_gain" (more atoms did not predict entries held back any better),
        "rank_reached", "all_sweeps" (nothing was held back), "no_ascent" (no atom of these sets lowers the
        error), "not_converged" (sweeps did not settle), "time_limit" or "interrupted".
    n_iter_ : int
        Steps on the way, which ``trace_`` tells of.
    n_features_in_ : int
        Columns of the matrix.
    feature_names_in_ : array of str

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 40))
    >>> X = np.where(rng.random(truth.shape) < 0.5, truth, np.nan)
    >>> model = pursuit.MatrixCompletion(random_state=0).fit(X)
    >>> model.n_components_
    2
    >>> value, deviation = model.predict([(3, 7), (5, 0)], return_std=True)
    >>> bool(np.all(np.abs(value - truth[[3, 5], [7, 0]]) < 0.2))
    True

    Triplets have ids of any kind:

    >>> who, what = ["ann", "ann", "bob", "bob", "cid"], ["tea", "jam", "tea", "rye", "jam"]
    >>> model = pursuit.MatrixCompletion(random_state=0).fit((who, what, [5.0, 1.0, 4.0, 2.0, 1.0]))
    >>> [each.column for each in model.recommend("cid", 2)]
    ['tea', 'rye']
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        loss: str = "squares",
        left: AtomsLike | None = None,
        right: AtomsLike | None = None,
        weights: str = "free",
        regularization: str = "auto",
        corrections: int | Sequence[int] | None = None,
        tol: float = 1e-5,
        max_iter: int = 500,
        offsets: bool | None = None,
        implicit: bool = False,
        confidence: str = "constant",
        use_pattern: bool = True,
        validation: float = 0.1,
        effort: str = "normal",
        clip: Any = "auto",
        columns: Names = ("row", "column", "value"),
        time_limit: float | None = None,
        checkpoint: Any = None,
        warm_start: bool = False,
        callback: Callback | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.loss = loss
        self.left = left
        self.right = right
        self.weights = weights
        self.regularization = regularization
        self.corrections = corrections
        self.tol = tol
        self.max_iter = max_iter
        self.offsets = offsets
        self.implicit = implicit
        self.confidence = confidence
        self.use_pattern = use_pattern
        self.validation = validation
        self.effort = effort
        self.clip = clip
        self.columns = columns
        self.time_limit = time_limit
        self.checkpoint = checkpoint
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        entry_weights: Any = None,
        time: Any = None,
        row_features: Any = None,
        column_features: Any = None,
    ) -> "MatrixCompletion":
        """Learn from the observed entries.

        Parameters
        ----------
        X : array with NaN, sparse matrix, tuple (rows, columns, values) or frame
        y : ignored
        entry_weights : array or sparse matrix of the shape of X, or one number per triplet, optional
            How often each entry counts: 2 like one that was seen twice, 0 like one that was not seen. Of a
            frame of triplets also the name of a column.
        time : array, optional
            When each entry of triplets was made, numbers or dates; of a frame also the name of a column. Offsets
            of rows and columns may then drift, where that predicts the last entries better: `drift_` says which.
            Of squares, without atom sets.
        row_features, column_features : frame, array or sparse matrix, optional
            What is known about rows and columns beside their entries. The ids of a frame are its column that
            is called like the one of ``columns``, or else its index; columns of numbers are features, columns
            of text one for every word, 0 or 1, and a cell "a|b|c" holds three. Of triplets a frame may have
            ids that have no entry: they are predicted by their features; with ``implicit`` features place these
            alone. Arrays and sparse matrices have one
            row per row (column) of X. Without atom sets.
        """
        structured = self.left is not None or self.right is not None
        if structured and (row_features is not None or column_features is not None):
            raise ValueError("features are for the self-tuned model, without left and right")
        if isinstance(entry_weights, str):
            entry_weights = column_of(X, entry_weights, "entry_weights")
        if isinstance(time, str):
            time = column_of(X, time, "time")
        if time is not None and (structured or self.implicit or self.loss != "squares"):
            raise ValueError(
                "time: offsets drift in the self-tuned model of squares; it does not go with left, right, "
                "implicit or loss"
            )
        if self.implicit and (self.loss != "squares" or entry_weights is not None):
            raise ValueError(
                "implicit=True: what was not seen counts as a weak zero of squares; it does not go with loss or "
                "entry_weights (confidence gives weights)"
            )
        tuned = self.offsets or self.corrections is not None or self.regularization != "auto"
        if self.implicit and structured and tuned:
            raise ValueError(
                "implicit=True with left and right: its atoms have their own ridge and corrections, and no offsets; "
                "leave out offsets, corrections and regularization"
            )
        earlier = self._earlier_model(structured)
        if time is not None and earlier is not None:
            raise ValueError("time: a model that goes on keeps the drift it has; times are for a new one")
        seen = self._observations(X, earlier is not None)
        known_rows, known_cols = self._features(
            seen, row_features, column_features, earlier is not None, is_triplets(X, self.columns)
        )
        options: dict[str, Any] = dict(
            validation=self.validation,
            range=self._range(),
            seed=seed_for(self.random_state),
            threads=threads_for(self.n_jobs),
            time_limit=self.time_limit,
        )
        times = times_of(time, is_triplets(X, self.columns), seen)
        weights_of_entries = weights_of(entry_weights, is_triplets(X, self.columns), seen)
        plain = self.loss == "squares" and entry_weights is None
        sets = [
            as_atoms("sphere" if each is None else each, axis.values)._core
            for each, axis in ((self.left, seen.rows), (self.right, seen.cols))
        ]
        watcher = Watcher(self.callback, self.verbose)
        with watcher:
            if structured and not self.implicit:
                result = _core.complete_structured(
                    *seen.arguments(),
                    left=sets[0],
                    right=sets[1],
                    loss=self.loss,
                    entry_weights=weights_of_entries,
                    weights=self.weights,
                    regularization=self.regularization,
                    offsets=self._has_offsets(),
                    choose=plain
                    and self.offsets is None
                    and self.regularization == "auto"
                    and self.corrections is None,
                    max_rank=self.n_components,
                    corrections=np.atleast_1d(3 if self.corrections is None else self.corrections).tolist(),
                    polish=self._polish(plain),
                    polish_tolerance=self.tol,
                    callback=watcher.function(),
                    checkpoint=checkpoint_of(self.checkpoint),
                    **options,
                )
            elif self.implicit:
                options.pop("range")
                result = _core.complete_implicit(
                    *seen.arguments(),
                    left=sets[0] if structured else None,
                    right=sets[1] if structured else None,
                    weights=self.weights,
                    confidence=self.confidence,
                    max_rank=self.n_components,
                    start=earlier,
                    start_entries=None if earlier is None or self._seen is None else parts_of(self._seen),
                    row_features=known_rows,
                    column_features=known_cols,
                    callback=watcher.function(),
                    checkpoint=checkpoint_of(self.checkpoint),
                    **options,
                )
            else:
                result = _core.complete(
                    *seen.arguments(),
                    loss=self.loss,
                    entry_weights=weights_of_entries,
                    times=times,
                    max_rank=31 if self.n_components is None else self.n_components,
                    use_pattern=self.use_pattern,
                    samples=self._samples(),
                    start=earlier,
                    start_entries=None if earlier is None or self._seen is None else parts_of(self._seen),
                    row_features=known_rows,
                    column_features=known_cols,
                    callback=watcher.function(),
                    checkpoint=checkpoint_of(self.checkpoint),
                    **options,
                )
        forget_checkpoint(self.checkpoint, result["stop"])
        self._set_model(result["model"], seen)
        self._row_features, self._column_features = known_rows, known_cols
        self.trace_ = result["history"]
        self.n_iter_ = max(len(self.trace_["sweep"]), 1)
        self.path_ = self._path(result["path"], seen)
        self.stop_reason_ = result["stop"]
        self.interrupted_ = self.stop_reason_ in ("time_limit", "interrupted")
        if self.stop_reason_ == "not_converged":
            warnings.warn(
                f"sweeps did not settle within max_iter={self.max_iter}; the result is the best found by them",
                ConvergenceWarning,
                stacklevel=2,
            )
        if result["failure"] is not None:
            raise result["failure"]
        return self

    def _save_for_report(self, path: PathLike[str], brief: bool) -> None:
        self.save(path, store_entries=not brief)  # of which there may be very many

    @classmethod
    def of_factors(cls, model: Any, row_ids: Sequence[Any] | None = None) -> "MatrixCompletion":
        """A factorization as a completed matrix, to recommend, compare and predict with.

        Parameters
        ----------
        model : fitted MatrixPursuit, NMF, TruncatedSVD, PCA or SparsePCA, of squares or bernoulli
            Deviations are what its components leave unexplained. It does not know what was seen: pass
            ``exclude_seen=False``.
        row_ids : ids, optional
            Positions where there are none; columns are called as in ``feature_names_in_``.
        """
        check_is_fitted(model, "components_")
        parts = model._saved()
        mean, scale, nothing = model._center(), model._scale(), np.zeros(0)
        objective = parts["trace"].get("objective", ())
        core = _core.completion_of_factors(
            np.asarray(parts["left"], dtype=np.float64),
            np.asarray(model.components_.T, dtype=np.float64),
            np.asarray(parts["weights"], dtype=np.float64),
            loss=parts.get("loss", "squares"),
            own_terms=parts.get("own_terms", {}),
            column_means=nothing if mean is None else mean,
            column_deviations=nothing if scale is None else scale,
            objective=float(objective[-1]) if len(objective) else None,
            metadata=parts["metadata"],
        )
        rows = Ids(range(len(parts["left"])) if row_ids is None else list(row_ids))
        cols = Ids(getattr(model, "feature_names_in_", range(model.components_.shape[1])))
        if len(rows) != len(parts["left"]):
            raise ValueError(f"row_ids: {len(rows)} ids of {len(parts['left'])} rows")
        result = cls(max(core.rank, 1), loss=core.loss)
        none = np.zeros(0, np.int32)
        result._set_model(core, Observations(rows, cols, none, none, np.zeros(0, np.float32)))
        result._seen = result._known = None
        result.n_features_in_ = len(cols)
        return result

    def _earlier_model(self, structured: bool) -> _core.CompletionModel | None:
        if not self.warm_start or not hasattr(self, "model_"):
            return None
        if structured:
            raise ValueError(
                "warm_start=True: only self-tuned models can be continued, not those of atom sets"
            )
        if self.model_.implicit != self.implicit:
            raise ValueError("warm_start=True: the model there is and the one asked for differ in implicit")
        return self.model_

    def _features(
        self, seen: Observations, rows: Any, cols: Any, continued: bool, may_grow: bool
    ) -> tuple[_core.FeatureTable | None, _core.FeatureTable | None]:
        """Tables of both sides, with what a model that goes on knows already; new ids join ``seen``."""
        tables = []
        for kind, name, given, known in (
            ("row", self.columns[0], rows, getattr(self, "_row_features", None)),
            ("column", self.columns[1], cols, getattr(self, "_column_features", None)),
        ):
            table = known if continued else None
            if given is not None:
                ids = seen.rows if kind == "row" else seen.cols
                fresh, grown = feature_table(given, ids, name, kind)
                if len(grown) > len(ids) and not may_grow:
                    raise ValueError(
                        f"{kind}_features: {grown.values[len(ids)]!r} is no {kind} of X; of a matrix no "
                        "others can be known"
                    )
                if kind == "row":
                    seen.rows = grown
                else:
                    seen.cols = grown
                    self.n_features_in_ = len(grown)
                table = fresh if table is None else table.merged(fresh)
            tables.append(table)
        if continued and self.model_.features > 0 and tables == [None, None]:
            raise ValueError("warm_start=True: the features that the model was made with are needed again")
        return tables[0], tables[1]

    def _observations(self, X: Any, continued: bool) -> Observations:
        if not is_triplets(X, self.columns):
            refuse_unnamed_triplets(X, self.implicit)
            return from_matrix(self, X, reset=True)
        rows, cols = (self._rows, self._cols) if continued else (None, None)
        if cols is not None:
            cols = cols.extended(column_ids(X, self.columns))
        seen = from_triplets(X, self.columns, rows=rows, cols=cols, clicks=self.implicit)
        self.n_features_in_ = len(seen.cols)
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return seen
