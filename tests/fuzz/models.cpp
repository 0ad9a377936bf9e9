// Whatever the bytes, a model is refused with InvalidInput or predicts finite numbers: a model file is
// checked like any other file that comes from elsewhere.

#include <algorithm>
#include <cmath>
#include <utility>

#include "fuzz/target.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/io/completion_file.hpp"

namespace pursuit::fuzz {
namespace {

void require_sound_entries(const GroupedEntries& entries, Index groups, Index members) {
  require(Index(entries.start.size()) == groups + 1, "every row has a place for its entries");
  for (const int member : entries.index) require(member >= 0 && member < members, "columns are in range");
}

void require_predictions(const CompletionFile& file) {
  const CompletionModel& model = file.model;
  require(file.rows.size() == model.row_count() && file.cols.size() == model.column_count(),
          "ids are as many as members");
  if (file.keeps_entries) require_sound_entries(file.known(), model.row_count(), model.column_count());
  constexpr Index kSome = 5;
  for (int i = -1; i < std::min(model.row_count(), kSome); ++i) {
    for (int j = -1; j < std::min(model.column_count(), kSome); ++j) {
      const Prediction prediction = predict(model, {i, j});
      require(std::isfinite(prediction.value) && prediction.deviation >= 0, "predictions are finite");
    }
  }
}

}  // namespace

void read_models(std::string_view bytes) {
  const MemoryFile file(bytes);
  try {
    AnyModelFile model = load_any_model(file.path());
    if (const auto* factors = std::get_if<ModelFile>(&model)) {
      require(factors->model.weights.allFinite(), "weights are finite");
      for (Index mode = 0; mode < factors->model.factors.modes(); ++mode)
        require(factors->model.factors[mode].allFinite(), "factors are finite");
    }
    require_predictions(predictions_of(std::move(model), file.path()));
  } catch (const InvalidInput&) {
  }
}

}  // namespace pursuit::fuzz
