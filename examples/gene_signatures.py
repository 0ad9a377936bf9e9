# # Gene signatures by sparse PCA
#
# Cells express thousands of genes; what differs between cell types is carried by a few dozen of them. Sparse
# principal components name those genes: every component is a signature of at most k genes, and together they
# explain nearly what dense components do.
#
# The data here are made up, so that the answer is known: 300 cells of three types, 2000 genes, a signature of
# 30 genes each. With your own data, begin at the second cell: X is cells by genes, dense or sparse.
# `pursuit.anndata.fit` does the same on AnnData objects.

# %% Cells of three types
import numpy as np
import scipy.sparse

import pursuit

rng = np.random.default_rng(0)
signatures = np.zeros((3, 2000))
for kind, signature in enumerate(signatures):
    signature[100 * kind : 100 * kind + 30] = rng.uniform(2, 4, 30)
kinds = rng.integers(0, 3, 300)
expression = rng.poisson(0.3 + signatures[kinds] * rng.uniform(0.5, 1.5, (300, 1))).astype(np.float32)
X = scipy.sparse.csr_matrix(np.log1p(expression))
genes = np.array([f"gene{j}" for j in range(2000)])
print(f"{X.shape[0]} cells, {X.shape[1]} genes, {X.nnz / np.prod(X.shape):.0%} stored")

# %% Two components of 60 genes each; sparse counts are centred without being filled in
model = pursuit.SparsePCA(2, k=60, random_state=0)
scores = model.fit_transform(X)
dense = pursuit.SparsePCA(2, k=None).fit(X)
sparse_share, dense_share = (m.explained_variance_ratio_.sum() for m in (model, dense))
print(f"explained variance: {sparse_share:.3f} with 60 genes per component, {dense_share:.3f} with all 2000")
assert sparse_share > 0.8 * dense_share

# %% The genes of every signature
for i, loadings in enumerate(model.components_):
    strongest = np.argsort(-np.abs(loadings))[:5]
    print(f"component {i}:", ", ".join(f"{genes[j]} ({loadings[j]:+.2f})" for j in strongest))
named = np.flatnonzero(model.components_.any(axis=0))
planted = np.flatnonzero(signatures.any(axis=0))
found = np.intersect1d(named, planted).size
print(f"{found} of the {named.size} genes named are among the {planted.size} planted ones")
assert found > 0.9 * named.size

# %% Types are apart in the scores
centers = np.array([scores[kinds == kind].mean(axis=0) for kind in range(3)])
nearest = np.argmin(((scores[:, None] - centers) ** 2).sum(axis=2), axis=1)
print(f"{np.mean(nearest == kinds):.1%} of the cells are nearest to the centre of their own type")
assert np.mean(nearest == kinds) > 0.95
