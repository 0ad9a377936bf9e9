"""Model files, the same as those of the program: fit here, `pursuit inspect` in the shell, and back."""

from __future__ import annotations

import json
import re
from os import PathLike
from typing import Any, Union

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from . import _core
from ._completion import MatrixCompletion
from ._components import with_zeros
from ._consensus import ConsensusNMF
from ._factorization import path_by_rank
from ._kept_sets import set_of
from ._matrix_pursuit import MatrixPursuit, _in_whole_shares
from ._nmf import NMF
from ._observations import Ids, Observations, typed_ids
from ._parameters import parameters_of
from ._pca import PCA
from ._sparse_pca import NonnegativeSparsePCA, SparsePCA
from ._svd import TruncatedSVD
from ._tensor_pursuit import TensorPursuit
from .atoms import UntrustedSpec, opens_files

Model = Union[MatrixPursuit, NMF, ConsensusNMF, TruncatedSVD, PCA, SparsePCA, MatrixCompletion, TensorPursuit]
_CLASSES = {
    each.__name__: each
    for each in (MatrixPursuit, NMF, ConsensusNMF, TruncatedSVD, PCA, SparsePCA, NonnegativeSparsePCA)
}
_NAMES_OF_PATHS = {"checkpoint"}  # to which a further fit would write
_NAMES_OF_SETS = {"left", "right", "symmetric", "modes", "atoms"}


def load(path: str | PathLike[str], *, trusted: bool = False) -> Model:
    """A fitted model from a file, written by `save` or by the program.

    Factorizations come back as the estimator that wrote them; those of the program as `MatrixPursuit` or,
    where the data were centred, `SparsePCA`. Completed matrices come back as `MatrixCompletion`, arrays of
    three and more modes as `TensorPursuit`.

    Parameters
    ----------
    path : str or path
    trusted : bool, default=False
        Whether a further `fit` may open the files and run the libraries (``plugin:``) that the atom sets of
        the model name: say so only of files whose author may run code on your machine. Everything but `fit`
        does without them.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> X = np.random.default_rng(0).random((20, 10))
    >>> pursuit.NMF(3, random_state=0).fit(X).save("parts.npz")
    >>> pursuit.load("parts.npz").components_.shape
    (3, 10)
    """
    if _core.is_completion_file(path):
        return _load_completion(path, trusted)
    return _load_factorization(path, trusted)


def _load_factorization(path: str | PathLike[str], trusted: bool) -> Model:
    file = _core.load_model(path)
    metadata = file["metadata"]
    if len(file["factors"]) > 2 or metadata.get("estimator") == TensorPursuit.__name__:
        return _load_tensor(path, file, trusted)
    name = metadata.get("estimator", "SparsePCA" if metadata.get("centered") == "true" else "MatrixPursuit")
    if name not in _CLASSES:
        raise ValueError(f"{path}: written by an estimator that is not known here: {name}")
    shares = _numbers(path, metadata.get("explained_variance_ratio", "[]"))
    rank = max(file["right"].shape[1], len(shares))  # those that the data did not have are not in the file
    file.update({part: with_zeros(file[part], rank) for part in ("left", "right", "weights")})
    model = _CLASSES[name](max(rank, 1))
    _set_parameters(path, model, metadata, trusted)
    if isinstance(model, SparsePCA):
        _set_specs(model, metadata, trusted)
    if isinstance(model, MatrixPursuit):
        for side in ("left", "right"):
            spec = metadata.get(side, "sphere")
            given = _list_of_specs(metadata, side)
            set_of_side = spec if trusted or not opens_files(spec) else UntrustedSpec(spec)
            model.set_params(**{side: set_of_side if given is None else given})
        model.set_params(weights=metadata.get("weights", "free"))
        model.set_params(loss=file["loss"], offsets=len(file["column_offsets"]) > 0)
        if metadata.get("closure") == "true":  # of the program
            model.set_params(closure=True)
            file.update(_in_whole_shares(file["right"], file["weights"]))
        model._keep_own_terms(file)
        model.row_scale_ = file["row_scale"]
        model._nonnegative_coordinates = model._coordinates_are_nonnegative(file["left"])
    for side in model.get_params(deep=False).keys() & {"left", "right", "atoms"}:
        if f"set_{side}" in metadata:
            try:
                model.set_params(**{side: set_of(metadata[f"set_{side}"])})
            except ValueError as error:
                raise ValueError(f"{path}: the metadata set_{side}: {error}") from None
    if isinstance(model, NMF) and "alpha_W" in metadata:
        same = metadata["alpha_H"] == "same"
        model.set_params(
            alpha_W=float(metadata["alpha_W"]),
            alpha_H="same" if same else float(metadata["alpha_H"]),
            l1_ratio=float(metadata["l1_ratio"]),
        )
    model.n_features_in_, model.n_components_ = file["right"].shape
    if file["column_names"]:
        model.feature_names_in_ = np.asarray(file["column_names"], dtype=object)
    model.components_ = file["right"].T
    model.stop_reason_ = metadata.get("stop", "rank_reached")
    if isinstance(model, PCA):
        model._load(file)
    elif isinstance(model, SparsePCA):
        model.mean_ = file["column_means"] if len(file["column_means"]) else np.zeros(model.n_features_in_)
        model._scores = file["left"] * file["weights"]
        if len(shares) == 0:  # of the program, which says what all components explain together
            whole = _core.span_shares(
                model._scores @ model.components_, file["right"], center=False, scale=None
            )
            shares = whole * float(metadata.get("explained_span", "nan"))
        model.correlation = len(file["column_deviations"]) > 0
        if model.correlation:
            model.scale_ = file["column_deviations"]
    else:
        model.left_, model.weights_ = file["left"], file["weights"]
        model.path_, model.trace_, model._steps = path_by_rank(file["trace"]), file["trace"], file["trace"]
        if len(file["trace"]["rank"]):
            model.relative_error_ = float(file["trace"]["relative_error"][-1])
            model.reconstruction_err_ = float(np.sqrt(2 * file["trace"]["objective"][-1]))
    if isinstance(model, ConsensusNMF):
        try:
            model._load(metadata, file["column_deviations"])
        except (AttributeError, ValueError, TypeError, RecursionError) as error:
            raise ValueError(f"{path}: the metadata consensus do not fit the model: {error}") from None
    if isinstance(model, TruncatedSVD):
        model.singular_values_ = model.weights_
    if len(shares):
        model.explained_variance_ratio_ = shares
    return model


def _load_tensor(path: str | PathLike[str], file: dict[str, Any], trusted: bool) -> TensorPursuit:
    metadata, modes = file["metadata"], len(file["factors"])
    model = TensorPursuit(max(len(file["weights"]), 1))
    _set_parameters(path, model, metadata, trusted)
    try:
        specs = json.loads(metadata["sets_of_modes"]) if "sets_of_modes" in metadata else None
    except (ValueError, RecursionError):
        specs = None
    if specs is None:  # of the program
        specs = metadata.get("modes", ",".join(["sphere"] * modes)).split(",")
    if not isinstance(specs, list) or len(specs) != modes or not all(isinstance(s, str) for s in specs):
        raise ValueError(f"{path}: the metadata name {len(specs)} sets for {modes} modes")
    given = parameters_of(metadata.get("parameters", "{}")).get("modes")
    one_for_all = isinstance(given, str) and specs == [given] * modes and not opens_files(given)
    model.set_params(
        modes=(
            given
            if one_for_all
            else [s if trusted or not opens_files(s) else UntrustedSpec(s) for s in specs]
        ),
        symmetric_modes=_shared_modes(file["panel_of_mode"]),
        weights=metadata.get("weights", "free"),
        loss=file["loss"],
        offsets=len(file["row_offsets"]) > 0,
    )
    model._take_file(file)
    return model


def _shared_modes(panel_of_mode: list[int]) -> list[int] | None:
    shared = [mode for mode, panel in enumerate(panel_of_mode) if panel_of_mode.count(panel) > 1]
    return shared or None


def _set_parameters(path: str | PathLike[str], model: Model, metadata: dict[str, str], trusted: bool) -> None:
    """What the model was made with. Atom sets are not among it: files name them, and some of them run code."""
    if "parameters" in metadata:
        try:
            parameters = parameters_of(metadata["parameters"])
        except ValueError as error:
            raise ValueError(f"{path}: the metadata parameters: {error}") from None
        known = model.get_params(deep=False).keys() - _NAMES_OF_SETS - (set() if trusted else _NAMES_OF_PATHS)
        model.set_params(**{name: value for name, value in parameters.items() if name in known})
    elif isinstance(model, SparsePCA):  # of the program
        bound = re.fullmatch(r"(nonneg\+)?sparse:(\d+|0?\.\d+)", metadata.get("right", ""))
        model.k = None if bound is None else float(bound[2]) if "." in bound[2] else int(bound[2])


def _set_specs(model: MatrixCompletion | SparsePCA, metadata: dict[str, str], trusted: bool) -> None:
    """Sets that were given by their specs."""
    parameters = parameters_of(metadata.get("parameters", "{}"))
    for side in _NAMES_OF_SETS & model.get_params(deep=False).keys():
        spec, given = parameters.get(side), _list_of_specs(metadata, side)
        if isinstance(spec, str):
            model.set_params(**{side: spec if trusted or not opens_files(spec) else UntrustedSpec(spec)})
        elif given is not None:
            model.set_params(**{side: given})


def _list_of_specs(metadata: dict[str, str], side: str) -> list[str] | None:
    """Of every atom its own, where none opens a file."""
    given = parameters_of(metadata.get("parameters", "{}")).get(side)
    if not isinstance(given, list) or not all(isinstance(e, str) and not opens_files(e) for e in given):
        return None
    return given


def _numbers(path: str | PathLike[str], text: str) -> NDArray[np.float64]:
    try:
        numbers = np.asarray(json.loads(text), dtype=np.float64)
    except (ValueError, TypeError, RecursionError):
        numbers = np.zeros(())
    if numbers.ndim != 1:
        raise ValueError(f"{path}: the metadata explained_variance_ratio is no list of numbers")
    return numbers


def _load_completion(path: str | PathLike[str], trusted: bool) -> MatrixCompletion:
    file = _core.load_completion(path)
    metadata = file["metadata"]
    rows, cols = (
        Ids(typed_ids(file[side], kind) if kind else _positions_or_names(file[side]))
        for side, kind in (("rows", metadata.get("row_id_type")), ("cols", metadata.get("column_id_type")))
    )

    def entries(part: str) -> Any:
        return scipy.sparse.csr_matrix(
            (file[part]["value"], file[part]["index"], file[part]["start"]), shape=(len(rows), len(cols))
        )

    seen = entries("seen").tocoo()
    model = MatrixCompletion(max(file["model"].rank, 1), loss=file["model"].loss)
    _set_parameters(path, model, metadata, trusted)
    _set_specs(model, metadata, trusted)
    if file["model"].implicit:
        model.set_params(implicit=True, confidence=file["model"].confidence)
    if "columns" in metadata:
        model.set_params(columns=tuple(json.loads(metadata["columns"])))
    if isinstance(model.clip, list):  # of earlier versions
        model.set_params(clip=tuple(model.clip))
    model._set_model(file["model"], Observations(rows, cols, seen.row, seen.col, seen.data))
    model._row_features, model._column_features = file["row_features"], file["column_features"]
    if file["held_out"] is not None:
        model._held_out = entries("held_out")
        model._known = _union(model._seen, model._held_out)
    if not file["keeps_entries"]:
        model._seen = model._known = None
    model.stop_reason_ = file["metadata"].get("stop", "unknown")
    model.n_features_in_ = len(cols)
    return model


def _union(seen: Any, others: Any) -> Any:
    """Where either has an entry; values are of no use here."""
    marks = [
        scipy.sparse.csr_matrix((np.ones_like(m.data), m.indices, m.indptr), m.shape) for m in (seen, others)
    ]
    both = marks[0] + marks[1]
    both.sort_indices()
    return both


def _positions_or_names(names: list[str]) -> list[Any]:
    """Matrices without names have their rows and columns called 0, 1, 2, ..."""
    return list(range(len(names))) if all(name == str(i) for i, name in enumerate(names)) else names
