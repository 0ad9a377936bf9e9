"""Fits beside other threads and processes."""

import multiprocessing
import threading

import joblib
import numpy as np
import pytest
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
    model = pursuit.SparsePCA(20, k=10, effort="high", time_limit=0.5).fit(X)
    done.set()
    other.join()
    assert model.trace_["seconds"][-1] > 0.4
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
