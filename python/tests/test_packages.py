"""The packages that the extension meets at run time."""

import subprocess
import sys

from pursuit import _core


def test_numpy_2_is_refused_where_pybind11_cannot_serve_it():
    # What is imported first looks at the version too.
    script = "import numpy, scipy.sparse, sklearn; numpy.__version__ = '2.3.1'; import pursuit"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    if tuple(map(int, _core.__pybind11__.split("."))) >= (2, 12):
        assert ended.returncode == 0, ended.stderr
    else:
        assert ended.returncode == 1  # an error, not a signal
        assert "ImportError: pursuit was built with pybind11" in ended.stderr
        assert "NumPy is 2.3.1: build it with pybind11 2.12 or later" in ended.stderr
