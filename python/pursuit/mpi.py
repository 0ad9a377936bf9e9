"""Fits that the processes of an mpi4py communicator share: each has rows of its own, and all get the model.

::

    mpirun -n 4 python fit.py

    from mpi4py import MPI
    import pursuit
    import pursuit.mpi

    X = rows_of(MPI.COMM_WORLD.rank)                  # whatever this process has read or made
    model = pursuit.mpi.fit(pursuit.NMF(20), X)       # the same model everywhere
    W = model.transform(X)                            # of these rows
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from . import _core
from ._completion import MatrixCompletion
from ._matrix_pursuit import MatrixPursuit
from ._nmf import NMF
from ._sparse_pca import SparsePCA
from ._svd import TruncatedSVD
from ._validation import FLOATS, threads_for, validate_matrix

_AT_ONCE = 1 << 27  # numbers of one message: MPI counts with an int


def fit(model: Any, X: Any, comm: Any = None, **arguments: Any) -> Any:
    """Fit a model to what all processes of a communicator have. All of them call it; the result is the same
    bits for any number of them, and of threads.

    Parameters
    ----------
    model : MatrixPursuit or NMF of squares, TruncatedSVD, SparsePCA or MatrixCompletion
        With the same parameters everywhere; those of rank 0 count. ``n_jobs`` are the threads of each process.
    X : array or sparse matrix of shape (n_own_samples, n_features); triplets or a frame of these
        Of a factorization the rows of this process, at least one, those of rank 0 being the first; of a
        `MatrixCompletion` some of the entries.
    comm : mpi4py communicator, optional
        None means ``MPI.COMM_WORLD``.
    **arguments :
        Of `MatrixCompletion.fit`: ``row_features`` and ``column_features``, as rank 0 has them.

    Returns
    -------
    model, fitted: on every process all of it, with ``left_`` of all rows in the order of ranks.
    """
    if comm is None:
        from mpi4py import MPI

        comm = MPI.COMM_WORLD
    comm = comm.Dup()  # no message of ours meets another one
    try:
        if isinstance(model, MatrixCompletion):
            return _fit_entries(model, X, comm, arguments)
        return _fit_rows(model, X, comm, arguments)
    finally:
        comm.Free()


def _fit_rows(model: Any, X: Any, comm: Any, arguments: dict[str, Any]) -> Any:
    checked = _agree(comm, lambda: _checked(model, X, arguments))
    own = _Rows(comm, checked, threads_for(model.n_jobs))
    if comm.rank > 0:
        _core.follow(comm, own.cuts, own.cols, own.blocks, own.threads)
        return _with_outcome(model, comm, None)

    def solve(lead: _core.Lead) -> None:
        matrix = lead.matrix(own.cuts, own.cols, own.blocks, own.work, own.rounding, own.threads)
        matrix.shape, matrix.dtype, matrix.ndim = (own.rows, own.cols), own.dtype, 2
        model.fit(matrix)

    return _with_outcome(model, comm, _led(comm, solve))


def _fit_entries(model: MatrixCompletion, X: Any, comm: Any, arguments: dict[str, Any]) -> Any:
    def check() -> Any:
        strange = set(arguments) - {"row_features", "column_features"}
        if strange:
            raise TypeError(f"{', '.join(sorted(strange))}: not of a fit that processes share")
        if not (isinstance(X, tuple) and len(X) == 3) and not hasattr(X, "columns"):
            raise TypeError(
                "entries of several processes are triplets (rows, columns, values) or frames of them"
            )
        return X if hasattr(X, "columns") else tuple(np.asarray(part) for part in X)

    parts = comm.gather(_agree(comm, check))
    if comm.rank > 0:
        _core.follow(comm, [0], 0, [], 1)
        return _with_outcome(model, comm, None)

    def solve(lead: _core.Lead) -> None:
        if hasattr(parts[0], "columns"):
            import pandas

            together = pandas.concat(parts, ignore_index=True)
        else:
            together = tuple(np.concatenate(part) for part in zip(*parts))
        model.fit(together, **arguments)

    return _with_outcome(model, comm, _led(comm, solve))


def _led(comm: Any, solve: Any) -> dict[str, Any]:
    """What rank 0 has to say after its part: what was fitted, or what was raised."""
    lead = _core.lead(comm)
    try:
        solve(lead)
        return {"raised": None}
    except BaseException as error:  # all processes raise it
        return {"raised": error}
    finally:
        lead.end()


def _with_outcome(model: Any, comm: Any, outcome: dict[str, Any] | None) -> Any:
    """The model of rank 0 on all processes, or what it has raised."""
    if outcome is not None:
        parameters = model.get_params(deep=False)
        outcome["fitted"] = {name: value for name, value in vars(model).items() if name not in parameters}
    outcome = comm.bcast(outcome)
    assert outcome is not None
    if comm.rank > 0:
        vars(model).update(outcome["fitted"])
    if outcome["raised"] is not None:
        raise outcome["raised"]
    return model


def _agree(comm: Any, check: Any) -> Any:
    """What check() returns, unless it raises anywhere: then all processes raise what the first of them did."""
    result, failure = None, None
    try:
        result = check()
    except Exception as error:
        failure = error
    for rank, raised in enumerate(comm.allgather(failure)):
        if raised is not None:
            raise type(raised)(f"rank {rank}: {raised}")
    return result


def _checked(model: Any, X: Any, arguments: dict[str, Any]) -> Any:
    """Rows as the engine takes them, as C-ordered arrays or CSR matrices."""
    if arguments:
        raise TypeError(f"{', '.join(sorted(arguments))}: not of a fit that processes share")
    shared = isinstance(model, (MatrixPursuit, NMF, TruncatedSVD, SparsePCA))
    looks_at_entries = (
        isinstance(model, MatrixPursuit)
        and not model._is_plain()
        or isinstance(model, NMF)
        and model._by_sweeps()
        or isinstance(model, SparsePCA)
        and (model.alpha is not None or model.correlation)
    )
    if not shared or looks_at_entries:
        raise TypeError(
            f"{model!r}: processes share MatrixPursuit and NMF of squares without penalties, TruncatedSVD, "
            "SparsePCA without alpha and correlation, and MatrixCompletion"
        )
    X = validate_matrix(model, X, reset=True)
    if isinstance(model, NMF):
        model._check_entries(X)
    if scipy.sparse.issparse(X):
        X = X.tocsr()
        X = X if X.has_sorted_indices else X.sorted_indices()
    return X if X.dtype in FLOATS else X.astype(np.float64)


class _Rows:
    """Blocks of rows that sizes alone fix, each where it belongs, wherever its rows were."""

    def __init__(self, comm: Any, X: Any, threads: int) -> None:
        sparse, self.threads, self.cols = scipy.sparse.issparse(X), threads, X.shape[1]
        heads = comm.allgather((X.shape[1], sparse, X.dtype == np.float32, X.shape[0]))
        for rank, (cols, is_sparse, *_) in enumerate(heads):
            if (cols, is_sparse) != heads[0][:2]:
                raise ValueError(
                    f"rank {rank} has {'sparse' if is_sparse else 'dense'} rows of {cols} features, rank 0 "
                    f"{'sparse' if heads[0][1] else 'dense'} ones of {heads[0][0]}"
                )
        self.dtype = np.dtype(np.float32 if all(single for _, _, single, _ in heads) else np.float64)
        have = list(itertools.accumulate((rows for *_, rows in heads), initial=0))
        self.rows = have[-1]
        X = X.astype(self.dtype, copy=False)
        if sparse:
            before = self._before(comm, X)
            self.cuts = _core.sparse_row_cuts(before)
        else:
            self.cuts = _core.row_cuts(self.rows)
        spans = [_core.blocks_of_rank(self.cuts, rank, comm.size) for rank in range(comm.size)]
        want = [self.cuts[first] for first, _ in spans] + [self.rows]
        first, last = spans[comm.rank]
        self.work = 4.0 * float(before[-1]) if sparse else float(self.rows) * self.cols
        self.rounding = float(np.finfo(np.float64 if sparse else self.dtype).eps)
        bounds = list(zip(self.cuts[first:last], self.cuts[first + 1 : last + 1]))
        if not sparse:
            numbers = _to_owners(
                comm,
                np.ascontiguousarray(X).ravel(),
                [self.cols * row for row in have],
                [self.cols * row for row in want],
            ).reshape(-1, self.cols)
            start = want[comm.rank]
            self.blocks = [numbers[begin - start : end - start] for begin, end in bounds]
            return
        ends, wanted = [int(before[row]) for row in have], [int(before[row]) for row in want]
        index = _to_owners(comm, X.indices.astype(np.int32, copy=False), ends, wanted)
        values = _to_owners(comm, X.data, ends, wanted)
        self.blocks = []
        for begin, end in bounds:
            starts = before[begin : end + 1] - before[begin]
            part = slice(int(before[begin]) - wanted[comm.rank], int(before[end]) - wanted[comm.rank])
            self.blocks.append(
                scipy.sparse.csr_matrix((values[part], index[part], starts), shape=(end - begin, self.cols))
            )

    @staticmethod
    def _before(comm: Any, X: Any) -> NDArray[np.int32]:
        """The entries before every row of all, and of all of them."""
        counts = np.concatenate(comm.allgather(np.diff(X.indptr).astype(np.int64)))
        before = np.concatenate([[0], np.cumsum(counts)])
        if before[-1] > np.iinfo(np.int32).max:
            raise ValueError(f"{before[-1]} stored entries: at most {np.iinfo(np.int32).max} can be shared")
        return before.astype(np.int32)


def _to_owners(comm: Any, mine: NDArray[Any], have: list[int], want: list[int]) -> NDArray[Any]:
    """Numbers of all ranks are one list, of which rank r has have[r] to have[r + 1] - 1 and wants the part from
    want[r]."""
    rank = comm.rank
    own = np.empty(want[rank + 1] - want[rank], dtype=mine.dtype)
    requests = []
    for other in range(comm.size):
        for ends, there, send in ((have, want, True), (want, have, False)):
            begin, end = max(ends[rank], there[other]), min(ends[rank + 1], there[other + 1])
            if other == rank:
                if send and begin < end:
                    own[begin - want[rank] : end - want[rank]] = mine[begin - have[rank] : end - have[rank]]
                continue
            for first in range(begin, end, _AT_ONCE):
                last = min(end, first + _AT_ONCE)
                if send:
                    requests.append(comm.Isend(mine[first - have[rank] : last - have[rank]], other))
                else:
                    requests.append(comm.Irecv(own[first - want[rank] : last - want[rank]], other))
    for request in requests:
        request.Wait()
    return own
