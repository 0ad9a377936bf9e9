"""PCA and TruncatedSVD beside scikit-learn's."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.decomposition
from numpy.testing import assert_allclose

import pursuit


@pytest.fixture
def samples(rng):
    return (
        rng.standard_normal((60, 4)) @ rng.standard_normal((4, 12)) + 0.3 * rng.standard_normal((60, 12)) + 5
    )


@pytest.mark.parametrize("count", [None, 0, 3, 12, 0.9, 0.3, "mle"])
@pytest.mark.parametrize("whiten", [False, True])
def test_pca_is_that_of_scikit_learn(samples, count, whiten):
    ours = pursuit.PCA(count, whiten=whiten).fit(samples)
    theirs = sklearn.decomposition.PCA(count, whiten=whiten, svd_solver="full").fit(samples)
    assert ours.n_components_ == theirs.n_components_ and ours.n_samples_ == 60
    signs = np.sign(np.sum(ours.components_ * theirs.components_, axis=1, keepdims=True))
    assert_allclose(ours.components_, signs * theirs.components_, atol=1e-10)
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"):
        assert_allclose(getattr(ours, name), getattr(theirs, name))
    assert_allclose(ours.noise_variance_, theirs.noise_variance_, atol=1e-12)
    assert_allclose(ours.transform(samples), theirs.transform(samples) * signs.T, atol=1e-9)
    # Their newest version refuses to go back from no components.
    back = (
        theirs.inverse_transform(theirs.transform(samples)) if count != 0 else np.tile(theirs.mean_, (60, 1))
    )
    assert_allclose(ours.inverse_transform(ours.transform(samples)), back)
    if not whiten:  # scikit-learn's likelihood depends on it
        assert_allclose(ours.get_covariance(), theirs.get_covariance(), atol=1e-10)
        assert_allclose(ours.get_precision() @ ours.get_covariance(), np.eye(12), atol=1e-8)
        assert_allclose(ours.score_samples(samples), theirs.score_samples(samples), rtol=1e-8)
        assert_allclose(ours.score(samples), theirs.score(samples))


def test_pca_of_sparse_data_is_that_of_dense_data():
    X = scipy.sparse.random(200, 40, density=0.1, random_state=0, format="csr")
    X.data += 3
    for form in (X, X.tocsc(), X[:30]):
        sparse, dense = pursuit.PCA(5).fit(form), pursuit.PCA(5, svd_solver="full").fit(form.toarray())
        assert_allclose(sparse.components_, dense.components_, atol=1e-6)
        assert_allclose(sparse.singular_values_, dense.singular_values_)
        assert_allclose(sparse.noise_variance_, dense.noise_variance_)
        assert_allclose(sparse.score_samples(form), dense.score_samples(form.toarray()), rtol=1e-6)


def test_pca_of_large_data_by_iterations(rng):
    X = rng.standard_normal((900, 60)) * np.linspace(3, 1, 60) + 1
    iterated, lapack = pursuit.PCA(4).fit(X), pursuit.PCA(4, svd_solver="full").fit(X)
    assert_allclose(iterated.singular_values_, lapack.singular_values_)
    assert_allclose(iterated.components_, lapack.components_, atol=1e-6)


def test_pca_of_fewer_directions_than_asked_for(rng):
    X = rng.standard_normal((30, 1)) @ rng.standard_normal((1, 8))
    for data in (X, scipy.sparse.csr_matrix(X)):
        model = pursuit.PCA(3, whiten=True).fit(data)
        assert model.components_.shape == (3, 8) and np.isfinite(model.transform(data)).all()
        assert_allclose(model.explained_variance_ratio_, [1, 0, 0], atol=1e-12)
    constant = pursuit.PCA(2).fit(np.ones((5, 4)))
    assert not constant.transform(np.ones((5, 4))).any() and constant.components_.shape == (2, 4)
    assert np.isfinite(constant.score(np.ones((5, 4))))


def test_pca_goes_through_files(samples, tmp_path):
    model = pursuit.PCA(3, whiten=True).fit(samples)
    model.save(tmp_path / "model.npz")
    loaded = pursuit.load(tmp_path / "model.npz")
    assert isinstance(loaded, pursuit.PCA)
    assert_allclose(loaded.transform(samples), model.transform(samples))
    assert_allclose(loaded.score(samples), model.score(samples))


def test_pca_keeps_single_precision(samples):
    model = pursuit.PCA(3).fit(samples.astype(np.float32))
    assert model.components_.dtype == model.transform(samples.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("count", [13, -1, 1.5, "all", True])
def test_pca_refuses_impossible_numbers(samples, count):
    with pytest.raises(ValueError, match="n_components"):
        pursuit.PCA(count).fit(samples)
    with pytest.raises(ValueError, match="svd_solver"):
        pursuit.PCA(2, svd_solver="best").fit(samples)
    with pytest.raises(ValueError, match="only supported if n_samples >= n_features"):
        pursuit.PCA("mle").fit(samples.T)


def test_truncated_svd_takes_the_words_of_scikit_learn(samples):
    plain = pursuit.TruncatedSVD(3).fit(samples)
    spelled = pursuit.TruncatedSVD(
        3,
        algorithm="arpack",
        n_iter=9,
        n_oversamples=3,
        power_iteration_normalizer="LU",
        tol=1e-3,
        random_state=1,
    ).fit(samples)
    assert (plain.components_ == spelled.components_).all()
    with pytest.raises(ValueError, match="algorithm"):
        pursuit.TruncatedSVD(3, algorithm="best").fit(samples)
