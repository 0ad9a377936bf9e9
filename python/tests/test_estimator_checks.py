"""scikit-learn's own checks of the contract that estimators keep."""

import inspect

import pytest
import sklearn
from sklearn.utils.estimator_checks import parametrize_with_checks

import pursuit

# These checks hand rows of a matrix to predict, which takes pairs of ids in MatrixCompletion. They are run on
# the same estimator without predict, below, and by pairs in test_completion.py.
NOT_BY_PAIRS = {
    name: "predict takes pairs of ids, not rows of a matrix"
    for name in (
        "check_dict_unchanged",
        "check_dtype_object",
        "check_estimator_sparse_data",
        "check_estimators_dtypes",
        "check_estimators_pickle",
        "check_fit_idempotent",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        # of later versions of scikit-learn
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
        "check_f_contiguous_array_estimator",
        "check_n_features_in_after_fitting",
    )
}


class MatrixCompletion(pursuit.MatrixCompletion):
    def _more_tags(self):  # scikit-learn before 1.6
        return {"_xfail_checks": NOT_BY_PAIRS}

    def __sklearn_tags__(self):
        return super().__sklearn_tags__()


class RowsOnly(pursuit.MatrixCompletion):
    @property
    def predict(self):
        raise AttributeError("left out")


ESTIMATORS = [
    pursuit.MatrixPursuit(),
    pursuit.MatrixPursuit(2),
    pursuit.MatrixPursuit(2, left="nonneg", right="nonneg+sparse:0.6", weights="nonneg"),
    pursuit.SparsePCA(effort="low"),
    pursuit.SparsePCA(2, k=0.6, effort="low"),
    pursuit.NonnegativeSparsePCA(2, effort="low"),
    pursuit.NMF(),
    pursuit.NMF(2),
    pursuit.ConsensusNMF(n_seeds=4),
    pursuit.NMF(2, alpha_W=1e-3, l1_ratio=0.5),
    pursuit.PCA(),
    pursuit.PCA(1),
    pursuit.SparsePCA(2, alpha=0.1),
    pursuit.TruncatedSVD(),
    pursuit.TruncatedSVD(1),
    pursuit.OrthogonalMatchingPursuit(),
    pursuit.OrthogonalMatchingPursuit(1),
    MatrixCompletion(2),
    RowsOnly(2),
]

expectations = {}
if "expected_failed_checks" in inspect.signature(parametrize_with_checks).parameters:
    expectations["expected_failed_checks"] = lambda e: NOT_BY_PAIRS if type(e) is MatrixCompletion else {}

passed = []


@parametrize_with_checks(ESTIMATORS, **expectations)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
    passed.append(check)


def test_no_check_got_lost(request):
    checks = [item for item in request.session.items if item.originalname == "test_scikit_learn_contract"]
    excused = [item for item in checks if item.get_closest_marker("xfail")]
    if sklearn.__version__ == "1.2.1" and not request.config.option.keyword:
        assert (len(checks), len(excused)) == (683, 8)
        assert len(passed) == 675
