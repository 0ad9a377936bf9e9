"""Parts that many random starts agree on."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import Any, Iterable

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._nonnegative import NonnegativeModel
from ._plots import curve
from ._progress import Callback, Watcher
from ._validation import (
    canonical,
    float_type,
    require_count,
    seed_for,
    squared_norm,
    threads_for,
    validate_matrix,
)


class ConsensusNMF(NonnegativeModel):
    """Non-negative parts that many random starts agree on: consensus NMF (Kotliar et al. 2019).

    X is factored from ``n_seeds`` random starts. All spectra (rows of H, of unit length) are clustered, those
    without near neighbours left out before, and the medians of the clusters are the parts; their usages are
    fitted once more. The programs of cells, in cNMF's words, with its defaults for both steps.

    Parameters
    ----------
    n_components : int, default=10
        Parts.
    n_seeds : int, default=50
        Factorizations from random starts.
    n_top_features : int or None, default=None
        Use so many features alone, those that vary most beside others of similar mean, in rows scaled to equal
        sums; cNMF takes 2000. `components_` are zero elsewhere.
    unit_variance : bool, default=False
        Whether features are divided by their standard deviation, as cNMF does. Components are those of the
        scaled data, and ``scale_`` leads back.
    beta_loss : {"frobenius", "kullback-leibler", "itakura-saito"}, default="frobenius"
    density_threshold : float, default=0.5
        Spectra whose mean distance to their nearest neighbours is larger are left out; 2 keeps all.
    local_neighborhood_size : float, default=0.3
        How many count as neighbours, as a share of the factorizations.
    tol, max_iter : float, default=1e-4, and int, default=1000
        Of every factorization, as in `NMF`.
    callback : callable, optional
        Called between factorizations; False ends the fit, with those that are done.
    verbose : int, default=0
        1 shows a bar (needs tqdm).
    n_jobs : int, optional
        Threads; None means 1, -1 all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The parts, of unit length; the most used one first.
    usages_ : array of shape (n_samples, n_components)
        Shares of parts in rows, which sum to one. `transform` gives amounts.
    spectra_ : array of shape (n_components, n_features)
        The parts with entries that sum to one.
    profiles_ : array of shape (n_components, n_features)
        What parts are made of over all features, per million: rows scaled to a sum of a million as sums of parts.
    marker_scores_ : array of shape (n_components, n_features)
        Regressions of standardized features on usages: the largest mark a part.
    silhouette_ : float
        How far apart the clusters of spectra are; 1 is far.
    stability_ : array of shape (n_components,)
        Mean cosine of the spectra of a cluster with their part.
    members_ : array of shape (n_components,)
        Spectra of every cluster.
    local_density_, labels_ : arrays of shape (n_seeds_ * n_components,)
        Mean distance of every spectrum to its neighbours, and its part; -1 where it was left out.
    errors_ : array of shape (n_seeds_,)
        Relative error of every factorization.
    selected_features_ : array of int
    scale_ : array of shape (n_features,)
        With ``unit_variance``: standard deviations.
    n_seeds_ : int
        Factorizations that were done.
    relative_error_, reconstruction_err_, stop_reason_, n_components_, n_features_in_, feature_names_in_
        As in `NMF`.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> rng = np.random.default_rng(0)
    >>> counts = rng.poisson(rng.gamma(0.3, 3, (200, 4)) @ rng.gamma(0.3, 3, (4, 60)))
    >>> model = pursuit.ConsensusNMF(4, n_seeds=20, random_state=0).fit(counts)
    >>> model.usages_.shape, bool(model.stability_.min() > 0.99)
    ((200, 4), True)
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        n_seeds: int = 50,
        n_top_features: int | None = None,
        unit_variance: bool = False,
        beta_loss: str | float = "frobenius",
        density_threshold: float = 0.5,
        local_neighborhood_size: float = 0.3,
        tol: float = 1e-4,
        max_iter: int = 1000,
        callback: Callback | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_seeds = n_seeds
        self.n_top_features = n_top_features
        self.unit_variance = unit_variance
        self.beta_loss = beta_loss
        self.density_threshold = density_threshold
        self.local_neighborhood_size = local_neighborhood_size
        self.tol = tol
        self.max_iter = max_iter
        self.callback = callback
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "ConsensusNMF":
        """Find the parts.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), no entry negative
            Counts as they are, where ``n_top_features`` or ``unit_variance`` are asked for.
        y : ignored
        """
        rank = require_count("n_components", self.n_components)
        X = self._prepare(X)
        found = self._consensus(self._used(X), [rank])
        self._take(X, found["ranks"][0], found["stop"])
        if found["failure"] is not None:
            raise found["failure"]
        return self

    def _prepare(self, X: Any) -> Any:
        """Checks X, and sets which features are used and what they are divided by."""
        self._check_loss()
        X = validate_matrix(self, X, reset=True)
        self._check_entries(X)
        self.selected_features_ = np.arange(X.shape[1])
        if self.n_top_features is not None:
            count = require_count("n_top_features", self.n_top_features, at_most=X.shape[1])
            self.selected_features_ = np.asarray(_core.most_variable_columns(X, count))
        if hasattr(self, "scale_"):
            del self.scale_
        if self.unit_variance:
            deviations = _deviations(X)
            constant = self.selected_features_[~(deviations[self.selected_features_] > 0)]
            if constant.size:
                raise ValueError(
                    f"unit_variance=True: {constant.size} features are constant: {self._shown(constant)}; leave "
                    "them out, or let n_top_features choose"
                )
            self.scale_ = np.where(deviations > 0, deviations, 1.0)
        return X

    def _shown(self, features: NDArray[Any], most: int = 20) -> str:
        names = getattr(self, "feature_names_in_", None)
        shown = [str(j if names is None else names[j]) for j in features[:most]]
        return ", ".join(shown) + (", ..." if len(features) > most else "")

    def _used(self, X: Any) -> Any:
        """The part of X that is factored: selected features, scaled."""
        if len(self.selected_features_) < X.shape[1]:
            X = X[:, self.selected_features_]
        scale = self._scale()
        if scale is None:
            return X
        by = (1 / scale[self.selected_features_]).astype(float_type(X))
        return canonical((X @ scipy.sparse.diags(by)).tocsr() if scipy.sparse.issparse(X) else X * by)

    def _consensus(self, used: Any, ranks: list[int]) -> dict[str, Any]:
        watcher = Watcher(self.callback, self.verbose)
        with watcher:
            result = _core.consensus(
                used,
                ranks=ranks,
                seeds=require_count("n_seeds", self.n_seeds),
                loss=self._loss(),
                density=float(self.density_threshold),
                neighbours=float(self.local_neighborhood_size),
                sweeps=int(self.max_iter),
                tolerance=float(self.tol),
                seed=seed_for(self.random_state),
                threads=threads_for(self.n_jobs),
                callback=watcher.function(),
            )
        if len(result["ranks"][0]["weights"]) == 0:
            raise result["failure"] or ValueError("the fit was stopped before two factorizations were done")
        return result

    def _take(self, X: Any, found: dict[str, Any], stop: str = "rank_reached") -> None:
        """Sets the attributes from what the engine found."""
        rank = len(found["weights"])
        self.n_components_, self.stop_reason_ = rank, stop
        self.components_ = np.zeros((rank, X.shape[1]), dtype=float_type(X))
        self.components_[:, self.selected_features_] = found["right"].T
        self.left_, self.weights_ = found["left"].astype(float_type(X), copy=False), found["weights"]
        self.silhouette_ = found["silhouette"]
        self.stability_ = np.asarray(found["stability"])
        self.members_ = np.asarray(found["members"])
        self.local_density_, self.labels_ = np.asarray(found["density"]), np.asarray(found["part_of"])
        self.errors_ = np.asarray(found["errors"])
        self.n_seeds_ = len(self.errors_)
        self.relative_error_ = found["relative_error"]
        self.reconstruction_err_ = float(np.sqrt(2 * found["objective"]))
        per_million, scores = _core.column_profiles(X, self.usages_, threads_for(self.n_jobs))
        self.profiles_, self.marker_scores_ = per_million.T, scores.T
        self.explained_variance_ratio_ = self._span_shares(X)

    @property
    def usages_(self) -> NDArray[np.float64]:
        """Shares of parts in rows."""
        check_is_fitted(self, "components_")
        amounts = self.left_ * self.weights_ * self.components_.sum(axis=1)
        total = amounts.sum(axis=1, keepdims=True, dtype=np.float64)
        return amounts / np.where(total > 0, total, 1)

    @property
    def spectra_(self) -> NDArray[Any]:
        """Parts with entries that sum to one."""
        check_is_fitted(self, "components_")
        return self.components_ / self.components_.sum(axis=1, keepdims=True)

    def top_features(self, count: int = 10) -> list[list[Any]]:
        """The features that mark every part most: those of the largest `marker_scores_`, by name where there
        are names.

        Parameters
        ----------
        count : int, default=10
        """
        check_is_fitted(self, "marker_scores_")
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))
        order = np.argsort(-self.marker_scores_, axis=1, kind="stable")[:, :count]
        return [[names[j] for j in best] for best in order]

    def _closest(self, X: Any) -> dict[str, Any]:
        return self._least_divergence(self._used(X), self.components_[:, self.selected_features_])

    def _squared_norm(self, X: Any) -> float:
        return squared_norm(self._used(X))

    def _atom_specs(self) -> dict[str, str]:
        return {"left": "nonneg", "right": "nonneg", "weights": "nonneg"}

    def _saved(self) -> dict[str, Any]:
        self._steps = {}
        saved = super()._saved()
        agreement = {
            "silhouette": self.silhouette_,
            "stability": self.stability_.tolist(),
            "members": self.members_.tolist(),
            "selected_features": self.selected_features_.tolist(),
        }
        saved["metadata"]["consensus"] = json.dumps(agreement)
        return saved

    def _load(self, metadata: dict[str, str], deviations: NDArray[np.float64]) -> None:
        """What a file knows beside the factors."""
        agreement = json.loads(metadata.get("consensus", "{}"))
        rank, features = self.components_.shape
        self.silhouette_ = float(agreement.get("silhouette", np.nan))
        self.stability_ = np.asarray(agreement.get("stability", [np.nan] * rank), dtype=np.float64)
        self.members_ = np.asarray(agreement.get("members", [0] * rank), dtype=np.int64)
        selected = np.asarray(agreement.get("selected_features", range(features)), dtype=np.int64)
        if len(self.stability_) != rank or len(self.members_) != rank:
            raise ValueError(f"stability and members of {rank} parts are needed")
        if selected.ndim != 1 or selected.size == 0 or selected.min() < 0 or selected.max() >= features:
            raise ValueError(f"selected features must be among the {features} of the model")
        self.selected_features_ = selected
        self.relative_error_ = float(metadata.get("relative_error", "nan"))
        if len(deviations):
            self.scale_ = deviations


@dataclass(frozen=True)
class ConsensusChoice:
    """What `choose_k` found; ``int()`` of it is the number of parts to take."""

    k: int
    """The largest number of parts whose silhouette is hardly below the best."""
    reason: str
    ks: NDArray[np.int64]
    silhouette: NDArray[np.float64]
    stability: NDArray[np.float64]
    """Mean cosine of spectra with their part."""
    error: NDArray[np.float64]
    """Relative error of the consensus."""
    models: list[ConsensusNMF]
    """A fitted one for every k."""

    def __int__(self) -> int:
        return self.k

    @property
    def model(self) -> ConsensusNMF:
        """The one of the recommended k."""
        return self.models[int(np.flatnonzero(self.ks == self.k)[0])]

    def plot(self, ax: Any = None) -> Any:
        """Silhouette and error by the number of parts.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib axes
        """
        ax = curve(ax, self.ks, self.silhouette, "parts", "silhouette", whole=True)
        ax.lines[-1].set_label("silhouette (left)")
        ax.set_ylim(top=1.02)
        right = ax.twinx()
        curve(right, self.ks, self.error, "parts", "relative error", whole=True)
        right.lines[-1].set(color="C1", label="relative error (right)")
        ax.axvline(self.k, linestyle="--", linewidth=1, color="gray", label=f"recommended: {self.k}")
        handles = [*ax.lines, *right.lines]
        right.legend(handles, [each.get_label() for each in handles], loc="lower left")
        return ax


def choose_k(X: Any, ks: Iterable[int] = range(2, 13), **parameters: Any) -> ConsensusChoice:
    """Compare numbers of parts by whether random starts agree on them.

    `choose_rank` compares them by entries held out, which says how many parts there are; this one says how many
    can be named. The recommendation is the largest number whose silhouette is within 0.05 of the best.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features), no entry negative
    ks : iterable of int, default=range(2, 13)
    **parameters
        Of `ConsensusNMF`.

    Returns
    -------
    ConsensusChoice
        With a fitted model for every k.

    Examples
    --------
    >>> import numpy as np, pursuit
    >>> rng = np.random.default_rng(0)
    >>> counts = rng.poisson(rng.gamma(0.3, 3, (200, 4)) @ rng.gamma(0.3, 3, (4, 60)))
    >>> choice = pursuit.choose_k(counts, range(2, 7), n_seeds=20, random_state=0)
    >>> choice.k
    4
    """
    wanted = sorted({require_count("ks", k) for k in ks})
    if not wanted:
        raise ValueError("ks: at least one number of parts is needed")
    model = ConsensusNMF(wanted[0], **parameters)
    X = model._prepare(X)
    found = model._consensus(model._used(X), wanted)
    if found["failure"] is not None:
        raise found["failure"]
    models = []
    for each in found["ranks"]:
        one = copy.copy(model).set_params(n_components=len(each["weights"]))
        one._take(X, each)
        models.append(one)
    return ConsensusChoice(
        k=models[found["chosen"]].n_components_,
        reason=found["reason"],
        ks=np.array([each.n_components_ for each in models]),
        silhouette=np.array([each.silhouette_ for each in models]),
        stability=np.array([each.stability_.mean() for each in models]),
        error=np.array([each.relative_error_ for each in models]),
        models=models,
    )


def _deviations(X: Any) -> NDArray[np.float64]:
    mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    if not scipy.sparse.issparse(X):
        return np.std(X, axis=0, dtype=np.float64)
    squares = X.astype(np.float64).power(2).mean(axis=0)
    return np.sqrt(np.maximum(np.asarray(squares).ravel() - mean**2, 0))
