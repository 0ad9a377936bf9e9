from __future__ import annotations

import numbers
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_non_negative

from . import _core, atoms
from ._components import with_zeros
from ._factorization import Initial
from ._nonnegative import NonnegativeModel
from ._progress import Callback, Watcher
from ._pursuit_options import pursuit_options
from ._validation import float_type, require_count, seed_for, threads_for, validate_matrix
from .atoms import AtomSet

_LEADING = (None, "nndsvd", "nndsvda", "nndsvdar")
_INITS = (*_LEADING, "greedy", "random", "custom")


def _has_chunks(model: Any) -> bool:
    if (
        model.beta_loss not in ("frobenius", 2)
        or model.alpha_W
        or model.alpha_H not in ("same", 0, 0.0)
        or model.k
    ):
        raise AttributeError("partial_fit goes with beta_loss='frobenius', without alpha_W, alpha_H and k")
    return True


class NMF(NonnegativeModel):
    """Non-negative matrix factorization, X ~ W H: a drop-in for `sklearn.decomposition.NMF` that is faster
    and ends lower.

    Rows of H have unit length, W carries the scale. `transform` solves non-negative least squares exactly.

    With ``beta_loss="kullback-leibler"`` the entries of X are counts, and the distance is half their deviance, ::

        sum(X * log(X / W H) - X + W H)

    found by Newton's method, a row at a time; zeros of a sparse X cost nothing. With ``beta_loss="itakura-saito"``
    entries are above 0, and ratios count (power spectra, sounds), ::

        sum(X / W H - log(X / W H) - 1)

    With ``alpha_W`` or ``alpha_H`` entries pay for their size, in scikit-learn's objective: ::

        0.5 * ||X - W H||^2
            + alpha_W * n_features * (l1_ratio * sum(W) + 0.5 * (1 - l1_ratio) * ||W||^2)
            + alpha_H * n_samples * (l1_ratio * sum(H) + 0.5 * (1 - l1_ratio) * ||H||^2)

    Then scale matters, H has the one that the minimum gives it, and `transform` pays for W too.

    Parameters
    ----------
    n_components : int, "auto" or None, default=None
        None means as many as features; so does "auto", or as many as the W and H that are given.
    init : {None, "nndsvd", "nndsvda", "nndsvdar", "greedy", "random", "custom"}, default=None
        The first four begin with the leading singular vectors; "greedy" adds one atom after the other and
        fills ``path_``; "custom" begins with the W and H given to `fit`.
    k : int, float or None, default=None
        At most so many non-zeros (or a fraction of the features) in every row of H.
    solver : {"cd", "mu"}, default="cd"
        Taken for the sake of calls written for scikit-learn: there is one solver.
    beta_loss : {"frobenius", 2, "kullback-leibler", 1, "itakura-saito", 0}, default="frobenius"
        The distance between X and W H; others are refused.
    tol : float, default=1e-5
        The sweeps end when one lowers the error by less than this share.
    max_iter : int, default=500
        At most so many sweeps.
    alpha_W, alpha_H : float, default=0.0 and "same"
        What entries of W and H pay; "same" is for as much as ``alpha_W``. Where one side alone pays, the
        other grows without end at no cost, as slowly as the sweeps let it.
    l1_ratio : float, default=0.0
        Share of the l1 norm in it, from 0 to 1.
    shuffle : bool, default=False
        Taken for the sake of calls written for scikit-learn: the order of the sweeps is fixed.
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
        ||X - W H|| in the Frobenius norm; with other losses the root of the deviance, as in scikit-learn.
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

    def __init__(
        self,
        n_components: int | str | None = None,
        *,
        init: str | None = None,
        k: int | float | None = None,
        solver: str = "cd",
        beta_loss: str | float = "frobenius",
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
        self._check_parameters()
        if hasattr(self, "_sums"):  # of rows that this fit does not know
            del self._sums
        X = validate_matrix(self, X, reset=True)
        self._check_entries(X)
        rank = self._rank(X, H)
        if self._by_sweeps():
            self._fit_by_sweeps(X, rank, W, H)
            return self
        self._factor(
            X,
            watcher=Watcher(self.callback, self.verbose),
            left=atoms.nonneg(),
            right=self._right_atoms(),
            pursuit=self._pursuit_options(rank, self.max_iter),
            start="leading" if self.init in _LEADING else "greedy",
            initial=self._initial(X, rank, W, H),
        )
        last = int(self._steps["sweeps"][-1]) if len(self._steps["sweeps"]) else 0  # those on the way aside
        if 0 < self.max_iter <= last and self.stop_reason_ == "rank_reached":
            self._warn_of_convergence()
        return self

    @available_if(_has_chunks)
    def partial_fit(self, X: Any, y: Any = None) -> "NMF":
        """Go on with more rows, which need not be in memory at once (online NMF, Mairal et al. 2010): their W is
        exact, and H follows from the sums over all rows that were seen.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), no entry negative
            Of the first call at least as many rows as components are wise.
        y : ignored
        """
        self._check_parameters()
        if not hasattr(self, "_sums"):
            self.fit(X)
            self._sums = 0.0, 0.0
            self.n_samples_seen_ = 0
        X = validate_matrix(self, X, reset=False)
        W = self.transform(X).astype(np.float64)
        gram, products = self._sums[0] + W.T @ W, self._sums[1] + np.asarray(W.T @ X, dtype=np.float64)
        H = self.components_.astype(np.float64)
        for _ in range(20):
            before = H.copy()
            for i in np.flatnonzero(np.diagonal(gram) > 0):
                H[i] = np.maximum(0, H[i] + (products[i] - gram[i] @ H) / gram[i, i])
            if np.abs(H - before).max() <= 1e-6 * np.abs(H).max():
                break
        length = np.linalg.norm(H, axis=1)
        length[length == 0] = 1
        self._sums = gram * np.outer(length, length), products * length[:, None]
        self.components_ = (H / length[:, None]).astype(float_type(X))
        self.n_samples_seen_ += X.shape[0]
        W = W * length
        self.weights_ = np.linalg.norm(W, axis=0)
        self.left_ = (W / np.where(self.weights_ > 0, self.weights_, 1)).astype(float_type(X))
        return self

    def _rank(self, X: Any, H: Any) -> int:
        if self.n_components == "auto" and self.init == "custom" and H is not None:
            return len(H)
        if self.n_components is None or self.n_components == "auto":
            return X.shape[1]
        return require_count("n_components", self.n_components)

    def _by_sweeps(self) -> bool:
        return self._loss() != "squares" or self._penalized()

    def _fit_by_sweeps(self, X: Any, rank: int, W: Any, H: Any) -> None:
        start = self._initial(X, rank, W, H)
        if start is None:
            start = self._plain_start(X, rank)
        watcher = Watcher(self.callback, self.verbose)
        with watcher:
            result = self._sweeps(X, start[0] * start[2], start[1], watcher)
        W, H = result["left"], result["right"]
        total = 2 * result.pop("null_objective")
        error = max(0.0, result["objective"] - self._paid(W, H, X.shape[0]))  # half the squared one
        if not self._penalized():  # the scale between the two is nobody's choice
            length = np.linalg.norm(H, axis=0)
            W, result["right"] = W * length, H / np.where(length > 0, length, 1)
        scale = np.linalg.norm(W, axis=0)
        result |= {
            "left": W / np.where(scale > 0, scale, 1),
            "weights": scale,
            "relative_error": float(np.sqrt(2 * error / total)) if total > 0 else 0.0,
            "trace": {
                "rank": np.array([rank]),
                "objective": np.array([error]),
                "relative_error": np.array([np.sqrt(2 * error / total) if total > 0 else 0.0]),
                "gain": np.array([0.5 * total - error]),
                "sweeps": np.array([result["sweeps"]]),
                "last_sweep": np.zeros(1),
                "seconds": result["history"]["seconds"][-1:] if result["sweeps"] else np.zeros(1),
                "left_support": np.array([np.count_nonzero(W)]),
                "right_support": np.array([np.count_nonzero(H)]),
            },
        }
        self._keep(X, result, watcher, rank)
        self.reconstruction_err_ = float(np.sqrt(2 * error))
        if not result["converged"] and result["stop"] == "rank_reached" and self.max_iter > 0:
            self._warn_of_convergence()

    def _plain_start(self, X: Any, rank: int) -> Initial:
        """A few sweeps of squares that pay nothing: from there the penalty decides what stays. Other losses begin with a
        little of everything, since an entry that no component covers costs more than all others."""
        result = _core.factor(
            X,
            pursuit=self._pursuit_options(rank, 10),
            left=atoms.nonneg()._core,
            right=atoms.nonneg()._core,
            start="leading" if self.init in _LEADING else "greedy",
            initial=None,
            callback=None,
        )
        left, right, weights = (with_zeros(result[part], rank) for part in ("left", "right", "weights"))
        if self._loss() != "squares":
            left, right = (F + 0.1 * F.mean() for F in (left, right))
            weights = np.where(weights > 0, weights, weights.mean() if weights.any() else 1.0)
        return left, right, weights

    def _pursuit_options(self, rank: int, max_iter: int) -> dict[str, Any]:
        return pursuit_options(
            rank=rank,
            weights="nonneg",
            max_iter=max_iter,
            tol=self.tol,
            time_limit=self.time_limit,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )

    def _warn_of_convergence(self) -> None:
        warnings.warn(
            f"NMF ended after max_iter={self.max_iter} sweeps, before tol={self.tol} was reached",
            ConvergenceWarning,
            stacklevel=4,
        )

    def _initial(self, X: Any, rank: int, W: Any, H: Any) -> Initial | None:
        if self.init != "custom" and (W is not None or H is not None):
            warnings.warn(
                "When init!='custom', provided W or H are ignored. Set init='custom' to use them.",
                RuntimeWarning,
                stacklevel=3,
            )
        earlier = self._earlier_atoms(X.shape)
        if earlier is not None or self.init not in ("random", "custom"):
            return earlier
        if self.init == "random":
            rng = np.random.RandomState(seed_for(self.random_state) % 2**32)
            scale = np.sqrt(X.mean() / rank)
            W = scale * np.abs(rng.standard_normal((X.shape[0], rank)))
            H = scale * np.abs(rng.standard_normal((rank, X.shape[1])))
        W = _checked_start(W, (X.shape[0], rank), "NMF (input W)")
        H = _checked_start(H, (rank, X.shape[1]), "NMF (input H)")
        if self._by_sweeps():
            return W, H.T, np.ones(rank)
        # The engine fits the weights, best from a product of the size of X.
        weights = np.linalg.norm(W, axis=0) * np.linalg.norm(H, axis=1)
        size = np.vdot(_core.product(X, H.T, threads_for(self.n_jobs)), W) / max(
            np.vdot(W.T @ W, H @ H.T), np.finfo(np.float64).tiny
        )
        return W, H.T, weights * (size if 0 < size < np.inf else 1.0)

    def _atom_specs(self) -> dict[str, str]:
        return {"left": "nonneg", "right": self._right_atoms().spec, "weights": "nonneg"}

    def _right_atoms(self) -> AtomSet:
        return atoms.nonneg() if self.k is None else atoms.nonneg() & atoms.sparse(self.k)

    def _check_parameters(self) -> None:
        if self.init not in _INITS:
            raise ValueError(f"init={self.init!r}: must be one of {_INITS}")
        if self.solver not in ("cd", "mu"):
            raise ValueError(f"solver={self.solver!r}: must be 'cd' or 'mu'")
        self._check_loss()
        for name, most in (("alpha_W", np.inf), ("alpha_H", np.inf), ("l1_ratio", 1.0)):
            value = getattr(self, name)
            if name == "alpha_H" and isinstance(value, str) and value == "same":
                continue
            if not isinstance(value, numbers.Real) or not 0 <= float(value) <= most or value == np.inf:
                allowed = "from 0 to 1" if name == "l1_ratio" else "finite and at least 0"
                raise ValueError(f"{name}={value!r}: must be {allowed}")
        if self.k is not None and self._by_sweeps():
            raise ValueError(
                f"k={self.k!r}: goes without alpha_W and alpha_H, and with beta_loss='frobenius'"
            )


def _checked_start(factor: Any, shape: tuple[int, int], whom: str) -> NDArray[np.float64]:
    factor = check_array(factor, dtype=np.float64, input_name=whom)
    for place, given, needed in zip(("first", "second"), factor.shape, shape):
        if given != needed:
            raise ValueError(
                f"Array with wrong {place} dimension passed to {whom}. Expected {needed}, but got {given}."
            )
    check_non_negative(factor, whom)
    if not factor.any():
        raise ValueError(f"Array passed to {whom} is full of zeros.")
    return factor


def non_negative_factorization(
    X: Any,
    W: Any = None,
    H: Any = None,
    n_components: int | str | None = "auto",
    *,
    init: str | None = None,
    update_H: bool = True,
    solver: str = "cd",
    beta_loss: str | float = "frobenius",
    tol: float = 1e-5,
    max_iter: int = 500,
    alpha_W: float = 0.0,
    alpha_H: float | str = "same",
    l1_ratio: float = 0.0,
    random_state: Any = None,
    verbose: int = 0,
    shuffle: bool = False,
) -> tuple[NDArray[Any], NDArray[Any], int]:
    """W, H and the number of sweeps of `NMF`, as `sklearn.decomposition.non_negative_factorization` has them.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features), no entry negative
    W, H : arrays of shape (n_samples, n_components) and (n_components, n_features), optional
        Where to begin, with ``init="custom"``.
    update_H : bool, default=True
        False keeps H and finds W alone, exactly.
    n_components, init, solver, beta_loss, tol, max_iter : as in `NMF`
    alpha_W, alpha_H, l1_ratio, random_state, verbose, shuffle : as in `NMF`

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    >>> W, H, sweeps = pursuit.non_negative_factorization(X, n_components=1)
    >>> bool(np.allclose(W @ H, X))
    True
    """
    if not update_H:
        if H is None:
            raise ValueError("H: is needed with update_H=False")
        if W is not None:
            warnings.warn(
                "When update_H=False, the provided initial W is not used.", RuntimeWarning, stacklevel=2
            )
        n_components = len(H)
    model = NMF(
        n_components,
        init=init,
        solver=solver,
        beta_loss=beta_loss,
        tol=tol,
        max_iter=max_iter,
        random_state=random_state,
        alpha_W=alpha_W,
        alpha_H=alpha_H,
        l1_ratio=l1_ratio,
        verbose=verbose,
        shuffle=shuffle,
    )
    if update_H:
        return model.fit_transform(X, W=W, H=H), model.components_, model.n_iter_
    model._check_parameters()
    X = validate_matrix(model, X, reset=True)
    H = check_array(H, input_name="H", dtype=float_type(X))
    if H.shape[1] != X.shape[1]:
        raise ValueError(f"H of shape {H.shape} does not fit {X.shape} data")
    check_non_negative(H, "NMF (input H)")
    model.components_, model.n_components_ = H, len(H)
    return model.transform(X), H, 1
