from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from . import _core
from . import atoms as catalogue
from ._checkpoints import checkpoint_of, forget_checkpoint
from ._components import ComponentModel, with_zeros
from ._progress import Callback, Watcher
from ._validation import float_type, require_count, seed_for, threads_for, validate_matrix
from .atoms import AtomSet, AtomsLike, as_atoms


class SparsePCA(ComponentModel):
    """Principal components with few non-zero loadings.

    The components maximise the share of the variance that lies inside their *span*, which is what they
    explain together: unlike the sum of their variances it never counts anything twice where components
    overlap.

    Parameters
    ----------
    n_components : int or None, default=None
        None means as many as there can be: the smaller of n_samples - 1 and n_features. Of more than that the
        last ones are zero.
    k : int, float, sequence of int or None, default=0.1
        At most so many non-zeros in a component, or a fraction of the features; a sequence has a number for
        every component; None is for plain PCA, or where ``total_nonzeros`` is given. Not looked at where
        ``alpha`` or ``atoms`` are given.
    atoms : atom set, str or callable, optional
        Any structure of the loadings instead, see `pursuit.atoms`: "nonneg+sparse:20", "smooth:0.1", gene sets. Sets
        that call features by names find them in the columns of a frame.
    alpha : float or None, default=None
        Loadings pay for their size instead, as in `sklearn.decomposition.SparsePCA`: components V minimise
        1/2 ||X - U V||^2 + alpha ||V||_1 over U with columns of length 1 at most. 0 is for plain PCA.
    ridge_alpha : float, default=0.0
        Shrinks the coordinates that `transform` gives: the weight of their squared length beside the error.
    max_iter, tol : int, default=1000 and float, default=1e-8
        With ``alpha``: at most so many sweeps, the last one where it lowers the objective by less than this
        share.
    method : {"lars", "cd"}, default="lars"
        Taken for the sake of calls written for scikit-learn: there is one method.
    U_init, V_init : arrays of shape (n_samples, n_components) and (n_components, n_features), optional
        Where to begin, with ``alpha``.
    total_nonzeros : int or None, default=None
        At most so many in all components together, shared out where they explain most; with ``k=None``.
    orthogonality : float, default=0.0
        Cost of overlap: share of the variance per squared inner product of two components.
    correlation : bool, default=False
        Whether to scale every feature to unit variance.
    effort : {"low", "normal", "high"}, default="normal"
        One start; about a second; about a minute.
    time_limit : float, optional
        Seconds; the best found until then is kept.
    checkpoint : path, or path and str, optional
        A file in which the search keeps its state, every 60 seconds and where it is stopped, or as often as the
        second says: "20" is after 20 steps, "90s" after 90 seconds. A fit of the same data and parameters goes
        on from it where it is there, bit for bit; then it is removed. Not with ``alpha``.
    warm_start : bool, default=False
        Whether a further `fit` begins with the components there are, beside its other starts: it ends no worse, and
        ``n_components`` may have grown. With ``effort="low"`` it costs little. With ``alpha``, of the same rows and
        as many components.
    callback : callable, optional
        Called with every step; False ends the fit.
    verbose : int, default=0
        1 shows a bar (needs tqdm).
    n_jobs : int, optional
        Threads; None means 1, -1 all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the search.

    Attributes
    ----------
    components_ : array of shape (n_components_, n_features)
        Loadings of unit length.
    explained_variance_ratio_ : array of shape (n_components_,)
        Share of the variance that each component adds to those before it, by their span; the sum is what all
        explain together.
    explained_variance_ : array of shape (n_components_,)
        The same as a variance.
    mean_ : array of shape (n_features,)
    scale_ : array of shape (n_features,)
        Standard deviations, where ``correlation`` is asked for.
    path_ : dict of arrays
        For the first 1, 2, ... components: relative_error, explained_variance, support.
    trace_ : dict of arrays
        The search, step by step.
    stop_reason_ : str
        Why the fit ended; `stop_message_` says it in words. Components that the data do not have are zero.
    n_components_, n_iter_, n_samples_, n_features_in_ : int
    feature_names_in_ : array of str

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((80, 2)) @ np.kron(np.eye(2), np.ones(6))
    >>> X += 0.1 * rng.standard_normal((80, 12))
    >>> model = pursuit.SparsePCA(2, k=6, random_state=0).fit(X)
    >>> np.count_nonzero(model.components_, axis=1)
    array([6, 6])
    >>> bool(model.explained_variance_ratio_.sum() > 0.95)
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        k: int | float | Sequence[int] | None = 0.1,
        *,
        atoms: AtomsLike | None = None,
        alpha: float | None = None,
        ridge_alpha: float = 0.0,
        max_iter: int = 1000,
        tol: float = 1e-8,
        method: str = "lars",
        U_init: Any = None,
        V_init: Any = None,
        total_nonzeros: int | None = None,
        orthogonality: float = 0.0,
        correlation: bool = False,
        effort: str = "normal",
        time_limit: float | None = None,
        checkpoint: Any = None,
        warm_start: bool = False,
        callback: Callback | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.k = k
        self.atoms = atoms
        self.alpha = alpha
        self.ridge_alpha = ridge_alpha
        self.max_iter = max_iter
        self.tol = tol
        self.method = method
        self.U_init = U_init
        self.V_init = V_init
        self.total_nonzeros = total_nonzeros
        self.orthogonality = orthogonality
        self.correlation = correlation
        self.effort = effort
        self.time_limit = time_limit
        self.checkpoint = checkpoint
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "SparsePCA":
        """Find the components.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored
        """
        X = validate_matrix(self, X, reset=True, min_samples=2)
        self._check_parameters()
        most = min(X.shape[0] - 1, X.shape[1])
        count = most if self.n_components is None else require_count("n_components", self.n_components)
        watcher = Watcher(self.callback, self.verbose)
        with watcher:
            if self.alpha is None:
                result = self._search(X, min(count, most), watcher)
            else:
                result = self._descend(X, count, float(self.alpha), watcher)
        loadings = result["loadings"]
        count = self._set_stop(result["stop"], found=loadings.shape[1], asked=count)
        self.components_ = with_zeros(loadings, count).T.astype(float_type(X), copy=False)
        self.mean_ = result["means"].astype(float_type(X), copy=False)
        if self.correlation:
            self.scale_ = result["deviations"].astype(float_type(X), copy=False)
        self._scores = with_zeros(result["scores"], count)
        forget_checkpoint(self.checkpoint, result["stop"])
        self.n_samples_ = X.shape[0]
        self.n_iter_ = result["sweeps"]
        self.trace_ = result["history"]
        self._explain(X)
        if result["failure"] is not None:
            raise result["failure"]
        return self

    def _earlier_components(self, X: Any, most: int) -> NDArray[np.float64] | None:
        """Columns that a warm start begins with."""
        if not self.warm_start or not hasattr(self, "components_"):
            return None
        found = self.components_[self.components_.any(axis=1)]  # the others only keep the shape
        if found.shape[1] != X.shape[1]:
            raise ValueError(
                f"warm_start=True: the model is one of {found.shape[1]} features, not {X.shape[1]}"
            )
        if len(found) > most:
            raise ValueError(
                f"n_components={self.n_components}: a warm start adds to the {len(found)} components there are"
            )
        return found.T.astype(np.float64) if len(found) else None

    def _search(self, X: Any, count: int, watcher: Watcher) -> dict[str, Any]:
        earlier = self._earlier_components(X, count)
        return _core.pca(
            X,
            components=count,
            atoms=self._atoms()._core,
            nonzeros=self._nonzeros()[:count],
            total_nonzeros=0 if self.total_nonzeros is None else self.total_nonzeros,
            orthogonality=self.orthogonality,
            correlation=self.correlation,
            effort=self.effort,
            seed=seed_for(self.random_state),
            threads=threads_for(self.n_jobs),
            time_limit=self.time_limit,
            initial=earlier,
            callback=watcher.function(),
            checkpoint=checkpoint_of(self.checkpoint),
        )

    def _descend(self, X: Any, count: int, alpha: float, watcher: Watcher) -> dict[str, Any]:
        """Loadings that pay; what they are worth is in their span, so they are given unit length."""
        start = None
        if self.V_init is not None:
            U, V = check_array(self.U_init, input_name="U_init"), check_array(
                self.V_init, input_name="V_init"
            )
            start = U, V.T
        elif (earlier := self._earlier_components(X, count)) is not None:
            lengths = np.linalg.norm(self._scores, axis=0)  # loadings have unit length here, scores there
            if earlier.shape[1] != count or len(self._scores) != X.shape[0] or not lengths.all():
                raise ValueError(
                    f"warm_start=True: with alpha a fit goes on with as many rows and components; the model has "
                    f"{len(self._scores)} and {earlier.shape[1]}, asked for are {X.shape[0]} and {count}"
                )
            start = self._scores / lengths, earlier * lengths
        result = _core.l1_components(
            X,
            components=count,
            start=start,
            alpha=alpha,
            sweeps=self.max_iter,
            tolerance=self.tol,
            threads=threads_for(self.n_jobs),
            time_limit=self.time_limit,
            callback=watcher.function(),
        )
        loadings = result["loadings"]
        if loadings.shape[1] != count:
            raise ValueError(f"V_init of shape {loadings.T.shape} does not fit {count} components")
        lengths = np.linalg.norm(loadings, axis=0)
        largest = loadings[np.argmax(np.abs(loadings), axis=0), np.arange(count)]
        scale = np.where(lengths > 0, lengths, 1) * np.where(largest < 0, -1, 1)
        return {**result, "loadings": loadings / scale, "scores": result["scores"] * scale}

    def _check_parameters(self) -> None:
        if self.method not in ("lars", "cd"):
            raise ValueError(f"method={self.method!r}: must be 'lars' or 'cd'")
        if not self.ridge_alpha >= 0:
            raise ValueError(f"ridge_alpha={self.ridge_alpha!r}: must be at least 0")
        if (self.U_init is None) != (self.V_init is None):
            raise ValueError("U_init, V_init: both are needed, or neither")
        if self.atoms is not None:
            for name in ("alpha", "total_nonzeros"):
                if getattr(self, name) is not None:
                    raise ValueError(f"{name}={getattr(self, name)!r}: goes with k, not with atoms")
            if self._base_atoms().spec != "sphere":
                raise ValueError("atoms: say 'nonneg+...' in SparsePCA instead")
        if self.alpha is None:
            if self.V_init is not None:
                raise ValueError("U_init, V_init: go with alpha; a bound of the loadings has its own start")
            return
        if self._base_atoms().spec != "sphere":
            raise ValueError(f"alpha={self.alpha!r}: loadings of either sign pay; non-negative ones have k")
        if self.checkpoint is not None:
            raise ValueError("checkpoint: loadings that pay have no state to go on from; those with k have")
        for name, default in (("total_nonzeros", None), ("orthogonality", 0.0), ("correlation", False)):
            if getattr(self, name) != default:
                raise ValueError(f"{name}={getattr(self, name)!r}: goes with k, not with alpha")

    def _coordinates(self, products: NDArray[Any]) -> NDArray[Any]:
        if not self.ridge_alpha > 0:
            return super()._coordinates(products)
        return np.linalg.solve(self._gram() + self.ridge_alpha * np.eye(self.n_components_), products.T).T

    def _base_atoms(self) -> AtomSet:
        return catalogue.sphere()

    def _atoms(self) -> AtomSet:
        if self.atoms is not None:
            return as_atoms(self.atoms, getattr(self, "feature_names_in_", None))
        if self.k is None or isinstance(self.k, Iterable):
            return self._base_atoms()
        return self._base_atoms() & catalogue.sparse(self.k)

    def _nonzeros(self) -> list[int]:
        by_component = self.atoms is None and isinstance(self.k, Iterable)
        return [int(k) for k in self.k] if by_component else []  # type: ignore[union-attr]

    def _saved(self) -> dict[str, Any]:
        """Scores of unit length, so that the model is a factorization of the centred data like any other."""
        weights = np.linalg.norm(self._scores, axis=0)
        explained = repr(float(self.explained_variance_ratio_.sum()))
        return {
            "left": self._scores / np.where(weights > 0, weights, 1),
            "weights": weights,
            "trace": {},
            "metadata": {
                "left": "sphere",
                "right": self.atoms if isinstance(self.atoms, str) else self._atoms().spec,
                "weights": "free",
                "centered": "true",
                "stop": self.stop_reason_,
                "explained_span": explained,
            },
        }

    def _explain(self, X: Any) -> None:
        self.explained_variance_ratio_ = self._span_shares(X)
        self.explained_variance_ = self.explained_variance_ratio_ * self._squared_norm(X) / (X.shape[0] - 1)
        explained = np.cumsum(self.explained_variance_ratio_)
        self.path_ = {
            "rank": np.arange(1, self.n_components_ + 1),
            "relative_error": np.sqrt(np.maximum(0, 1 - explained)),
            "explained_variance": explained,
            "support": np.cumsum(np.count_nonzero(self.components_, axis=1)),
        }


class NonnegativeSparsePCA(SparsePCA):
    """Principal components with few non-zero loadings, none of them negative: parts that only add up.

    Parameters and attributes are those of `SparsePCA`.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((80, 2)) @ np.kron(np.eye(2), np.ones(6))
    >>> X += 0.1 * rng.standard_normal((80, 12))
    >>> model = pursuit.NonnegativeSparsePCA(2, k=6, random_state=0).fit(X)
    >>> bool((model.components_ >= 0).all())
    True
    """

    def _base_atoms(self) -> AtomSet:
        return catalogue.nonneg()
