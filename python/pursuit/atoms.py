"""Atom sets: the structure that factors may have.

A set is an object of this module, its spec as a string, or a plain function:

>>> import pursuit
>>> pursuit.atoms.sparse(300) & pursuit.atoms.nonneg()
AtomSet('nonneg+sparse:300')
>>> pursuit.atoms.parse("nonneg+sparse:300") == pursuit.atoms.sparse(300) & pursuit.atoms.nonneg()
True

A function answers to a vector g with the member u of its set for which <u, g> is largest. The one below is
the set of unit vectors whose entries are all equal in size:

>>> import numpy as np
>>> def signs(g):
...     return np.where(g < 0, -1.0, 1.0) / np.sqrt(g.size)
>>> pursuit.atoms.custom(signs, symmetric=True).maximize([3.0, -1.0, 2.0, 5.0])
array([ 0.5, -0.5,  0.5,  0.5])
"""

from __future__ import annotations

import os
import re
from typing import Any, Callable, Sequence, Union

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from . import _core

Path = Union[str, "os.PathLike[str]"]
AtomFunction = Callable[[NDArray[np.float64]], ArrayLike]
AtomsLike = Union["AtomSet", str, AtomFunction]


class AtomSet:
    """A compact set of vectors, known by its oracles. Made by the functions of this module.

    Examples
    --------
    >>> from pursuit import atoms
    >>> a = atoms.nonneg() & atoms.sparse(2)
    >>> a.spec
    'nonneg+sparse:2'
    >>> a.maximize([3.0, -7.0, 4.0, 0.5])
    array([0.6, 0. , 0.8, 0. ])
    >>> a.contains([0.6, 0.8, 0.0, 0.0]), a.contains([0.6, -0.8, 0.0, 0.0])
    (True, False)
    """

    def __init__(self, core: _core.Atoms, source: tuple[Callable[..., "AtomSet"], tuple[Any, ...]]) -> None:
        self._core = core
        self._source = source  # what makes this set again

    @property
    def spec(self) -> str:
        """The text that stands for the set, in model files and to the program."""
        return self._core.spec()

    @property
    def symmetric(self) -> bool:
        """Whether -u is a member wherever u is."""
        return self._core.symmetric()

    def __and__(self, other: AtomsLike) -> "AtomSet":
        """The vectors that are in both sets; ValueError where that has no exact oracle."""
        other = as_atoms(other)
        return AtomSet(self._core.combine(other._core), (_intersection, (self, other)))

    def contains(self, u: ArrayLike, tolerance: float = 1e-9) -> bool:
        """Whether u is a member; ``tolerance`` forgives rounding in its norm, never a non-zero or a sign."""
        return self._core.contains(_vector(u), tolerance)

    def maximize(self, g: ArrayLike) -> NDArray[np.float64]:
        """The member u for which <u, g> is largest."""
        return self._core.maximize(_vector(g))

    def fit(
        self, a: ArrayLike, b: ArrayLike, *, nonnegative: bool = False
    ) -> tuple[float, NDArray[np.float64]]:
        """The scale t and member u for which x = t u minimises sum(a * x**2 - 2 * b * x).

        Examples
        --------
        >>> from pursuit import atoms
        >>> atoms.sphere().fit([1.0, 1.0], [3.0, 4.0])
        (5.0, array([0.6, 0.8]))
        """
        return self._core.fit(_vector(a), _vector(b), nonnegative)

    def __repr__(self) -> str:
        return f"AtomSet({self.spec!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AtomSet):
            return NotImplemented
        return _same(self._source, other._source) or (
            self.spec == other.spec and not self.spec.startswith("custom:")
        )

    def __hash__(self) -> int:
        return hash(self.spec)

    def __reduce__(self) -> tuple[Callable[..., "AtomSet"], tuple[Any, ...]]:
        return self._source


class UntrustedSpec(str):
    """A spec out of a model file that would open files, or run code, of whoever wrote the file. It is kept as
    it is, by copies too, and never becomes a set."""


def opens_files(spec: str) -> bool:
    """Whether the set of a spec may be made of more than the spec itself: in doubt, yes."""
    built_in = r"(dictionary:(dct|haar)|sparse-in:(dct|haar):[0-9]+)(?![^+|])"
    rest = re.sub(built_in, "", spec)
    return any(name in rest for name, form, *_ in _core.catalogue() if "FILE" in form or "PATH" in form)


def _vector(values: ArrayLike) -> NDArray[np.float64]:
    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim != 1:
        raise ValueError(f"a vector is needed, not an array of shape {vector.shape}")
    return vector


def _intersection(a: AtomSet, b: AtomSet) -> AtomSet:
    return a & b


def parse(spec: str) -> AtomSet:
    """The set of a spec, as the program takes it: ``"sphere"``, ``"nonneg+sparse:40"``, ..."""
    if isinstance(spec, UntrustedSpec):
        raise ValueError(
            f"the model file names the atom set '{spec}', which opens a file or runs code of a library: "
            "where you trust the file, load it by pursuit.load(..., trusted=True); otherwise set another one"
        )
    return AtomSet(_core.parse_atoms(spec), (parse, (spec,)))


def custom(
    maximize: AtomFunction,
    *,
    name: str | None = None,
    contains: Callable[[NDArray[np.float64], float], bool] | None = None,
    symmetric: bool = False,
) -> AtomSet:
    """A set of unit vectors given by a function.

    Parameters
    ----------
    maximize : callable
        g -> the member u for which <u, g> is largest. It gets a read-only view that lives as long as the
        call, and must give back as many finite numbers. What it raises comes back as it was raised.
    name : str, optional
        For messages and model files; by default that of the function.
    contains : callable, optional
        (u, tolerance) -> whether u is a member. By default, whether ``maximize(u)`` gives u back.
    symmetric : bool, default=False
        Whether -u is a member wherever u is. Where it is not said and weights may be negative, the oracle is
        asked about g and -g.
    """
    if not callable(maximize):
        raise TypeError(f"maximize={maximize!r}: must be a function of one vector")
    label = name if name is not None else getattr(maximize, "__name__", type(maximize).__name__)
    core = _core.custom_atoms(label, maximize, contains, symmetric)
    return AtomSet(core, (_rebuilt, (maximize, label, contains, symmetric)))


def _rebuilt(maximize: AtomFunction, name: str, contains: Any, symmetric: bool) -> AtomSet:
    return custom(maximize, name=name, contains=contains, symmetric=symmetric)


def as_atoms(value: AtomsLike) -> AtomSet:
    """An atom set from whatever stands for one: a set, a spec, a function."""
    if isinstance(value, AtomSet):
        return value
    if isinstance(value, str):
        return parse(value)
    if callable(value):
        return custom(value)
    raise TypeError(
        f"{value!r} is no atom set: give a spec such as 'nonneg', an AtomSet, or a function of a vector"
    )


def catalogue() -> dict[str, str]:
    """What every set is in a few words, by the form of its spec.

    Examples
    --------
    >>> from pursuit import atoms
    >>> atoms.catalogue()["nonneg"]
    'no negative entry'
    """
    return {form: summary for _, form, summary, _ in _core.catalogue()}


def _spec(name: str, *parameters: Any) -> AtomSet:
    """The set of a name with parameters; those that are None are left out, numbers of a list are for one atom
    each."""
    texts = [_text(each) for each in parameters if each is not None]
    return parse(":".join([name, *texts]))


def _text(parameter: Any) -> str:
    if isinstance(parameter, (list, tuple)):
        return ",".join(map(_text, parameter))
    return os.fspath(parameter) if isinstance(parameter, os.PathLike) else str(parameter)


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def _quoted(path: Any) -> str:
    """A path as a spec holds it: in quotes where a character means something there."""
    text = os.fspath(path)
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ':+|,"') else text


def _whole_numbers(name: str, values: ArrayLike, dimensions: int = 1) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.size == 0 or array.ndim != dimensions or not np.issubdtype(array.dtype, np.integer):
        shape = f"an array of {array.dtype} of shape {array.shape}"
        raise ValueError(f"{name}: whole numbers in {dimensions} dimension(s) are needed, not {shape}")
    return array.astype(np.int64)


def _labels(given: Any) -> NDArray[np.int64]:
    """The group of every entry, 0, 1, ..., from the entries of every group or the label of every entry."""
    if not any(isinstance(each, (list, tuple, set, range, np.ndarray)) for each in given):
        labels = np.asarray(given)
        if labels.ndim != 1 or labels.size == 0:
            raise ValueError("entries: the entries of every group, or the label of every entry, are needed")
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)
    members = [_whole_numbers("entries", sorted(each)) for each in given]
    entries = np.concatenate(members)
    if not np.array_equal(np.sort(entries), np.arange(entries.size)):
        last = max(entries.size - 1, int(entries.max()))
        raise ValueError(f"entries: every entry of 0..{last} must be in one group, and in one only")
    group_of = np.empty(entries.size, dtype=np.int64)
    group_of[entries] = np.repeat(np.arange(len(members)), [each.size for each in members])
    return group_of


def _same(a: Any, b: Any) -> bool:
    """Equality of what sets are made from, data included."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    if scipy.sparse.issparse(a) and scipy.sparse.issparse(b):
        return a.shape == b.shape and (a != b).nnz == 0
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return type(a) is type(b) and bool(a == b)


def sphere() -> AtomSet:
    """All vectors of unit length."""
    return _spec("sphere")


def nonneg() -> AtomSet:
    """Unit vectors without a negative entry."""
    return _spec("nonneg")


def sparse(k: int | float | Sequence[int]) -> AtomSet:
    """Unit vectors with at most k non-zeros, or at most a fraction k < 1 of their entries; a list is for each
    atom its own."""
    return _spec("sparse", k)


def l1ball(c: float) -> AtomSet:
    """Unit vectors with sum of absolute values at most c, from 1 to the root of their length."""
    return _spec("l1ball", c)


def lp(p: float) -> AtomSet:
    """The unit ball of a p-norm, p >= 1 or infinite."""
    return _spec("lp", p)


def group(
    entries: Path | Sequence[Sequence[int]] | ArrayLike, groups: int, per_group: int | None = None
) -> AtomSet:
    """At most so many ``groups`` of entries have non-zeros, at most ``per_group`` each.

    The groups are given as a list of lists of entries, counted from 0, as an array with the label of every
    entry, or as a file with one group per line.

    Examples
    --------
    >>> from pursuit import atoms
    >>> atoms.group([[0, 1], [2, 3]], 1).maximize([3.0, 4.0, 2.0, 1.0])
    array([0.6, 0.8, 0. , 0. ])
    >>> atoms.group(["a", "b", "a", "b"], 1) == atoms.group([[0, 2], [1, 3]], 1)
    True
    """
    if _is_path(entries):
        return _spec("group", _quoted(entries), groups, per_group)
    return _group(_labels(entries), groups, per_group)


def _group(group_of: NDArray[np.int64], groups: int, per_group: int | None) -> AtomSet:
    core = _core.group_atoms(group_of.tolist(), groups, per_group)
    return AtomSet(core, (_group, (group_of, groups, per_group)))


def tree(parents: Path | ArrayLike, k: int) -> AtomSet:
    """Non-zeros within k nodes of a tree that hang together at its root. The tree is given as the parent of
    every entry, -1 for a root, in an array or in a file with one per line."""
    if _is_path(parents):
        return _spec("tree", _quoted(parents), k)
    return _tree(_whole_numbers("parents", parents), k)


def _tree(parents: NDArray[np.int64], k: int) -> AtomSet:
    return AtomSet(_core.tree_atoms(parents.tolist(), k), (_tree, (parents, k)))


def graph(
    edges: Path | ArrayLike, k: int, pieces: int | None = None, *, n_entries: int | None = None
) -> AtomSet:
    """Non-zeros within k vertices of a graph in at most so many connected pieces (1).

    The graph is given as pairs of entries, with ``n_entries`` where the last ones have no edge, as a sparse
    adjacency matrix, or as a file with an edge on every line.
    """
    if _is_path(edges):
        return _spec("graph", _quoted(edges), k, pieces)
    if scipy.sparse.issparse(edges):
        if edges.shape[0] != edges.shape[1]:
            raise ValueError(f"edges: an adjacency matrix is square, not of shape {edges.shape}")
        n_entries = edges.shape[0]
        upper = scipy.sparse.triu(edges + edges.T, k=1).tocoo()
        pairs = np.stack([upper.row, upper.col], axis=1).astype(np.int64)
    else:
        pairs = _whole_numbers("edges", edges, dimensions=2)
        if pairs.shape[1] != 2:
            raise ValueError(f"edges: two entries per edge are needed, not an array of shape {pairs.shape}")
        last = int(pairs.max(initial=-1))
        n_entries = last + 1 if n_entries is None else n_entries
        if pairs.min(initial=0) < 0 or last >= n_entries or (pairs[:, 0] == pairs[:, 1]).any():
            raise ValueError(f"edges: an edge joins two different entries of 0..{n_entries - 1}")
    return _graph(pairs, n_entries, k, 1 if pieces is None else pieces)


def _graph(pairs: NDArray[np.int64], n_entries: int, k: int, pieces: int) -> AtomSet:
    core = _core.graph_atoms(n_entries, [(i, j) for i, j in pairs.tolist()], k, pieces)
    return AtomSet(core, (_graph, (pairs, n_entries, k, pieces)))


def block(k: int) -> AtomSet:
    """Non-zeros within one window of k neighbours."""
    return _spec("block", k)


def blocks(k: int, count: int) -> AtomSet:
    """Non-zeros within so many windows of k neighbours each."""
    return _spec("blocks", k, count)


def monotone(direction: str | None = None) -> AtomSet:
    """Never falling ("up"), never rising ("down"), or one of the two."""
    return _spec("monotone", direction)


def unimodal() -> AtomSet:
    """Rising to a peak, falling after it."""
    return _spec("unimodal")


def convex_shape() -> AtomSet:
    """Second differences not negative."""
    return _spec("convex-shape")


def concave_shape() -> AtomSet:
    """Second differences not positive."""
    return _spec("concave-shape")


def smooth(roughness: float) -> AtomSet:
    """Unit vectors whose neighbours differ little: the sum of squared differences is at most
    ``roughness``."""
    return _spec("smooth", roughness)


def fused(pieces: int) -> AtomSet:
    """At most so many constant pieces."""
    return _spec("fused", pieces)


def simplex() -> AtomSet:
    """Entries not negative, of sum 1."""
    return _spec("simplex")


def box(low: float, high: float) -> AtomSet:
    """Entries from low to high."""
    return _spec("box", low, high)


def sign() -> AtomSet:
    """Entries -1 or 1."""
    return _spec("sign")


def binary() -> AtomSet:
    """Entries 0 or 1, scaled to unit length."""
    return _spec("binary")


def onehot() -> AtomSet:
    """A single coordinate."""
    return _spec("onehot")


def support(mask: Path | ArrayLike) -> AtomSet:
    """Entries outside a mask are zero; an array or file with 1 for every entry inside and 0 for
    the others."""
    if _is_path(mask):
        return _spec("support", _quoted(mask))
    marks = np.asarray(mask)
    if marks.ndim != 1 or not np.isin(marks, [0, 1]).all():
        raise ValueError("mask: a vector of 0 and 1, or False and True, is needed")
    return _support(marks.astype(bool))


def _support(mask: NDArray[np.bool_]) -> AtomSet:
    return AtomSet(_core.support_atoms(mask.astype(np.uint8).tolist()), (_support, (mask,)))


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
    if _is_path(columns):
        return _spec(name, _quoted(columns), k)
    if scipy.sparse.issparse(columns):
        matrix = scipy.sparse.csc_matrix(columns, dtype=np.float64)
    else:
        matrix = np.array(columns, dtype=np.float64, order="F")
        if matrix.ndim != 2:
            raise ValueError(f"columns: a matrix is needed, not an array of shape {matrix.shape}")
    return _columns(name, matrix, k)


def _columns(name: str, matrix: Any, k: int | None) -> AtomSet:
    return AtomSet(_core.dictionary_atoms(name, matrix, k), (_columns, (name, matrix, k)))


def plugin(path: Path, name: str) -> AtomSet:
    """Your own set, from a C function in a shared object."""
    return _spec("plugin", _quoted(path), name)
