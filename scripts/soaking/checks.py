"""What a result must be, said with NumPy alone: nothing here is the program's."""

import numpy as np

LOOSE = 1e-6  # of what is a difference of large numbers in the program
TIGHT = 1e-9


class Finding(Exception):
    """A promise is broken."""


def expect(holds, what):
    if not holds:
        raise Finding(what)


def expect_near(one, other, tolerance, what):
    one, other = np.asarray(one, float), np.asarray(other, float)
    expect(one.shape == other.shape, f"{what}: sizes {one.shape} and {other.shape}")
    scale = max(1.0, np.abs(other).max(initial=0))
    worst = np.abs(one - other).max(initial=0)
    expect(worst <= tolerance * scale, f"{what}: off by {worst} where {tolerance * scale} is allowed")


def arrays_of(path):
    """All arrays of a model; every number has to be finite."""
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not name.startswith("trace_") and name != "scaling":  # of which some have no bounds
            expect(np.isfinite(array).all(), f"{path}: '{name}' has an entry that is not finite")
    return arrays


def same_bits(one, other):
    """Of two models: what was computed, not what tells of the run."""
    skipped = {"metadata", "trace_seconds"}
    names = (set(one) | set(other)) - skipped
    return [n for n in sorted(names) if n not in one or n not in other or one[n].tobytes() != other[n].tobytes()]


# Sets of vectors


def peaked(u):
    best = int(np.argmax(u))
    return (np.diff(u[: best + 1]) >= -TIGHT).all() and (np.diff(u[best:]) <= TIGHT).all()


def window(u, most):
    (at,) = np.nonzero(u)
    return at.size == 0 or at[-1] - at[0] < most


def pieces(u):
    return 1 + int((np.abs(np.diff(u)) > TIGHT).sum())


def is_member(name, values, u):
    number = float(values[0]) if values and values[0] not in ("up", "down") else None
    way = values[0] if values else None
    if name == "sphere":
        return True
    if name == "nonneg":
        return (u >= 0).all()
    if name == "sparse":
        return np.count_nonzero(u) <= number
    if name == "l1ball":
        return np.abs(u).sum() <= number + TIGHT
    if name == "block":
        return window(u, int(number))
    if name == "monotone":
        rises, falls = (np.diff(u) >= -TIGHT).all(), (np.diff(u) <= TIGHT).all()
        return {"up": rises, "down": falls, None: rises or falls}[way]
    if name == "unimodal":
        return peaked(u)
    if name == "convex-shape":
        return u.size < 3 or (np.diff(u, 2) >= -TIGHT).all()
    if name == "concave-shape":
        return u.size < 3 or (np.diff(u, 2) <= TIGHT).all()
    if name == "smooth":
        return (np.diff(u) ** 2).sum() <= number * (u @ u) + TIGHT
    if name == "fused":
        return pieces(u) <= number
    if name == "simplex":
        return (u >= 0).all() and abs(u.sum() - 1) <= TIGHT
    if name == "box":
        return (u >= number - TIGHT).all() and (u <= float(values[1]) + TIGHT).all()
    if name == "sign":
        return (np.abs(u) == 1).all()
    if name == "binary":
        return np.unique(np.round(u[u != 0], 9)).size == 1 and (u >= 0).all()
    if name == "onehot":
        return np.count_nonzero(u) == 1
    raise AssertionError(f"no check of {name}")


FREE_NORM = {"simplex", "box", "sign"}


def expect_members(spec, factors, what):
    """Every column of `factors` is in the set that `spec` names."""
    parts = [part.split(":") for part in spec.split("+")]
    for k, u in enumerate(factors.T):
        where = f"{what}, atom {k + 1}, {spec}"
        for name, *values in parts:
            expect(is_member(name, values, u), f"{where}: not a member: {u.tolist()}")
        if not FREE_NORM & {name for name, *_ in parts}:
            expect(abs(np.linalg.norm(u) - 1) <= TIGHT, f"{where}: its norm is {np.linalg.norm(u)}")


def expect_weights(rule, weights):
    if rule.startswith(("nonneg", "convex")):
        expect((weights >= 0).all(), f"weights under {rule}: {weights.tolist()}")
    if rule.startswith("convex"):
        radius = float(rule.partition(":")[2] or 1)
        expect(weights.sum() <= radius * (1 + TIGHT), f"weights under {rule} sum to {weights.sum()}")


# Errors and deviances


def relative_error(Y, X):
    norm = np.linalg.norm(Y)
    return np.linalg.norm(Y / norm - X / norm) if norm > 0 else 0.0


def best_error(Y, rank):
    """Of all approximations of that rank."""
    values = np.linalg.svd(Y / np.linalg.norm(Y), compute_uv=False)
    return float(np.sqrt((values[rank:] ** 2).sum()))


def expect_descent(errors, what):
    """Errors are roots of what may not rise: below the root of rounding they say nothing."""
    for before, after in zip(errors, errors[1:]):
        fell = after <= before + TIGHT * max(1, abs(before)) or 0 <= after < 1e-7
        expect(fell, f"{what}: it rises from {before} to {after}")


def times_log(y):
    return np.where(y > 0, y * np.log(np.where(y > 0, y, 1)), 0)


def half_deviance(loss, Y, X):
    """Summed over all entries; X is the linear predictor."""
    name, _, value = loss.partition(":")
    if name == "squares":
        return 0.5 * ((Y - X) ** 2).sum()
    if name == "huber":
        r, width = np.abs(Y - X), float(value)
        return np.where(r <= width, 0.5 * r * r, width * (r - 0.5 * width)).sum()
    if name == "bernoulli":
        return (np.logaddexp(0, X) - Y * X + times_log(Y) + times_log(1 - Y)).sum()
    if name == "poisson":
        return (X - np.where(Y > 0, Y * np.log(np.maximum(X, 1e-300)), 0) + times_log(Y) - Y).sum()
    if name == "poisson-log":
        return (np.exp(X) - Y * X + times_log(Y) - Y).sum()
    if name == "gamma":
        return (Y * np.exp(-X) + X - 1 - np.log(Y)).sum()
    raise AssertionError(f"no deviance of {loss}")


# Completed matrices


def predictions_of(model):
    """Of every pair of members, by the numbers of the model file; means that were drawn are not told by them."""
    mean, scale, _, lowest, highest = model["scaling"]
    values = np.full((len(model["row_names"]), len(model["column_names"])), mean)
    rows, columns = model["row_mean"].astype(float), model["column_mean"].astype(float)
    if rows.shape[1]:  # offsets first, then factors
        values = values + scale * (rows[:, :1] + columns[:, 0] + rows[:, 1:] @ columns[:, 1:].T)
    if "weights" in model:
        values = values + (model["left"] * model["weights"]) @ model["right"].T
    return np.clip(values, lowest, highest)


def seen_of(model, prefix="seen"):
    start, column = model[f"{prefix}_start"], model[f"{prefix}_column"]
    return [column[start[i] : start[i + 1]] for i in range(len(start) - 1)]


def expect_sorted(values, what):
    expect(all(a >= b for a, b in zip(values, values[1:])), f"{what}: not sorted: {values}")
