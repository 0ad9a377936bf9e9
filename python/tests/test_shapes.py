"""Components that the data do not have: the shape stays, the model says so."""

import json

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from test_model_files import run

import pursuit

ESTIMATORS = [
    pursuit.MatrixPursuit(6),
    pursuit.MatrixPursuit(6, right="sparse:4", random_state=0),
    pursuit.MatrixPursuit(6, left="nonneg", right="nonneg", weights="nonneg", start="leading"),
    pursuit.NMF(6, random_state=0),
    pursuit.NMF(6, init="greedy", random_state=0),
    pursuit.TruncatedSVD(6),
    pursuit.SparsePCA(6, k=None),
    pursuit.SparsePCA(6, k=3, effort="low", random_state=0),
    pursuit.NonnegativeSparsePCA(6, effort="low", random_state=0),
]


@pytest.fixture
def one(rng):
    return np.outer(rng.random(12) + 0.1, rng.random(8) + 0.1)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix], ids=["dense", "sparse"])
def test_nothing_but_zeros(estimator, form):
    X = form(np.zeros((12, 8)))
    model = clone(estimator)
    z = model.fit_transform(X)
    assert z.shape == (12, 6) and model.components_.shape == (6, 8) and model.n_components_ == 6
    assert not z.any() and not model.components_.any()
    assert not model.inverse_transform(z).any()
    assert (model.explained_variance_ratio_ == 0).all() and len(model.explained_variance_ratio_) == 6
    assert model.stop_reason_ == "no_ascent" and "last 6 of 6 components are zero" in model.stop_message_
    assert model.score(X) == 1
    assert len(model.get_feature_names_out()) == 6


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_rank_one_keeps_the_number_of_components(one, estimator):
    model = clone(estimator)
    z = model.fit_transform(one)
    assert z.shape == (12, 6) and model.components_.shape == (6, 8) and model.n_components_ == 6
    assert len(model.explained_variance_ratio_) == 6
    bounded = "k" in estimator.get_params() and estimator.k is not None
    if not bounded:
        assert_allclose(model.inverse_transform(z), one, atol=1e-7)
    missing = ~model.components_.any(axis=1)
    assert not z[:, missing].any()
    if hasattr(model, "weights_"):
        assert (model.weights_[missing] == 0).all() and not model.left_[:, missing].any()
    said = f"last {missing.sum()} of 6 components are zero" in model.stop_message_
    assert said == missing.any() and (model.stop_reason_ != "rank_reached" or not missing.any())


def test_plain_components_of_rank_one(one):
    model = pursuit.SparsePCA(3, k=None).fit(one)
    assert model.components_.shape == (3, 8) and len(model.path_["rank"]) == 3
    assert_allclose(model.explained_variance_ratio_, [1, 0, 0], atol=1e-12)
    model = pursuit.TruncatedSVD(6).fit(one)
    assert_allclose(model.singular_values_, [np.linalg.norm(one), 0, 0, 0, 0, 0])
    assert "last 5 of 6 components are zero" in model.stop_message_


def test_the_next_step_of_a_pipeline_gets_its_columns(one):
    steps = make_pipeline(pursuit.NMF(3), LinearRegression())
    assert steps.fit(np.zeros((12, 8)), np.arange(12.0)).predict(one).shape == (12,)


def test_a_fit_that_was_asked_to_end_has_only_what_it_found(parts):
    sparse = pursuit.MatrixPursuit(10, right="sparse:5", random_state=0)
    assert len(clone(sparse).set_params(target_error=0.5).fit(parts).components_) < 10
    assert len(clone(sparse).set_params(early_stopping=0.3).fit(parts).components_) < 10
    assert len(clone(sparse).set_params(callback=lambda step: False).fit(parts).components_) == 1


def test_a_warm_start_goes_on_from_the_components_there_are(one, parts):
    model = pursuit.NMF(6, init="greedy", warm_start=True, random_state=0).fit(one)
    assert np.count_nonzero(model.weights_) == 1
    model.set_params(n_components=2).fit(one + np.outer(np.arange(12) == 3, np.ones(8)))
    assert np.count_nonzero(model.weights_) == 2 and model.components_.shape == (2, 8)
    nothing = pursuit.NMF(4, warm_start=True, random_state=0).fit(np.zeros_like(parts))
    assert nothing.fit(parts).relative_error_ < 0.1


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
@pytest.mark.parametrize("weight", [0, 1])
def test_models_with_zeros_are_saved_and_loaded(one, estimator, weight, tmp_path):
    model = clone(estimator).fit(weight * one)
    model.save(tmp_path / "m.npz")
    again = pursuit.load(tmp_path / "m.npz")
    assert (again.components_ == model.components_).all()
    assert_allclose(again.transform(one), model.transform(one), atol=1e-12)
    assert again.stop_message_ == model.stop_message_
    # The file has only what was found, and the program goes on from there.
    told = json.loads(run("inspect", tmp_path / "m.npz", "--json"))
    assert len(told["atoms"]) == np.count_nonzero(model.components_.any(axis=1))
    np.save(tmp_path / "one.npy", one)
    run("factor", tmp_path / "one.npy", "--rank", 6, "--right", "sparse:5", "--start", tmp_path / "m.npz")
