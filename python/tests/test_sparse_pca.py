"""SparsePCA and NonnegativeSparsePCA."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.decomposition
from numpy.testing import assert_allclose

import pursuit


@pytest.fixture
def signals(rng):
    return (
        rng.standard_normal((80, 3)) @ np.kron(np.eye(3), np.ones(6))
        + 0.2 * rng.standard_normal((80, 18))
        + 5
    )


def span_share(X, components):
    centred = X - X.mean(axis=0)
    basis = np.linalg.qr(components.T)[0]
    return np.sum((centred @ basis) ** 2) / np.sum(centred**2)


def test_without_a_bound_it_is_pca(signals):
    ours = pursuit.SparsePCA(3, k=None).fit(signals)
    theirs = sklearn.decomposition.PCA(3).fit(signals)
    assert_allclose(np.abs(ours.components_), np.abs(theirs.components_), atol=1e-8)
    assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)
    assert_allclose(ours.explained_variance_, theirs.explained_variance_)
    assert_allclose(np.abs(ours.transform(signals)), np.abs(theirs.transform(signals)), atol=1e-8)


@pytest.mark.parametrize("k, counts", [(6, [6, 6, 6]), (1 / 3, [6, 6, 6]), ([7, 5, 2], [7, 5, 2])])
def test_components_have_so_many_loadings(signals, k, counts):
    model = pursuit.SparsePCA(3, k=k, random_state=0, effort="low").fit(signals)
    assert np.count_nonzero(model.components_, axis=1).tolist() == counts
    assert_allclose(np.linalg.norm(model.components_, axis=1), 1)


def test_explained_variance_is_that_of_the_span(signals):
    model = pursuit.SparsePCA(3, k=8, random_state=0, effort="low").fit(signals)
    assert_allclose(model.explained_variance_ratio_.sum(), span_share(signals, model.components_))
    assert_allclose(model.path_["explained_variance"][1], span_share(signals, model.components_[:2]))
    assert model.path_["support"].tolist() == [8, 16, 24]
    assert_allclose(model.score(signals), model.explained_variance_ratio_.sum())


def test_non_zeros_can_be_shared_out(signals):
    model = pursuit.SparsePCA(3, k=None, total_nonzeros=14, random_state=0, effort="low").fit(signals)
    assert np.count_nonzero(model.components_) <= 14


def test_nonnegative_components(signals):
    model = pursuit.NonnegativeSparsePCA(3, k=5, random_state=0, effort="low").fit(signals)
    assert model.components_.min() >= 0
    assert np.count_nonzero(model.components_, axis=1).max() <= 5


def test_correlation_does_not_depend_on_units(signals):
    units = np.logspace(-3, 3, signals.shape[1])
    a = pursuit.SparsePCA(2, k=6, correlation=True, random_state=0, effort="low").fit(signals)
    b = pursuit.SparsePCA(2, k=6, correlation=True, random_state=0, effort="low").fit(signals * units)
    assert_allclose(a.components_, b.components_, atol=1e-6)
    assert_allclose(a.transform(signals), b.transform(signals * units), atol=1e-6)
    assert_allclose(a.score(signals), a.explained_variance_ratio_.sum())
    assert_allclose(
        b.inverse_transform(b.transform(signals * units)),
        a.inverse_transform(a.transform(signals)) * units,
        rtol=1e-6,
    )


def test_sparse_data_are_centred_without_being_filled_in():
    X = scipy.sparse.random(300, 50, density=0.05, random_state=0, format="csr")
    X.data += 10.0
    for form in (X, X.tocsc()):
        sparse = pursuit.SparsePCA(2, k=5, random_state=0, effort="low").fit(form)
        dense = pursuit.SparsePCA(2, k=5, random_state=0, effort="low").fit(X.toarray())
        assert_allclose(sparse.components_, dense.components_, atol=1e-8)
        assert_allclose(sparse.explained_variance_ratio_, dense.explained_variance_ratio_)
        assert_allclose(sparse.transform(form), dense.transform(X.toarray()), atol=1e-8)
        assert_allclose(sparse.score(form), dense.score(X.toarray()))


def test_score_keeps_its_digits_under_a_large_mean(rng):
    X = 1e7 + rng.standard_normal((60, 5))
    model = pursuit.SparsePCA(4, k=None).fit(X)
    assert_allclose(model.score(X), model.explained_variance_ratio_.sum(), rtol=1e-6)


def test_columns_without_variance_are_named_where_they_matter(rng):
    X = rng.standard_normal((20, 4))
    X[:, 2] = 1
    with pytest.raises(ValueError, match="column 3 is constant"):
        pursuit.SparsePCA(2, k=2, correlation=True).fit(X)


def test_impossible_settings_are_refused(signals):
    with pytest.raises(ValueError, match="n_components=0"):
        pursuit.SparsePCA(0).fit(signals)
    with pytest.raises(ValueError, match="effort 'huge'"):
        pursuit.SparsePCA(2, effort="huge").fit(signals)
    with pytest.raises(ValueError, match="nonzeros"):
        pursuit.SparsePCA(3, k=[1, 2]).fit(signals)


@pytest.fixture
def rows(rng):
    return rng.standard_normal((40, 30)) @ np.diag(np.linspace(3, 0.5, 30)) @ rng.standard_normal((30, 30))


def test_a_warm_start_ends_no_worse_and_takes_more_components(rows):
    best = pursuit.SparsePCA(3, k=5, random_state=0).fit(rows)
    low = pursuit.SparsePCA(3, k=5, effort="low", random_state=0).fit(rows)
    explained = best.explained_variance_ratio_.sum()
    assert low.explained_variance_ratio_.sum() < explained - 1e-6  # else this test says nothing
    best.set_params(effort="low", warm_start=True).fit(rows)
    assert best.explained_variance_ratio_.sum() >= explained - 1e-9
    best.set_params(n_components=4).fit(rows)
    assert best.components_.shape == (4, 30)
    assert best.explained_variance_ratio_.sum() > explained + 1e-3
    with pytest.raises(ValueError, match="adds to the 4 components"):
        best.set_params(n_components=2).fit(rows)
    with pytest.raises(ValueError, match="30 features, not 12"):
        best.fit(rows[:, :12])


def test_a_warm_start_of_loadings_that_pay_goes_on(rows):
    settled = pursuit.SparsePCA(3, alpha=20.0, tol=1e-12, random_state=0).fit(rows)
    again = pursuit.SparsePCA(3, alpha=20.0, tol=1e-6, warm_start=True, random_state=0)
    again.components_, again._scores = settled.components_, settled._scores
    again.fit(rows)
    assert again.n_iter_ < 5
    np.testing.assert_allclose(again.components_, settled.components_, atol=1e-4)
    with pytest.raises(ValueError, match="as many rows and components"):
        again.fit(rows[:20])


def test_every_component_may_have_a_structure_of_its_own(rows):
    model = pursuit.SparsePCA(3, atoms=["nonneg", "block:4", "sparse:2"], effort="low", random_state=0).fit(
        rows
    )
    assert (model.components_[0] >= 0).all()
    assert np.ptp(np.flatnonzero(model.components_[1])) < 4
    assert np.count_nonzero(model.components_[2]) <= 2
