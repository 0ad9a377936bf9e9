"""The engine; the estimators of the package are made of these functions."""

from os import PathLike
from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix

__version__: str
__pybind11__: str  # the version that the extension was built with

Array = NDArray[Any]
Vector = NDArray[np.float64]
Path = str | PathLike[str]
Callback = Callable[[Any], Any] | None

class Error(RuntimeError): ...
class NamesNeeded(ValueError): ...

class Moment:
    """A moment of a fit, as callbacks see it; what is not known is nan."""

    @property
    def phase(self) -> str: ...
    @property
    def rank(self) -> int: ...
    @property
    def target_rank(self) -> int: ...
    @property
    def sweep(self) -> int: ...
    @property
    def max_sweeps(self) -> int: ...
    @property
    def relative_error(self) -> float: ...
    @property
    def noise(self) -> float: ...
    @property
    def validation(self) -> float: ...
    @property
    def seconds(self) -> float: ...

class Atoms:
    """The engine's handle of an atom set."""

    def spec(self) -> str: ...
    def symmetric(self) -> bool: ...
    def contains(self, u: Vector, tolerance: float) -> bool: ...
    def maximize(self, g: Vector) -> Vector: ...
    def fit(self, a: Vector, b: Vector, nonnegative: bool) -> tuple[float, Vector]: ...
    def combine(self, other: Atoms) -> Atoms: ...

class FeatureTable:
    """What is known about rows or columns beside their entries."""

    @property
    def names(self) -> list[str]: ...
    @property
    def left_out(self) -> list[str]: ...
    @property
    def size(self) -> int: ...
    def of(self, member: int) -> list[tuple[int, float]]: ...
    def merged(self, fresh: FeatureTable) -> FeatureTable: ...

class CompletionModel:
    """A completed matrix."""

    @property
    def rank(self) -> int: ...
    @property
    def noise(self) -> float: ...
    @property
    def loss(self) -> str: ...
    @property
    def implicit(self) -> bool: ...
    @property
    def confidence(self) -> str: ...
    @property
    def drifts(self) -> bool: ...
    @property
    def newest(self) -> float: ...
    @property
    def drift(self) -> dict[str, tuple[float, float]]: ...
    def at_time(self, time: float) -> CompletionModel: ...
    def ranking_score(
        self,
        starts: Array,
        columns: Array,
        row: Array,
        col: Array,
        value: Array,
        relevant: float,
        places: int,
        threads: int,
    ) -> dict[str, float]: ...
    @property
    def row_width(self) -> int: ...
    @property
    def features(self) -> int: ...
    @property
    def mean(self) -> float: ...
    @property
    def scale(self) -> float: ...
    @property
    def lowest(self) -> float: ...
    @property
    def highest(self) -> float: ...
    @property
    def samples(self) -> int: ...
    @property
    def row_noise_weights(self) -> NDArray[np.float32]: ...
    @property
    def row_factors(self) -> NDArray[np.float32]: ...
    @property
    def column_factors(self) -> NDArray[np.float32]: ...
    @property
    def left(self) -> Vector: ...
    @property
    def right(self) -> Vector: ...
    @property
    def weights(self) -> Vector: ...
    def predict(
        self, row: Array, col: Array, threads: int, times: Array | None = None
    ) -> tuple[Vector, Vector]: ...
    def recommend(self, row: int, count: int, excluded: Array) -> tuple[Array, Vector, Vector]: ...
    def new_row_factors(
        self, rows: int, cols: int, row: Array, col: Array, value: Array, threads: int
    ) -> Vector: ...
    def predict_rows(self, factors: Vector) -> Vector: ...
    def error(self, row: Array, col: Array, value: Array, threads: int) -> float:
        """Of entries, under the loss of the model."""

    def error_of_rows(
        self, factors: Array, rows: int, cols: int, row: Array, col: Array, value: Array
    ) -> float:
        """The same of entries of rows with these factors."""

def parse_atoms(spec: str, names: list[str] = ...) -> Atoms: ...
def custom_atoms(
    name: str,
    maximize: Callable[[Vector], Any],
    contains: Callable[[Vector, float], bool] | None,
    symmetric: bool,
) -> Atoms: ...
def group_atoms(group_of: list[int], active: int, within: int | None, source: str = ...) -> Atoms: ...
def sets_atoms(entries: int, members: list[list[int]], active: int, source: str = ...) -> Atoms: ...
def tree_atoms(parent: list[int], k: int, source: str = ...) -> Atoms: ...
def graph_atoms(
    vertices: int, edges: list[tuple[int, int]], k: int, components: int, source: str = ...
) -> Atoms: ...
def support_atoms(mask: list[int], source: str = ...) -> Atoms: ...
def read_names(path: Path) -> list[list[str]] | None: ...
def read_groups(path: Path) -> list[int]: ...
def read_sets(path: Path) -> list[list[int]]: ...
def read_tree(path: Path) -> list[int]: ...
def read_graph(path: Path) -> tuple[int, list[tuple[int, int]]]: ...
def read_mask(path: Path) -> list[int]: ...
def per_atom_atoms(sets: list[Atoms]) -> Atoms: ...
def dictionary_atoms(set: str, columns: Any, k: int | None) -> Atoms: ...
def catalogue() -> list[tuple[str, str, str, str]]: ...
def parse_weight_rule(spec: str) -> str: ...
def stop_explanations() -> dict[str, str]: ...
def factor(
    X: Any,
    *,
    pursuit: dict[str, Any],
    left: Atoms,
    right: Atoms,
    start: str,
    initial: tuple[Array, Array, Array] | None,
    fixed: int = ...,
    fixed_factors: str = ...,
    loss: str = ...,
    entry_weights: Any = ...,
    row_weights: Array = ...,
    row_scale: Array = ...,
    offsets: bool = ...,
    closure: bool = ...,
    callback: Callback,
) -> dict[str, Any]: ...
def balanced_split(shape: list[int]) -> int: ...
def congruence_and_condition(factors: list[Array], weights: Array) -> tuple[float, float]: ...
def factor_tensor(
    X: Any,
    *,
    shape: list[int],
    atoms: list[Atoms],
    panel_of_mode: list[int],
    pursuit: dict[str, Any],
    start: str,
    starts: int,
    ridge: float,
    known: dict[int, Array],
    callback: Callback,
) -> dict[str, Any]: ...

class RankedMatrix:
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    ndim: int
    def mean(self, axis: int | None = None, dtype: Any = None) -> Any: ...
    def squared_norm(self) -> float: ...

class Lead:
    def matrix(
        self, cuts: list[int], cols: int, blocks: list[Any], work: float, rounding: float, threads: int
    ) -> RankedMatrix: ...
    def end(self) -> None: ...

def lead(comm: Any) -> Lead: ...
def follow(comm: Any, cuts: list[int], cols: int, blocks: list[Any], threads: int) -> None: ...
def row_cuts(rows: int) -> list[int]: ...
def sparse_row_cuts(entries_before: Array) -> list[int]: ...
def blocks_of_rank(cuts: list[int], rank: int, ranks: int) -> tuple[int, int]: ...

class TensorEntries: ...

def tensor_entries(
    index: Any, value: Any, weights: Any, shape: list[int], others_are_zero: bool
) -> TensorEntries: ...
def factor_observed_tensor(
    data: TensorEntries,
    *,
    atoms: list[Atoms],
    panel_of_mode: list[int],
    pursuit: dict[str, Any],
    loss: str,
    offsets: bool,
    all_at_once: bool,
    callback: Callback,
) -> dict[str, Any]: ...
def complete_tensor(
    data: TensorEntries,
    *,
    atoms: list[Atoms],
    panel_of_mode: list[int],
    pursuit: dict[str, Any],
    loss: str,
    offsets: bool,
    regularize: str,
    validation: float,
    callback: Callback,
) -> dict[str, Any]: ...
def predict_tensor(
    factors: list[Array], weights: Array, loss: str, terms: dict[str, Any], places: list[Array]
) -> Vector: ...
def coordinates_of_rows(
    X: Any,
    *,
    right: Array,
    loss: str,
    row_scale: Array,
    offsets: bool,
    own_terms: dict[str, Any],
    nonnegative: bool,
    threads: int,
) -> dict[str, Any]: ...
def loss_means(x: Array, *, loss: str, own_terms: dict[str, Any], row_scale: Array) -> Vector: ...
def parse_loss(spec: str) -> str: ...
def pca(
    X: Any,
    *,
    components: int,
    atoms: Atoms,
    nonzeros: list[int],
    total_nonzeros: int,
    orthogonality: float,
    correlation: bool,
    effort: str,
    seed: int,
    threads: int,
    time_limit: float | None,
    initial: Array | None,
    callback: Callback,
    checkpoint: tuple[str, str] | None = None,
) -> dict[str, Any]: ...
def omp(
    dictionary: Array, signals: Array, *, atoms: int, weights: str, target_error: float, threads: int
) -> tuple[csc_matrix, Vector, list[str]]: ...
def omp_paths(
    matrix: Vector,
    *,
    is_gram: bool,
    products: Vector,
    squared_norms: Vector,
    atoms: int,
    squared_errors: Vector,
    threads: int,
) -> list[tuple[NDArray[np.int64], Vector, float, str]]: ...
def lasso(
    gram: Vector,
    products: Vector,
    squared_norms: Vector,
    *,
    alpha: float,
    nonnegative: bool,
    max_sweeps: int,
    tolerance: float,
    start: Vector,
    threads: int,
) -> tuple[Vector, Vector, bool]: ...
def least_angle_codes(gram: Vector, products: Vector, atoms: int, threads: int) -> Vector: ...
def penalized_nmf(
    X: Any,
    W: Array,
    H: Array,
    *,
    left: tuple[float, float],
    right: tuple[float, float],
    sweeps: int,
    tolerance: float,
    threads: int,
    time_limit: float | None,
    callback: Callback,
    loss: str = "squares",
    right_stays: bool = False,
) -> dict[str, Any]: ...
def l1_components(
    X: Any,
    *,
    components: int,
    start: tuple[Array, Array] | None,
    alpha: float,
    sweeps: int,
    tolerance: float,
    threads: int,
    time_limit: float | None,
    callback: Callback,
) -> dict[str, Any]: ...
def span_shares(X: Any, loadings: Vector, *, center: bool, scale: Vector | None) -> Vector: ...
def path_steps(ranks: Vector) -> list[int]: ...
def has_duplicates(X: Any, threads: int) -> bool: ...
def product(X: Any, V: Vector, threads: int) -> Vector: ...
def squared_norm_about(X: Any, column_shift: Vector) -> float: ...
def nonnegative_least_squares(gram: Vector, products: Vector, threads: int) -> Vector: ...
def simplex_least_squares(gram: Vector, products: Vector, threads: int) -> Vector: ...
def complete(
    rows: int,
    cols: int,
    row: Array,
    col: Array,
    value: Array,
    *,
    loss: str,
    entry_weights: Array | None,
    times: Array | None,
    max_rank: int,
    use_pattern: bool,
    validation: float,
    samples: int | None,
    range: tuple[float, float] | None,
    start: CompletionModel | None,
    start_entries: tuple[Array, Array, Array] | None,
    row_features: FeatureTable | None,
    column_features: FeatureTable | None,
    seed: int,
    threads: int,
    time_limit: float | None,
    callback: Callback,
    checkpoint: tuple[str, str] | None = None,
) -> dict[str, Any]: ...
def complete_implicit(
    rows: int,
    cols: int,
    row: Array,
    col: Array,
    value: Array,
    *,
    left: Atoms | None,
    right: Atoms | None,
    weights: str,
    confidence: str,
    max_rank: int,
    validation: float,
    start: CompletionModel | None,
    start_entries: tuple[Array, Array, Array] | None,
    row_features: FeatureTable | None,
    column_features: FeatureTable | None,
    seed: int,
    threads: int,
    time_limit: float | None,
    callback: Callback,
    checkpoint: tuple[str, str] | None = None,
) -> dict[str, Any]: ...
def evaluate(
    rows: int,
    cols: int,
    row: Array,
    col: Array,
    value: Array,
    *,
    methods: list[str],
    kind: str,
    split: list[float],
    repeat: int,
    folds: int,
    times: Any,
    places: int,
    relevant: float | None,
    seed: int,
    threads: int,
) -> list[dict[str, Any]]: ...
def complete_structured(
    rows: int,
    cols: int,
    row: Array,
    col: Array,
    value: Array,
    *,
    left: Atoms,
    right: Atoms,
    loss: str,
    entry_weights: Array | None,
    weights: str,
    regularization: str,
    offsets: bool,
    choose: bool,
    max_rank: int,
    corrections: list[int],
    polish: int,
    polish_tolerance: float,
    validation: float,
    range: tuple[float, float] | None,
    seed: int,
    threads: int,
    time_limit: float | None,
    callback: Callback,
    checkpoint: tuple[str, str] | None = None,
) -> dict[str, Any]: ...
def save_model(
    path: Path,
    *,
    left: Array,
    right: Array,
    weights: Array,
    trace: dict[str, Any],
    row_names: list[str],
    column_names: list[str],
    metadata: dict[str, str],
    column_means: Array,
    column_deviations: Array,
    loss: str = ...,
    own_terms: dict[str, Any] = ...,
    row_scale: Array = ...,
) -> None: ...
def save_tensor_model(
    path: Path,
    *,
    panels: list[Array],
    panel_of_mode: list[int],
    weights: Array,
    trace: dict[str, Any],
    names: list[list[str]],
    metadata: dict[str, str],
    loss: str,
    own_terms: dict[str, Any],
) -> None: ...
def load_model(path: Path) -> dict[str, Any]: ...
def save_completion(
    path: Path,
    *,
    model: CompletionModel,
    rows: list[str],
    cols: list[str],
    entries: tuple[Array, Array, Array] | None,
    held_out: tuple[Array, Array, Array] | None,
    row_features: FeatureTable | None,
    column_features: FeatureTable | None,
    metadata: dict[str, str],
) -> None: ...
def load_completion(path: Path) -> dict[str, Any]: ...
def is_completion_file(path: Path) -> bool: ...
def report_page(
    path: Path,
    *,
    title: str,
    image_height: int,
    image_width: int,
    lines: bool,
    labels: list[str],
    top: int,
    brief: bool = False,
) -> str: ...
def write_file(path: Path, text: str) -> None: ...
def choose_tensor_rank(
    data: TensorEntries,
    *,
    atoms: list[Atoms],
    panel_of_mode: list[int],
    ranks: list[int],
    folds: int,
    pursuit: dict[str, Any],
    loss: str,
    offsets: bool,
    callback: Any,
) -> dict[str, Any]: ...
def choose_rank(
    X: Any,
    *,
    ranks: list[int],
    folds: int,
    pursuit: dict[str, Any],
    left: Atoms,
    right: Atoms,
    loss: str,
    offsets: bool,
    row_scale: Array,
    callback: Callback,
) -> dict[str, Any]: ...
def path_by_rank(trace: dict[str, Any]) -> dict[str, Any]: ...
def feature_table(
    members: int, names: list[str], member: Array, feature: Array, value: Array
) -> FeatureTable: ...
def read_features(text: str, name: str, members: list[str]) -> tuple[FeatureTable, list[str]]: ...
def recommend_lists(
    model: CompletionModel,
    rows: Array,
    count: int,
    *,
    left_out: tuple[Array, Array] | None,
    columns: Array | None,
    optimism: float,
    threads: int,
) -> tuple[Array, Vector, Vector]: ...
def neighbours(
    model: CompletionModel, side: str, members: Array, count: int, threads: int
) -> tuple[Array, Vector]: ...
def similarity_vectors(model: CompletionModel, side: str) -> NDArray[np.float32]: ...
def prediction_vectors(model: CompletionModel) -> tuple[NDArray[np.float32], NDArray[np.float32]]: ...
def explain(
    model: CompletionModel,
    cols: Array,
    values: Array,
    *,
    noise_weight: float,
    features: list[tuple[int, float]],
    target: int,
    count: int,
) -> tuple[float, list[tuple[int, float, float]]]: ...
def with_new_rows(
    model: CompletionModel, start: Array, index: Array, value: Array, threads: int
) -> CompletionModel: ...
def transposed(model: CompletionModel) -> CompletionModel: ...
def completion_of_factors(
    left: Vector,
    right: Vector,
    weights: Vector,
    *,
    loss: str,
    own_terms: dict[str, Any],
    column_means: Vector,
    column_deviations: Vector,
    objective: float | None,
    metadata: dict[str, str],
) -> CompletionModel: ...
def consensus(
    X: Any,
    *,
    ranks: list[int],
    seeds: int,
    loss: str,
    density: float,
    neighbours: float,
    sweeps: int,
    tolerance: float,
    seed: int,
    threads: int,
    callback: Callback,
) -> dict[str, Any]: ...
def most_variable_columns(X: Any, count: int) -> list[int]: ...
def column_profiles(X: Any, usages: Array, threads: int) -> tuple[Array, Array]: ...
