#include "completion/implicit_factors.hpp"

#include <algorithm>
#include <cmath>

#include "base/chunks.hpp"
#include "completion/row_posteriors.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

constexpr double kStartingSize = 0.5;  // of a member's random vector
constexpr double kOnceMore = 0.5;      // share of a step that is taken once more
constexpr double kNoOffset = 1e-12;    // prior variance of what is not there

}  // namespace

ImplicitVectors::ImplicitVectors(Index members, Index atoms)
    : width(padded_width(int(1 + atoms))), numbers(std::size_t(members * width), 0.0F) {}

ImplicitVectors::ImplicitVectors(const FactorMatrix& mean, Index members)
    : ImplicitVectors(std::max(members, mean.rows()), mean.cols() - 1) {
  for (Index i = 0; i < mean.rows(); ++i)
    for (Index c = 1; c < mean.cols(); ++c) numbers[i * width + c] = mean(i, c);
}

FactorMatrix ImplicitVectors::matrix(Index atoms) const {
  FactorMatrix result(size(), 1 + atoms);
  for (Index i = 0; i < size(); ++i) std::copy_n(of(i), 1 + atoms, result.row(i).data());
  return result;
}

ImplicitEntries::ImplicitEntries(GroupedEntries entries, const Confidence& confidence)
    : ones(std::move(entries)) {
  if (confidence.kind != Confidence::constant) {
    weights.reserve(ones.value.size());
    for (const float value : ones.value) weights.push_back(float(confidence.weight(value)));
  }
  std::fill(ones.value.begin(), ones.value.end(), 1.0F);
}

void update_implicit_rows(const ImplicitEntries& entries, const EntryTasks& tasks,
                          const ImplicitVectors& cols, const ImplicitPrior& prior, int threads,
                          ImplicitVectors& rows, const std::function<bool()>& stop) {
  const GroupedEntries& ones = entries.ones;
  Regressors held;
  set_regressors(held, cols.numbers, nullptr, std::vector<float>(std::size_t(cols.size()), 1.0F), cols.width,
                 0, 1, threads);
  set_everywhere(held, prior.zeros, threads);
  // A row is divided by its ridge, which becomes 1 for all of them.
  std::vector<float> by_ridge(std::size_t(ones.size()));
  for (Index i = 0; i < ones.size(); ++i) {
    double seen = double(ones.count(i));
    if (!entries.weights.empty()) {
      seen = 0;
      for (std::int64_t e = ones.start[i]; e < ones.start[i + 1]; ++e) seen += double(entries.weights[e]);
    }
    by_ridge[i] = float(1 / (prior.ridge * (seen + prior.zeros * double(cols.size()))));
  }
  std::vector<double> variance(std::size_t(cols.width), 1.0), unused;
  variance[0] = kNoOffset;
  const AlignedVector<float> zeros(rows.numbers.size(), 0.0F);
  update_rows(tasks, held, {zeros, variance, by_ridge, 1.0}, 0, threads, {rows.numbers, nullptr, unused},
              stop);
  for (Index i = 0; i < rows.size(); ++i) rows.numbers[i * rows.width] = 0;
}

EntryTasks tasks_of(const ImplicitEntries& entries) {
  return EntryTasks(entries.ones, entries.weights.empty() ? nullptr : &entries.weights);
}

ImplicitFactors::ImplicitFactors(const ImplicitEntries& by_row, const ImplicitEntries& by_col, Index atoms,
                                 std::uint64_t seed, int threads)
    : by_row_(&by_row),
      by_col_(&by_col),
      row_tasks_(tasks_of(by_row)),
      col_tasks_(tasks_of(by_col)),
      rows_(by_row.ones.size(), atoms),
      cols_(by_col.ones.size(), atoms),
      atoms_(atoms),
      threads_(threads) {
  const Random random(seed);
  const double size = kStartingSize / std::sqrt(double(std::max<Index>(atoms, 1)));
  const Chunks members(cols_.size());
  parallel_for(members.count(), threads, [&](Index chunk) {
    for (Index j = members.first(chunk); j < members.first(chunk + 1); ++j) {
      Random own = random.stream(std::uint64_t(j));
      for (Index c = 1; c <= atoms; ++c) cols_.numbers[j * cols_.width + c] = float(size * own.gaussian());
    }
  });
}

ImplicitFactors::ImplicitFactors(const ImplicitEntries& by_row, const ImplicitEntries& by_col,
                                 const CompletionModel& start, int threads)
    : by_row_(&by_row),
      by_col_(&by_col),
      row_tasks_(tasks_of(by_row)),
      col_tasks_(tasks_of(by_col)),
      rows_(start.rows.mean, by_row.ones.size()),
      cols_(start.cols.mean, by_col.ones.size()),
      atoms_(start.rows.mean.cols() - 1),
      threads_(threads) {}

void ImplicitFactors::rebind(const ImplicitEntries& by_row, const ImplicitEntries& by_col) {
  by_row_ = &by_row;
  by_col_ = &by_col;
  row_tasks_ = tasks_of(by_row);
  col_tasks_ = tasks_of(by_col);
}

void ImplicitFactors::update(bool of_rows, const ImplicitPrior& prior, double ahead) {
  ImplicitVectors& side = of_rows ? rows_ : cols_;
  const AlignedVector<float> before = ahead > 0 ? side.numbers : AlignedVector<float>();
  update_implicit_rows(of_rows ? *by_row_ : *by_col_, of_rows ? row_tasks_ : col_tasks_,
                       of_rows ? cols_ : rows_, prior, threads_, side, stop_);
  for (std::size_t k = 0; k < before.size(); ++k)
    side.numbers[k] += float(ahead) * (side.numbers[k] - before[k]);
}

void ImplicitFactors::sweep(const ImplicitPrior& prior, int turns, const std::function<bool(int)>& after) {
  for (int turn = 1; turn <= turns; ++turn) {
    update(true, prior, turn > 2 ? kOnceMore : 0);
    update(false, prior, turn > 1 && turn < turns ? kOnceMore : 0);
    if (!after(turn)) break;
  }
  update(true, prior, 0);
}

}  // namespace pursuit
