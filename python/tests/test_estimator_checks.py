"""scikit-learn's own checks of the contract that estimators keep."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import pursuit

ESTIMATORS = [
    pursuit.MatrixPursuit(2),
    pursuit.MatrixPursuit(2, left="nonneg", right="nonneg+sparse:0.6", weights="nonneg"),
    pursuit.SparsePCA(2, k=0.6, effort="low"),
    pursuit.NonnegativeSparsePCA(2, effort="low"),
    pursuit.NMF(2),
    pursuit.TruncatedSVD(1),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
