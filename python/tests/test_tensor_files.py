"""Models of arrays in files: from here, from the program, and back."""

import os
import pickle
import subprocess

import numpy as np
import pytest

import pursuit

PROGRAM = os.environ.get("PURSUIT_PROGRAM", "pursuit")


def program(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def planted(shape, rank, seed=0):
    rng = np.random.default_rng(seed)
    factors = [rng.random((size, rank)) for size in shape]
    letters = "ijklmn"[: len(shape)]
    return np.einsum(",".join(c + "r" for c in letters) + "->" + letters, *factors)


def with_gaps(X, seed=1):
    return np.where(np.random.default_rng(seed).random(X.shape) < 0.3, np.nan, X)


NONNEG = dict(modes="nonneg", weights="nonneg", random_state=0)


def fitted(kind):
    X = planted((9, 8, 7), 2)
    if kind == "full":
        return pursuit.TensorPursuit(2, **NONNEG).fit(X)
    if kind == "two modes":
        return pursuit.TensorPursuit(2, **NONNEG).fit(X[0])
    if kind == "five modes":
        return pursuit.TensorPursuit(
            2, modes=["nonneg", "sphere", "sparse:2", "sphere", "sphere"], random_state=0
        ).fit(planted((4, 3, 5, 2, 3), 2))
    if kind == "gaps, rank chosen":
        return pursuit.TensorPursuit(None, regularize="auto", **NONNEG).fit(
            with_gaps(planted((14, 12, 10), 2))
        )
    if kind == "counts":
        return pursuit.TensorPursuit(2, loss="poisson", **NONNEG).fit(np.floor(5 * X))
    if kind == "offsets":
        return pursuit.TensorPursuit(1, loss="bernoulli", offsets=True, random_state=0).fit(
            with_gaps((X > np.median(X)).astype(float))
        )
    if kind == "grades":
        return pursuit.TensorPursuit(1, loss="ordinal", offsets=True, random_state=0).fit(
            with_gaps(np.digitize(X, np.quantile(X, [0.3, 0.6])).astype(float))
        )
    if kind == "sizes of counts":
        return pursuit.TensorPursuit(1, loss="negative-binomial", random_state=0).fit(np.floor(5 * X))
    if kind == "shared":
        return pursuit.TensorPursuit(2, symmetric_modes=(0, 2), **NONNEG).fit(
            with_gaps(planted((6, 5, 6), 1) + planted((6, 5, 6), 1).transpose(2, 1, 0))
        )
    assert kind == "names"
    return pursuit.TensorPursuit(2, names=[None, list("abcdefgh"), None], **NONNEG).fit(X)


KINDS = (
    "full",
    "two modes",
    "five modes",
    "gaps, rank chosen",
    "counts",
    "offsets",
    "grades",
    "sizes of counts",
    "shared",
    "names",
)


def same(a, b):
    assert type(a) is type(b)
    assert len(a.factors_) == len(b.factors_)
    for own, other in zip(a.factors_, b.factors_):
        np.testing.assert_array_equal(own, other)
    np.testing.assert_array_equal(a.weights_, b.weights_)
    np.testing.assert_array_equal(a.reconstruct(), b.reconstruct())
    for name in ("relative_error_", "congruence_", "condition_"):
        np.testing.assert_equal(getattr(a, name), getattr(b, name))
    for name in (
        "stop_reason_",
        "n_components_",
        "n_iter_",
        "names_",
        "validation_errors_",
        "offsets",
    ):
        assert getattr(a, name) == getattr(b, name), name
    assert pursuit._core.parse_loss(a.loss) == pursuit._core.parse_loss(b.loss)
    for name, column in a.trace_.items():
        np.testing.assert_array_equal(column, b.trace_[name])
    if a.offsets_ is None:
        assert b.offsets_ is None
    else:
        for own, other in zip(a.offsets_, b.offsets_):
            np.testing.assert_array_equal(own, other)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_saved_is_loaded(kind, tmp_path):
    model = fitted(kind)
    model.save(tmp_path / "m.npz")
    back = pursuit.load(tmp_path / "m.npz")
    same(model, back)
    shared = None if model.symmetric_modes is None else list(model.symmetric_modes)
    assert back.symmetric_modes == shared and back.weights == model.weights
    back.save(tmp_path / "again.npz")
    same(model, pursuit.load(tmp_path / "again.npz"))


@pytest.mark.parametrize("kind", KINDS)
def test_pickles(kind):
    model = fitted(kind)
    same(model, pickle.loads(pickle.dumps(model)))


def test_a_loaded_model_fits_again(tmp_path):
    X = planted((9, 8, 7), 2)
    fitted("full").save(tmp_path / "m.npz")
    back = pursuit.load(tmp_path / "m.npz")
    assert back.modes == "nonneg"
    np.testing.assert_allclose(back.fit(X).reconstruct(), fitted("full").reconstruct())
    np.testing.assert_allclose(back.transform(X), fitted("full").transform(X))


def test_a_model_from_tensorly_is_saved(tmp_path):
    rng = np.random.default_rng(0)
    factors = [rng.random((size, 2)) for size in (4, 3, 5)]
    model = pursuit.TensorPursuit.from_cp((np.array([2.0, 3.0]), factors), weights="nonneg")
    model.save(tmp_path / "m.npz")
    back = pursuit.load(tmp_path / "m.npz")
    np.testing.assert_allclose(back.reconstruct(), np.einsum("r,ir,jr,kr->ijk", [2.0, 3.0], *factors))
    tensorly = pytest.importorskip("tensorly")
    from tensorly.cp_tensor import CPTensor

    cp = CPTensor(back.to_cp())
    np.testing.assert_allclose(np.asarray(tensorly.cp_to_tensor(cp)), back.reconstruct())
    same_again = pursuit.TensorPursuit.from_cp(cp)
    np.testing.assert_allclose(same_again.reconstruct(), back.reconstruct())


def test_sets_that_open_files_wait_for_trust(tmp_path):
    np.savetxt(tmp_path / "mask.csv", np.ones(7), delimiter=",")
    spec = f"support:{tmp_path / 'mask.csv'}"
    X = planted((9, 8, 7), 2)
    pursuit.TensorPursuit(1, modes=["sphere", "sphere", spec], random_state=0).fit(X).save(tmp_path / "m.npz")
    back = pursuit.load(tmp_path / "m.npz")
    assert back.reconstruct().shape == X.shape
    with pytest.raises(ValueError, match="trusted=True"):
        back.fit(X)
    assert pursuit.load(tmp_path / "m.npz", trusted=True).fit(X).n_components_ == 1


def test_files_that_do_not_fit_are_refused(tmp_path):
    fitted("full").save(tmp_path / "m.npz")
    parts = dict(np.load(tmp_path / "m.npz"))
    text = str(parts["metadata"])
    for old, new, message in (
        ('[\\"nonneg\\", \\"nonneg\\", \\"nonneg\\"]', '[\\"nonneg\\"]', "name 1 sets for 3 modes"),
        ('"estimator"', '"validation_errors":"3","estimator"', "no pairs of numbers"),
    ):
        assert old in text, text
        np.savez(tmp_path / "d.npz", **{**parts, "metadata": np.array(text.replace(old, new))})
        with pytest.raises(ValueError, match=message):
            pursuit.load(tmp_path / "d.npz")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "two modes"])
def test_the_program_reads_what_is_saved_here(kind, tmp_path):
    model = fitted(kind)
    model.save(tmp_path / "m.npz")
    program("reconstruct", tmp_path / "m.npz", "--out", tmp_path / "X.npy")
    np.testing.assert_allclose(np.load(tmp_path / "X.npy"), model.reconstruct(), rtol=1e-9, atol=1e-12)
    shape = " x ".join(str(len(factor)) for factor in model.factors_)
    assert f"{shape}, {model.n_components_}" in program("inspect", tmp_path / "m.npz")


def test_what_the_program_writes_is_read_here(tmp_path):
    X = planted((9, 8, 7), 2)
    np.save(tmp_path / "T.npy", X)
    np.save(tmp_path / "gaps.npy", with_gaps(X))
    np.save(tmp_path / "yes.npy", with_gaps((X > np.median(X)).astype(float)))
    modes = ("--modes", "nonneg,nonneg,nonneg", "--weights", "nonneg")
    with open(tmp_path / "t.csv", "w") as file:
        file.write("who,when,where,what\n")
        for i, j, k in np.ndindex(X.shape):
            file.write(f"w{i},{j + 5},p{k},{float(X[i, j, k])!r}\n")
    for command in (
        ("factor", "T.npy", "--rank", 2, *modes),
        ("factor", "t.csv", "--rank", 2, *modes),
        ("factor", "T.npy", "--rank", 2, *modes, "--loss", "huber:0.5"),
        ("complete", "gaps.npy", "--rank", 2, *modes),
        ("complete", "t.csv", "--rank", 2, *modes),
        ("complete", "yes.npy", "--rank", 1, "--loss", "bernoulli", "--offsets"),
    ):
        program(command[0], tmp_path / command[1], *command[2:], "--out", tmp_path / "m.npz")
        program("reconstruct", tmp_path / "m.npz", "--out", tmp_path / "X.npy")
        model = pursuit.load(tmp_path / "m.npz")
        np.testing.assert_allclose(model.reconstruct(), np.load(tmp_path / "X.npy"), rtol=1e-9, atol=1e-12)
        assert model.stop_reason_ and 0 <= model.relative_error_ < 1
        if command[1] == "t.csv":
            assert model.names_[0][:2] == ["w0", "w1"]
            assert model.names_[1] == [str(j + 5) for j in range(8)]
            place = np.array([[3], [2], [1]])
            np.testing.assert_array_equal(model.predict([["w3"], ["7"], ["p1"]]), model.predict(place))
        if command[0] == "factor" and "--loss" not in command:
            assert model.modes == ["nonneg"] * 3 and model.congruence_ > 0
            model.fit(X)
