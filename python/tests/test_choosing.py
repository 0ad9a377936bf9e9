import numpy as np
import pytest
import scipy.sparse

import pursuit

NMF = dict(left="nonneg", right="nonneg", weights="nonneg")


def planted(rank, seed=0, noise=0.05):
    rng = np.random.default_rng(seed)
    X = rng.gamma(0.7, size=(60, rank)) @ rng.gamma(0.7, size=(rank, 40))
    return np.maximum(X + noise * X.mean() * rng.standard_normal(X.shape), 0)


def test_the_planted_rank_is_found():
    choice = pursuit.choose_rank(planted(4), range(1, 8), random_state=0, **NMF)
    assert choice.rank == int(choice) == 4
    assert choice.ranks.tolist() == list(range(1, 8))
    assert choice.errors.shape == (7, 5)
    np.testing.assert_allclose(choice.error, choice.errors.mean(axis=1))
    np.testing.assert_allclose(choice.standard_error, choice.errors.std(axis=1, ddof=1) / np.sqrt(5))
    assert choice.stability[3] > 0.95 > choice.stability[-1]
    assert np.all(np.diff(choice.training_error) < 0)
    assert "4 atoms" in choice.reason


def test_ranks_of_arrays():
    rng = np.random.default_rng(4)
    T = np.einsum("ik,jk,lk->ijl", *(rng.gamma(0.7, size=(n, 3)) for n in (14, 12, 10)))
    T += 0.1 * T.std() * rng.standard_normal(T.shape)
    choose = lambda X, modes: pursuit.choose_rank(
        X, range(1, 6), modes=modes, weights="nonneg", random_state=0
    )
    choice = choose(T, "nonneg")
    assert choice.rank == 3 and choice.stability[2] > 0.95
    np.testing.assert_array_equal(choose(T, ["nonneg"] * 3).errors, choice.errors)
    T[rng.random(T.shape) < 0.2] = np.nan
    assert choose(T, "nonneg").rank == 3
    with pytest.raises(ValueError, match="2 sets for an array of 3 modes"):
        choose(T, ["nonneg", "nonneg"])
    with pytest.raises(ValueError, match="modes="):
        pursuit.choose_rank(T, left="nonneg")


def test_the_same_for_any_threads_and_for_sparse_data():
    X = planted(2)
    X[X < np.median(X)] = 0
    options = dict(ranks=[1, 2, 3], random_state=1, **NMF)
    one = pursuit.choose_rank(X, n_jobs=1, **options)
    for other in (
        pursuit.choose_rank(X, n_jobs=2, **options),
        pursuit.choose_rank(scipy.sparse.csr_matrix(X), n_jobs=3, **options),
    ):
        assert np.array_equal(one.errors, other.errors)
        assert np.array_equal(one.stability, other.stability)


def test_stopped_by_a_callback():
    with pytest.raises(ValueError, match="stopped before"):
        pursuit.choose_rank(planted(2), range(1, 4), callback=lambda moment: False)

    def failing(moment):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        pursuit.choose_rank(planted(2), range(1, 4), callback=failing)


def test_bad_options_are_named():
    X = planted(2)
    with pytest.raises(ValueError, match="at least one"):
        pursuit.choose_rank(X, [])
    with pytest.raises(ValueError, match="0 is no number of atoms"):
        pursuit.choose_rank(X, [0, 1])
    with pytest.raises(ValueError, match="folds 1"):
        pursuit.choose_rank(X, folds=1)
    with pytest.raises(ValueError, match="at most 40"):
        pursuit.choose_rank(X, [50])


def test_plot():
    pytest.importorskip("matplotlib").use("Agg")
    ax = pursuit.choose_rank(planted(2), range(1, 4), random_state=0, **NMF).plot()
    assert ax.get_xlabel() == "components"
    assert all(float(tick).is_integer() for tick in ax.get_xticks())
