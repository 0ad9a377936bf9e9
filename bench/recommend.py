"""Recommenders beside us, on MovieLens: lists from ratings of at least 4 as ones, one of them held out per user, and
ratings by RMSE. One thread, seconds of processor time of fits alone for peers, of the whole program for us. Peers that
are not installed are left out with a word. Called by bench/recommend."""
import argparse
import importlib
import json
import os
import resource
import subprocess
import tempfile
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np
import scipy.sparse as sp


def peer(name):
    """The module, or None with a word."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        print(f"\n{name} is not installed and left out: {error}")
        return None


def ratings_of(path):
    separator = "::" if path.endswith(".dat") else "\t"
    lines = [line.split(separator) for line in open(path)]
    user, item = (np.unique([line[k] for line in lines], return_inverse=True)[1] for k in (0, 1))
    return user, item, np.array([float(line[2]) for line in lines])


class LeftOut:
    """One positive of every user that has two is tested. `seen` is what a user has rated otherwise, positive or not;
    no list holds it."""

    def __init__(self, path, seed):
        user, item, rating = ratings_of(path)
        shape = user.max() + 1, item.max() + 1
        order = np.random.default_rng(seed).permutation(len(user))
        user, item, positive = user[order], item[order], rating[order] >= 4
        count = np.bincount(user[positive], minlength=shape[0])
        places = np.flatnonzero(positive)
        places = places[np.unique(user[places], return_index=True)[1]]
        places = places[count[user[places]] > 1]
        tested = np.zeros(len(user), bool)
        tested[places] = True
        self.user, self.item = user[tested], item[tested]

        def matrix(kept):
            return sp.csr_matrix((np.ones(kept.sum(), np.float32), (user[kept], item[kept])), shape=shape)

        self.train, self.seen = matrix(positive & ~tested), matrix(~tested)

    def ndcg(self, scores, filtered, places=10):
        """Of rows of scores for the users tested."""
        scores = np.array(scores, dtype=np.float64)
        scores[filtered[self.user].nonzero()] = -np.inf
        own = scores[np.arange(len(self.user)), self.item]
        place = (scores > own[:, None]).sum(axis=1)
        return np.where(place < places, 1 / np.log2(place + 2.0), 0).mean()

    def both(self, scores):
        return self.ndcg(scores, self.train), self.ndcg(scores, self.seen)


def children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ours(o, data):
    with tempfile.TemporaryDirectory() as folder:
        entries = data.train.tocoo()
        np.savetxt(
            f"{folder}/clicks.csv",
            np.column_stack([entries.row, entries.col, entries.data]),
            "%d",
            delimiter=",",
        )
        before = children()
        command = [o.program, "complete", f"{folder}/clicks.csv", "--implicit", "--threads", "1"]
        subprocess.run([*command, "--out", f"{folder}/m.npz"], check=True, capture_output=True)
        seconds = children() - before
        model = np.load(f"{folder}/m.npz")
        rows, cols = (np.zeros((n, model["row_mean"].shape[1])) for n in data.train.shape)
        rows[model["row_names"].astype(int)] = model["row_mean"]
        cols[model["column_names"].astype(int)] = model["column_mean"]
    return data.both(rows[data.user] @ cols.T), seconds


def lists(o):
    """NDCG@10, the mean over seeds."""
    implicit = peer("implicit")
    als = importlib.import_module("implicit.cpu.als").AlternatingLeastSquares if implicit else None
    cmfrec = peer("cmfrec")
    settings = [dict()] + [
        dict(factors=f, regularization=r, alpha=a)
        for f, r, a in ((64, 0.01, 1), (64, 1, 1), (64, 10, 1), (64, 10, 5), (64, 10, 20))
    ]
    contenders = {"popularity": None, "pursuit --implicit, nothing set": None}
    contenders.update({f"implicit ALS {each or 'defaults'}": each for each in settings if als})
    if cmfrec:
        contenders["cmfrec CMF_implicit defaults"] = None
    for name, seeds in (("ml-100k/u.data", range(o.seeds)), ("ml-1m/ratings.dat", range(o.seeds_large))):
        print(f"\n## {name}, {len(seeds)} seeds\n")
        print(
            "| | NDCG@10, positives left out of lists | all that was rated left out | seconds |\n|---|---|---|---|"
        )
        found = {each: [] for each in contenders}
        for seed in seeds:  # contenders alternate
            data = LeftOut(f"{o.data}/{name}", seed)
            for contender, options in contenders.items():
                start = time.process_time()
                if contender == "popularity":
                    scores = np.tile(np.asarray(data.train.sum(axis=0)), (len(data.user), 1))
                    found[contender].append((*data.both(scores), 0))
                elif contender.startswith("pursuit"):
                    figures, seconds = ours(o, data)
                    found[contender].append((*figures, seconds))
                elif contender.startswith("cmfrec"):
                    model = cmfrec.CMF_implicit(verbose=False, nthreads=1).fit(data.train.tocoo())
                    seconds = time.process_time() - start
                    found[contender].append((*data.both(model.A_[data.user] @ model.B_.T), seconds))
                else:
                    model = als(random_state=0, num_threads=1, **options)
                    model.fit(data.train, show_progress=False)
                    seconds = time.process_time() - start
                    scores = model.user_factors[data.user] @ model.item_factors.T
                    found[contender].append((*data.both(scores), seconds))
        for contender, figures in found.items():
            train, rated, seconds = np.mean(figures, axis=0)
            print(f"| {contender} | {train:.4f} | {rated:.4f} | {seconds:.2f} |", flush=True)


def ratings(o):
    """The official first split of MovieLens-100K."""
    print("\n## ml-100k u1, RMSE\n\n| | RMSE | seconds |\n|---|---|---|")
    base, test = f"{o.data}/ml-100k/u1.base", f"{o.data}/ml-100k/u1.test"
    for options in (
        "",
        "--time",
        "--left nonneg --right nonneg",
        "--right sparse:0.1",
        "--left sphere --right sphere",
    ):
        before = children()
        command = [o.program, "complete", base, "--test", test, "--threads", "1", "--json", *options.split()]
        result = subprocess.run(command, check=True, capture_output=True, text=True)
        rmse = json.loads(result.stdout)["test"]["rmse"]
        print(f"| pursuit complete {options} | {rmse:.4f} | {children() - before:.2f} |", flush=True)
    if surprise := peer("surprise"):
        folds = surprise.Dataset.load_from_folds([(base, test)], reader=surprise.Reader("ml-100k"))
        train, held = next(surprise.model_selection.PredefinedKFold().split(folds))
        for name, model in (
            ("Surprise NMF", surprise.NMF(random_state=0)),
            ("Surprise NMF, biased", surprise.NMF(biased=True, random_state=0)),
            ("Surprise SVD", surprise.SVD(random_state=0)),
        ):
            start = time.process_time()
            model.fit(train)
            seconds = time.process_time() - start
            print(
                f"| {name} | {surprise.accuracy.rmse(model.test(held), verbose=False):.4f} | {seconds:.2f} |"
            )
    if cmfrec := peer("cmfrec"):
        import pandas

        train, held = (
            pandas.read_csv(path, sep="\t", names=["UserId", "ItemId", "Rating", "time"])[
                ["UserId", "ItemId", "Rating"]
            ]
            for path in (base, test)
        )
        start = time.process_time()
        model = cmfrec.CMF(verbose=False, nthreads=1).fit(train)
        seconds = time.process_time() - start
        predicted = np.asarray(model.predict(held.UserId, held.ItemId))
        predicted = np.where(np.isfinite(predicted), predicted, train.Rating.mean())
        print(
            f"| cmfrec CMF defaults | {np.sqrt(np.mean((predicted - held.Rating) ** 2)):.4f} | {seconds:.2f} |"
        )


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("data")
    p.add_argument("--program", required=True)
    p.add_argument("--only", choices=("lists", "ratings"))
    p.add_argument("--seeds", type=int, default=4)
    p.add_argument("--seeds-large", type=int, default=1)
    o = p.parse_args()
    for part in (lists, ratings):
        if o.only in (None, part.__name__):
            part(o)
