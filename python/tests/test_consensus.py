import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

import pursuit


def planted(rank=4, cells=200, genes=60, seed=0):
    rng = np.random.default_rng(seed)
    usages, spectra = rng.gamma(0.3, 3, (cells, rank)), rng.gamma(0.3, 3, (rank, genes))
    return rng.poisson(usages @ spectra).astype(float), spectra


def worst_match(spectra, components):
    units = spectra / np.linalg.norm(spectra, axis=1, keepdims=True)
    return (units @ components.T).max(axis=1).min()


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
def test_planted_parts_are_found(loss):
    X, spectra = planted()
    model = pursuit.ConsensusNMF(4, n_seeds=12, beta_loss=loss, random_state=0).fit(X)
    assert worst_match(spectra, model.components_) > 0.98
    np.testing.assert_allclose(model.usages_.sum(axis=1)[X.any(axis=1)], 1)
    np.testing.assert_allclose(model.spectra_.sum(axis=1), 1)
    assert model.silhouette_ > 0.9 and model.stability_.shape == (4,)
    assert model.labels_.shape == model.local_density_.shape == (48,)
    assert model.n_seeds_ == len(model.errors_) == 12
    np.testing.assert_allclose(
        model.transform(X), model.left_ * model.weights_, rtol=1e-4, atol=1e-4 * model.weights_.max()
    )
    assert 0.5 < model.score(X) <= 1


def test_selected_and_scaled_features():
    X, spectra = planted(genes=80)
    X[:, 7] = 0
    model = pursuit.ConsensusNMF(4, n_seeds=10, n_top_features=50, unit_variance=True, random_state=0).fit(X)
    assert len(model.selected_features_) == 50 and 7 not in model.selected_features_
    outside = np.setdiff1d(np.arange(80), model.selected_features_)
    assert not model.components_[:, outside].any()
    used = X[:, model.selected_features_]
    scaled = used / used.std(axis=0)
    Z = model.transform(X)
    back = Z @ model.components_[:, model.selected_features_]
    np.testing.assert_allclose(
        1 - ((scaled - back) ** 2).sum() / (scaled**2).sum(), model.score(X), rtol=1e-9
    )
    np.testing.assert_allclose(np.sqrt(((scaled - back) ** 2).sum()), model.reconstruction_err_, rtol=1e-5)
    # Over all features, in units of the counts.
    assert model.profiles_.shape == model.marker_scores_.shape == (4, 80)
    assert (
        worst_match(spectra, model.profiles_ / np.linalg.norm(model.profiles_, axis=1, keepdims=True)) > 0.9
    )
    assert len(model.top_features(5)) == 4 and len(model.top_features(5)[0]) == 5


def test_the_same_for_any_threads_copies_and_sparse_data(tmp_path):
    X, _ = planted(3, 80, 40)
    options = dict(n_seeds=8, n_top_features=30, unit_variance=True, random_state=1)
    model = pursuit.ConsensusNMF(3, **options).fit(X)
    assert np.array_equal(model.components_, pursuit.ConsensusNMF(3, n_jobs=2, **options).fit(X).components_)
    sparse = pursuit.ConsensusNMF(3, **options).fit(scipy.sparse.csr_matrix(X))
    assert worst_match(model.components_, sparse.components_) > 0.999
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.usages_, model.usages_)
    assert clone(model).get_params() == model.get_params()
    model.save(tmp_path / "programs.npz")
    loaded = pursuit.load(tmp_path / "programs.npz")
    assert isinstance(loaded, pursuit.ConsensusNMF) and loaded.get_params()["n_seeds"] == 8
    np.testing.assert_allclose(loaded.usages_, model.usages_, atol=1e-12)
    np.testing.assert_allclose(loaded.transform(X), model.transform(X), atol=1e-9)
    assert loaded.silhouette_ == model.silhouette_


def test_k_is_chosen_by_agreement():
    X, _ = planted(4)
    choice = pursuit.choose_k(X, range(2, 7), n_seeds=12, random_state=0)
    assert choice.k == int(choice) == choice.model.n_components_ == 4
    assert choice.ks.tolist() == [2, 3, 4, 5, 6]
    assert np.all(np.diff(choice.error) < 0) and choice.silhouette[2] > choice.silhouette[4]
    alone = pursuit.ConsensusNMF(4, n_seeds=12, random_state=0).fit(X)
    np.testing.assert_array_equal(alone.components_, choice.model.components_)
    pytest.importorskip("matplotlib").use("Agg")
    assert choice.plot().get_xlabel() == "parts"


def test_what_makes_no_sense_is_named():
    X, _ = planted(2, 30, 20)
    with pytest.raises(ValueError, match="seeds 1"):
        pursuit.ConsensusNMF(2, n_seeds=1).fit(X)
    with pytest.raises(ValueError, match="n_top_features=21"):
        pursuit.ConsensusNMF(2, n_top_features=21).fit(X)
    with pytest.raises(ValueError, match="beta_loss=3"):
        pursuit.ConsensusNMF(2, beta_loss=3).fit(X)
    with pytest.raises(ValueError, match="density 5"):
        pursuit.ConsensusNMF(2, density_threshold=5).fit(X)
    with pytest.raises(ValueError, match="[Nn]egative"):
        pursuit.ConsensusNMF(2).fit(X - 100)
    X[:, 3] = X[:, 5] = 1
    with pytest.raises(ValueError, match="3 features are constant: 3, 5, 10"):
        pursuit.ConsensusNMF(2, unit_variance=True).fit(X)
    with pytest.raises(ValueError, match="at least one"):
        pursuit.choose_k(X, [])
    with pytest.raises(ValueError, match="stopped before two"):
        pursuit.ConsensusNMF(2, callback=lambda step: False).fit(X)
