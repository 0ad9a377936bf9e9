"""How well components predict entries of new rows that they were not shown."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ._components import ComponentModel
from ._validation import require_count, validate_matrix


def held_out_score(estimator: Any, X: Any, y: Any = None, *, folds: int = 5) -> float:
    """Share of the entries of new rows that is predicted from their other entries; at most 1.

    The features are cut into folds. For every fold the coordinates of the rows come from the other features, and
    predict those of the fold. More components help as long as they say something about new rows: unlike `score`,
    which fits coordinates to all that it judges, this does not always rise with their number. It is a ``scoring``
    for `GridSearchCV` (bi-cross-validation, Owen and Perry 2009).

    Parameters
    ----------
    estimator : fitted NMF, ConsensusNMF, MatrixPursuit, SparsePCA, PCA or TruncatedSVD
        Of a loss other than squares and poisson (Kullback-Leibler) the squares of means count; without offsets of
        rows, which entries that are not shown do not have.
    X : array or sparse matrix of shape (n_samples, n_features)
        Rows that the estimator was not fitted to.
    y : ignored
    folds : int, default=5

    Returns
    -------
    float
        1 - the sum of squares (or the deviance) of what is left over that of X, about the mean where the estimator
        has one.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> from sklearn.model_selection import GridSearchCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.gamma(1, size=(150, 3)) @ rng.gamma(1, size=(3, 40)) + 0.5 * rng.random((150, 40))
    >>> search = GridSearchCV(pursuit.NMF(random_state=0), {"n_components": [1, 2, 3, 4, 5, 6]},
    ...                       scoring=pursuit.held_out_score, cv=3).fit(X)
    >>> search.best_params_["n_components"] in (3, 4)  # the noise has a mean: a component of its own
    True
    """
    if not isinstance(estimator, ComponentModel):
        raise TypeError(
            f"{type(estimator).__name__}: an estimator with components_ of this package is needed"
        )
    check_is_fitted(estimator, "components_")
    if getattr(estimator, "offsets", False):
        raise ValueError("offsets=True: entries that are not shown have no offset of their row")
    X = validate_matrix(estimator, X, reset=False)
    features = X.shape[1]
    folds = require_count("folds", folds)
    if folds < 2:
        raise ValueError("folds=1: at least 2 are needed, some to be shown and some to be predicted")
    if features < 2:
        raise ValueError("n_features=1: at least 2 are needed, some to be shown and some to be predicted")
    poisson = getattr(estimator, "loss", None) == "poisson" or getattr(estimator, "_loss", str)() == "poisson"
    left = total = 0.0
    order = np.random.RandomState(0).permutation(features)  # the same for every estimator that is compared
    by_columns = X.tocsc() if scipy.sparse.issparse(X) else X
    for hidden in np.array_split(order, min(folds, features)):
        shown = np.setdiff1d(np.arange(features), hidden)
        seen = by_columns[:, shown]
        rows = _restricted(estimator, shown)._coordinates_of(
            seen.tocsr() if scipy.sparse.issparse(seen) else seen
        )
        predicted = estimator.inverse_transform(rows)[:, hidden]
        truth = by_columns[:, hidden]
        truth = truth.toarray() if scipy.sparse.issparse(truth) else truth
        mean = estimator._center()
        usual = np.zeros(len(hidden)) if mean is None else mean[hidden]
        if poisson:
            usual = np.full(len(hidden), X.mean())
        left += _cost(truth, predicted, poisson, X)
        total += _cost(truth, np.broadcast_to(usual, truth.shape), poisson, X)
    return float(1 - left / total) if total > 0 else 1.0


def _cost(truth: NDArray[Any], predicted: NDArray[Any], poisson: bool, X: Any) -> float:
    y, x = truth.astype(np.float64), np.asarray(predicted, dtype=np.float64)
    if not poisson:
        return float(np.sum((y - x) ** 2))
    x = np.maximum(
        x, 1e-3 * max(float(X.mean()), np.finfo(float).tiny)
    )  # one zero beside one count is not all
    logs = np.where(y > 0, y * np.log(np.where(y > 0, y, 1) / x), 0)
    return float(np.sum(logs - y + x))


def _restricted(estimator: Any, features: NDArray[Any]) -> Any:
    """The same model as one of some features alone."""
    part = copy.copy(estimator)
    part.n_features_in_ = len(features)
    if hasattr(part, "feature_names_in_"):
        del part.feature_names_in_
    for name in ("mean_", "scale_", "column_offsets_"):
        values = getattr(part, name, None)
        if values is not None and len(values) == estimator.n_features_in_:
            setattr(part, name, values[features])
    part.components_ = estimator.components_[:, features]
    if hasattr(part, "selected_features_"):
        place = np.full(estimator.n_features_in_, -1)
        place[features] = np.arange(len(features))
        chosen = place[estimator.selected_features_]
        part.selected_features_ = chosen[chosen >= 0]
    return part
