# %% [markdown]
# # Unmixing spectra: known parts, shares, gaps
#
# Sixty spectra of mixtures of four substances, of which two are known. We want the other two, and the shares of all four in
# every mixture.

# %%
import matplotlib.pyplot as plt
import numpy as np

import pursuit

rng = np.random.default_rng(3)
wavelengths = np.linspace(400, 700, 150)
peaks = [(440, 18, 0.8), (505, 25, 1.0), (560, 15, 0.7), (630, 30, 0.9)]
pure = np.stack([height * np.exp(-(((wavelengths - at) / width) ** 2)) for at, width, height in peaks])
pure[2] += 0.3 * np.exp(-(((wavelengths - 470) / 12) ** 2))
shares = rng.dirichlet(np.full(4, 0.5), 60)
spectra = np.maximum(shares @ pure + 0.005 * rng.standard_normal((60, 150)), 0)

figure, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
ax.plot(wavelengths, spectra[:8].T, linewidth=0.8)
ax.set_xlabel("wavelength [nm]")
ax.set_ylabel("absorbance")

# %% [markdown]
# ## Two spectra are known
#
# `fixed_right` keeps what is known; the other components, non-negative and smooth, are found beside it.

# %%
model = pursuit.MatrixPursuit(
    4, left="nonneg", right="nonneg+smooth:0.05", weights="nonneg", fixed_right=pure[:2], random_state=0
).fit(spectra)
print("left unexplained:", f"{1 - model.score(spectra):.2e}")
figure = model.plot_atoms(x=wavelengths, xlabel="wavelength [nm]", columns=2)

# %%
units = pure / np.linalg.norm(pure, axis=1, keepdims=True)
print("cosines with the truth:", np.abs(model.components_ @ units.T).max(axis=1).round(3))

# %% [markdown]
# ## Shares that sum to one
#
# Amounts are in units of the components, which a calibration would have to say. Where nothing but these substances is in
# a mixture, shares sum to one: `closure=True` fits them so. Known spectra keep their heights, and the others get the
# heights that belong to whole shares.

# %%
closed = pursuit.MatrixPursuit(
    4, left="nonneg", right="nonneg+smooth:0.05", closure=True, fixed_right=pure[:2], random_state=0
).fit(spectra)
found = closed.transform(spectra)
order = np.abs(closed.components_ @ units.T).argmax(axis=1)
print("heights found:", closed.components_.max(axis=1).round(2), "true:", pure[order].max(axis=1).round(2))
print("shares are off by", f"{np.abs(found - shares[:, order]).mean():.4f}", "on average")
figure, ax = plt.subplots(figsize=(4, 3.4), layout="constrained")
for k in range(4):
    ax.plot(shares[:, order[k]], found[:, k], ".", label=f"substance {order[k] + 1}")
ax.plot([0, 1], [0, 1], color="gray", linewidth=0.7)
ax.set_xlabel("share in the mixture")
ax.set_ylabel("share found")
legend = ax.legend(fontsize=8)

# %% [markdown]
# ## Gaps
#
# A third of the readings are missing (NaN). They are unknown, not zero: `MatrixCompletion` takes the same sets, and
# predicts what is missing.

# %%
gaps = np.where(rng.random(spectra.shape) < 0.33, np.nan, spectra)
filled = pursuit.MatrixCompletion(
    4, left="nonneg", right="nonneg", weights="nonneg", offsets=False, regularization="none", random_state=0
).fit(gaps)
predicted = filled.inverse_transform(filled.transform(gaps))
hidden = np.isnan(gaps)
print("error of what was missing:", f"{np.sqrt(np.mean((predicted - shares @ pure)[hidden] ** 2)):.4f}")

figure, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
ax.plot(wavelengths, gaps[0], ".", markersize=3, label="measured")
ax.plot(wavelengths, predicted[0], linewidth=1, label="predicted")
ax.plot(wavelengths, (shares @ pure)[0], "--", linewidth=1, label="truth")
ax.set_xlabel("wavelength [nm]")
legend = ax.legend(fontsize=8)
