"""MatrixCompletion: every form of input, predictions, new rows, and what it refuses."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold

import pursuit


@pytest.fixture(scope="module")
def planted():
    """A matrix of rank two with offsets, half of its entries seen through noise of deviation 0.1."""
    rng = np.random.default_rng(1)
    truth = 3 + rng.standard_normal((150, 1)) + rng.standard_normal((150, 2)) @ rng.standard_normal((2, 80))
    seen = rng.random(truth.shape) < 0.5
    X = np.where(seen, truth + 0.1 * rng.standard_normal(truth.shape), np.nan)
    return truth, X


@pytest.fixture(scope="module")
def model(planted):
    return pursuit.MatrixCompletion(random_state=0).fit(planted[1])


def triplets_of(X):
    row, col = np.nonzero(~np.isnan(X))
    return [f"user {i}" for i in row], [f"film {j}" for j in col], X[row, col]


def rmse(a, b):
    return np.sqrt(np.mean((a - b) ** 2))


def test_finds_rank_and_noise_and_what_was_not_seen(planted, model):
    truth, X = planted
    assert model.n_components_ == 2
    assert model.noise_ == pytest.approx(0.1, rel=0.15)
    hidden = np.argwhere(np.isnan(X))
    values, deviations = model.predict(hidden, return_std=True)
    assert rmse(values, truth[tuple(hidden.T)]) < 0.06
    assert np.mean(np.abs(values - truth[tuple(hidden.T)]) < 2 * deviations) > 0.95


def test_every_form_of_input_is_the_same_data(planted, model):
    _, X = planted
    row, col = np.nonzero(~np.isnan(X))
    sparse = scipy.sparse.coo_matrix((X[row, col], (row, col)), shape=X.shape)
    names = triplets_of(X)
    frame = pd.DataFrame({"user": names[0], "film": names[1], "stars": names[2], "when": 0})
    expected = model.predict([(3, 5), (70, 11)])
    for given in (sparse, sparse.tocsr(), sparse.tocsc(), (row, col, X[row, col])):
        assert_allclose(
            pursuit.MatrixCompletion(random_state=0).fit(given).predict([(3, 5), (70, 11)]),
            expected,
            atol=1e-2,
        )
    by_name = pursuit.MatrixCompletion(columns=("user", "film", "stars"), random_state=0).fit(frame)
    assert_allclose(by_name.predict([("user 3", "film 5"), ("user 70", "film 11")]), expected, atol=1e-2)
    wide = pd.DataFrame(X, index=[f"user {i}" for i in range(150)], columns=[f"film {j}" for j in range(80)])
    labelled = pursuit.MatrixCompletion(random_state=0).fit(wide)
    assert_allclose(labelled.predict([("user 3", "film 5"), ("user 70", "film 11")]), expected)
    pairs = pd.DataFrame({"row": ["user 3"], "column": ["film 5"]})
    assert_allclose(labelled.predict(pairs), expected[:1])


def test_a_stored_zero_was_observed():
    X = scipy.sparse.csr_matrix(([0.0, 0.0, 1.0, 1.0], ([0, 1, 2, 3], [0, 1, 0, 1])), shape=(4, 2))
    assert pursuit.MatrixCompletion().fit(X).predict([(0, 1)])[0] < 0.9
    assert pursuit.MatrixCompletion().fit(X)._seen.nnz == 4


def test_recommends_the_largest_predictions_that_were_not_seen(planted, model):
    _, X = planted
    best = model.recommend(3, 5)
    values = model.predict([(3, j) for j in range(80)])
    unseen = np.flatnonzero(np.isnan(X[3]))
    assert [each.column for each in best] == unseen[np.argsort(-values[unseen])][:5].tolist()
    assert all(each.deviation > 0 for each in best)
    assert model.recommend(3, 1, exclude_seen=False)[0].column == int(np.argmax(values))


def test_new_rows_are_predicted_from_their_entries(planted):
    truth, X = planted
    model = pursuit.MatrixCompletion(random_state=0).fit(X[:120])
    factors = model.transform(X[120:])
    assert factors.shape == (30, 3)
    assert rmse(model.inverse_transform(factors), truth[120:]) < 0.08
    sparse = scipy.sparse.csr_matrix(np.nan_to_num(X[120:]))
    assert_allclose(model.transform(sparse), factors, atol=1e-5)
    assert model.score(X[120:]) == pytest.approx(-0.1, abs=0.03)
    assert model.get_feature_names_out().tolist() == [f"matrixcompletion{i}" for i in range(3)]


def test_new_rows_by_name(planted):
    _, X = planted
    model = pursuit.MatrixCompletion(random_state=0).fit(triplets_of(X[:120]))
    rows, cols, values = triplets_of(X[120:])
    by_place = pursuit.MatrixCompletion(random_state=0).fit(X[:120]).transform(X[120:])
    # Names are numbered as they appear, so that other entries are held back to choose the rank: two fits.
    apart = np.abs(np.abs(model.transform((rows, cols, values))) - np.abs(by_place))
    assert apart.mean() < 0.05 and apart.max() < 0.3


def test_atom_sets_give_factors_their_structure(planted):
    truth, X = planted
    model = pursuit.MatrixCompletion(4, left="nonneg", right="sparse:0.5", random_state=0).fit(X)
    assert (np.count_nonzero(model.model_.right, axis=0) <= 40).all()
    assert model.model_.left.min() >= 0
    hidden = np.argwhere(np.isnan(X))
    assert rmse(model.predict(hidden), truth[tuple(hidden.T)]) < 0.9 * truth.std()
    assert model.transform(X).shape == (150, 1 + model.n_components_)


def spectra_with_gaps(seed):
    """Mixtures of three spectra, three entries in ten missing."""
    rng = np.random.default_rng(seed)
    x = np.linspace(0, 1, 90)[:, None, None]
    peaks = rng.uniform(0.3, 1, (3, 3)) * np.exp(-0.5 * ((x - rng.uniform(0, 1, (3, 3))) / 0.02) ** 2)
    pure = peaks.sum(2) / np.linalg.norm(peaks.sum(2), axis=0)
    mixtures = np.maximum(rng.gamma(0.5, 1, (60, 3)) @ pure.T + 1e-3 * rng.standard_normal((60, 90)), 0)
    return pure, np.where(rng.random(mixtures.shape) < 0.7, mixtures, np.nan)


NMF_WITH_GAPS = dict(
    left="nonneg", right="nonneg", weights="nonneg", regularization="none", offsets=False, random_state=0
)


@pytest.mark.parametrize("seed", range(4))
def test_spectra_with_gaps_are_recovered(seed):
    pure, X = spectra_with_gaps(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = pursuit.MatrixCompletion(**NMF_WITH_GAPS).fit(X)
    assert model.n_components_ == 3 and model.stop_reason_ == "no_gain"
    assert (pure.T @ model.model_.right).max(1).min() > 0.99


def test_sweeps_that_do_not_settle_are_told():
    _, X = spectra_with_gaps(0)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model = pursuit.MatrixCompletion(3, max_iter=2, **NMF_WITH_GAPS).fit(X)
    assert model.stop_reason_ == "not_converged"
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # so many sweeps and no more were asked for
        pursuit.MatrixCompletion(3, corrections=2, **NMF_WITH_GAPS).fit(X)


@pytest.fixture(scope="module")
def answers():
    """Zeros and ones with log-odds of rank two, six in ten seen."""
    rng = np.random.default_rng(3)
    p = 1 / (1 + np.exp(-1.5 * rng.standard_normal((200, 2)) @ rng.standard_normal((2, 60))))
    Y = (rng.random(p.shape) < p).astype(float)
    return p, Y, np.where(rng.random(p.shape) < 0.6, Y, np.nan)


def test_zeros_and_ones_get_probabilities(answers, tmp_path):
    p, Y, X = answers
    model = pursuit.MatrixCompletion(loss="bernoulli", random_state=0).fit(X)
    row, col = np.nonzero(np.isnan(X))
    got, deviation = model.predict(np.c_[row, col], return_std=True)
    assert np.corrcoef(got, p[row, col])[0, 1] > 0.8
    assert_allclose(deviation, np.sqrt(got * (1 - got)))
    assert np.isnan(model.noise_)
    score = model.score((row, col, Y[row, col]))
    assert np.log(0.5) < score < 0
    assert_allclose(score, np.mean(np.log(np.where(Y[row, col] == 1, got, 1 - got))))
    rows = model.inverse_transform(model.transform(X[:4]))
    assert ((rows > 0) & (rows < 1)).all() and np.corrcoef(rows.ravel(), p[:4].ravel())[0, 1] > 0.8
    model.save(tmp_path / "m.npz")
    for again in (pursuit.load(tmp_path / "m.npz"), pickle.loads(pickle.dumps(model))):
        assert again.loss == "bernoulli"
        assert_allclose(again.predict([(3, 7)]), model.predict([(3, 7)]))
    best = model.recommend(0, 3, exclude_seen=False)
    assert best[0].value >= best[1].value >= best[2].value


def test_entries_of_weight_zero_were_not_seen(planted):
    _, X = planted
    weights = np.ones_like(X)
    weights[::3, ::2] = 0
    options = dict(n_components=2, random_state=0)
    without = pursuit.MatrixCompletion(**options).fit(np.where(weights == 0, np.nan, X))
    model = pursuit.MatrixCompletion(**options).fit(X, entry_weights=weights)
    assert_allclose(model.predict([(0, 0), (3, 7)]), without.predict([(0, 0), (3, 7)]), atol=1e-3)
    row, col = np.nonzero(~np.isnan(X))
    triplets = pursuit.MatrixCompletion(**options).fit(
        (row, col, X[row, col]), entry_weights=weights[row, col]
    )
    assert_allclose(triplets.predict([(3, 7)]), model.predict([(3, 7)]), atol=1e-3)


@pytest.mark.parametrize(
    "options, weights, message",
    [
        ({}, np.ones((2, 2)), "must have the shape"),
        ({}, np.full((150, 80), -1.0), "is -1"),
        ({"left": "nonneg"}, np.full((150, 80), -1.0), "is -1"),
        ({"left": "nonneg", "loss": "bernoulli"}, None, "bernoulli takes"),
        ({"loss": "bernoulli"}, None, "bernoulli takes"),
        ({"loss": "hinge"}, None, "loss 'hinge'"),
    ],
)
def test_losses_and_weights_that_make_no_sense(planted, options, weights, message):
    with pytest.raises(ValueError, match=message):
        pursuit.MatrixCompletion(**options).fit(planted[1], entry_weights=weights)


def test_cross_validation_over_triplets(planted):
    _, X = planted
    rows, cols, values = triplets_of(X)
    frame = pd.DataFrame({"row": rows, "column": cols, "value": values})
    folds = KFold(3, shuffle=True, random_state=0)  # of entries: every row has some in every fold
    search = GridSearchCV(pursuit.MatrixCompletion(random_state=0), {"n_components": [0, 4]}, cv=folds).fit(
        frame
    )
    assert search.best_params_ == {"n_components": 4}
    assert -0.2 < search.best_score_ < -0.09


def test_high_effort_averages_over_draws(planted):
    truth, X = planted
    model = pursuit.MatrixCompletion(4, effort="high", time_limit=20, random_state=0).fit(X[:60])
    assert model.model_.samples > 0
    hidden = np.argwhere(np.isnan(X[:60]))
    assert rmse(model.predict(hidden), truth[tuple(hidden.T)]) < 0.12


def test_predictions_stay_in_range(planted):
    _, X = planted
    narrow = pursuit.MatrixCompletion(clip=(2, 4), random_state=0).fit(X)
    everywhere = narrow.predict(np.argwhere(np.ones(X.shape)))
    assert everywhere.min() == 2 and everywhere.max() == 4
    free = pursuit.MatrixCompletion(clip=None, random_state=0).fit(X).predict(np.argwhere(np.ones(X.shape)))
    assert free.max() > np.nanmax(X) - 0.5 and free.min() < 2


def test_continues_with_new_rows_and_columns(planted):
    truth, X = planted
    model = pursuit.MatrixCompletion(random_state=0, warm_start=True).fit(triplets_of(X[:100, :60]))
    model.fit(triplets_of(X))
    assert len(model.row_ids_) == 150 and len(model.column_ids_) == 80
    assert model.row_ids_[:100] == [f"user {i}" for i in range(100)]
    assert rmse(model.predict([("user 140", "film 70")]), truth[140, 70]) < 0.5


def test_warm_start_with_nothing_new_changes_nothing(planted):
    _, X = planted
    model = pursuit.MatrixCompletion(random_state=0, warm_start=True).fit(X)
    pairs = np.argwhere(np.ones(X.shape))
    before, deviation = model.predict(pairs, return_std=True)
    assert np.abs(model.fit(X).predict(pairs) - before).max() < 1e-3 * deviation.min()


def test_frames_that_look_like_triplets_are_asked_about():
    frame = pd.DataFrame(
        {"userId": [1, 1, 2], "movieId": [5, 6, 5], "rating": [3.0, 4.0, 5.0], "timestamp": 1}
    )
    with pytest.raises(ValueError, match=r"columns=\('userId', 'movieId', 'rating'\)"):
        pursuit.MatrixCompletion().fit(frame)
    model = pursuit.MatrixCompletion(columns=("userId", "movieId", "rating"), random_state=0).fit(frame)
    assert model.row_ids_ == [1, 2] and model.column_ids_ == [5, 6]
    assert pursuit.MatrixCompletion(random_state=0).fit(frame.to_numpy(dtype=float)).n_features_in_ == 4


def test_efforts_have_the_names_of_the_program(planted):
    _, X = planted
    one, other = (
        pursuit.MatrixCompletion(3, effort=effort, random_state=0).fit(X) for effort in ("normal", "default")
    )
    assert one.predict([(3, 4)]) == other.predict([(3, 4)])


def test_path_and_trace(model):
    assert model.path_["rank"][-1] >= 2
    assert set(model.path_) >= {"rank", "relative_error", "explained_variance", "support"}
    assert set(model.trace_["phase"]) >= {"growing", "refining"}


def test_survives_pickle(planted, model):
    _, X = planted
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict([(3, 5), (70, 11)]) == model.predict([(3, 5), (70, 11)])).all()
    assert (again.transform(X) == model.transform(X)).all()
    assert again.recommend(3, 2) == model.recommend(3, 2)


def test_input_is_not_changed(planted):
    X = planted[1].copy()
    pursuit.MatrixCompletion(1).fit(X).transform(X)
    np.testing.assert_array_equal(X, planted[1])


@pytest.mark.parametrize(
    "given, message",
    [
        ((["a", "b", "a"], ["x", "y", "x"], [1, 2, 3]), "row 'a' and column 'x' is given twice"),
        ((["a", "b"], ["x", "y"], [1, np.nan]), "row 'b' and column 'y' is not a finite number"),
        ((["a", "b"], ["x", "y"], ["good", "bad"]), "no numbers"),
        ((["a", "b"], ["x", "y"], [1]), "2 rows, 2 columns and 1 values"),
        (([], [], []), "empty"),
        ((["a", None], ["x", "y"], [1, 2]), "row id is missing"),
        ((["a", "b"], ["x", "y"], [1, 1e300]), "too large"),
        (np.full((3, 3), np.nan), "no observed entry"),
        (np.array([[1.0, np.inf], [2.0, 3.0]]), "infinity"),
        (scipy.sparse.coo_matrix(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2)), "stored twice"),
        (scipy.sparse.csr_matrix(np.array([[1.0, np.nan]])), "NaN or infinity"),
        (pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}), "could not convert|no numbers"),
    ],
)
def test_observations_that_make_no_sense(given, message):
    with pytest.raises(ValueError, match=message):
        pursuit.MatrixCompletion().fit(given)


def test_ids_never_seen(planted, model):
    with pytest.raises(ValueError, match="1 row id\\(s\\) never seen in fit, the first is 1000"):
        model.predict([(3, 5), (1000, 5)])
    with pytest.raises(ValueError, match="column id.*'x'"):
        model.predict([(3, "x")])
    with pytest.raises(ValueError, match="never seen"):
        model.recommend("nobody")
    assert np.isfinite(model.predict([(1000, 5), (3, "x"), ("?", "?")], unknown="prior")).all()


@pytest.mark.parametrize(
    "argument", [{"clip": "tight"}, {"effort": "huge"}, {"validation": 2.0}, {"n_components": -1}]
)
def test_options_that_make_no_sense(planted, argument):
    with pytest.raises(ValueError):
        pursuit.MatrixCompletion(**argument).fit(planted[1])


def test_pairs_that_make_no_sense(model):
    for pairs in ([1, 2], [(1, 2, 3)], np.ones((2, 3))):
        with pytest.raises(ValueError, match="Reshape your data"):
            model.predict(pairs)
    with pytest.raises(ValueError, match="unknown"):
        model.predict([(1, 2)], unknown="guess")
    with pytest.raises(ValueError, match="n=0"):
        model.recommend(1, 0)


def by_the_formula_of_the_guide(path, i, j):
    m = np.load(path)
    mean, scale, noise_variance, lowest, highest = m["scaling"]
    u, v = m["row_mean"][i], m["column_mean"][j]
    prediction = mean + scale * (u[0] + v[0] + u[1:] @ v[1:])
    if "left" in m:
        prediction += m["left"][i] * m["weights"] @ m["right"][j]
    return np.clip(prediction, lowest, highest)


@pytest.mark.parametrize(
    "options", [{}, {"right": "sparse:0.5"}, {"left": "nonneg", "right": "nonneg", "offsets": False}]
)
def test_the_formula_of_the_guide_predicts(planted, tmp_path, options):
    model = pursuit.MatrixCompletion(4, random_state=0, **options).fit(planted[1])
    model.save(tmp_path / "model.npz")
    for i, j in [(0, 0), (3, 5), (149, 79)]:
        assert by_the_formula_of_the_guide(tmp_path / "model.npz", i, j) == pytest.approx(
            model.predict([(i, j)])[0], abs=1e-5
        )
    assert model.transform(planted[1][:2]).shape == (2, 1 + model.n_components_)


@pytest.mark.parametrize("effort", ["normal", "high"])
@pytest.mark.parametrize("value", [5.0, 0.0, -1e38, 1e-40])
def test_equal_values_predict_themselves(effort, value):
    X = np.full((20, 5), value)
    X[0, 0] = np.nan
    model = pursuit.MatrixCompletion(effort=effort, random_state=0).fit(X)
    assert model.predict([(0, 0)])[0] == np.float32(value)
    assert np.isfinite(model.path_["relative_error"]).all()


@pytest.mark.parametrize(
    "places", [([10**7], [0]), ([0], [10**7]), ([2**32], [0]), ([-2], [0]), ([0], [-(2**40)])]
)
def test_positions_outside_are_refused(model, places):
    with pytest.raises(ValueError, match="position"):
        model.model_.predict(*places, 1)
    if places[1] == [0]:
        with pytest.raises(ValueError, match="position"):
            model.model_.recommend(places[0][0], 3, np.zeros(0, np.int32))


def test_a_mask_is_honoured(planted):
    _, X = planted
    unknown = np.isnan(X)
    masked = np.ma.MaskedArray(np.where(unknown, 1e6, X), mask=unknown)
    expected = pursuit.MatrixCompletion(random_state=0).fit(X)
    got = pursuit.MatrixCompletion(random_state=0).fit(masked)
    assert got._seen.nnz == (~unknown).sum()
    assert_allclose(got.predict([(3, 5)]), expected.predict([(3, 5)]))
    assert_allclose(got.transform(masked[:2]), expected.transform(X[:2]))
    whole = np.ma.MaskedArray([[1, 2], [3, 99]], mask=[[0, 0], [0, 1]])
    assert pursuit.MatrixCompletion(random_state=0).fit(whole)._seen.nnz == 3
    triplets = ["a", "b", "c"], ["x", "x", "y"], np.ma.MaskedArray([1.0, 2.0, 99.0], mask=[0, 0, 1])
    assert pursuit.MatrixCompletion(random_state=0).fit(triplets).row_ids_ == ["a", "b"]


def test_the_reason_for_the_end_is_kept(planted, tmp_path):
    model = pursuit.MatrixCompletion(1, random_state=0).fit(planted[1])
    assert model.stop_reason_ == "rank_reached" and not model.interrupted_
    model.save(tmp_path / "m.npz")
    assert pursuit.load(tmp_path / "m.npz").stop_reason_ == "rank_reached"
    hurried = pursuit.MatrixCompletion(time_limit=1e-9, random_state=0).fit(planted[1])
    assert hurried.stop_reason_ == "time_limit" and hurried.interrupted_


def tampered(state, *path, value):
    state = dict(state)
    state[path[0]] = tampered(state[path[0]], *path[1:], value=value) if len(path) > 1 else value
    return state


@pytest.mark.parametrize(
    "path, value",
    [
        (("rows", "mean"), np.zeros((1, 1), np.float32)),
        (("rows", "mean"), np.full((150, 3), np.nan, np.float32)),
        (("cols", "variance"), np.full((80, 3), -1, np.float32)),
        (("cols", "noise_weight"), [1.0]),
        (("rows", "intercept"), np.zeros(1, np.float32)),
        (("rows", "unseen"), [10**6]),
        (("left",), np.zeros((2, 2))),
        (("weights",), np.ones(7)),
        (("scale",), 0.0),
        (("mean",), "three"),
        (("samples",), [{}]),
    ],
)
def test_a_state_that_was_tampered_with_is_refused(model, path, value):
    state = tampered(model.model_.__getstate__(), *path, value=value)
    broken = type(model.model_).__new__(type(model.model_))
    with pytest.raises(ValueError, match="completed matrix"):
        broken.__setstate__(state)
