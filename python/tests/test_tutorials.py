"""The tutorials run, without a warning, and their pages stand alone."""

import importlib.util
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "tutorials"
pytest.importorskip("matplotlib")
pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def renderer():
    spec = importlib.util.spec_from_file_location("render_tutorials", FOLDER / "render.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_four():
    assert len(list(FOLDER.glob("[0-9]*.py"))) == 4


@pytest.mark.parametrize("script", sorted(FOLDER.glob("[0-9]*.py")), ids=lambda path: path.stem)
def test_tutorials_run_and_have_pictures(renderer, script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = renderer.render(script)
    cells = renderer.cells_of(script.read_text())
    assert page.count("<pre><code>") == sum(kind == "code" for kind, _ in cells) > 3
    assert page.count("data:image/png;base64,") >= 1
    assert page.count('class="out"') >= 3
    assert 'src="http' not in page and "<script" not in page, "nothing is fetched"
    assert list(tmp_path.iterdir()) == []


def test_cells_and_text(renderer):
    cells = renderer.cells_of("# %% [markdown]\n# # A title\n#\n# text\n\n# %%\nx = 1\nx + 1\n")
    assert cells == [("text", "# A title\n\ntext"), ("code", "x = 1\nx + 1")]
    page = renderer.text_as_html("## B\n\n* `a<b`\n* [c](d.html) and *e*")
    assert "<h2>B</h2>" in page and "<li><code>a&lt;b</code></li>" in page
    assert '<a href="d.html">c</a> and <em>e</em>' in page
    assert "2</pre>" in renderer.run_cell("x = 1\nx + 1", {})
    with pytest.raises(ZeroDivisionError):
        renderer.run_cell("1 / 0", {})
