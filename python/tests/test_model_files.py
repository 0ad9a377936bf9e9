"""Models written here are those of the program, and the other way round."""

import copy
import json
import os
import pickle
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

import pursuit

PROGRAM = os.environ.get("PURSUIT_PROGRAM", "pursuit")


def run(*arguments):
    result = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def with_metadata(path, **fields):
    archive = dict(np.load(path))
    archive["metadata"] = np.array(json.dumps({**json.loads(str(archive["metadata"])), **fields}))
    np.savez(path, **archive)


@pytest.mark.parametrize(
    "estimator",
    [
        pursuit.MatrixPursuit(3, left="nonneg", right="nonneg+sparse:6", weights="nonneg", random_state=0),
        pursuit.MatrixPursuit(3, right=lambda g: g / max(np.linalg.norm(g), 1e-300), random_state=0),
        pursuit.NMF(3, random_state=0),
        pursuit.TruncatedSVD(3),
        pursuit.SparsePCA(3, k=6, effort="low", random_state=0),
        pursuit.NonnegativeSparsePCA(2, k=6, effort="low", correlation=True, random_state=0),
    ],
    ids=lambda e: type(e).__name__,
)
def test_back_from_a_file_a_model_does_the_same(parts, estimator, tmp_path):
    frame = pd.DataFrame(parts, columns=[f"part {j}" for j in range(20)])
    estimator.fit(frame).save(tmp_path / "model.npz")
    again = pursuit.load(tmp_path / "model.npz")
    assert type(again) is type(estimator)
    wanted, got = estimator.get_params(), again.get_params()
    functions = [name for name, value in wanted.items() if callable(value)]
    assert all(got[name] == wanted[name] for name in wanted if name not in functions)
    assert_allclose(again.transform(frame), estimator.transform(frame), atol=1e-12)
    assert_allclose(again.score(frame), estimator.score(frame))
    assert_allclose(again.explained_variance_ratio_, estimator.explained_variance_ratio_)
    assert (again.feature_names_in_ == estimator.feature_names_in_).all()
    again.save(tmp_path / "again.npz")
    assert_allclose(pursuit.load(tmp_path / "again.npz").components_, estimator.components_)


def test_the_program_inspects_what_was_fitted_here(parts, tmp_path):
    model = pursuit.MatrixPursuit(4, right="sparse:5", random_state=0).fit(parts)
    model.save(tmp_path / "model.npz")
    shown = json.loads(run("inspect", tmp_path / "model.npz", "--json"))
    assert shown["rank"] == 4 and shown["rows"] == 60 and shown["columns"] == 20
    assert_allclose([atom["weight"] for atom in shown["atoms"]], model.weights_)
    assert_allclose([step["relative_error"] for step in shown["path"]], model.path_["relative_error"])
    assert shown["metadata"]["estimator"] == "MatrixPursuit" and shown["metadata"]["right"] == "sparse:5"
    run("reconstruct", tmp_path / "model.npz", "--out", tmp_path / "X.npy")
    assert_allclose(np.load(tmp_path / "X.npy"), model.left_ * model.weights_ @ model.components_)


def test_a_factorization_of_the_program_is_the_same_as_ours(parts, tmp_path):
    np.save(tmp_path / "X.npy", parts)
    sets = "--left", "nonneg", "--right", "nonneg+sparse:5", "--weights", "nonneg"
    run("factor", tmp_path / "X.npy", "--rank", 3, *sets, "--seed", 4, "--out", tmp_path / "m.npz")
    theirs = pursuit.load(tmp_path / "m.npz")
    ours = pursuit.MatrixPursuit(
        3, left="nonneg", right="nonneg+sparse:5", weights="nonneg", random_state=4
    ).fit(parts)
    assert_allclose(theirs.components_, ours.components_, atol=1e-9)
    assert_allclose(theirs.transform(parts), ours.transform(parts), atol=1e-9)
    assert theirs.path_["support"].tolist() == ours.path_["support"].tolist() == [5, 10, 15]


def test_principal_components_of_the_program_know_their_means(parts, tmp_path):
    np.save(tmp_path / "X.npy", parts + 10)
    wanted = "--components", 2, "--atoms", "sparse:5", "--effort", "low"
    run("pca", tmp_path / "X.npy", *wanted, "--out", tmp_path / "m.npz", "--scores", tmp_path / "scores.npy")
    model = pursuit.load(tmp_path / "m.npz")
    assert isinstance(model, pursuit.SparsePCA)
    assert_allclose(model.transform(parts + 10), np.load(tmp_path / "scores.npy"), atol=1e-9)


@pytest.mark.parametrize("atoms, k", [("sparse:7", 7), ("nonneg+sparse:0.25", 0.25), ("sphere", None)])
def test_principal_components_of_the_program_know_their_bound(parts, tmp_path, atoms, k):
    np.save(tmp_path / "X.npy", parts)
    run("pca", tmp_path / "X.npy", "--components", 2, "--atoms", atoms, "--out", tmp_path / "m.npz")
    assert pursuit.load(tmp_path / "m.npz").k == k


@pytest.mark.parametrize("text", ["[" * 100000, "[]", "3", "{", '"k"'])
def test_damaged_parameters_are_named(parts, tmp_path, text):
    model_with_atoms(parts, tmp_path / "m.npz")
    with_metadata(tmp_path / "m.npz", parameters=text)
    with pytest.raises(ValueError, match="m.npz: the metadata parameters: no JSON object"):
        pursuit.load(tmp_path / "m.npz")


def test_parameters_never_name_sets_that_run_code(parts, tmp_path):
    model_with_atoms(parts, tmp_path / "m.npz")
    hostile = {"right": "plugin:evil.so", "left": "groups:/etc/passwd:1", "no_such": 1, "n_components": 2}
    with_metadata(tmp_path / "m.npz", parameters=json.dumps(hostile))
    loaded = pursuit.load(tmp_path / "m.npz")
    assert "plugin" not in str(loaded.right) and "passwd" not in str(loaded.left)


def test_completed_matrices_go_both_ways(tmp_path, rng):
    rows, cols = rng.integers(0, 30, 400), rng.integers(0, 20, 400)
    seen = pd.DataFrame(
        {"row": [f"u{i}" for i in rows], "column": [f"f{j}" for j in cols], "value": rng.normal(3, 1, 400)}
    )
    seen = seen.drop_duplicates(["row", "column"])
    model = pursuit.MatrixCompletion(3, random_state=0).fit(seen)
    model.save(tmp_path / "ours.npz")
    assert json.loads(run("inspect", tmp_path / "ours.npz", "--json"))["kind"] == "completion"
    again = pursuit.load(tmp_path / "ours.npz")
    pairs = [("u3", "f5"), ("u7", "f0")]
    assert_allclose(again.predict(pairs), model.predict(pairs))
    assert again.recommend("u3", 3) == model.recommend("u3", 3)
    listed = run(
        "recommend", tmp_path / "ours.npz", "--row", "u3", "--top", 3, "--exclude-seen"
    ).splitlines()[1:]
    assert [line.split(",")[2] for line in listed] == [each.column for each in model.recommend("u3", 3)]

    seen.to_csv(tmp_path / "seen.csv", index=False)
    run("complete", tmp_path / "seen.csv", "--rank", 3, "--seed", 0, "--out", tmp_path / "theirs.npz")
    assert_allclose(pursuit.load(tmp_path / "theirs.npz").predict(pairs), model.predict(pairs), rtol=1e-4)


@pytest.mark.parametrize("ids", [[10, 7, 30, 41], ["10", "07", "a", "b"], [1.5, 2.0, 3.25, 4.0]])
def test_ids_and_columns_come_back_as_they_were(tmp_path, ids):
    frame = pd.DataFrame({"who": ids + ids, "what": ids + ids[::-1], "how": np.arange(8.0)})
    names = ("who", "what", "how")
    model = pursuit.MatrixCompletion(columns=names, random_state=0).fit(frame)
    model.save(tmp_path / "m.npz")
    again = pursuit.load(tmp_path / "m.npz")
    assert again.columns == names
    assert again.row_ids_ == model.row_ids_ and again.column_ids_ == model.column_ids_
    assert [type(each) for each in again.row_ids_] == [type(each) for each in model.row_ids_]
    assert_allclose(again.predict(frame), model.predict(frame))


def test_models_without_entries(tmp_path, rng):
    model = pursuit.MatrixCompletion(2, random_state=0).fit(rng.random((12, 9)))
    model.save(tmp_path / "m.npz", store_entries=False)
    again = pursuit.load(tmp_path / "m.npz")
    assert_allclose(again.predict([(3, 4)]), model.predict([(3, 4)]))
    with pytest.raises(ValueError, match="without its entries"):
        again.recommend(0, 3)
    assert again.recommend(0, 3, exclude_seen=False) == model.recommend(0, 3, exclude_seen=False)
    again.save(tmp_path / "again.npz")
    assert "seen_value" not in np.load(tmp_path / "again.npz")


def test_entries_that_the_program_held_out_are_known_as_seen(tmp_path, rng):
    lines = [f"{i},{j},{rng.integers(1, 6)}" for i in range(20) for j in range(12) if (i * 7 + j) % 3]
    (tmp_path / "r.csv").write_text("user,item,rating\n" + "\n".join(lines) + "\n")
    run("complete", tmp_path / "r.csv", "--holdout", 0.3, "--out", tmp_path / "m.npz")
    model = pursuit.load(tmp_path / "m.npz")
    for i in range(20):
        assert {int(each.column) for each in model.recommend(model.row_ids_[i], 12)} == {
            j for j in range(12) if (int(model.row_ids_[i]) * 7 + j) % 3 == 0
        }


def test_positions_stay_positions(tmp_path, rng):
    model = pursuit.MatrixCompletion(2, random_state=0).fit(rng.random((12, 9)))
    model.save(tmp_path / "m.npz")
    assert_allclose(pursuit.load(tmp_path / "m.npz").predict([(3, 4)]), model.predict([(3, 4)]))


def test_files_that_are_not_there_or_no_models(tmp_path, parts):
    with pytest.raises(ValueError, match="nothing.npz"):
        pursuit.load(tmp_path / "nothing.npz")
    (tmp_path / "text.npz").write_text("no model")
    with pytest.raises(ValueError, match="text.npz"):
        pursuit.load(tmp_path / "text.npz")
    with pytest.raises(OSError, match="nowhere"):
        pursuit.NMF(2).fit(parts).save(tmp_path / "nowhere" / "m.npz")


NAMING_FILES = [
    "plugin:./evil.so:run",
    "group:{fifo}:1",
    "tree:{fifo}:2",
    "graph:{fifo}:2:1",
    "support:{fifo}",
    "span:{fifo}",
    "dictionary:{fifo}",
    "sparse-in:{fifo}:2",
    "sparse:3+support:{fifo}",
    "0-3:nonneg|4-:support:{fifo}",
    "dictionary:dct/../{fifo}",
    "dictionary:dct:{fifo}",
    "sparse-in:dct:{fifo}:2",
]


def model_with_atoms(parts, path, **specs):
    """A model file that says of itself to be made of these sets."""
    model = pursuit.MatrixPursuit(2, right="sparse:5", random_state=0).fit(parts)
    saved = model._saved()
    saved["metadata"].update(specs)
    model._saved = lambda: saved
    model.save(path)
    return model


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("spec", NAMING_FILES)
def test_what_a_model_file_names_is_opened_only_where_it_is_trusted(parts, tmp_path, monkeypatch, spec, side):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo")  # whoever opens it waits for ever
    spec = spec.format(fifo="fifo")
    fitted = model_with_atoms(parts, "m.npz", **{side: spec})
    model = pursuit.load("m.npz")
    assert model.get_params()[side] == spec
    assert_allclose(model.transform(parts), fitted.transform(parts))
    for each in (model, clone(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        with pytest.raises(ValueError, match="trusted=True") as refusal:
            each.fit(parts)
        assert spec in str(refusal.value)
    model.save("again.npz")
    with pytest.raises(ValueError, match="trusted=True"):
        pursuit.load("again.npz").fit(parts)
    assert model.set_params(**{side: "sparse:4"}).fit(parts).n_components_ == 2


def test_a_trusted_model_is_fitted_with_the_sets_it_names(parts, tmp_path):
    (tmp_path / "mask.txt").write_text("1\n" * 10 + "0\n" * 10)
    spec = f"support:{tmp_path}/mask.txt"
    model_with_atoms(parts, tmp_path / "m.npz", right=spec)
    again = pursuit.load(tmp_path / "m.npz", trusted=True).fit(parts)
    assert again.components_[:, :10].any() and not again.components_[:, 10:].any()
    model_with_atoms(parts, tmp_path / "m.npz", right=f"plugin:{tmp_path}/absent.so:run")
    with pytest.raises(ValueError, match="absent.so: cannot open shared object"):
        pursuit.load(tmp_path / "m.npz", trusted=True).fit(parts)


@pytest.mark.parametrize("spec", ["nonneg+sparse:5", "dictionary:dct", "sparse-in:haar:3", "smooth:0.1"])
def test_sets_that_need_nothing_else_need_no_trust(parts, tmp_path, spec):
    model_with_atoms(parts, tmp_path / "m.npz", right=spec)
    assert pursuit.load(tmp_path / "m.npz").fit(parts).n_components_ == 2


@pytest.mark.parametrize("text", ["[" * 100000, "{}", "3", '["a"]', "[[1], [2]]", "[1"])
def test_damaged_metadata_is_named(parts, tmp_path, text):
    model_with_atoms(parts, tmp_path / "m.npz")
    with_metadata(tmp_path / "m.npz", explained_variance_ratio=text)
    with pytest.raises(ValueError, match="m.npz: the metadata explained_variance_ratio is no list"):
        pursuit.load(tmp_path / "m.npz")


MODELS = Path(__file__).parents[2] / "tests" / "models"  # of the last version; its README says more


@pytest.mark.parametrize("name", ["factor", "symmetric", "fixed", "per_atom", "pca", "sparse_pca"])
def test_factorizations_of_the_last_version_are_read(name, tmp_path):
    model = pursuit.load(MODELS / f"{name}.npz")
    expected = np.loadtxt(
        MODELS / f"{name}.matrix.csv",
        delimiter=",",
        skiprows=int(name != "symmetric"),
        usecols=range(7) if name == "symmetric" else range(1, 8),
    )
    model.save(tmp_path / "again.npz")
    for path in (MODELS / f"{name}.npz", tmp_path / "again.npz"):
        file = np.load(path)
        assert_allclose(file["left"] * file["weights"] @ file["right"].T, expected, atol=1e-12)
    assert_allclose(np.abs(model.components_), np.abs(file["right"].T), atol=1e-12)
    assert model.transform(np.ones((2, 7))).shape == (2, model.n_components_)


@pytest.mark.parametrize("name", ["completion", "features", "no_ids", "structured"])
def test_completions_of_the_last_version_predict_what_they_did(name):
    model = pursuit.load(MODELS / f"{name}.npz")
    expected = pd.read_csv(MODELS / f"{name}.predictions.csv")
    pairs = list(zip(expected["row"].astype(str), expected["column"].astype(str)))
    values, deviations = model.predict(pairs, return_std=True, unknown="prior")
    assert_allclose(values, expected["value"], atol=1e-5)
    assert_allclose(deviations, expected["sd"], atol=1e-5)


def test_completed_matrices_keep_their_parameters(tmp_path, rng):
    X = np.where(rng.random((30, 12)) < 0.3, np.nan, rng.random((30, 12)))
    model = pursuit.MatrixCompletion(
        3, left="nonneg", right="nonneg", weights="nonneg", validation=0.2, clip=(0, 2), random_state=1
    ).fit(X)
    model.save(tmp_path / "m.npz")
    assert pursuit.load(tmp_path / "m.npz").get_params() == model.get_params()
    plain = pursuit.MatrixCompletion(2, use_pattern=False, effort="high", random_state=1).fit(X)
    plain.save(tmp_path / "p.npz")
    loaded = pursuit.load(tmp_path / "p.npz")
    assert loaded.get_params() == plain.get_params()
    np.testing.assert_allclose(loaded.predict([(0, 1)]), plain.predict([(0, 1)]))
