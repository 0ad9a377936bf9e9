"""Every example in the docstrings and in the guide is run."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import pursuit

MODULES = [
    name for _, name, _ in pkgutil.iter_modules(pursuit.__path__, "pursuit.") if not name.endswith("._core")
]
GUIDE = Path(__file__).resolve().parents[2] / "docs" / "python.md"


def test_every_estimator_has_an_example():
    estimators = [
        getattr(pursuit, name) for name in pursuit.__all__ if hasattr(getattr(pursuit, name), "fit")
    ]
    assert len(estimators) == 11
    assert [each.__name__ for each in estimators if ">>>" not in (each.__doc__ or "")] == []


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_examples_of_the_guide(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, GUIDE.name, str(GUIDE), 0)
    result = doctest.DocTestRunner().run(test)
    assert result.attempted > 40
    assert result.failed == 0
