"""Models as pages for a browser, and in notebooks."""

from __future__ import annotations

import html
import tempfile
from os import PathLike
from pathlib import Path
from typing import Any, Sequence

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from . import _core

_FRAME = (
    '<iframe sandbox="allow-scripts" style="width:100%;height:{height}px;border:1px solid #8886;'
    'border-radius:6px" title="report of pursuit" srcdoc="{page}"></iframe>'
)


class Report:
    """One page that needs no network: shown in notebooks, written by `save`, `str()` is its HTML."""

    def __init__(self, page: str) -> None:
        self._page = page

    def __str__(self) -> str:
        return self._page

    def __repr__(self) -> str:
        return f"<pursuit report, {len(self._page)} characters: .save('report.html')>"

    def _repr_html_(self) -> str:
        return _frame(self._page, 640)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page.

        Parameters
        ----------
        path : str or path
            An .html file; it appears whole or not at all.
        """
        _core.write_file(path, self._page)


def _frame(page: str, height: int) -> str:
    """A document of its own: neither its style nor its script meets those of the notebook."""
    return _FRAME.format(height=height, page=html.escape(page))


class Reported:
    """Fitted models have a report, and show a short one in notebooks below what scikit-learn shows."""

    def report(
        self,
        path: str | PathLike[str] | None = None,
        *,
        title: str | None = None,
        shape: tuple[int, int] | None = None,
        lines: bool = False,
        labels: Sequence[Any] | None = None,
        top: int = 12,
    ) -> Report:
        """The model as one page for a browser: what was fitted and how it ended, the error by rank, atoms with
        their names, how they overlap, scores by label, and of completed matrices how good predictions are.

        Parameters
        ----------
        path : str or path, optional
            Where to write the page (.html); it appears whole or not at all.
        title : str, optional
            Of the page; by default the name of the class.
        shape : (height, width), optional
            Atoms with so many entries are pictures, row by row.
        lines : bool, default=False
            Whether the atoms of features are curves: spectra, series.
        labels : sequence, one for every row, optional
            Scores of rows are compared by them; None stands for a row without one.
        top : int, default=12
            Entries of an atom that are named.

        Returns
        -------
        Report
            Shown as it is in notebooks; ``str()`` is its HTML.
        """
        height, width = (0, 0) if shape is None else shape
        report = Report(
            self._report_page(
                title=type(self).__name__ if title is None else str(title),
                image_height=int(height),
                image_width=int(width),
                lines=bool(lines),
                labels=[] if labels is None else ["" if each is None else str(each) for each in labels],
                top=int(top),
            )
        )
        if path is not None:
            report.save(path)
        return report

    def _report_page(self, **options: Any) -> str:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "model.npz"
            self._save_for_report(file, bool(options.get("brief")))
            return _core.report_page(file, **options)

    def _save_for_report(self, path: PathLike[str], brief: bool) -> None:
        self.save(path)  # type: ignore[attr-defined]

    def _short_report(self) -> str:
        """In a frame; nothing for a model that is not fitted."""
        try:
            check_is_fitted(self)
        except NotFittedError:
            return ""
        options = dict(image_height=0, image_width=0, lines=False, labels=[], top=8, brief=True)
        try:
            return _frame(self._report_page(title=type(self).__name__, **options), 420)
        except (ValueError, OSError):  # of what is shown beside other things nothing may fail
            return ""

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._short_report()
        return bundle

    @property
    def _repr_html_(self) -> Any:
        inner = super()._repr_html_  # type: ignore[misc]  # raises AttributeError where it is not wanted
        return lambda: inner() + self._short_report()
