from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, check_is_fitted

from . import _core
from ._checkpoints import forget_checkpoint
from ._factorization import FactorizationModel
from ._names import row_names
from ._progress import Callback, Watcher
from ._pursuit_options import options_of
from ._validation import FLOATS, canonical, require_count, threads_for, validate_matrix
from .atoms import AtomSet, AtomsLike, as_atoms


class MatrixPursuit(FactorizationModel):
    """Factorization into rank-one atoms of any structure: X ~ sum_i w_i u_i v_i^T, u_i in ``left``, v_i in
    ``right``.

    Entries that a sparse matrix does not store are zeros; see `MatrixCompletion` for entries that are
    unknown.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of atoms; None means 10, or as many as there are rows or features.
    left, right : atom set, str, callable or list of these, default="sphere"
        Structure of the factors of rows and of features; see `pursuit.atoms`. A list has one for every atom, the last
        one for all further ones. Sets that call entries by names find
        them in the index and columns of a frame.
    weights : str, default="free"
        "free": all re-fitted with every atom (orthogonal matching pursuit); "newest": only the newest
        (matching pursuit); "nonneg": none negative; "convex:RADIUS": none negative and of at most this sum
        (Frank-Wolfe); "economic": two numbers.
    loss : str, default="squares"
        What an entry costs. "squares", "huber:DELTA", "absolute", "quantile:TAU": any numbers; "bernoulli": 0
        and 1; "poisson" (Kullback-Leibler, sets and weights non-negative), "poisson-log",
        "negative-binomial:SIZE" or ":auto": counts; "gamma": positive numbers; "ordinal": grades. With a loss
        other than squares the model is one of the linear predictor; `inverse_transform` leads to means.
    offsets : bool, default=False
        Whether every row and every column has a fitted number beside the atoms.
    closure : bool, default=False
        Whether the scores of every row are shares: not negative, of sum one (mixtures, compositions). ``left`` is
        "nonneg" or "sphere" then, ``right`` any set. Components have the sizes that belong to whole shares, those
        of ``fixed_right`` the sizes that are given; ``left_`` are the shares, ``weights_`` ones, and `transform`
        gives shares.
    fixed_left : array of shape (n_samples, n_known), optional
        Left factors that are known, of the first atoms: they stay, and the rest of these atoms is fitted.
    fixed_right : array of shape (n_known, n_features), optional
        The same of right factors, such as spectra of pure substances: the first rows of ``components_``, but for
        their length.
    fixed : fitted model, optional
        A factorization of the same rows whose atoms are known as they are; they get weights.
    corrections : int, default=2
        Sweeps over all atoms after every new one.
    start : {"greedy", "leading"}, default="greedy"
        One atom after the other, with a result for every rank on the way; or all at once from the leading
        singular vectors, which is faster for many atoms.
    max_iter : int, default=500
        At most so many sweeps at the end.
    tol : float, default=1e-5
        The sweeps end when one lowers the error by less than this share.
    restarts : int, default=8
        Starts of the search for every atom.
    target_error : float, default=0.0
        The fit ends at this relative error.
    early_stopping : float, optional
        The fit ends after an atom that explains less than this share of the sum of squares of X.
    time_limit : float, optional
        Seconds; what there is then is kept.
    checkpoint : path, or path and str, optional
        A file in which the fit keeps its state, every 60 seconds and where it is stopped, or as often as the
        second says: "20" is after 20 steps, "90s" after 90 seconds. A fit of the same data and parameters goes
        on from it where it is there, and ends like one that was never stopped, bit for bit; then it is removed.
    warm_start : bool, default=False
        Whether a further `fit` begins with the atoms there are, and adds to them.
    callback : callable, optional
        Called with every step (``rank``, ``phase``, ``sweep``, ``relative_error``, ``seconds``); False ends
        the fit.
    verbose : int, default=0
        1 shows a bar (needs tqdm).
    n_jobs : int, optional
        Threads; None means 1, -1 all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the starts.

    Attributes
    ----------
    components_ : array of shape (n_components_, n_features)
        The right atoms.
    left_ : array of shape (n_samples, n_components_)
        The left atoms of the rows that were fitted.
    weights_ : array of shape (n_components_,)
    explained_variance_ratio_ : array of shape (n_components_,)
        Share of the sum of squares of X that each component adds to those before it, by the span of the
        components: never counted twice where they overlap.
    path_ : dict of arrays
        Per rank: relative_error, explained_variance, support (non-zeros of the right atoms), left_support,
        last_sweep (the share of the loss that the last sweep took: how far from settled that rank was left),
        seconds.
    trace_ : dict of arrays
        The same for every step on the way.
    relative_error_, reconstruction_err_ : float
        ||X - model|| / ||X|| and ||X - model||, in the Frobenius norm.
    objective_, deviance_explained_ : float
        Half the deviance, and the share of that of a model knowing nothing that is explained; for squares
        half the sum of squares.
    row_offsets_, column_offsets_, thresholds_, grades_ : arrays
        Of losses and options that have them; else empty. `size_` is that of a negative binomial.
    stop_reason_ : str
        Why the fit ended; `stop_message_` says it in words. Components that the data do not have are zero,
        with weight zero; a fit that was asked to end before has only those it found.
    n_components_, n_iter_, n_features_in_ : int
    feature_names_in_ : array of str

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((60, 4)) @ np.kron(np.eye(4), np.ones(5)) + 0.01 * rng.standard_normal((60, 20))
    >>> sets = {"left": "nonneg", "right": "nonneg+sparse:5", "weights": "nonneg"}
    >>> model = pursuit.MatrixPursuit(4, **sets, random_state=0)
    >>> model.fit_transform(X).shape
    (60, 4)
    >>> [int(np.count_nonzero(v)) for v in model.components_]
    [5, 5, 5, 5]
    >>> model.path_["rank"]
    array([1, 2, 3, 4])
    >>> bool(model.explained_variance_ratio_.sum() > 0.99)
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        left: AtomsLike = "sphere",
        right: AtomsLike = "sphere",
        weights: str = "free",
        loss: str = "squares",
        offsets: bool = False,
        closure: bool = False,
        fixed_left: Any = None,
        fixed_right: Any = None,
        fixed: Any = None,
        corrections: int = 2,
        start: str = "greedy",
        max_iter: int = 500,
        tol: float = 1e-5,
        restarts: int = 8,
        target_error: float = 0.0,
        early_stopping: float | None = None,
        time_limit: float | None = None,
        checkpoint: Any = None,
        warm_start: bool = False,
        callback: Callback | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.left = left
        self.right = right
        self.weights = weights
        self.loss = loss
        self.offsets = offsets
        self.closure = closure
        self.fixed_left = fixed_left
        self.fixed_right = fixed_right
        self.fixed = fixed
        self.corrections = corrections
        self.start = start
        self.max_iter = max_iter
        self.tol = tol
        self.restarts = restarts
        self.target_error = target_error
        self.early_stopping = early_stopping
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
        sample_weight: Any = None,
        entry_weights: Any = None,
        row_scale: Any = None,
    ) -> "MatrixPursuit":
        """Find the atoms.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How much every row counts.
        entry_weights : array or sparse matrix of the shape of X, optional
            How much every entry counts; one of weight 0 is unknown.
        row_scale : array of shape (n_samples,) or "sum", optional
            Of counts: the mean of a row is its scale times the model's; "sum" takes the sums of the rows over
            their mean.
        """
        rows = row_names(X)
        X = validate_matrix(self, X, reset=True)
        plain = (
            _core.parse_loss(self.loss) == "squares"
            and not self.offsets
            and sample_weight is None
            and entry_weights is None
        )
        if self.checkpoint is not None and self.early_stopping is not None:
            raise ValueError("checkpoint and early_stopping: choose one; what atoms gained is not kept")
        row_weights = _numbers(sample_weight, "sample_weight")
        if row_weights.size and not row_weights.any():
            raise ValueError("sample_weight: every weight is zero; at least one row must count")
        self.row_scale_ = _scale_of(X, row_scale)
        rank = min(10, *X.shape)
        if self.n_components is not None:
            rank = require_count("n_components", self.n_components)
        left = as_atoms(self.left, rows)
        right = as_atoms(self.right, getattr(self, "feature_names_in_", None))
        known = self._known_atoms(X.shape, rank)
        initial = known.get("initial") or self._earlier_atoms(X.shape)
        if plain and left.spec == right.spec == "sphere" and not known and not self.closure:
            require_count("n_components", rank, at_most=min(X.shape), shape=X.shape)
            initial = None  # the singular vectors come all at once, those there are among them
        self._nonnegative_coordinates = _nonnegative_weights(self.weights) and not _has_negative_members(
            left, X.shape[0]
        )
        self._factor(
            X,
            watcher=Watcher(self.callback, self.verbose, self.early_stopping),
            left=left,
            right=right,
            pursuit=options_of(self, rank),
            start=self.start,
            loss=self.loss,
            offsets=bool(self.offsets),
            closure=bool(self.closure),
            entry_weights=None if entry_weights is None else _matrix_of_weights(entry_weights),
            row_weights=row_weights,
            row_scale=self.row_scale_,
            **{**known, "initial": initial},
        )
        forget_checkpoint(self.checkpoint, self.stop_reason_)
        return self

    def _known_atoms(self, shape: tuple[int, int], rank: int) -> dict[str, Any]:
        """Those that stay, as the engine takes them."""
        given = [name for name in ("fixed", "fixed_left", "fixed_right") if getattr(self, name) is not None]
        if not given:
            return {}
        if len(given) > 1 or self.warm_start:
            raise ValueError(f"{' and '.join(given)}: goes alone, and not with warm_start")
        name = given[0]
        rows, cols = shape
        if name == "fixed":
            check_is_fitted(self.fixed, "components_")
            parts = self.fixed._saved()
            found = np.flatnonzero(np.any(self.fixed.components_ != 0, axis=1))
            left, right = np.asarray(parts["left"])[:, found], self.fixed.components_[found].T
            weights = np.asarray(parts["weights"])[found]
        elif name == "fixed_left":
            left = check_array(self.fixed_left, dtype=np.float64, input_name=name)
            right, weights = np.zeros((cols, left.shape[1])), np.ones(left.shape[1])
        else:
            right = check_array(self.fixed_right, dtype=np.float64, input_name=name).T
            left, weights = np.zeros((rows, right.shape[1])), np.ones(right.shape[1])
        if left.shape[0] != rows or right.shape[0] != cols:
            raise ValueError(f"{name}: of {left.shape[0]} x {right.shape[0]} data, not of {rows} x {cols}")
        if len(weights) > rank:
            raise ValueError(f"{name}: {len(weights)} known atoms, but n_components={rank} in all")
        for side, factor in (("left", left), ("right", right)):
            if name in ("fixed", f"fixed_{side}") and not np.all(np.any(factor != 0, axis=0)):
                raise ValueError(f"{name}: a known {side} factor is zero")
        # The engine keeps known factors as they are: of unit length, scale goes into the weights.
        lengths = [np.linalg.norm(factor, axis=0) for factor in (left, right)]
        left, right = (f / np.where(n > 0, n, 1) for f, n in zip((left, right), lengths))
        if self.closure and name == "fixed_right":  # where shares are of the whole, sizes are known too
            weights = lengths[1]
        kind = {"fixed": "both", "fixed_left": "left", "fixed_right": "right"}[name]
        return {"initial": (left, right, weights), "fixed": len(weights), "fixed_factors": kind}

    def fit_transform(self, X: Any, y: Any = None, *, row_scale: Any = None, **weights: Any) -> Any:
        """`fit`, and the coordinates of the rows.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored
        row_scale, **weights :
            As in `fit`.

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        return self.fit(X, row_scale=row_scale, **weights).transform(X, row_scale=row_scale)

    def _keep(self, X: Any, result: dict[str, Any], *args: Any, **more: Any) -> None:
        if self.closure:
            result = {**result, **_in_whole_shares(result["right"], result["weights"])}
        super()._keep(X, result, *args, **more)

    def _coordinates(self, products: NDArray[Any]) -> NDArray[Any]:
        if not self.closure:
            return super()._coordinates(products)
        found = np.flatnonzero(self.left_.any(axis=0))  # the others only keep the shape
        shares = np.zeros(products.shape)
        gram = self._gram()[np.ix_(found, found)]
        shares[:, found] = _core.simplex_least_squares(gram, products[:, found], threads_for(self.n_jobs))
        return shares

    def _is_plain(self) -> bool:
        """Whether rows are in the atoms by least squares."""
        return _core.parse_loss(self.loss) == "squares" and not self.offsets

    def _rows(self, X: Any, row_scale: Any) -> dict[str, Any]:
        check_is_fitted(self, "components_")
        X = validate_matrix(self, X, reset=False)
        return _core.coordinates_of_rows(
            canonical(X),
            right=self.components_.T.astype(np.float64),
            loss=self.loss,
            row_scale=_scale_of(X, row_scale),
            offsets=bool(self.offsets),
            own_terms=self._own_terms(),
            nonnegative=self._nonnegative_coordinates,
            threads=threads_for(self.n_jobs),
        )

    def transform(self, X: Any, *, row_scale: Any = None) -> Any:
        """Coordinates of rows in the components: those of least loss; of squares (non-negative) least squares.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        row_scale : array of shape (n_samples,) or "sum", optional
            As in `fit`.

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        if self._is_plain():
            return super().transform(X)
        return self._rows(X, row_scale)["coordinates"].astype(self.components_.dtype, copy=False)

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Rows that have the given coordinates: their means under the loss, with column offsets.

        Parameters
        ----------
        X : array of shape (n_samples, n_components)

        Returns
        -------
        array of shape (n_samples, n_features)
        """
        rows = super().inverse_transform(X)
        if self._is_plain():
            return rows
        own = {**self._own_terms(), "row_offsets": np.zeros(0)}
        means = _core.loss_means(
            rows.astype(np.float64), loss=self.loss, own_terms=own, row_scale=np.zeros(0)
        )
        return means.astype(rows.dtype, copy=False)

    def score(self, X: Any, y: Any = None, *, row_scale: Any = None) -> float:
        """Share of the deviance of X that the components explain, beside a model that knows nothing but a
        constant (or offsets); of squares the share of the sum of squares. 1 is all.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored
        row_scale : array of shape (n_samples,) or "sum", optional
            As in `fit`.
        """
        if self._is_plain():
            return super().score(X)
        rows = self._rows(X, row_scale)
        return float(1 - rows["objective"] / rows["null_objective"]) if rows["null_objective"] > 0 else 1.0

    def _coordinates_of(self, X: Any) -> NDArray[Any]:
        return super()._coordinates_of(X) if self._is_plain() else self._rows(X, None)["coordinates"]

    def _explain(self, X: Any, total: float) -> None:
        if self._is_plain():
            super()._explain(X, total)

    def _atom_specs(self) -> dict[str, str]:
        return {"left": _spec_of(self.left), "right": _spec_of(self.right), "weights": self.weights}

    def _coordinates_are_nonnegative(self, left: NDArray[Any]) -> bool:
        """Of a model from a file: its set may be a function that is not here, its atoms are."""
        return _nonnegative_weights(self.weights) and bool(np.all(left >= 0))


def _in_whole_shares(right: NDArray[Any], weights: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Factors of features in the sizes that belong to shares as they are."""
    return {"right": right * weights, "weights": np.ones_like(weights)}


def _numbers(values: Any, what: str) -> NDArray[np.float64]:
    """One number per row, or none."""
    if values is None:
        return np.zeros(0)
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1:
        raise ValueError(f"{what}: one number for every row is needed, not an array of shape {numbers.shape}")
    return numbers


def _scale_of(X: Any, row_scale: Any) -> NDArray[np.float64]:
    if isinstance(row_scale, str):
        if row_scale != "sum":
            raise ValueError(f"row_scale='{row_scale}': must be 'sum', or a number for every row")
        sums = np.asarray(X.sum(axis=1), dtype=np.float64).ravel()
        return sums / sums.mean()
    return _numbers(row_scale, "row_scale")


def _matrix_of_weights(weights: Any) -> Any:
    return canonical(check_array(weights, accept_sparse="csr", dtype=FLOATS))


def _nonnegative_weights(weights: str) -> bool:
    return _core.parse_weight_rule(weights).split(":")[0] in ("nonneg", "convex")


def _has_negative_members(atoms: AtomSet, size: int) -> bool:
    """Asked of the member that goes furthest against the all-ones vector."""
    return bool(np.any(atoms.maximize(-np.ones(size)) < 0))


def _spec_of(atoms: AtomsLike) -> str:
    """A spec as it is: that of a model from a file may name a function that is not here."""
    return atoms if isinstance(atoms, str) else getattr(atoms, "spec", None) or as_atoms(atoms).spec
