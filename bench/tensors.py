"""Arrays of three and more modes: the program and the Python peers in turn, best of several runs by processor time.
Called by bench/tensors."""

import argparse
import importlib
import json
import os
import subprocess
import tempfile
import time
import warnings

import numpy as np

warnings.filterwarnings("ignore")


def peer(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"({name} is not installed: left out)")
        return None


class Bench:
    def __init__(self, options):
        self.o = options
        self.tensorly, self.pyttb, self.genten = peer("tensorly"), peer("pyttb"), peer("pygenten")
        self.folder = tempfile.mkdtemp()

    def run(self, name, path, rank, *, modes, sets="nonneg", extra=()):
        """Best of several runs of the program, by the processor time of the whole process."""
        best = None
        for _ in range(self.o.repeats):
            command = [
                self.o.program,
                "factor",
                path,
                "--rank",
                str(rank),
                "--threads",
                "1",
                "--json",
                *extra,
            ]
            command += ["--modes", ",".join([sets] * modes)]
            if sets == "nonneg":
                command += ["--weights", "nonneg"]
            before = os.times().children_user
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            answer = json.loads(done.stdout)
            answer["user"] = os.times().children_user - before
            if best is None or answer["user"] < best["user"]:
                best = answer
        self.row(name, f"pursuit {' '.join(extra)}", best["relative_error"], best["user"])
        return best

    def row(self, name, who, error, seconds):
        print(f"| {name} | {who} | {error:.6f} | {seconds:.3f} |", flush=True)

    def hals(self, name, T, rank, iterations):
        if self.tensorly is None:
            return
        from tensorly.decomposition import non_negative_parafac_hals

        model, seconds = self.best_of(
            lambda: non_negative_parafac_hals(T, rank, n_iter_max=iterations, init="svd", tol=0)
        )
        error = np.linalg.norm(self.tensorly.cp_to_tensor(model) - T) / np.linalg.norm(T)
        self.row(name, f"tensorly HALS, {iterations} iterations", error, seconds)

    def als(self, name, T, rank, iterations):
        """Signed factors, by tensorly, pyttb and GenTen."""
        if self.tensorly is not None:
            from tensorly.decomposition import parafac

            model, seconds = self.best_of(
                lambda: parafac(T, rank, n_iter_max=iterations, init="svd", tol=0, random_state=0)
            )
            error = np.linalg.norm(self.tensorly.cp_to_tensor(model) - T) / np.linalg.norm(T)
            self.row(name, f"tensorly ALS (signed), {iterations} iterations", error, seconds)
        for who, library, no_tolerance in (("pyttb", self.pyttb, "stoptol"), ("GenTen", self.genten, "tol")):
            if library is None or self.pyttb is None:
                continue
            np.random.seed(0)
            options = {no_tolerance: 0.0, "maxiters": iterations, "printitn": 0}
            array = self.pyttb.tensor(T)
            model, seconds = self.best_of(lambda: library.cp_als(array, rank=rank, **options)[0])
            error = np.linalg.norm(model.full().data - T) / np.linalg.norm(T)
            self.row(name, f"{who} ALS (signed), {iterations} iterations", error, seconds)

    def best_of(self, work):
        """What a peer finds, and the least processor time of several runs."""
        least = float("inf")
        for _ in range(self.o.repeats):
            start = time.process_time()
            result = work()
            least = min(least, time.process_time() - start)
        return result, least

    def saved(self, name, T):
        path = os.path.join(self.folder, name + ".npy")
        np.save(path, T)
        return path

    def data(self, name):
        path = os.path.join(self.o.data, "tensors", name) if self.o.data else ""
        if not os.path.exists(path):
            print(f"({name} is not there: left out)")
            return None
        return np.load(path).astype(np.float64)

    def kinetic(self):
        T = self.data("kinetic_64x12x10x60.npy")
        if T is None:
            return
        T = np.clip(np.nan_to_num(T), 0, None)
        path = self.saved("kinetic", T)
        for extra in (
            (),
            ("--seed", "1"),
            ("--seed", "2"),
            ("--start", "random", "--starts", "1"),
            ("--starts", "0"),
        ):
            self.run("kinetic, rank 10", path, 10, modes=4, extra=extra)
        self.hals("kinetic, rank 10", T, 10, 200)
        self.als("kinetic, rank 10", T, 10, 200)

    def indian_pines(self):
        if self.tensorly is None:
            return
        from tensorly.datasets import load_indian_pines

        T = np.ascontiguousarray(np.asarray(load_indian_pines().tensor, dtype=np.float64))
        path = self.saved("indian_pines", T)
        for extra in (
            ("--start", "random", "--starts", "1"),
            ("--start", "random", "--polish", "2000", "--polish-tolerance", "1e-7"),
        ):
            self.run("Indian Pines, rank 10", path, 10, modes=3, extra=extra)
        self.hals("Indian Pines, rank 10", T, 10, 100)

    def planted(self):
        rng = np.random.default_rng(0)
        factors = [rng.random((200, 20)) for _ in range(3)]
        T = np.einsum("ir,jr,kr->ijk", *factors, optimize=True)
        E = rng.standard_normal(T.shape)
        T += 0.1 * np.linalg.norm(T) / np.linalg.norm(E) * E
        path = self.saved("planted", T)
        self.run("planted 200^3, rank 20", path, 20, modes=3, extra=("--start", "random", "--starts", "1"))
        self.hals("planted 200^3, rank 20", T, 20, 60)
        self.als("planted 200^3, rank 20", T, 20, 20)

    def aminoacid(self):
        T = self.data("aminoacid_5x201x61.npy")
        if T is None:
            return
        path = self.saved("aminoacid", T)
        # Samples 0, 1 and 2 hold one amino acid each, so that their leading singular vectors are its spectra.
        pure = [np.linalg.svd(each, full_matrices=False) for each in T[:3]]
        emission, excitation = [each[0][:, 0] for each in pure], [each[2][0] for each in pure]
        errors = []
        for seed in range(20):
            command = (
                f"factor {path} --rank 3 --threads 1 --json --modes nonneg,nonneg,nonneg --weights nonneg"
            )
            model = os.path.join(self.folder, f"amino_{seed}.npz")
            subprocess.run(
                [self.o.program, *command.split(), "--seed", str(seed), "--out", model],
                capture_output=True,
                check=True,
            )
            factors = np.load(model)
            concentrations = factors["factor_0"] * factors["weights"]
            worst = 1.0
            for atom in range(3):
                sample = int(np.argmax(concentrations[:3, atom] / concentrations[:3].max(axis=1)))
                worst = min(
                    worst,
                    abs(factors["factor_1"][:, atom] @ emission[sample]),
                    abs(factors["factor_2"][:, atom] @ excitation[sample]),
                )
            errors.append(worst)
        print(
            f"| amino acids, rank 3, 20 seeds | pursuit: smallest cosine with a spectrum | {min(errors):.4f} | |"
        )
        self.run("amino acids, rank 3", path, 3, modes=3)

    def metro(self):
        """RMSE on entries that were hidden, untuned, beside masked CP of several ranks; three masks."""
        T = self.data("hangzhou_metro_80x25x108.npy")
        if T is None:
            return
        for mask in range(3):
            name = f"metro, 30 % hidden, mask {mask}: RMSE"
            seen = np.random.default_rng(mask).random(T.shape) >= 0.3
            path = self.saved("metro", np.where(seen, T, np.nan))
            hidden = self.saved("metro_hidden", np.where(seen, np.nan, T))
            for extra in ("", "--modes nonneg,nonneg,nonneg --weights nonneg"):
                answer, seconds = self.timed(f"complete {path} --test {hidden} {extra} --threads 1 --json")
                who = f"pursuit complete {extra}, rank {answer['rank']} chosen"
                self.row(name, who, answer["test"]["rmse"], seconds)
            if self.tensorly is not None:
                self.masked_cp(name, T, seen)

    def masked_cp(self, name, T, seen):
        from tensorly.decomposition import parafac

        options = dict(mask=seen.astype(float), n_iter_max=200, init="random", random_state=0, tol=1e-7)
        for rank in (5, 10, 12, 15, 20, 30, 50):
            start = time.process_time()
            model = parafac(np.where(seen, T, 0), rank, **options)
            seconds = time.process_time() - start
            error = (self.tensorly.cp_to_tensor(model) - T)[~seen]
            self.row(name, f"tensorly masked CP, rank {rank}", np.sqrt(np.mean(error**2)), seconds)

    def bikes(self):
        """Half the deviance of counts, which falls as their log-likelihood rises, and the seconds to get there."""
        T = self.data("oslo_bike_270x2x12x7x24.npy")
        if T is None:
            return
        path = self.saved("bikes", T)
        name = "bike trips, poisson, rank 10: half deviance"
        common = (
            f"factor {path} --rank 10 --modes nonneg,nonneg,nonneg,nonneg,nonneg --weights nonneg "
            f"--loss poisson --threads 1 --json"
        )
        for extra in (
            "--start random --polish 5",
            "--start random --polish 10",
            "--start random --polish 20",
            "--start random",
            "",
            "--polish 3000 --polish-tolerance 1e-7",
        ):
            answer, seconds = self.timed(f"{common} {extra}")
            self.row(name, f"pursuit {extra}", answer["objective"], seconds)
        if self.pyttb is None:
            return
        places = np.argwhere(T > 0)
        counts = T[T > 0]
        S = self.pyttb.sptensor(places, counts[:, None], T.shape)
        for algorithm, iterations in (("mu", 20), ("mu", self.o.cp_apr), ("pdnr", 20)):
            np.random.seed(0)
            start = time.process_time()
            model = self.pyttb.cp_apr(S, 10, algorithm=algorithm, maxiters=iterations, printitn=0)[0]
            seconds = time.process_time() - start
            means = model.full().data
            value = means.sum() + np.sum(counts * (np.log(counts / means[T > 0]) - 1))
            self.row(name, f"pyttb cp_apr ({algorithm}), {iterations} iterations", value, seconds)

    def timed(self, command):
        """The answer of the program, and its processor time."""
        before = os.times()
        done = subprocess.run([self.o.program, *command.split()], capture_output=True, check=True)
        after = os.times()
        return json.loads(done.stdout), after.children_user - before.children_user

    def sparse(self):
        """Seconds of a sweep, which is what sparse arrays are about: differences of two numbers of sweeps."""
        rng = np.random.default_rng(0)
        shape, count = (10000, 10000, 1000), 1_000_000
        places = np.unique(np.stack([rng.integers(0, n, count) for n in shape]), axis=1)
        values = rng.random(places.shape[1])
        path = os.path.join(self.folder, "sparse.npz")
        np.savez(path, coords=places, data=values, shape=np.array(shape), fill_value=np.array(0.0))
        for rank in (10, 20):
            seconds = []
            for sweeps in (5, 25):
                command = f"factor {path} --rank {rank} --start random --polish {sweeps} --polish-tolerance 0 --threads 1 --json"
                seconds.append(min(self.timed(command)[1] for _ in range(self.o.repeats)))
            name = f"sparse 10^4 x 10^4 x 10^3, 10^6 entries, rank {rank}: one sweep"
            self.row(name, "pursuit", float("nan"), (seconds[1] - seconds[0]) / 20)
            if self.pyttb is not None:
                T = self.pyttb.sptensor(places.T, values[:, None], shape)
                _, seconds = self.best_of(
                    lambda: self.pyttb.cp_als(T, rank, maxiters=3, stoptol=0, printitn=0)
                )
                self.row(name, "pyttb cp_als", float("nan"), seconds / 3)
                if self.genten is not None:
                    lengths = []
                    for sweeps in (5, 25):
                        lengths.append(
                            self.best_of(
                                lambda: self.genten.cp_als(T, rank=rank, maxiters=sweeps, tol=0.0, printitn=0)
                            )[1]
                        )
                    self.row(name, "GenTen cp_als", float("nan"), (lengths[1] - lengths[0]) / 20)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", nargs="?")
    parser.add_argument("--program", required=True)
    parser.add_argument("--only")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cp-apr", type=int, default=100, help="iterations of the longest run of cp_apr")
    options = parser.parse_args()
    bench = Bench(options)
    jobs = {
        "kinetic": bench.kinetic,
        "indian-pines": bench.indian_pines,
        "planted": bench.planted,
        "aminoacid": bench.aminoacid,
        "metro": bench.metro,
        "bikes": bench.bikes,
        "sparse": bench.sparse,
    }
    if options.only and options.only not in jobs:
        parser.error(f"--only {options.only}: must be one of {', '.join(jobs)}")
    print("| data | who | relative error | seconds of processor time |\n|---|---|---|---|")
    for name, job in jobs.items():
        if options.only in (None, name):
            job()


if __name__ == "__main__":
    main()
