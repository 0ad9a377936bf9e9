"""Features of rows and columns: the same whether the program reads a table or Python is given it."""

import os
import subprocess

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from numpy.testing import assert_allclose

import pursuit

NAMES = ("userId", "movieId", "rating")


@pytest.fixture(scope="module")
def data():
    """Films are liked by their genres, which most users agree about."""
    rng = np.random.default_rng(5)
    genres = np.asarray(["Comedy", "Drama", "War", "Noir"])
    has = rng.random((40, 4)) < 0.4
    has[has.sum(axis=1) == 0, 0] = True
    films = pd.DataFrame(
        {
            "movieId": np.arange(1, 41),
            "title": [f"Film, the {j}" for j in range(40)],
            "year": rng.integers(1950, 2000, 40) / 2000,
            "genres": ["|".join(genres[each]) for each in has],
            "colour": rng.random(40) < 0.5,
        }
    )
    liking = rng.standard_normal((50, 1)) + has @ np.asarray([1.5, -1, 0.5, -2]) + 3
    row, col = np.nonzero(rng.random(liking.shape) < 0.3)
    ratings = pd.DataFrame({"userId": row + 1, "movieId": col + 1, "rating": liking[row, col]})
    ratings = ratings[ratings.movieId <= 38]  # the last two have features alone
    return ratings, films


def fitted(ratings, **features):
    return pursuit.MatrixCompletion(2, columns=NAMES, random_state=0).fit(ratings, **features)


def test_a_frame_is_read_as_the_program_reads_the_table(tmp_path, data):
    ratings, films = data
    ratings.to_csv(tmp_path / "r.csv", index=False)
    films.assign(colour=films.colour.astype(int)).to_csv(tmp_path / "f.csv", index=False)
    subprocess.run(
        [os.environ["PURSUIT_PROGRAM"], "complete", tmp_path / "r.csv", "--col-features", tmp_path / "f.csv"]
        + ["--rank", "2", "--seed", "0", "--out", tmp_path / "m.npz"],
        check=True,
        capture_output=True,
    )
    theirs = pursuit.load(tmp_path / "m.npz")
    ours = fitted(ratings, column_features=films)
    ours.save(tmp_path / "ours.npz")
    a, b = np.load(tmp_path / "m.npz"), np.load(tmp_path / "ours.npz")
    assert a["column_feature_names"].tolist() == b["column_feature_names"].tolist()
    assert "genres=Comedy" in a["column_feature_names"].tolist()
    for part in ("member", "index", "value"):
        np.testing.assert_array_equal(a[f"column_feature_{part}"], b[f"column_feature_{part}"])
    pairs = [(i, j) for i in (1, 7) for j in range(1, 41)]
    assert_allclose(ours.predict(pairs), theirs.predict([(str(i), str(j)) for i, j in pairs]), rtol=1e-5)


def test_films_without_ratings_are_predicted_by_their_features(data):
    ratings, films = data
    model = fitted(ratings, column_features=films)
    assert len(model.column_ids_) == 40 and model.column_ids_[-2:] == [39, 40]
    good = films.assign(movieId=[100 + j for j in range(40)])[films.genres == "Comedy"].head(1)
    bad = films.assign(movieId=[200 + j for j in range(40)])[films.genres.str.contains("Noir")].head(1)
    model = fitted(ratings, column_features=pd.concat([films, good, bad]))
    values = model.predict([(1, int(good.movieId.iloc[0])), (1, int(bad.movieId.iloc[0]))])
    assert values[0] > values[1] + 0.5


def test_index_or_column_of_ids(data):
    ratings, films = data
    by_column = fitted(ratings, column_features=films[["movieId", "genres"]])
    by_index = fitted(ratings, column_features=films[["movieId", "genres"]].set_index("movieId"))
    pairs = [(1, 2), (3, 39)]
    assert_allclose(by_column.predict(pairs), by_index.predict(pairs))


def test_arrays_and_sparse_matrices(data):
    ratings, _ = data
    X = ratings.pivot(index="userId", columns="movieId", values="rating").to_numpy()
    features = np.random.default_rng(0).random((X.shape[0], 3)) * [1, 0, 1]
    dense = pursuit.MatrixCompletion(1, random_state=0).fit(X, row_features=features)
    sparse = pursuit.MatrixCompletion(1, random_state=0).fit(
        X, row_features=scipy.sparse.csr_matrix(features)
    )
    assert_allclose(dense.predict([(0, 1)]), sparse.predict([(0, 1)]))
    assert dense.model_.features == 3


def test_models_with_features_go_on(tmp_path, data):
    ratings, films = data
    model = fitted(ratings, column_features=films).set_params(warm_start=True)
    before = model.predict([(1, 2), (3, 39)])
    model.fit(ratings)
    assert_allclose(model.predict([(1, 2), (3, 39)]), before, atol=0.05)
    model.save(tmp_path / "m.npz")
    again = pursuit.load(tmp_path / "m.npz").set_params(warm_start=True)
    again.fit(ratings)
    assert_allclose(again.predict([(1, 2), (3, 39)]), before, atol=0.05)


def test_a_column_of_the_frame_may_hold_weights(data):
    ratings, _ = data
    weights = np.random.default_rng(1).integers(0, 3, len(ratings))
    named = fitted(ratings.assign(trust=weights), entry_weights="trust")
    given = fitted(ratings, entry_weights=weights)
    assert_allclose(named.predict([(1, 2)]), given.predict([(1, 2)]))
    with pytest.raises(ValueError, match="trust"):
        fitted(ratings, entry_weights="trust")


@pytest.mark.parametrize(
    "features, message",
    [
        (np.ones((3, 2)), "3 rows"),
        (np.zeros((50, 2)), "all features are zero"),
        (np.full((50, 1), np.inf), "finite"),
        (pd.DataFrame({"userId": [1, 1], "age": [2.0, 3.0]}), "earlier line"),
        (pd.DataFrame({"userId": [1, 2], "age": [2.0, np.nan]}), "missing"),
    ],
)
def test_what_cannot_be_used_is_refused(data, features, message):
    with pytest.raises(ValueError, match=message):
        fitted(data[0], row_features=features)


def test_features_and_atom_sets_do_not_go_together(data):
    with pytest.raises(ValueError, match="self-tuned"):
        pursuit.MatrixCompletion(left="nonneg", columns=NAMES).fit(data[0], row_features=np.ones((50, 1)))
    X = np.random.default_rng(0).random((5, 4))
    with pytest.raises(ValueError, match="no row of X"):
        pursuit.MatrixCompletion(1).fit(X, row_features=pd.DataFrame({"age": [1.0, 2]}, index=[0, 77]))
