"""Counts by the Kullback-Leibler divergence beside scikit-learn's (one thread, contenders alternating, best of several
runs, seconds of processor time), zeros and ones and other losses beside a general solver, and how much memory sparse
counts take. Called by bench/losses."""
import argparse
import json
import os
import resource
import subprocess
import tempfile
import time
import warnings

import numpy as np
import scipy.optimize
import scipy.special
import scipy.sparse as sp
import sklearn
from sklearn.decomposition import NMF

warnings.filterwarnings("ignore")


def words(rows=18774, cols=29360, topics=60, entries=2_360_000):
    """Word counts of documents of a topic model: words by Zipf's law, documents of very different lengths."""
    rng = np.random.default_rng(0)
    zipf = 1 / (np.arange(cols) + 2.7) ** 1.05
    zipf /= zipf.sum()
    vocabulary = np.cumsum([rng.dirichlet(zipf * cols * 0.02 + 1e-4) for _ in range(topics)], axis=1)
    mixture = rng.dirichlet(np.full(topics, 0.08), size=rows)
    length = np.exp(rng.normal(np.log(110), 0.95, rows))
    scale = 1.0
    for _ in range(6):
        rng = np.random.default_rng(1)
        drawn = np.array(
            [rng.multinomial(n, p) for n, p in zip(rng.poisson(np.maximum(length * scale, 1)), mixture)]
        )
        i = np.concatenate([np.repeat(np.arange(rows), drawn[:, t]) for t in range(topics)])
        j = np.concatenate(
            [
                np.searchsorted(words, rng.random(n) * words[-1])
                for words, n in zip(vocabulary, drawn.sum(axis=0))
            ]
        )
        counts = sp.coo_matrix((np.ones(len(i)), (i, np.minimum(j, cols - 1))), shape=(rows, cols)).tocsr()
        if abs(counts.nnz - entries) < 0.005 * entries:
            break
        scale *= (entries / counts.nnz) ** 1.15
    return counts


def null_objective(counts):
    """Half the deviance of the best constant."""
    values, total = (counts.data if sp.issparse(counts) else counts[counts > 0]), counts.sum()
    return float(np.sum(values * np.log(values)) - total * np.log(total / np.prod(counts.shape)))


class Bench:
    def __init__(self, build, repeats):
        self.program, self.repeats = f"{build}/pursuit", repeats

    def pursuit(self, *arguments):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [self.program, *map(str, arguments), "--threads", "1", "--json"],
            check=True,
            capture_output=True,
            text=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, json.loads(done.stdout)

    def best(self, *contenders):
        """Best (seconds, answer) of each contender, called in turn."""
        results = [None] * len(contenders)
        for _ in range(self.repeats):
            for i, contender in enumerate(contenders):
                seconds, answer = contender()
                if results[i] is None or seconds < results[i][0]:
                    results[i] = (seconds, answer)
        return results


def kl(bench, inputs):
    print(
        "\nKullback-Leibler NMF: time to the half deviance that scikit-learn (mu, random start) ends with, the reading of the "
        "file included;\nthen until a sweep gains less than 1e-6, from the leading start and greedy; ms per sweep and ns per count "
        "and visit"
    )
    print(
        f"{'data':<8}{'k':>4}{'sklearn s':>11}{'objective':>13}{'pursuit s':>11}{'ratio':>7}{'leading s':>11}{'objective':>13}"
        f"{'greedy s':>10}{'objective':>13}{'ms/sweep':>10}{'ns/visit':>10}"
    )
    for name, path, k, iterations in inputs:
        data = sp.load_npz(path).astype(np.float64) if path.endswith(".npz") else np.load(path)
        null = null_objective(data)

        def peer():
            model = NMF(
                k,
                init="random",
                solver="mu",
                beta_loss="kullback-leibler",
                max_iter=iterations[0],
                tol=iterations[1],
                random_state=0,
            )
            start = time.process_time()
            model.fit(data)
            return time.process_time() - start, model.reconstruction_err_**2 / 2

        cells = [
            "factor",
            path,
            "--loss",
            "poisson",
            "--rank",
            k,
            "--left",
            "nonneg",
            "--right",
            "nonneg",
            "--weights",
            "nonneg",
        ]

        def ours(*more):
            seconds, answer = bench.pursuit(*cells, *more)
            return seconds, answer["deviance"] / 2

        def swept(count):
            seconds, _ = bench.pursuit(
                *cells, "--start", "leading", "--polish", count, "--polish-tolerance", 0
            )
            return seconds, None

        target = peer()
        error = np.sqrt(target[1] / null)
        theirs, reach, leading, greedy, few, many = bench.best(
            peer,
            lambda: ours(
                "--start", "leading", "--polish-tolerance", 0, "--polish", 5000, "--target-error", error
            ),
            lambda: ours("--start", "leading", "--polish-tolerance", 1e-6),
            lambda: ours("--polish-tolerance", 1e-6),
            lambda: swept(5),
            lambda: swept(25),
        )
        theirs, sweep = min(theirs, target), (many[0] - few[0]) / 20
        visited = data.nnz if sp.issparse(data) else np.count_nonzero(data)
        print(
            f"{name:<8}{k:>4}{theirs[0]:>11.2f}{theirs[1]:>13.0f}{reach[0]:>11.2f}{theirs[0] / reach[0]:>6.1f}x{leading[0]:>11.2f}"
            f"{leading[1]:>13.0f}{greedy[0]:>10.2f}{greedy[1]:>13.0f}{1e3 * sweep:>10.1f}{1e9 * sweep / 2 / visited:>10.1f}",
            flush=True,
        )


def logistic(y, x):
    e = np.exp(-np.abs(x))
    return np.maximum(x, 0) + np.log1p(e) - y * x, np.where(x >= 0, 1, e) / (1 + e) - y


def log_linear(y, x):
    mean = np.exp(x)
    return mean - y * x, mean - y


def huber(y, x):
    r = x - y
    slope = np.clip(r, -1, 1)
    return slope * (r - 0.5 * slope), slope


# of y and x: half the deviance, but for what does not depend on x, and its slope
LOSSES = {"bernoulli": logistic, "poisson-log": log_linear, "huber:1": huber}


def general_solver(y, loss, k, start):
    """Half the deviance by L-BFGS over both factors."""
    n, m = y.shape

    def objective(both):
        u, v = both[: n * k].reshape(n, k), both[n * k :].reshape(m, k)
        with np.errstate(over="ignore"):
            x = np.minimum(u @ v.T, 300)
            cost, g = LOSSES[loss](y, x)
            return cost.sum(), np.concatenate([(g @ v).ravel(), (g.T @ u).ravel()])

    x0 = np.random.default_rng(start).standard_normal((n + m) * k) * (0.3 if loss == "bernoulli" else 0.1)
    options = {"maxiter": 2000, "maxfun": 4000, "ftol": 1e-9, "gtol": 1e-6}
    return scipy.optimize.minimize(objective, x0, jac=True, method="L-BFGS-B", options=options).fun


def solvers(bench, folder, data, rows=120, starts=10):
    print(
        f"\nDeviance beside L-BFGS over both factors from {starts} starts (best, median and seconds of all of them): "
        "factors of any sign,\nno offsets"
    )
    print(
        f"{'data':<26}{'k':>3}{'L-BFGS best':>14}{'median':>12}{'s':>8}{'pursuit':>12}{'s':>8}{'of best':>10}"
    )
    rng = np.random.default_rng(0)
    inputs = []
    adult = f"{data}/counts/adult_48842x115.npz"
    if os.path.exists(adult):
        y = sp.load_npz(adult)[rng.permutation(48842)[:rows]].toarray().astype(float)
        inputs.append(("bernoulli", "adult", y, 0.0))
    cells = f"{data}/counts/pbmc_facs_3774x16791.npz"
    if os.path.exists(cells):
        y = sp.load_npz(cells)[:rows].astype(float)  # sums of 16 bits would overflow
        y = y[:, np.argsort(-np.asarray(y.sum(axis=0)).ravel())[:120]].toarray()
        inputs.append(("poisson-log", "pbmc, 120 genes", y, float(np.sum(scipy.special.xlogy(y, y) - y))))
    planted = rng.standard_normal((rows, 3)) @ rng.standard_normal((3, 60)) + 0.3 * rng.standard_normal(
        (rows, 60)
    )
    planted += (rng.random(planted.shape) < 0.1) * rng.standard_normal(planted.shape) * 20
    inputs.append(("huber:1", "planted, 10 % gross errors", planted, 0.0))
    for loss, name, y, constant in inputs:
        path = f"{folder}/sample.npy"
        np.save(path, y)
        for k in range(1, 6):
            start = time.process_time()
            peers = [2 * (general_solver(y, loss, k, s) + constant) for s in range(starts)]
            theirs = time.process_time() - start
            seconds, answer = bench.pursuit("factor", path, "--loss", loss, "--rank", k)
            best = min(peers)
            print(
                f"{loss + ', ' + name:<26}{k:>3}{best:>14.1f}{np.median(peers):>12.1f}{theirs:>8.1f}"
                f"{answer['deviance']:>12.1f}{seconds:>8.2f}{answer['deviance'] / best:>10.4f}",
                flush=True,
            )


def memory(bench, folder):
    rows, cols, entries, limit = 10**6, 10**5, 10**7, 6 * 10**9
    rng = np.random.default_rng(5)
    counts = sp.coo_matrix(
        (
            np.ones(entries),
            (rng.integers(0, rows, entries), (cols * rng.random(entries) ** 2).astype(np.int64)),
        ),
        shape=(rows, cols),
    ).tocsr()
    path = f"{folder}/wide.npz"
    sp.save_npz(path, counts, compressed=False)
    command = [
        bench.program,
        "factor",
        path,
        "--loss",
        "poisson",
        "--rank",
        "3",
        "--left",
        "nonneg",
        "--right",
        "nonneg",
        "--weights",
        "nonneg",
        "--start",
        "leading",
        "--polish",
        "2",
        "--threads",
        "1",
        "--json",
    ]
    start = time.perf_counter()
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    if done.returncode != 0:
        raise SystemExit(f"memory: {done.stderr}")
    answer = json.loads(done.stdout)
    print(
        f"\n10^6 x 10^5 with {counts.nnz} counts, rank 3, 2 sweeps: {time.perf_counter() - start:.0f} s, peak "
        f"{answer['peak_memory_bytes'] / 1e6:.0f} MB in {limit / 1e9:.0f} GB of address space; dense it would be 800 GB"
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", nargs="?", default="")
    parser.add_argument("--build", required=True)
    parser.add_argument("--only", default="kl,solvers,memory")
    parser.add_argument("--inputs", default="pbmc,words,CBCL")
    parser.add_argument("--repeats", type=int, default=2)
    o = parser.parse_args()
    bench = Bench(o.build, o.repeats)
    ours = subprocess.run([bench.program, "--version"], capture_output=True, text=True).stdout.strip()
    print(f"{ours}; scikit-learn {sklearn.__version__}, NumPy {np.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        if "kl" in o.only.split(","):
            inputs = []
            cells, faces = f"{o.data}/counts/pbmc_facs_3774x16791.npz", f"{o.data}/cbcl_2429x361.npy"
            if "pbmc" in o.inputs and os.path.exists(cells):
                sp.save_npz(f"{folder}/pbmc.npz", sp.load_npz(cells).astype(np.float64), compressed=False)
                inputs.append(("pbmc", f"{folder}/pbmc.npz", 10, (200, 1e-4)))
            if "words" in o.inputs:
                sp.save_npz(f"{folder}/words.npz", words(), compressed=False)
                inputs.append(("words", f"{folder}/words.npz", 20, (200, 1e-4)))
            if "CBCL" in o.inputs and os.path.exists(faces):
                inputs.append(("CBCL", faces, 20, (4000, 1e-6)))
            kl(bench, inputs)
        if "solvers" in o.only.split(","):
            solvers(bench, folder, o.data)
        if "memory" in o.only.split(","):
            memory(bench, folder)


if __name__ == "__main__":
    main()
