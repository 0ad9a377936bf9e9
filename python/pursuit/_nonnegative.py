"""What non-negative factorizations share: their losses, what entries pay, and coordinates of rows."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted, check_non_negative

from . import _core
from ._factorization import FactorizationModel
from ._progress import Watcher
from ._validation import float_type, threads_for, validate_matrix

LOSSES = {
    "frobenius": "squares",
    2: "squares",
    "kullback-leibler": "poisson",
    1: "poisson",
    "itakura-saito": "itakura-saito",
    0: "itakura-saito",
}


class NonnegativeModel(FactorizationModel):
    """X ~ W H under the loss ``beta_loss``, entries of both paying for their size where ``alpha_W`` or ``alpha_H``
    are not zero."""

    _nonnegative_coordinates = True
    beta_loss: str | float
    alpha_W: float = 0.0
    alpha_H: float | str = "same"
    l1_ratio: float = 0.0
    time_limit: float | None = None

    def transform(self, X: Any) -> Any:
        """W for the rows of X, by non-negative least squares, or with the least divergence.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), no entry negative
        """
        if self._loss() != "squares":
            check_is_fitted(self, "components_")
            X = validate_matrix(self, X, reset=False)
            self._check_entries(X)
            return self._closest(X)["left"].astype(float_type(X), copy=False)
        W = super().transform(X)
        check_non_negative(X if hasattr(X, "dtype") else np.asarray(X), "NMF (input X)")
        return W

    def score(self, X: Any, y: Any = None) -> float:
        """Share of the sum of squares of X that the components explain, or of its deviance with
        other losses; 1 is all.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), no entry negative
        y : ignored
        """
        if self._loss() == "squares":
            return super().score(X, y)
        check_is_fitted(self, "components_")
        X = validate_matrix(self, X, reset=False)
        self._check_entries(X)
        closest = self._closest(X)
        return 1 - closest["divergence"] / closest["null_objective"] if closest["null_objective"] > 0 else 1.0

    def _coordinates_of(self, X: Any) -> NDArray[Any]:
        return self._closest(X)["left"] if self._loss() != "squares" else super()._coordinates_of(X)

    def _alphas(self) -> tuple[float, float]:
        same = isinstance(self.alpha_H, str)
        return float(self.alpha_W), float(self.alpha_W if same else self.alpha_H)

    def _penalized(self) -> bool:
        return max(self._alphas()) > 0

    def _loss(self) -> str:
        return LOSSES[self.beta_loss]

    def _check_entries(self, X: Any) -> None:
        if isinstance(X, _core.RankedMatrix):  # every process has looked at its rows
            return
        check_non_negative(X, "NMF (input X)")
        if self._loss() == "itakura-saito":
            full = X.nnz == np.prod(X.shape) and X.data.all() if issparse(X) else X.all()
            if not full:
                raise ValueError(
                    f"beta_loss={self.beta_loss!r}: X has zeros, and every entry must be above 0; add a small number to "
                    "all of them, or take 'kullback-leibler'"
                )

    def _check_loss(self) -> None:
        if not isinstance(self.beta_loss, (str, numbers.Real)) or self.beta_loss not in LOSSES:
            raise ValueError(
                f"beta_loss={self.beta_loss!r}: must be 'frobenius' (or 2), 'kullback-leibler' (or 1) or "
                "'itakura-saito' (or 0)"
            )

    def _penalties(self, n_samples: int) -> tuple[tuple[float, float], tuple[float, float]]:
        """l1 and l2 of W and of H, with scikit-learn's scaling."""
        alpha_W, alpha_H = self._alphas()
        left, right = alpha_W * self.n_features_in_, alpha_H * n_samples
        shares = float(self.l1_ratio), 1 - float(self.l1_ratio)
        return (left * shares[0], left * shares[1]), (right * shares[0], right * shares[1])

    def _sweeps(self, X: Any, W: NDArray[Any], H: NDArray[Any], watcher: Watcher | None, **more: Any) -> Any:
        """W and H (a column each) after sweeps over both, or over W alone."""
        left, right = self._penalties(X.shape[0])
        options = {"sweeps": self.max_iter, "tolerance": self.tol, "time_limit": self.time_limit}
        return _core.penalized_nmf(
            X,
            W,
            H,
            left=left,
            right=right,
            threads=threads_for(self.n_jobs),
            callback=None if watcher is None else watcher.function(),
            loss=self._loss(),
            **{**options, **more},
        )

    def _closest(self, X: Any) -> dict[str, Any]:
        """W of the least divergence (and price) with the H there is: every row is convex."""
        return self._least_divergence(X, self.components_)

    def _least_divergence(self, X: Any, components: NDArray[Any]) -> dict[str, Any]:
        H = components.T.astype(np.float64)
        size = np.asarray(X.sum(axis=1), dtype=np.float64).reshape(-1, 1) / max(H.sum(), np.finfo(float).tiny)
        start = np.repeat(np.maximum(size, np.finfo(float).tiny), H.shape[1], axis=1)
        limits = {"sweeps": 500, "tolerance": 1e-12, "time_limit": None}
        result: dict[str, Any] = self._sweeps(X, start, H, None, right_stays=True, **limits)
        W = result["left"]
        result["divergence"] = result["objective"] - self._paid(W, result["right"], X.shape[0])
        return result

    def _paid(self, W: NDArray[Any], H: NDArray[Any], n_samples: int) -> float:
        prices = zip((W, H), self._penalties(n_samples))
        return float(sum(l1 * F.sum() + 0.5 * l2 * np.vdot(F, F) for F, (l1, l2) in prices))

    def _coordinates(self, products: NDArray[Any]) -> NDArray[Any]:
        (l1, l2), _ = self._penalties(1)
        gram = self._gram() + l2 * np.eye(self.n_components_)
        return _core.nonnegative_least_squares(gram, products - l1, threads_for(self.n_jobs))

    def _saved(self) -> dict[str, Any]:
        saved = super()._saved()
        if self._penalized():
            saved["metadata"] |= {
                name: str(getattr(self, name)) for name in ("alpha_W", "alpha_H", "l1_ratio")
            }
        if self._loss() != "squares":
            saved["metadata"]["loss"] = self._loss()
        return saved

    def _more_tags(self) -> dict[str, Any]:
        return {**super()._more_tags(), "requires_positive_X": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
