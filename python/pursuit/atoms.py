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

from typing import Sequence

from . import _core
from ._atom_sets import (
    AtomFunction,
    AtomSet,
    AtomsLike,
    NamedAtoms,
    Path,
    UntrustedSpec,
    _intersection,
    _rebuilt,
    as_atoms,
    custom,
    opens_files,
    parse,
    quoted,
    spec_of,
)
from ._entry_sets import (
    _columns,
    _graph,
    _group,
    _sets,
    _support,
    _tree,
    dictionary,
    graph,
    group,
    sets,
    span,
    sparse_in,
    support,
    tree,
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


def sphere() -> AtomSet:
    """All vectors of unit length."""
    return spec_of("sphere")


def nonneg() -> AtomSet:
    """Unit vectors without a negative entry."""
    return spec_of("nonneg")


def sparse(k: int | float | Sequence[int]) -> AtomSet:
    """Unit vectors with at most k non-zeros, or at most a fraction k < 1 of their entries; a list is for each
    atom its own."""
    return spec_of("sparse", k)


def l1ball(c: float) -> AtomSet:
    """Unit vectors with sum of absolute values at most c, from 1 to the root of their length."""
    return spec_of("l1ball", c)


def lp(p: float) -> AtomSet:
    """The unit ball of a p-norm, p >= 1 or infinite."""
    return spec_of("lp", p)


def block(k: int) -> AtomSet:
    """Non-zeros within one window of k neighbours."""
    return spec_of("block", k)


def blocks(k: int, count: int) -> AtomSet:
    """Non-zeros within so many windows of k neighbours each."""
    return spec_of("blocks", k, count)


def monotone(direction: str | None = None) -> AtomSet:
    """Never falling ("up"), never rising ("down"), or one of the two."""
    return spec_of("monotone", direction)


def unimodal() -> AtomSet:
    """Rising to a peak, falling after it."""
    return spec_of("unimodal")


def convex_shape() -> AtomSet:
    """Second differences not negative."""
    return spec_of("convex-shape")


def concave_shape() -> AtomSet:
    """Second differences not positive."""
    return spec_of("concave-shape")


def smooth(roughness: float) -> AtomSet:
    """Unit vectors whose neighbours differ little: the sum of squared differences is at most
    ``roughness``."""
    return spec_of("smooth", roughness)


def fused(pieces: int) -> AtomSet:
    """At most so many constant pieces."""
    return spec_of("fused", pieces)


def simplex() -> AtomSet:
    """Entries not negative, of sum 1."""
    return spec_of("simplex")


def box(low: float, high: float) -> AtomSet:
    """Entries from low to high."""
    return spec_of("box", low, high)


def sign() -> AtomSet:
    """Entries -1 or 1."""
    return spec_of("sign")


def binary() -> AtomSet:
    """Entries 0 or 1, scaled to unit length."""
    return spec_of("binary")


def onehot() -> AtomSet:
    """A single coordinate."""
    return spec_of("onehot")


def plugin(path: Path, name: str) -> AtomSet:
    """Your own set, from a C function in a shared object."""
    return spec_of("plugin", quoted(path), name)
