"""Processes that last: memory and file descriptors must not grow."""

import http.client
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time

import numpy as np

from . import inputs
from .checks import Finding, LOOSE, expect, expect_near, expect_sorted, predictions_of, seen_of, arrays_of

GROWTH = 1.15  # of resident memory after it has settled, and
ROOM = 16 << 20  # bytes beside


def resident(pid):
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


class Footprint:
    """Of a process, from when it has settled on."""

    def __init__(self, what):
        self.what, self.before, self.after = what, None, None

    def note(self, pid, settled):
        now = resident(pid), descriptors(pid)
        if settled and self.before is None:
            self.before = now
        self.after = now

    def __str__(self):
        if self.before is None:
            return f"{self.what}: not long enough to tell"
        (memory, files), (memory_now, files_now) = self.before, self.after
        return f"{self.what}: {memory / 2**20:.1f} -> {memory_now / 2**20:.1f} MiB resident, {files} -> {files_now} descriptors"

    def findings(self):
        if self.before is None:
            return []
        if self.after[0] > GROWTH * self.before[0] + ROOM or self.after[1] > self.before[1]:
            return [f"it grows: {self}"]
        return []


class Server:
    """One `serve` that is asked all the time, and given new models; its answers are held against the model file."""

    def __init__(self, program, folder, seed):
        self.program, self.folder, self.dice = program, folder, np.random.default_rng([seed, 0x5E27E])
        self.questions, self.errors = 0, []
        self.footprint = Footprint("serve")
        os.makedirs(folder, exist_ok=True)
        self.file = os.path.join(folder, "served.npz")
        self.train()
        self.process = subprocess.Popen(
            [program, "serve", self.file, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
        )
        try:
            self.port = self.wait_for(r":(\d+)")
        except Finding:
            self.process.kill()
            raise

    def wait_for(self, pattern):
        said, end = b"", time.monotonic() + 60
        while time.monotonic() < end:
            if select.select([self.process.stdout], [], [], 1)[0]:
                piece = os.read(self.process.stdout.fileno(), 4096)
                said += piece
                if found := re.search(pattern, said.decode(errors="replace")):
                    return int(found.group(1)) if found.groups() else True
                if not piece:
                    break
        raise Finding(f"serve does not say {pattern!r}: {said!r}")

    def train(self):
        with open(os.path.join(self.folder, "ratings.csv"), "w") as file:
            for (row, column), value in inputs.ratings(self.dice).items():
                file.write(f"{row},{column},{value!r}\n")
        subprocess.run(
            [self.program, "complete", os.path.join(self.folder, "ratings.csv"), "--threads", "1", "--out", self.file], check=True, capture_output=True
        )
        self.model = arrays_of(self.file)
        self.rows, self.columns = list(self.model["row_names"]), list(self.model["column_names"])

    def ask(self, connection, path, fields):
        connection.request("POST", path, json.dumps(fields), {"Content-Type": "application/json"})
        response = connection.getresponse()
        body = response.read()
        self.questions += 1
        return response.status, json.loads(body, parse_constant=lambda word: expect(False, f"{word} in an answer"))

    def burst(self, count):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        values, seen = predictions_of(self.model), seen_of(self.model)
        counts = np.bincount(np.concatenate(seen), minlength=len(self.columns))
        for _ in range(count):
            i, j = int(self.dice.integers(len(self.rows))), int(self.dice.integers(len(self.columns)))
            kind = self.dice.integers(5)
            if kind == 0:
                status, told = self.ask(connection, "/predict", {"pairs": [[self.rows[i], self.columns[j]]]})
                expect(status == 200, f"/predict: status {status}: {told}")
                value = told["predictions"][0]["value"]
                if len(seen[i]) and counts[j]:
                    expect_near(value, values[i, j], 1e-5, "a served prediction")
            elif kind == 1:
                status, told = self.ask(connection, "/recommend", {"row": self.rows[i], "top": 5})
                expect(status == 200, f"/recommend: status {status}: {told}")
                best = told["recommendations"][0]["columns"]
                expect_sorted([item["value"] for item in best], "served recommendations")
                expect(not {self.columns[k] for k in seen[i]} & {item["column"] for item in best}, "what was seen is served")
            elif kind == 2:
                status, told = self.ask(connection, "/recommend", {"entries": {self.columns[j]: 4.0}, "top": 3, "explain": 1})
                expect(status == 200, f"a newcomer: status {status}: {told}")
            elif kind == 3:
                status, told = self.ask(connection, "/similar", {"column": self.columns[j], "top": 4})
                expect(status in (200, 400), f"/similar: status {status}: {told}")
            else:
                path = str(self.dice.choice(["/predict", "/recommend", "/nothing", "/similar"]))
                status, told = self.ask(connection, path, {"row": str(self.dice.integers(1000)), "top": -1, "odd": [1, {"x": None}]})
                expect(400 <= status < 500 and "error" in told, f"a senseless question: status {status}: {told}")
        connection.close()

    def renew(self):
        self.train()
        self.process.send_signal(signal.SIGHUP)
        self.wait_for("read again")

    def round(self):
        self.burst(200)
        if self.dice.random() < 0.2:
            self.renew()
        time.sleep(0.05)  # for connections to be closed
        expect(self.process.poll() is None, f"serve has ended with status {self.process.poll()}")
        self.footprint.note(self.process.pid, settled=self.questions >= 4000)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Finding("serve does not end") from None
        expect(self.process.returncode in (0, 143), f"serve ends with status {self.process.returncode}")
        shutil.rmtree(self.folder, ignore_errors=True)


FITS = """
import sys, os, gc, time
import numpy as np
sys.path.insert(0, sys.argv[1])
sys.path.insert(0, sys.argv[2])
import pursuit
from soaking.lasting import Footprint
dice, end = np.random.default_rng(int(sys.argv[3])), time.monotonic() + float(sys.argv[4])
footprint, fits = Footprint("Python package"), 0
while time.monotonic() < end:
    X = np.abs(dice.standard_normal((int(dice.integers(20, 200)), int(dice.integers(20, 100)))))
    kind = fits % 6
    if kind == 0:
        model = pursuit.NMF(5, max_iter=30).fit(X)
        assert (model.components_ >= 0).all()
    elif kind == 1:
        model = pursuit.SparsePCA(2, k=5).fit(X)
        assert (np.count_nonzero(model.components_, axis=1) <= 5).all()
    elif kind == 2:
        model = pursuit.MatrixPursuit(3, right=lambda g: g / np.linalg.norm(g)).fit(X)
    elif kind == 3:
        gaps = np.where(dice.random(X.shape) < 0.5, X, np.nan)
        model = pursuit.MatrixCompletion().fit(gaps)
    elif kind == 4:
        model = pursuit.TensorPursuit(2, modes="nonneg", weights="nonneg").fit(np.abs(dice.standard_normal((8, 7, 6))))
    else:
        try:
            pursuit.NMF(5).fit(-X)
            raise AssertionError("negative data were taken")
        except ValueError:
            pass
    fits += 1
    if fits % 30 == 0:
        gc.collect()
        footprint.note(os.getpid(), settled=fits >= 300)
print(f"{fits} fits; {footprint}")
for finding in footprint.findings():
    print("FINDING", finding)
"""


def start_fits(package, seed, seconds):
    """Fits without end in one process of Python, or None where the package cannot be imported there."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    probe = subprocess.run([sys.executable, "-c", "import sys; sys.path.insert(0, sys.argv[1]); import pursuit", package], capture_output=True, text=True)
    if probe.returncode != 0:
        return None, probe.stderr.strip().splitlines()[-1]
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", FITS, package, here, str(seed), str(seconds)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return process, ""
