from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import clone

from . import _core, atoms
from ._factorization import FactorizationModel
from ._progress import Watcher
from ._pursuit_options import pursuit_options
from ._validation import float_type, require_count, squared_norm, validate_matrix


class TruncatedSVD(FactorizationModel):
    """The leading singular vectors, dense or sparse, by block Lanczos iterations: `MatrixPursuit` with no
    structure at all.

    Columns are not centred. Singular values are exact to rounding, and the result is the same for every call.

    Parameters
    ----------
    n_components : int, default=2
    algorithm : {"randomized", "arpack"}, default="randomized"
    n_iter, n_oversamples, power_iteration_normalizer
        Taken for the sake of calls written for scikit-learn, with ``algorithm``: there is one algorithm here.
    tol : float, default=0.0
        How exact vectors are: the largest ``|X.T u - s v| / s`` that is left, 1e-14 to 0.1; 0 means 1e-8,
        where values are exact to rounding, which are good to the square of it.
    n_jobs : int, optional
        Threads; None means 1, -1 all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Taken for the sake of calls written for scikit-learn; nothing here is random.

    Attributes
    ----------
    components_ : array of shape (n_components_, n_features)
        The right singular vectors.
    singular_values_ : array of shape (n_components_,)
    left_ : array of shape (n_samples, n_components_)
        The left singular vectors.
    explained_variance_, explained_variance_ratio_ : arrays of shape (n_components_,)
        Variance of the coordinates of the fitted rows, and its share of the variance of X, as in
        scikit-learn.
    path_ : dict of arrays
        Per rank: relative_error, explained_variance, support, left_support, seconds.
    relative_error_, reconstruction_err_ : float
    n_components_, n_features_in_ : int
    feature_names_in_ : array of str

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.diag([3.0, 2.0, 1.0])
    >>> pursuit.TruncatedSVD(2).fit(X).singular_values_
    array([3., 2.])
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        algorithm: str = "randomized",
        n_iter: int = 5,
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        tol: float = 0.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.n_iter = n_iter
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "TruncatedSVD":
        """Find the singular vectors.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored
        """
        if hasattr(self, "_sums"):  # of rows that this fit does not know
            del self._sums
        if self.algorithm not in ("randomized", "arpack"):
            raise ValueError(f"algorithm={self.algorithm!r}: must be 'randomized' or 'arpack'")
        X = validate_matrix(self, X, reset=True)
        options = pursuit_options(
            rank=require_count("n_components", self.n_components, at_most=min(X.shape), shape=X.shape),
            weights="free",
            corrections=0,
            max_iter=0,
            tol=0.0,
            restarts=1,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        if self.tol != 0:
            if not isinstance(self.tol, numbers.Real) or not 1e-14 <= self.tol <= 0.1:
                raise ValueError(f"tol={self.tol!r}: must be 0 (1e-8), or 1e-14 to 0.1")
            options["svd_tolerance"] = float(self.tol)
        self._factor(
            X,
            watcher=Watcher(None, 0),
            left=atoms.sphere(),
            right=atoms.sphere(),
            pursuit=options,
            start="greedy",
        )
        return self

    def partial_fit(self, X: Any, y: Any = None) -> "TruncatedSVD":
        """Go on with more rows, which need not be in memory at once: the singular vectors of all that were seen, but
        for what was beyond ``n_components`` on the way.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Of the first call at least as many rows as components.
        y : ignored
        """
        first = not hasattr(self, "_sums")
        if first:
            self.fit(X)
            self._sums = np.zeros(self.n_features_in_), 0.0
            self.n_samples_seen_ = 0
        X = validate_matrix(self, X, reset=False)
        if not first:
            earlier = self.singular_values_[:, None] * self.components_
            stack = scipy.sparse.vstack if scipy.sparse.issparse(X) else np.vstack
            both = clone(self).fit(stack([earlier, X]))
            self.components_, self.singular_values_ = both.components_, both.singular_values_
            self.weights_ = both.weights_
            self.left_ = both.left_[len(earlier) :]
        sums = self._sums[0] + np.asarray(X.sum(axis=0, dtype=np.float64)).ravel()
        self._sums = sums, self._sums[1] + squared_norm(X)
        self.n_samples_seen_ += X.shape[0]
        mean = sums / self.n_samples_seen_
        squares = self.singular_values_.astype(np.float64) ** 2 / self.n_samples_seen_
        self.explained_variance_ = np.maximum(squares - (self.components_ @ mean) ** 2, 0)
        variance = self._sums[1] / self.n_samples_seen_ - float(mean @ mean)
        self.explained_variance_ratio_ = self.explained_variance_ / (variance if variance > 0 else 1)
        return self

    def _explain(self, X: Any, total: float) -> None:
        self.singular_values_ = self.weights_.astype(float_type(X), copy=False)
        self.explained_variance_ = np.var(self.left_ * self.weights_, axis=0)  # in double: squares
        mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
        variance = total / X.shape[0] - float(mean @ mean)
        if variance < 1e-6 * total / X.shape[0]:  # the difference of large numbers: look at the data again
            variance = _core.squared_norm_about(X, mean) / X.shape[0]
        self.explained_variance_ratio_ = self.explained_variance_ / (variance if variance > 0 else 1)

    def _atom_specs(self) -> dict[str, str]:
        return {"left": "sphere", "right": "sphere", "weights": "free"}
