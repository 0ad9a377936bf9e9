"""Offsets that drift in time, from Python."""

import pickle

import numpy as np
import pytest

import pursuit


@pytest.fixture(scope="module")
def moody():
    rng = np.random.default_rng(4)
    who, what = np.divmod(np.arange(2400), 40)
    when = 1000 * rng.random(2400)
    value = rng.normal(size=60)[who] + np.sin(when / 30 + who) + 0.1 * rng.normal(size=2400)
    return who, what, value, when


@pytest.fixture(scope="module")
def model(moody):
    who, what, value, when = moody
    return pursuit.MatrixCompletion(random_state=0).fit((who, what, value), time=when)


def test_moods_are_followed_where_there_are_any(moody, model):
    who, what, value, when = moody
    assert "rows" in model.drift_
    pairs = np.column_stack([who, what])
    followed = model.predict(pairs, time=when)
    plain = pursuit.MatrixCompletion(random_state=0).fit((who, what, value)).predict(pairs)
    assert np.std(followed - value) < 0.7 * np.std(plain - value)
    still = np.random.default_rng(1).permutation(when)
    assert pursuit.MatrixCompletion(random_state=0).fit((who, what, value), time=still).drift_ == {}


def test_questions_are_of_a_time(model, moody):
    newest = float(moody[3].max())
    pairs = [(3, 4), (7, 8)]
    assert np.array_equal(model.predict(pairs), model.predict(pairs, time=newest))
    assert np.array_equal(model.predict(pairs, time=[500, 600])[:1], model.predict(pairs[:1], time=500))
    lists = model.recommend_many(time=500, exclude_seen=False)
    assert lists.values[3, 0] == pytest.approx(
        model.predict([(3, lists.columns[3, 0])], time=500)[0], abs=1e-5
    )
    assert model.recommend(3, 2, time=500, exclude_seen=False)[0].value == lists.values[3, 0]
    rows, columns = model.vectors()
    assert rows[3] @ columns[4] == pytest.approx(model.predict([(3, 4)])[0], abs=1e-4)


def test_files_and_pickles_keep_it(model, tmp_path):
    pairs = [(3, 4), (7, 8)]
    model.save(tmp_path / "m.npz")
    for again in (pursuit.load(tmp_path / "m.npz"), pickle.loads(pickle.dumps(model))):
        assert again.drift_ == model.drift_
        assert np.array_equal(again.predict(pairs, time=321), model.predict(pairs, time=321))
        assert np.array_equal(again.predict(pairs), model.predict(pairs))


def test_dates_are_seconds(moody):
    who, what, value, when = moody
    seconds = np.floor(when)
    dates = np.datetime64("1970-01-01") + seconds.astype("timedelta64[s]")
    by_date = pursuit.MatrixCompletion(random_state=0).fit((who, what, value), time=dates)
    by_number = pursuit.MatrixCompletion(random_state=0).fit((who, what, value), time=seconds)
    assert by_date.drift_ == by_number.drift_
    at = np.datetime64("1970-01-01T00:05")
    assert np.array_equal(by_date.predict([(1, 2)], time=at), by_number.predict([(1, 2)], time=300))


def test_a_frame_names_its_column(moody):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(dict(zip(("row", "column", "value", "when"), moody)))
    model = pursuit.MatrixCompletion(random_state=0).fit(frame, time="when")
    assert "rows" in model.drift_


def test_evaluation_knows_drift(moody):
    who, what, value, when = moody
    plain, drift = pursuit.evaluate_completion(
        (who, what, value), methods=["default", "drift"], times=when, random_state=0
    )
    assert drift["rmse"] < 0.9 * plain["rmse"]


@pytest.mark.parametrize(
    "settings, time, word",
    [
        ({}, [1.0, 2.0], "shape"),
        ({}, "soon", "no such column"),
        ({"implicit": True}, None, "implicit"),
        ({"left": "nonneg"}, None, "left"),
        ({"loss": "bernoulli"}, None, "loss"),
    ],
)
def test_what_makes_no_sense_is_refused(moody, settings, time, word):
    who, what, value, when = moody
    with pytest.raises(ValueError, match=word):
        pursuit.MatrixCompletion(**settings).fit(
            (who, what, (value > 0).astype(float)), time=when if time is None else time
        )


def test_times_that_are_none_are_refused(model, moody):
    who, what, value, when = moody
    for wrong in (np.where(when > 500, np.nan, when), ["soon"] * len(when)):
        with pytest.raises(ValueError, match="time"):
            pursuit.MatrixCompletion().fit((who, what, value), time=wrong)
    with pytest.raises(ValueError, match="finite"):
        model.predict([(1, 2)], time=np.nan)
    with pytest.raises(ValueError, match="matrix"):
        pursuit.MatrixCompletion().fit(np.ones((3, 3)), time=np.ones((3, 3)))
    with pytest.raises(ValueError, match="keeps the drift"):
        pursuit.MatrixCompletion(warm_start=True).fit((who, what, value)).fit((who, what, value), time=when)
