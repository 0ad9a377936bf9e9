"""Atom sets as objects, strings and functions."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pursuit
from pursuit import _core, atoms


def signs(g):
    return np.where(g < 0, -1.0, 1.0) / np.sqrt(g.size)


def unit(g):
    norm = np.linalg.norm(g)
    return g / norm if norm > 0 else np.eye(g.size)[0]


def test_objects_and_strings_are_the_same(parts):
    by_object = pursuit.MatrixPursuit(3, right=atoms.sparse(4) & atoms.nonneg(), random_state=0).fit(parts)
    by_string = pursuit.MatrixPursuit(3, right="nonneg+sparse:4", random_state=0).fit(parts)
    assert (by_object.components_ == by_string.components_).all()


def test_sets_are_values():
    both = atoms.sparse(300) & "nonneg"
    assert both == atoms.parse("nonneg+sparse:300") and hash(both) == hash(atoms.parse("nonneg+sparse:300"))
    assert both != atoms.sparse(300)
    assert pickle.loads(pickle.dumps(both)) == both
    assert repr(both) == "AtomSet('nonneg+sparse:300')"
    own = atoms.custom(signs, symmetric=True)
    assert pickle.loads(pickle.dumps(own)) == own and own.symmetric
    assert own != atoms.custom(unit, name="signs", symmetric=True)


def test_oracles(rng):
    g = rng.standard_normal(9)
    u = atoms.sparse(2).maximize(g)
    kept = np.sort(np.argsort(-np.abs(g))[:2])
    assert np.flatnonzero(u).tolist() == kept.tolist()
    assert_allclose(u @ g, np.linalg.norm(g[kept]))
    t, u = atoms.nonneg().fit(np.full(9, 2.0), g, nonnegative=True)
    assert_allclose(t * u, np.maximum(g, 0) / 2)
    assert atoms.sphere().contains(u) and not atoms.sphere().contains(2 * u)


def test_a_function_is_an_atom_set(rng):
    X = rng.standard_normal((20, 10))
    by_function = pursuit.MatrixPursuit(2, right=lambda g: unit(g), random_state=0, tol=1e-12).fit(X)
    svd = pursuit.MatrixPursuit(2).fit(X)
    assert_allclose(by_function.relative_error_, svd.relative_error_, rtol=1e-6)


def test_a_function_gets_a_read_only_view(rng):
    seen = []

    def look(g):
        seen.append((g.flags.owndata, g.flags.writeable, g.dtype, g.shape))
        return unit(g)

    pursuit.MatrixPursuit(1, right=look, random_state=0).fit(rng.standard_normal((20, 10)))
    assert set(seen) == {(False, False, np.dtype(float), (10,))}


def test_a_function_may_answer_its_argument(rng):
    assert atoms.custom(lambda g: g, name="itself").maximize([0.6, 0.8]).tolist() == [0.6, 0.8]


def test_a_function_must_not_keep_its_argument(rng):
    kept = []

    def keeper(g):
        kept.append(g[2:])
        return unit(g)

    with pytest.raises(ValueError, match="'keeper' kept its argument.*g.copy()"):
        atoms.custom(keeper).maximize([3.0, 4.0, 0.0])
    with pytest.raises(ValueError, match="kept its argument"):
        atoms.custom(lambda g: kept.append(g) or unit(g)).maximize([3.0, 4.0, 0.0])
    assert kept[-1].tolist() == [3.0, 4.0, 0.0]


class Unusual(Exception):
    def __init__(self, number, text):
        super().__init__(number, text)
        self.number = number


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_a_function_raises_comes_back_as_it_was(rng, jobs):
    thrown = Unusual(7, "seven")

    def failing(g):
        raise thrown

    with pytest.raises(Unusual) as caught:
        pursuit.MatrixPursuit(2, right=failing, n_jobs=jobs).fit(rng.standard_normal((20, 10)))
    assert caught.value is thrown
    assert caught.traceback[-1].name == "failing"
    assert np.isfinite(caught.traceback[-1].locals["g"]).all()  # what a debugger would look at


@pytest.mark.parametrize(
    "answer, error, message",
    [
        (lambda g: g[:-1].copy(), ValueError, "shape \\(9,\\) to a vector of 10"),
        (lambda g: np.ones((10, 1)), ValueError, "shape \\(10, 1\\)"),
        (lambda g: g * np.nan, ValueError, "not finite"),
        (lambda g: None, (TypeError, ValueError), "atom function '<lambda>'|not finite"),
        (lambda g: "text", TypeError, "answered a str"),
    ],
)
def test_answers_that_make_no_sense(rng, answer, error, message):
    with pytest.raises(error, match=message):
        pursuit.MatrixPursuit(2, right=answer).fit(rng.standard_normal((20, 10)))


def test_membership_can_be_a_function_too():
    own = atoms.custom(signs, contains=lambda u, tolerance: bool(np.ptp(np.abs(u)) <= tolerance))
    assert own.contains(np.full(4, -0.5)) and not own.contains([1.0, 0.0])
    assert atoms.custom(signs).contains([0.5, -0.5, 0.5, 0.5])
    assert not atoms.custom(signs).contains([1.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("spec", ["", "sparce:3", "sparse:0", "sparse:x", "sparse:1.5", "custom:signs"])
def test_specs_that_are_not_known(spec):
    with pytest.raises(ValueError, match="sparse|atom set"):
        atoms.parse(spec)


def test_what_is_no_atom_set(parts):
    with pytest.raises(TypeError, match="no atom set"):
        pursuit.MatrixPursuit(2, left=3).fit(parts)
    with pytest.raises(ValueError, match="cannot be combined"):
        atoms.custom(signs) & atoms.nonneg()
    with pytest.raises(ValueError, match="a vector is needed"):
        atoms.sphere().maximize(np.ones((2, 2)))
    with pytest.raises(ValueError, match="nan"):
        atoms.sphere().maximize([1.0, np.nan])


def test_every_set_of_the_catalogue_has_a_function(tmp_path, rng):
    file = tmp_path / "file.txt"
    calls = {
        "group": (file, 2),
        "tree": (file, 3),
        "graph": (file, 3),
        "support": (file,),
        "dictionary": ("dct",),
        "span": (file,),
        "sparse-in": ("haar", 2),
        "sparse": (3,),
        "l1ball": (1.5,),
        "lp": (1.5,),
        "block": (3,),
        "blocks": (2, 2),
        "smooth": (0.1,),
        "fused": (2,),
        "box": (1, 2),
    }
    g = rng.standard_normal(12)
    for name, _, _, text in _core.catalogue():
        function = getattr(atoms, name.replace("-", "_"))
        if name == "plugin":
            continue  # needs a compiler
        file.write_text(text)
        made = function(*calls.get(name, ()))
        assert made.spec.startswith(name) or name in ("onehot",), (name, made.spec)
        assert made.contains(made.maximize(g)), name
        assert pickle.loads(pickle.dumps(made)) == made


def test_every_atom_can_have_its_own_bound(parts):
    model = pursuit.MatrixPursuit(3, right=atoms.sparse([6, 4, 2]), random_state=0).fit(parts)
    assert np.count_nonzero(model.components_, axis=1).tolist() == [6, 4, 2]


def test_a_missing_file_is_named():
    with pytest.raises(ValueError, match="nowhere.txt"):
        atoms.support("nowhere.txt")
