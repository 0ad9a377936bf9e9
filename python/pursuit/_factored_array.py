"""A factored array that is there: what it says of entries and of new slices, its file, its largest entries."""

from __future__ import annotations

import json
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._observed_tensors import OWN_TERMS, offsets_of, places_of
from ._parameters import plain_parameters
from ._reports import Reported
from ._tensor_data import dense_array, khatri_rao, listed_entries, panels_of
from ._validation import threads_for
from .atoms import as_atoms


class FactoredArray(Reported, TransformerMixin, BaseEstimator):
    """``factors_``, ``weights_``, ``names_``, ``offsets_`` and what a loss needs, as `TensorPursuit` finds them."""

    def predict(self, indices: Any) -> NDArray[Any]:
        """What the model says of single entries, in the units of X.

        Parameters
        ----------
        indices : array of whole numbers, or of names, one row for every mode
        """
        check_is_fitted(self, "factors_")
        places = places_of(self._by_names(indices), [len(factor) for factor in self.factors_])
        return _core.predict_tensor(self.factors_, self.weights_, self.loss, self._own_terms, places)

    def _by_names(self, indices: Any) -> Any:
        """Names of the indices of a mode are as good as the indices."""
        if self.names_ is None or len(indices) != len(self.names_):
            return indices
        rows = []
        for mode, (own, names) in enumerate(zip(indices, self.names_)):
            own = np.asarray(own)
            if names is not None and own.dtype.kind in "UO":
                place = {name: i for i, name in enumerate(names)}
                unknown = [str(each) for each in own if str(each) not in place]
                if unknown:
                    raise ValueError(f"indices of mode {mode}: {unknown[0]!r} is none of its names")
                own = np.array([place[str(each)] for each in own], dtype=np.int64)
            rows.append(own)
        return rows

    def transform(self, X: Any) -> NDArray[Any]:
        """Coordinates of new slices along the first mode: the least-squares ones, none negative where the
        weights and the fitted factors of that mode are not.

        Parameters
        ----------
        X : array of shape (n_slices, size of mode 1, ...), `sparse.COO`, or (indices, values, shape)
        """
        check_is_fitted(self, "factors_")
        self._require_squares("transform")
        listed = listed_entries(X)
        X = None if listed else dense_array(X)
        shape, expected = listed[2] if listed else X.shape, tuple(len(factor) for factor in self.factors_[1:])
        if shape[1:] != expected:
            raise ValueError(f"slices of shape {shape[1:]}; the model has slices of shape {expected}")
        if listed:
            products = np.zeros((shape[0], self.n_components_))
            indices, values, _ = listed
            terms = values[:, None] * np.ones(self.n_components_)
            for index, factor in zip(indices[1:], self.factors_[1:]):
                terms *= factor[index]
            np.add.at(products, indices[0], terms)
        else:
            columns = khatri_rao(self.factors_[1:])
            if np.isnan(X).any():
                return self._transform_known(X.reshape(len(X), -1), columns)
            products = np.asarray(X.reshape(len(X), -1) @ columns, dtype=np.float64)
        gram = np.ones((self.n_components_, self.n_components_))
        for factor in self.factors_[1:]:
            gram *= factor.T @ factor
        if _core.parse_weight_rule(self.weights) == "nonneg" and np.all(self.factors_[0] >= 0):
            return _core.nonnegative_least_squares(gram, products, threads_for(self.n_jobs))
        return products @ np.linalg.pinv(gram, hermitian=True)

    def _transform_known(self, X: NDArray[Any], columns: NDArray[Any]) -> NDArray[Any]:
        """Slice by slice, each with the entries that it has."""
        nonnegative = _core.parse_weight_rule(self.weights) == "nonneg" and np.all(self.factors_[0] >= 0)
        result = np.zeros((len(X), self.n_components_))
        for own, slice_ in zip(result, X):
            known = ~np.isnan(slice_)
            seen = columns[known]
            if nonnegative:
                products = (seen.T @ slice_[known].astype(np.float64))[None]
                own[:] = _core.nonnegative_least_squares(seen.T @ seen, products, 1)[0]
            else:
                own[:] = np.linalg.lstsq(seen, slice_[known], rcond=None)[0] if known.any() else 0.0
        return result

    def _require_squares(self, what: str) -> None:
        if self.loss != "squares" or self.offsets_ is not None:
            raise ValueError(f"{what}: of squares without offsets; see `predict` and `reconstruct`")

    def inverse_transform(self, Z: Any) -> NDArray[Any]:
        """The slices that coordinates stand for."""
        check_is_fitted(self, "factors_")
        self._require_squares("inverse_transform")
        Z = np.asarray(Z, dtype=np.float64)
        shape = tuple(len(factor) for factor in self.factors_[1:])
        return (Z @ khatri_rao(self.factors_[1:]).T).reshape(len(Z), *shape)

    def reconstruct(self) -> NDArray[Any]:
        """The array that the model stands for."""
        check_is_fitted(self, "factors_")
        shape = tuple(len(factor) for factor in self.factors_)
        if self.loss != "squares" or self.offsets_ is not None:
            return self.predict(np.indices(shape).reshape(len(shape), -1)).reshape(shape)
        return self.inverse_transform(self.factors_[0] * self.weights_)

    def to_cp(self) -> tuple[NDArray[Any], list[NDArray[Any]]]:
        """(weights, factors), of which tensorly makes its CPTensor: ``CPTensor(model.to_cp())``."""
        check_is_fitted(self, "factors_")
        return self.weights_, self.factors_

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file that the program and `pursuit.load` read, and NumPy too.

        Parameters
        ----------
        path : str or path
            A .npz file; it appears whole or not at all.
        """
        check_is_fitted(self, "factors_")
        specs = [str(getattr(each, "spec", each)) for each in self._mode_specs()]
        metadata = {
            "command": "python",
            "estimator": type(self).__name__,
            "modes": ",".join(specs),
            "sets_of_modes": json.dumps(specs),
            "weights": self.weights,
            "parameters": plain_parameters(self),
        }
        if hasattr(self, "stop_reason_"):  # a model from tensorly was not fitted here
            metadata["stop"] = self.stop_reason_
            for name in ("relative_error", "congruence", "condition"):
                metadata[name] = repr(float(getattr(self, f"{name}_")))
        if self.validation_errors_:
            metadata["validation_errors"] = json.dumps(
                [[int(rank), float(error)] for rank, error in self.validation_errors_.items()]
            )
        shared = panels_of(len(self.factors_), self.symmetric_modes)
        _core.save_tensor_model(
            path,
            panels=[self.factors_[shared.index(panel)] for panel in range(max(shared) + 1)],
            panel_of_mode=shared,
            weights=self.weights_,
            trace=getattr(self, "trace_", {}),
            names=[] if self.names_ is None else [names or [] for names in self.names_],
            metadata=metadata,
            loss=self.loss,
            own_terms=self._own_terms,
        )

    def _take_file(self, file: dict[str, Any]) -> None:
        """A model out of a file, parameters apart."""
        metadata = file["metadata"]
        self.factors_, self.weights_, self.trace_ = file["factors"], file["weights"], file["trace"]
        self.n_components_ = len(self.weights_)
        self.names_ = [names or None for names in file["names"]] if any(file["names"]) else None
        self.offsets_ = offsets_of(file)
        self._own_terms = {name: file[name] for name in OWN_TERMS}
        self.validation_errors_ = dict(_number_pairs(metadata.get("validation_errors", "[]")))
        plain = self.loss == "squares" and self.offsets_ is None and metadata.get("completed") != "true"
        if "congruence" in metadata:
            self.congruence_, self.condition_ = float(metadata["congruence"]), float(metadata["condition"])
        elif plain:  # of the program
            self.congruence_, self.condition_ = _core.congruence_and_condition(self.factors_, self.weights_)
        else:
            self.congruence_ = self.condition_ = np.nan
        if "stop" in metadata:
            errors = self.trace_["relative_error"]
            error = metadata.get("relative_error", errors[-1] if len(errors) else np.nan)
            self.relative_error_ = float(error)
            self.stop_reason_ = metadata["stop"]
            self.n_iter_ = max(1, int(self.trace_["sweeps"].sum()))

    def top(self, mode: int, atom: int, count: int = 5) -> list[tuple[Any, float]]:
        """The largest entries of an atom's factor along a mode, with the names of their indices.

        Parameters
        ----------
        mode, atom : int
        count : int, default=5
        """
        check_is_fitted(self, "factors_")
        factor = self.factors_[mode][:, atom]
        names = self.names_[mode] if self.names_ is not None else None
        order = np.argsort(-np.abs(factor), kind="stable")[:count]
        return [(int(i) if names is None else names[i], float(factor[i])) for i in order]

    def _mode_specs(self) -> list[Any]:
        """What the sets of all modes are called; those out of a file may be a name alone."""
        given = self.modes if isinstance(self.modes, (list, tuple)) else [self.modes] * len(self.factors_)
        return [each if isinstance(each, str) else as_atoms(each) for each in given]


def _number_pairs(text: str) -> list[tuple[int, float]]:
    try:
        return [(int(rank), float(error)) for rank, error in json.loads(text)]
    except (ValueError, TypeError, RecursionError):
        raise ValueError("the metadata validation_errors are no pairs of numbers") from None
