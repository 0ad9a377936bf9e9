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
        return self._source == other._source or (
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
            f"the model file names the atom set '{spec}', which opens a file or runs code of a library: where "
            "you trust the file, load it by pursuit.load(..., trusted=True); otherwise set another one"
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


def group(file: Path, groups: int, per_group: int | None = None) -> AtomSet:
    """At most so many groups of entries active; the file has the entries of a group on every line, counted
    from 0."""
    return _spec("group", file, groups, per_group)


def tree(file: Path, k: int) -> AtomSet:
    """Non-zeros within k nodes of a tree that hang together at its root; the file has the parent of every
    entry, -1 for a root."""
    return _spec("tree", file, k)


def graph(file: Path, k: int, pieces: int | None = None) -> AtomSet:
    """Non-zeros within k vertices of a graph in at most so many connected pieces; the file has an edge on
    every line."""
    return _spec("graph", file, k, pieces)


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


def support(file: Path) -> AtomSet:
    """Entries outside a mask are zero; the file has 1 for every entry inside and 0 for the others."""
    return _spec("support", file)


def dictionary(file: Path) -> AtomSet:
    """One of the columns of a matrix file, up to sign; "dct" and "haar" are built in."""
    return _spec("dictionary", file)


def span(file: Path) -> AtomSet:
    """Any combination of the columns of a matrix file."""
    return _spec("span", file)


def sparse_in(file: Path, k: int) -> AtomSet:
    """A combination of at most k columns of a matrix file; "dct" and "haar" are built in."""
    return _spec("sparse-in", file, k)


def plugin(path: Path, name: str) -> AtomSet:
    """Your own set, from a C function in a shared object."""
    return _spec("plugin", path, name)
