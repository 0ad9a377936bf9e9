"""Threads: as many as are asked for, and no more than there are cores."""

import numpy as np
import pytest

import pursuit


@pytest.mark.parametrize("n_jobs", [2, 100_000])
def test_more_threads_than_cores_change_nothing(n_jobs):
    X = np.abs(np.random.default_rng(0).standard_normal((400, 30)))
    few, many = (pursuit.NMF(3, random_state=0, n_jobs=jobs).fit(X) for jobs in (1, n_jobs))
    assert np.array_equal(few.components_, many.components_)


def test_more_threads_than_cores_in_completion():
    X = np.random.default_rng(1).standard_normal((40, 30))
    X[::3, ::2] = np.nan
    few, many = (pursuit.MatrixCompletion(random_state=0, n_jobs=jobs).fit(X) for jobs in (1, 100_000))
    assert np.array_equal(few.predict([(0, 0), (3, 2)]), many.predict([(0, 0), (3, 2)]))
