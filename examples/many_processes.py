# # Many processes, one model
#
# Where data outgrow one machine every process has some of the rows, and `pursuit.mpi.fit` shares the work: all
# processes get the same model, which is the same bits however many there are.
#
#     mpirun -n 4 python examples/many_processes.py

# %% Every process makes, or reads, rows of its own
import numpy as np
from mpi4py import MPI

import pursuit
import pursuit.mpi

comm = MPI.COMM_WORLD
parts = np.random.default_rng(0).random((5, 40))  # the same everywhere
rows = np.array_split(np.arange(600), comm.size)[comm.rank]
usage = np.stack([np.random.default_rng([1, i]).random(5) for i in rows])
noise = np.stack([np.random.default_rng([2, i]).random(40) for i in rows])
X = usage @ parts + 0.01 * noise

# %% One model
model = pursuit.mpi.fit(pursuit.NMF(5, random_state=0), X)
W = model.transform(X)  # of these rows
own = np.linalg.norm(X - W @ model.components_) ** 2, np.linalg.norm(X) ** 2
error, norm = (comm.allreduce(each) for each in own)
if comm.rank == 0:
    print(f"{comm.size} processes, relative error {np.sqrt(error / norm):.4f}")
assert np.sqrt(error / norm) < 0.02
assert model.left_.shape == (600, 5), "the first factors of all rows are everywhere"

# %% Sparse rows, sparse components
import scipy.sparse

counts = scipy.sparse.csr_matrix(np.where(noise > 0.8, X, 0))
svd = pursuit.mpi.fit(pursuit.TruncatedSVD(3), counts)
assert svd.components_.shape == (3, 40)

# %% A matrix with gaps: every process has some of the ratings
seen = np.argwhere(noise > 0.5)
triplets = rows[seen[:, 0]], seen[:, 1], X[tuple(seen.T)]
completed = pursuit.mpi.fit(pursuit.MatrixCompletion(random_state=0), triplets)
value = completed.predict([(int(rows[0]), 0)])
truth = X[0, 0]
if comm.rank == 0:
    print(f"entry (0, 0) is {truth:.3f}, predicted as {value[0]:.3f} by {completed.n_components_} atoms")
assert abs(value[0] - truth) < 0.2
