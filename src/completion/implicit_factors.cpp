#include "completion/implicit_factors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/chunks.hpp"
#include "completion/row_posteriors.hpp"
#include "data/dealt_entries.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

constexpr double kStartingSize = 0.5;  // of a member's random vector
constexpr double kOnceMore = 0.5;      // share of a step that is taken once more
constexpr double kNoOffset = 1e-12;    // prior variance of what is not there
constexpr std::int64_t kMakeSides = 0, kReleaseSides = 1, kUpdateRows = 2,
                       kUpdateCols = 3;  // what rank 0 asks of the others

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
                          const ImplicitVectors& cols, const ImplicitPrior& prior, bool nonnegative,
                          int threads, ImplicitVectors& rows, const std::function<bool()>& stop) {
  const GroupedEntries& ones = entries.ones;
  Regressors held;
  set_regressors(held, cols.numbers, {}, std::vector<float>(std::size_t(cols.size()), 1.0F), cols.width, 0, 1,
                 threads);
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
  update_rows(tasks, held, {zeros, variance, by_ridge, 1.0, nonnegative}, 0, threads,
              {rows.numbers, {}, unused}, stop);
  for (Index i = 0; i < rows.size(); ++i) rows.numbers[i * rows.width] = 0;
}

EntryTasks tasks_of(const ImplicitEntries& entries, Ranks* ranks) {
  return EntryTasks(entries.ones, entries.weights.empty() ? nullptr : &entries.weights, ranks);
}

ImplicitSides::ImplicitSides(const ObservedMatrix& entries, const Confidence& confidence, RankTeam* team)
    : ranks_(team && team->ranks().size() > 1 ? &team->ranks() : nullptr), team_(ranks_ ? team : nullptr) {
  for (const bool of_rows : {true, false}) {
    Side& side = sides_[of_rows ? 0 : 1];
    side.entries = ImplicitEntries(of_rows ? entries.by_row() : entries.by_col(), confidence);
    side.tasks.emplace(tasks_of(side.entries, ranks_));
  }
  if (!team_) return;
  number_ = team_->fresh_number();
  team_->ask({.order = Order::implicit, .matrix = number_, .result = kMakeSides}, [&] { deal(); });
}

ImplicitSides::ImplicitSides(Ranks& ranks) : ranks_(&ranks) {
  deal();
}

ImplicitSides::~ImplicitSides() {
  if (team_ && !team_->broken())
    team_->ask({.order = Order::implicit, .matrix = number_, .result = kReleaseSides}, [] {});
}

bool ImplicitSides::is_made_by(const Job& job) {
  return job.result == kMakeSides;
}
bool ImplicitSides::is_released_by(const Job& job) {
  return job.result == kReleaseSides;
}

void ImplicitSides::deal() {
  for (Side& side : sides_) {
    std::vector<Index> cuts;
    if (side.tasks) cuts = side.tasks->shares().cuts();
    tell_all(*ranks_, cuts);
    const MemberShares shares(cuts, ranks_);
    const std::vector<float>* weights = side.tasks ? side.tasks->weights() : nullptr;
    DealtEntries own =
        deal_groups(*ranks_, side.tasks ? &side.entries.ones : nullptr, weights, shares.first_members());
    if (side.tasks) continue;
    side.entries.ones = std::move(own.entries);
    side.entries.weights = std::move(own.weights);
    side.tasks.emplace(side.entries.ones, side.entries.weights.empty() ? nullptr : &side.entries.weights,
                       shares);
  }
}

/// What all ranks have to know of an update.
struct ImplicitSides::Task {
  ImplicitPrior prior;
  bool nonnegative;
  int width, threads;
};

void ImplicitSides::update(bool of_rows, const ImplicitPrior& prior, bool nonnegative, int threads,
                           const ImplicitVectors& held, ImplicitVectors& own,
                           const std::function<bool()>& stop) const {
  if (!team_) {
    const Side& side = sides_[of_rows ? 0 : 1];
    update_implicit_rows(side.entries, *side.tasks, held, prior, nonnegative, threads, own, stop);
    return;
  }
  ImplicitVectors all = held;
  team_->ask({.order = Order::implicit, .matrix = number_, .result = of_rows ? kUpdateRows : kUpdateCols},
             [&] {
               do_update(of_rows, {prior, nonnegative, held.width, threads}, all, own);
             });
}

void ImplicitSides::follow(const Job& job) {
  ImplicitVectors held, own;
  do_update(job.result == kUpdateRows, {}, held, own);
}

void ImplicitSides::do_update(bool of_rows, Task task, ImplicitVectors& held, ImplicitVectors& own) const {
  const Side &side = sides_[of_rows ? 0 : 1], &other = sides_[of_rows ? 1 : 0];
  ranks_->broadcast(&task, sizeof task);
  if (!ranks_->leads())
    for (auto [vectors, members] :
         {std::pair(&held, other.entries.ones.size()), {&own, side.entries.ones.size()}}) {
      vectors->width = task.width;
      vectors->numbers.assign(std::size_t(members * task.width), 0.0F);
    }
  ranks_->broadcast(held.numbers.data(), held.numbers.size() * sizeof(float));
  if (task.nonnegative) side.tasks->shares().deal({{own.numbers.data(), task.width}});  // where rows begin
  update_implicit_rows(side.entries, *side.tasks, held, task.prior, task.nonnegative, task.threads, own);
  side.tasks->shares().collect({{own.numbers.data(), task.width}});
}

ImplicitFactors::ImplicitFactors(const ImplicitSides& sides, Index atoms, ImplicitSigns nonnegative,
                                 std::uint64_t seed, int threads)
    : sides_(&sides),
      rows_(sides.rows(), atoms),
      cols_(sides.cols(), atoms),
      atoms_(atoms),
      nonnegative_(nonnegative),
      threads_(threads) {
  const Random random(seed);
  const double size = kStartingSize / std::sqrt(double(std::max<Index>(atoms, 1)));
  const Chunks members(cols_.size());
  parallel_for(members.count(), threads, [&](Index chunk) {
    for (Index j = members.first(chunk); j < members.first(chunk + 1); ++j) {
      Random own = random.stream(std::uint64_t(j));
      for (Index c = 1; c <= atoms; ++c) {
        const double number = size * own.gaussian();
        cols_.numbers[j * cols_.width + c] = float(nonnegative.cols ? std::abs(number) : number);
      }
    }
  });
}

ImplicitFactors::ImplicitFactors(const ImplicitSides& sides, const CompletionModel& start, int threads)
    : sides_(&sides),
      rows_(start.rows.mean, sides.rows()),
      cols_(start.cols.mean, sides.cols()),
      atoms_(start.rows.mean.cols() - 1),
      threads_(threads) {}

void ImplicitFactors::update(bool of_rows, const ImplicitPrior& prior, double ahead) {
  ImplicitVectors& side = of_rows ? rows_ : cols_;
  const bool nonnegative = of_rows ? nonnegative_.rows : nonnegative_.cols;
  const AlignedVector<float> before = ahead > 0 ? side.numbers : AlignedVector<float>();
  sides_->update(of_rows, prior, nonnegative, threads_, of_rows ? cols_ : rows_, side, stop_);
  const float least = nonnegative ? 0 : std::numeric_limits<float>::lowest();
  for (std::size_t k = 0; k < before.size(); ++k)
    side.numbers[k] = std::max(least, side.numbers[k] + float(ahead) * (side.numbers[k] - before[k]));
}

void ImplicitFactors::visit_state(StateArchive& archive) {
  archive("rows", rows_.numbers, Index(rows_.numbers.size()));
  archive("cols", cols_.numbers, Index(cols_.numbers.size()));
}

bool ImplicitFactors::take(ImplicitVectors rows, ImplicitVectors cols) {
  if (rows.numbers.size() != rows_.numbers.size() || cols.numbers.size() != cols_.numbers.size())
    return false;
  rows_.numbers = std::move(rows.numbers);
  cols_.numbers = std::move(cols.numbers);
  return true;
}

void ImplicitFactors::sweep(const ImplicitPrior& prior, int done, int turns,
                            const std::function<bool(int)>& after) {
  for (int turn = done + 1; turn <= turns; ++turn) {
    update(true, prior, turn > 2 ? kOnceMore : 0);
    update(false, prior, turn > 1 && turn < turns ? kOnceMore : 0);
    if (!after(turn)) break;
  }
  update(true, prior, 0);
}

}  // namespace pursuit
