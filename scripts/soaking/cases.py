"""Random commands on random inputs, each with what its result must be."""

import os
import shutil
import signal

import numpy as np

from . import inputs
from .checks import (
    LOOSE,
    arrays_of,
    best_error,
    expect,
    expect_descent,
    expect_members,
    expect_near,
    expect_sorted,
    expect_weights,
    half_deviance,
    predictions_of,
    relative_error,
    same_bits,
    seen_of,
)

SETS = [
    "sphere", "nonneg", "sparse:3", "nonneg+sparse:4", "l1ball:1.3", "block:3", "monotone", "monotone:up", "unimodal",
    "nonneg+unimodal", "convex-shape", "smooth:0.3", "nonneg+smooth:0.3", "fused:2", "nonneg+fused:3", "simplex", "box:0:1",
    "box:-1:2", "sign", "binary", "onehot", "nonneg+monotone:down",
]  # fmt: skip
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1]


def threads(place):
    return ["--threads", str(place.dice.choice([1, 2, 3, 5]))]


def pick(place, choices):
    return choices[int(place.dice.integers(len(choices)))]


def run_to_a_model(place, words, out="model.npz"):
    """The model's arrays and what the command said; now and then not without hindrance, which must not be seen."""
    whole = place.run(*words, *threads(place), "--out", out, "--json").json()
    model = arrays_of(place.path(out))
    chance = place.dice.random()
    if chance < 0.2:
        place.run(*words, *threads(place), "--out", "again.npz", "--json")
        different = same_bits(model, arrays_of(place.path("again.npz")))
        expect(not different, f"another number of threads, other bits: {different}")
    elif chance < 0.35 and words[0] in ("factor", "pca", "complete"):
        dies_and_goes_on(place, words, model)
    elif chance < 0.45:
        is_stopped(place, words)
    return model, whole


def dies_and_goes_on(place, words, model):
    """Killed, and resumed until it ends; what has no checkpoints refuses them, which is counted as an answer."""
    keep = ["--out", "killed.npz", "--checkpoint-every", "1"]
    for _ in range(3):
        state = ["--resume" if place.exists("state") else "--checkpoint", "state"]
        place.kill(place.dice.uniform(0, 0.1), *words, *keep, *state, *threads(place))
        if place.exists("killed.npz"):
            break
    else:
        resume = ["--resume", "state"] if place.exists("state") else []
        place.run(*words, *threads(place), "--out", "killed.npz", *resume)
    different = same_bits(model, arrays_of(place.path("killed.npz")))
    expect(not different, f"after kills other bits: {different}")
    for name in os.listdir(place.folder):
        if name.startswith(".pursuit-"):
            os.remove(place.path(name))  # what a killed process may leave


def is_stopped(place, words):
    """A model that is there is whole; what an array was by then is in the sets all the same."""
    number = pick(place, SIGNALS)
    if place.stop(place.dice.uniform(0, 0.1), number, *words, *threads(place), "--out", "stopped.npz"):
        arrays_of(place.path("stopped.npz"))


def factor(place):
    weights = pick(place, ["free", "nonneg", "newest", "economic", "convex:3"])
    nonneg = place.dice.random() < 0.4
    Y = inputs.matrix(place.dice, nonneg=nonneg)
    left, right = (("nonneg", "nonneg") if nonneg else (pick(place, SETS), pick(place, SETS)))
    if place.dice.random() < 0.15:
        left = right = "sphere"
    rank = int(place.dice.integers(1, 7))
    words = ["factor", *inputs.write_matrix(place, "Y", Y), "--rank", rank, "--left", left, "--right", right]
    words += ["--weights", weights, "--seed", int(place.dice.integers(100))]
    if place.dice.random() < 0.3:
        words += ["--start", "leading"]
    if place.dice.random() < 0.3:
        words += ["--corrections", int(place.dice.integers(0, 4)), "--polish", int(place.dice.choice([0, 3, 50]))]
    model, told = run_to_a_model(place, words)
    X = (model["left"] * model["weights"]) @ model["right"].T
    expect(len(model["weights"]) <= rank, "more atoms than were asked for")
    expect_members(left, model["left"], "left")
    expect_members(right, model["right"], "right")
    expect_weights(weights, model["weights"])
    error = relative_error(Y, X)
    expect_near(told["relative_error"], error, LOOSE, "relative error")
    expect_descent([step["relative_error"] for step in told["path"]], "error by rank")
    optimum = best_error(Y, rank)
    expect(error >= optimum - LOOSE, f"error {error} below that of the truncated SVD, {optimum}")
    if left == right == "sphere" and weights == "free" and "leading" not in words:
        expect_near(error, optimum, LOOSE, "error of the truncated SVD")
    if place.dice.random() < 0.3:
        ask_a_factorization(place, X)


def ask_a_factorization(place, X):
    place.run("reconstruct", "model.npz", "--out", "X.npy")
    scale = max(np.abs(X).max(), np.finfo(float).tiny)
    expect_near(np.load(place.path("X.npy")) / scale, X / scale, LOOSE, "reconstruct")
    place.run("inspect", "model.npz", "--json").json()
    place.run("report", "model.npz", "--out", "page.html")
    expect(os.path.getsize(place.path("page.html")) > 1000, "an empty page")


def loss(place):
    name = pick(place, ["bernoulli", "poisson", "poisson-log", "gamma", "huber:0.7", "squares"])
    Y = inputs.matrix(place.dice, nonneg=True, least=3)
    Y = Y / np.median(Y[Y > 0])
    parts = name == "poisson"
    if name.startswith("poisson"):
        Y = np.minimum(np.floor(2 * Y), 1e6)
    elif name == "bernoulli":
        Y = (Y > 1).astype(float)
    elif name == "gamma":
        Y = np.clip(Y, 1e-3, 1e6)
    if not Y.any():
        Y[0, 0] = 1
    rank = int(place.dice.integers(1, 4))
    words = ["factor", *inputs.write_matrix(place, "Y", Y), "--rank", rank, "--loss", name]
    if parts:
        words += ["--left", "nonneg", "--right", "nonneg", "--weights", "nonneg"]
    elif place.dice.random() < 0.5:
        words += ["--left", pick(place, ["sparse:3", "nonneg", "smooth:0.5"])]
    if not parts and place.dice.random() < 0.4:
        words += ["--offsets"]
    model, told = run_to_a_model(place, words)
    X = (model["left"] * model["weights"]) @ model["right"].T
    if "row_offsets" in model:
        X = X + model["row_offsets"][:, None] + model["column_offsets"]
    value, reported = half_deviance(name, Y, X), told["objective"]
    slack = LOOSE * max(value, 1e-3 * Y.size, 1e-9)
    if parts:  # means have a floor far below the largest count, which matters where a count meets next to nothing
        slack += 1e-9 * Y.max() * (Y.size + (Y[Y > 0] / np.maximum(X[Y > 0], 1e-300)).sum())
    expect(abs(value - reported) <= slack, f"objective {reported}, but {value}")
    expect_descent([-step["deviance_explained"] for step in told["path"]], "unexplained deviance by rank")


def components(place):
    Y = inputs.matrix(place.dice, least=3)
    count = int(place.dice.integers(1, min(4, *Y.shape)))
    atoms = pick(place, ["sphere", "sparse:2", "sparse:3", "nonneg", "nonneg+sparse:3"])
    words = ["pca", *inputs.write_matrix(place, "Y", Y), "--components", count, "--atoms", atoms]
    if place.dice.random() < 0.3:
        words += ["--effort", "low"]
    model, told = run_to_a_model(place, words)
    loadings = model["right"]
    expect_members(atoms, loadings, "loadings")
    scale = np.abs(Y).max()
    centred = Y / scale - (Y / scale).mean(axis=0)
    total = (centred**2).sum()
    if total <= 1e-20 * Y.size:
        return
    basis = np.linalg.svd(loadings, full_matrices=False)
    basis = basis[0][:, basis[1] > 1e-9]
    explained = ((centred @ basis) ** 2).sum() / total
    expect_near(told["explained"]["span"], explained, 1e-5, "variance explained by the span")
    if atoms == "sphere":
        values = np.linalg.svd(centred, compute_uv=False) ** 2
        expect_near(explained, values[:count].sum() / total, LOOSE, "variance that components explain")


def codes(place):
    n, atoms, signals = (int(place.dice.integers(2, most)) for most in (30, 60, 12))
    D, Y = place.dice.standard_normal((n, atoms)), place.dice.standard_normal((n, signals))
    rule, most = pick(place, ["free", "nonneg", "newest"]), int(place.dice.integers(1, 6))
    dictionary, target = inputs.write_matrix(place, "D", D)[0], inputs.write_matrix(place, "Y", Y)[0]
    words = ["omp", dictionary, target, "--header", "no", "--atoms", most, "--weights", rule, "--out", "codes.npz"]
    told = place.run(*words, *threads(place), "--json").json()
    with np.load(place.path("codes.npz")) as archive:
        C = np.zeros(archive["shape"])
        rows = np.repeat(np.arange(C.shape[0]), np.diff(archive["indptr"]))
        C[rows, archive["indices"]] = archive["data"]
    expect((np.count_nonzero(C, axis=0) <= most).all(), "more atoms in a code than were asked for")
    rest = Y - D @ C
    expect_near(told["relative_error"], relative_error(Y, D @ C), LOOSE, "relative error")
    expect(rule != "nonneg" or (C >= 0).all(), "a negative code")
    if rule == "free":
        slopes = np.abs(np.where(C != 0, D.T @ rest, 0))
        expect(slopes.max() <= LOOSE * np.linalg.norm(Y) * np.linalg.norm(D), "a residual that atoms are not orthogonal to")


def completion(place):
    entries = inputs.ratings(place.dice)
    file = inputs.write_ratings(place, "ratings.csv", entries)
    words = ["complete", file, "--seed", int(place.dice.integers(100))]
    kind = pick(place, ["self-tuned", "self-tuned", "draws", "sets", "holdout", "none"])
    left = right = None
    if kind == "draws":
        words += ["--samples", int(place.dice.integers(1, 30))]
    elif kind == "holdout":
        words += ["--holdout", "0.2"]
    elif kind in ("sets", "none"):
        left, right = pick(place, ["nonneg", "sphere", "sparse:3"]), pick(place, ["sphere", "nonneg", "smooth:0.5"])
        words += ["--left", left, "--right", right, "--rank", int(place.dice.integers(1, 5))]
        if kind == "none":
            words += ["--regularize", "none", "--max-sweeps", 30]
    model, told = run_to_a_model(place, words)
    if left:
        expect_members(left, model["left"], "left")
        expect_members(right, model["right"], "right")
    told_of = ask_for_predictions(place, model)
    if kind != "draws":
        rows = {name: i for i, name in enumerate(model["row_names"])}
        columns = {name: j for j, name in enumerate(model["column_names"])}
        all_values, seen = predictions_of(model), seen_of(model)
        in_column = np.zeros(len(columns), int)
        for row in seen:
            in_column[row] += 1
        for (row, column), value in told_of.items():
            if row in rows and column in columns and len(seen[rows[row]]) and in_column[columns[column]]:
                expect_near(value, all_values[rows[row], columns[column]], 1e-5, f"prediction of {row}, {column}")
    if kind == "holdout":
        hidden = {(i, j) for i, row in enumerate(seen_of(model, "held_out")) for j in row}
        shown = {(i, j) for i, row in enumerate(seen_of(model)) for j in row}
        expect(not hidden & shown and len(hidden) + len(shown) == len(entries), "entries held out are not the rest")
        expect(told["test"]["count"] == len(hidden), "a count of entries held out")
    ask_for_lists(place, model)


def ask_for_predictions(place, model):
    rows, columns = list(model["row_names"]), list(model["column_names"])
    pairs = [(pick(place, rows), pick(place, columns)) for _ in range(20)] + [("nobody", columns[0]), (rows[0], "nothing")]
    with open(place.path("pairs.csv"), "w") as file:
        file.writelines(f"{row},{column}\n" for row, column in pairs)
    told = place.run("predict", "model.npz", "pairs.csv", "--json").json()["predictions"]
    expect([(t["row"], t["column"]) for t in told] == pairs, "predictions of other pairs than were asked for")
    lowest, highest = model["scaling"][3:5]
    for t in told:
        expect(t["sd"] >= 0, f"a negative deviation: {t}")
        expect(lowest - LOOSE <= t["value"] <= highest + LOOSE, f"out of the range of the data: {t}")
        expect(t["known_row"] == (t["row"] != "nobody"), f"known or not: {t}")
    return {(t["row"], t["column"]): t["value"] for t in told}


def ask_for_lists(place, model):
    rows, columns = list(model["row_names"]), list(model["column_names"])
    at = int(place.dice.integers(len(rows)))
    top = int(place.dice.integers(1, 8))
    told = place.run("recommend", "model.npz", "--row", rows[at], "--top", top, "--json").json()["recommendations"]
    best = told[0]["columns"]
    expect_sorted([item["value"] for item in best], "recommendations")
    names, known = [item["column"] for item in best], list(seen_of(model)[at])
    if "held_out_start" in model:
        known += list(seen_of(model, "held_out")[at])
    seen = {columns[j] for j in known}
    expect(not seen & set(names), "what was seen is recommended")
    expect(len(set(names)) == len(names) == min(top, len(columns) - len(seen)), f"{len(names)} of {top} asked for")
    with open(place.path("others.csv"), "w") as file:
        file.writelines(f"{rows[at]},{column}\n" for column in columns if column not in seen)
    if len(seen) < len(columns):
        told = place.run("predict", "model.npz", "others.csv", "--json").json()["predictions"]
        all_values = sorted((t["value"] for t in told), reverse=True)
        expect_near([item["value"] for item in best], all_values[: len(best)], LOOSE, "the best that there are")


def implicit(place):
    entries = {pair: 1.0 for pair in inputs.ratings(place.dice)}
    write = inputs.write_log if place.dice.random() < 0.4 else inputs.write_ratings
    words = ["complete", write(place, "clicks.csv", entries), "--implicit"]
    if place.dice.random() < 0.3:
        words += ["--left", "nonneg", "--right", "nonneg", "--weights", "nonneg"]
    model, _ = run_to_a_model(place, words)
    expect(sum(map(len, seen_of(model))) == len(entries), "a model of clicks knows other pairs")
    ask_for_lists(place, model)


def update(place):
    entries = inputs.ratings(place.dice)
    pairs = list(entries)
    cut = len(pairs) * 2 // 3
    inputs.write_ratings(place, "first.csv", {pair: entries[pair] for pair in pairs[:cut]})
    inputs.write_ratings(place, "then.csv", {pair: entries[pair] for pair in pairs[cut:]})
    place.run("complete", "first.csv", *threads(place), "--out", "first.npz")
    model, _ = run_to_a_model(place, ["complete", "then.csv", "--update", "first.npz"])
    expect(sum(map(len, seen_of(model))) == len(entries), "an updated model knows other entries")
    ask_for_predictions(place, model)


def array(place):
    nonneg = place.dice.random() < 0.6
    T = inputs.array(place.dice, nonneg)
    np.save(place.path("T.npy"), T)
    sets = ["nonneg" if nonneg else pick(place, ["sphere", "nonneg", "sparse:2", "smooth:0.5"]) for _ in T.shape]
    rank = int(place.dice.integers(1, 4))
    words = ["factor", "T.npy", "--modes", ",".join(sets), "--rank", rank]
    if nonneg:
        words += ["--weights", "nonneg"]
    words += pick(place, [[], ["--start", "leading"], ["--starts", "2"], ["--loss", "huber:1"]])
    model, told = run_to_a_model(place, words)
    factors = [model[f"factor_{m}"] for m in range(T.ndim)]
    for spec, panel in zip(sets, factors):
        expect_members(spec, panel, "a mode")
    X = inputs.cp(model["weights"], factors)
    if "--loss" in words:
        expect_near(told["objective"], half_deviance("huber:1", T, X), LOOSE, "objective")
    else:
        expect_near(told["relative_error"], relative_error(T, X), LOOSE, "relative error")
    expect_descent([1 - step["deviance_explained"] for step in told["path"]], "error by rank")


def array_with_gaps(place):
    T = inputs.array(place.dice, True)
    known = place.dice.random(T.shape) < 0.7
    known.flat[0] = True
    np.save(place.path("T.npy"), np.where(known, T, np.nan))
    words = ["complete", "T.npy", "--modes", ",".join(["nonneg"] * T.ndim), "--weights", "nonneg"]
    if place.dice.random() < 0.6:
        words += ["--rank", int(place.dice.integers(1, 4))]
    model, told = run_to_a_model(place, words)
    factors = [model[f"factor_{m}"] for m in range(T.ndim)]
    for panel in factors:
        expect_members("nonneg", panel, "a mode")
    places = place.dice.integers(0, T.shape, size=(10, T.ndim))
    with open(place.path("places.csv"), "w") as file:
        file.writelines(",".join(str(i + 1) for i in at) + "\n" for at in places)
    place.run("predict", "model.npz", "places.csv", "--out", "values.csv")
    with open(place.path("values.csv")) as file:
        values = [float(line.split(",")[T.ndim]) for line in file.read().splitlines()[1:]]
    X = inputs.cp(model["weights"], factors)
    expect_near(values, [X[tuple(at)] for at in places], 1e-4, "predictions")


def judges(place):
    """Commands that try methods and ranks: their tables are numbers, all of them."""
    if place.dice.random() < 0.4:
        inputs.write_ratings(place, "ratings.csv", inputs.ratings(place.dice))
        split = pick(place, [["--folds", "3"], ["--leave-one-out"], ["--cold-rows"], []])
        place.run("evaluate", "ratings.csv", *split, "--methods", "popularity,offsets,default", *threads(place), "--json").json()
        return
    Y = inputs.matrix(place.dice, nonneg=True, least=6)
    file = inputs.write_matrix(place, "Y", Y)
    if place.dice.random() < 0.5:
        told = place.run("choose", *file, "--ranks", "1-3", "--folds", 3, *threads(place), "--json").json()
        expect(told["rank"] in (1, 2, 3), "a rank that was not asked for")
        return
    told = place.run("consensus", *file, "--rank", 2, "--seeds", 6, "--spectra", "parts.npy", "--usages", "shares.npy", *threads(place), "--json").json()
    expect(0 <= told["kept"] <= 1, "a share")
    parts, shares = np.load(place.path("parts.npy")), np.load(place.path("shares.npy"))
    expect((parts >= 0).all() and (shares >= 0).all(), "a negative part")
    sums = parts.sum(axis=1 if parts.shape[0] == 2 else 0)
    expect_near(sums, np.ones_like(sums), LOOSE, "sums of parts")


def conversion(place):
    """Through some formats and back."""
    Y = inputs.matrix(place.dice)
    words = inputs.write_matrix(place, "start", Y)
    for step, form in enumerate(place.dice.permutation(["csv", "npy", "mtx", "npz", "tsv"])[:3]):
        place.run("convert", *words, f"step{step}.{form}")
        words = [f"step{step}.{form}", "--header", "no"]
    place.run("convert", *words, "end.npy")
    expect(np.array_equal(np.load(place.path("end.npy")), Y), "a matrix that was converted has other numbers")


def laws(place):
    told = place.run("atoms", pick(place, SETS), "--length", int(place.dice.integers(6, 30)), "--seed", int(place.dice.integers(1000)), "--json").json()
    expect(not told["broken_laws"], f"broken laws: {told['broken_laws']}")


def damage(dice, content):
    content = bytearray(content)
    for _ in range(int(dice.integers(1, 6))):
        if not content:
            break
        at = int(dice.integers(len(content)))
        kind = dice.integers(5)
        if kind == 0:
            content[at] = int(dice.integers(256))
        elif kind == 1:
            content[at] = int(dice.choice(list(b"0123456789-+.eE,;: \n\"nai")))
        elif kind == 2:
            del content[at : at + int(dice.integers(1, 40))]
        elif kind == 3:
            content[at:at] = content[at : at + int(dice.integers(1, 40))]
        else:
            del content[at:]
    return bytes(content)


def damaged_files(place):
    """Any answer is right that is a result or one message."""
    inputs.write_ratings(place, "ratings.csv", inputs.ratings(place.dice))
    Y = inputs.matrix(place.dice)
    matrix = inputs.write_matrix(place, "Y", Y)
    place.run("complete", "ratings.csv", "--out", "model.npz", "--checkpoint", "state", "--checkpoint-every", "1")
    with open(place.path("pairs.csv"), "w") as file:
        file.write("u1,m1\nu2,m3\n")
    broken, *words = pick(place, [
        [matrix[0], "factor", *matrix, "--rank", 2, "--out", "out.npz"],
        [matrix[0], "convert", *matrix, "out.npy"],
        ["ratings.csv", "complete", "ratings.csv", "--out", "out.npz"],
        ["ratings.csv", "complete", "ratings.csv", "--implicit", "--out", "out.npz"],
        ["model.npz", "predict", "model.npz", "pairs.csv", "--out", "out.csv"],
        ["model.npz", "recommend", "model.npz", "--row", "u1", "--out", "out.csv"],
        ["model.npz", "report", "model.npz", "--out", "out.html"],
        ["pairs.csv", "predict", "model.npz", "pairs.csv", "--out", "out.csv"],
    ])  # fmt: skip
    with open(place.path(broken), "rb") as file:
        content = file.read()
    for _ in range(8):
        with open(place.path(broken), "wb") as file:
            file.write(damage(place.dice, content))
        for name in ("out.npz", "out.npy", "out.csv", "out.html"):
            if place.exists(name):
                os.remove(place.path(name))
        done = place.finish(place.start(*words, "--max-memory", "2G"))
        expect(done.status in (0, 2, 3), f"exit status {done.status}: {done.errors[-300:]}")
        expect((done.status == 0) == place.exists(words[-1]), f"status {done.status}, and an output that does not fit it")
        if done.status == 0 and words[-1] == "out.npz":
            arrays_of(place.path("out.npz"))


WORDS = [
    "--rank", "--left", "--right", "--weights", "--loss", "--offsets", "--start", "--corrections", "--polish", "--seed", "--threads",
    "--json", "--transpose", "--target-error", "--time-limit", "--restarts", "--starts", "--modes", "--symmetric", "--covariance", "--header",
    "0", "1", "2", "-1", "1e9", "nan", "", "sphere", "nonneg", "sparse:0", "sparse:2,1", "convex:-1", "poisson", "huber:0", "leading", "Y.npy", "--",
]  # fmt: skip


def typed_at_random(place):
    np.save(place.path("Y.npy"), np.abs(place.dice.standard_normal((9, 7))))
    for _ in range(6):
        words = ["factor", "Y.npy", *(pick(place, WORDS) for _ in range(int(place.dice.integers(1, 6)))), "--polish-tolerance", "1e-3"]
        done = place.finish(place.start(*words, "--max-memory", "2G"))
        expect(done.status in (0, 2, 3), f"{words}: exit status {done.status}: {done.errors[-300:]}")


def hindered(place):
    """Little time, little memory, a rehearsal."""
    np.save(place.path("Y.npy"), np.abs(place.dice.standard_normal((300, 200))))
    words = ["factor", "Y.npy", "--rank", 20, "--left", "nonneg", "--right", "nonneg", "--weights", "nonneg", "--polish-tolerance", "1e-9"]
    kind = place.dice.integers(3)
    if kind == 0:
        told = place.run(*words, "--time-limit", round(place.dice.uniform(0.01, 0.2), 3), "--out", "model.npz", "--json").json()
        model = arrays_of(place.path("model.npz"))
        X = (model["left"] * model["weights"]) @ model["right"].T
        expect_members("nonneg", model["left"], "left")
        expect_near(told["relative_error"], relative_error(np.load(place.path("Y.npy")), X), LOOSE, "relative error")
    elif kind == 1:
        place.run(*words, "--max-memory", f"{int(place.dice.integers(5, 60))}M", "--out", "model.npz")
    else:
        before = sorted(os.listdir(place.folder))
        place.run(*words[:4], "--dry-run", "--out", "model.npz")
        expect(sorted(os.listdir(place.folder)) == before, "a rehearsal that writes")


CASES = {
    factor: 8, loss: 5, components: 4, codes: 2, completion: 7, implicit: 2, update: 2, array: 3, array_with_gaps: 2, judges: 2,
    conversion: 2, laws: 1, damaged_files: 3, typed_at_random: 2, hindered: 1,
}  # fmt: skip


def random_case(dice):
    shares = np.array(list(CASES.values()), float)
    return list(CASES)[int(dice.choice(len(CASES), p=shares / shares.sum()))]


def clean(folder):
    shutil.rmtree(folder, ignore_errors=True)
