"""Random inputs, and the files that hold them."""

import gzip
import io

import numpy as np


def sizes(dice, least=1):
    """Mostly small, sometimes one row or one column, sometimes some hundreds."""
    most = int(dice.choice([6, 25, 60, 200], p=[0.2, 0.5, 0.2, 0.1]))
    rows, cols = (int(dice.integers(max(2, least), most + 1)) for _ in range(2))
    if least == 1 and dice.random() < 0.06:
        rows = 1
    elif least == 1 and dice.random() < 0.06:
        cols = 1
    return rows, cols


def low_rank(dice, rows, cols, nonneg):
    rank = int(dice.integers(1, 6))
    left, right = dice.standard_normal((rows, rank)), dice.standard_normal((cols, rank))
    if nonneg:
        left, right = np.abs(left), np.abs(right)
    return left @ right.T


def matrix(dice, nonneg=False, least=1):
    rows, cols = sizes(dice, least)
    Y = low_rank(dice, rows, cols, nonneg)
    Y = Y + dice.choice([0, 0.01, 0.3, 2]) * dice.standard_normal(Y.shape)
    if nonneg:
        Y = np.abs(Y)
    kind = dice.random()
    if kind < 0.25:
        Y = np.where(dice.random(Y.shape) < dice.choice([0.02, 0.2, 0.6]), Y, 0)
    elif kind < 0.3:
        Y = np.full(Y.shape, float(dice.integers(1, 5)))
    elif kind < 0.35:
        Y[:, 0] *= 1e6  # one column that outweighs all else
    elif kind < 0.4 and rows > 2:
        Y[1:] = Y[:1]  # rank one, rows alike
    elif kind < 0.45:
        Y = np.round(Y)
    if dice.random() < 0.15:
        Y = np.ldexp(Y, int(dice.integers(-300, 300)))
    if not Y.any():
        Y[0, 0] = 1.0
    return Y


def as_csv(Y):
    return "".join(",".join(repr(float(x)) for x in row) + "\n" for row in Y).encode()


def as_npy(Y):
    file = io.BytesIO()
    np.save(file, Y)
    return file.getvalue()


def as_market(Y):
    places = np.argwhere(Y)
    lines = [f"{i + 1} {j + 1} {float(Y[i, j])!r}\n" for i, j in places]
    head = f"%%MatrixMarket matrix coordinate real general\n{Y.shape[0]} {Y.shape[1]} {len(lines)}\n"
    return (head + "".join(lines)).encode()


def as_scipy(Y, path):
    places = np.argwhere(Y)
    start = np.searchsorted(places[:, 0], np.arange(Y.shape[0] + 1))
    np.savez(
        path,
        format=np.array(b"csr"),
        shape=np.array(Y.shape),
        data=Y[places[:, 0], places[:, 1]],
        indices=places[:, 1].astype(np.int32),
        indptr=start.astype(np.int32),
    )


def write_matrix(place, name, Y):
    """In a random format; its words on the command line."""
    kind = place.dice.choice(["csv", "csv.gz", "npy", "fortran", "mtx", "npz"])
    file = f"{name}.{'npy' if kind == 'fortran' else kind}"
    path = place.path(file)
    if kind == "npz":
        as_scipy(Y, path)
        return [file]
    if kind == "csv.gz":
        content = gzip.compress(as_csv(Y), 1)
    elif kind == "csv":
        content = as_csv(Y)
    elif kind == "mtx":
        content = as_market(Y)
    else:
        content = as_npy(np.asfortranarray(Y) if kind == "fortran" else Y)
    with open(path, "wb") as out:
        out.write(content)
    return [file, "--header", "no"]


def ratings(dice):
    """Some entries of a matrix: a dictionary by pair of ids."""
    rows, cols = sizes(dice, 4)
    Y = 3 + low_rank(dice, rows, cols, False) + dice.standard_normal(rows)[:, None] + 0.4 * dice.standard_normal((rows, cols))
    if dice.random() < 0.6:
        Y = np.clip(np.round(Y), 1, 5)
    seen = dice.random((rows, cols)) < dice.choice([0.1, 0.3, 0.7])
    seen[0, 0] = seen[-1, -1] = True
    return {(f"u{i}", f"m{j}"): float(np.float32(Y[i, j])) for i, j in np.argwhere(seen)}


def write_ratings(place, name, entries):
    order = list(entries)
    place.dice.shuffle(order)
    with open(place.path(name), "w") as file:
        for row, column in order:
            file.write(f"{row},{column},{entries[row, column]!r}\n")
    return name


def write_log(place, name, pairs):
    """Lines of row and column alone, with a header or none, some of which come again."""
    lines = [f"{row},{column}\n" for row, column in pairs for _ in range(1 + place.dice.poisson(0.7))]
    place.dice.shuffle(lines)
    with open(place.path(name), "w") as file:
        file.writelines(["user,item\n"][: int(place.dice.integers(2))] + lines)
    return name


def array(dice, nonneg):
    shape = [int(n) for n in dice.integers(2, 9, size=int(dice.choice([3, 3, 3, 4])))]
    factors = [dice.standard_normal((n, 3)) for n in shape]
    if nonneg:
        factors = [np.abs(f) for f in factors]
    return cp(np.ones(3), factors) + 0.1 * dice.random(shape)


def cp(weights, factors):
    letters = "abcdefgh"[: len(factors)]
    return np.einsum(",".join(["z"] + [f"{a}z" for a in letters]) + "->" + letters, weights, *factors)
