"""Callbacks, early stopping, bars, and Ctrl-C."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import pursuit


@pytest.fixture
def X(rng):
    return rng.random((60, 40))


def endless_fits(rng):
    """Estimators with data on which they would run for minutes."""
    large = rng.random((1200, 800))
    ratings = np.where(rng.random((400, 300)) < 0.3, large[:400, :300], np.nan)
    return {
        "NMF": (pursuit.NMF(40, max_iter=10**7, tol=0.0), large),
        "MatrixPursuit": (pursuit.MatrixPursuit(300, right="sparse:20", corrections=20), large),
        "SparsePCA": (pursuit.SparsePCA(20, k=10, effort="high"), large),
        "MatrixCompletion": (pursuit.MatrixCompletion(effort="high"), ratings),
    }


def test_a_callback_sees_every_step_and_can_stop(X):
    steps = []

    def callback(step):
        steps.append((step.phase, step.rank, step.relative_error))
        return step.rank < 3

    model = pursuit.MatrixPursuit(10, right="sparse:5", random_state=0, callback=callback).fit(X)
    assert model.n_components_ == 3 and model.stop_reason_ == "interrupted"
    assert {rank for _, rank, _ in steps} == {1, 2, 3}
    errors = [error for _, _, error in steps]
    assert all(b <= a * (1 + 1e-12) for a, b in zip(errors, errors[1:]))


def test_the_exact_path_calls_back_and_can_be_stopped(rng):
    X = rng.standard_normal((300, 200))
    phases = []

    def watch(step):
        phases.append(step.phase)
        return step.phase == "iteration" or step.rank < 2

    model = pursuit.MatrixPursuit(5, callback=watch).fit(X)
    assert phases.count("iteration") > 2 and phases.count("atom") == 2
    assert (model.n_components_, model.stop_reason_) == (2, "interrupted")


def test_early_stopping_works_on_the_exact_path(rng):
    X = np.diag([5.0, 4.0, 0.01, 0.001, 0.0001] + [0.0] * 95)
    model = pursuit.MatrixPursuit(5, early_stopping=0.01).fit(X)
    assert (model.n_components_, model.stop_reason_) == (3, "early_stopping")


def test_iterations_that_do_not_settle_are_told():
    model = pursuit.TruncatedSVD(2)
    with pytest.warns(ConvergenceWarning, match="did not settle"):
        model._set_stop("not_converged", found=2, asked=2)


def test_a_callback_that_returns_nothing_goes_on(X):
    assert pursuit.MatrixPursuit(3, right="sparse:5", callback=lambda step: None).fit(X).n_components_ == 3


def test_what_a_callback_raises_comes_back_and_the_model_stays(X):
    problem = RuntimeError("enough")

    def callback(step):
        if step.rank == 2:
            raise problem

    model = pursuit.MatrixPursuit(10, right="sparse:5", callback=callback)
    with pytest.raises(RuntimeError) as caught:
        model.fit(X)
    assert caught.value is problem
    assert caught.traceback[-1].name == "callback"
    assert model.transform(X).shape == (60, 2)


def test_early_stopping_ends_with_the_atom_that_explains_too_little(parts):
    model = pursuit.MatrixPursuit(15, right="sparse:5", early_stopping=0.01, random_state=0).fit(parts)
    gains = np.diff(model.path_["explained_variance"], prepend=0)
    assert model.stop_reason_ == "early_stopping" and "early_stopping" in model.stop_message_
    assert (gains[:-1] >= 0.01).all() and 4 <= model.n_components_ < 15


def test_target_error_and_time_limit(X, rng):
    model = pursuit.MatrixPursuit(30, right="sparse:20", target_error=0.4).fit(X)
    assert model.stop_reason_ == "target_error" and model.relative_error_ <= 0.4
    endless, large = endless_fits(rng)["NMF"]
    endless.set_params(time_limit=0.2)
    start = time.monotonic()
    endless.fit(large)
    assert endless.stop_reason_ == "time_limit" and time.monotonic() - start < 5


@pytest.mark.parametrize("name", ["NMF", "MatrixPursuit", "SparsePCA", "MatrixCompletion"])
def test_control_c_stops_a_fit_and_leaves_the_model_so_far(rng, name):
    model, X = endless_fits(rng)[name]
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert 0.4 < time.monotonic() - start < 10
    assert np.isfinite(model.transform(X)).all()
    if name != "MatrixCompletion":
        assert 0 < model.explained_variance_ratio_.sum() <= 1


def test_control_c_inside_an_atom_function_leaves_the_model_too(X):
    calls = 0

    def interrupted(g):
        nonlocal calls
        calls += 1
        if calls == 100:
            signal.raise_signal(signal.SIGINT)
        return g / np.linalg.norm(g)

    model = pursuit.MatrixPursuit(30, right=interrupted, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert 1 <= model.n_components_ < 30
    assert np.isfinite(model.transform(X)).all()


def test_a_second_control_c_inside_an_atom_function_ends_it_at_once(X):
    def stubborn(g):
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        pursuit.MatrixPursuit(3, right=stubborn).fit(X)


@pytest.mark.parametrize(
    "estimator, word",
    [
        (pursuit.MatrixPursuit(3, right="sparse:5"), "polish"),
        (pursuit.SparsePCA(3, k=5, effort="low"), "polish"),
        (pursuit.MatrixCompletion(), "refining"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_verbose_shows_a_bar(X, capsys, estimator, word):
    estimator.set_params(verbose=1).fit(X)
    assert word in capsys.readouterr().err


def test_a_bar_is_drawn_seldom_and_ends_full(X, capsys):
    pursuit.SparsePCA(3, k=5, verbose=1).fit(X)  # thousands of sweeps
    drawn = capsys.readouterr().err.split("\r")
    assert len(drawn) < 100
    assert "100%" in drawn[-1]


def test_bars_say_nothing_that_is_not_known(X, capsys):
    pursuit.choose_rank(np.abs(X), [1, 2], folds=2, verbose=1, random_state=0)
    pursuit.ConsensusNMF(2, n_seeds=3, verbose=1, random_state=0).fit(np.abs(X))
    drawn = capsys.readouterr().err
    assert drawn.count("100%") == 2 and "nan" not in drawn and "rank=0" not in drawn


def test_nothing_is_printed_otherwise(X, capsys):
    pursuit.MatrixPursuit(3, right="sparse:5").fit(X)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("argument", [{"callback": 3}, {"early_stopping": -0.1}, {"early_stopping": 1.0}])
def test_what_makes_no_sense_is_refused(X, argument):
    with pytest.raises((TypeError, ValueError), match=next(iter(argument))):
        pursuit.MatrixPursuit(3, **argument).fit(X)
