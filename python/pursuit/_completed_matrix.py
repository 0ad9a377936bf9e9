"""A completed matrix: values of its entries, factors of new rows, how good both are, and its file."""

from __future__ import annotations

import json
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, check_is_fitted

from . import _core
from ._observations import (
    Observations,
    from_matrix,
    from_triplets,
    id_type,
    is_triplets,
    parts_of,
    seconds_of,
)
from ._parameters import plain_parameters
from ._validation import FLOATS, threads_for


class CompletedMatrix:
    """For estimators with a completed matrix, ``model_``."""

    def predict(self, X: Any, *, return_std: bool = False, unknown: str = "raise", time: Any = None) -> Any:
        """Values of entries, by pairs of ids.

        Parameters
        ----------
        X : sequence of (row id, column id), or a frame with the row and column of ``columns``
            For models of arrays ids are positions.
        return_std : bool, default=False
            Whether to return standard deviations too, noise included.
        unknown : {"raise", "prior"}, default="raise"
            What to do about ids never seen: ValueError, or predict from what is known of the rest.
        time : number or date, or one per pair, optional
            Where offsets drift, those of this time; None means that of the newest entry.

        Returns
        -------
        values : array, or (values, deviations)
        """
        check_is_fitted(self, "model_")
        if unknown not in ("raise", "prior"):
            raise ValueError(f"unknown={unknown!r}: must be 'raise' or 'prior'")
        row_ids, column_ids = self._pairs(X)
        values, deviations = self.model_.predict(
            self._rows.places(row_ids, "row", unknown=unknown),
            self._cols.places(column_ids, "column", unknown=unknown),
            threads_for(self.n_jobs),
            times=np.broadcast_to(self._moment(time), len(row_ids)) if self.model_.drifts else None,
        )
        return (values, deviations) if return_std else values

    def transform(self, X: Any) -> Any:
        """Factors of new rows from the entries that they have: their offset first, then the atoms.

        Parameters
        ----------
        X : array with NaN or sparse matrix of shape (n_samples, n_features), or triplets
            Rows of triplets are in order of their first appearance.

        Returns
        -------
        array of shape (n_samples, 1 + n_components_)
        """
        check_is_fitted(self, "model_")
        rows = self._new_rows(X)
        return self._factors(rows).astype(rows.dtype, copy=False)

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Predictions for all columns, for rows with the given factors.

        Parameters
        ----------
        X : array of shape (n_samples, 1 + n_components_)

        Returns
        -------
        array of shape (n_samples, n_features)
        """
        check_is_fitted(self, "model_")
        factors = check_array(X, dtype=FLOATS)
        return self._at().predict_rows(factors).astype(factors.dtype, copy=False)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the error on observed entries; 0 is perfect. The error is the root of the mean squared error, for
        "bernoulli" and "ordinal" the log loss, for counts and positive numbers the mean deviance, otherwise the
        mean of the loss.

        Triplets are predicted by their ids, and those never seen from what is known of the rest. Rows of
        arrays and sparse matrices are new rows: predicted from their own entries.

        Parameters
        ----------
        X : array with NaN, sparse matrix, or triplets
        y : ignored
        """
        check_is_fitted(self, "model_")
        if is_triplets(X, self.columns):
            seen = from_triplets(X, self.columns)
            row = self._rows.places([seen.rows.values[i] for i in seen.row], "row", unknown="prior")
            col = self._cols.places([seen.cols.values[j] for j in seen.col], "column", unknown="prior")
            return -self._at().error(row, col, seen.value, threads_for(self.n_jobs))
        rows = self._new_rows(X)
        return -self._at().error_of_rows(self._factors(rows), *rows.arguments())

    def ranking_score(self, X: Any, *, n: int = 10, relevant: float | None = None) -> dict[str, float]:
        """How good lists of recommendations are, against entries that were seen later.

        Parameters
        ----------
        X : triplets
            Test entries, by ids. Rows that the model does not know are left out.
        n : int, default=10
            Length of the lists, which leave out what a row has an entry for.
        relevant : float, optional
            Values from here on say yes; None means all of X.

        Returns
        -------
        dict
            rows (so many have relevant entries), and over these ndcg, recall, map (means), and coverage (share
            of the columns that any list has).
        """
        check_is_fitted(self, "model_")
        seen = from_triplets(X, self.columns, clicks=self.implicit)
        known = getattr(self, "_known", self._seen)
        if known is None:
            raise ValueError("the model was saved without its entries: what was seen cannot be left out")
        return self._at().ranking_score(
            known.indptr,
            known.indices,
            self._rows.places([seen.rows.values[i] for i in seen.row], "row", unknown="prior"),
            self._cols.places([seen.cols.values[j] for j in seen.col], "column", unknown="prior"),
            seen.value,
            -np.inf if relevant is None else relevant,
            n,
            threads_for(self.n_jobs),
        )

    def save(self, path: str | PathLike[str], *, store_entries: bool = True) -> None:
        """Write the model to a file that the program and `pursuit.load` read, and NumPy too. Ids become text;
        integers and floats come back as what they were.

        Parameters
        ----------
        path : str or path
            A .npz file; it appears whole or not at all.
        store_entries : bool, default=True
            Whether the file holds the observed entries. Without them it is smaller and passes nobody's on, but
            the model that is loaded cannot leave out what was seen.
        """
        check_is_fitted(self, "model_")
        metadata = {
            "command": "python",
            "stop": getattr(self, "stop_reason_", "unknown"),
            "columns": json.dumps([str(each) for each in self.columns]),
            "row_id_type": id_type(self.row_ids_),
            "column_id_type": id_type(self.column_ids_),
            "parameters": plain_parameters(self),
        }
        _core.save_completion(
            path,
            model=self.model_,
            rows=[str(each) for each in self.row_ids_],
            cols=[str(each) for each in self.column_ids_],
            entries=None if self._seen is None or not store_entries else parts_of(self._seen),
            held_out=None if getattr(self, "_held_out", None) is None else parts_of(self._held_out),
            row_features=getattr(self, "_row_features", None),
            column_features=getattr(self, "_column_features", None),
            metadata=metadata,
        )

    @property
    def _n_features_out(self) -> int:
        return self.model_.row_width

    @property
    def components_(self) -> NDArray[np.float64]:
        """What the columns of `transform` after the first, the offsets of rows, are multiplied with: factors of
        columns, an atom in every row. With non-negative sets and weights neither has a negative entry."""
        check_is_fitted(self, "model_")
        own = self.model_.scale * self.model_.column_factors[:, 1:].T.astype(np.float64)
        return np.concatenate([own, self.model_.right.T.reshape(-1, own.shape[1])])

    @property
    def row_ids_(self) -> list[Any]:
        return self._rows.values

    @property
    def column_ids_(self) -> list[Any]:
        return self._cols.values

    def _set_model(self, model: _core.CompletionModel, seen: Observations) -> None:
        self.model_ = model
        self.n_components_ = model.rank
        self.noise_ = model.noise
        self.drift_ = model.drift
        self._moved = None
        self._rows, self._cols = seen.rows, seen.cols
        shape = len(seen.rows), len(seen.cols)
        self._seen = scipy.sparse.csr_matrix((seen.value, (seen.row, seen.col)), shape=shape)
        self._seen.sort_indices()
        self._known = self._seen  # with entries that the model was not made from
        self._held_out = None  # these alone
        self._row_features = self._column_features = None

    def _moment(self, time: Any) -> NDArray[np.float64]:
        """As the model counts time."""
        when = np.asarray(self.model_.newest) if time is None else seconds_of(time)
        if not np.isfinite(when).all():
            raise ValueError(f"time={time!r}: must be finite")
        return when

    def _at(self, time: Any = None) -> _core.CompletionModel:
        """The model with its offsets at a time; the last one asked for is kept."""
        if not self.model_.drifts:
            return self.model_
        when = float(self._moment(time))
        if getattr(self, "_moved", None) is None or self._moved[0] != when:
            self._moved = when, self.model_.at_time(when)
        return self._moved[1]

    def _new_rows(self, X: Any) -> Observations:
        if is_triplets(X, self.columns):
            return from_triplets(X, self.columns, cols=self._cols, clicks=self.implicit)
        return from_matrix(self, X, reset=False)

    def _factors(self, rows: Observations) -> NDArray[np.float64]:
        return self._at().new_row_factors(*rows.arguments(), threads_for(self.n_jobs))

    def _pairs(self, X: Any) -> tuple[list[Any], list[Any]]:
        if hasattr(X, "columns") and hasattr(X, "iloc"):
            return tuple(X[name].tolist() for name in self.columns[:2])
        pairs = X.tolist() if isinstance(X, np.ndarray) else list(X)
        if any(np.ndim(pair) != 1 or len(pair) != 2 for pair in pairs):
            raise ValueError("Reshape your data: predict takes pairs (row id, column id)")
        return [pair[0] for pair in pairs], [pair[1] for pair in pairs]

    def _more_tags(self) -> dict[str, Any]:
        return {"allow_nan": True, "preserves_dtype": list(FLOATS)}

    def __sklearn_tags__(self) -> Any:  # scikit-learn 1.6 and later
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
