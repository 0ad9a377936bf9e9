"""Threads: as many as are asked for, and no more than there are cores."""

import numpy as np
import pursuit
import pytest


@pytest.mark.parametrize("n_jobs", [2, 100_000])
def test_more_threads_than_cores_change_nothing(n_jobs):
    X = np.abs(np.random.default_rng(0).standard_normal((400, 30)))
    assert np.array_equal(pursuit.NMF(3, n_jobs=n_jobs).fit(X).components_, pursuit.NMF(3, n_jobs=1).fit(X).components_)


def test_more_threads_than_cores_in_completion():
    X = np.random.default_rng(1).standard_normal((40, 30))
    X[::3, ::2] = np.nan
    model = pursuit.MatrixCompletion(n_jobs=100_000).fit(X)
    assert np.isfinite(model.predict([0, 1], [0, 1])).all()
