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
import scipy.sparse
from sklearn.base import clone

from . import _core
from ._atom_sets import NamedAtoms, as_atoms
from ._components import ComponentModel

if TYPE_CHECKING:
    import anndata


def fit(
    adata: "anndata.AnnData",
    estimator: ComponentModel,
    *,
    layer: str | None = None,
    use_raw: bool = False,
    key: str | None = None,
    mask: str | None = None,
) -> Any:
    """Fit an estimator to the cells and keep what it finds in the object.

    Data are used as they are stored; sparse counts are never filled in. Those of a backed object are read into
    memory for the time of the fit. Atom sets may call genes and cells by their names.

    Parameters
    ----------
    adata : AnnData
        Cells by genes.
    estimator : `SparsePCA`, `NonnegativeSparsePCA`, `NMF`, `TruncatedSVD` or `MatrixPursuit`
        What to fit; it is copied, and the copy returned.
    layer : str, optional
        Which layer to use instead of ``X``.
    use_raw : bool, default=False
        Whether to use ``raw.X``; loadings of its genes are those of the genes that ``var`` has.
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
    X, genes = _data(adata, layer, use_raw)
    used = np.ones(len(genes), dtype=bool)
    if mask is not None:
        if use_raw:
            raise ValueError("mask goes with var, and use_raw=True has genes of its own")
        used = np.asarray(_named(adata.var, mask, "var"), dtype=bool)
        if not used.any():
            raise ValueError(f"mask={mask!r}: leaves no gene")
        X = X[:, used]
    model = _with_names(clone(estimator), adata.obs_names, genes[used])
    scores = model.fit_transform(X)
    key = type(model).__name__.lower() if key is None else key
    place = {name: j for j, name in enumerate(genes)}
    kept = np.array([place.get(name, -1) for name in adata.var_names])
    loadings = np.zeros((len(genes), model.components_.shape[0]), dtype=model.components_.dtype)
    loadings[used] = model.components_.T
    adata.obsm[f"X_{key}"] = np.asarray(scores)
    adata.varm[key] = np.where(kept[:, None] >= 0, loadings[kept], 0)
    adata.uns[key] = {
        "params": _storable(estimator.get_params(), layer=layer, mask=mask, use_raw=use_raw or None),
        "explained_variance_ratio": np.asarray(model.explained_variance_ratio_),
        "genes": np.asarray(genes[used], dtype=str),
    }
    return model


def transform(
    adata: "anndata.AnnData",
    model: ComponentModel,
    reference: "anndata.AnnData",
    *,
    layer: str | None = None,
    use_raw: bool = False,
    key: str | None = None,
) -> Any:
    """Coordinates of new cells in the components of a model that `fit` made of others.

    Genes are matched by name; those that the new cells do not have count as zero.

    Parameters
    ----------
    adata : AnnData
        New cells.
    model : fitted estimator
        What `fit` gave back.
    reference : AnnData
        The object that it was fitted to, which says what its genes are.
    layer, use_raw, key
        As in `fit`.

    Returns
    -------
    array of shape (n_cells, n_components)
        Also written to ``obsm["X_" + key]``.
    """
    key = type(model).__name__.lower() if key is None else key
    wanted = _named(_named(reference.uns, key, "uns"), "genes", f"uns[{key!r}]")
    X, genes = _data(adata, layer, use_raw)
    place = {name: j for j, name in enumerate(genes)}
    at = np.array([place.get(name, -1) for name in wanted])
    if not (at >= 0).any():
        raise ValueError(f"adata has none of the {len(wanted)} genes of the model, such as {wanted[0]!r}")
    have = np.flatnonzero(at >= 0)
    pick = scipy.sparse.csr_matrix(
        (np.ones(len(have), dtype=np.float32), (at[have], have)), shape=(len(genes), len(wanted))
    )
    rows = X @ pick if scipy.sparse.issparse(X) else np.asarray(X) @ pick
    scores = np.asarray(model.transform(rows))
    adata.obsm[f"X_{key}"] = scores
    return scores


def _data(adata: "anndata.AnnData", layer: str | None, use_raw: bool) -> tuple[Any, Any]:
    """The matrix that is asked for, in memory, and the names of its columns."""
    if use_raw:
        if layer is not None:
            raise ValueError("layer and use_raw: choose one")
        if adata.raw is None:
            raise ValueError("use_raw=True: adata has no raw")
        X, genes = adata.raw.X, adata.raw.var_names
    else:
        X, genes = adata.X if layer is None else _named(adata.layers, layer, "layers"), adata.var_names
    if not scipy.sparse.issparse(X) and not isinstance(
        X, np.ndarray
    ):  # of a backed object: it lies in a file
        X = X.to_memory() if hasattr(X, "to_memory") else X[:]
    return X, genes


def _with_names(model: Any, cells: Any, genes: Any) -> Any:
    """Sets that call entries by names are told these: a matrix has none."""
    for side, names in (("left", cells), ("right", genes), ("atoms", genes)):
        value = model.get_params(deep=False).get(side)
        try:
            waiting = isinstance(value, (NamedAtoms, list, tuple))
            if isinstance(value, str):
                as_atoms(value)
        except _core.NamesNeeded:
            waiting = True
        if waiting:
            model.set_params(**{side: as_atoms(value, list(names))})
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
            else np.asarray(value) if isinstance(value, (list, tuple)) else repr(value)
        )
        for name, value in kept.items()
    }
