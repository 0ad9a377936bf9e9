from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import gammaln
from sklearn.utils.validation import check_is_fitted

from . import _core, atoms
from ._components import ComponentModel, with_zeros
from ._validation import float_type, threads_for, validate_matrix

_SOLVERS = ("auto", "full", "covariance_eigh", "arpack", "randomized")
_SMALL = 500  # rows and columns that LAPACK decomposes at once


class PCA(ComponentModel):
    """Principal components, a drop-in for `sklearn.decomposition.PCA`.

    Exact whatever the solver is called. Sparse data are centred without being filled in.

    Parameters
    ----------
    n_components : int, float, "mle" or None, default=None
        A number, a share of the variance to explain (above 0 and below 1), Minka's estimate, or all:
        min(n_samples, n_features).
    copy : bool, default=True
        Taken for the sake of calls written for scikit-learn: X is never changed.
    whiten : bool, default=False
        Whether `transform` scales coordinates to unit variance.
    svd_solver : {"auto", "full", "covariance_eigh", "arpack", "randomized"}, default="auto"
        Small dense data, and those of which nearly all components are wanted, go to LAPACK as "full" does;
        other data to Lanczos iterations. The last three words mean "auto".
    tol, iterated_power, n_oversamples, power_iteration_normalizer
        Taken for the sake of calls written for scikit-learn: iterations end where the result is exact.
    n_jobs : int, optional
        Threads; None means 1, -1 all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Taken for the sake of calls written for scikit-learn; nothing here is random.

    Attributes
    ----------
    components_ : array of shape (n_components_, n_features)
        Orthonormal rows, the largest entry of each positive. Where the data have fewer directions than asked
        for, the last ones are zero.
    explained_variance_, explained_variance_ratio_, singular_values_ : arrays of shape (n_components_,)
    mean_ : array of shape (n_features,)
    noise_variance_ : float
        Mean variance of the directions that are left out.
    path_ : dict of arrays
        For the first 1, 2, ... components: relative_error, explained_variance, support.
    n_components_, n_samples_, n_features_in_ : int
    feature_names_in_ : array of str

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [-3.0, -2.0], [1.0, 1.0], [2.0, 1.0], [3.0, 2.0]])
    >>> model = pursuit.PCA(2).fit(X)
    >>> model.explained_variance_ratio_.round(4)
    array([0.9924, 0.0076])
    >>> model.singular_values_.round(4)
    array([6.3006, 0.5498])
    """

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: str = "auto",
        tol: float = 0.0,
        iterated_power: int | str = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "PCA":
        """Find the components.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored
        """
        if self.svd_solver not in _SOLVERS:
            raise ValueError(f"svd_solver={self.svd_solver!r}: must be one of {_SOLVERS}")
        X = validate_matrix(self, X, reset=True, min_samples=2)
        most = min(X.shape)
        wanted = self._wanted(X.shape)
        at_least = wanted if isinstance(wanted, int) else most
        mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
        total, stop = _core.squared_norm_about(X, mean), "rank_reached"
        if not total > 0:
            components, values = np.eye(X.shape[1])[:at_least], np.zeros(at_least)
        elif not scipy.sparse.issparse(X) and (
            self.svd_solver == "full" or max(X.shape) <= _SMALL or at_least >= 0.8 * most
        ):
            _, values, components = scipy.linalg.svd(X - mean, full_matrices=False)
        elif at_least == 0:
            components, values = np.zeros((0, X.shape[1])), np.zeros(0)
        else:
            components, values, stop = self._leading(X, min(at_least, X.shape[0] - 1, X.shape[1]))
        count = self._count(wanted, values, total, X.shape)
        found = min(count, int(np.count_nonzero(values)))
        count = self._set_stop(stop, found=found, asked=count)
        components, values = components[:count].T, values[:count]
        self._set(X, mean, total, with_zeros(components, count).T, with_zeros(values, count))
        return self

    def _wanted(self, shape: tuple[int, int]) -> int | float | str:
        """A number of components, or the rule that makes one."""
        n, p = shape
        most, wanted = min(shape), self.n_components
        if wanted is None:
            return most - 1 if self.svd_solver == "arpack" else most
        if isinstance(wanted, str) and wanted == "mle":
            if self.svd_solver in ("arpack", "randomized"):
                raise ValueError(f"n_components='mle' cannot be a string with svd_solver='{self.svd_solver}'")
            if n < p:
                raise ValueError("n_components='mle' is only supported if n_samples >= n_features")
            return "mle"
        if isinstance(wanted, numbers.Integral) and not isinstance(wanted, bool):
            least = int(self.svd_solver in ("arpack", "randomized"))
            if not least <= wanted <= most:
                raise ValueError(
                    f"n_components={wanted} must be between {least} and min(n_samples, n_features)={most} "
                    f"with svd_solver='{self.svd_solver}'"
                )
            return int(wanted)
        if isinstance(wanted, numbers.Real) and 0 < wanted < 1:
            return float(wanted)
        raise ValueError(
            f"n_components={wanted!r}: must be a number from 0 to {most}, a share above 0 and below 1, 'mle' "
            "or None"
        )

    def _count(
        self, wanted: int | float | str, values: NDArray[Any], total: float, shape: tuple[int, int]
    ) -> int:
        if isinstance(wanted, int):
            return wanted
        if isinstance(wanted, str):
            return _minka_dimension(with_zeros(values, min(shape)) ** 2 / (shape[0] - 1), shape[0])
        explained = np.cumsum(values**2) / total if total > 0 else np.ones(len(values))
        return min(int(np.searchsorted(explained, wanted, side="right")) + 1, len(values))

    def _leading(self, X: Any, count: int) -> tuple[NDArray[np.float64], NDArray[np.float64], str]:
        result = _core.pca(
            X,
            components=count,
            atoms=atoms.sphere()._core,
            nonzeros=[],
            total_nonzeros=0,
            orthogonality=0.0,
            correlation=False,
            effort="low",
            seed=0,
            threads=threads_for(self.n_jobs),
            time_limit=None,
            initial=None,
            callback=None,
        )
        scores = result["scores"]
        values = np.linalg.norm(scores, axis=0)
        order = np.argsort(-values, kind="stable")
        return result["loadings"].T[order], values[order], result["stop"]

    def _set(
        self,
        X: Any,
        mean: NDArray[np.float64],
        total: float,
        components: NDArray[np.float64],
        values: NDArray[np.float64],
    ) -> None:
        n, left_out = X.shape[0], min(X.shape) - len(values)
        components = components * _signs(components)[:, None]
        self.n_samples_ = n
        self.mean_ = mean.astype(float_type(X), copy=False)
        self.components_ = components.astype(float_type(X), copy=False)
        self.singular_values_ = values.astype(float_type(X), copy=False)
        self.explained_variance_ = (values**2 / (n - 1)).astype(float_type(X), copy=False)
        shares = values**2 / total if total > 0 else np.zeros(len(values))
        self.explained_variance_ratio_ = shares.astype(float_type(X), copy=False)
        rest = max(0.0, total - float(np.sum(values**2))) / (n - 1)
        self.noise_variance_ = rest / left_out if left_out > 0 else 0.0
        explained = np.cumsum(shares)
        self.path_ = {
            "rank": np.arange(1, self.n_components_ + 1),
            "relative_error": np.sqrt(np.maximum(0, 1 - explained)),
            "explained_variance": explained,
            "support": np.cumsum(np.count_nonzero(components, axis=1)),
        }
        scores = self._products(X, components)
        self._left = scores / np.where(values > 0, values, 1)

    def _deviations(self) -> NDArray[Any]:
        """Of the coordinates; those that do not vary are left as they are, near zero."""
        deviations = np.sqrt(self.explained_variance_)
        return np.maximum(deviations, np.finfo(deviations.dtype).eps)

    def _coordinates_of(self, X: Any) -> NDArray[Any]:
        amounts = ComponentModel._coordinates(self, self._products(X, self.components_))
        return amounts / self._deviations() if self.whiten else amounts

    def _coordinates(self, products: NDArray[Any]) -> NDArray[Any]:
        return products / self._deviations() if self.whiten else products

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Rows that have the given coordinates.

        Parameters
        ----------
        X : array of shape (n_samples, n_components)

        Returns
        -------
        array of shape (n_samples, n_features)
        """
        check_is_fitted(self, "components_")
        if self.n_components_ == 0:
            return np.tile(self.mean_, (len(X), 1))
        return super().inverse_transform(X * self._deviations() if self.whiten else X)

    def get_covariance(self) -> NDArray[Any]:
        """The covariance of the probabilistic model: the components' variances, and the noise elsewhere."""
        check_is_fitted(self, "components_")
        along = self._variances() - self.noise_variance_
        return (self.components_.T * along) @ self.components_ + self.noise_variance_ * np.eye(
            self.n_features_in_, dtype=self.components_.dtype
        )

    def get_precision(self) -> NDArray[Any]:
        """The inverse of `get_covariance`; where that is singular, its pseudo-inverse."""
        check_is_fitted(self, "components_")
        noise, components = self.noise_variance_, self.components_
        if not noise > 0:
            return np.linalg.pinv(self.get_covariance(), hermitian=True)
        along = 1 / self._variances() - 1 / noise
        return (components.T * along) @ components + np.eye(self.n_features_in_) / noise

    def _variances(self) -> NDArray[Any]:
        return np.maximum(self.explained_variance_, self.noise_variance_)

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Log-likelihood of every row under the probabilistic model (Tipping and Bishop 1999).

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        """
        check_is_fitted(self, "components_")
        X = validate_matrix(self, X, reset=False)
        z, mean = self._products(X, self.components_), self.mean_.astype(np.float64)
        if scipy.sparse.issparse(X):
            X = X.astype(float_type(X), copy=False)  # squares of small whole numbers would not fit
            squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() - 2 * (X @ mean) + mean @ mean
        else:
            squares = np.sum((X - mean) ** 2, axis=1)
        variances, p = self._variances().astype(np.float64), self.n_features_in_
        largest = variances.max(initial=self.noise_variance_)
        floor = np.finfo(np.float64).eps * (largest if largest > 0 else 1.0)
        variances, noise = np.maximum(variances, floor), max(self.noise_variance_, floor)
        outside = np.maximum(0, squares - np.einsum("ij,ij->i", z, z)) if p > len(variances) else 0.0
        logarithms = np.log(variances).sum() + (p - len(variances)) * np.log(noise)
        return -0.5 * (
            np.sum(z**2 / variances, axis=1) + outside / noise + p * np.log(2 * np.pi) + logarithms
        )

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of the rows of X, as in scikit-learn.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored
        """
        return float(np.mean(self.score_samples(X)))

    def _saved(self) -> dict[str, Any]:
        return {
            "left": self._left,
            "weights": self.singular_values_.astype(np.float64),
            "trace": {},
            "metadata": {
                "left": "sphere",
                "right": "sphere",
                "weights": "free",
                "centered": "true",
                "stop": self.stop_reason_,
                "explained_span": repr(float(np.sum(self.explained_variance_ratio_))),
                "whiten": repr(bool(self.whiten)),
                "noise_variance": repr(float(self.noise_variance_)),
            },
        }

    def _load(self, file: dict[str, Any]) -> None:
        metadata = file["metadata"]
        self.whiten = metadata.get("whiten") == "True"
        self.mean_ = file["column_means"]
        self._left, self.singular_values_ = file["left"], file["weights"]
        self.n_samples_ = len(self._left)
        self.explained_variance_ = self.singular_values_**2 / max(1, self.n_samples_ - 1)
        self.noise_variance_ = float(metadata.get("noise_variance", 0.0))


def _signs(components: NDArray[Any]) -> NDArray[Any]:
    """That make the largest entry of every row positive."""
    largest = np.argmax(np.abs(components), axis=1) if components.shape[1] else []
    return np.where(components[np.arange(len(components)), largest] < 0, -1.0, 1.0)


def _minka_dimension(spectrum: NDArray[np.float64], n_samples: int) -> int:
    """Number of dimensions by the evidence of Minka's model ("Automatic choice of dimensionality for PCA",
    2000)."""
    evidence = [_minka_evidence(spectrum, rank, n_samples) for rank in range(1, len(spectrum))]
    return 1 + int(np.argmax(evidence)) if evidence else 1


def _minka_evidence(spectrum: NDArray[np.float64], rank: int, n_samples: int) -> float:
    p = len(spectrum)
    tiny = 1e-15
    if spectrum[rank - 1] < tiny:
        return -np.inf
    places = np.arange(1, rank + 1)
    manifold = -rank * np.log(2.0) + np.sum(
        gammaln((p - places + 1) / 2) - np.log(np.pi) * (p - places + 1) / 2
    )
    noise = max(tiny, float(np.sum(spectrum[rank:])) / (p - rank))
    variances = -0.5 * n_samples * (np.sum(np.log(spectrum[:rank])) + np.log(noise) * (p - rank))
    model = np.where(np.arange(p) < rank, spectrum, noise)
    curvature = 0.0
    for i in range(rank):
        others = slice(i + 1, p)
        gaps = (spectrum[i] - spectrum[others]) * (1 / model[others] - 1 / model[i])
        curvature += np.sum(np.log(np.maximum(gaps, tiny)) + np.log(n_samples))
    free = p * rank - rank * (rank + 1) / 2
    return float(
        manifold
        + variances
        + np.log(2 * np.pi) * (free + rank) / 2
        - curvature / 2
        - rank * np.log(n_samples) / 2
    )
