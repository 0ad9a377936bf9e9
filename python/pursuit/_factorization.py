"""The engine's factorization behind MatrixPursuit, NMF and TruncatedSVD."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._components import ComponentModel, with_zeros
from ._plots import Columns
from ._progress import Watcher
from ._validation import float_type, squared_norm
from .atoms import AtomSet

_OWN_TERMS = ("row_offsets", "column_offsets", "grades", "thresholds", "size")
Initial = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


class FactorizationModel(ComponentModel):
    """X ~ left_ @ diag(weights_) @ components_, with everything that a run tells about itself."""

    def _factor(
        self,
        X: Any,
        *,
        watcher: Watcher,
        left: AtomSet,
        right: AtomSet,
        pursuit: dict[str, Any],
        initial: Initial | None = None,
        **options: Any,
    ) -> None:
        """Runs the engine and sets the attributes; an interrupted run sets what it has and then raises.
        `pursuit` is what `pursuit_options` gives."""
        continuing = initial is not None and self.warm_start
        earlier = getattr(self, "path_", None) if continuing else None
        with watcher:
            result = _core.factor(
                X,
                left=left._core,
                right=right._core,
                pursuit=pursuit,
                initial=initial,
                callback=watcher.function(),
                **options,
            )
        wanted_short = result["stop"] == "target_error" and pursuit["target_error"] > 0
        self._keep(X, result, watcher, pursuit["rank"], wanted_short, earlier)

    def _keep(
        self,
        X: Any,
        result: dict[str, Any],
        watcher: Watcher,
        asked: int,
        wanted_short: bool = False,
        earlier: Columns | None = None,
    ) -> None:
        """Sets the attributes from what the engine gave back, and raises what ended it."""
        count = self._set_stop(
            "early_stopping" if watcher.stopped_early else result["stop"],
            found=len(result["weights"]),
            asked=asked,
            wanted_short=wanted_short,
        )
        self.left_ = with_zeros(result["left"], count).astype(float_type(X), copy=False)
        self.components_ = with_zeros(result["right"], count).T.astype(float_type(X), copy=False)
        self.weights_ = with_zeros(result["weights"], count)
        self.relative_error_ = result["relative_error"]
        self._steps = result["trace"]
        if "null_objective" in result:  # else factors pay for their size
            null = result["null_objective"]
            self.objective_ = result["objective"]
            self.deviance_explained_ = float(1 - self.objective_ / null) if null > 0 else 1.0
            self._keep_own_terms(result)
        total = _squared_norm_before(self._steps, X) if self._is_plain() else 2 * result["null_objective"]
        self.reconstruction_err_ = float(result["relative_error"] * np.sqrt(total))
        self.path_ = continued(earlier, path_by_rank(self._steps))
        self.trace_ = result["history"] if len(result["history"]["seconds"]) else self._steps
        self.n_iter_ = max(1, int(self._steps["sweeps"].sum()))  # the exact SVD counts as one
        self._explain(X, total)
        if result["failure"] is not None:
            raise result["failure"]

    def _earlier_atoms(self, shape: tuple[int, int]) -> Initial | None:
        """What a warm start begins with."""
        if not self.warm_start or not hasattr(self, "left_"):
            return None
        found = self.components_.any(axis=1)  # the others only keep the shape
        if not found.any():
            return None
        fitted = self.left_.shape[0], self.components_.shape[1]
        if fitted != shape:
            raise ValueError(
                f"warm_start=True: the model is one of {fitted[0]} x {fitted[1]} data, "
                f"not {shape[0]} x {shape[1]}"
            )
        if self.n_components is not None and self.n_components < np.count_nonzero(found):
            raise ValueError(
                f"n_components={self.n_components}: a warm start adds to the {np.count_nonzero(found)} atoms "
                "there are"
            )
        return self.left_[:, found], self.components_[found].T, self.weights_[found]

    def _is_plain(self) -> bool:
        """Whether the loss is that of squares and nothing is fitted beside the atoms."""
        return True

    def _keep_own_terms(self, terms: dict[str, Any]) -> None:
        for name in _OWN_TERMS:
            if name in terms:
                setattr(self, f"{name}_", terms[name])

    def _own_terms(self) -> dict[str, Any]:
        return {name: getattr(self, f"{name}_") for name in _OWN_TERMS if hasattr(self, f"{name}_")}

    def _saved(self) -> dict[str, Any]:
        return {
            "loss": getattr(self, "loss", "squares"),
            "own_terms": self._own_terms(),
            "row_scale": getattr(self, "row_scale_", np.zeros(0)),
            "left": self.left_,
            "weights": self.weights_,
            "trace": self._steps,
            "metadata": {
                **self._atom_specs(),
                "stop": self.stop_reason_,
                "relative_error": repr(self.relative_error_),
            },
        }

    def _atom_specs(self) -> dict[str, str]:
        """What the model is made of, as the program says it."""
        raise NotImplementedError

    def _explain(self, X: Any, total: float) -> None:
        """Sets what the components explain of X, whose sum of squares is ``total``."""
        self.explained_variance_ratio_ = self._span_shares(X)


def _squared_norm_before(steps: Columns, X: Any) -> float:
    """Of X, from what the first step lowered it by: no need to look at the data again."""
    if len(steps["rank"]) == 0:
        return squared_norm(X)
    return float(2 * (steps["objective"][0] + steps["gain"][0]))


def continued(earlier: Columns | None, path: Columns) -> Columns:
    """The path of a warm start, behind the ranks that came before it."""
    if earlier is None or len(path["rank"]) == 0:
        return path
    before = earlier["rank"] < path["rank"][0]
    return {name: np.concatenate([earlier[name][before], path[name]]) for name in path}


def path_by_rank(trace: dict[str, Any]) -> Columns:
    """The last step at every rank on the way to the model: dropped atoms may have taken a run back."""
    steps = np.asarray(_core.path_steps(trace["rank"]), dtype=int)
    return {
        "rank": trace["rank"][steps],
        "relative_error": trace["relative_error"][steps],
        "explained_variance": 1 - trace["relative_error"][steps] ** 2,
        "support": trace["right_support"][steps],
        "left_support": trace["left_support"][steps],
        "last_sweep": trace["last_sweep"][steps],
        "seconds": trace["seconds"][steps],
    }
