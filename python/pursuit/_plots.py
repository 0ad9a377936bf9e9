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


def curve(ax: Any, x: Any, y: Any, xlabel: str, ylabel: str) -> Any:
    ax = ax if ax is not None else pyplot().subplots()[1]
    ax.plot(x, y, marker="o", markersize=3)
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
        return curve(
            ax, self.path_["rank"], self.path_["explained_variance"], "components", "explained variance"
        )

    def plot_atoms(self, shape: tuple[int, int] | None = None, *, columns: int = 5) -> Any:
        """The components: as pictures of the given shape, or as curves.

        Parameters
        ----------
        shape : (height, width), optional
            Of the picture that the features make up, row by row.
        columns : int, default=5
            Components side by side.

        Returns
        -------
        matplotlib figure
        """
        check_is_fitted(self)
        count, size = self.components_.shape
        if shape is not None and np.prod(shape) != size:
            raise ValueError(f"shape={shape}: has {np.prod(shape)} places for {size} features")
        columns = max(1, min(columns, count))
        rows = max(1, -(-count // columns))
        figure, axes = pyplot().subplots(rows, columns, squeeze=False, figsize=(1.8 * columns, 1.8 * rows))
        largest = np.abs(self.components_).max(initial=1e-300)
        signed = self.components_.min(initial=0) < 0
        for i, ax in enumerate(axes.flat):
            if shape is not None or i >= count:
                ax.set_axis_off()
            if i >= count:
                continue
            if shape is None:
                ax.plot(self.components_[i], linewidth=0.8)
            else:
                ax.imshow(
                    self.components_[i].reshape(shape),
                    cmap="RdBu_r" if signed else "gray_r",
                    vmin=-largest if signed else 0,
                    vmax=largest,
                )
            ax.set_title(str(i), fontsize=8)
        return figure


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
        """Error on entries held back, by the number of atoms.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib axes
        """
        check_is_fitted(self)
        return curve(ax, self.path_["rank"], self.path_["validation"], "atoms", "validation RMSE")
