"""Every job of the program on 1, 2, 4 ... threads: seconds, and the share of perfect scaling. Called by bench/scaling."""
import argparse
import json
import os
import subprocess
import tempfile
import time

import numpy as np
import scipy.sparse as sp

NONNEG = "--left nonneg --right nonneg --weights nonneg"


class Data:
    """Generated inputs, each made when a job first asks for it."""

    def __init__(self, folder, program, share):
        self.folder, self.program, self.share = folder, program, share

    def size(self, n):
        return max(int(n * self.share), 64)

    def file(self, name, make):
        path = f"{self.folder}/{name}"
        if not os.path.exists(path):
            make(path)
        return path

    def dense(self):
        rng = np.random.default_rng(1)
        rows, cols = self.size(20000), 4000
        planted = lambda: rng.gamma(0.5, 1.0, (rows, 30)) @ rng.gamma(0.5, 1.0, (30, cols)) + rng.random(
            (rows, cols)
        )
        return self.file("dense.npy", lambda path: np.save(path, planted()))

    def sparse(self):
        rng = np.random.default_rng(2)
        draw = lambda n: (n * rng.random(self.size(20_000_000)) ** 2).astype(np.int32)

        def make(path):
            rows, cols = self.size(200000), 50000
            A = sp.csr_matrix(
                (rng.random(self.size(20_000_000)), (draw(rows), draw(cols))), shape=(rows, cols)
            )
            A.sum_duplicates()
            sp.save_npz(path, A, compressed=False)

        return self.file("sparse.npz", make)

    def expression(self):
        rng = np.random.default_rng(3)
        genes = max(self.size(12582), 600)
        return self.file(
            "expression.npy",
            lambda path: np.save(
                path,
                rng.standard_normal((72, 8)) @ rng.standard_normal((8, genes))
                + 2 * rng.standard_normal((72, genes)),
            ),
        )

    def dictionary(self):
        rng = np.random.default_rng(4)
        D = rng.standard_normal((512, 2048))
        return self.file("dictionary.npy", lambda path: np.save(path, D / np.linalg.norm(D, axis=0)))

    def signals(self):
        rng = np.random.default_rng(5)
        return self.file(
            "signals.npy", lambda path: np.save(path, rng.standard_normal((512, self.size(8000))))
        )

    def ratings(self, rows, cols, entries):
        return self.file(
            f"ratings_{entries}.dat",
            lambda path: subprocess.run(
                [
                    self.program,
                    "generate",
                    "ratings",
                    "--rows",
                    str(self.size(rows)),
                    "--cols",
                    str(max(cols, 64)),
                    "--entries",
                    str(self.size(entries)),
                    "--out",
                    path,
                ],
                check=True,
                stdout=subprocess.DEVNULL,
            ),
        )

    def million(self):
        return self.ratings(6040, 3706, 1000209)

    def ten_million(self):
        return self.ratings(30000, 11000, 10000000)

    def twenty_million(self):
        return self.ratings(138493, 26744, 20000263)

    def hundred_million(self):
        return self.ratings(480189, 17770, 100000000)

    def tall(self):
        rng = np.random.default_rng(7)
        planted = lambda n: rng.gamma(0.5, 1.0, (n, 10)) @ rng.gamma(0.5, 1.0, (10, 500)) + rng.random((n, 500))
        return self.file("tall.npy", lambda path: np.save(path, planted(self.size(200000)).astype(np.float32)))

    def model(self, ratings):
        return self.file(
            f"model_of_{os.path.basename(ratings)}.npz",
            lambda path: subprocess.run(
                [
                    self.program,
                    "complete",
                    ratings,
                    "--rank",
                    "15",
                    "--validation",
                    "0",
                    "--time-limit",
                    "1",
                    "--out",
                    path,
                ],
                check=True,
                stdout=subprocess.DEVNULL,
            ),
        )

    def table(self):
        rng = np.random.default_rng(6)
        return self.file(
            "table.csv",
            lambda path: np.savetxt(path, rng.random((self.size(40000), 500)), delimiter=",", fmt="%.6g"),
        )


def nmf(data, rank, sweeps=30):
    return f"factor {data} --rank {rank} {NONNEG} --start leading --polish {sweeps} --polish-tolerance 0"


def sweep_seconds(answer):
    """Of one sweep over 15 atoms: the last twenty, with all entries, without reading and grouping them."""
    before, last = answer["path"][-2:]
    return (last["seconds"] - before["seconds"]) / (last["sweeps"] - before["sweeps"])


def timed(answer, field):
    return field(answer) if callable(field) else answer[field]


# name: (command, what is timed: a field of the answer, a function of it, or the whole program)
JOBS = {
    "nmf-dense-20": (lambda d: nmf(d.dense(), 20), "seconds"),
    "nmf-dense-50": (lambda d: nmf(d.dense(), 50), "seconds"),
    "nmf-sparse-20": (lambda d: nmf(d.sparse(), 20), "seconds"),
    "svd-dense-20": (lambda d: f"factor {d.dense()} --rank 20", "seconds"),
    "svd-sparse-20": (lambda d: f"factor {d.sparse()} --rank 20", "seconds"),
    "atoms-sparse": (
        lambda d: f"factor {d.dense()} --rank 5 --left nonneg+sparse:200 --right sparse:100",
        "seconds",
    ),
    "atoms-tall": (
        lambda d: f"factor {d.tall()} --rank 20 --left nonneg+sparse:200 --right sparse:100",
        "seconds",
    ),
    "pca": (lambda d: f"pca {d.expression()} --components 5 --atoms sparse:300", "seconds"),
    "omp": (lambda d: f"omp {d.dictionary()} {d.signals()} --atoms 50", "seconds"),
    "complete-1m": (lambda d: f"complete {d.million()}", "seconds"),
    "complete-10m": (lambda d: f"complete {d.ten_million()} --rank 15", "seconds"),
    "sweeps-10m": (lambda d: f"complete {d.ten_million()} --rank 15", sweep_seconds),
    "complete-20m": (lambda d: f"complete {d.twenty_million()} --rank 15", "seconds"),
    "complete-high": (lambda d: f"complete {d.million()} --effort high", "seconds"),
    "complete-structured": (lambda d: f"complete {d.million()} {NONNEG} --rank 10", "seconds"),
    "recommend-all": (
        lambda d: f"recommend {d.model(d.million())} --all --top 10 --out {d.folder}/top.csv",
        "seconds",
    ),
    "recommend-20m": (
        lambda d: f"recommend {d.model(d.twenty_million())} --all --top 10 --out {d.folder}/top.csv",
        "seconds",
    ),
    "nmf-gaps-10m": (
        lambda d: f"complete {d.ten_million()} {NONNEG} --regularize none --rank 10 --max-sweeps 10 --validation 0",
        "seconds",
    ),
    "atoms-gaps-10m": (
        lambda d: f"complete {d.ten_million()} --right sparse:3000 --regularize auto --offsets --rank 3 --validation 0",
        "seconds",
    ),
    "clicks-10m": (lambda d: f"complete {d.ten_million()} --implicit --rank 31", "seconds"),
    "read-ratings": (
        lambda d: f"complete {d.twenty_million()} --rank 1 --validation 0 --time-limit 0.01",
        "reading_seconds",
    ),
    "read-100m": (
        lambda d: f"complete {d.hundred_million()} --rank 1 --validation 0 --time-limit 0.01",
        "reading_seconds",
    ),
    "read-csv": (lambda d: f"factor {d.table()} --rank 1", None),
    "evaluate": (lambda d: f"evaluate {d.million()} --split 80/20 --methods offsets,default", None),
}


# Sweeps alone: (a run of many, one of few, by how many more).
SWEEPS = {
    f"sweeps-nmf-{name}": (lambda d, of=of, rank=rank: [nmf(of(d), rank, n) for n in (50, 10)], 40)
    for name, of, rank in [
        ("dense-10", Data.dense, 10),
        ("dense-50", Data.dense, 50),
        ("sparse-20", Data.sparse, 20),
    ]
}

# Those whose work several processes share.
SHARED = [
    *SWEEPS,
    "nmf-dense-20",
    "nmf-dense-50",
    "nmf-sparse-20",
    "svd-dense-20",
    "svd-sparse-20",
    "atoms-sparse",
    "atoms-tall",
    "pca",
    "complete-1m",
    "complete-10m",
    "sweeps-10m",
    "complete-20m",
    "complete-high",
    "nmf-gaps-10m",
    "atoms-gaps-10m",
    "clicks-10m",
    "recommend-all",
    "recommend-20m",
    "read-ratings",
    "read-100m",
]

# For root, for containers and for more ranks than cores.
MPI_SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}


def measure_ranks(program, arguments, ranks, threads):
    """The program's answer on so many ranks, and the CPU seconds of all of them together."""
    binding = ["--bind-to", "none"] if threads > 1 else []
    command = ["mpirun", "-n", str(ranks), *binding, program, *arguments, "--threads", str(threads), "--json"]
    before = os.times()
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **MPI_SETTINGS})
    after = os.times()
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout), after.children_user - before.children_user


def ranks(o, data, jobs):
    counts, threads = [int(n) for n in o.ranks.split(",")], int(o.threads or 1)
    print(
        f"Ranks of {threads} thread{'s' if threads > 1 else ''}; CPU: user seconds of all ranks, most ranks to "
        "fewest; MB: received by rank 0 on the most.\n"
    )
    print(
        "| job |"
        + "".join(f" {n} |" for n in counts)
        + " speed-up | efficiency | CPU | collectives | MB |\n"
        + "|---" * (len(counts) + 6)
        + "|"
    )
    fits = []
    for name in jobs:
        runs = zip(*([of_ranks(o.program, data, name, n, threads) for n in counts] for _ in range(o.repeats)))
        best = [min(run) for run in runs]  # the seconds are first
        gain = best[0][0] / best[-1][0]
        print(
            f"| {name} |"
            + "".join(f" {run[0]:.4f} s |" for run in best)
            + f" {gain:.1f}x | {100 * gain * counts[0] / counts[-1]:.0f} % | {best[-1][1] / best[0][1]:.2f}x"
            f" | {best[-1][2]:.0f} | {best[-1][3] / 1e6:.1f} |",
            flush=True,
        )
        fits.append(cost_model(name, counts, best))
    print("\nFitted: seconds = work / ranks + latency x collectives x log2(ranks) + bytes / bandwidth\n")
    print("| job | work | latency | bandwidth | largest error |\n|---|---|---|---|---|")
    print("\n".join(fits))


def cost_model(name, counts, best):
    """Work, latency and bandwidth, none below zero, that measurements of one job say; errors relative."""
    from scipy.optimize import nnls

    seconds = np.array([run[0] for run in best])
    terms = np.array([[1 / n, run[2] * np.log2(n), run[3] / 1e9] for n, run in zip(counts, best)])
    of_terms, _ = nnls(terms / seconds[:, None], np.ones(len(counts)))
    error = np.max(np.abs(terms @ of_terms / seconds - 1))
    work, latency, per_gigabyte = of_terms
    bandwidth = f"{1 / per_gigabyte:.1f} GB/s" if per_gigabyte > 0 else "not seen"
    return f"| {name} | {work:.4f} s | {1e6 * latency:.1f} us | {bandwidth} | {100 * error:.0f} % |"


def of_ranks(program, data, name, count, threads):
    """Seconds, CPU seconds of all ranks, collectives and bytes that rank 0 received: of a job, or of a sweep."""
    if name in SWEEPS:
        make, sweeps = SWEEPS[name]
        many, few = (measure_ranks(program, run.split(), count, threads) for run in make(data))
        of_run = lambda run: (run[0]["seconds"], run[1], *said_by(run[0]))
        return tuple(max(a - b, 1e-9) / sweeps for a, b in zip(of_run(many), of_run(few)))
    answer, cpu = measure_ranks(program, JOBS[name][0](data).split(), count, threads)
    of_what = answer["path"][-1]["sweeps"] if JOBS[name][1] is sweep_seconds else 1
    return (timed(answer, JOBS[name][1]), cpu, *(said / of_what for said in said_by(answer)))


def said_by(answer):
    said = answer.get("ranks", {})
    return said.get("collectives", 0), said.get("bytes_received", 0)


def measure(program, arguments, field, threads):
    command = [program, *map(str, arguments), "--threads", str(threads)]
    if field:
        command.append("--json")
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    wall = time.perf_counter() - start
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    return timed(json.loads(done.stdout), field) if field else wall


def threads_up_to(cores):
    counts = [1]
    while 2 * counts[-1] < cores:
        counts.append(2 * counts[-1])
    return counts + [cores] if cores > 1 else counts


def scaling(o, data, jobs):
    counts = (
        [int(t) for t in o.threads.split(",")] if o.threads else threads_up_to(len(os.sched_getaffinity(0)))
    )
    print(
        "| job |"
        + "".join(f" {t} thread{'s' if t > 1 else ''} |" for t in counts)
        + " speed-up | efficiency |"
    )
    print("|---" * (len(counts) + 3) + "|")
    for name in jobs:
        arguments, field = JOBS[name][0](data).split(), JOBS[name][1]
        # In turn, so that a busy moment does not fall on one number of threads alone.
        seconds = [
            min(times)
            for times in zip(
                *([measure(o.program, arguments, field, t) for t in counts] for _ in range(o.repeats))
            )
        ]
        gain = seconds[0] / seconds[-1]
        print(
            f"| {name} |"
            + "".join(f" {s:.3f} s |" for s in seconds)
            + f" {gain:.1f}x | {100 * gain * counts[0] / counts[-1]:.0f} % |",
            flush=True,
        )


def busy(o, data, jobs):
    cores = len(os.sched_getaffinity(0))
    print(
        f"Beside {cores} busy loops on {cores} cores:\n\n| job | 1 thread | default threads | ratio |\n|---|---|---|---|"
    )
    for name in jobs:
        arguments, field = JOBS[name][0](data).split(), JOBS[name][1]
        loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(cores)]
        try:
            one, default = (
                min(times)
                for times in zip(
                    *([measure(o.program, arguments, field, t) for t in (1, 0)] for _ in range(o.repeats))
                )
            )
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()
        print(f"| {name} | {one:.3f} s | {default:.3f} s | {default / one:.2f} |", flush=True)


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--program", required=True)
    p.add_argument(
        "--only", help=f"jobs, comma-separated: {', '.join(JOBS)}; with --ranks also {', '.join(SWEEPS)}"
    )
    p.add_argument("--threads", help="comma-separated; by default 1, 2, 4 ... and all cores")
    p.add_argument("--repeats", type=int, default=2)
    p.add_argument("--share", type=float, default=1)
    p.add_argument("--busy", action="store_true")
    p.add_argument("--ranks", help="comma-separated: under mpirun, with --threads threads each (1)")
    p.add_argument("--folder", help="where the data are made, and kept; by default a temporary folder")
    o = p.parse_args()
    allowed = SHARED if o.ranks else list(JOBS)
    jobs = o.only.split(",") if o.only else allowed
    if unknown := [name for name in jobs if name not in allowed]:
        p.error(f"unknown job {unknown[0]}; allowed: {', '.join(allowed)}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = o.folder or temporary
        os.makedirs(folder, exist_ok=True)
        data = Data(folder, o.program, o.share)
        (ranks if o.ranks else busy if o.busy else scaling)(o, data, jobs)
