"""What is asked of a completed matrix: lists, likeness, reasons, and vectors for searches elsewhere."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._observations import Ids
from ._validation import threads_for


class Recommendation(NamedTuple):
    """A column that a row may like, the value predicted for it, and the standard deviation of that value."""

    column: Any
    value: float
    deviation: float


class Recommendations(NamedTuple):
    """Lists of many rows, one per row of these arrays and best first. Where a list is shorter than others its
    columns are None, its numbers NaN."""

    columns: NDArray[Any]
    values: NDArray[np.float64]
    deviations: NDArray[np.float64]


class Neighbour(NamedTuple):
    """A row or column like another one, and how much (1: the same)."""

    id: Any
    similarity: float


class Reason(NamedTuple):
    """An entry of a row, and by how much it has moved a prediction."""

    column: Any
    value: float
    effect: float


class Recommending:
    """For estimators with a completed matrix, ``model_``, and what is known about its rows and columns."""

    def recommend(
        self,
        row: Any,
        n: int = 10,
        *,
        exclude_seen: bool = True,
        candidates: Sequence[Any] | None = None,
        block: Sequence[Any] = (),
        optimism: float = 0.0,
        time: Any = None,
    ) -> list[Recommendation]:
        """The columns with the largest predicted values in a row, best first.

        Parameters
        ----------
        row : id
        n : int, default=10
        exclude_seen : bool, default=True
            Whether to leave out columns for which the row has an entry.
        candidates : ids of columns, optional
            The list is chosen from these; those that the model does not have are in no list.
        block : ids of columns
            Never in the list.
        optimism : float, default=0
            Rank by value + optimism * deviation: what is not known well gets a chance.
        time : number or date, optional
            Where offsets drift, those of this time; None means that of the newest entry.
        """
        check_is_fitted(self, "model_")
        lists = self.recommend_many(
            [row],
            n,
            exclude_seen=exclude_seen,
            candidates=candidates,
            block=block,
            optimism=optimism,
            time=time,
        )
        return [
            Recommendation(column, float(value), float(deviation))
            for column, value, deviation in zip(*(part[0] for part in lists))
        ]

    def recommend_many(
        self,
        rows: Sequence[Any] | None = None,
        n: int = 10,
        *,
        exclude_seen: bool = True,
        candidates: Sequence[Any] | None = None,
        block: Sequence[Any] = (),
        optimism: float = 0.0,
        time: Any = None,
    ) -> Recommendations:
        """The lists of many rows, as arrays.

        Parameters
        ----------
        rows : ids, optional
            All rows of the model where there are none.
        n, exclude_seen, candidates, block, optimism, time
            As in `recommend`.

        Returns
        -------
        columns, values, deviations : arrays of shape (len(rows), n), or fewer columns where there are fewer
        """
        check_is_fitted(self, "model_")
        known = getattr(self, "_known", self._seen)  # pickles of earlier versions have no _known
        if exclude_seen and known is None:
            raise ValueError("exclude_seen=True: the model was made or saved without its entries; pass False")
        places = np.arange(len(self._rows)) if rows is None else self._rows.places(list(rows), "row")
        left_out = known if exclude_seen else None
        return self._lists(self._at(time), places, n, left_out, candidates, block, optimism)

    def recommend_new(
        self,
        X: Any,
        n: int = 10,
        *,
        exclude_seen: bool = True,
        candidates: Sequence[Any] | None = None,
        block: Sequence[Any] = (),
        optimism: float = 0.0,
        time: Any = None,
    ) -> Recommendations:
        """Lists for rows that the model was not made from, by the entries that they have.

        Parameters
        ----------
        X : array with NaN or sparse matrix of shape (n_samples, n_features), or triplets
            As in `transform`; every row needs an entry.
        n, exclude_seen, candidates, block, optimism, time
            As in `recommend`.
        """
        check_is_fitted(self, "model_")
        new = self._new_rows(X)
        shape = len(new.rows), len(new.cols)
        entries = scipy.sparse.csr_matrix((new.value, (new.row, new.col)), shape=shape)
        entries.sort_indices()
        model = _core.with_new_rows(
            self._at(time), entries.indptr, entries.indices, entries.data, threads_for(self.n_jobs)
        )
        left_out = entries if exclude_seen else None
        return self._lists(model, np.arange(len(new.rows)), n, left_out, candidates, block, optimism)

    def similar(self, id: Any, n: int = 10, *, kind: str = "column") -> list[Neighbour]:
        """The columns (or rows) most like one: those that the same rows are drawn to.

        Likeness is the correlation that two columns are expected to have over the rows of the model; offsets
        play no part, and what is not known well is like nothing much.

        Parameters
        ----------
        id : id
        n : int, default=10
        kind : {"column", "row"}, default="column"
        """
        members, similarities = self.similar_many([id], n, kind=kind)
        return [Neighbour(each, float(value)) for each, value in zip(members[0], similarities[0])]

    def similar_many(
        self, ids: Sequence[Any] | None = None, n: int = 10, *, kind: str = "column"
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """The same for many, or all: arrays (ids, similarities) with a row for each."""
        check_is_fitted(self, "model_")
        _require_count(n)
        if kind not in ("row", "column"):
            raise ValueError(f"kind={kind!r}: must be 'row' or 'column'")
        table: Ids = self._rows if kind == "row" else self._cols
        places = np.arange(len(table)) if ids is None else table.places(list(ids), kind)
        members, values = _core.neighbours(self.model_, kind, places, n, threads_for(self.n_jobs))
        return _named(table, members), values

    def explain(self, row: Any, column: Any, n: int = 5) -> list[Reason]:
        """The entries of a row that have moved a prediction most, largest effect first.

        Effects of all entries add up to the difference between what is predicted and what would be expected
        of a row of which nothing is known; for "bernoulli", of the log-odds.

        Parameters
        ----------
        row, column : ids
        n : int, default=5
        """
        check_is_fitted(self, "model_")
        _require_count(n)
        if self._seen is None:
            raise ValueError("explain: the model does not know its entries")
        place = int(self._rows.places([row], "row")[0])
        target = int(self._cols.places([column], "column")[0])
        seen = self._seen[place]
        features = getattr(self, "_row_features", None)
        _, reasons = _core.explain(
            self.model_,
            seen.indices,
            seen.data,
            noise_weight=float(self.model_.row_noise_weights[place]),
            features=[] if features is None else features.of(place),
            target=target,
            count=n,
        )
        return [Reason(self._cols.values[c], value, effect) for c, value, effect in reasons]

    def vectors(self, kind: str = "prediction") -> Any:
        """Arrays of single precision for searches by inner product elsewhere (faiss, ONNX, a database).

        Parameters
        ----------
        kind : {"prediction", "row", "column"}, default="prediction"
            "prediction": a pair (rows, columns) whose products ``rows @ columns.T`` are the predictions, before
            they are kept within the range (for "bernoulli": log-odds). "row" and "column": one array, whose
            products with itself are the likenesses of `similar`.

        Returns
        -------
        (rows, columns), or one array; rows are in the order of ``row_ids_`` and ``column_ids_``
        """
        check_is_fitted(self, "model_")
        if kind == "prediction":
            return _core.prediction_vectors(self._at())
        return _core.similarity_vectors(self.model_, kind)

    def _lists(
        self,
        model: _core.CompletionModel,
        rows: NDArray[Any],
        n: int,
        left_out: Any,
        candidates: Sequence[Any] | None,
        block: Sequence[Any],
        optimism: float,
    ) -> Recommendations:
        _require_count(n)
        columns = None
        if candidates is not None or len(block) > 0:
            blocked = self._cols.places(list(block), "column", unknown="prior")
            chosen = (
                np.arange(len(self._cols))
                if candidates is None
                else self._cols.places(list(candidates), "column", unknown="prior")
            )
            columns = np.setdiff1d(chosen[chosen >= 0], blocked)
        places, values, deviations = _core.recommend_lists(
            model,
            rows,
            n,
            left_out=None if left_out is None else (left_out.indptr, left_out.indices),
            columns=columns,
            optimism=optimism,
            threads=threads_for(self.n_jobs),
        )
        return Recommendations(_named(self._cols, places), values, deviations)


def _named(ids: Ids, places: NDArray[np.int64]) -> NDArray[Any]:
    """Ids for places, None for -1."""
    names = np.empty(len(ids) + 1, dtype=object)
    names[:-1] = ids.values
    names[-1] = None
    return names[places]


def _require_count(n: int) -> None:
    if n < 1:
        raise ValueError(f"n={n}: must be 1 or more")
