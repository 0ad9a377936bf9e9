import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def parts(rng):
    """Rows made of four parts that do not overlap, all non-negative, with a little noise."""
    pattern = np.kron(np.eye(4), np.ones(5))
    return rng.random((60, 4)) @ pattern + 0.01 * rng.random((60, 20))
