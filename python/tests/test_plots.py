"""Pictures of fitted models."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import pursuit


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def model(parts):
    return pursuit.MatrixPursuit(
        3, left="nonneg", right="nonneg+sparse:5", weights="nonneg", random_state=0
    ).fit(parts)


def test_curves_show_what_the_model_knows(model):
    (line,) = model.plot_convergence().lines
    assert (line.get_ydata() == model.trace_["relative_error"]).all()
    (line,) = model.plot_path().lines
    assert (line.get_ydata() == model.path_["explained_variance"]).all()
    assert (line.get_xdata() == [1, 2, 3]).all()


def test_curves_can_be_drawn_where_one_wants(model):
    _, ax = plt.subplots()
    assert model.plot_path(ax=ax) is ax


def test_atoms_are_pictures_of_their_shape(model):
    figure = model.plot_atoms(shape=(4, 5), columns=2)
    pictures = [ax.images[0].get_array() for ax in figure.axes if ax.images]
    assert len(pictures) == 3 and len(figure.axes) == 4
    np.testing.assert_array_equal(pictures[1], model.components_[1].reshape(4, 5))
    lines = [ax.lines[0].get_ydata() for ax in model.plot_atoms().axes if ax.lines]
    np.testing.assert_array_equal(lines[2], model.components_[2])


def test_every_estimator_has_them(parts):
    for each in (pursuit.SparsePCA(2, k=3, effort="low"), pursuit.NMF(2), pursuit.TruncatedSVD(2)):
        each.fit(parts)
        assert len(each.plot_convergence().lines[0].get_xdata()) > 0
        assert len(each.plot_path().lines[0].get_xdata()) > 0
        each.plot_atoms(shape=(4, 5))
    completed = pursuit.MatrixCompletion(2).fit(parts)
    assert len(completed.plot_convergence().lines[0].get_xdata()) > 0
    assert len(completed.plot_path().lines[0].get_xdata()) > 0


def test_the_path_of_a_completion_has_the_rank_that_was_chosen(parts):
    seen = np.where(np.random.default_rng(1).random(parts.shape) < 0.7, parts, np.nan)
    model = pursuit.MatrixCompletion(3, random_state=0).fit(seen)
    x, y = model.plot_path().lines[0].get_data()
    assert model.n_components_ in x and np.isfinite(y).all()
    x, y = pursuit.MatrixCompletion(3, validation=0, random_state=0).fit(seen).plot_path().lines[0].get_data()
    assert len(x) > 0 and np.isfinite(y).all()


def test_what_cannot_be_drawn(model):
    with pytest.raises(ValueError, match="shape=\\(3, 3\\): has 9 places for 20 features"):
        model.plot_atoms(shape=(3, 3))
    with pytest.raises(NotFittedError):
        pursuit.NMF(2).plot_path()


def test_names_wavelengths_and_single_points(rng):
    pandas = pytest.importorskip("pandas")
    names = [f"gene {j}" for j in range(29)] + ["a name that is much longer than there is room for"]
    X = pandas.DataFrame(rng.random((20, 30)) * np.r_[np.ones(29), 9], columns=names)
    model = pursuit.MatrixPursuit(4, right="sparse:3", random_state=0).fit(X)
    figure = model.plot_atoms()
    assert len(figure.axes) == 6, "two rows of three, two places of which are empty"
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert len(labels) <= 3 and labels[0] == "a name that \u2026is room for"
    assert len(model.plot_atoms(top=2).axes[0].patches) == 2
    assert model.plot_atoms(top=0).axes[0].lines, "curves all the same"
    curves = model.plot_atoms(x=np.linspace(400, 700, 30), xlabel="wavelength [nm]")
    assert curves.axes[0].lines[0].get_xdata()[0] == 400 and curves.axes[0].get_title() == "component 1"
    with pytest.raises(ValueError, match="x of shape"):
        model.plot_atoms(x=[1, 2])
    whole = pursuit.NMF(3, random_state=0).fit(X).plot_path()
    assert whole.get_ylim()[0] == 0 and all(float(tick).is_integer() for tick in whole.get_xticks())
