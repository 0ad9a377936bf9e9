"""Pictures of docs/arrays.md: the program on arrays, drawn with matplotlib.

    scripts/gallery_arrays.py PROGRAM DATA_FOLDER docs/gallery

DATA_FOLDER holds tensors/aminoacid_5x201x61.npy and tensors/oslo_bike_270x2x12x7x24.npy; Indian Pines comes with tensorly. What
is not there is left out.
"""

import os
import subprocess
import sys
import tempfile

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "pursuit", "font.size": 8, "svg.fonttype": "none"})
import matplotlib.pyplot as plt
import numpy as np

program, data, out = sys.argv[1:4]


def factored(path, rank, *more):
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "m.npz")
        modes = np.load(path, mmap_mode="r").ndim
        sets = ["--modes", ",".join(["nonneg"] * modes), "--weights", "nonneg"]
        subprocess.run(
            [program, "factor", path, "--rank", str(rank), *sets, *more, "--out", model], check=True
        )
        return dict(np.load(model))


def save(figure, name):
    figure.tight_layout()
    figure.savefig(os.path.join(out, name), metadata={"Date": None})
    plt.close(figure)


def amino_acids():
    path = os.path.join(data, "tensors", "aminoacid_5x201x61.npy")
    X = np.load(path).astype(np.float64)
    model = factored(path, 3)
    concentrations = model["factor_0"] * model["weights"]
    names = ("tryptophan", "tyrosine", "phenylalanine")  # alone in samples 0, 1 and 2
    figure, (emission, excitation) = plt.subplots(1, 2, figsize=(7, 2.4))
    for atom in range(3):
        sample = int(np.argmax(concentrations[:3, atom] / concentrations[:3].max(axis=1)))
        left, _, right = np.linalg.svd(X[sample], full_matrices=False)
        colour = f"C{sample}"
        emission.plot(250 + np.arange(201), np.abs(left[:, 0]), colour, lw=4, alpha=0.3)
        emission.plot(250 + np.arange(201), model["factor_1"][:, atom], colour, lw=1, label=names[sample])
        excitation.plot(240 + np.arange(61), np.abs(right[0]), colour, lw=4, alpha=0.3)
        excitation.plot(240 + np.arange(61), model["factor_2"][:, atom], colour, lw=1)
    emission.set(xlabel="emission, nm", yticks=[])
    excitation.set(xlabel="excitation, nm", yticks=[])
    emission.legend(frameon=False)
    save(figure, "arrays-amino-acids.svg")


def indian_pines():
    try:
        from tensorly.datasets import load_indian_pines
    except ImportError:
        return
    X = np.ascontiguousarray(np.asarray(load_indian_pines().tensor, dtype=np.float64))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "pines.npy")
        np.save(path, X)
        model = factored(path, 10, "--start", "random")
    # Abundances of the spectra: every pixel as a non-negative sum of the factors of the third mode.
    from scipy.optimize import nnls

    spectra = model["factor_2"][:, np.argsort(-model["weights"])[:4]]
    pixels = X.reshape(-1, X.shape[2])[:, :]
    maps = np.array([nnls(spectra, pixel)[0] for pixel in pixels]).reshape(X.shape[0], X.shape[1], 4)
    figure, axes = plt.subplots(2, 4, figsize=(7, 3.2), height_ratios=(2, 1))
    for k in range(4):
        axes[0, k].imshow(maps[:, :, k], cmap="viridis", vmax=np.quantile(maps[:, :, k], 0.99))
        axes[0, k].set(xticks=[], yticks=[])
        axes[1, k].plot(spectra[:, k], lw=1)
        axes[1, k].set(xlabel="band", yticks=[])
    save(figure, "arrays-indian-pines.svg")


def bike_trips():
    path = os.path.join(data, "tensors", "oslo_bike_270x2x12x7x24.npy")
    if not os.path.exists(path):
        return
    model = factored(path, 6, "--loss", "poisson")
    trips = model["weights"] * np.prod([model[f"factor_{mode}"].sum(axis=0) for mode in range(5)], axis=0)
    order = np.argsort(-trips)
    figure, axes = plt.subplots(3, 6, figsize=(8.5, 3.6), height_ratios=(2, 1, 1), sharey="row")
    for column, atom in enumerate(order):
        share = [
            model[f"factor_{mode}"][:, atom] / model[f"factor_{mode}"][:, atom].sum() for mode in range(5)
        ]
        hour, weekday, month = axes[:, column]
        hour.plot(np.arange(24) + 0.5, share[4], f"C{column}", lw=1.2)
        hour.fill_between(np.arange(24) + 0.5, share[4], color=f"C{column}", alpha=0.2)
        hour.set(xticks=(0, 6, 12, 18, 24), title=f"{trips[atom] / trips.sum():.0%} of all trips")
        weekday.bar(range(7), share[3], color=f"C{column}")
        weekday.set(xticks=range(7), xticklabels="MTWTFSS")
        month.bar(range(12), share[2], color=f"C{column}")
        month.set(xticks=range(12), xticklabels="JFMAMJJASOND")
        month.tick_params(axis="x", labelsize=6)
        for each in (hour, weekday, month):
            each.set(yticks=[])
    for each, word in zip(axes[:, 0], ("hour", "weekday", "month")):
        each.set_ylabel(word)
    save(figure, "arrays-bike-trips.svg")


amino_acids()
bike_trips()
indian_pines()
