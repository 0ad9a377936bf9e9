#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "algorithms/observed_tensor_atoms.hpp"
#include "base/require.hpp"
#include "completion/rank_folds.hpp"
#include "completion/tensor_places.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/data/data_matrix.hpp"
#include "pursuit/objective/make_objective.hpp"

namespace pursuit {
namespace {

constexpr double kMostEntries = std::numeric_limits<int>::max() / 8.0;  // they are listed, with their places

std::string shape_text(const std::vector<Index>& shape) {
  return fmt::format("{}", fmt::join(shape, " x "));
}

/// Every place with its value.
SparseTensor with_zeros(const SparseTensor& listed) {
  const std::size_t modes = listed.shape.size();
  double all = 1;
  for (const Index size : listed.shape) all *= double(size);
  if (all > kMostEntries)
    throw InvalidInput(
        fmt::format("an array of {} has more entries than can be held out one by one ({:.0f}); "
                    "take a part of it",
                    shape_text(listed.shape), kMostEntries));
  SparseTensor entries{
      listed.shape, std::vector<std::vector<int>>(modes, std::vector<int>(std::size_t(all))), {}};
  entries.value.assign(std::size_t(all), 0.0);
  Index stride = Index(all);
  std::vector<Index> strides;
  for (std::size_t mode = 0; mode < modes; ++mode) {
    stride /= listed.shape[mode];
    strides.push_back(stride);
    for (std::size_t e = 0; e < entries.value.size(); ++e)
      entries.index[mode][e] = int(Index(e) / stride % listed.shape[mode]);
  }
  for (std::size_t e = 0; e < listed.value.size(); ++e) {
    Index place = 0;
    for (std::size_t mode = 0; mode < modes; ++mode) place += strides[mode] * listed.index[mode][e];
    entries.value[std::size_t(place)] += listed.value[e];
  }
  return entries;
}

void check(const ObservedTensor& Y, const AtomSets& sets, const ChooseOptions& o) {
  check_choice(o);
  require(Y.weights.empty(), "weights of entries: ranks are chosen for entries that count alike");
  require(o.factor.row_scale.size() == 0, "row scale: rows of arrays have none");
  require(sharing_of(sets, Y).empty(),
          "modes that share factors: their entries cannot be held out one by one");
  Index sizes = 0;
  for (const Index size : Y.entries.shape) sizes += size;
  if (double(Y.size()) < kEntriesPerAtom * double(o.ranks.back()) * double(sizes))
    throw InvalidInput(
        fmt::format("an array of {} with {} entries has too few to hold some out and find {} atoms; fewer "
                    "ranks are needed",
                    shape_text(Y.entries.shape), Y.size(), o.ranks.back()));
}

/// Which fold holds an entry out, by its number in a random order of places.
std::vector<int> folds_of(const SparseTensor& entries, int folds, std::uint64_t seed) {
  const std::uint64_t start = Random(seed).stream(0).bits();
  const auto count = entries.value.size();
  std::vector<std::pair<std::uint64_t, std::size_t>> keys;
  keys.reserve(count);
  std::vector<int> place(entries.shape.size());
  for (std::size_t e = 0; e < count; ++e) {
    for (std::size_t mode = 0; mode < place.size(); ++mode) place[mode] = entries.index[mode][e];
    keys.emplace_back(random_key(start, place), e);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<int> fold(count);
  for (std::size_t k = 0; k < count; ++k) fold[keys[k].second] = int(k * std::size_t(folds) / count);
  return fold;
}

ObservedTensor part(const SparseTensor& all, const std::vector<int>& fold, int number, bool held_out) {
  ObservedTensor result{{all.shape, std::vector<std::vector<int>>(all.shape.size()), {}}, {}, false};
  for (std::size_t e = 0; e < fold.size(); ++e) {
    if ((fold[e] == number) != held_out) continue;
    for (std::size_t mode = 0; mode < all.shape.size(); ++mode)
      result.entries.index[mode].push_back(all.index[mode][e]);
    result.entries.value.push_back(all.value[e]);
  }
  return result;
}

class TensorFold final : public RankFold {
 public:
  TensorFold(const ChooseOptions& options, const AtomSets& sets, ObservedTensor training,
             ObservedTensor held_out, int number)
      : RankFold(options, sets, training.entries.value, number),
        training_(std::move(training)),
        held_out_(std::move(held_out)) {
    f_ = make_objective(training_, {.loss = o_.loss, .offsets = o_.offsets});
  }

 private:
  double error(bool held_out) const override {
    const ObservedTensor& part = held_out ? held_out_ : training_;
    Judge judge(*this);
    const Vector x = predictors_at({f_->iterate(), o_.loss, judge.own()}, part.entries.index);
    for (Index e = 0; e < part.size(); ++e) judge.see(part.entries.value[std::size_t(e)], x[e]);
    return judge.error();
  }

  ObservedTensor training_, held_out_;
};

}  // namespace

RankChoice choose_rank(const ObservedTensor& Y, const AtomSets& sets, const ChooseOptions& options) {
  const SparseTensor entries = Y.others_are_zero ? with_zeros(Y.entries) : Y.entries;
  const ObservedTensor all{entries, Y.weights, false};
  check(all, sets, options);
  FactorOptions largest = options.factor;
  largest.rank = options.ranks.back();
  require_sets_for(*make_objective(all, {.loss = largest.loss, .offsets = largest.offsets}), sets, largest);
  const std::vector<int> fold = folds_of(entries, options.folds, options.factor.seed);
  return choose_by_folds(options, [&](int number) {
    return std::make_unique<TensorFold>(options, sets, part(entries, fold, number, false),
                                        part(entries, fold, number, true), number);
  });
}

}  // namespace pursuit
