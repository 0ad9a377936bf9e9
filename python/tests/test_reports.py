import html
import re

import numpy as np
import pytest
import sklearn
from sklearn.base import clone

import pursuit


def parts(rows=20, columns=12, rank=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((rows, rank)) @ rng.random((rank, columns))


def fitted_models():
    X = parts()
    pairs = np.nonzero(np.random.default_rng(1).random(X.shape) < 0.7)
    clicks = (pairs[0], pairs[1], np.ones(len(pairs[0])))
    T = np.einsum("ir,jr,kr->ijk", *(np.random.default_rng(2).random((n, 2)) for n in (5, 4, 3)))
    return [
        pursuit.NMF(3, random_state=0).fit(X),
        pursuit.MatrixPursuit(2, right="sparse:3", random_state=0).fit(X),
        pursuit.TruncatedSVD(2).fit(X),
        pursuit.PCA(2).fit(X),
        pursuit.SparsePCA(2, k=4, random_state=0).fit(X),
        pursuit.MatrixCompletion(2, random_state=0).fit((*pairs, X[pairs])),
        pursuit.MatrixCompletion(2, left="nonneg", right="nonneg", random_state=0).fit((*pairs, X[pairs])),
        pursuit.MatrixCompletion(2, implicit=True, random_state=0).fit(clicks),
        pursuit.TensorPursuit(2, random_state=0).fit(T),
        pursuit.TensorPursuit.from_cp((None, [np.ones((3, 1)), np.ones((4, 1)), np.ones((2, 1))])),
    ]


@pytest.mark.parametrize("model", fitted_models(), ids=lambda model: type(model).__name__)
def test_every_fitted_model_has_a_page_and_shows_a_short_one(model, tmp_path):
    report = model.report(tmp_path / "report.html")
    page = str(report)
    assert (tmp_path / "report.html").read_text() == page
    assert page.startswith("<!DOCTYPE html>") and page.endswith("</html>\n")
    assert type(model).__name__ in page
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)
    assert "<iframe" in report._repr_html_() and html.escape(page) in report._repr_html_()
    bundle = model._repr_mimebundle_()
    assert bundle["text/plain"] == repr(model)
    assert bundle["text/html"].count("<iframe") == 1
    assert model._repr_html_().count("<iframe") == 1


def test_scikit_learns_own_words_stay():
    model = pursuit.NMF(3, random_state=0)
    assert "<iframe" not in model._repr_html_() and "sk-" in model._repr_html_()
    assert "<iframe" not in clone(model.fit(parts()))._repr_mimebundle_()["text/html"]
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert set(model._repr_mimebundle_()) == {"text/plain"}


def test_names_pictures_curves_and_labels():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(parts(), columns=[f"<b>gene {i}</b>" for i in range(12)])
    model = pursuit.NMF(3, random_state=0).fit(X)
    labels = ["a", "b", None, "a"] * 5
    page = str(model.report(title="My & parts", shape=(3, 4), labels=labels, top=2))
    assert "<h1>My &amp; parts</h1>" in page
    assert "&lt;b&gt;gene" in page and "<b>gene" not in page
    assert page.count("crispEdges") == 3
    assert "mean of a" in page and "5 rows have no label" in page
    assert str(model.report(lines=True)).count("<polyline") == 3


def test_bad_options_are_named(tmp_path):
    model = pursuit.NMF(3, random_state=0).fit(parts())
    with pytest.raises(ValueError, match="25 places"):
        model.report(shape=(5, 5))
    with pytest.raises(ValueError, match="2 labels for 20 rows"):
        model.report(labels=["a", "b"])
    with pytest.raises(OSError, match="nowhere"):
        model.report(tmp_path / "nowhere" / "report.html")
    with pytest.raises(sklearn.exceptions.NotFittedError):
        pursuit.NMF(3).report()
