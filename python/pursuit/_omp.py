from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._validation import FLOATS, require_count, threads_for, validate_data


class OrthogonalMatchingPursuit(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Linear models of few features, for one target or for many at once.

    Features are added one by one, each the one most correlated with what is left, all coefficients re-fitted
    every time. With columns of X as a dictionary and columns of y as signals this is sparse coding; targets
    share one product X^T y and, where it is not far larger than X, one Gram matrix, which makes many of them
    cheap. A constant feature gets the coefficient 0. A RuntimeWarning says where dependent features left
    targets with fewer of them than asked for.

    Parameters
    ----------
    n_nonzero_coefs : int or None, default=None
        At most so many features per target; None means a tenth of them, and at least one.
    target_error : float, default=0.0
        A target is done at this relative error ||y - Xw|| / ||y||.
    fit_intercept : bool, default=True
    weights : str, default="free"
        "free" re-fits all coefficients (orthogonal matching pursuit), "newest" only the newest (matching
        pursuit), "nonneg" keeps them non-negative, "convex:RADIUS" non-negative and of at most this sum
        (Frank-Wolfe; counted for features scaled to unit norm).
    n_jobs : int, optional
        Threads; None means 1, -1 all cores. The result does not depend on it.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
        Made from ``sparse_coef_`` when asked for.
    sparse_coef_ : CSR matrix of shape (n_targets, n_features)
    intercept_ : float or array of shape (n_targets,)
    relative_error_ : float or array of shape (n_targets,)
    n_nonzero_coefs_, n_features_in_ : int
    feature_names_in_ : array of str

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 30))
    >>> y = 3 * X[:, 4] - 2 * X[:, 17]
    >>> model = pursuit.OrthogonalMatchingPursuit(2).fit(X, y)
    >>> np.flatnonzero(model.coef_)
    array([ 4, 17])
    >>> model.coef_[[4, 17]].round(6)
    array([ 3., -2.])
    """

    def __init__(
        self,
        n_nonzero_coefs: int | None = None,
        *,
        target_error: float = 0.0,
        fit_intercept: bool = True,
        weights: str = "free",
        n_jobs: int | None = None,
    ) -> None:
        self.n_nonzero_coefs = n_nonzero_coefs
        self.target_error = target_error
        self.fit_intercept = fit_intercept
        self.weights = weights
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> "OrthogonalMatchingPursuit":
        """Find the features and their coefficients.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets)
        """
        X, y = validate_data(
            self, X, y, dtype=FLOATS, y_numeric=True, multi_output=True, ensure_min_samples=2
        )
        self._single_target = y.ndim == 1
        signals = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        x_mean, y_mean = np.zeros(X.shape[1]), np.zeros(signals.shape[1])
        dictionary = X
        if self.fit_intercept:
            x_mean, y_mean = X.mean(axis=0, dtype=np.float64), signals.mean(axis=0)
            dictionary, signals = X - x_mean, signals - y_mean
            # What is left of a constant feature is the rounding of its mean, no direction to look along.
            spread = np.sqrt(np.einsum("ij,ij->j", dictionary, dictionary))
            dictionary[:, spread <= 4 * np.finfo(np.float64).eps * len(X) * np.abs(x_mean)] = 0
        most = max(1, X.shape[1] // 10) if self.n_nonzero_coefs is None else self.n_nonzero_coefs
        self.n_nonzero_coefs_ = require_count("n_nonzero_coefs", most, at_most=X.shape[1], shape=X.shape)
        codes, errors, stops = _core.omp(
            dictionary,
            signals,
            atoms=self.n_nonzero_coefs_,
            weights=self.weights,
            target_error=self.target_error,
            threads=threads_for(self.n_jobs),
        )
        short = sum(stop in ("dependent_atom", "no_ascent") for stop in stops)
        if short:
            warnings.warn(
                f"{short} of {len(stops)} targets got fewer than {self.n_nonzero_coefs_} features: the "
                "others are combinations of those found, constant, or orthogonal to what is left",
                RuntimeWarning,
                stacklevel=2,
            )
        self.sparse_coef_ = codes.T.tocsr().astype(X.dtype)
        intercept = y_mean - np.asarray(self.sparse_coef_ @ x_mean).ravel()
        self.intercept_ = float(intercept[0]) if self._single_target else intercept
        self.relative_error_ = float(errors[0]) if self._single_target else errors
        return self

    @property
    def coef_(self) -> NDArray[Any]:
        if "sparse_coef_" not in vars(self):
            raise AttributeError("coef_: the model is not fitted")
        dense = self.sparse_coef_.toarray()
        return dense[0] if self._single_target else dense

    def predict(self, X: Any) -> NDArray[Any]:
        """Targets for the rows of X.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        """
        check_is_fitted(self, "sparse_coef_")
        X = validate_data(self, X, reset=False, dtype=FLOATS)
        y = (self.sparse_coef_ @ X.T).T
        return (y[:, 0] if self._single_target else y) + self.intercept_
