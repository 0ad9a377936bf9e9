"""Implicit feedback, measures of lists and evaluation by protocol."""

import pickle

import numpy as np
import pytest
import scipy.sparse

import pursuit


def clicks(rows=90, cols=40, tastes=3, seed=0):
    rng = np.random.default_rng(seed)
    same = np.arange(rows)[:, None] % tastes == np.arange(cols) % tastes
    row, col = np.nonzero(rng.random((rows, cols)) < np.where(same, 0.5, 0.03))
    return row, col, rng.integers(1, 5, len(row)).astype(float)


def listed(model, row, n):
    return [each.column for each in model.recommend(row, n)]


def reference_measures(lists, relevant, columns, n):
    """As the definitions say."""
    ndcg, recall, average_precision, covered = [], [], [], set()
    for own, wanted in zip(lists, relevant):
        if not wanted:
            continue
        hits = [int(each in wanted) for each in own[:n]]
        covered |= set(own[:n])
        ideal = sum(1 / np.log2(p + 2) for p in range(min(n, len(wanted))))
        ndcg.append(sum(h / np.log2(p + 2) for p, h in enumerate(hits)) / ideal)
        recall.append(sum(hits) / len(wanted))
        precisions = [h * sum(hits[: p + 1]) / (p + 1) for p, h in enumerate(hits)]
        average_precision.append(sum(precisions) / min(n, len(wanted)))
    return np.mean(ndcg), np.mean(recall), np.mean(average_precision), len(covered) / columns


def test_clicks_need_no_values_and_may_come_again():
    row, col, _ = clicks()
    again = np.r_[row, row[:50]], np.r_[col, col[:50]]
    counted = row, col, np.r_[np.full(50, 2.0), np.ones(len(row) - 50)]
    fit = lambda X, **words: pursuit.MatrixCompletion(
        implicit=True, confidence="linear:1", random_state=0, **words
    ).fit(X)
    expected = fit(counted).predict(list(zip(row, col)))
    np.testing.assert_array_equal(fit(again).predict(list(zip(row, col))), expected)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"user": again[0], "item": again[1]})
    np.testing.assert_array_equal(
        fit(frame, columns=("user", "item")).predict(frame.iloc[: len(row)]), expected
    )
    with pytest.raises(ValueError, match=r"columns=\('user', 'item'\)"):
        fit(frame)
    with pytest.raises(ValueError, match="implicit=True"):
        pursuit.MatrixCompletion().fit(again)


def test_finds_what_rows_would_click_on():
    model = pursuit.MatrixCompletion(implicit=True, random_state=0).fit(clicks())
    for row in (0, 1, 2, 50):
        assert sum(column % 3 == row % 3 for column in listed(model, row, 5)) >= 4
    assert model.path_["validation"][0] > 0
    assert np.isfinite(model.predict([(0, 1)], return_std=True)).all()


def test_non_negative_parts_of_clicks():
    model = pursuit.MatrixCompletion(
        4, implicit=True, left="nonneg", right="nonneg", weights="nonneg", random_state=0
    ).fit(clicks())
    for row in (0, 1, 2, 50):
        assert sum(column % 3 == row % 3 for column in listed(model, row, 5)) >= 4
    again = pickle.loads(pickle.dumps(model))
    assert again.predict([(0, 1)]) == model.predict([(0, 1)])
    scores = model.transform(([0, 0], [1, 4], [1.0, 1.0]))
    assert (scores >= 0).all() and scores.any()
    with pytest.raises(ValueError, match="no offsets"):
        pursuit.MatrixCompletion(implicit=True, left="nonneg", offsets=True).fit(clicks())


def test_rows_solve_the_weighted_least_squares():
    row, col, count = clicks(31, 19, seed=1)
    model = pursuit.MatrixCompletion(5, implicit=True, confidence="linear:0.5", random_state=0).fit(
        (row, col, count)
    )
    state = model.model_.__getstate__()
    zeros, ridge, confidence = state["implicit"]
    assert confidence == "linear:0.5"
    order = np.argsort(model.column_ids_)
    V = model.model_.column_factors[order, 1:].astype(float)
    for i in (0, 7, 30):
        weight = np.full(19, zeros)
        weight[col[row == i]] += 1 + 0.5 * count[row == i]
        target = np.zeros(19)
        target[col[row == i]] = 1 + 0.5 * count[row == i]
        u = np.linalg.solve(
            (V * weight[:, None]).T @ V + ridge * weight.sum() * np.eye(V.shape[1]), V.T @ target
        )
        np.testing.assert_allclose(model.model_.row_factors[model.row_ids_.index(i), 1:], u, atol=1e-4)


def test_features_place_rows_without_clicks():
    rng = np.random.default_rng(3)
    who, what = np.nonzero(
        rng.random((90, 40)) < np.where(np.arange(90)[:, None] % 3 == np.arange(40) % 3, 0.5, 0.03)
    )
    kinds = np.eye(3)[np.arange(90) % 3]
    clicked = scipy.sparse.csr_matrix((np.ones(len(who)), (who, what)), shape=(90, 40))
    clicked[84:] = 0
    clicked.eliminate_zeros()
    model = pursuit.MatrixCompletion(implicit=True, random_state=0).fit(clicked, row_features=kinds)
    for row in range(84, 90):
        assert all(each.column % 3 == row % 3 for each in model.recommend(row, 5))


def test_new_rows_are_folded_in():
    row, col, count = clicks()
    X = scipy.sparse.csr_matrix((count, (row, col)), shape=(90, 40))
    model = pursuit.MatrixCompletion(implicit=True, random_state=0).fit(X)
    np.testing.assert_allclose(model.transform(X), model.model_.row_factors, atol=1e-4)
    scores = model.inverse_transform(model.transform(X[:3]))
    np.testing.assert_allclose(scores[1], model.predict([(1, j) for j in range(40)]), atol=1e-3)


def test_survives_files_and_pickles(tmp_path):
    model = pursuit.MatrixCompletion(implicit=True, confidence="log:2:1", random_state=0).fit(clicks())
    model.save(tmp_path / "m.npz")
    for again in (pursuit.load(tmp_path / "m.npz"), pickle.loads(pickle.dumps(model))):
        assert again.implicit and again.confidence == "log:2:1"
        assert listed(again, 4, 5) == listed(model, 4, 5)
        np.testing.assert_array_equal(again.predict([(0, 1), (3, 2)]), model.predict([(0, 1), (3, 2)]))


def test_goes_on_from_the_model_there_is():
    row, col, count = clicks()
    model = pursuit.MatrixCompletion(implicit=True, warm_start=True, random_state=0).fit((row, col, count))
    before = model.model_.row_factors
    np.testing.assert_array_equal(model.fit((row, col, count)).model_.row_factors, before)
    more = (np.append(row, [90] * 4), np.append(col, [0, 3, 6, 9]), np.append(count, [1] * 4))
    assert sum(column % 3 == 0 for column in listed(model.fit(more), 90, 5)) >= 4


@pytest.mark.parametrize(
    "options, word",
    [
        (dict(left="nonneg", regularization="1"), "implicit"),
        (dict(loss="bernoulli"), "implicit"),
        (dict(confidence="cubic:1"), "confidence"),
    ],
)
def test_refuses_what_does_not_go_together(options, word):
    with pytest.raises(ValueError, match=word):
        pursuit.MatrixCompletion(implicit=True, **options).fit(clicks())


def test_refuses_numbers_below_zero():
    with pytest.raises(ValueError, match="at least 0"):
        pursuit.MatrixCompletion(implicit=True).fit(([0, 1], [0, 1], [1.0, -1.0]))


@pytest.mark.parametrize("n", [1, 3, 10])
def test_measures_of_lists_are_those_of_the_definitions(n):
    row, col, count = clicks(seed=3)
    tested = np.random.default_rng(4).random(len(row)) < 0.2
    train = row[~tested], col[~tested], count[~tested]
    model = pursuit.MatrixCompletion(implicit=True, random_state=0).fit(train)
    test = row[tested], col[tested], count[tested]
    relevant = [set(col[tested & (row == i) & (count >= 2)]) for i in model.row_ids_]
    expected = reference_measures(
        [listed(model, i, n) for i in model.row_ids_], relevant, len(model.column_ids_), n
    )
    found = model.ranking_score(test, n=n, relevant=2)
    np.testing.assert_allclose([found[name] for name in ("ndcg", "recall", "map", "coverage")], expected)
    assert found["rows"] == sum(bool(each) for each in relevant)


def test_evaluation_by_protocol():
    row, col, count = clicks(seed=5)
    times = np.arange(len(row))[::-1]
    methods = ["popularity", "offsets", "implicit"]
    for split in ("random", "time", "time_per_row", "leave_one_out", "cold_rows", "cold_columns"):
        scores = pursuit.evaluate_completion(
            (row, col, count), methods=methods, split=split, times=times, relevant=1, random_state=0
        )
        assert [each["method"] for each in scores] == methods
        assert np.isnan(scores[0]["rmse"]) and np.isfinite(scores[1]["log_likelihood"])
        assert all(0 <= each["ndcg"] <= 1 for each in scores)
    repeated = pursuit.evaluate_completion(
        (row, col, count), methods=methods, split="leave_one_out", relevant=1, repeat=3, random_state=0
    )
    assert repeated[2]["ndcg"] > repeated[0]["ndcg"]
    of_splits = repeated[2]["of_splits"]["ndcg"]
    assert repeated[2]["ndcg_error"] == pytest.approx(np.std(of_splits, ddof=1) / np.sqrt(3))
    with pytest.raises(ValueError, match="leave_two_out"):
        pursuit.evaluate_completion((row, col, count), split="leave_two_out")
    with pytest.raises(ValueError, match="times"):
        pursuit.evaluate_completion((row, col, count), split="time", times=times[:3])
