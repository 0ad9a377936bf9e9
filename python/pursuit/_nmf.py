from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array, check_non_negative

from . import atoms
from ._factorization import FactorizationModel, Initial
from ._progress import Callback, Watcher
from ._validation import require_count, seed_for, validate_matrix
from .atoms import AtomSet

_LEADING = (None, "nndsvd", "nndsvda", "nndsvdar")
_INITS = (*_LEADING, "greedy", "random", "custom")


class NMF(FactorizationModel):
    """Non-negative matrix factorization, X ~ W H: a drop-in for `sklearn.decomposition.NMF` that is faster
    and ends lower.

    Rows of H have unit length, W carries the scale. `transform` solves non-negative least squares exactly.

    Parameters
    ----------
    n_components : int or None, default=None
        None means as many as features.
    init : {None, "nndsvd", "nndsvda", "nndsvdar", "greedy", "random", "custom"}, default=None
        The first four begin with the leading singular vectors; "greedy" adds one atom after the other and
        fills ``path_``; "custom" begins with the W and H given to `fit`.
    k : int, float or None, default=None
        At most so many non-zeros (or a fraction of the features) in every row of H.
    tol : float, default=1e-5
        The sweeps end when one lowers the error by less than this share.
    max_iter : int, default=500
        At most so many sweeps.
    solver, beta_loss, alpha_W, alpha_H, l1_ratio, shuffle
        Taken for the sake of calls written for scikit-learn; anything but the defaults is refused.
    time_limit : float, optional
        Seconds; what there is then is kept.
    warm_start : bool, default=False
        Whether a further `fit` to the same rows begins with the components there are, and adds to them.
    callback : callable, optional
        Called with every step; False ends the fit.
    verbose : int, default=0
        1 shows a bar (needs tqdm).
    n_jobs : int, optional
        Threads; None means 1, -1 all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    components_ : array of shape (n_components_, n_features)
        H.
    left_, weights_ : arrays
        W = left_ * weights_ for the rows that were fitted, before a last non-negative least-squares step.
    reconstruction_err_ : float
        ||X - W H|| in the Frobenius norm.
    explained_variance_ratio_ : array of shape (n_components_,)
        Share of the sum of squares that each component adds to those before it, by their span.
    path_, trace_, relative_error_, stop_reason_, n_components_, n_iter_, n_features_in_, feature_names_in_
        As in `MatrixPursuit`.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((50, 3)) @ rng.random((3, 20))
    >>> model = pursuit.NMF(3, random_state=0, max_iter=2000, tol=1e-9)
    >>> W = model.fit_transform(X)
    >>> bool((W >= 0).all() and (model.components_ >= 0).all())
    True
    >>> bool(np.linalg.norm(X - W @ model.components_) < 1e-2 * np.linalg.norm(X))
    True
    """

    _nonnegative_coordinates = True

    def __init__(
        self,
        n_components: int | None = None,
        *,
        init: str | None = None,
        k: int | float | None = None,
        solver: str = "cd",
        beta_loss: str = "frobenius",
        tol: float = 1e-5,
        max_iter: int = 500,
        random_state: Any = None,
        alpha_W: float = 0.0,
        alpha_H: float | str = "same",
        l1_ratio: float = 0.0,
        verbose: int = 0,
        shuffle: bool = False,
        time_limit: float | None = None,
        warm_start: bool = False,
        callback: Callback | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.k = k
        self.solver = solver
        self.beta_loss = beta_loss
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.alpha_W = alpha_W
        self.alpha_H = alpha_H
        self.l1_ratio = l1_ratio
        self.verbose = verbose
        self.shuffle = shuffle
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.callback = callback
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, W: Any = None, H: Any = None) -> "NMF":
        """Find W and H.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), no entry negative
        y : ignored
        W : array of shape (n_samples, n_components), with ``init="custom"``
        H : array of shape (n_components, n_features), with ``init="custom"``
        """
        self._refuse_what_is_not_there()
        X = validate_matrix(self, X, reset=True)
        check_non_negative(X, "NMF (input X)")
        rank = X.shape[1] if self.n_components is None else require_count("n_components", self.n_components)
        self._factor(
            X,
            watcher=Watcher(self.callback, self.verbose),
            left=atoms.nonneg(),
            right=self._right_atoms(),
            rank=rank,
            weights="nonneg",
            start="leading" if self.init in _LEADING else "greedy",
            initial=self._initial(X, rank, W, H),
            corrections=2,
            polish=self.max_iter,
            polish_tolerance=self.tol,
            restarts=8,
            target_error=0.0,
            time_limit=self.time_limit,
        )
        last = int(self._steps["sweeps"][-1]) if len(self._steps["sweeps"]) else 0  # those on the way aside
        if 0 < self.max_iter <= last and self.stop_reason_ == "rank_reached":
            warnings.warn(
                f"NMF ended after max_iter={self.max_iter} sweeps, before tol={self.tol} was reached",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def transform(self, X: Any) -> Any:
        """W for the rows of X, by non-negative least squares.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), no entry negative
        """
        W = super().transform(X)
        check_non_negative(X if hasattr(X, "dtype") else np.asarray(X), "NMF (input X)")
        return W

    def _initial(self, X: Any, rank: int, W: Any, H: Any) -> Initial | None:
        if self.init != "custom" and (W is not None or H is not None):
            raise ValueError(f"init={self.init!r}: W and H are for init='custom'")
        earlier = self._earlier_atoms(X.shape)
        if earlier is not None or self.init not in ("random", "custom"):
            return earlier
        if self.init == "random":
            rng = np.random.RandomState(seed_for(self.random_state) % 2**32)
            W = np.abs(rng.standard_normal((X.shape[0], rank)))
            H = np.abs(rng.standard_normal((rank, X.shape[1])))
        W, H = check_array(W, input_name="W"), check_array(H, input_name="H")
        if W.shape != (X.shape[0], rank) or H.shape != (rank, X.shape[1]):
            raise ValueError(
                f"W of shape {W.shape} and H of shape {H.shape} do not fit "
                f"{rank} components of {X.shape} data"
            )
        check_non_negative(W, "NMF (input W)")
        check_non_negative(H, "NMF (input H)")
        # The engine fits the weights, best from a product of the size of X.
        weights = np.linalg.norm(W, axis=0) * np.linalg.norm(H, axis=1)
        size = np.vdot(np.asarray(X @ H.T), W) / max(np.vdot(W.T @ W, H @ H.T), np.finfo(np.float64).tiny)
        return W, H.T, weights * (size if 0 < size < np.inf else 1.0)

    def _atom_specs(self) -> dict[str, str]:
        return {"left": "nonneg", "right": self._right_atoms().spec, "weights": "nonneg"}

    def _right_atoms(self) -> AtomSet:
        return atoms.nonneg() if self.k is None else atoms.nonneg() & atoms.sparse(self.k)

    def _refuse_what_is_not_there(self) -> None:
        if self.init not in _INITS:
            raise ValueError(f"init={self.init!r}: must be one of {_INITS}")
        for name, only in {
            "solver": "cd",
            "beta_loss": "frobenius",
            "alpha_W": 0.0,
            "l1_ratio": 0.0,
            "shuffle": False,
        }.items():
            if getattr(self, name) != only:
                raise ValueError(
                    f"{name}={getattr(self, name)!r}: not supported, only {only!r} is; "
                    "k=... makes components sparse"
                )
        if self.alpha_H not in ("same", 0.0):
            raise ValueError(
                f"alpha_H={self.alpha_H!r}: not supported, only 'same' and 0.0 are; "
                "k=... makes components sparse"
            )

    def _more_tags(self) -> dict[str, Any]:
        return {**super()._more_tags(), "requires_positive_X": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
