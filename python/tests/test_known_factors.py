import numpy as np
import pytest

import pursuit


def mixtures(rng, noise=0.01):
    grid = np.linspace(0, 1, 80)
    pure = np.stack([np.exp(-(((grid - at) / 0.08) ** 2)) for at in (0.2, 0.45, 0.7)])
    shares = rng.dirichlet(np.ones(3), 60)
    return shares, pure, np.maximum(shares @ pure + noise * rng.standard_normal((60, 80)), 0)


def test_known_spectra_stay(rng):
    shares, pure, X = mixtures(rng)
    model = pursuit.MatrixPursuit(
        3, left="nonneg", right="nonneg", weights="nonneg", fixed_right=5 * pure[:2], random_state=0
    ).fit(X)
    units = pure / np.linalg.norm(pure, axis=1, keepdims=True)
    np.testing.assert_allclose(model.components_[:2], units[:2], atol=1e-9)
    assert model.components_[2] @ units[2] > 0.99, "the unknown part is found"
    assert model.score(X) > 0.99


def test_known_scores_stay(rng):
    shares, pure, X = mixtures(rng)
    model = pursuit.MatrixPursuit(3, fixed_left=shares, random_state=0).fit(X)
    np.testing.assert_allclose(model.left_, shares / np.linalg.norm(shares, axis=0), atol=1e-9)
    found = (model.weights_[:, None] * model.components_) / np.linalg.norm(shares, axis=0)[:, None]
    np.testing.assert_allclose(found, pure, atol=0.05)


def test_known_atoms_stay(rng):
    _, _, X = mixtures(rng)
    first = pursuit.MatrixPursuit(2, left="nonneg", right="nonneg", weights="nonneg", random_state=0).fit(X)
    more = pursuit.MatrixPursuit(
        4, left="nonneg", right="nonneg", weights="nonneg", fixed=first, random_state=0
    ).fit(X)
    np.testing.assert_allclose(more.components_[:2], first.components_, atol=1e-9)
    np.testing.assert_allclose(more.left_[:, :2], first.left_, atol=1e-9)
    assert more.relative_error_ < first.relative_error_


def test_what_does_not_fit_is_named(rng):
    _, pure, X = mixtures(rng)
    for parameters, message in (
        ({"fixed_right": pure[:, :-1]}, "fixed_right: of 60 x 79 data"),
        ({"fixed_left": np.ones((3, 1))}, "fixed_left: of 3 x 80 data"),
        ({"fixed_right": pure, "n_components": 2}, "3 known atoms, but n_components=2"),
        ({"fixed_right": 0 * pure}, "is zero"),
        ({"fixed_right": pure, "fixed_left": np.ones((60, 1))}, "goes alone"),
        ({"fixed_right": pure, "warm_start": True}, "warm_start"),
    ):
        with pytest.raises(ValueError, match=message):
            pursuit.MatrixPursuit(**{"n_components": 3, **parameters}).fit(X)


def test_any_set_of_loadings(rng):
    X = np.outer(rng.standard_normal(50), np.sin(np.linspace(0, np.pi, 40)))
    X += 0.3 * rng.standard_normal(X.shape)
    smooth = pursuit.SparsePCA(1, atoms="smooth:0.02", random_state=0).fit(X)
    assert np.sum(np.diff(smooth.components_[0]) ** 2) <= 0.02 + 1e-9
    peak = pursuit.SparsePCA(1, atoms="nonneg+unimodal", random_state=0).fit(X)
    assert (peak.components_ >= 0).all()
    with pytest.raises(ValueError, match="alpha=1.0: goes with k"):
        pursuit.SparsePCA(1, atoms="sphere", alpha=1.0).fit(X)


def test_the_score_of_held_out_entries_has_a_maximum(rng):
    from sklearn.model_selection import GridSearchCV

    X = rng.gamma(0.5, size=(120, 3)) @ rng.gamma(0.5, size=(3, 40))
    X = np.maximum(X + 0.3 * X.mean() * rng.standard_normal(X.shape), 0)
    for estimator in (pursuit.NMF(random_state=0), pursuit.TruncatedSVD(), pursuit.PCA()):
        search = GridSearchCV(
            estimator, {"n_components": [1, 2, 3, 5, 8, 12]}, scoring=pursuit.held_out_score, cv=3
        ).fit(X)
        scores = search.cv_results_["mean_test_score"]
        assert search.best_params_["n_components"] in (2, 3, 5), (estimator, scores)
        assert scores[-1] < scores.max()
    counts = rng.poisson(3 * rng.gamma(0.5, size=(120, 3)) @ rng.gamma(0.5, size=(3, 40)))
    search = GridSearchCV(
        pursuit.NMF(beta_loss="kullback-leibler", random_state=0),
        {"n_components": [1, 2, 3, 4, 6]},
        scoring=pursuit.held_out_score,
        cv=3,
    ).fit(counts)
    assert search.best_params_["n_components"] == 3
    with pytest.raises(ValueError, match="folds=1"):
        pursuit.held_out_score(pursuit.PCA(1).fit(X), X, folds=1)
    with pytest.raises(ValueError, match="offsets=True"):
        pursuit.held_out_score(pursuit.MatrixPursuit(1, offsets=True).fit(X), X)
