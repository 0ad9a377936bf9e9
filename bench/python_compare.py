"""What calling from Python costs, and the Python peers beside us: contenders alternating, best of several
runs. Called by bench/python_compare."""

import argparse
import importlib
import json
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import sklearn.decomposition
import sklearn.linear_model

import pursuit

warnings.filterwarnings("ignore")


def timed(work):
    start = time.perf_counter()
    answer = work()
    return time.perf_counter() - start, answer


def best(repeats, *contenders):
    """Best (seconds, answer) of each contender, called in turn."""
    results = [None] * len(contenders)
    for _ in range(repeats):
        for i, contender in enumerate(contenders):
            result = contender()
            if results[i] is None or result[0] < results[i][0]:
                results[i] = result
    return results


def dense_matrix():
    rng = np.random.default_rng(1)
    X = rng.gamma(0.5, 1.0, (2000, 30)) @ rng.gamma(0.5, 1.0, (30, 1000))
    X /= X.mean()
    return np.maximum(X + 0.3 * rng.standard_normal(X.shape), 0)


def overhead(options):
    """The same fits by the program, which reports the seconds of the fit alone, and by the estimators, all
    that `fit` does."""
    X = dense_matrix()
    fits = {
        "NMF, rank 20": (
            pursuit.NMF(20, init="greedy", random_state=0),
            "--rank 20 --left nonneg --right nonneg --weights nonneg",
        ),
        "sparse right atoms, rank 10": (
            pursuit.MatrixPursuit(10, right="sparse:50", random_state=0),
            "--rank 10 --right sparse:50",
        ),
        "SVD, rank 10": (pursuit.TruncatedSVD(10), "--rank 10"),
    }
    print("\nA fit from Python beside the same fit in C++, 2000 x 1000")
    print(f"{'fit':<30}{'C++ s':>9}{'Python s':>10}{'ratio':>8}{'same error':>12}")
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/X.npy", X)
        for name, (estimator, arguments) in fits.items():

            def program():
                command = [
                    options.program,
                    "factor",
                    f"{folder}/X.npy",
                    *arguments.split(),
                    "--threads",
                    "1",
                    "--json",
                ]
                done = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                return done["seconds"], done["relative_error"]

            def python():
                seconds, model = timed(lambda: estimator.fit(X))
                return seconds, model.relative_error_

            (cpp, expected), (ours, error) = best(options.repeats, program, python)
            same = str(bool(np.isclose(error, expected)))
            print(f"{name:<30}{cpp:>9.3f}{ours:>10.3f}{ours / cpp:>8.3f}{same:>12}")

    print(
        "\nA Python function as an atom set: microseconds per call of its oracle beyond the function itself"
    )
    print(f"{'entries':>9}{'function':>10}{'oracle':>9}{'added':>8}")
    for size in (100, 1000, 10000):
        g = np.random.default_rng(0).standard_normal(size)

        def unit(g):
            return g / np.sqrt(g @ g)

        oracle = pursuit.atoms.custom(unit).maximize
        calls = 20000

        def per_call(work):
            seconds, _ = timed(lambda: [work(g) for _ in range(calls)])
            return seconds / calls * 1e6, None

        (alone, _), (called, _) = best(options.repeats, lambda: per_call(unit), lambda: per_call(oracle))
        print(f"{size:>9}{alone:>10.2f}{called:>9.2f}{called - alone:>8.2f}")


def nmf(options):
    X = dense_matrix()
    print("\nNMF of a 2000 x 1000 matrix, fit_transform with default settings")
    print(f"{'k':>4}{'sklearn s':>11}{'error':>9}{'pursuit s':>11}{'error':>9}{'ratio':>8}")
    for k in (10, 20):

        def run(make):
            seconds, (model, W) = timed(lambda: (lambda m: (m, m.fit_transform(X)))(make()))
            return seconds, np.linalg.norm(X - W @ model.components_) / np.linalg.norm(X)

        theirs, ours = best(
            options.repeats,
            lambda: run(lambda: sklearn.decomposition.NMF(k, random_state=0)),
            lambda: run(lambda: pursuit.NMF(k, random_state=0)),
        )
        figures = f"{theirs[0]:>11.3f}{theirs[1]:>9.5f}{ours[0]:>11.3f}{ours[1]:>9.5f}"
        print(f"{k:>4}{figures}{theirs[0] / ours[0]:>8.1f}")


def span_share(X, components):
    centred = X - X.mean(axis=0)
    basis = np.linalg.qr(components.T)[0]
    return np.sum((centred @ basis) ** 2) / np.sum(centred**2)


def pca(options):
    rng = np.random.default_rng(2)
    loadings = np.zeros((5, 400))
    for row in loadings:
        row[rng.choice(400, 20, replace=False)] = rng.standard_normal(20)
    X = rng.standard_normal((200, 5)) @ loadings + rng.standard_normal((200, 400))
    theirs = best(
        1, lambda: timed(lambda: sklearn.decomposition.SparsePCA(5, random_state=0, alpha=2).fit(X))
    )[0]
    used = [max(1, int(np.count_nonzero(c))) for c in theirs[1].components_]
    ours = best(
        options.repeats,
        lambda: timed(lambda: pursuit.SparsePCA(5, k=used, random_state=0, effort="low").fit(X)),
    )[0]
    print(
        f"\nSparse PCA of 200 x 400, 5 components of {used} non-zeros (what scikit-learn's alpha = 2 gives)"
    )
    print(f"{'':<10}{'seconds':>9}{'variance explained by the span':>33}")
    for name, (seconds, model) in (("sklearn", theirs), ("pursuit", ours)):
        print(f"{name:<10}{seconds:>9.3f}{span_share(X, model.components_):>33.4f}")


def omp(options):
    rng = np.random.default_rng(3)
    D = rng.standard_normal((512, 2048))
    D /= np.linalg.norm(D, axis=0)
    codes = np.zeros((2048, 64))
    for column in codes.T:
        column[rng.choice(2048, 50, replace=False)] = rng.standard_normal(50)
    Y = D @ codes + 0.01 * rng.standard_normal((512, 64))
    theirs, ours = best(
        options.repeats,
        lambda: timed(lambda: sklearn.linear_model.orthogonal_mp(D, Y, n_nonzero_coefs=50)),
        lambda: timed(lambda: pursuit.OrthogonalMatchingPursuit(50, fit_intercept=False).fit(D, Y)),
    )
    errors = [np.linalg.norm(Y - D @ answer) / np.linalg.norm(Y) for answer in (theirs[1], ours[1].coef_.T)]
    print("\nOMP, 512 x 2048 dictionary, 64 signals, 50 atoms")
    print(f"{'':<10}{'seconds':>9}{'relative error':>16}")
    for name, (seconds, _), error in zip(("sklearn", "pursuit"), (theirs, ours), errors):
        print(f"{name:<10}{seconds:>9.3f}{error:>16.6f}")
    print(f"{'ratio':<10}{theirs[0] / ours[0]:>9.1f}")


def ratings(folder):
    """Rows, columns and values: MovieLens-100K, or generated ones."""
    path = Path(folder) / "ml-100k" / "u.data" if folder else None
    if path and path.exists():
        table = np.loadtxt(path)
        return (
            "MovieLens-100K",
            *(np.unique(table[:, c], return_inverse=True)[1] for c in (0, 1)),
            table[:, 2],
        )
    rng = np.random.default_rng(4)
    truth = 3.5 + 0.4 * rng.standard_normal((900, 1)) + 0.5 * rng.standard_normal((1, 1600))
    truth = truth + 0.3 * rng.standard_normal((900, 4)) @ rng.standard_normal((4, 1600))
    row, column = np.nonzero(rng.random(truth.shape) < 0.06)
    return (
        "generated 900 x 1600",
        row,
        column,
        np.clip(np.rint(truth[row, column] + 0.8 * rng.standard_normal(row.size)), 1, 5),
    )


class Peers:
    """Completion with what is installed; every method takes training and test arrays and gives
    predictions."""

    def surprise(self, shape, train, test):
        surprise = importlib.import_module("surprise")
        import pandas

        frame = pandas.DataFrame({"row": train[0], "column": train[1], "value": train[2]})
        data = surprise.Dataset.load_from_df(
            frame, surprise.Reader(rating_scale=(1, 5))
        ).build_full_trainset()
        model = surprise.SVD(random_state=0).fit(data)
        return [model.predict(i, j).est for i, j in zip(test[0], test[1])]

    def cmfrec(self, shape, train, test):
        cmfrec = importlib.import_module("cmfrec")
        import scipy.sparse

        model = cmfrec.CMF(nthreads=1, verbose=False).fit(
            scipy.sparse.coo_matrix((train[2], (train[0], train[1])), shape=shape)
        )
        return model.predict(test[0], test[1])

    def implicit(self, shape, train, test):
        als = importlib.import_module("implicit.als")
        import scipy.sparse

        mean = train[2].mean()
        centred = scipy.sparse.csr_matrix((train[2] - mean, (train[0], train[1])), shape=shape)
        model = als.AlternatingLeastSquares(factors=16, num_threads=1, random_state=0)
        model.fit(centred, show_progress=False)
        return mean + np.einsum("ij,ij->i", model.user_factors[test[0]], model.item_factors[test[1]])

    def pursuit(self, shape, train, test):
        return (
            pursuit.MatrixCompletion(random_state=0)
            .fit(train)
            .predict(list(zip(test[0], test[1])), unknown="prior")
        )


def completion(options):
    name, row, column, value = ratings(options.data)
    held = np.random.default_rng(5).random(len(value)) < 0.1
    shape = int(row.max()) + 1, int(column.max()) + 1
    train, test = (tuple(each[chosen] for each in (row, column, value)) for chosen in (~held, held))
    print(f"\nCompletion of {name}, {np.sum(~held)} entries to learn from, {held.sum()} to test")
    print(f"{'':<10}{'seconds':>9}{'test RMSE':>11}")
    for peer in ("surprise", "cmfrec", "implicit", "pursuit"):
        try:
            seconds, predicted = timed(lambda: getattr(Peers(), peer)(shape, train, test))
        except ImportError as missing:
            print(f"{peer:<10} left out: {missing}")
            continue
        rmse = np.sqrt(np.mean((np.clip(predicted, 1, 5) - test[2]) ** 2))
        print(f"{peer:<10}{seconds:>9.2f}{rmse:>11.4f}")


def main():
    sections = {"overhead": overhead, "nmf": nmf, "pca": pca, "omp": omp, "completion": completion}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", help="folder that may hold ml-100k/u.data")
    parser.add_argument("--program", required=True)
    parser.add_argument("--only", choices=sections)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    for name, section in sections.items():
        if options.only in (None, name):
            section(options)


if __name__ == "__main__":
    main()
