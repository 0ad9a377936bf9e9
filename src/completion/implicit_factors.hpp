#pragma once
// Factors of implicit feedback (implicit.hpp), one side after the other.

#include <cstdint>
#include <functional>

#include "base/aligned.hpp"
#include "completion/entry_tasks.hpp"
#include "pursuit/completion/model.hpp"

namespace pursuit {

/// Vectors of members side by side, each of `width` numbers: 0 in the place of an offset, factors, and zeros
/// up to a multiple of kFactorLanes.
struct ImplicitVectors {
  int width = 0;
  AlignedVector<float> numbers;

  ImplicitVectors() = default;
  ImplicitVectors(Index members, Index atoms);
  explicit ImplicitVectors(const FactorMatrix& mean, Index members = 0);  // 0: those of `mean`

  Index size() const { return Index(numbers.size()) / width; }
  const float* of(Index member) const { return numbers.data() + member * width; }
  FactorMatrix matrix(Index atoms) const;  // offset first
};

/// The entries of one side, with ones for values and their confidence for weights.
struct ImplicitEntries {
  GroupedEntries ones;
  std::vector<float> weights;  // none where all are 1

  ImplicitEntries(GroupedEntries entries, const Confidence& confidence);
};

EntryTasks tasks_of(const ImplicitEntries& entries);

/// The best rows, with the columns held.
void update_implicit_rows(const ImplicitEntries& entries, const EntryTasks& tasks,
                          const ImplicitVectors& cols, const ImplicitPrior& prior, int threads,
                          ImplicitVectors& rows, const std::function<bool()>& stop = {});

/// Both sides, which take turns.
class ImplicitFactors {
 public:
  /// The entries must outlive this. Columns begin at random.
  ImplicitFactors(const ImplicitEntries& by_row, const ImplicitEntries& by_col, Index atoms,
                  std::uint64_t seed, int threads);
  /// Or where a model has them; those that it has not are zeros.
  ImplicitFactors(const ImplicitEntries& by_row, const ImplicitEntries& by_col, const CompletionModel& start,
                  int threads);

  void ends_when(std::function<bool()> stop) { stop_ = std::move(stop); }
  /// The same factors over other entries.
  void rebind(const ImplicitEntries& by_row, const ImplicitEntries& by_col);

  /// Some turns of rows and columns, and rows once more. On the way, but not at the end, either side goes
  /// further than its best, in the direction it went; after(k) is asked after turn k whether to go on.
  void sweep(const ImplicitPrior& prior, int turns, const std::function<bool(int)>& after);

  const ImplicitVectors& rows() const { return rows_; }
  const ImplicitVectors& cols() const { return cols_; }
  Index atoms() const { return atoms_; }

 private:
  void update(bool of_rows, const ImplicitPrior& prior, double ahead);

  const ImplicitEntries *by_row_, *by_col_;
  EntryTasks row_tasks_, col_tasks_;
  ImplicitVectors rows_, cols_;
  Index atoms_;
  int threads_;
  std::function<bool()> stop_;
};

}  // namespace pursuit
