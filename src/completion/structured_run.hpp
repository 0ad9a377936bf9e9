#pragma once
// One way of structured completion: offsets, and paths of Algorithm 2 over the observed entries, of which the
// best rank is kept.

#include <limits>
#include <memory>
#include <vector>

#include "completion/weighted_entries.hpp"
#include "pursuit/completion/structured.hpp"
#include "pursuit/objective/objective.hpp"

namespace pursuit {

/// Whether one ridge after the other is tried: f has no self-tuned regularization then.
bool tries_ridges(const StructuredOptions& options);

/// Works on entries in a unit that is a power of two.
class StructuredRun {
 public:
  /// `number` is its own among those of the run.
  StructuredRun(const StructuredOptions& options, Index rows, Index cols, Range range, double unit, Run& run,
                std::size_t number);
  bool resumed() const { return kept_->resumed(); }

  /// Mean and offsets of these entries, where they were asked for.
  void fit_offsets(const ObservedEntries& entries);

  /// One run of Algorithm 2; keeps the atoms of the best rank so far.
  void path(WeightedEntries training, const WeightedEntries& validation, int corrections,
            const Regularization& price, Index rank);

  CompletionResult result(GroupedEntries seen, Range range) &&;

  /// On the entries that judge, of the best so far.
  double best_error() const { return now_.error; }
  /// Whether the last path ended where a polish had nothing left to gain.
  bool settled() const { return settled_; }
  void forget_best() { best_error_ = std::numeric_limits<double>::infinity(); }
  bool interrupted() const { return run_.stopped(); }
  Stop stop() const { return run_.stopped() ? run_.stop() : reason_; }
  void finish(Stop reason) { reason_ = reason; }
  Index best_rank() const { return now_.rank; }
  int best_corrections() const { return now_.corrections; }
  const Regularization& best_price() const { return now_.price; }

 private:
  /// What is known after a path.
  struct Known {
    double error = std::numeric_limits<double>::infinity();
    Regularization price = {};
    int corrections = 0;
    Index rank = 0;
  };

  /// Mean and offsets are found again.
  void visit_state(StateArchive& archive);
  std::unique_ptr<Objective> objective_of(WeightedEntries training);
  CompletionModel model_of(const Expansion& atoms, const OwnTerms& terms) const;
  double error_of(const Expansion& atoms, const Objective& f, const WeightedEntries& validation) const;
  bool go_on(Index rank, Index target_rank, double noise, double validation);

  const StructuredOptions& o_;
  double unit_;
  CompletionModel base_;  // mean and offsets
  Run& run_;
  Stop reason_ = Stop::rank_reached;
  std::size_t paths_ = 0;  // asked for, of which those in the history were made
  std::vector<Known> history_;
  Known now_;
  std::vector<CompletionStage> stages_;
  Expansion best_;
  OwnTerms best_terms_;
  Regularization best_price_;
  double best_error_ = std::numeric_limits<double>::infinity();
  double best_noise_ = -1;  // of no model yet
  int best_corrections_ = 0;
  bool settled_ = true;
  std::unique_ptr<Kept> kept_;
};

}  // namespace pursuit
