"""Fits that are stopped and go on from their checkpoint end like those that were never stopped."""

import numpy as np
import pytest

import pursuit


@pytest.fixture
def parts(rng):
    return rng.random((40, 25))


def stopping_after(steps):
    """A callback that ends the fit after so many steps."""
    left = iter(range(steps))
    return lambda moment: next(left, None) is not None


def estimators():
    sets = dict(left="nonneg", right="nonneg+sparse:9", weights="nonneg", random_state=0)
    yield lambda **more: pursuit.MatrixPursuit(4, **sets, **more)
    yield lambda **more: pursuit.MatrixPursuit(3, right="sparse:9", loss="huber:0.5", random_state=0, **more)


@pytest.mark.parametrize("make", estimators())
def test_a_factorization_goes_on_from_where_it_was_stopped(make, parts, tmp_path):
    whole = make().fit(parts)
    state = tmp_path / "fit.state"
    for steps in (1, 4, 7):
        make(checkpoint=state, callback=stopping_after(steps)).fit(parts)
        assert state.exists()
        resumed = make(checkpoint=(state, "5"), n_jobs=2).fit(parts)
        assert not state.exists()
        np.testing.assert_array_equal(resumed.components_, whole.components_)
        np.testing.assert_array_equal(resumed.left_, whole.left_)
        np.testing.assert_array_equal(resumed.weights_, whole.weights_)


@pytest.mark.parametrize("gaps", [False, True])
def test_an_array_goes_on_from_where_it_was_stopped(gaps, rng, tmp_path):
    X, state = rng.random((9, 8, 7)), tmp_path / "fit.state"
    options = dict(modes=["nonneg"] * 3, weights="nonneg", random_state=0, starts=0)
    if gaps:  # how much its atoms pay is found, too
        X[rng.random(X.shape) < 0.2] = np.nan
        options = dict(modes=["nonneg"] * 3, weights="nonneg", random_state=0, regularize="auto")
    whole = pursuit.TensorPursuit(3, **options).fit(X)
    pursuit.TensorPursuit(3, **options, checkpoint=state, callback=stopping_after(5)).fit(X)
    resumed = pursuit.TensorPursuit(3, **options, checkpoint=state).fit(X)
    assert not state.exists()
    for mine, theirs in zip(resumed.factors_, whole.factors_):
        np.testing.assert_array_equal(mine, theirs)


def test_components_go_on_from_where_their_search_was_stopped(rng, tmp_path):
    X, state = rng.standard_normal((30, 40)), tmp_path / "fit.state"
    whole = pursuit.SparsePCA(3, k=5, effort="low", random_state=0).fit(X)
    pursuit.SparsePCA(3, k=5, effort="low", random_state=0, checkpoint=state, callback=stopping_after(4)).fit(
        X
    )
    assert state.exists()
    resumed = pursuit.SparsePCA(3, k=5, effort="low", random_state=0, checkpoint=state, n_jobs=2).fit(X)
    assert not state.exists()
    np.testing.assert_array_equal(resumed.components_, whole.components_)


def test_clicks_go_on_from_where_they_were_stopped(rng, tmp_path):
    X, state = np.where(rng.random((40, 25)) < 0.3, 1.0, np.nan), tmp_path / "fit.state"
    whole = pursuit.MatrixCompletion(implicit=True, random_state=0).fit(X)
    pursuit.MatrixCompletion(implicit=True, random_state=0, checkpoint=state, callback=stopping_after(9)).fit(
        X
    )
    resumed = pursuit.MatrixCompletion(implicit=True, random_state=0, checkpoint=state, n_jobs=2).fit(X)
    assert not state.exists()
    pairs = [(i, i) for i in range(20)]
    np.testing.assert_array_equal(resumed.predict(pairs), whole.predict(pairs))


@pytest.mark.parametrize(
    "options", [dict(), dict(left="nonneg", n_components=3), dict(effort="high", n_components=2)]
)
def test_a_completion_goes_on_from_where_it_was_stopped(options, rng, tmp_path):
    X = rng.random((30, 3)) @ rng.random((3, 20)) + 0.1 * rng.standard_normal((30, 20))
    X[rng.random(X.shape) < 0.4] = np.nan
    state = tmp_path / "fit.state"
    whole = pursuit.MatrixCompletion(random_state=0, **options).fit(X)
    pursuit.MatrixCompletion(random_state=0, **options, checkpoint=state, callback=stopping_after(9)).fit(X)
    assert state.exists()
    resumed = pursuit.MatrixCompletion(random_state=0, **options, checkpoint=state, n_jobs=2).fit(X)
    assert not state.exists()
    pairs = [(i, i) for i in range(20)]
    np.testing.assert_array_equal(resumed.predict(pairs), whole.predict(pairs))


def test_what_a_checkpoint_is_not_of_is_refused(parts, tmp_path):
    state = tmp_path / "fit.state"
    sets = dict(left="nonneg", right="sparse:9", random_state=0)
    pursuit.MatrixPursuit(3, **sets, checkpoint=state, callback=stopping_after(2)).fit(parts)
    with pytest.raises(ValueError, match="rank is 3 there and 4 here"):
        pursuit.MatrixPursuit(4, **sets, checkpoint=state).fit(parts)
    with pytest.raises(ValueError, match="data is"):
        pursuit.MatrixPursuit(3, **sets, checkpoint=state).fit(2 * parts)
    with pytest.raises(ValueError, match="must be a number of steps"):
        pursuit.MatrixPursuit(3, **sets, checkpoint=(tmp_path / "other", "often")).fit(parts)
    with pytest.raises(TypeError, match="checkpoint=3: must be a path"):
        pursuit.MatrixPursuit(3, **sets, checkpoint=3).fit(parts)
    with pytest.raises(ValueError, match="checkpoint and early_stopping"):
        pursuit.MatrixPursuit(3, **sets, checkpoint=state, early_stopping=0.1).fit(parts)
    with pytest.raises(ValueError, match="checkpoint: loadings that pay"):
        pursuit.SparsePCA(2, alpha=0.1, checkpoint=state).fit(parts)
