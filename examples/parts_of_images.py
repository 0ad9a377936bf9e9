# # Parts of images by sparse NMF
#
# Non-negative factors add up and never cancel, so that components become parts. Bounding the pixels of a part
# makes them local. The images are made up: 19 x 19 "faces" of a few blobs (eyes, nose, mouth, ...) of varying
# strength, with noise.

# %% Faces of seven parts
import sys

import numpy as np

import pursuit

rng = np.random.default_rng(0)
centers = [(5, 5), (5, 13), (9, 9), (14, 9), (2, 9), (10, 2), (10, 16)]
y, x = np.mgrid[:19, :19]
parts = np.array([np.exp(-((x - cx) ** 2 / 4.0 + (y - cy) ** 2 / 2.0)).ravel() for cy, cx in centers])
parts[parts < 0.1] = 0
faces = rng.gamma(1.0, 1.0, (500, 7)) @ parts + 0.02 * rng.random((500, 361))

# %% NMF, and NMF with parts of at most 40 pixels
plain = pursuit.NMF(7, random_state=0).fit(faces)
sparse = pursuit.NMF(7, k=40, random_state=0).fit(faces)
for name, model in (("plain", plain), ("sparse", sparse)):
    pixels = np.count_nonzero(model.components_, axis=1)
    print(f"{name:>6}: relative error {model.relative_error_:.4f}, pixels per part {pixels.tolist()}")


# %% How well the planted parts are found: the largest cosine for each
def recovery(model):
    unit = parts / np.linalg.norm(parts, axis=1, keepdims=True)
    return np.max(unit @ model.components_.T, axis=1)


for name, model in (("plain", plain), ("sparse", sparse)):
    print(f"{name:>6}: planted parts found with cosines from {recovery(model).min():.3f}")
assert recovery(sparse).min() > 0.98

# %% New faces are described by the parts, by non-negative least squares
new = rng.gamma(1.0, 1.0, (5, 7)) @ parts
weights = sparse.transform(new)
error = np.linalg.norm(new - sparse.inverse_transform(weights)) / np.linalg.norm(new)
print(f"five new faces, from 7 numbers each: relative error {error:.3f}")
assert error < 0.1

# %% Pictures of the parts, where a file to write them to is given
if len(sys.argv) > 1:
    sparse.plot_atoms(shape=(19, 19), columns=7).savefig(sys.argv[1], dpi=100)
    print("pictures:", sys.argv[1])
