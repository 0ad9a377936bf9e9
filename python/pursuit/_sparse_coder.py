"""Codes of rows over a dictionary that is given: scikit-learn's `sparse_encode` and `SparseCoder`."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array

from . import _core
from ._omp import _answer, _pursue
from ._validation import FLOATS, require_count, threads_for

_ALGORITHMS = ("lasso_lars", "lasso_cd", "lars", "omp", "threshold")
_LASSO_GAP = 1e-10  # of the squared length of a row


def sparse_encode(
    X: Any,
    dictionary: Any,
    *,
    gram: Any = None,
    cov: Any = None,
    algorithm: str = "lasso_lars",
    n_nonzero_coefs: int | None = None,
    alpha: float | None = None,
    copy_cov: bool = True,
    init: Any = None,
    max_iter: int = 1000,
    n_jobs: int | None = None,
    check_input: bool = True,
    verbose: int = 0,
    positive: bool = False,
) -> NDArray[Any]:
    """Sparse codes of rows, X ~ codes @ dictionary, as `sklearn.decomposition.sparse_encode`.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    dictionary : array of shape (n_components, n_features)
    gram : array of shape (n_components, n_components), optional
        dictionary @ dictionary.T, where it is there already.
    cov : array of shape (n_components, n_samples), optional
        dictionary @ X.T, where it is there already.
    algorithm : {"lasso_lars", "lasso_cd", "lars", "omp", "threshold"}, default="lasso_lars"
        The first two are the lasso, 1/2 ||x - c D||^2 + alpha ||c||_1, by coordinate descent until the
        duality gap is closed; "lars" is least angle regression; "omp" orthogonal matching pursuit;
        "threshold" shrinks the products with the dictionary by ``alpha``.
    n_nonzero_coefs : int, optional
        Non-zeros per row with "lars" and "omp"; None means a tenth of the features, and at least one.
    alpha : float, optional
        Weight of the l1 norm, or the threshold: 1 where not given. With "omp" the squared error at which a
        row is done, instead of a number of non-zeros.
    init : array of shape (n_samples, n_components), optional
        Where the lasso begins.
    max_iter : int, default=1000
        At most so many sweeps of the lasso over the coefficients of a row.
    n_jobs : int, optional
        Threads; None means 1, -1 all cores. The result does not depend on it.
    check_input : bool, default=True
        Whether to look for values that are not finite.
    positive : bool, default=False
        Whether to keep the codes non-negative; not with "lars" and "omp".
    copy_cov, verbose
        Taken for the sake of calls written for scikit-learn.

    Returns
    -------
    array of shape (n_samples, n_components)

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> pursuit.sparse_encode(np.array([[3.0, -0.5, 2.0]]), np.eye(3), alpha=1.0)
    array([[2., 0., 1.]])
    """
    if algorithm not in _ALGORITHMS:
        raise ValueError(f"algorithm={algorithm!r}: must be one of {_ALGORITHMS}")
    if positive and algorithm in ("lars", "omp"):
        raise ValueError(f"Positive constraint not supported for '{algorithm}' coding method.")
    if check_input:
        X, dictionary = check_array(X, dtype=FLOATS), check_array(dictionary, dtype=FLOATS)
    X, dictionary = np.asarray(X), np.asarray(dictionary)
    _require_width(X, dictionary)
    atoms, rows = np.asarray(dictionary, dtype=np.float64), np.asarray(X, dtype=np.float64)
    products = atoms @ rows.T if cov is None else np.asarray(cov, dtype=np.float64)
    threads, size = threads_for(n_jobs), len(atoms)
    if products.shape != (size, len(rows)):
        raise ValueError(f"cov of shape {products.shape}: must be of shape {(size, len(rows))}")
    if algorithm == "threshold":
        return _shrunk(products, _weight(alpha), positive).T.astype(X.dtype, copy=False)
    gram = atoms @ atoms.T if gram is None else np.asarray(gram, dtype=np.float64)
    if gram.shape != (size, size):
        raise ValueError(f"gram of shape {gram.shape}: must be of shape {(size, size)}")
    norms = np.einsum("ij,ij->i", rows, rows)
    if algorithm == "omp":
        count = None if alpha is not None else _count(n_nonzero_coefs, X.shape[1], size)
        paths = _pursue(gram, True, products, norms, count, alpha, threads)
        codes = _answer(paths, size, False, False, False, np.float64)
    elif algorithm == "lars":
        codes = _core.least_angle_codes(gram, products, _count(n_nonzero_coefs, X.shape[1], size), threads)
    else:
        start = np.zeros((0, 0)) if init is None else np.asarray(init, dtype=np.float64).T
        codes, gaps, converged = _core.lasso(
            gram,
            products,
            norms,
            alpha=_weight(alpha),
            nonnegative=positive,
            max_sweeps=require_count("max_iter", max_iter),
            tolerance=_LASSO_GAP,
            start=start,
            threads=threads,
        )
        if not converged:
            warnings.warn(
                f"the lasso ended after max_iter={max_iter} sweeps with a duality gap of {gaps.max():.2g} of "
                "the sum of squares",
                ConvergenceWarning,
                stacklevel=2,
            )
    return np.ascontiguousarray(codes.T, dtype=X.dtype)


def _require_width(X: NDArray[Any], dictionary: NDArray[Any]) -> None:
    if X.shape[1] != dictionary.shape[1]:
        raise ValueError(
            "Dictionary and X have different numbers of features: "
            f"dictionary.shape: {dictionary.shape} X.shape: {X.shape}"
        )


def _weight(alpha: Any) -> float:
    if alpha is None:
        return 1.0
    if not isinstance(alpha, numbers.Real) or not float(alpha) >= 0:
        raise ValueError(f"alpha={alpha!r}: must be a number of at least 0")
    return float(alpha)


def _count(n_nonzero_coefs: int | None, n_features: int, size: int) -> int:
    if n_nonzero_coefs is None:
        return min(max(n_features // 10, 1), size)
    return min(require_count("n_nonzero_coefs", n_nonzero_coefs), size)


def _shrunk(products: NDArray[Any], alpha: float, positive: bool) -> NDArray[Any]:
    if positive:
        return np.maximum(products - alpha, 0)
    return np.sign(products) * np.maximum(np.abs(products) - alpha, 0)


class SparseCoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Codes of rows over a dictionary that is given, as `sklearn.decomposition.SparseCoder`.

    Nothing is fitted: `fit` looks at the shape of the data only.

    Parameters
    ----------
    dictionary : array of shape (n_components, n_features)
    transform_algorithm : {"lasso_lars", "lasso_cd", "lars", "omp", "threshold"}, default="omp"
        As in `sparse_encode`.
    transform_n_nonzero_coefs : int, optional
        Non-zeros per row with "lars" and "omp".
    transform_alpha : float, optional
        Weight of the l1 norm, the threshold, or the squared error of "omp".
    split_sign : bool, default=False
        Whether to give positive and negative parts of the codes side by side.
    n_jobs : int, optional
        Threads; None means 1, -1 all cores. The result does not depend on it.
    positive_code : bool, default=False
        Whether to keep the codes non-negative.
    transform_max_iter : int, default=1000
        At most so many sweeps of the lasso.

    Attributes
    ----------
    n_components_, n_features_in_ : int
        The shape of the dictionary.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> coder = pursuit.SparseCoder(np.eye(3), transform_algorithm="threshold", transform_alpha=1.0)
    >>> coder.fit_transform(np.array([[3.0, -0.5, -2.0]]))
    array([[ 2., -0., -1.]])
    """

    def __init__(
        self,
        dictionary: Any,
        *,
        transform_algorithm: str = "omp",
        transform_n_nonzero_coefs: int | None = None,
        transform_alpha: float | None = None,
        split_sign: bool = False,
        n_jobs: int | None = None,
        positive_code: bool = False,
        transform_max_iter: int = 1000,
    ) -> None:
        self.dictionary = dictionary
        self.transform_algorithm = transform_algorithm
        self.transform_n_nonzero_coefs = transform_n_nonzero_coefs
        self.transform_alpha = transform_alpha
        self.split_sign = split_sign
        self.n_jobs = n_jobs
        self.positive_code = positive_code
        self.transform_max_iter = transform_max_iter

    def fit(self, X: Any, y: Any = None) -> "SparseCoder":
        """Look at the shape of X.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : ignored
        """
        _require_width(check_array(X, dtype=FLOATS), np.asarray(self.dictionary))
        return self

    def transform(self, X: Any, y: Any = None) -> NDArray[Any]:
        """Codes of the rows of X.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        array of shape (n_samples, n_components), or twice as wide with ``split_sign``
        """
        codes = sparse_encode(
            X,
            self.dictionary,
            algorithm=self.transform_algorithm,
            n_nonzero_coefs=self.transform_n_nonzero_coefs,
            alpha=self.transform_alpha,
            max_iter=self.transform_max_iter,
            n_jobs=self.n_jobs,
            positive=self.positive_code,
        )
        return np.hstack([np.maximum(codes, 0), np.maximum(-codes, 0)]) if self.split_sign else codes

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Rows that have the given codes.

        Parameters
        ----------
        X : array of shape (n_samples, n_components), or twice as wide with ``split_sign``
        """
        codes, dictionary = check_array(X, dtype=FLOATS), np.asarray(self.dictionary)
        if codes.shape[1] != self._n_features_out:
            raise ValueError(f"codes of shape {codes.shape} do not fit {self._n_features_out} columns")
        if self.split_sign:
            half = codes.shape[1] // 2
            codes = codes[:, :half] - codes[:, half:]
        return codes @ dictionary

    @property
    def n_components_(self) -> int:
        return len(self.dictionary)

    @property
    def n_features_in_(self) -> int:
        return np.shape(self.dictionary)[1]

    @property
    def _n_features_out(self) -> int:
        return self.n_components_ * (2 if self.split_sign else 1)

    def _more_tags(self) -> dict[str, Any]:
        return {"requires_fit": False, "preserves_dtype": list(FLOATS)}

    def __sklearn_tags__(self) -> Any:  # scikit-learn 1.6 and later
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
