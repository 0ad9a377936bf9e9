"""The stubs of the engine say what the engine has."""

import ast
from pathlib import Path

import pytest

from pursuit import _core

STUBS = ast.parse((Path(_core.__file__).parent / "_core.pyi").read_text())
FUNCTIONS = {node.name: node for node in STUBS.body if isinstance(node, ast.FunctionDef)}
CLASSES = {node.name: node for node in STUBS.body if isinstance(node, ast.ClassDef)}


def test_every_name_has_a_stub():
    public = {name for name in vars(_core) if not name.startswith("_")}
    assert public == set(FUNCTIONS) | set(CLASSES)


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_classes_have_the_same_members(name):
    stub = {node.name for node in CLASSES[name].body if isinstance(node, ast.FunctionDef)}
    real = {each for each in vars(getattr(_core, name)) if not each.startswith("_")}
    assert stub == real


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_functions_take_the_same_arguments(name):
    arguments = FUNCTIONS[name].args
    stub = [each.arg for each in arguments.args + arguments.kwonlyargs]
    signature = getattr(_core, name).__doc__.split("->")[0]
    assert [each for each in stub if f"{each}:" not in signature] == []
    assert signature.count(": ") == len(stub)


def test_the_package_is_typed():
    assert (Path(_core.__file__).parent / "py.typed").exists()
