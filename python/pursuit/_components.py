"""What all decompositions into components share: coordinates of rows, their reconstruction, and how much is
explained."""

from __future__ import annotations

import json
import warnings
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array, check_is_fitted

from . import _core
from ._atom_sets import AtomSet, NamedAtoms
from ._kept_sets import kept_text
from ._parameters import plain_parameters
from ._plots import ComponentPlots
from ._reports import Reported
from ._validation import (
    FLOATS,
    canonical,
    float_type,
    product,
    squared_norm,
    threads_for,
    validate_matrix,
)


class ComponentModel(
    Reported, ComponentPlots, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Rows x ~ mean + scale * (z @ components). Subclasses fit ``components_`` and, where there is one,
    ``mean_``."""

    _nonnegative_coordinates = False

    def _set_stop(self, stop: str, *, found: int, asked: int, wanted_short: bool = False) -> int:
        """Says why the fit ended, and returns how many components the model has.

        Whatever stands behind it in a pipeline counts on the number asked for. Those that the data do not
        have are zeros, unless the caller wanted the fit to end before.
        """
        short = wanted_short or stop in ("early_stopping", "interrupted", "time_limit")
        # Atoms that were left without weight are dropped by the engine, which has then tried them all.
        self.stop_reason_ = "no_ascent" if stop == "rank_reached" and found < asked else stop
        self.n_components_ = found if short else max(found, asked)
        if stop == "not_converged":
            warnings.warn(_core.stop_explanations()[stop], ConvergenceWarning, stacklevel=4)
        return self.n_components_

    @property
    def stop_message_(self) -> str:
        """Why the fit ended, in words."""
        check_is_fitted(self, "components_")
        message = _core.stop_explanations().get(
            self.stop_reason_, "the last atom explained less than early_stopping asks for"
        )
        zeros = np.count_nonzero(~self.components_.any(axis=1))
        if zeros == 0:
            return message
        return f"{message}; the last {zeros} of {len(self.components_)} components are zero"

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def _center(self) -> NDArray[Any] | None:
        return getattr(self, "mean_", None)

    def _scale(self) -> NDArray[Any] | None:
        return getattr(self, "scale_", None)

    def _products(self, X: Any, directions: NDArray[Any]) -> NDArray[np.float64]:
        """Centred and scaled rows times directions; neither is formed."""
        mean, scale = self._center(), self._scale()
        directions = directions if scale is None else directions / scale
        products = product(X, directions.T, threads_for(self.n_jobs))
        return products if mean is None else products - mean.astype(np.float64) @ directions.T

    def _coordinates(self, products: NDArray[Any]) -> NDArray[Any]:
        gram = self._gram()
        if self._nonnegative_coordinates:
            return _core.nonnegative_least_squares(gram, products, threads_for(self.n_jobs))
        return products @ np.linalg.pinv(gram, hermitian=True)

    def _gram(self) -> NDArray[np.float64]:
        components = self.components_.astype(np.float64)
        return components @ components.T

    def transform(self, X: Any) -> Any:
        """Coordinates of rows in the components: (non-negative) least squares.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        check_is_fitted(self, "components_")
        X = validate_matrix(self, X, reset=False)
        return self._coordinates(self._products(X, self.components_)).astype(float_type(X), copy=False)

    def _coordinates_of(self, X: Any) -> NDArray[Any]:
        """What `transform` gives where components need not be orthogonal."""
        return self._coordinates(self._products(X, self.components_))

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
        coordinates = check_array(X, dtype=FLOATS)
        if coordinates.shape[1] != self._n_features_out:
            raise ValueError(
                f"coordinates of shape {coordinates.shape} do not fit {self._n_features_out} components"
            )
        mean, scale = self._center(), self._scale()
        rows = coordinates @ self.components_
        rows = rows if scale is None else rows * scale
        return rows if mean is None else rows + mean

    def score(self, X: Any, y: Any = None) -> float:
        """Share of the sum of squares of X (about the mean, where there is one) that the components explain;
        1 is all.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored
        """
        check_is_fitted(self, "components_")
        X = validate_matrix(self, X, reset=False)
        products = self._products(X, self.components_)
        z = self._coordinates(products)
        total = self._squared_norm(X)
        explained = 2 * np.vdot(products, z) - np.vdot(z.T @ z, self._gram())
        return float(explained / total) if total > 0 else 1.0

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file that the program and `pursuit.load` read, and NumPy too.

        Parameters
        ----------
        path : str or path
            A .npz file; it appears whole or not at all.
        """
        check_is_fitted(self, "components_")
        parts = self._saved()
        metadata = {"command": "python", "estimator": type(self).__name__, **parts.pop("metadata")}
        metadata["parameters"] = plain_parameters(self)
        for name, value in self.get_params(deep=False).items():
            if isinstance(value, (AtomSet, NamedAtoms)) and (text := kept_text(value)) is not None:
                metadata[f"set_{name}"] = text
        found = self.components_.any(axis=1)  # the file holds atoms; those that only keep the shape are none
        if hasattr(self, "explained_variance_ratio_"):
            metadata["explained_variance_ratio"] = json.dumps(self.explained_variance_ratio_.tolist())
        mean, scale, nothing = self._center(), self._scale(), np.zeros(0)
        _core.save_model(
            path,
            left=parts.pop("left")[:, found],
            right=self.components_[found].T,
            weights=parts.pop("weights")[found],
            row_names=[],
            column_names=[str(name) for name in getattr(self, "feature_names_in_", [])],
            metadata=metadata,
            column_means=nothing if mean is None else mean,
            column_deviations=nothing if scale is None else scale,
            **parts,
        )

    def _squared_norm(self, X: Any) -> float:
        """Of the centred and scaled rows; centred ones are never formed."""
        mean, scale = self._center(), self._scale()
        if mean is None:
            return squared_norm(X)
        mean = mean.astype(np.float64)
        if scale is not None:
            X = X @ scipy.sparse.diags(1 / scale) if scipy.sparse.issparse(X) else X / scale
            mean = mean / scale
        return _core.squared_norm_about(canonical(X), mean)

    def _span_shares(self, X: Any) -> NDArray[np.float64]:
        """Shares of the sum of squares of X that each component adds to the span of those before it."""
        scale = self._scale()
        return _core.span_shares(
            canonical(X),
            self.components_.T.astype(np.float64),
            center=self._center() is not None,
            scale=None if scale is None else 1 / scale.astype(np.float64),
        )

    def _more_tags(self) -> dict[str, Any]:
        return {"preserves_dtype": list(FLOATS)}

    def __sklearn_tags__(self) -> Any:  # scikit-learn 1.6 and later
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def with_zeros(columns: NDArray[Any], count: int) -> NDArray[Any]:
    """As many columns (or entries) as asked for, those that were not found zero."""
    missing = count - columns.shape[-1]
    if missing == 0:
        return columns
    return np.concatenate([columns, np.zeros((*columns.shape[:-1], missing), columns.dtype)], axis=-1)
