"""pursuit beside its peers: one thread, contenders alternating, best of several runs. Called by bench/compare."""
import argparse
import inspect
import json
import os
import subprocess
import tempfile
import time
import warnings

os.environ["SCIPY_USE_PROPACK"] = "1"  # SciPy asks for it before 1.11

import numpy as np
import scipy
import scipy.sparse as sp
import sklearn
from scipy.sparse.linalg import svds
from sklearn.decomposition import NMF, SparsePCA
from sklearn.linear_model import orthogonal_mp

warnings.filterwarnings("ignore")
SEED = {"rng" if "rng" in inspect.signature(svds).parameters else "random_state": 0}  # SciPy renamed it


def make_data(folder):
    """Generated matrices with fixed seeds: dense 2000 x 1000, sparse 20000 x 10000 at 0.5 %, medium 20000 x 5000 at
    about 20 %, OMP 512 x 2048."""
    rng = np.random.default_rng(1)
    dense = rng.gamma(0.5, 1.0, (2000, 30)) @ rng.gamma(0.5, 1.0, (30, 1000))
    dense /= dense.mean()
    np.save(f"{folder}/dense.npy", np.maximum(dense + 0.3 * rng.standard_normal(dense.shape), 0))

    rng = np.random.default_rng(2)
    rows, cols, topics, draws = 20000, 10000, 30, 1250000
    share = rng.dirichlet(np.full(topics, 2.0))
    row_topics = [rng.dirichlet(np.full(rows, 0.01)) for _ in range(topics)]
    col_topics = [rng.dirichlet(np.full(cols, 0.05)) for _ in range(topics)]
    pairs = [
        (rng.choice(rows, c, p=row_topics[t]), rng.choice(cols, c, p=col_topics[t]))
        for t, c in enumerate(rng.multinomial(draws, share))
    ]
    i, j = (np.concatenate(x) for x in zip(*pairs))
    gap = sp.csr_matrix((np.ones(len(i)), (i, j)), shape=(rows, cols))
    gap.sum_duplicates()
    gap.data = np.log1p(gap.data)
    sp.save_npz(f"{folder}/sparse.npz", gap)
    sp.save_npz(
        f"{folder}/flat.npz",
        sp.random(rows, cols, 0.005, "csr", random_state=rng, data_rvs=rng.standard_normal),
    )

    rng = np.random.default_rng(4)  # expression of 5000 genes in 20000 cells, about 20 % not zero
    means = rng.gamma(0.3, 1.0, (20000, 12)) @ rng.gamma(0.3, 1.0, (12, 5000))
    counts = rng.poisson(rng.gamma(2.0, means * (0.28 / means.mean() / 2)))
    sp.save_npz(f"{folder}/medium.npz", sp.csr_matrix(np.log1p(counts)))

    rng = np.random.default_rng(3)
    dictionary = rng.standard_normal((512, 2048))
    dictionary /= np.linalg.norm(dictionary, axis=0)
    codes = np.zeros((2048, 256))
    for c in range(256):
        codes[rng.choice(2048, 50, replace=False), c] = rng.standard_normal(50)
    np.save(f"{folder}/omp_D.npy", dictionary)
    np.save(f"{folder}/omp_Y.npy", dictionary @ codes + 0.01 * rng.standard_normal((512, 256)))


class Bench:
    def __init__(self, build, repeats):
        self.program, self.repeats = f"{build}/pursuit", repeats

    def pursuit(self, *arguments):
        done = subprocess.run(
            [self.program, *map(str, arguments), "--threads", "1", "--json"],
            check=True,
            capture_output=True,
            text=True,
        )
        return json.loads(done.stdout)

    def best(self, *contenders):
        """Best (seconds, answer) of each contender, called in turn."""
        results = [None] * len(contenders)
        for _ in range(self.repeats):
            for i, contender in enumerate(contenders):
                seconds, answer = contender()
                if results[i] is None or seconds < results[i][0]:
                    results[i] = (seconds, answer)
        return results


def versions(program):
    """What is compared, and on what: the processor and the code that OpenBLAS, where peers use it, chose for it."""
    processor = next(
        (line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?"
    )
    ours = subprocess.run([program, "--version"], capture_output=True, text=True).stdout.strip()
    print(
        f"{ours}; scikit-learn {sklearn.__version__}, SciPy {scipy.__version__}, NumPy {np.__version__}; {processor}, "
        f"{len(os.sched_getaffinity(0))} cores"
    )
    try:
        from threadpoolctl import threadpool_info

        for pool in threadpool_info():
            if pool["internal_api"] == "openblas":
                print(
                    f"peers: OpenBLAS {pool['version']} {pool['architecture']}, {pool['num_threads']} thread(s)"
                )
    except ImportError:
        pass


def timed(work):
    start = time.perf_counter()
    answer = work()
    return time.perf_counter() - start, answer


def nmf(bench, inputs):
    print("\nNMF: time to the error that scikit-learn's cd solver has after 200 iterations (random start)")
    print(
        f"{'data':<10}{'k':>4}{'sklearn s':>11}{'error':>9}{'nndsvda s':>11}{'error':>9}"
        f"{'pursuit s':>11}{'ratio':>7}{'converged s':>13}{'error':>9}{'greedy s':>10}{'error':>9}"
    )
    for name, path, ranks in inputs:
        data = sp.load_npz(path) if path.endswith(".npz") else np.load(path)
        norm = sp.linalg.norm(data) if sp.issparse(data) else np.linalg.norm(data)
        for k in ranks:

            def sklearn_nmf(init):
                model = NMF(k, init=init, solver="cd", max_iter=200, tol=0, random_state=0)
                seconds, _ = timed(lambda: model.fit(data))
                return seconds, model.reconstruction_err_ / norm

            cells = [
                "factor",
                path,
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
                answer = bench.pursuit(*cells, *more)
                return answer["seconds"], answer["relative_error"]

            target = sklearn_nmf("random")[1]
            peer, nndsvd, reach, converged, greedy = bench.best(
                lambda: sklearn_nmf("random"),
                lambda: sklearn_nmf("nndsvda"),
                lambda: ours(
                    "--start", "leading", "--polish-tolerance", 0, "--polish", 5000, "--target-error", target
                ),
                lambda: ours("--start", "leading"),
                lambda: ours(),
            )
            print(
                f"{name:<10}{k:>4}{peer[0]:>11.3f}{peer[1]:>9.5f}{nndsvd[0]:>11.3f}{nndsvd[1]:>9.5f}"
                f"{reach[0]:>11.3f}{peer[0] / reach[0]:>6.1f}x{converged[0]:>13.3f}{converged[1]:>9.5f}"
                f"{greedy[0]:>10.3f}{greedy[1]:>9.5f}",
                flush=True,
            )


def svd(bench, folder):
    """Residuals of both sides: one of them alone is rounding where vectors of that side are made of the other's."""
    print("\nSVD rank 20, sparse 20000 x 10000: seconds, and the largest of |A v - s u| and |A^T u - s v| over s")
    print(
        f"{'spectrum':<10}{'ARPACK':>9}{'':>9}{'PROPACK':>9}{'':>9}{'LOBPCG':>9}{'':>9}{'pursuit':>9}{'':>9}"
        f"{'--svd-tol. 1e-14':>18}{'':>9}{'to the best':>12}{'1e-14 to ARPACK':>17}"
    )
    for name, path in (("gap", f"{folder}/sparse.npz"), ("flat", f"{folder}/flat.npz")):
        data = sp.load_npz(path)

        def residual(u, values, v):
            sides = (data @ v - u * values, data.T @ u - v * values)
            return max((np.linalg.norm(side, axis=0) / values).max() for side in sides)

        def peer(solver):
            try:  # with as many iterations as it takes: PROPACK ends with an error otherwise, LOBPCG unfinished
                work = lambda: svds(
                    data, 20, solver=solver, maxiter=2000 if solver != "arpack" else None, **SEED
                )
                seconds, (u, values, vt) = timed(work)
            except np.linalg.LinAlgError:
                return np.inf, np.nan
            return seconds, residual(u, values, vt.T)

        def ours(*more):
            answer = bench.pursuit("factor", path, "--rank", 20, "--out", f"{folder}/svd.npz", *more)
            with np.load(f"{folder}/svd.npz") as model:
                return answer["seconds"], residual(model["left"], model["weights"], model["right"])

        results = bench.best(
            lambda: peer("arpack"),
            lambda: peer("propack"),
            lambda: peer("lobpcg"),
            ours,
            lambda: ours("--svd-tolerance", 1e-14),
        )
        print(
            f"{name:<10}"
            + "".join(f"{seconds:>9.3f}{accuracy:>9.1e}" for seconds, accuracy in results[:4])
            + f"{results[4][0]:>18.3f}{results[4][1]:>9.1e}"
            + f"{min(r[0] for r in results[:3]) / results[3][0]:>11.2f}x{results[0][0] / results[4][0]:>16.2f}x",
            flush=True,
        )


def omp(bench, folder):
    print("\nOMP 512 x 2048, 50 atoms, 256 signals: milliseconds per signal")
    dictionary, signals = np.load(f"{folder}/omp_D.npy"), np.load(f"{folder}/omp_Y.npy")

    def peer():
        seconds, codes = timed(lambda: orthogonal_mp(dictionary, signals, n_nonzero_coefs=50))
        return seconds, np.linalg.norm(signals - dictionary @ codes) / np.linalg.norm(signals)

    def ours():
        answer = bench.pursuit("omp", f"{folder}/omp_D.npy", f"{folder}/omp_Y.npy", "--atoms", 50)
        return answer["seconds"], answer["relative_error"]

    theirs, mine = bench.best(peer, ours)
    per = 1e3 / signals.shape[1]
    print(
        f"scikit-learn {theirs[0] * per:.3f} (error {theirs[1]:.6f})   pursuit {mine[0] * per:.3f} "
        f"(error {mine[1]:.6f})   ratio {theirs[0] / mine[0]:.1f}x"
    )


def restarts(bench, folder):
    print("\nAtomic power method on the dense 2000 x 1000 matrix, one atom: seconds by number of restarts")
    cells = [
        "factor",
        f"{folder}/dense.npy",
        "--rank",
        1,
        "--left",
        "nonneg+sparse:200",
        "--right",
        "sparse:100",
        "--corrections",
        0,
        "--polish",
        0,
    ]

    def run(count):
        answer = bench.pursuit(*cells, "--restarts", count)
        return answer["path"][0]["seconds"], answer["relative_error"]

    one, sixteen = bench.best(lambda: run(1), lambda: run(16))
    print(
        f"1: {one[0]:.4f} s (error {one[1]:.5f})   16: {sixteen[0]:.4f} s (error {sixteen[1]:.5f})   "
        f"ratio {sixteen[0] / one[0]:.2f}"
    )


def growth(bench, folder):
    print("\nCost growth: NMF of the sparse 20000 x 10000 matrix, 50 sweeps from the leading start")
    path = f"{folder}/sparse.npz"
    stored = sp.load_npz(path).nnz * 12 / 1e6
    print(f"{'rank':>6}{'seconds':>10}{'peak MB':>10}   (the matrix itself: {stored:.0f} MB)")
    for rank in (10, 20, 40, 80):
        answer = bench.pursuit(
            "factor",
            path,
            "--rank",
            rank,
            "--left",
            "nonneg",
            "--right",
            "nonneg",
            "--weights",
            "nonneg",
            "--start",
            "leading",
            "--polish",
            50,
            "--polish-tolerance",
            0,
        )
        print(f"{rank:>6}{answer['seconds']:>10.2f}{answer['peak_memory_bytes'] / 1e6:>10.0f}", flush=True)


def span_explained(data, loadings):
    basis, _ = np.linalg.qr(loadings)
    return np.linalg.norm(data @ basis) ** 2 / np.linalg.norm(data) ** 2


def sparse_pca(bench, folder):
    print("\nSparse PCA, five components: seconds, variance explained by the span")
    print(
        f"{'data':<10}{'sklearn s':>11}{'span':>8}{'one start s':>13}{'span':>8}{'ratio':>8}{'default s':>11}{'span':>8}"
        f"{'tpower s':>10}{'span':>8}"
    )
    for name, file, k, alpha in (
        ("CBCL", "cbcl_2429x361.npy", 200, 100.0),
        ("Leukemia", "leukemia_mll_72x12582.npy", 300, 10000.0),
    ):
        path = f"{folder}/{file}"
        data = np.load(path)
        data = data - data.mean(0)

        def peer():
            """Of several penalties the one that explains most once its loadings are cut to k."""
            model = SparsePCA(
                5, alpha=alpha, random_state=0, max_iter=200, method="cd" if data.shape[1] > 1000 else "lars"
            )
            seconds, _ = timed(lambda: model.fit(data))
            loadings = model.components_.T.copy()
            for j in range(5):
                loadings[np.argsort(-abs(loadings[:, j]))[k:], j] = 0
            return seconds, span_explained(data, loadings[:, abs(loadings).sum(0) > 0])

        def ours(*more):
            answer = bench.pursuit("pca", path, "--components", 5, "--atoms", f"sparse:{k}", *more)
            return answer["seconds"], answer["explained"]["span"]

        theirs = peer()  # minutes: once
        low, normal, tpower = bench.best(
            lambda: ours("--effort", "low"), ours, lambda: ours("--method", "tpower")
        )
        print(
            f"{name:<10}{theirs[0]:>11.1f}{theirs[1]:>8.4f}{low[0]:>13.3f}{low[1]:>8.4f}{theirs[0] / low[0]:>7.0f}x"
            f"{normal[0]:>11.3f}{normal[1]:>8.4f}{tpower[0]:>10.3f}{tpower[1]:>8.4f}",
            flush=True,
        )


def pca_growth(bench, folder):
    print("\nSparse PCA of 200 samples, five components of 50 non-zeros, one start, by number of variables")
    print(f"{'variables':>10}{'threads':>9}{'seconds':>10}{'sweeps':>8}{'ms a sweep':>12}{'peak / data':>13}")
    for variables in (1000, 10000, 100000, 1000000):
        rng = np.random.default_rng(variables)
        loadings = np.zeros((variables, 5))
        for j in range(5):
            loadings[rng.choice(variables, 50, replace=False), j] = rng.standard_normal(50)
        path = f"{folder}/wide.npy"
        data = (
            rng.standard_normal((200, 5)) @ loadings.T
            + rng.standard_normal((200, variables), dtype=np.float32)
        ).astype(np.float32)
        np.save(path, data)
        for threads in (1, 2):
            done = subprocess.run(
                [
                    bench.program,
                    "pca",
                    path,
                    "--components",
                    "5",
                    "--atoms",
                    "sparse:50",
                    "--effort",
                    "low",
                    "--threads",
                    str(threads),
                    "--json",
                ],
                check=True,
                capture_output=True,
                text=True,
            )
            answer = json.loads(done.stdout)
            print(
                f"{variables:>10}{threads:>9}{answer['seconds']:>10.3f}{answer['sweeps']:>8}"
                f"{1e3 * answer['seconds'] / answer['sweeps']:>12.2f}{answer['peak_memory_bytes'] / data.nbytes:>13.2f}",
                flush=True,
            )
        os.remove(path)


def sweep(build):
    print("\nOne sweep of corrections over the two products with the data that it cannot avoid")
    done = subprocess.run(
        [
            f"{build}/bench/pursuit_benchmarks",
            "--benchmark_filter=TwoProducts|Sweep",
            "--benchmark_repetitions=5",
            "--benchmark_format=json",
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    best = {}
    for row in json.loads(done.stdout)["benchmarks"]:
        if row["run_type"] == "iteration":
            best[row["run_name"]] = min(best.get(row["run_name"], np.inf), row["real_time"])
    for name, products in best.items():
        if name.startswith("BM_TwoProducts"):
            size = name.split("/", 1)[1]
            whole = best[f"BM_Sweep/{size}"]
            print(
                f"{size:<16} products {products:.3f} ms   sweep {whole:.3f} ms   ratio {whole / products:.2f}"
            )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", nargs="?")
    parser.add_argument("--build", required=True)
    parser.add_argument(
        "--only", choices=["nmf", "svd", "omp", "restarts", "growth", "sweep", "pca", "pca-growth"]
    )
    parser.add_argument("--inputs", help="of NMF, comma-separated: CBCL, dense, sparse, medium")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    bench = Bench(options.build, options.repeats)
    versions(bench.program)
    with tempfile.TemporaryDirectory() as folder:
        if options.only not in ("pca", "pca-growth"):
            make_data(folder)
        inputs = [
            ("dense", f"{folder}/dense.npy", (20, 50)),
            ("sparse", f"{folder}/sparse.npz", (20, 50)),
            ("medium", f"{folder}/medium.npz", (20, 50)),
        ]
        if options.data and os.path.exists(f"{options.data}/cbcl_2429x361.npy"):
            inputs.insert(0, ("CBCL", f"{options.data}/cbcl_2429x361.npy", (10, 20, 50)))
        if options.inputs:
            inputs = [each for each in inputs if each[0] in options.inputs.split(",")]
        sections = {
            "nmf": lambda: nmf(bench, inputs),
            "svd": lambda: svd(bench, folder),
            "omp": lambda: omp(bench, folder),
            "restarts": lambda: restarts(bench, folder),
            "growth": lambda: growth(bench, folder),
            "sweep": lambda: sweep(options.build),
            "pca-growth": lambda: pca_growth(bench, folder),
        }
        if options.data and os.path.exists(f"{options.data}/leukemia_mll_72x12582.npy"):
            sections["pca"] = lambda: sparse_pca(bench, options.data)
        for name, section in sections.items():
            if options.only in (None, name):
                section()


if __name__ == "__main__":
    main()
