"""What is asked of a completed matrix: lists of many rows, newcomers, likeness, reasons, vectors."""

import json
import os
import pickle
import subprocess

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from numpy.testing import assert_allclose

import pursuit
from pursuit import _core


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    truth = 3 + rng.standard_normal((60, 2)) @ rng.standard_normal((2, 45)) + rng.standard_normal(45)
    row, col = np.nonzero(rng.random(truth.shape) < 0.4)
    return pd.DataFrame(
        {
            "user": [f"u{i}" for i in row],
            "item": 100 + col,
            "stars": truth[row, col] + 0.2 * rng.standard_normal(len(row)),
        }
    )


@pytest.fixture(scope="module")
def model(frame):
    return pursuit.MatrixCompletion(columns=("user", "item", "stars"), random_state=0).fit(frame)


def program(*arguments):
    command = [os.environ["PURSUIT_PROGRAM"], *map(str, arguments), "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def test_many_rows_get_the_lists_of_each(model):
    lists = model.recommend_many(["u5", "u0", "u5"], 4)
    assert lists.columns.shape == lists.values.shape == lists.deviations.shape == (3, 4)
    for k, row in enumerate(["u5", "u0", "u5"]):
        alone = model.recommend(row, 4)
        assert [each.column for each in alone] == lists.columns[k].tolist()
        assert_allclose([each.value for each in alone], lists.values[k])
        assert_allclose([each.deviation for each in alone], lists.deviations[k])
    assert model.recommend_many(n=3).columns.shape == (60, 3)


def test_lists_are_those_of_predictions_one_by_one(frame, model):
    seen = set(frame[frame.user == "u7"].item)
    values, deviations = model.predict([("u7", c) for c in model.column_ids_], return_std=True)
    for optimism in (0.0, 2.0):
        order = np.argsort(-(values + optimism * deviations), kind="stable")
        expected = [model.column_ids_[k] for k in order if model.column_ids_[k] not in seen][:5]
        listed = [each.column for each in model.recommend("u7", 5, optimism=optimism)]
        assert len(set(listed) & set(expected)) >= 4  # the largest may all reach the end of the range


def test_candidates_and_blocked_ones(model):
    all_of_them = [each.column for each in model.recommend("u3", 45)]
    chosen = model.recommend("u3", 9, candidates=[all_of_them[4], all_of_them[1], "unknown"])
    assert [each.column for each in chosen] == [all_of_them[1], all_of_them[4]]
    rest = model.recommend("u3", 2, block=all_of_them[:3])
    assert [each.column for each in rest] == all_of_them[3:5]
    assert model.recommend("u3", 2, candidates=[]) == []


def test_short_lists_are_filled_up(frame, model):
    counts = frame.groupby("user").size()
    lists = model.recommend_many(n=45)
    for k, row in enumerate(model.row_ids_):
        length = 45 - counts[row]
        assert np.isfinite(lists.values[k, :length]).all() and np.isnan(lists.values[k, length:]).all()
        assert all(each is None for each in lists.columns[k, length:])


def test_newcomers_are_recommended_what_their_entries_say(frame, model):
    twin = frame[frame.user == "u9"].assign(user="twin")
    lists = model.recommend_new(twin, 5)
    own = {each.column: each.value for each in model.recommend("u9", 45)}
    assert lists.columns.shape == (1, 5)
    for column, value in zip(lists.columns[0], lists.values[0]):
        assert value == pytest.approx(own[column], abs=0.2)
    assert model.recommend_new(twin, 45, exclude_seen=False).columns.shape == (1, 45)
    array = pursuit.MatrixCompletion(2, random_state=0).fit(np.random.default_rng(0).random((20, 8)))
    with pytest.raises(ValueError, match="no entry"):
        array.recommend_new(np.full((1, 8), np.nan))


def test_similar_is_symmetric_and_what_the_vectors_say(model):
    vectors = model.vectors("column")
    likeness = vectors @ vectors.T
    for k in (0, 17):
        listed = model.similar(model.column_ids_[k], 6)
        expected = np.argsort(-np.where(np.arange(45) == k, -9, likeness[k]))[:6]
        assert [each.id for each in listed] == [model.column_ids_[j] for j in expected]
        assert_allclose([each.similarity for each in listed], likeness[k][expected], atol=1e-5)
    members, values = model.similar_many(n=2, kind="row")
    assert members.shape == values.shape == (60, 2)
    assert members[0, 0] == model.similar("u0", 1, kind="row")[0].id if model.row_ids_[0] == "u0" else True
    with pytest.raises(ValueError, match="kind='film'"):
        model.similar(100, kind="film")


def test_reasons_are_entries_and_add_up(frame, model):
    reasons = model.explain("u4", model.recommend("u4", 1)[0].column, 1000)
    own = frame[frame.user == "u4"].set_index("item").stars
    assert {each.column for each in reasons} == set(own.index)
    for each in reasons:
        assert each.value == pytest.approx(own[each.column], rel=1e-6)
    effects = np.abs([each.effect for each in reasons])
    assert (np.diff(effects) <= 1e-12).all()


def test_vectors_multiply_to_predictions(frame):
    for options in ({}, {"effort": "high"}, {"left": "sphere", "right": "sparse:20"}):
        model = pursuit.MatrixCompletion(
            2, columns=("user", "item", "stars"), clip=None, random_state=0, **options
        ).fit(frame)
        rows, columns = model.vectors()
        assert rows.dtype == columns.dtype == np.float32 and rows.flags.c_contiguous
        pairs = [(row, column) for row in model.row_ids_ for column in model.column_ids_]
        assert_allclose((rows @ columns.T).ravel(), model.predict(pairs), atol=2e-4)


def test_vectors_in_a_search_by_inner_product_are_the_lists(model):
    rows, columns = model.vectors()
    try:
        import faiss
    except ImportError:  # the same search, exact
        best = np.argsort(-(rows @ columns.T), axis=1, kind="stable")[:, :5]
    else:
        index = faiss.IndexFlatIP(columns.shape[1])
        index.add(columns)
        best = index.search(rows, 5)[1]
    lists = model.recommend_many(n=5, exclude_seen=False)
    same = np.asarray(model.column_ids_, dtype=object)[best] == lists.columns
    assert same.mean() > 0.99  # but for ties


def test_factorizations_recommend_too(rng):
    X = rng.random((30, 3)) @ rng.random((3, 12)) + 1
    for estimator in (pursuit.NMF(3, random_state=0), pursuit.TruncatedSVD(2), pursuit.PCA(3)):
        estimator.fit(X)
        model = pursuit.MatrixCompletion.of_factors(estimator)
        expected = estimator.inverse_transform(estimator.transform(X))
        pairs = [(i, j) for i in range(30) for j in range(12)]
        assert_allclose(model.predict(pairs), expected.ravel(), rtol=2e-3, atol=2e-3)
        assert model.recommend(3, 1, exclude_seen=False)[0].column == int(np.argmax(expected[3]))
        assert len(model.similar(0, 4)) == 4
        with pytest.raises(ValueError, match="without its entries"):
            model.recommend(3)
        with pytest.raises(ValueError, match="entries"):
            model.explain(3, 2)
    named = pursuit.MatrixCompletion.of_factors(estimator, [f"r{i}" for i in range(30)])
    assert named.row_ids_[2] == "r2"
    with pytest.raises(ValueError, match="row_ids"):
        pursuit.MatrixCompletion.of_factors(estimator, ["r0"])


def test_the_program_says_the_same(tmp_path, frame, model):
    model.save(tmp_path / "m.npz")
    listed = program("recommend", tmp_path / "m.npz", "--row", "u7", "--top", 4, "--explain", 2)
    for column, own in zip(listed["recommendations"][0]["columns"], model.recommend("u7", 4)):
        assert int(column["column"]) == own.column
        assert column["value"] == pytest.approx(own.value)
        reasons = model.explain("u7", own.column, 2)
        assert [int(each["column"]) for each in column["reasons"]] == [each.column for each in reasons]
        assert_allclose([each["effect"] for each in column["reasons"]], [each.effect for each in reasons])
    alike = program("similar", tmp_path / "m.npz", "--column", 105, "--top", 3)["lists"][0]["similar"]
    assert [int(each["column"]) for each in alike] == [each.id for each in model.similar(105, 3)]


def test_models_that_came_out_of_a_pickle_answer(model):
    again = pickle.loads(pickle.dumps(model))
    assert again.recommend("u3", 3) == model.recommend("u3", 3)
    assert again.similar(104, 2) == model.similar(104, 2)


def test_held_out_entries_and_features_survive_loading_and_saving(tmp_path, frame):
    frame.to_csv(tmp_path / "r.csv", index=False)
    features = frame[["item"]].drop_duplicates().assign(kind=lambda f: np.where(f.item % 2, "odd", "even"))
    features.to_csv(tmp_path / "f.csv", index=False)
    out, again = tmp_path / "m.npz", tmp_path / "again.npz"
    arguments = ["--holdout", 0.2, "--col-features", tmp_path / "f.csv", "--out", out]
    program("complete", tmp_path / "r.csv", *arguments)
    pursuit.load(out).save(again)
    before, after = np.load(out), np.load(again)
    for part in before.files:
        if part.startswith(("held_out", "column_feature_", "seen")):
            np.testing.assert_array_equal(before[part], after[part], err_msg=part)
    assert any(part.startswith("held_out") for part in before.files)
    assert pursuit.load(again).recommend("u3", 9) == pursuit.load(out).recommend("u3", 9)
    matrix = scipy.sparse.csr_matrix((before["seen_value"], before["seen_column"], before["seen_start"]))
    assert matrix.nnz < len(frame)


def test_arrays_that_make_no_sense_are_refused_by_the_engine(model):
    core, rows = model.model_, np.arange(60)
    asked = dict(columns=None, optimism=0.0, threads=1)
    good = np.zeros(61, dtype=np.int64)
    for start, index in (
        (np.zeros(3, dtype=np.int64), []),
        (good, [1]),
        (np.r_[good[:-1], 1], [45]),
        (np.r_[good[:-1], 2], [3, 3]),
        (np.r_[5, good[1:]], [1]),
        ([], []),
    ):
        with pytest.raises(ValueError):
            _core.recommend_lists(core, rows, 3, left_out=(start, index), **asked)
    for bad in (dict(rows=[60]), dict(columns=[45]), dict(columns=[3, 2]), dict(optimism=np.nan)):
        with pytest.raises(ValueError):
            _core.recommend_lists(core, bad.pop("rows", rows), 3, left_out=None, **{**asked, **bad})
    with pytest.raises(ValueError):
        _core.with_new_rows(core, [0, 1], [7], [], 1)
    with pytest.raises(ValueError):
        _core.with_new_rows(core, [0, 1], [45], [1.0], 1)
    with pytest.raises(ValueError):
        _core.explain(core, [1, 2], [1.0], noise_weight=1.0, features=[], target=3, count=2)
    with pytest.raises(ValueError):
        _core.neighbours(core, "column", [45], 3, 1)
