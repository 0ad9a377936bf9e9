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
        "sets": (file, 2),
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


GENES = ["ACTB", "BAX", "MYC", "TP53", "a b"]


def test_entries_are_called_by_name(tmp_path):
    g = np.array([9.0, 1.0, 4.0, 3.0, 2.0])
    pandas = pytest.importorskip("pandas")
    gmt = tmp_path / "pathways.gmt"
    gmt.write_text("growth\tx\tMYC\tTP53\tEGFR\ndeath\tx\tTP53\tBAX\n")
    pathways = {"growth": ["MYC", "TP53", "EGFR"], "death": ["TP53", "BAX"]}
    table = pandas.DataFrame({"growth": [0, 0, 1, 1, 0], "death": [0, 1, 0, 1, 0]}, index=GENES)
    for made in (
        atoms.sets(pathways, 1),
        atoms.sets(list(pathways.values()), 1),
        atoms.sets(gmt, 1),
        atoms.sets(table, 1),
    ):
        assert_allclose(made.with_names(GENES).maximize(g), [0, 0, 0.8, 0.6, 0])
        again = pickle.loads(pickle.dumps(made))
        assert again == made and again.with_names(GENES) == made.with_names(GENES)
    gmt.unlink()
    assert_allclose(atoms.sets(table.to_numpy(), 1).maximize(g), [0, 0, 0.8, 0.6, 0])
    assert_allclose(atoms.sets(scipy.sparse.csr_matrix(table.to_numpy()), 1).maximize(g), [0, 0, 0.8, 0.6, 0])
    assert_allclose(atoms.sets([[2, 3], [1, 3]], 1).maximize(g), [0, 0, 0.8, 0.6, 0])

    groups = {"one": ["ACTB", "a b"], "two": ["BAX", "MYC", "TP53"]}
    by_label = pandas.Series(["one", "two", "two", "two", "one"], index=GENES)
    by_number = atoms.group([[0, 4], [1, 2, 3]], 1).maximize(g)
    for made in (atoms.group(groups, 1), atoms.group(by_label, 1)):
        assert_allclose(made.with_names(GENES).maximize(g), by_number)
    assert_allclose(atoms.group(groups, 1, names=GENES).maximize(g), by_number)

    tree = {"BAX": "ACTB", "MYC": "BAX"}
    assert_allclose(
        atoms.tree(tree, 2, names=GENES).maximize(g), atoms.tree([-1, 0, 1, -1, -1], 2).maximize(g)
    )
    edges = [("ACTB", "BAX"), ("MYC", "TP53"), ("MYC", "EGFR")]
    expected = atoms.graph([[0, 1], [2, 3]], 2, n_entries=5).maximize(g)
    adjacency = pandas.DataFrame(0, index=GENES, columns=GENES)
    adjacency.loc["ACTB", "BAX"] = adjacency.loc["TP53", "MYC"] = 1
    for made in (
        atoms.graph(edges, 2),
        atoms.graph(pandas.DataFrame(edges, columns=["from", "to"]), 2),
        atoms.graph(adjacency, 2),
    ):
        assert_allclose(made.with_names(GENES).maximize(g), expected)
    for mask in (["MYC", "TP53"], pandas.Series([False, False, True, True, False], index=GENES)):
        assert_allclose(atoms.support(mask, names=GENES).maximize(g), [0, 0, 0.8, 0.6, 0])


def test_names_that_are_not_there():
    for make, message in (
        (lambda: atoms.group({"a": ["ACTB", "XYZ"]}, 1, names=GENES), "'XYZ'"),
        (lambda: atoms.group({"a": ["ACTB"], "b": ["ACTB"]}, 1, names=GENES), "more than one group"),
        (lambda: atoms.group({"a": ["ACTB"]}, 1, names=GENES), "4 are in no group, the first is 'BAX'"),
        (lambda: atoms.sets({"a": ["XYZ"]}, 1, names=GENES), "no set names an entry"),
        (lambda: atoms.tree({"XYZ": "ACTB"}, 1, names=GENES), "'XYZ'"),
        (lambda: atoms.graph([("X", "Y")], 1, names=GENES), "none joins"),
        (lambda: atoms.support(["XYZ"], names=GENES), "'XYZ'"),
        (lambda: atoms.support(["a"], names=["a", "a"]), "more than one entry"),
        (lambda: atoms.as_atoms(atoms.support(["MYC"])), "calls entries by names"),
    ):
        with pytest.raises(ValueError, match=message):
            make()


def test_sets_of_files_live_without_them(tmp_path):
    files = {
        "group": ("0 1\n2 3\n", 1),
        "sets": ("0 1\n1 2\n3\n", 1),
        "tree": ("-1\n0\n0\n1\n", 2),
        "graph": ("0 1\n1 2\n2 3\n", 2),
        "support": ("1\n0\n1\n0\n", None),
    }
    g = np.array([1.0, 3.0, 2.0, 0.5])
    for name, (text, number) in files.items():
        path = tmp_path / f"{name}.csv"
        path.write_text(text)
        made = getattr(atoms, name)(path, *([] if number is None else [number]))
        kept = pickle.dumps(made)
        path.unlink()
        assert_allclose(pickle.loads(kept).maximize(g), made.maximize(g), err_msg=name)
        assert made.spec.startswith(name)


def test_models_keep_sets_when_the_file_is_gone(tmp_path, rng):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rng.standard_normal((20, 5)), columns=GENES)
    gmt = tmp_path / "p.gmt"
    gmt.write_text("growth\tx\tMYC\tTP53\tEGFR\ndeath\tx\tTP53\tBAX\n")
    by_name = pursuit.MatrixPursuit(2, right=atoms.nonneg() & atoms.sets(gmt, 1), random_state=0).fit(frame)
    assert not by_name.components_[:, [0, 4]].any() and (by_name.components_ >= 0).all()
    by_spec = pursuit.MatrixPursuit(2, right=f"nonneg+sets:{gmt}:1", random_state=0).fit(frame)
    assert_allclose(by_name.components_, by_spec.components_)
    by_name.save(tmp_path / "model.npz")
    pca = pursuit.SparsePCA(2, atoms=atoms.sets(gmt, 1), random_state=0).fit(frame)
    assert not pca.components_[:, [0, 4]].any()
    pca.save(tmp_path / "pca.npz")
    gmt.unlink()
    for original, file in ((by_name, "model.npz"), (pca, "pca.npz")):
        loaded = pursuit.load(tmp_path / file)
        assert_allclose(
            loaded.set_params(random_state=0).fit(frame).components_, original.components_, atol=1e-9
        )
        assert_allclose(pickle.loads(pickle.dumps(original)).fit(frame).components_, original.components_)
    with pytest.raises(ValueError, match="calls entries by names"):
        by_name.fit(frame.to_numpy())
    rows = pursuit.MatrixPursuit(1, left=atoms.support(["a", "c"]), random_state=0)
    assert not rows.fit(frame.iloc[:4].set_axis(list("abcd"))).left_[[1, 3]].any()
    choice = pursuit.choose_rank(frame, [1], right=atoms.support(["MYC", "BAX"]), folds=2, random_state=0)
    assert choice.rank == 1
