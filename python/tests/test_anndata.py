"""Estimators on AnnData objects."""

import anndata
import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose

import pursuit
import pursuit.anndata


@pytest.fixture
def adata():
    counts = scipy.sparse.random(60, 25, density=0.3, random_state=0, format="csr", dtype=np.float32)
    data = anndata.AnnData(counts, dtype=np.float32)
    data.var["highly_variable"] = np.arange(25) % 2 == 0
    data.layers["log"] = counts.log1p()
    return data


@pytest.mark.parametrize(
    "estimator",
    [
        pursuit.SparsePCA(3, k=5, effort="low", random_state=0),
        pursuit.NMF(3, random_state=0),
        pursuit.TruncatedSVD(3),
    ],
    ids=lambda e: type(e).__name__,
)
def test_scores_loadings_and_parameters_are_written(adata, estimator):
    model = pursuit.anndata.fit(adata, estimator)
    key = type(estimator).__name__.lower()
    assert_allclose(adata.obsm[f"X_{key}"], model.transform(adata.X))
    assert_allclose(adata.varm[key], model.components_.T)
    assert adata.obsm[f"X_{key}"].dtype == np.float32
    assert adata.uns[key]["params"]["n_components"] == 3
    assert_allclose(adata.uns[key]["explained_variance_ratio"], model.explained_variance_ratio_)
    assert not hasattr(estimator, "components_")


def test_nothing_is_filled_in(adata, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a sparse matrix was made dense")

    for name in ("toarray", "todense"):
        monkeypatch.setattr(scipy.sparse.csr_matrix, name, refuse)
        monkeypatch.setattr(scipy.sparse.csc_matrix, name, refuse)
    for estimator in (
        pursuit.SparsePCA(2, k=5, effort="low"),
        pursuit.NMF(2),
        pursuit.MatrixPursuit(2, right="sparse:4"),
    ):
        pursuit.anndata.fit(adata, estimator)


def test_layers_masks_and_keys(adata):
    model = pursuit.anndata.fit(
        adata, pursuit.NMF(2, random_state=0), layer="log", mask="highly_variable", key="parts"
    )
    assert model.n_features_in_ == 13
    assert (adata.varm["parts"][1::2] == 0).all()
    assert_allclose(adata.varm["parts"][::2], model.components_.T)
    assert adata.uns["parts"]["params"]["layer"] == "log"


def test_the_object_can_be_written(adata, tmp_path):
    pursuit.anndata.fit(adata, pursuit.MatrixPursuit(2, right=pursuit.atoms.sparse(4), random_state=0))
    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert again.uns["matrixpursuit"]["params"]["right"] == "AtomSet('sparse:4')"
    assert again.varm["matrixpursuit"].shape == (25, 2)


def test_names_that_are_not_there(adata):
    with pytest.raises(KeyError, match="layers has no 'raw'"):
        pursuit.anndata.fit(adata, pursuit.NMF(2), layer="raw")
    with pytest.raises(KeyError, match="var has no 'best'"):
        pursuit.anndata.fit(adata, pursuit.NMF(2), mask="best")


def test_backed_objects_are_read(adata, tmp_path):
    adata.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    model = pursuit.anndata.fit(backed, pursuit.NMF(2, random_state=0))
    in_memory = pursuit.anndata.fit(adata, pursuit.NMF(2, random_state=0))
    assert_allclose(model.components_, in_memory.components_)
    assert_allclose(backed.obsm["X_nmf"], adata.obsm["X_nmf"])


def test_raw_counts(adata):
    adata.raw = adata.copy()
    few = adata[:, ::2].copy()
    model = pursuit.anndata.fit(few, pursuit.NMF(2, random_state=0), use_raw=True)
    assert model.n_features_in_ == adata.n_vars
    assert_allclose(few.varm["nmf"], model.components_.T[::2])
    with pytest.raises(ValueError, match="choose one"):
        pursuit.anndata.fit(few, pursuit.NMF(2), use_raw=True, layer="log")
    with pytest.raises(ValueError, match="has no raw"):
        pursuit.anndata.fit(anndata.AnnData(np.ones((3, 2), np.float32)), pursuit.NMF(1), use_raw=True)


def test_new_cells_are_projected_by_the_names_of_genes(adata):
    model = pursuit.anndata.fit(adata, pursuit.NMF(2, random_state=0))
    new = adata[:5, ::-1].copy()
    assert_allclose(
        pursuit.anndata.transform(new, model, adata), adata.obsm["X_nmf"][:5], rtol=1e-3, atol=1e-4
    )
    assert new.obsm["X_nmf"].shape == (5, 2)
    few = pursuit.anndata.transform(adata[:, :10].copy(), model, adata)
    zeros = adata.X.toarray() if scipy.sparse.issparse(adata.X) else np.array(adata.X)
    zeros[:, 10:] = 0
    assert_allclose(few, model.transform(zeros), rtol=1e-3, atol=1e-4)
    other = anndata.AnnData(np.ones((2, 2), np.float32))
    other.var_names = ["x", "y"]
    with pytest.raises(ValueError, match="none of the"):
        pursuit.anndata.transform(other, model, adata)


def test_sets_call_genes_by_name(adata):
    some = list(adata.var_names[:4])
    model = pursuit.anndata.fit(
        adata, pursuit.MatrixPursuit(1, right=pursuit.atoms.support(some), random_state=0)
    )
    assert not model.components_[:, 4:].any() and model.components_[:, :4].any()
