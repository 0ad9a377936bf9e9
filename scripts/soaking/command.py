"""One command: started, awaited, its end looked at."""

import json
import os
import signal
import subprocess
import time

from .checks import Finding, expect

REFUSALS = {2, 3, 4}
STOPPED = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGUSR1: 138}


class Refused(Exception):
    """One clear message; which is an answer."""


class Done:
    def __init__(self, status, output, errors):
        self.status, self.output, self.errors = status, output, errors

    def json(self):
        def refuse(word):
            raise Finding(f"{word} in JSON")

        try:
            return json.loads(self.output, parse_constant=refuse)
        except json.JSONDecodeError as error:
            raise Finding(f"no JSON: {error}: {self.output[:300]!r}") from error


class Place:
    """A folder with the files of one case, the program, and all commands that were run."""

    def __init__(self, program, folder, dice, patience):
        self.program, self.folder, self.dice, self.patience = program, folder, dice, patience
        self.commands, self.peak = [], 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def exists(self, name):
        return os.path.exists(self.path(name))

    def start(self, *words):
        self.commands.append(" ".join(str(word) for word in words))
        return subprocess.Popen(
            [self.program, *map(str, words)],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, *words):
        """Status 0, or Refused with its message; anything else is a finding."""
        done = self.finish(self.start(*words))
        if done.status in REFUSALS:
            raise Refused(done.errors.strip().splitlines()[-1])
        expect(done.status == 0, f"exit status {done.status}: {done.errors[-400:]}")
        return done

    def finish(self, process):
        try:
            output, errors = process.communicate(timeout=self.patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Finding(f"no end after {self.patience} s") from None
        done = Done(process.returncode, output.decode(errors="replace"), errors.decode(errors="replace"))
        expect(done.status >= 0, f"ended by signal {-done.status}: {done.errors[-400:]}")
        if done.status in REFUSALS:
            expect("pursuit: " in done.errors, f"status {done.status} without a message: {done.errors[-400:]!r}")
        return done

    def stop(self, delay, number, *words):
        """Told to stop after so many seconds. True where there may be a result."""
        process = self.start(*words)
        time.sleep(delay)
        process.send_signal(number)
        begin = time.monotonic()
        try:
            errors = process.communicate(timeout=self.patience)[1].decode(errors="replace")
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Finding(f"no end {self.patience} s after {number.name}") from None
        if process.returncode == -number:  # it had not begun
            return False
        allowed = {0, STOPPED[number]} | REFUSALS
        expect(
            process.returncode in allowed,
            f"{number.name}: exit status {process.returncode} after {time.monotonic() - begin:.2f} s: {errors[-300:]}",
        )
        return process.returncode not in REFUSALS

    def kill(self, delay, *words):
        process = self.start(*words)
        time.sleep(delay)
        process.kill()
        process.communicate()

    def expect_nothing_left(self):
        left = [name for name in os.listdir(self.folder) if name.startswith(".pursuit-")]
        expect(not left, f"left behind: {left}")
