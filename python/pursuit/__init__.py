"""Structured matrix factorization by generalized matrix pursuit, as scikit-learn estimators.

=============================  ===========================================================================
`MatrixPursuit`                any atom sets: sparse SVD, semi-NMF, your own structure
`SparsePCA`                    principal components with few non-zero loadings
`NonnegativeSparsePCA`         the same without negative ones
`NMF`                          a drop-in for `sklearn.decomposition.NMF`
`ConsensusNMF`                 non-negative parts that many random starts agree on
`PCA`                          principal components, exact, sparse data too
`TruncatedSVD`                 leading singular vectors, dense or sparse
`OrthogonalMatchingPursuit`    linear models of few features, many targets at once
`SparseCoder`                  codes over a dictionary that is given
`MatrixCompletion`             entries that were not observed, and how surely they are known
`evaluate_completion`          how well methods of completion predict and recommend, by protocol
`choose_rank`                  how many components, by entries held out
`held_out_score`               entries of new rows predicted from others, for `GridSearchCV`
`choose_k`                     how many parts random starts agree on
`TensorPursuit`                arrays of three and more modes, a structure for each
=============================  ===========================================================================
"""

from . import atoms
from ._choosing import RankChoice, choose_rank
from ._completion import MatrixCompletion
from ._consensus import ConsensusChoice, ConsensusNMF, choose_k
from ._core import __version__
from ._evaluation import evaluate_completion
from ._held_out import held_out_score
from ._matrix_pursuit import MatrixPursuit
from ._model_files import load
from ._nmf import NMF, non_negative_factorization
from ._omp import OrthogonalMatchingPursuit, orthogonal_mp, orthogonal_mp_gram
from ._pca import PCA
from ._recommending import Neighbour, Reason, Recommendation, Recommendations
from ._reports import Report
from ._sparse_coder import SparseCoder, sparse_encode
from ._sparse_pca import NonnegativeSparsePCA, SparsePCA
from ._svd import TruncatedSVD
from ._tensor_pursuit import TensorPursuit

__all__ = [
    "ConsensusChoice",
    "ConsensusNMF",
    "MatrixCompletion",
    "MatrixPursuit",
    "NMF",
    "Neighbour",
    "NonnegativeSparsePCA",
    "OrthogonalMatchingPursuit",
    "PCA",
    "RankChoice",
    "Reason",
    "Recommendation",
    "Recommendations",
    "Report",
    "SparseCoder",
    "SparsePCA",
    "TensorPursuit",
    "TruncatedSVD",
    "__version__",
    "atoms",
    "choose_k",
    "choose_rank",
    "evaluate_completion",
    "held_out_score",
    "load",
    "non_negative_factorization",
    "orthogonal_mp",
    "orthogonal_mp_gram",
    "sparse_encode",
]
