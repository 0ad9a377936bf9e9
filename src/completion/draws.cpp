#include "completion/draws.hpp"

#include <tuple>

#include "completion/factors_of_model.hpp"
#include "pursuit/base/checkpoints.hpp"

namespace pursuit {
namespace {

constexpr int kBurnIn = 20;          // draws that are forgotten
constexpr int kAveragedDraws = 400;  // at most; of more, neighbours are too alike to be worth their time

}  // namespace

int Draws::total() const {
  return kBurnIn + samples_;
}

void Draws::add(int number, const BayesianFactors& draw) {
  const int counted = number - kBurnIn;
  if (counted <= 0) return;
  const int every = (samples_ + kAveragedDraws - 1) / kAveragedDraws;
  if (counted % every == 0) average_.add(draw);
  const Index due = Index(counted) * stored_ / samples_;
  if (due > Index(kept_.size())) kept_.push_back(sample_of(draw));
}

void Draws::move_to(CompletionModel& model) && {
  model.samples = std::move(kept_);
  if (average_.count() > 0) std::tie(model.average_rows, model.average_cols) = average_.factors();
}

void Draws::visit_state(StateArchive& archive, Index rows, Index cols, Index atoms) {
  StateArchive average = archive.in("average");
  average_.visit_state(average, rows, cols, atoms);
  Index kept = Index(kept_.size());
  archive("samples.stored", kept, 0, stored_);
  kept_.resize(std::size_t(kept));
  for (Index k = 0; k < kept; ++k) {
    CompletionSample& sample = kept_[std::size_t(k)];
    StateArchive own = archive.in("samples", k);
    for (const auto& [name, matrix, size] :
         {std::tuple("rows", &sample.rows, rows), {"cols", &sample.cols, cols}}) {
      std::vector<float> numbers(matrix->data(), matrix->data() + matrix->size());
      own(name, numbers, size * (atoms + 1));
      if (archive.reads()) *matrix = Eigen::Map<const FactorMatrix>(numbers.data(), size, atoms + 1);
    }
    own("row_noise_weight", sample.row_noise_weight, rows);
    own("col_noise_weight", sample.col_noise_weight, cols);
    own("noise_variance", sample.noise_variance);
  }
}

}  // namespace pursuit
