"""scikit-learn's own checks of the contract that estimators keep."""

import pytest
import sklearn
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import pursuit

# These checks hand rows of a matrix to predict, which takes pairs of ids in MatrixCompletion. They are run on
# the same estimator without predict, below, and by pairs in test_completion.py.
NOT_BY_PAIRS = [
    "check_dict_unchanged",
    "check_dtype_object",
    "check_estimator_sparse_data",
    "check_estimators_dtypes",
    "check_estimators_pickle",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
]


class MatrixCompletion(pursuit.MatrixCompletion):
    def _more_tags(self):
        return {
            "_xfail_checks": {
                name: "predict takes pairs of ids, not rows of a matrix" for name in NOT_BY_PAIRS
            }
        }


class RowsOnly(pursuit.MatrixCompletion):
    @property
    def predict(self):
        raise AttributeError("left out")


ESTIMATORS = [
    pursuit.MatrixPursuit(2),
    pursuit.MatrixPursuit(2, left="nonneg", right="nonneg+sparse:0.6", weights="nonneg"),
    pursuit.SparsePCA(2, k=0.6, effort="low"),
    pursuit.NonnegativeSparsePCA(2, effort="low"),
    pursuit.NMF(2),
    pursuit.TruncatedSVD(1),
    pursuit.OrthogonalMatchingPursuit(1),
    MatrixCompletion(2),
    RowsOnly(2),
]


passed = []


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
    passed.append(check)


def test_no_check_got_lost(request):
    generated = sum(len(list(check_estimator(estimator, generate_only=True))) for estimator in ESTIMATORS)
    if len(request.session.items) <= generated:
        pytest.skip("only some of the checks were selected")
    if sklearn.__version__.startswith("1.2."):
        assert generated == 312
    assert len(passed) == generated - len(NOT_BY_PAIRS)
