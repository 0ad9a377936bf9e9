"""Units do not matter: data scaled by a power of two give the same model, scaled."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from sklearn.base import clone

import pursuit

ESTIMATORS = {
    "sparse": pursuit.MatrixPursuit(3, right="sparse:5", random_state=0),
    "nonnegative": pursuit.MatrixPursuit(
        3, left="nonneg", right="nonneg+sparse:6", weights="nonneg", random_state=0
    ),
    "exact": pursuit.MatrixPursuit(3),
    "NMF": pursuit.NMF(3, random_state=0),
    "NMF, greedy": pursuit.NMF(3, init="greedy", random_state=0),
    "NMF, random": pursuit.NMF(3, init="random", random_state=0),
    "TruncatedSVD": pursuit.TruncatedSVD(3),
    "SparsePCA": pursuit.SparsePCA(3, k=5, effort="low", random_state=0),
    "PCA": pursuit.SparsePCA(3, k=None),
    "NonnegativeSparsePCA": pursuit.NonnegativeSparsePCA(2, k=5, effort="low", random_state=0),
}
POWERS = {np.float64: (-500, -301, -50, 50, 300, 500), np.float32: (-100, -61, 60, 100)}
DATA = np.random.default_rng(0).random((40, 25)) * (np.random.default_rng(1).random((40, 25)) < 0.6)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", POWERS, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_components_do_not_depend_on_the_units_of_the_data(name, dtype, form):
    X = DATA.astype(dtype)
    plain = clone(ESTIMATORS[name]).fit(form(X))
    for power in POWERS[dtype]:
        scale = dtype(2) ** dtype(power)
        model = clone(ESTIMATORS[name]).fit(form(X * scale))
        tolerance = {"rtol": 1e-4, "atol": 1e-5, "err_msg": f"scaled by 2^{power}"}
        assert_allclose(model.components_, plain.components_, **tolerance)
        assert_allclose(model.explained_variance_ratio_, plain.explained_variance_ratio_, **tolerance)
        assert_allclose(model.transform(form(X * scale)) / scale, plain.transform(form(X)), **tolerance)
        assert_allclose(model.score(form(X * scale)), plain.score(form(X)), **tolerance)
        if hasattr(plain, "weights_"):
            assert_allclose(model.weights_ / float(scale), plain.weights_, **tolerance)
            assert_allclose(model.relative_error_, plain.relative_error_, **tolerance)


@pytest.mark.parametrize("dtype", POWERS, ids=lambda dtype: dtype.__name__)
def test_coefficients_scale_with_features_and_targets(dtype):
    y = (DATA[:, 3] - 2 * DATA[:, 7] + 0.1 * DATA[:, 8]).astype(dtype)
    plain = pursuit.OrthogonalMatchingPursuit(3).fit(DATA.astype(dtype), y)
    for power in POWERS[dtype]:
        scale = dtype(2) ** dtype(power)
        of_features = pursuit.OrthogonalMatchingPursuit(3).fit(DATA.astype(dtype) * scale, y)
        assert_allclose(of_features.coef_ * scale, plain.coef_, rtol=1e-4, atol=1e-5)
        of_both = pursuit.OrthogonalMatchingPursuit(3).fit(DATA.astype(dtype) * scale, y * scale)
        assert_allclose(of_both.coef_, plain.coef_, rtol=1e-4, atol=1e-5)
        assert_allclose(of_both.relative_error_, plain.relative_error_, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("power", [-100, -60, -20, 20, 60, 100])
def test_predictions_scale_with_the_observations(power):
    scale = 2.0**power
    observed = np.where(np.random.default_rng(2).random(DATA.shape) < 0.7, DATA, np.nan)
    plain = pursuit.MatrixCompletion(2, random_state=0).fit(observed)
    model = pursuit.MatrixCompletion(2, random_state=0).fit(observed * scale)
    pairs = [(i, j) for i in range(0, 40, 7) for j in range(0, 25, 6)]
    for got, expected in zip(model.predict(pairs, return_std=True), plain.predict(pairs, return_std=True)):
        assert_allclose(got / scale, expected, rtol=1e-3, atol=1e-4)
