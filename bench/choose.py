"""Does `pursuit choose` find the rank that data were made with? Twenty sets of each of three kinds: parts with noise, sparse
factors with noise, and gamma-Poisson counts.

    bench/choose [--sets 20] [--kinds parts sparse counts]
"""

import argparse
import json
import os
import subprocess
import tempfile
import time

import numpy as np


def parts(rng, rows, columns, rank):
    """Non-negative factors of gamma entries; noise of a fifth of the mean."""
    signal = rng.gamma(0.5, size=(rows, rank)) @ rng.gamma(0.5, size=(rank, columns))
    return np.maximum(signal + 0.2 * signal.mean() * rng.standard_normal(signal.shape), 0)


def sparse(rng, rows, columns, rank):
    """Right factors with a fifth of their entries; noise of half the size of the signal."""
    right = rng.standard_normal((rank, columns)) * (rng.random((rank, columns)) < 0.2)
    signal = rng.standard_normal((rows, rank)) @ right
    return signal + 0.5 * signal.std() * rng.standard_normal(signal.shape)


def counts(rng, rows, columns, rank):
    """Negative binomial of size 10 (gamma-Poisson) around parts, four on average."""
    signal = rng.gamma(0.5, size=(rows, rank)) @ rng.gamma(0.5, size=(rank, columns))
    means = 4 * signal / signal.mean()
    return rng.poisson(rng.gamma(10, means / 10)).astype(float)


NONNEG = "--left nonneg --right nonneg --weights nonneg"
KINDS = {
    "parts": (parts, NONNEG),
    "sparse": (sparse, "--right sparse:0.3"),
    "counts": (counts, NONNEG + " --loss poisson"),
}


def choose(program, path, options, most):
    command = f"{program} choose {path} --ranks 1-{most} {options} --json"
    done = subprocess.run(command.split(), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program")
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--columns", type=int, default=60)
    parser.add_argument("--options", default="", help="further options of `pursuit choose`")
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    args = parser.parse_args()
    print(f"{'data':<10}{'planted: recommended':<64}{'right':>8}{'least error':>13}{'seconds':>9}")
    for kind in args.kinds:
        make, options = KINDS[kind]
        right, least, words, began = 0, 0, [], time.monotonic()
        for number in range(args.sets):
            rng = np.random.default_rng(number)
            rank = 2 + number % 7
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "data.npy")
                np.save(path, make(rng, args.rows, args.columns, rank))
                choice = choose(args.program, path, f"{options} --seed {number} {args.options}", rank + 4)
            right += choice["rank"] == rank
            least += choice["best"] == rank
            if choice["rank"] != rank:
                words.append(f"{rank}: {choice['rank']}")
        missed = ", ".join(words) or "all as planted"
        seconds = (time.monotonic() - began) / args.sets
        print(
            f"{kind:<10}{missed:<64}{right:>5}/{args.sets}{least:>10}/{args.sets}{seconds:>9.2f}", flush=True
        )


if __name__ == "__main__":
    main()
