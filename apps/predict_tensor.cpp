#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <variant>

#include "apps/complete_tensor.hpp"
#include "apps/completion.hpp"
#include "apps/console.hpp"
#include "apps/mode_names.hpp"
#include "apps/output.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/timer.hpp"
#include "pursuit/io/matrix_file.hpp"

namespace pursuit::app {
namespace {

/// Entries whose values are asked for.
struct AskedEntries {
  std::vector<std::vector<int>> place;  // of every mode; -1 for an id that the model does not have
  EntryIds ids = {};                    // as they were asked for, where the model has names

  std::size_t count() const { return place[0].size(); }
  bool is_known(std::size_t e) const {
    return std::all_of(place.begin(), place.end(), [&](const auto& own) { return own[e] >= 0; });
  }
};

/// Indices, counted from 1, of a model without names.
AskedEntries read_places(const ModelFile& file, const std::string& path, int threads) {
  const Index modes = file.model.factors.modes();
  const Matrix table = std::visit([](const auto& matrix) { return Matrix(matrix.template cast<double>()); },
                                  read_matrix(path, {.threads = threads}).matrix);
  if (table.cols() != modes)
    throw InvalidInput(fmt::format("{}: {} columns; the indices of an entry of this model are {}", path,
                                   table.cols(), modes));
  AskedEntries asked{std::vector<std::vector<int>>(std::size_t(modes))};
  for (Index mode = 0; mode < modes; ++mode)
    for (Index e = 0; e < table.rows(); ++e) {
      const double place = table(e, mode);
      const Index size = file.model.factors[mode].rows();
      if (!(place >= 1 && place <= double(size) && place == std::floor(place)))
        throw InvalidInput(fmt::format("{}: index {} of mode {} in row {} is not a whole number from 1 to {}",
                                       path, place, mode, e + 1, size));
      asked.place[std::size_t(mode)].push_back(int(place) - 1);
    }
  return asked;
}

/// The first line is a header where it says what the modes are called, or where it has no id of the model and
/// is not the only one.
AskedEntries read_ids(const ModelFile& file, const std::string& path) {
  const ModePlaces places = places_of(file);
  AskedEntries asked{std::vector<std::vector<int>>(std::size_t(places.modes())),
                     read_entry_ids(path, places.modes())};
  EntryIds& ids = asked.ids;
  const std::vector<std::string> labels = labels_of(file);
  bool named = !labels.empty() && !ids[0].empty(), strange = ids[0].size() > 1;
  for (std::size_t m = 0; m < ids.size() && (named || strange); ++m) {
    named = named && ids[m][0] == labels[m];
    strange = strange && places.find(Index(m), ids[m][0]) < 0;
  }
  for (std::size_t m = 0; m < ids.size(); ++m) {
    if (named || strange) ids[m].erase(ids[m].begin());
    for (const std::string& id : ids[m]) asked.place[m].push_back(places.find(Index(m), id));
  }
  if (ids[0].empty()) throw InvalidInput(fmt::format("{}: no entry is asked for", path));
  return asked;
}

/// Ids that a model does not have have no part in its atoms, and no offset.
Vector values_at(const ModelFile& file, const AskedEntries& asked) {
  TensorModel model{file.model, file.loss, file.own_terms};
  const std::size_t modes = asked.place.size();
  std::vector<std::vector<int>> places = asked.place;
  OwnTerms& own = model.own_terms;
  const bool offsets = own.row_offsets.size() > 0;
  std::vector<Panel> panels;
  std::vector<Index> own_panel;
  panels.reserve(modes);
  own_panel.reserve(modes);
  for (std::size_t m = 0; m < modes; ++m) {  // one more place, of zeros, stands for all of them
    Panel& factor = panels.emplace_back(model.atoms.factors[Index(m)]);
    const Index size = factor.rows();
    factor.conservativeResize(size + 1, Eigen::NoChange);
    factor.row(size).setZero();
    own_panel.push_back(Index(m));
    if (offsets) {
      Vector& offset = m == 0 ? own.row_offsets : m == 1 ? own.col_offsets : own.further_offsets[m - 2];
      offset.conservativeResize(size + 1);
      offset[size] = 0;
    }
    for (int& place : places[m])
      if (place < 0) place = int(size);
  }
  model.atoms.factors = Factors(std::move(panels), std::move(own_panel));
  return predict(model, places);
}

std::string note_of(const AskedEntries& asked, const std::vector<std::string>& columns, std::size_t e) {
  std::vector<std::string> unknown;
  for (std::size_t m = 0; m < columns.size(); ++m)
    if (asked.place[m][e] < 0) unknown.push_back(columns[m]);
  return unknown.empty() ? "" : fmt::format("unknown {}", fmt::join(unknown, " and "));
}

Json listed_predictions(const AskedEntries& asked, const Vector& values) {
  Json list = Json::array();
  for (std::size_t e = 0; e < asked.count(); ++e) {
    std::vector<Index> place;
    std::vector<std::string> ids;
    Json known = Json::array();
    for (std::size_t m = 0; m < asked.place.size(); ++m) {
      place.push_back(asked.place[m][e] + 1);
      if (!asked.ids.empty()) ids.push_back(asked.ids[m][e]);
      known.push_back(asked.place[m][e] >= 0);
    }
    if (asked.ids.empty())
      list.push_back({{"place", place}, {"value", values[Index(e)]}});
    else
      list.push_back({{"ids", ids}, {"value", values[Index(e)]}, {"known", known}});
  }
  return list;
}

}  // namespace

int run_predict_tensor(const ModelFile& file, const std::string& places, const std::string& out,
                       const CommonOptions& common) {
  const Timer timer;
  const bool named = std::any_of(file.mode_names.begin(), file.mode_names.end(),
                                 [](const auto& names) { return !names.empty(); });
  const AskedEntries asked = named ? read_ids(file, places) : read_places(file, places, common.threads);
  const Vector values = values_at(file, asked);
  std::vector<std::string> columns = labels_of(file);
  for (std::size_t m = columns.size(); m < asked.place.size(); ++m)
    columns.push_back(fmt::format("mode_{}", m));
  const bool listed = common.json && out.empty();  // in the JSON object rather than in a file
  if (!listed) {
    TextOutput text(out);
    for (const std::string& column : columns) text.write(csv_field(column) + ',');
    text.write(named ? "value,note\n" : "value\n");
    text.write_lines(
        Index(asked.count()), Index(columns.size()) + 2, common.threads, [&](std::string& line, Index at) {
          const auto e = std::size_t(at);
          for (std::size_t m = 0; m < columns.size(); ++m)
            line += (named ? csv_field(asked.ids[m][e]) : fmt::format("{}", asked.place[m][e] + 1)) + ',';
          fmt::format_to(std::back_inserter(line), "{:.6g}", values[at]);
          if (named) line += ',' + csv_field(note_of(asked, columns, e));
          line += '\n';
        });
    text.commit();
  }
  Index unknown = 0;
  for (std::size_t e = 0; e < asked.count(); ++e) unknown += asked.is_known(e) ? 0 : 1;
  if (common.json) {
    Json object{
        {"count", asked.count()}, {"seconds", timer.seconds()}, {"peak_memory_bytes", peak_memory_bytes()}};
    if (named) object.set("unknown", unknown);
    if (listed)
      object.set("predictions", listed_predictions(asked, values));
    else
      object.set("output", out);
    print_json(object);
  }
  if (unknown > 0)
    tell(
        "pursuit: note: {} of {} entries have an id that the model has never seen; atoms say nothing of "
        "them, "
        "predictions are {}\n",
        unknown, asked.count(), file.own_terms.row_offsets.size() > 0 ? "offsets alone" : "those of x = 0");
  return success;
}

}  // namespace pursuit::app
