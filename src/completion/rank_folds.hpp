#pragma once
// What choosing a rank by folds is for matrices and arrays alike: every fold is factored rank by rank, and
// what folds found is one choice.

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>

#include "pursuit/atoms/atom_sets.hpp"
#include "pursuit/completion/choose_rank.hpp"
#include "pursuit/correction/regularization.hpp"
#include "pursuit/objective/objective.hpp"

namespace pursuit {

constexpr double kEntriesPerAtom = 2;  // held out and in all: fewer say nothing

/// InvalidArgument unless ranks ascend from 1 or more, and folds and weights make sense.
void check_choice(const ChooseOptions& options);

/// What one fold found at one rank.
struct FoldScore {
  double error = 0, training = 0;
  Expansion atoms;
};

/// One fold: the ranks one after the other, each from where the last one stands.
class RankFold {
 public:
  virtual ~RankFold() = default;
  FoldScore next(Index rank, const Observer& observer);

 protected:
  /// Values are those of the entries that are factored.
  template <class Values>
  RankFold(const ChooseOptions& options, AtomSets sets, const Values& values, int number)
      : o_(options.factor), sets_(std::move(sets)) {
    double sum = 0, squares = 0;
    for (const double value : values) {
      sum += std::abs(value);
      squares += value * value;
      lowest_ = std::min(lowest_, value);
      highest_ = std::max(highest_, value);
    }
    settle(number, double(values.size()), sum, squares);
  }

  /// Predictors of the entries held out, or of those that were factored, go through this one after the other.
  class Judge {
   public:
    explicit Judge(const RankFold& fold) : fold_(fold), own_(fold.f_->own_terms()) {}
    const OwnTerms& own() const { return own_; }
    void see(double y, double predictor);
    double error() const;

   private:
    const RankFold& fold_;
    OwnTerms own_;
    double cost_ = 0, null_ = 0, count_ = 0;
  };
  virtual double error(bool held_out) const = 0;

  FactorOptions o_;
  AtomSets sets_;
  std::unique_ptr<Objective> f_;  // over the entries that are factored: whoever derives makes it

 private:
  void settle(int number, double count, double sum, double squares);
  double within_range(double predictor) const;

  double lowest_ = std::numeric_limits<double>::infinity(), highest_ = -lowest_;
  Regularization ridge_ = {};
  bool exhausted_ = false;
};

/// All folds, side by side, and what follows from them.
RankChoice choose_by_folds(const ChooseOptions& options,
                           const std::function<std::unique_ptr<RankFold>(int number)>& make_fold);

}  // namespace pursuit
