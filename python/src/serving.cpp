#include "serving.hpp"

#include <pybind11/eigen.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "interpreter.hpp"
#include "own_terms.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/completion/explain.hpp"
#include "pursuit/completion/new_rows.hpp"
#include "pursuit/completion/recommend.hpp"
#include "pursuit/completion/similar.hpp"
#include "pursuit/io/completion_file.hpp"

namespace pursuit::python {
namespace {

namespace py = pybind11;

template <class Value>
using Column = py::array_t<Value, py::array::c_style | py::array::forcecast>;
using Indices = Column<int>;
using Starts = Column<std::int64_t>;

template <class Value>
std::vector<Value> vector_of(const Column<Value>& array) {
  return {array.data(), array.data() + array.size()};
}

/// The first `count` of every list as a table, missing places as -1 and NaN.
template <class Element, class Place, class... Numbers>
py::tuple table_of(const std::vector<std::vector<Element>>& lists, Index count, const Place& place,
                   const Numbers&... numbers) {
  Index width = 0;
  for (const auto& list : lists) width = std::max(width, std::min(count, Index(list.size())));
  const std::vector<py::ssize_t> shape{py::ssize_t(lists.size()), py::ssize_t(width)};
  py::array_t<std::int64_t> places(shape);
  std::fill_n(places.mutable_data(), places.size(), -1);
  const auto fill = [&](auto& table, const auto& value) {
    for (std::size_t k = 0; k < lists.size(); ++k)
      for (std::size_t p = 0; p < lists[k].size(); ++p)
        table.mutable_data()[k * std::size_t(width) + p] = value(lists[k][p]);
  };
  fill(places, place);
  const auto numbered = [&](const auto& number) {
    py::array_t<double> table(shape);
    std::fill_n(table.mutable_data(), table.size(), std::numeric_limits<double>::quiet_NaN());
    fill(table, number);
    return table;
  };
  return py::make_tuple(places, numbered(numbers)...);
}

/// Entries by row as the engine takes them: of columns that there are, ascending.
void require_grouped(const GroupedEntries& entries, Index columns) {
  bool sound = !entries.start.empty() && entries.start.front() == 0 &&
               entries.start.back() == std::int64_t(entries.index.size()) &&
               std::is_sorted(entries.start.begin(), entries.start.end());
  for (Index i = 0; sound && i < entries.size(); ++i)
    for (std::int64_t e = entries.start[i]; e < entries.start[i + 1]; ++e)
      sound = sound && entries.index[e] >= 0 && entries.index[e] < columns &&
              (e == entries.start[i] || entries.index[e - 1] < entries.index[e]);
  if (!sound) throw InvalidArgument("entries by row: their places make no sense");
}

py::tuple lists(const CompletionModel& model, const Indices& rows, Index count,
                const std::optional<std::pair<Starts, Indices>>& left_out,
                const std::optional<Indices>& columns, double optimism, int threads) {
  const std::vector<int> asked = vector_of(rows);
  GroupedEntries out;
  std::optional<std::vector<int>> allowed;
  ListOptions options{.count = count, .optimism = optimism};
  if (left_out) {
    out = {vector_of(left_out->first), vector_of(left_out->second), {}};
    require_grouped(out, model.column_count());
    options.left_out = &out;
  }
  if (columns) options.columns = &allowed.emplace(vector_of(*columns));
  std::vector<std::vector<Recommendation>> result;
  {
    const Unlocked unlocked;
    result = Recommender(model).lists(asked, options, threads);
  }
  return table_of(
      result, count, [](const Recommendation& each) { return each.col; },
      [](const Recommendation& each) { return each.prediction.value; },
      [](const Recommendation& each) { return each.prediction.deviation; });
}

Neighbours::Side side_of(const std::string& name) {
  if (name != "row" && name != "column")
    throw InvalidArgument("kind '" + name + "': must be 'row' or 'column'");
  return name == "row" ? Neighbours::Side::rows : Neighbours::Side::cols;
}

}  // namespace

void bind_serving(py::module_& m) {
  m.def("recommend_lists", &lists, py::arg("model"), py::arg("rows"), py::arg("count"), py::kw_only(),
        py::arg("left_out"), py::arg("columns"), py::arg("optimism"), py::arg("threads"));

  m.def(
      "neighbours",
      [](const CompletionModel& model, const std::string& side, const Indices& members, Index count,
         int threads) {
        const std::vector<int> asked = vector_of(members);
        std::vector<std::vector<Neighbour>> result;
        {
          const Unlocked unlocked;
          result = Neighbours(model, side_of(side)).of(asked, count, threads);
        }
        return table_of(
            result, count, [](const Neighbour& each) { return each.member; },
            [](const Neighbour& each) { return each.similarity; });
      },
      py::arg("model"), py::arg("side"), py::arg("members"), py::arg("count"), py::arg("threads"));

  m.def(
      "similarity_vectors",
      [](const CompletionModel& model, const std::string& side) {
        return FactorMatrix(Neighbours(model, side_of(side)).vectors());
      },
      py::arg("model"), py::arg("side"));

  m.def(
      "prediction_vectors",
      [](const CompletionModel& model) {
        Recommender::Vectors vectors = Recommender(model).vectors();
        return py::make_tuple(std::move(vectors.rows), std::move(vectors.cols));
      },
      py::arg("model"));

  m.def(
      "explain",
      [](const CompletionModel& model, const Indices& cols, const Column<float>& values, double noise_weight,
         const std::vector<std::pair<int, float>>& features, int target, Index count) {
        const std::vector<int> entries = vector_of(cols), targets{target};
        const std::vector<float> given = vector_of(values);
        if (given.size() != entries.size()) throw InvalidArgument("as many values as columns are needed");
        const Explanation why =
            explain(model, {entries, given, noise_weight, features}, targets, count).front();
        py::list reasons;
        for (const Reason& each : why.reasons)
          reasons.append(py::make_tuple(each.col, each.value, each.effect));
        return py::make_tuple(why.expected, reasons);
      },
      py::arg("model"), py::arg("cols"), py::arg("values"), py::kw_only(), py::arg("noise_weight"),
      py::arg("features"), py::arg("target"), py::arg("count"));

  m.def(
      "with_new_rows",
      [](const CompletionModel& model, const Starts& start, const Indices& index, const Column<float>& value,
         int threads) {
        const GroupedEntries entries{vector_of(start), vector_of(index), vector_of(value)};
        require_grouped(entries, model.column_count());
        if (entries.value.size() != entries.index.size())
          throw InvalidArgument("as many values as places are needed");
        const Unlocked unlocked;
        return with_new_rows(model, entries, threads);
      },
      py::arg("model"), py::arg("start"), py::arg("index"), py::arg("value"), py::arg("threads"));

  m.def(
      "transposed", [](const CompletionModel& model) { return transposed(model); }, py::arg("model"));

  m.def(
      "completion_of_factors",
      [](const Matrix& left, const Matrix& right, const Vector& weights, const std::string& loss,
         const py::dict& own_terms, const Vector& column_means, const Vector& column_deviations,
         std::optional<double> objective, const std::map<std::string, std::string>& metadata) {
        ModelFile file{{left, right, weights}, {}, {}, {}, {}};
        if (objective) file.trace.emplace_back().objective = *objective;
        file.metadata = metadata;
        file.loss = parse_loss(loss);
        file.own_terms = own_terms_of(own_terms);
        file.column_means = column_means;
        file.column_deviations = column_deviations;
        return as_completion(std::move(file)).model;
      },
      py::arg("left"), py::arg("right"), py::arg("weights"), py::kw_only(), py::arg("loss"),
      py::arg("own_terms"), py::arg("column_means"), py::arg("column_deviations"), py::arg("objective"),
      py::arg("metadata"));
}

}  // namespace pursuit::python
