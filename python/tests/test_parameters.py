"""What an estimator was made with, after pickles and files."""

import pickle
import warnings

import numpy as np
import pytest

import pursuit
from pursuit import atoms

GROUPS = [[0, 1, 2], [3, 4, 5, 6, 7], [8, 9, 10, 11]]

# None of the values is the default of its parameter, but where another value would not go with the rest.
ESTIMATORS = {
    "MatrixPursuit": pursuit.MatrixPursuit(
        3,
        left=["nonneg", "sphere"],
        right=atoms.group(GROUPS, 2),
        weights="newest",
        corrections=1,
        start="greedy",
        max_iter=7,
        tol=1e-3,
        restarts=3,
        target_error=1e-9,
        time_limit=60.0,
        warm_start=True,
        verbose=0,
        n_jobs=1,
        random_state=np.int64(5),
    ),
    "MatrixPursuit of a loss": pursuit.MatrixPursuit(
        2, loss="poisson-log", offsets=True, max_iter=4, random_state=0
    ),
    "MatrixPursuit with known spectra": pursuit.MatrixPursuit(
        3,
        left="nonneg",
        right="nonneg",
        weights="nonneg",
        fixed_right=np.eye(2, 12),
        closure=True,
        random_state=1,
    ),
    "MatrixPursuit by spec": pursuit.MatrixPursuit(
        2, right="nonneg+sparse:3", early_stopping=1e-6, random_state=0
    ),
    "NMF": pursuit.NMF(
        3, init="random", k=4, solver="mu", tol=1e-3, max_iter=9, shuffle=True, time_limit=9.0, random_state=3
    ),
    "NMF that pays": pursuit.NMF(
        "auto",
        beta_loss="kullback-leibler",
        alpha_W=0.01,
        alpha_H=0.02,
        l1_ratio=0.5,
        init="nndsvda",
        random_state=0,
    ),
    "ConsensusNMF": pursuit.ConsensusNMF(2, n_seeds=4, random_state=2),
    "TruncatedSVD": pursuit.TruncatedSVD(3, random_state=4),
    "PCA": pursuit.PCA(3, whiten=True, random_state=0),
    "SparsePCA": pursuit.SparsePCA(
        2, k=(5, 3), orthogonality=0.1, correlation=True, effort="low", random_state=1
    ),
    "SparsePCA by budget": pursuit.SparsePCA(
        2, k=None, total_nonzeros=9, ridge_alpha=0.1, effort="low", warm_start=True, random_state=1
    ),
    "SparsePCA of sets": pursuit.SparsePCA(2, atoms=atoms.sets(GROUPS, 1), effort="low", random_state=1),
    "SparsePCA by spec": pursuit.SparsePCA(2, atoms="block:4", effort="low", random_state=1),
    "SparsePCA of a set for each": pursuit.SparsePCA(
        2, atoms=["block:4", "sparse:2"], effort="low", random_state=1
    ),
    "SparsePCA that pays": pursuit.SparsePCA(
        2, alpha=0.3, max_iter=50, tol=1e-4, method="cd", random_state=1
    ),
    "NonnegativeSparsePCA": pursuit.NonnegativeSparsePCA(2, k=5, effort="low", random_state=1),
    "MatrixCompletion": pursuit.MatrixCompletion(
        2,
        use_pattern=False,
        validation=0.2,
        effort="high",
        clip=None,
        columns=("a", "b", "c"),
        random_state=1,
    ),
    "MatrixCompletion by sets": pursuit.MatrixCompletion(
        2,
        left="nonneg",
        right=["nonneg", "nonneg+sparse:5"],
        weights="nonneg",
        regularization="none",
        offsets=False,
        tol=1e-3,
        max_iter=20,
        clip=(0, 9.5),
        random_state=1,
    ),
    "MatrixCompletion of clicks": pursuit.MatrixCompletion(
        3, implicit=True, confidence="linear:2", validation=0.2, random_state=1
    ),
    "TensorPursuit": pursuit.TensorPursuit(
        2,
        modes="nonneg",
        weights="nonneg",
        starts=2,
        ridge=0.1,
        known={1: np.eye(4, 1)},
        max_iter=9,
        random_state=1,
    ),
}


def fitted(model, rng):
    X = rng.poisson(4, (30, 12)).astype(float)
    if isinstance(model, pursuit.TensorPursuit):
        X = rng.random((5, 4, 3))
    elif isinstance(model, pursuit.MatrixCompletion):
        X[rng.random(X.shape) < 0.3] = np.nan
    with warnings.catch_warnings():  # of fits that were not given the sweeps to settle
        warnings.simplefilter("ignore")
        return model.fit(X)


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(found[name], value, err_msg=name)
        elif isinstance(value, dict):
            assert found[name].keys() == value.keys()
            for key, each in value.items():
                np.testing.assert_array_equal(found[name][key], each, err_msg=name)
        else:
            assert found[name] == value and type(found[name]) in (type(value), int, float), name


@pytest.mark.parametrize("name", ESTIMATORS)
def test_come_back_from_pickles_and_files(name, rng, tmp_path):
    model = fitted(ESTIMATORS[name], rng)
    parameters = model.get_params(deep=False)
    assert_same(pickle.loads(pickle.dumps(model)).get_params(deep=False), parameters)
    model.save(tmp_path / "m.npz")
    assert_same(pursuit.load(tmp_path / "m.npz").get_params(deep=False), parameters)


def test_name_no_file_to_write_to_unless_trusted(rng, tmp_path):
    model = pursuit.MatrixPursuit(1, right="sparse:3", checkpoint=str(tmp_path / "state"), random_state=0)
    model.fit(rng.random((9, 5))).save(tmp_path / "m.npz")
    assert pursuit.load(tmp_path / "m.npz").checkpoint is None
    assert pursuit.load(tmp_path / "m.npz", trusted=True).checkpoint == str(tmp_path / "state")
