import numpy as np
import pytest
import scipy.sparse

import pursuit


def test_nmf_of_chunks_ends_where_that_of_all_does(rng):
    X = rng.gamma(0.5, size=(600, 4)) @ rng.gamma(0.5, size=(4, 30)) + 0.01 * rng.random((600, 30))
    model = pursuit.NMF(4, random_state=0)
    for _ in range(3):
        for chunk in np.array_split(X, 6):
            model.partial_fit(chunk)
    assert model.n_samples_seen_ == 1800
    whole = pursuit.NMF(4, random_state=0).fit(X)
    assert (model.components_ >= 0).all()
    assert 1 - model.score(X) < 1.5 * (1 - whole.score(X))
    sparse = pursuit.NMF(4, random_state=0)
    for chunk in np.array_split(X, 6):
        sparse.partial_fit(scipy.sparse.csr_matrix(chunk))
    assert sparse.score(X) > 0.99
    assert not hasattr(pursuit.NMF(2, alpha_W=0.1), "partial_fit")
    with pytest.raises(AttributeError) as error:
        pursuit.NMF(2, beta_loss="kullback-leibler").partial_fit(X)
    # Newer scikit-learn has the reason as the cause of a message of its own.
    assert "partial_fit goes with" in str(error.value.__cause__ or error.value)
    assert not hasattr(model.fit(X), "_sums"), "a fit begins anew"


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_matrix])
def test_singular_vectors_of_chunks(rng, make):
    X = rng.standard_normal((300, 3)) @ rng.standard_normal((3, 25)) + 1  # rank 4: nothing is lost on the way
    model = pursuit.TruncatedSVD(4)
    for chunk in np.array_split(X, 7):
        model.partial_fit(make(chunk))
    whole = pursuit.TruncatedSVD(4).fit(X)
    np.testing.assert_allclose(model.singular_values_, whole.singular_values_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(model.components_ * whole.components_, axis=1)), 1, rtol=1e-9)
    np.testing.assert_allclose(model.explained_variance_, whole.explained_variance_, rtol=1e-6)
    np.testing.assert_allclose(model.explained_variance_ratio_, whole.explained_variance_ratio_, rtol=1e-6)
    assert model.n_samples_seen_ == 300
