// Factorizations, principal components and sparse codes.

#include "factorizations.hpp"

#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <tuple>

#include "arrays.hpp"
#include "checkpoints.hpp"
#include "interpreter.hpp"
#include "own_terms.hpp"
#include "pursuit/algorithms/factor.hpp"
#include "pursuit/algorithms/omp.hpp"
#include "pursuit/algorithms/path.hpp"
#include "pursuit/algorithms/pca.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/objective/means.hpp"
#include "pursuit/objective/row_coordinates.hpp"
#include "pursuit/weights/nonnegative_least_squares.hpp"
#include "pursuit/weights/simplex_least_squares.hpp"
#include "pursuit_options.hpp"
#include "traces.hpp"
#include "watch.hpp"

namespace pursuit::python {
namespace {

/// Left atoms, right atoms and weights to begin with.
using Initial = std::tuple<Matrix, Matrix, Vector>;

/// What goes with a loss, as Python gives it.
struct LossArguments {
  std::string loss;
  py::object entry_weights;  // a matrix or None
  Vector row_weights, row_scale;
  bool offsets;
};

py::dict factor_array(const py::object& X, FactorOptions options, const LossArguments& loss,
                      const py::object& callback) {
  const ArrayData data = data_of(X, options.threads);
  std::optional<ArrayData> weights;
  if (!loss.entry_weights.is_none()) weights.emplace(data_of(loss.entry_weights, options.threads));
  options.loss = parse_loss(loss.loss);
  if (weights) options.entry_weights.entries = weights->matrix;
  options.entry_weights.rows = loss.row_weights;
  options.row_scale = loss.row_scale;
  options.offsets = loss.offsets;
  Watch watch(callback);
  options.observer = watch.observer();
  FactorResult result;
  {
    const Unlocked unlocked;
    result = factor(data.matrix, options);
  }
  py::dict out = watch.answer(result.stop);
  out["left"] = result.model.left();  // symmetric ones share it
  out["right"] = std::move(result.model.right());
  out["weights"] = std::move(result.model.weights);
  out["trace"] = columns_of(result.trace);
  out["relative_error"] = result.relative_error;
  out["objective"] = result.objective;
  out["null_objective"] = result.null_objective;
  set_own_terms(out, std::move(result.own_terms));
  out["seconds"] = result.seconds;
  return out;
}

py::dict rows_in_atoms(const py::object& X, const Matrix& right, const LossArguments& loss,
                       const OwnTerms& own, bool nonnegative, int threads) {
  const ArrayData data = data_of(X, threads);
  LossOptions options{.loss = parse_loss(loss.loss), .offsets = loss.offsets, .row_scale = loss.row_scale};
  RowCoordinates rows;
  {
    const Unlocked unlocked;
    rows = coordinates_of_rows(data.matrix, right, options, own, nonnegative, threads);
  }
  py::dict out;
  out["coordinates"] = std::move(rows.coordinates);
  out["row_offsets"] = std::move(rows.row_offsets);
  out["objective"] = rows.objective;
  out["null_objective"] = rows.null_objective;
  return out;
}

py::dict pca_array(const py::object& X, PcaOptions options, int threads, const py::object& callback) {
  const ArrayData data = data_of(X, threads);
  Watch watch(callback);
  options.observer = watch.observer();
  options.threads = threads;
  PcaResult result;
  {
    const Unlocked unlocked;
    result.means = data.matrix->column_means();
    if (!options.correlation && data.matrix->squared_norm_about(result.means) == 0) {
      // Nothing varies: the engine refuses this, an estimator keeps its shape.
      result.loadings.resize(data.matrix->cols(), 0);
      result.scores.resize(data.matrix->rows(), 0);
    } else {
      result = pca(data.matrix, options);
    }
  }
  py::dict out = watch.answer(result.stop);
  out["loadings"] = std::move(result.loadings);
  out["scores"] = std::move(result.scores);
  out["means"] = std::move(result.means);
  out["deviations"] = std::move(result.deviations);
  out["explained_plain"] = result.explained_plain;
  out["explained_span"] = result.explained_span;
  out["sweeps"] = result.sweeps;
  out["seconds"] = result.seconds;
  return out;
}

PcaOptions::Effort parse_effort(const std::string& name) {
  if (name == "low") return PcaOptions::Effort::low;
  if (name == "normal") return PcaOptions::Effort::normal;
  if (name == "high") return PcaOptions::Effort::high;
  throw InvalidArgument("effort '" + name + "': must be low, normal or high");
}

Start parse_start(const std::string& name) {
  if (name == "greedy") return Start::greedy;
  if (name == "leading") return Start::leading;
  throw InvalidArgument("start '" + name + "': must be greedy or leading");
}

}  // namespace

void bind_factorizations(py::module_& m) {
  m.def(
      "factor",
      [](const py::object& X, const py::dict& pursuit, const Atoms& left, const Atoms& right,
         const std::string& start, const std::optional<Initial>& initial, Index fixed,
         const std::string& fixed_factors, const std::string& loss, const py::object& entry_weights,
         const Vector& row_weights, const Vector& row_scale, bool offsets, bool closure,
         const py::object& callback) {
        FactorOptions options = pursuit_options(pursuit);
        options.closure = closure;
        options.left = left;
        options.right = right;
        options.start = parse_start(start);
        if (initial) options.initial = {std::get<0>(*initial), std::get<1>(*initial), std::get<2>(*initial)};
        options.fixed = fixed;
        options.fixed_factors = fixed_factors == "left"    ? FixedFactors::left
                                : fixed_factors == "right" ? FixedFactors::right
                                                           : FixedFactors::both;
        return factor_array(X, options, {loss, entry_weights, row_weights, row_scale, offsets}, callback);
      },
      py::arg("X"), py::kw_only(), py::arg("pursuit"), py::arg("left"), py::arg("right"), py::arg("start"),
      py::arg("initial"), py::arg("fixed") = 0, py::arg("fixed_factors") = "both",
      py::arg("loss") = "squares", py::arg("entry_weights") = py::none(), py::arg("row_weights") = Vector(0),
      py::arg("row_scale") = Vector(0), py::arg("offsets") = false, py::arg("closure") = false,
      py::arg("callback"));

  m.def(
      "coordinates_of_rows",
      [](const py::object& X, const Matrix& right, const std::string& loss, const Vector& row_scale,
         bool offsets, const py::dict& own, bool nonnegative, int threads) {
        return rows_in_atoms(X, right, {loss, py::none(), Vector(0), row_scale, offsets}, own_terms_of(own),
                             nonnegative, threads);
      },
      py::arg("X"), py::kw_only(), py::arg("right"), py::arg("loss"), py::arg("row_scale"),
      py::arg("offsets"), py::arg("own_terms"), py::arg("nonnegative"), py::arg("threads"));

  m.def(
      "loss_means",
      [](const Matrix& x, const std::string& loss, const py::dict& own, const Vector& row_scale) {
        return means_of(x, parse_loss(loss), own_terms_of(own), row_scale);
      },
      py::arg("x"), py::kw_only(), py::arg("loss"), py::arg("own_terms"), py::arg("row_scale"));

  m.def(
      "parse_loss", [](const std::string& spec) { return parse_loss(spec).spec(); }, py::arg("spec"));

  m.def(
      "pca",
      [](const py::object& X, Index components, const Atoms& atoms, const std::vector<Index>& nonzeros,
         Index total_nonzeros, double orthogonality, bool correlation, const std::string& effort,
         std::uint64_t seed, int threads, const py::object& time_limit, const std::optional<Matrix>& initial,
         const py::object& callback, const py::object& checkpoint) {
        PcaOptions options;
        options.components = components;
        options.atoms = atoms;
        options.nonzeros = nonzeros;
        options.total_nonzeros = total_nonzeros;
        options.orthogonality = orthogonality;
        options.correlation = correlation;
        options.effort = parse_effort(effort);
        options.seed = seed;
        options.time_limit = seconds_or_forever(time_limit);
        options.checkpoints = checkpoints_from(checkpoint);
        if (initial) options.initial = *initial;
        return pca_array(X, options, threads, callback);
      },
      py::arg("X"), py::kw_only(), py::arg("components"), py::arg("atoms"), py::arg("nonzeros"),
      py::arg("total_nonzeros"), py::arg("orthogonality"), py::arg("correlation"), py::arg("effort"),
      py::arg("seed"), py::arg("threads"), py::arg("time_limit"), py::arg("initial"), py::arg("callback"),
      py::arg("checkpoint") = py::none());

  m.def(
      "omp",
      [](const py::array& dictionary, const Matrix& signals, Index atoms, const std::string& weights,
         double target_error, int threads) {
        const DoubleView D = doubles_of(dictionary);
        const OmpOptions options{atoms, parse_weight_rule(weights), target_error, threads};
        OmpResult result;
        {
          const Unlocked unlocked;
          result = omp(D.view, signals, options);
        }
        py::list stops;
        for (const Stop stop : result.stops) stops.append(name(stop));
        return py::make_tuple(std::move(result.codes), std::move(result.relative_errors), stops);
      },
      py::arg("dictionary"), py::arg("signals"), py::kw_only(), py::arg("atoms"), py::arg("weights"),
      py::arg("target_error"), py::arg("threads"));

  m.def("has_duplicates", &has_duplicates, py::arg("X"), py::arg("threads"));

  m.def(
      "product",
      [](const py::object& X, const Matrix& V, int threads) {
        const ArrayData data = data_of(X, threads);
        if (V.rows() != data.matrix->cols()) throw InvalidArgument("one row of V per column of X is needed");
        const Unlocked unlocked;
        Matrix out;
        data.matrix->apply(V, out);
        return out;
      },
      py::arg("X"), py::arg("V"), py::arg("threads"));

  m.def(
      "squared_norm_about",
      [](const py::object& X, const Vector& column_shift) {
        const ArrayData data = data_of(X, 1);
        if (column_shift.size() != data.matrix->cols())
          throw InvalidArgument("one shift per column is needed");
        const Unlocked unlocked;
        return data.matrix->squared_norm_about(column_shift);
      },
      py::arg("X"), py::arg("column_shift"));

  m.def(
      "span_shares",
      [](const py::object& X, const Matrix& loadings, bool center, const std::optional<Vector>& scale) {
        const ArrayData data = data_of(X, 1);
        const Unlocked unlocked;
        DataMatrixPtr A = center ? centered(data.matrix) : data.matrix;
        if (scale) A = column_scaled(A, *scale);
        return explained_variance(*A, loadings).shares;
      },
      py::arg("X"), py::arg("loadings"), py::kw_only(), py::arg("center"), py::arg("scale"));

  m.def(
      "path_steps", [](const std::vector<Index>& ranks) { return path_steps(ranks); }, py::arg("ranks"));

  m.def("nonnegative_least_squares", &nonnegative_least_squares, py::call_guard<Unlocked>(), py::arg("gram"),
        py::arg("products"), py::arg("threads"));
  m.def(
      "simplex_least_squares",
      [](const Matrix& gram, const Matrix& products, int threads) {
        Matrix shares;
        simplex_least_squares(gram, products, threads, shares);
        return shares;
      },
      py::call_guard<Unlocked>(), py::arg("gram"), py::arg("products"), py::arg("threads"));

  m.def(
      "parse_weight_rule", [](const std::string& spec) { return parse_weight_rule(spec).spec(); },
      py::arg("spec"));
  m.def("stop_explanations", [] {
    py::dict all;
    for (const Stop stop : {Stop::rank_reached, Stop::target_error, Stop::no_ascent, Stop::dependent_atom,
                            Stop::time_limit, Stop::interrupted, Stop::not_converged})
      all[name(stop)] = explanation(stop);
    return all;
  });
}

}  // namespace pursuit::python
