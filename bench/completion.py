"""Accuracy and speed of matrix completion. Called by bench/completion."""
import argparse
import json
import os
import random
import re
import subprocess
import tempfile
import time


def run(program, *arguments):
    done = subprocess.run(
        [program, *map(str, arguments), "--json"], check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def accuracy(o):
    """Mean test RMSE over three random splits; nothing is tuned."""
    print(
        "## Accuracy\n\n| data | split | default | seconds | --effort high | seconds |\n|---|---|---|---|---|---|"
    )
    for name in ("ml-100k/u.data", "ml-1m/ratings.dat"):
        for split in ("50/20/30", "90/10"):
            rows = run(
                o.program,
                "evaluate",
                f"{o.data}/{name}",
                "--split",
                split,
                "--repeat",
                3,
                "--seed",
                o.seed,
                "--methods",
                "default,high",
                "--threads",
                1,
            )["methods"]
            cells = [f"{r['rmse']:.4f} | {r['seconds']:.1f}" for r in rows]
            print(f"| {name} | {split} | {cells[0]} | {cells[1]} |", flush=True)
    for effort in ("default", "high"):
        r = run(
            o.program,
            "complete",
            f"{o.data}/ml-100k/u1.base",
            "--test",
            f"{o.data}/ml-100k/u1.test",
            "--effort",
            effort,
        )
        t = r["test"]
        print(
            f"\nOfficial u1 split, {effort}: RMSE {t['rmse']:.4f}, inside 50/80/95 % intervals "
            f"{t['inside_50']:.3f} {t['inside_80']:.3f} {t['inside_95']:.3f}"
        )


def paper(o):
    """Table 2 of the paper: 20 splits 50/20/30."""
    print("## Table 2\n\n| data | method | paper | RMSE | variance | seconds |\n|---|---|---|---|---|---|")
    for name, repeat in (("ml-100k/u.data", 20), ("ml-1m/ratings.dat", o.repeat_large)):
        for r in run(
            o.program,
            "evaluate",
            f"{o.data}/{name}",
            "--repeat",
            repeat,
            "--methods",
            "or1mp,or1mp-economic,gmpr,gmpr-sparse,default",
        )["methods"]:
            print(
                f"| {name} | {r['method']} | {r.get('paper_rmse', '')} | {r['rmse']:.4f} | {r['rmse_variance']:.1e} | "
                f"{r['seconds']:.2f} |",
                flush=True,
            )


def split_file(path, folder):
    """MovieLens-1M 50/20/30 with ids from 0, for both programs."""
    lines = [line.split("::")[:3] for line in open(path)]
    random.Random(0).shuffle(lines)
    n = len(lines)
    for name, part in (("train", lines[: n // 2]), ("test", lines[n * 7 // 10 :])):
        with open(f"{folder}/{name}", "w") as out:
            out.writelines(f"{u} {i} {v}\n" for u, i, v in part)


def speed(o):
    """Whole programs, reading included, alternating; best of several."""
    with tempfile.TemporaryDirectory() as folder:
        split_file(f"{o.data}/ml-1m/ratings.dat", folder)
        train, test = f"{folder}/train", f"{folder}/test"

        def timed(command):
            start = time.perf_counter()
            text = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout
            return time.perf_counter() - start, text

        for threads in (1, 2):
            ours, peers, early = [], [], []
            for _ in range(o.repeats):
                seconds, text = timed(
                    [o.program, "complete", train, "--test", test, "--threads", threads, "--json"]
                )
                ours.append((seconds, json.loads(text)["test"]["rmse"]))
                seconds, text = timed(
                    [
                        o.program,
                        "complete",
                        train,
                        "--test",
                        test,
                        "--threads",
                        threads,
                        "--json",
                        "--rank",
                        7,
                        "--validation",
                        0,
                        "--time-limit",
                        0.25,
                    ]
                )
                early.append((seconds, json.loads(text)["test"]["rmse"]))
                if o.libmf:
                    command = [o.libmf, "-f", 0, "-k", 256, "-t", 18, "-l2", 0.06, "-r", 0.1, "-s", threads]
                    seconds, _ = timed([*command, train, f"{folder}/model"])
                    _, text = timed([*command, "-p", test, train, f"{folder}/model"])
                    best = min(float(row[1]) for row in re.findall(r"^ +\d+ +([\d.]+) +([\d.]+)", text, re.M))
                    peers.append((seconds, best))
            print(
                f"{threads} thread(s): default {min(ours)[0]:.2f} s, RMSE {min(ours)[1]:.4f}; after a quarter of a second "
                f"{min(early)[0]:.2f} s, RMSE {min(early)[1]:.4f}"
            )
            if peers:
                print(
                    f"{threads} thread(s): LIBMF k=256 {min(peers)[0]:.2f} s, best RMSE of its 18 iterations {min(peers)[1]:.4f}"
                )


def scale(o):
    """10 M and 100 M generated entries: reading, memory, time."""
    print(
        "## Scale\n\n| entries | reading | time to finish, rank at most 15 | bytes per entry |\n|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as folder:
        for rows, cols, entries in ((71567, 10681, 10000054), (480189, 17770, o.largest)):
            path = f"{folder}/ratings.dat"
            subprocess.run(
                [
                    o.program,
                    "generate",
                    "ratings",
                    "--rows",
                    str(rows),
                    "--cols",
                    str(cols),
                    "--entries",
                    str(entries),
                    "--out",
                    path,
                ],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            r = run(o.program, "complete", path, "--rank", 15, "--threads", 1, "--time-limit", o.time_limit)
            speed_of_reading = os.path.getsize(path) / 1e6 / r["reading_seconds"]
            print(
                f"| {entries} | {speed_of_reading:.0f} MB/s | {r['seconds']:.1f} s, {r['path'][-1]['sweeps']} sweeps | "
                f"{r['peak_memory_bytes'] / entries:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("data")
    p.add_argument("--program", required=True)
    p.add_argument("--only", choices=("accuracy", "paper", "speed", "scale"))
    p.add_argument("--libmf")
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--repeats", type=int, default=3)
    p.add_argument("--repeat-large", type=int, default=3)
    p.add_argument("--largest", type=int, default=100000000)
    p.add_argument("--time-limit", type=float, default=300)
    o = p.parse_args()
    for part in (accuracy, paper, speed, scale):
        if o.only in (None, part.__name__):
            part(o)
            print()
