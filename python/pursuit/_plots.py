"""Pictures of fitted models, with matplotlib where it is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

Columns = dict[str, NDArray[Any]]


def pyplot() -> Any:
    try:
        import matplotlib.pyplot
    except ImportError as error:
        raise ImportError("plots are made by matplotlib: pip install pursuit[plot]") from error
    return matplotlib.pyplot


def curve(ax: Any, x: Any, y: Any, xlabel: str, ylabel: str, *, whole: bool = False) -> Any:
    """A line with points; along whole numbers ticks are whole, and one point alone has room around it."""
    ax = ax if ax is not None else pyplot().subplots()[1]
    ax.plot(x, y, marker="o", markersize=3 if len(x) > 1 else 6)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    if whole:
        from matplotlib.ticker import MaxNLocator

        ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        if len(x) == 1:
            ax.set_xlim(x[0] - 1, x[0] + 1)
    else:
        ax.locator_params(axis="x", nbins=5)  # seconds may have many digits
        ax.ticklabel_format(useOffset=False)  # and errors differ in the last ones
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    return ax


class ComponentPlots:
    """Plots of models with ``trace_``, ``path_`` and ``components_``."""

    trace_: Columns
    path_: Columns
    components_: NDArray[Any]

    def plot_convergence(self, ax: Any = None) -> Any:
        """Relative error over time, one point per atom and sweep.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib axes
        """
        check_is_fitted(self)
        return curve(ax, self.trace_["seconds"], self.trace_["relative_error"], "seconds", "relative error")

    def plot_path(self, ax: Any = None) -> Any:
        """Explained share of the sum of squares, by the number of components.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib axes
        """
        check_is_fitted(self)
        explained = self.path_["explained_variance"]
        ax = curve(ax, self.path_["rank"], explained, "components", "explained variance", whole=True)
        if len(explained) == 1:
            ax.set_ylim(min(0.0, explained[0]), 1.02)
        return ax

    def plot_atoms(
        self,
        shape: tuple[int, int] | None = None,
        *,
        columns: int = 5,
        x: Any = None,
        xlabel: str = "",
        top: int | None = None,
    ) -> Any:
        """The components: as pictures of the given shape, as curves, or by their largest entries.

        Parameters
        ----------
        shape : (height, width), optional
            Of the picture that the features make up, row by row.
        columns : int, default=5
            Components side by side.
        x : array of shape (n_features,), optional
            Where the features lie: wavelengths, times. By default 0, 1, 2, ...
        xlabel : str, optional
            What that is.
        top : int, optional
            Draw the so many largest entries as bars, with the names of their features. Where there are names and
            neither ``shape`` nor ``x``, 10 of them; 0 draws curves all the same.

        Returns
        -------
        matplotlib figure
        """
        check_is_fitted(self)
        count, size = self.components_.shape
        if shape is not None and np.prod(shape) != size:
            raise ValueError(f"shape={shape}: has {np.prod(shape)} places for {size} features")
        if x is not None and np.shape(x) != (size,):
            raise ValueError(f"x of shape {np.shape(x)}: a number for each of {size} features is needed")
        names = getattr(self, "feature_names_in_", None)
        if top is None:
            top = 10 if names is not None and shape is None and x is None else 0
        if top > 0:
            texts = [str(name) for name in (range(size) if names is None else names)]
            return _bars(self.components_, texts, min(top, size), min(columns, 3))
        return _panels(self.components_, shape, columns, x, xlabel)


def _grid(count: int, columns: int, width: float, height: float, **options: Any) -> tuple[Any, list[Any]]:
    """A figure with a place for each of so many, and these."""
    columns = max(1, min(columns, count))
    rows = max(1, -(-count // columns))
    figure, axes = pyplot().subplots(
        rows,
        columns,
        squeeze=False,
        figsize=(width * columns, height * rows),
        layout="constrained",
        **options,
    )
    for ax in axes.flat[count:]:
        ax.set_axis_off()
    return figure, list(axes.flat[:count])


def _panels(components: NDArray[Any], shape: Any, columns: int, x: Any, xlabel: str) -> Any:
    size = {"width": 1.8, "height": 1.9} if shape is not None else {"width": 2.6, "height": 1.9}
    if shape is None:
        size |= {"sharex": True, "sharey": True}
        columns = min(columns, 3)
    figure, axes = _grid(len(components), columns, **size)
    largest = np.abs(components).max(initial=1e-300)
    signed = components.min(initial=0) < 0
    for i, ax in enumerate(axes):
        if shape is not None:
            ax.set_axis_off()
            ax.imshow(
                components[i].reshape(shape),
                cmap="RdBu_r" if signed else "gray_r",
                vmin=-largest if signed else 0,
                vmax=largest,
            )
        else:
            ax.plot(np.arange(components.shape[1]) if x is None else x, components[i], linewidth=1)
            ax.axhline(0, color="gray", linewidth=0.5)
            ax.tick_params(labelsize=8)
            ax.locator_params(axis="x", nbins=5, integer=x is None)
            ax.locator_params(axis="y", nbins=4)
        ax.set_title(f"component {i + 1}", fontsize=9)
    if shape is None and xlabel:
        figure.supxlabel(xlabel, fontsize=9)
    return figure


def _bars(components: NDArray[Any], names: list[str], top: int, columns: int) -> Any:
    figure, axes = _grid(len(components), columns, 2.8, 0.5 + 0.19 * top)
    for i, ax in enumerate(axes):
        best = np.argsort(-np.abs(components[i]), kind="stable")[:top]
        best = best[components[i][best] != 0]
        values = components[i][best]
        ax.barh(np.arange(len(best)), values, color=np.where(values < 0, "C3", "C0"), height=0.7)
        ax.set_yticks(np.arange(len(best)), [_short(names[j]) for j in best], fontsize=8)
        ax.set_ylim(top - 0.4, -0.6)  # as many places for every component
        ax.axvline(0, color="gray", linewidth=0.5)
        ax.tick_params(axis="x", labelsize=8)
        ax.locator_params(axis="x", nbins=4)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        ax.set_title(f"component {i + 1}", fontsize=9)
    return figure


def _short(name: str, most: int = 24) -> str:
    """Of long names both ends: those of one kind often begin alike."""
    tail = (most - 1) // 2
    return name if len(name) <= most else name[: most - 1 - tail] + "\u2026" + name[-tail:]


class CompletionPlots:
    """Plots of completed matrices."""

    trace_: Columns
    path_: Columns

    def plot_convergence(self, ax: Any = None) -> Any:
        """Estimated noise over time, one point per sweep.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib axes
        """
        check_is_fitted(self)
        return curve(ax, self.trace_["seconds"], self.trace_["noise"], "seconds", "noise")

    def plot_path(self, ax: Any = None) -> Any:
        """Error on entries held back, by the number of atoms; the noise, where none were held back.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib axes
        """
        check_is_fitted(self)
        name, label = "validation", "validation RMSE"
        if np.isnan(self.path_[name]).all():
            name, label = "noise", "noise"
        judged = ~np.isnan(self.path_[name])  # a last fit to all entries is judged by none
        ranks = np.unique(self.path_["rank"][judged])  # one that was tried again counts by its better try
        errors = [np.min(self.path_[name][judged & (self.path_["rank"] == rank)]) for rank in ranks]
        return curve(ax, ranks, errors, "atoms", label, whole=True)
