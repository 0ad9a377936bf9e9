"""Fits that processes share, under mpirun. Skipped where MPI or mpi4py is missing."""

import importlib.util
import os
import shutil
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="mpi4py is missing"),
    pytest.mark.skipif(shutil.which("mpirun") is None, reason="mpirun is missing"),
]

# For root, containers and more processes than cores.
SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_plm": "isolated",
    "OMPI_MCA_btl": "self,vader",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}
PREAMBLE = """
import hashlib
import numpy as np
import scipy.sparse
from mpi4py import MPI
import pursuit, pursuit.mpi

comm = MPI.COMM_WORLD
rng = np.random.default_rng(0)
X = rng.random((203, 4)) @ rng.random((4, 30)) + 0.01 * rng.random((203, 30))
cuts = [0] + [int(203 * (k / comm.size) ** 1.5) for k in range(1, comm.size)] + [203]  # as nobody would
mine = slice(cuts[comm.rank], cuts[comm.rank + 1])

def show(name, *arrays):
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()
    assert len(set(comm.allgather(digest))) == 1, "all processes have the same model"
    if comm.rank == 0:
        print(name, digest)
"""


def run(processes, script, expected=0):
    done = subprocess.run(
        ["mpirun", "-n", str(processes), sys.executable, "-c", PREAMBLE + script],
        env={**os.environ, **SETTINGS},
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
    )
    assert (done.returncode == 0) == (expected == 0), done.stderr
    return done


FITS = """
nmf = pursuit.mpi.fit(pursuit.NMF(4, random_state=0, n_jobs=comm.size % 2 + 1), X[mine])
show("nmf", nmf.components_, nmf.left_, nmf.weights_)
assert np.allclose(nmf.transform(X[mine]) @ nmf.components_, X[mine], atol=0.1)
assert nmf.components_.shape == (4, 30) and nmf.n_features_in_ == 30
svd = pursuit.mpi.fit(pursuit.TruncatedSVD(3), np.asfortranarray(X[mine].astype(np.float32)))
show("svd", svd.components_)
sparse = scipy.sparse.csr_matrix(np.where(X > np.median(X), X, 0))
parts = pursuit.mpi.fit(pursuit.MatrixPursuit(2, right="sparse:5", random_state=0), sparse[mine].tocsc())
show("sparse", parts.components_, parts.left_)
pca = pursuit.mpi.fit(pursuit.SparsePCA(2, k=5, random_state=0), X[mine])
show("pca", pca.components_, pca.mean_)
i, j = np.nonzero(rng.random(X.shape) < 0.5)
own = (i >= cuts[comm.rank]) & (i < cuts[comm.rank + 1])
ratings = pursuit.mpi.fit(pursuit.MatrixCompletion(7, random_state=0), (i[own], j[own], X[i, j][own]))
show("completion", ratings.predict([(3, 4), (200, 29)]))
both = pursuit.mpi.fit(pursuit.MatrixCompletion(2, left="nonneg", right="nonneg", random_state=0), (i[own], j[own], X[i, j][own]))
show("atoms", both.predict([(3, 4), (200, 29)]))
"""


def test_the_same_bits_for_any_number_of_processes():
    alone = run(1, FITS).stdout
    assert alone.count("\n") == 6
    for processes in (2, 3):
        assert run(processes, FITS).stdout == alone


def test_it_is_the_model_of_one_process():
    run(
        2,
        """
alone = pursuit.NMF(4, random_state=0).fit(X)
shared = pursuit.mpi.fit(pursuit.NMF(4, random_state=0), X[mine])
assert np.allclose(alone.components_, shared.components_, atol=1e-6)
assert np.allclose(alone.explained_variance_ratio_, shared.explained_variance_ratio_)
""",
    )


WRONG = {
    "pursuit.NMF(2), np.where(comm.rank == 1, -1.0, 1.0) * X[mine]": "rank 1: Negative values in data",
    "pursuit.NMF(2), X[mine][:, : 30 - comm.rank]": "rank 1 has dense rows of 29 features",
    "pursuit.NMF(2), X[mine], None, y=1": "y: not of a fit that processes share",
    "pursuit.MatrixPursuit(2, loss='huber:1'), X[mine]": "processes share MatrixPursuit and NMF of squares",
    "pursuit.TruncatedSVD(31), X[mine]": "n_components=31",
    "pursuit.MatrixCompletion(), X[mine]": "are triplets",
    "pursuit.NMF(2, callback=lambda moment: 1 / 0), X[mine]": "division by zero",
}


def test_what_one_raises_all_raise():
    script = """
import warnings
warnings.simplefilter("error")
for number, call in enumerate(CALLS):
    raised = None
    try:
        eval(f"pursuit.mpi.fit({call})")
    except (ValueError, TypeError, ZeroDivisionError) as error:
        raised = str(error)
    everywhere = comm.gather(raised)
    if comm.rank == 0:
        assert everywhere[0] == everywhere[1], everywhere
        print(f"{number}: {raised}")
again = pursuit.mpi.fit(pursuit.TruncatedSVD(1), X[mine])
assert again.components_.shape == (1, 30), "and can go on"
"""
    lines = run(2, script.replace("CALLS", repr(list(WRONG)))).stdout.splitlines()
    for number, message in enumerate(WRONG.values()):
        assert lines[number].startswith(f"{number}: ") and message in lines[number], lines
