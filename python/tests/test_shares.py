"""Scores that are shares of a whole."""

import os
import subprocess

import numpy as np
import pandas as pd
import pytest

import pursuit


@pytest.fixture
def mixtures(rng):
    pure = rng.random((3, 15)) * [[1], [2], [5]]
    shares = rng.dirichlet(np.full(3, 0.5), 50)
    return shares, pure, shares @ pure


def is_shares(scores):
    return (scores >= 0).all() and np.allclose(scores.sum(axis=1), 1, atol=1e-12)


def test_rows_sum_to_one_and_mixtures_are_explained(mixtures):
    shares, pure, X = mixtures
    model = pursuit.MatrixPursuit(3, left="nonneg", right="nonneg", closure=True, random_state=0).fit(X)
    assert is_shares(model.left_) and is_shares(model.transform(X)) and is_shares(model.transform(X[:7] * 3))
    assert (model.components_ >= 0).all() and (model.weights_ == 1).all()
    np.testing.assert_allclose(model.transform(X) @ model.components_, X, atol=0.05 * X.max())
    assert model.score(X) > 0.999
    assert model.relative_error_ < 0.01


def test_known_parts_keep_their_sizes(mixtures):
    shares, pure, X = mixtures
    model = pursuit.MatrixPursuit(
        3, left="nonneg", right="nonneg", closure=True, fixed_right=pure[:2], random_state=0
    ).fit(X)
    np.testing.assert_allclose(model.components_[:2], pure[:2])
    np.testing.assert_allclose(model.transform(X) @ model.components_, X, atol=0.01 * X.max())
    known = pursuit.MatrixPursuit(
        3, left="nonneg", right="nonneg", closure=True, fixed_right=pure, random_state=0
    ).fit(X)
    np.testing.assert_allclose(known.left_, shares, atol=1e-6)
    np.testing.assert_allclose(known.transform(X), shares, atol=1e-6)


def test_parts_are_of_any_set(mixtures):
    model = pursuit.MatrixPursuit(3, right="sparse:6", closure=True, random_state=0).fit(mixtures[2])
    assert (np.count_nonzero(model.components_, axis=1) <= 6).all()
    assert is_shares(model.transform(mixtures[2]))


def test_no_shares_beat_those_found(mixtures, rng):
    shares, pure, X = mixtures
    model = pursuit.MatrixPursuit(3, left="nonneg", right="nonneg", closure=True, random_state=0).fit(X)
    noisy = X + 0.5 * rng.standard_normal(X.shape)
    found = model.transform(noisy)
    best = ((noisy - found @ model.components_) ** 2).sum(axis=1)
    for other in rng.dirichlet(np.full(3, 0.5), (200, len(X))):
        assert (((noisy - other @ model.components_) ** 2).sum(axis=1) >= best - 1e-9).all()


def test_components_that_the_data_do_not_have_get_no_share():
    X = np.outer(np.ones(6), np.arange(1.0, 5.0))
    model = pursuit.MatrixPursuit(3, left="nonneg", right="nonneg", closure=True, random_state=0).fit(X)
    assert model.components_.shape == (3, 4)
    scores = model.transform(X)
    assert is_shares(scores) and (scores[:, ~model.left_.any(axis=0)] == 0).all()


def test_files_of_the_program_and_of_ours(mixtures, tmp_path):
    X = mixtures[2]
    model = pursuit.MatrixPursuit(3, left="nonneg", right="nonneg", closure=True, random_state=0).fit(X)
    model.save(tmp_path / "ours.npz")
    again = pursuit.load(tmp_path / "ours.npz")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    program = os.environ.get("PURSUIT_PROGRAM")
    if not program:
        pytest.skip("PURSUIT_PROGRAM does not say where the program is")
    pd.DataFrame(X, columns=[f"c{j}" for j in range(15)]).to_csv(tmp_path / "X.csv", index=False)
    out = tmp_path / "theirs.npz"
    command = [program, "factor", tmp_path / "X.csv", "--rank", "3", "--left", "nonneg", "--right", "nonneg"]
    subprocess.run([*command, "--closure", "--seed", "0", "--out", out], check=True, capture_output=True)
    assert is_shares(np.load(out)["left"])
    theirs = pursuit.load(out)
    assert theirs.closure
    np.testing.assert_allclose(theirs.transform(X), model.transform(X), atol=1e-6)
    refused = subprocess.run([*command, "--closure", "--loss", "poisson"], capture_output=True, text=True)
    assert refused.returncode != 0 and "closure" in refused.stderr


@pytest.mark.parametrize(
    "options, message",
    [
        ({"left": "sparse:3"}, "not sparse:3"),
        ({"weights": "convex:1"}, "weights are free or nonneg"),
        ({"loss": "huber:1"}, "plain squares"),
        ({"fixed_left": np.ones((50, 1))}, "known scores"),
    ],
)
def test_what_does_not_go_with_it_is_refused(mixtures, options, message):
    with pytest.raises(ValueError, match=message):
        pursuit.MatrixPursuit(3, closure=True, **options).fit(mixtures[2])
