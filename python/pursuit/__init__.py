"""Structured matrix factorization by generalized matrix pursuit, as scikit-learn estimators.

=============================  ==================================================================================
`MatrixPursuit`                any atom sets: sparse SVD, semi-NMF, your own structure
`SparsePCA`                    principal components with few non-zero loadings
`NonnegativeSparsePCA`         the same without negative ones
`NMF`                          a drop-in for `sklearn.decomposition.NMF`
`TruncatedSVD`                 leading singular vectors, dense or sparse
=============================  ==================================================================================
"""

from . import atoms
from ._core import __version__
from ._matrix_pursuit import MatrixPursuit
from ._nmf import NMF
from ._sparse_pca import NonnegativeSparsePCA, SparsePCA
from ._svd import TruncatedSVD

__all__ = [
    "MatrixPursuit",
    "NMF",
    "NonnegativeSparsePCA",
    "SparsePCA",
    "TruncatedSVD",
    "__version__",
    "atoms",
]
