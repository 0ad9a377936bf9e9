"""Fits beside other threads and processes; threads, as many as are asked for and no more than there are cores."""

import multiprocessing
import subprocess
import sys
import threading
import time

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import pursuit


@pytest.fixture
def X(rng):
    return rng.random((400, 300))


def fit(X, jobs=2):
    return pursuit.MatrixPursuit(4, right="sparse:20", random_state=0, n_jobs=jobs).fit(X).components_


def test_the_interpreter_runs_on_while_a_fit_works(X):
    done, ticks = threading.Event(), []

    def tick():
        while not done.wait(0.001):
            ticks.append(1)

    other = threading.Thread(target=tick)
    other.start()
    begin = time.monotonic()
    pursuit.SparsePCA(20, k=10, effort="high", time_limit=1.0).fit(X)
    seconds = time.monotonic() - begin
    done.set()
    other.join()
    assert seconds > 0.2
    assert len(ticks) > 100


def test_grid_search_in_two_processes(X):
    search = GridSearchCV(
        pursuit.NMF(random_state=0, max_iter=20, tol=0.1), {"n_components": [1, 4]}, cv=2, n_jobs=2
    ).fit(X)
    assert search.best_params_ == {"n_components": 4}
    here = GridSearchCV(
        pursuit.NMF(random_state=0, max_iter=20, tol=0.1), {"n_components": [1, 4]}, cv=2
    ).fit(X)
    assert (search.cv_results_["mean_test_score"] == here.cv_results_["mean_test_score"]).all()


def test_grid_search_over_atom_sets_given_as_functions(X):
    search = GridSearchCV(
        pursuit.MatrixPursuit(2, random_state=0),
        {"right": ["sparse:5", pursuit.atoms.sparse(100)]},
        cv=2,
        n_jobs=2,
    ).fit(X[:100])
    assert search.best_params_["right"] == pursuit.atoms.sparse(100)


def test_fits_on_several_threads_at_once_are_the_same_as_one_by_one(X):
    matrices = [X + k for k in range(4)]
    alone = [fit(each) for each in matrices]
    together = joblib.Parallel(n_jobs=4, backend="threading")(joblib.delayed(fit)(each) for each in matrices)
    assert all((a == b).all() for a, b in zip(alone, together))


def test_a_forked_process_can_fit_after_its_parent_used_threads(X):
    expected = fit(X)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        results = pool.map_async(fit, [X, X]).get(timeout=60)
    assert all((each == expected).all() for each in results)


def test_functions_are_called_from_fits_on_several_threads(X):
    def unit(g):
        return g / np.linalg.norm(g)

    def one(k):
        return pursuit.MatrixPursuit(1, right=unit, random_state=k).fit(X[:50, :30]).relative_error_

    errors = joblib.Parallel(n_jobs=4, backend="threading")(joblib.delayed(one)(k) for k in range(8))
    assert np.ptp(errors) < 1e-6


OUTLIVING = """
import threading, time
import numpy as np, pursuit

X = np.random.default_rng(0).random((200, 150))
endless = {"max_iter": 10**7, "tol": 0.0}
FITS = {
    "atoms": lambda: pursuit.MatrixPursuit(100, right=lambda g: g / np.linalg.norm(g), **endless).fit(X),
    "callback": lambda: pursuit.NMF(40, callback=lambda step: True, **endless).fit(X),
    "plain": lambda: pursuit.NMF(40, **endless).fit(X),
    "completion": lambda: pursuit.MatrixCompletion(effort="high").fit(X),
}

def work():
    while True:
        FITS[KIND]()

threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
"""


@pytest.mark.parametrize("kind", ["atoms", "callback", "plain", "completion"])
def test_the_interpreter_may_end_while_a_daemon_thread_fits(kind):
    script = f"KIND = {kind!r}\n" + OUTLIVING
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("jobs", [100000, 2**31 - 1, -100000])
@pytest.mark.parametrize(
    "estimator",
    [
        pursuit.MatrixPursuit(4, right="sparse:20", random_state=0),
        pursuit.NMF(3, random_state=0, max_iter=20, tol=0.1),
        pursuit.TruncatedSVD(3),
        pursuit.SparsePCA(2, k=5, effort="low", random_state=0),
        pursuit.MatrixCompletion(2, random_state=0),
    ],
    ids=lambda e: type(e).__name__,
)
def test_more_threads_than_cores_are_as_many_as_cores(X, jobs, estimator):
    expected = clone(estimator).fit(X).transform(X[:5])
    assert (clone(estimator).set_params(n_jobs=jobs).fit(X).transform(X[:5]) == expected).all()
