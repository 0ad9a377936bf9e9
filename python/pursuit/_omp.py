from __future__ import annotations

import numbers
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_array, check_is_fitted

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
    tol : float, optional
        A target is done at this squared error ||y - Xw||^2, however many features that takes: as in
        scikit-learn ``n_nonzero_coefs`` does not count then.
    fit_intercept : bool, default=True
    precompute : bool or "auto", default="auto"
        Taken for the sake of calls written for scikit-learn: the Gram matrix is formed where that pays.
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
        tol: float | None = None,
        fit_intercept: bool = True,
        precompute: bool | str = "auto",
        weights: str = "free",
        n_jobs: int | None = None,
    ) -> None:
        self.n_nonzero_coefs = n_nonzero_coefs
        self.target_error = target_error
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.precompute = precompute
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
        if self.tol is None:
            most = max(1, X.shape[1] // 10) if self.n_nonzero_coefs is None else self.n_nonzero_coefs
            most = require_count("n_nonzero_coefs", most, at_most=X.shape[1], shape=X.shape)
            self.n_nonzero_coefs_: int | None = most
            codes, errors, _ = _core.omp(
                dictionary,
                signals,
                atoms=most,
                weights=self.weights,
                target_error=self.target_error,
                threads=threads_for(self.n_jobs),
            )
            if self.weights == "free" and self.target_error == 0:
                _warn_where_short(np.diff(codes.indptr), most, signals)
        else:
            if self.weights != "free" or self.target_error != 0:
                raise ValueError(f"tol={self.tol!r}: goes with weights='free' and without target_error")
            self.n_nonzero_coefs_ = None
            paths = _paths(dictionary, signals, None, self.tol, None, threads_for(self.n_jobs))
            codes = scipy.sparse.csc_matrix(_codes(paths, X.shape[1]))
            norms = np.einsum("ij,ij->j", signals, signals)
            errors = np.sqrt([path[2] for path in paths] / np.where(norms > 0, norms, 1))
        self.sparse_coef_ = codes.T.tocsr().astype(X.dtype)
        intercept = y_mean - np.asarray(self.sparse_coef_ @ x_mean).ravel()
        self.intercept_ = intercept[0] if self._single_target else intercept if self.fit_intercept else 0.0
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


Path = tuple[NDArray[np.int64], NDArray[np.float64], float, str]


def orthogonal_mp(
    X: Any,
    y: Any,
    *,
    n_nonzero_coefs: int | None = None,
    tol: float | None = None,
    precompute: bool | str = False,
    copy_X: bool = True,
    return_path: bool = False,
    return_n_iter: bool = False,
    n_jobs: int | None = None,
) -> Any:
    """Orthogonal matching pursuit: coefficients of few columns of X for every column of y.

    As `sklearn.linear_model.orthogonal_mp`, except that columns are compared by direction: their lengths do
    not matter to the choice.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,) or (n_samples, n_targets)
    n_nonzero_coefs : int, optional
        At most so many columns; without ``tol`` None means a tenth of them, and at least one.
    tol : float, optional
        Go on until the squared error is at most this; ``n_nonzero_coefs`` does not count then.
    precompute : bool or "auto", default=False
        Whether to form X^T X first. "auto" does where the targets are many.
    copy_X : bool, default=True
        Taken for the sake of calls written for scikit-learn: X is never changed.
    return_path : bool, default=False
        Whether to give the coefficients after every step.
    return_n_iter : bool, default=False
        Whether to give the number of steps too: of the one target, or a list with one for each.
    n_jobs : int, optional
        Threads; None means 1, -1 all cores. The result does not depend on it.

    Returns
    -------
    array of shape (n_features,) or (n_features, n_targets); with ``return_path`` (..., n_steps)

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.eye(4)
    >>> pursuit.orthogonal_mp(X, np.array([0.0, 3.0, 1.0, 2.0]), n_nonzero_coefs=2)
    array([0., 3., 0., 2.])
    """
    X = check_array(X, dtype=FLOATS)
    signals = _columns(y, len(X))
    wide = np.asarray(X, dtype=np.float64)
    gram = None
    if precompute is True or (precompute == "auto" and 4 * signals.shape[1] >= X.shape[1]):
        gram = wide.T @ wide
    paths = _paths(wide, signals, n_nonzero_coefs, tol, gram, threads_for(n_jobs))
    return _answer(paths, X.shape[1], np.ndim(y) == 1, return_path, return_n_iter, X.dtype)


def orthogonal_mp_gram(
    Gram: Any,
    Xy: Any,
    *,
    n_nonzero_coefs: int | None = None,
    tol: float | None = None,
    norms_squared: Any = None,
    copy_Gram: bool = True,
    copy_Xy: bool = True,
    return_path: bool = False,
    return_n_iter: bool = False,
    n_jobs: int | None = None,
) -> Any:
    """Orthogonal matching pursuit from X^T X and X^T y alone, as `sklearn.linear_model.orthogonal_mp_gram`.

    Parameters
    ----------
    Gram : array of shape (n_features, n_features)
    Xy : array of shape (n_features,) or (n_features, n_targets)
    n_nonzero_coefs, tol, return_path, return_n_iter, n_jobs
        As in `orthogonal_mp`.
    norms_squared : float or sequence of float, optional
        Squared lengths of the targets, without which ``tol`` has no meaning.
    copy_Gram, copy_Xy : bool, default=True
        Taken for the sake of calls written for scikit-learn: neither is ever changed.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> pursuit.orthogonal_mp_gram(2 * np.eye(3), np.array([2.0, 0.0, -6.0]), n_nonzero_coefs=1)
    array([ 0.,  0., -3.])
    """
    Gram = check_array(Gram, dtype=FLOATS, input_name="Gram")
    gram = np.asarray(Gram, dtype=np.float64)
    products = _columns(Xy, len(gram))
    if tol is not None and norms_squared is None:
        raise ValueError(
            "tol: needs norms_squared, the squared lengths of the targets, to know how large errors are"
        )
    if norms_squared is None:  # a length that any fit stays below, so that no step looks like the last
        norms = np.einsum("ij,ij->j", products, np.linalg.pinv(gram, hermitian=True) @ products)
    else:
        norms = np.asarray(norms_squared, dtype=np.float64).reshape(-1)
        if norms.shape != (products.shape[1],):
            raise ValueError(f"norms_squared: {norms.size} numbers for {products.shape[1]} targets")
    paths = _pursue(gram, True, products, norms, n_nonzero_coefs, tol, threads_for(n_jobs))
    return _answer(paths, len(gram), np.ndim(Xy) == 1, return_path, return_n_iter, Gram.dtype)


def _columns(y: Any, rows: int) -> NDArray[np.float64]:
    columns = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    columns = columns.reshape(len(columns), -1)
    if len(columns) != rows:
        raise ValueError(f"y has {len(columns)} rows, where {rows} are needed")
    return columns


def _paths(
    dictionary: NDArray[Any],
    signals: NDArray[np.float64],
    count: int | None,
    tol: float | None,
    gram: NDArray[np.float64] | None,
    threads: int,
) -> list[Path]:
    dictionary = np.asarray(dictionary, dtype=np.float64)
    norms = np.einsum("ij,ij->j", signals, signals)
    products = dictionary.T @ signals
    if gram is None:
        return _pursue(dictionary, False, products, norms, count, tol, threads)
    return _pursue(gram, True, products, norms, count, tol, threads)


def _pursue(
    matrix: NDArray[np.float64],
    is_gram: bool,
    products: NDArray[np.float64],
    norms: NDArray[np.float64],
    count: int | None,
    tol: float | None,
    threads: int,
) -> list[Path]:
    size = len(products)
    if tol is not None:
        if not isinstance(tol, numbers.Real) or not tol >= 0:
            raise ValueError(f"tol={tol!r}: must be a number of at least 0")
        count = size
    elif count is None:
        count = max(1, size // 10)
    paths = _core.omp_paths(
        matrix,
        is_gram=is_gram,
        products=products,
        squared_norms=norms,
        atoms=require_count("n_nonzero_coefs", count, at_most=size),
        squared_errors=np.full(len(norms), 0.0 if tol is None else float(tol)),
        threads=threads,
    )
    steps = [count if tol is not None and path[2] <= tol else len(path[0]) for path in paths]
    _warn_where_short(np.array(steps), count, products)
    return paths


def _warn_where_short(steps: NDArray[Any], asked: int, signals: NDArray[Any]) -> None:
    """Begins with the words of scikit-learn, which users' filters know."""
    short = np.count_nonzero((steps < asked) & signals.any(axis=0))
    if short:
        warnings.warn(
            "Orthogonal matching pursuit ended prematurely due to linear dependence in the dictionary. "
            "The requested precision might not have been met. "
            f"{short} of {len(steps)} targets got fewer than {asked} features: the others are combinations of "
            "those found, constant, or orthogonal to what is left",
            RuntimeWarning,
            stacklevel=4,
        )


def _codes(paths: Sequence[Path], size: int) -> NDArray[np.float64]:
    codes = np.zeros((size, len(paths)))
    for target, (chosen, weights, _, _) in enumerate(paths):
        if len(chosen):
            codes[chosen, target] = weights[-1]
    return codes


def _answer(
    paths: Sequence[Path], size: int, single: bool, return_path: bool, return_n_iter: bool, dtype: Any
) -> Any:
    steps = [len(chosen) for chosen, _, _, _ in paths]
    if return_path:
        coefs = np.zeros((size, len(paths), max(steps, default=0)), dtype=dtype)
        for target, (chosen, weights, _, _) in enumerate(paths):
            coefs[chosen, target, : len(chosen)] = weights.T
            coefs[:, target, len(chosen) :] = coefs[:, target, len(chosen) - 1 : len(chosen)]
    else:
        coefs = _codes(paths, size).astype(dtype, copy=False)
    coefs = coefs[:, 0] if single else coefs
    return (coefs, steps[0] if single else steps) if return_n_iter else coefs
