"""Sets about particular entries: groups, overlapping sets, trees, graphs, masks and dictionaries, from data or files.

Entries are called by their numbers, counted from 0, or by names. A set that calls them by names waits for those of
the data, unless it is told ``names``.
"""

from __future__ import annotations

import os
from typing import Any, Callable, Sequence

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._atom_sets import AtomSet, NamedAtoms, Names, Path, is_path, quoted, spec_of

_Collection = (list, tuple, set, frozenset, range, np.ndarray)


def _whole_numbers(name: str, values: ArrayLike, dimensions: int = 1) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.size == 0 or array.ndim != dimensions or not np.issubdtype(array.dtype, np.integer):
        shape = f"an array of {array.dtype} of shape {array.shape}"
        raise ValueError(f"{name}: whole numbers in {dimensions} dimension(s) are needed, not {shape}")
    return array.astype(np.int64)


def _are_names(values: Any) -> bool:
    """Whether something that is made of entries calls them by names."""
    if isinstance(values, str):
        return True
    return isinstance(values, _Collection) and any(_are_names(each) for each in values)


def _is_frame(value: Any) -> bool:
    return hasattr(value, "columns") and hasattr(value, "index")


def _is_series(value: Any) -> bool:
    return hasattr(value, "index") and hasattr(value, "to_numpy") and not _is_frame(value)


def _named(
    spec: str, make: Callable[..., AtomSet], data: tuple[Any, ...], names: Sequence[Any] | None
) -> Any:
    waiting = NamedAtoms(f"custom:{spec}", make, data)
    return waiting if names is None else waiting.with_names(names)


def _lists(values: Any) -> list[list[Any]]:
    """The members of every group or set, whatever holds them."""
    groups = values.values() if isinstance(values, dict) else values
    return [[each] if isinstance(each, str) else list(each) for each in groups]


# ---- groups


def group(
    entries: Any, groups: int, per_group: int | None = None, *, names: Sequence[Any] | None = None
) -> Any:
    """At most so many ``groups`` of entries have non-zeros, at most ``per_group`` each.

    Parameters
    ----------
    entries : list of lists, dict, array, Series or path
        The entries of every group, by numbers counted from 0 or by names, every entry in one group; or the label
        of every entry, of a Series by the names of its index; or a file with one group per line.
    groups, per_group : int
    names : sequence, optional
        Of the entries, where groups call them by names; otherwise those of the data are waited for.

    Examples
    --------
    >>> from pursuit import atoms
    >>> atoms.group([[0, 1], [2, 3]], 1).maximize([3.0, 4.0, 2.0, 1.0])
    array([0.6, 0.8, 0. , 0. ])
    >>> atoms.group(["a", "b", "a", "b"], 1) == atoms.group([[0, 2], [1, 3]], 1)
    True
    >>> atoms.group({"left": ["a", "b"], "right": ["c", "d"]}, 1, names="abcd").maximize([3.0, 4.0, 2.0, 1.0])
    array([0.6, 0.8, 0. , 0. ])
    """
    if is_path(entries):
        words = _core.read_names(entries)
        if words is None:
            return _group(np.array(_core.read_groups(entries)), groups, per_group, os.fspath(entries))
        entries = words
    elif _is_series(entries):
        labels = entries.to_numpy()
        entries = [list(entries.index[labels == label]) for label in np.unique(labels)]
        entries = [[str(name) for name in members] for members in entries]
    if isinstance(entries, dict):
        entries = _lists(entries)
    if any(isinstance(each, _Collection) for each in entries) and _are_names(entries):
        return _named(f"group:{groups}", _group_by_names, (_lists(entries), groups, per_group), names)
    return _group(_labels(entries), groups, per_group)


def _labels(given: Any) -> NDArray[np.int64]:
    """The group of every entry, 0, 1, ..., from the entries of every group or the label of every entry."""
    if not any(isinstance(each, _Collection) for each in given):
        labels = np.asarray(given)
        if labels.ndim != 1 or labels.size == 0:
            raise ValueError("entries: the entries of every group, or the label of every entry, are needed")
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)
    members = [_whole_numbers("entries", sorted(each)) for each in given]
    entries = np.concatenate(members)
    if not np.array_equal(np.sort(entries), np.arange(entries.size)):
        last = max(entries.size - 1, int(entries.max()))
        raise ValueError(
            f"entries: every entry of 0..{last} must be in one group, and in one only; `atoms.sets` may overlap"
        )
    group_of = np.empty(entries.size, dtype=np.int64)
    group_of[entries] = np.repeat(np.arange(len(members)), [each.size for each in members])
    return group_of


def _group(group_of: NDArray[np.int64], groups: int, per_group: int | None, source: str = "") -> AtomSet:
    core = _core.group_atoms(group_of.tolist(), groups, per_group, source)
    return AtomSet(core, (_group, (group_of, groups, per_group, source)))


def _group_by_names(names: Names, members: list[list[str]], groups: int, per_group: int | None) -> AtomSet:
    group_of = np.full(len(names), -1, dtype=np.int64)
    for number, each in enumerate(members):
        places = names.find(each, "entries")
        taken = [each[k] for k, place in enumerate(places) if group_of[place] >= 0]
        if taken:
            raise ValueError(f"entries: {taken[0]!r} is in more than one group; `atoms.sets` may overlap")
        group_of[places] = number
    lost = np.flatnonzero(group_of < 0)
    if lost.size:
        raise ValueError(
            f"entries: {lost.size} are in no group, the first is {names.values[lost[0]]!r}; `atoms.sets` may leave "
            "entries out"
        )
    return _group(np.unique(group_of, return_inverse=True)[1].astype(np.int64), groups, per_group)


# ---- sets that overlap


def sets(entries: Any, active: int, *, names: Sequence[Any] | None = None) -> Any:
    """Non-zeros within at most ``active`` of given sets of entries, which may overlap: gene sets, pathways.

    Entries in no set are zero. Names that the data do not have are passed over: annotations cover more.

    Parameters
    ----------
    entries : dict, list of lists, boolean frame or matrix, or path
        The members of every set, by numbers or names; or a table with a row for every entry and a column for every
        set; or a file, .gmt or one set per line.
    active : int
    names : sequence, optional
        Of the entries, where sets call them by names; otherwise those of the data are waited for.

    Examples
    --------
    >>> from pursuit import atoms
    >>> pathways = {"growth": ["MYC", "TP53", "EGFR"], "death": ["TP53", "BAX"]}
    >>> atoms.sets(pathways, 1, names=["ACTB", "BAX", "MYC", "TP53"]).maximize([9.0, 1.0, 4.0, 3.0])
    array([0. , 0. , 0.8, 0.6])
    """
    if is_path(entries):
        words = _core.read_names(entries)
        if words is None:
            return _sets(0, _core.read_sets(entries), active, os.fspath(entries))
        gmt = os.fspath(entries).endswith(".gmt")
        entries = [line[2:] for line in words] if gmt else words
    elif _is_frame(entries):
        marks = entries.to_numpy().astype(bool)
        entries = [[str(name) for name in entries.index[column]] for column in marks.T]
    elif scipy.sparse.issparse(entries) or (isinstance(entries, np.ndarray) and entries.ndim == 2):
        table = scipy.sparse.csc_matrix(entries).astype(bool)
        members = [table.indices[a:b].tolist() for a, b in zip(table.indptr[:-1], table.indptr[1:])]
        return _sets(table.shape[0], members, active)
    members = _lists(entries)
    if _are_names(members):
        return _named(f"sets:{active}", _sets_by_names, (members, active), names)
    return _sets(0, [_whole_numbers("entries", each).tolist() for each in members], active)


def _sets(n_entries: int, members: list[list[int]], active: int, source: str = "") -> AtomSet:
    core = _core.sets_atoms(n_entries, members, active, source)
    return AtomSet(core, (_sets, (n_entries, members, active, source)))


def _sets_by_names(names: Names, members: list[list[str]], active: int) -> AtomSet:
    found = [names.find(each, "entries", unknown="pass over") for each in members]
    found = [each for each in found if each]
    if not found:
        raise ValueError(
            f"entries: no set names an entry of the data; names of entries look like {names.values[0]!r}"
        )
    return _sets(len(names), found, active)


# ---- trees


def tree(parents: Any, k: int, *, names: Sequence[Any] | None = None) -> Any:
    """Non-zeros within k nodes of a tree that hang together at its root.

    Parameters
    ----------
    parents : array, dict, Series or path
        The parent of every entry, -1 for a root; by names the parent of every child, all others being roots; or a
        file with one parent per line, or a child and its parent.
    k : int
    names : sequence, optional
        Of the entries, where the tree calls them by names; otherwise those of the data are waited for.
    """
    if is_path(parents):
        words = _core.read_names(parents)
        if words is None:
            return _tree(np.array(_core.read_tree(parents)), k, os.fspath(parents))
        wrong = [line for line in words if len(line) != 2]
        if wrong:
            raise ValueError(f"{parents}: a child and its parent are expected, not {' '.join(wrong[0])!r}")
        parents = dict(words)
    elif _is_series(parents):
        parents = parents.to_dict()
    if isinstance(parents, dict):
        pairs = [[str(child), str(parent)] for child, parent in parents.items()]
        return _named(f"tree:{k}", _tree_by_names, (pairs, k), names)
    return _tree(_whole_numbers("parents", parents), k)


def _tree(parents: NDArray[np.int64], k: int, source: str = "") -> AtomSet:
    return AtomSet(_core.tree_atoms(parents.tolist(), k, source), (_tree, (parents, k, source)))


def _tree_by_names(names: Names, pairs: list[list[str]], k: int) -> AtomSet:
    parents = np.full(len(names), -1, dtype=np.int64)
    for child, parent in pairs:
        at, above = names.find([child, parent], "parents")
        parents[at] = above
    return _tree(parents, k)


# ---- graphs


def graph(
    edges: Any,
    k: int,
    pieces: int | None = None,
    *,
    n_entries: int | None = None,
    names: Sequence[Any] | None = None,
) -> Any:
    """Non-zeros within k vertices of a graph in at most so many connected pieces (1).

    Parameters
    ----------
    edges : pairs, frame, sparse matrix or path
        Pairs of entries, by numbers, with ``n_entries`` where the last ones have no edge, or by names, of which those
        that the data do not have are passed over; a frame of two columns of them; an adjacency matrix, sparse or a
        frame with the same names on both sides; or a file with an edge on every line.
    k, pieces : int
    n_entries : int, optional
    names : sequence, optional
        Of the entries, where the graph calls them by names; otherwise those of the data are waited for.
    """
    pieces = 1 if pieces is None else pieces
    if is_path(edges):
        words = _core.read_names(edges)
        if words is None:
            vertices, numbers = _core.read_graph(edges)
            pairs = np.array(numbers, dtype=np.int64).reshape(-1, 2)
            return _graph(pairs, vertices, k, pieces, os.fspath(edges))
        edges = [line for line in words if len(line) != 1]
    elif _is_frame(edges):
        edges = _edges_of_frame(edges)
    if scipy.sparse.issparse(edges):
        if edges.shape[0] != edges.shape[1]:
            raise ValueError(f"edges: an adjacency matrix is square, not of shape {edges.shape}")
        upper = scipy.sparse.triu(edges + edges.T, k=1).tocoo()
        pairs = np.stack([upper.row, upper.col], axis=1).astype(np.int64)
        return _graph(pairs, edges.shape[0], k, pieces)
    if (
        not isinstance(edges, np.ndarray)
        and _are_names(list(edges))
        or getattr(edges, "dtype", None) == object
    ):
        ends = [[str(end) for end in edge] for edge in edges]
        if any(len(edge) != 2 for edge in ends):
            raise ValueError("edges: two entries per edge are needed")
        return _named(f"graph:{k}:{pieces}", _graph_by_names, (ends, k, pieces), names)
    pairs = _whole_numbers("edges", edges, dimensions=2)
    if pairs.shape[1] != 2:
        raise ValueError(f"edges: two entries per edge are needed, not an array of shape {pairs.shape}")
    last = int(pairs.max(initial=-1))
    n_entries = last + 1 if n_entries is None else n_entries
    if pairs.min(initial=0) < 0 or last >= n_entries or (pairs[:, 0] == pairs[:, 1]).any():
        raise ValueError(f"edges: an edge joins two different entries of 0..{n_entries - 1}")
    return _graph(pairs, n_entries, k, pieces)


def _edges_of_frame(frame: Any) -> Any:
    if frame.shape[1] == 2:
        return frame.to_numpy().tolist()
    if list(frame.index) != list(frame.columns):
        raise ValueError(
            "edges: a frame has two columns, the ends of edges, or the same names on both sides (adjacency)"
        )
    first, second = np.nonzero(np.triu(frame.to_numpy() != 0, k=1) | np.tril(frame.to_numpy() != 0, k=-1).T)
    return [[str(frame.index[i]), str(frame.index[j])] for i, j in zip(first, second)]


def _graph(pairs: NDArray[np.int64], n_entries: int, k: int, pieces: int, source: str = "") -> AtomSet:
    core = _core.graph_atoms(n_entries, [(i, j) for i, j in pairs.tolist()], k, pieces, source)
    return AtomSet(core, (_graph, (pairs, n_entries, k, pieces, source)))


def _graph_by_names(names: Names, edges: list[list[str]], k: int, pieces: int) -> AtomSet:
    ends = [names.find(edge, "edges", unknown="pass over") for edge in edges]
    pairs = np.array([edge for edge in ends if len(edge) == 2], dtype=np.int64).reshape(-1, 2)
    if len(pairs) == 0:
        raise ValueError(
            f"edges: none joins two entries of the data; names of entries look like {names.values[0]!r}"
        )
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise ValueError("edges: an edge joins two different entries")
    return _graph(pairs, len(names), k, pieces)


# ---- masks


def support(mask: Any, *, names: Sequence[Any] | None = None) -> Any:
    """Entries outside a mask are zero.

    Parameters
    ----------
    mask : array, list of names, Series or path
        1 for every entry inside and 0 for the others; the names of those inside; a Series of booleans by name; or a
        file with either.
    names : sequence, optional
        Of the entries, where the mask calls them by names; otherwise those of the data are waited for.
    """
    if is_path(mask):
        words = _names_of_mask(mask)
        if words is None:
            return _support(np.array(_core.read_mask(mask), dtype=bool), os.fspath(mask))
        mask = [name for line in words for name in line]
    elif _is_series(mask):
        mask = [str(name) for name in mask.index[mask.to_numpy().astype(bool)]]
    if _are_names(mask):
        return _named("support", _support_by_names, (list(mask),), names)
    marks = np.asarray(mask)
    if marks.ndim != 1 or not np.isin(marks, [0, 1]).all():
        raise ValueError("mask: a vector of 0 and 1, or False and True, is needed")
    return _support(marks.astype(bool))


def _names_of_mask(path: Path) -> list[list[str]] | None:
    """None for a matrix of numbers, which may have any format."""
    try:
        _core.read_mask(path)
    except ValueError:
        return _core.read_names(path)
    return None


def _support(mask: NDArray[np.bool_], source: str = "") -> AtomSet:
    core = _core.support_atoms(mask.astype(np.uint8).tolist(), source)
    return AtomSet(core, (_support, (mask, source)))


def _support_by_names(names: Names, inside: list[str]) -> AtomSet:
    mask = np.zeros(len(names), dtype=bool)
    mask[names.find(inside, "mask")] = True
    return _support(mask)


# ---- dictionaries


def dictionary(columns: Path | ArrayLike) -> AtomSet:
    """One of the columns of a matrix, an array, sparse or a file, up to sign; "dct" and "haar" are built in.

    Examples
    --------
    >>> from pursuit import atoms
    >>> atoms.dictionary([[1.0, 1.0], [0.0, 1.0]]).maximize([-1.0, -2.0])
    array([-0.70710678, -0.70710678])
    """
    return _of_columns("dictionary", columns)


def span(columns: Path | ArrayLike) -> AtomSet:
    """Any combination of the columns of a matrix: an array, sparse or a file."""
    return _of_columns("span", columns)


def sparse_in(columns: Path | ArrayLike, k: int) -> AtomSet:
    """A combination of at most k columns of a matrix, an array, sparse or a file; "dct" and "haar" are built
    in."""
    return _of_columns("sparse-in", columns, k)


def _of_columns(name: str, columns: Any, k: int | None = None) -> AtomSet:
    if is_path(columns):
        return spec_of(name, quoted(columns), k)
    if scipy.sparse.issparse(columns):
        matrix = scipy.sparse.csc_matrix(columns, dtype=np.float64)
    else:
        matrix = np.array(columns, dtype=np.float64, order="F")
        if matrix.ndim != 2:
            raise ValueError(f"columns: a matrix is needed, not an array of shape {matrix.shape}")
    return _columns(name, matrix, k)


def _columns(name: str, matrix: Any, k: int | None) -> AtomSet:
    return AtomSet(_core.dictionary_atoms(name, matrix, k), (_columns, (name, matrix, k)))
