"""Atom sets as objects, strings and functions."""

import pickle

import numpy as np
import pytest
import scipy.sparse
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


def calls_for(file):
    return {
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


def test_every_set_of_the_catalogue_has_a_function(tmp_path, rng):
    file = tmp_path / "file.txt"
    calls = calls_for(file)
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


def test_sets_about_entries_take_data_or_files(tmp_path, rng):
    g = rng.standard_normal(6)
    columns = rng.standard_normal((6, 3))
    np.save(tmp_path / "columns.npy", columns)
    (tmp_path / "groups.txt").write_text("0 1\n2 3\n4 5\n")
    (tmp_path / "tree.txt").write_text("-1\n0\n0\n1\n1\n2\n")
    (tmp_path / "edges.txt").write_text("0 1\n1 2\n2 3\n3 4\n4 5\n")
    (tmp_path / "mask.csv").write_text("1\n0\n1\n0\n1\n1\n")
    edges = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]
    adjacency = scipy.sparse.coo_matrix((np.ones(5), np.transpose(edges)), shape=(6, 6))
    file = tmp_path.joinpath
    pairs = [
        (atoms.group([[0, 1], [2, 3], [4, 5]], 1), atoms.group(file("groups.txt"), 1)),
        (atoms.group(np.array([7, 7, 8, 8, 9, 9]), 2, 1), atoms.group(file("groups.txt"), 2, 1)),
        (atoms.tree([-1, 0, 0, 1, 1, 2], 3), atoms.tree(file("tree.txt"), 3)),
        (atoms.graph(edges, 2), atoms.graph(file("edges.txt"), 2)),
        (atoms.graph(adjacency, 3, 2), atoms.graph(file("edges.txt"), 3, 2)),
        (atoms.support([True, False, True, False, True, True]), atoms.support(file("mask.csv"))),
        (atoms.dictionary(columns), atoms.dictionary(file("columns.npy"))),
        (atoms.dictionary(scipy.sparse.csr_matrix(columns)), atoms.dictionary(file("columns.npy"))),
        (atoms.span(columns.tolist()), atoms.span(file("columns.npy"))),
        (atoms.sparse_in(columns, 2), atoms.sparse_in(file("columns.npy"), 2)),
    ]
    for by_data, by_file in pairs:
        assert_allclose(by_data.maximize(g), by_file.maximize(g), atol=1e-12, err_msg=by_file.spec)
        assert by_data.spec.startswith("custom:") and pickle.loads(pickle.dumps(by_data)) == by_data
        assert by_data != by_file
    assert atoms.support([1, 0]) != atoms.support([0, 1])
    X = rng.standard_normal((10, 6))
    fitted = pursuit.MatrixPursuit(2, right=atoms.support([1, 1, 0, 1, 0, 0]), random_state=0).fit(X)
    assert not fitted.components_[:, [2, 4, 5]].any()


@pytest.mark.parametrize("name", ["c++", "a|b", "x:3", "1,2", 'say "hi"'])
def test_files_may_have_any_name(tmp_path, name):
    path = tmp_path / f"{name}.txt"
    path.write_text("0 1\n2 3\n")
    made = atoms.group(path, 1)
    assert atoms.parse(made.spec) == made == atoms.group(str(path), 1)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: atoms.group([[0, 1], [1, 2]], 1), "entries"),
        (lambda: atoms.group([[0, 1], [3]], 1), "entries"),
        (lambda: atoms.group([], 1), "entries"),
        (lambda: atoms.group([[0.5], [1.0]], 1), "entries"),
        (lambda: atoms.tree([0.5, 1.0], 1), "parents"),
        (lambda: atoms.tree([1, 0], 1), "cycle"),
        (lambda: atoms.graph([[0, 1, 2]], 1), "edges"),
        (lambda: atoms.graph([[0, 0]], 1), "edges"),
        (lambda: atoms.graph([[0, 5]], 1, n_entries=3), "edges"),
        (lambda: atoms.graph(scipy.sparse.coo_matrix((2, 3)), 1), "edges"),
        (lambda: atoms.support([0, 2]), "mask"),
        (lambda: atoms.dictionary([1.0, 2.0]), "columns"),
        (lambda: atoms.span(np.zeros((0, 2))), "empty|columns"),
        (lambda: atoms.dictionary([[np.nan, 1.0]]), "nan|finite"),
    ],
)
def test_data_that_make_no_set(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_numbers_of_any_size_go_into_specs():
    assert atoms.box(-1e16, 1e16).spec == "box:-1e+16:1e+16"
    assert atoms.parse("lp:1e+20") == atoms.lp(1e20)


def test_vectors_without_entries_are_refused(tmp_path):
    file = tmp_path / "file.txt"
    for name, _, _, text in _core.catalogue():
        if name == "plugin":
            continue
        file.write_text(text)
        made = getattr(atoms, name.replace("-", "_"))(*calls_for(file).get(name, ()))
        with pytest.raises(ValueError, match="without entries"):
            made.maximize([])
        with pytest.raises(ValueError, match="without entries"):
            made.fit([], [])
        with pytest.raises(ValueError, match="differ in length"):
            made.fit([1.0], [1.0, 2.0])
        assert not made.contains([])


def test_every_atom_can_have_its_own_bound(parts):
    model = pursuit.MatrixPursuit(3, right=atoms.sparse([6, 4, 2]), random_state=0).fit(parts)
    assert np.count_nonzero(model.components_, axis=1).tolist() == [6, 4, 2]


def test_a_missing_file_is_named():
    with pytest.raises(ValueError, match="nowhere.txt"):
        atoms.support("nowhere.txt")
