"""What an atom set is: its oracles, the specs and functions it is made from, and names that it waits for."""

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
AtomsLike = Union["AtomSet", "NamedAtoms", str, AtomFunction, "Sequence[Any]"]


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

    def __and__(self, other: AtomsLike) -> Any:
        """The vectors that are in both sets; ValueError where that has no exact oracle."""
        if isinstance(other, NamedAtoms):
            return other & self
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
        return same(self._source, other._source) or (
            self.spec == other.spec and not self.spec.startswith("custom:")
        )

    def __hash__(self) -> int:
        return hash(self.spec)

    def __reduce__(self) -> tuple[Callable[..., "AtomSet"], tuple[Any, ...]]:
        return self._source


class NamedAtoms:
    """A set that calls entries by names, and waits for those that the data have: `with_names` makes an `AtomSet` of
    it, and so does every `fit` to data with names. Made by the functions of `pursuit.atoms`; data are kept, files
    are not needed again."""

    def __init__(self, spec: str, make: Callable[..., AtomSet], data: tuple[Any, ...]) -> None:
        self.spec = spec
        self._make = make
        self._data = data

    def with_names(self, names: Sequence[Any]) -> AtomSet:
        """The set over entries that are called so, in their order.

        Parameters
        ----------
        names : sequence
            Of every entry: the columns of a frame, the genes of an AnnData.
        """
        return self._make(Names(names), *self._data)

    def __and__(self, other: AtomsLike) -> "NamedAtoms":
        spec = other if isinstance(other, str) else getattr(other, "spec", "custom")
        return NamedAtoms(f"{self.spec}+{spec}", _named_intersection, (self, other))

    __rand__ = __and__

    def __repr__(self) -> str:
        return f"NamedAtoms({self.spec!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NamedAtoms):
            return NotImplemented
        return self._make is other._make and same(self._data, other._data)

    def __hash__(self) -> int:
        return hash(self.spec)

    def __reduce__(self) -> tuple[Any, ...]:
        return NamedAtoms, (self.spec, self._make, self._data)


class Names:
    """Where every name stands."""

    def __init__(self, names: Sequence[Any]) -> None:
        self.values = [str(name) for name in names]
        self._place: dict[str, int] = {}
        self._twice = set()
        for place, name in enumerate(self.values):
            if self._place.setdefault(name, place) != place:
                self._twice.add(name)

    def __len__(self) -> int:
        return len(self.values)

    def find(self, names: Any, what: str, *, unknown: str = "refuse") -> list[int]:
        """Their places; names that no entry has are refused, or passed over."""
        wanted = [str(name) for name in names]
        missing = [name for name in wanted if name not in self._place]
        if missing and unknown == "refuse":
            raise ValueError(
                f"{what}: {len(missing)} name(s) that no entry has, the first is {missing[0]!r}; names of entries "
                f"look like {self.values[0]!r}"
            )
        twice = [name for name in wanted if name in self._twice]
        if twice:
            raise ValueError(f"{what}: {twice[0]!r} is the name of more than one entry")
        return [self._place[name] for name in wanted if name in self._place]


def _named_intersection(names: Names, *parts: AtomsLike) -> AtomSet:
    made = [as_atoms(part, names.values) for part in parts]
    return made[0] & made[1]


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


def _per_atom(*sets: AtomSet) -> AtomSet:
    """The first set is that of the first atom, and so on; the last one serves all further ones."""
    return AtomSet(_core.per_atom_atoms([each._core for each in sets]), (_per_atom, sets))


def _intersection(a: AtomSet, b: AtomSet) -> AtomSet:
    return a & b


def parse(spec: str, names: Sequence[Any] | None = None) -> AtomSet:
    """The set of a spec, as the program takes it: ``"sphere"``, ``"nonneg+sparse:40"``, ...

    Parameters
    ----------
    spec : str
    names : sequence, optional
        Of the entries, by which files may call them.
    """
    if isinstance(spec, UntrustedSpec):
        raise ValueError(
            f"the model file names the atom set '{spec}', which opens a file or runs code of a library: "
            "where you trust the file, load it by pursuit.load(..., trusted=True); otherwise set another one"
        )
    if names is None:
        return AtomSet(_core.parse_atoms(spec), (parse, (spec,)))
    texts = [str(name) for name in names]
    return AtomSet(_core.parse_atoms(spec, texts), (parse, (spec, texts)))


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


def as_atoms(value: AtomsLike, names: Sequence[Any] | None = None) -> AtomSet:
    """An atom set from whatever stands for one: a set, a spec, a function. ``names`` are those of the entries."""
    if isinstance(value, AtomSet):
        return value
    if isinstance(value, NamedAtoms):
        if names is None:
            raise ValueError(
                f"{value!r} calls entries by names, and the data have none: fit it to a frame, or make it with names=..."
            )
        return value.with_names(names)
    if isinstance(value, str):
        try:
            return parse(value)
        except _core.NamesNeeded:
            if names is None:
                raise
        return parse(value, names)
    if callable(value):
        return custom(value)
    if isinstance(value, (list, tuple)) and len(value) > 0:
        return _per_atom(*(as_atoms(each, names) for each in value))
    raise TypeError(
        f"{value!r} is no atom set: give a spec such as 'nonneg', an AtomSet, a function of a vector, or a list "
        "of them, one for every atom"
    )


def spec_of(name: str, *parameters: Any) -> AtomSet:
    """The set of a name with parameters; those that are None are left out, numbers of a list are for one atom
    each."""
    texts = [_text(each) for each in parameters if each is not None]
    return parse(":".join([name, *texts]))


def _text(parameter: Any) -> str:
    if isinstance(parameter, (list, tuple)):
        return ",".join(map(_text, parameter))
    return os.fspath(parameter) if isinstance(parameter, os.PathLike) else str(parameter)


def is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def quoted(path: Any) -> str:
    """A path as a spec holds it: in quotes where a character means something there."""
    text = os.fspath(path)
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ':+|,"') else text


def same(a: Any, b: Any) -> bool:
    """Equality of what sets are made from, data included."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if scipy.sparse.issparse(a) and scipy.sparse.issparse(b):
        return a.shape == b.shape and (a != b).nnz == 0
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return type(a) is type(b) and bool(a == b)
