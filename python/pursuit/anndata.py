"""Factorizations of AnnData objects: cells by genes in, scores and loadings beside them out.

>>> import anndata, numpy as np, pursuit.anndata, scipy.sparse
>>> counts = scipy.sparse.random(30, 12, density=0.3, random_state=0, format="csr")
>>> adata = anndata.AnnData(counts.astype(np.float32), dtype=np.float32)
>>> model = pursuit.anndata.fit(adata, pursuit.SparsePCA(2, k=4, random_state=0))
>>> adata.obsm["X_sparsepca"].shape, adata.varm["sparsepca"].shape
((30, 2), (12, 2))
>>> adata.uns["sparsepca"]["params"]["k"]
4
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from ._components import ComponentModel

if TYPE_CHECKING:
    import anndata


def fit(
    adata: "anndata.AnnData",
    estimator: ComponentModel,
    *,
    layer: str | None = None,
    key: str | None = None,
    mask: str | None = None,
) -> Any:
    """Fit an estimator to the cells and keep what it finds in the object.

    Data are used as they are stored; sparse counts are never filled in.

    Parameters
    ----------
    adata : AnnData
        Cells by genes.
    estimator : `SparsePCA`, `NonnegativeSparsePCA`, `NMF`, `TruncatedSVD` or `MatrixPursuit`
        What to fit; it is copied, and the copy returned.
    layer : str, optional
        Which layer to use instead of ``X``.
    key : str, optional
        Name of what is written; by default the estimator's in lower case.
    mask : str, optional
        A column of booleans in ``var``, such as "highly_variable": other genes are left out and get loadings
        of zero.

    Returns
    -------
    The fitted estimator. Also written: ``obsm["X_" + key]``, the scores; ``varm[key]``, the loadings;
    ``uns[key]``, parameters and explained variance.
    """
    if getattr(adata, "isbacked", False):
        raise ValueError(
            f"adata is backed: its X stays in {adata.filename}, and a fit needs it in memory; adata.to_memory() has it there"
        )
    X = adata.X if layer is None else _named(adata.layers, layer, "layers")
    used = np.ones(adata.n_vars, dtype=bool)
    if mask is not None:
        used = np.asarray(_named(adata.var, mask, "var"), dtype=bool)
        if not used.any():
            raise ValueError(f"mask={mask!r}: leaves no gene")
        X = X[:, used]
    model = clone(estimator)
    scores = model.fit_transform(X)
    key = type(model).__name__.lower() if key is None else key
    loadings = np.zeros((adata.n_vars, model.components_.shape[0]), dtype=model.components_.dtype)
    loadings[used] = model.components_.T
    adata.obsm[f"X_{key}"] = np.asarray(scores)
    adata.varm[key] = loadings
    adata.uns[key] = {
        "params": _storable(model.get_params(), layer=layer, mask=mask),
        "explained_variance_ratio": np.asarray(model.explained_variance_ratio_),
    }
    return model


def _named(table: Any, name: str, kind: str) -> Any:
    if name not in table.keys():
        raise KeyError(f"adata.{kind} has no {name!r}; it has {sorted(map(str, table.keys()))}")
    return table[name]


def _storable(params: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Parameters as a file of AnnData can hold them: numbers, texts and lists of numbers; what is None is
    left out."""
    kept = {name: value for name, value in {**params, **more}.items() if value is not None}
    simple = (bool, int, float, str)
    return {
        name: (
            value
            if isinstance(value, simple)
            else np.asarray(value)
            if isinstance(value, (list, tuple))
            else repr(value)
        )
        for name, value in kept.items()
    }
