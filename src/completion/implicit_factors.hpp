#pragma once
// Factors of implicit feedback (implicit.hpp), one side after the other.

#include <cstdint>
#include <functional>
#include <optional>

#include "base/aligned.hpp"
#include "completion/entry_tasks.hpp"
#include "data/ranked_rows.hpp"
#include "pursuit/completion/model.hpp"
#include "pursuit/data/rank_team.hpp"

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

  ImplicitEntries() = default;
  ImplicitEntries(GroupedEntries entries, const Confidence& confidence);
};

EntryTasks tasks_of(const ImplicitEntries& entries, Ranks* ranks = nullptr);

/// The best rows, with the columns held. Those that are `nonnegative` have no number below zero, and begin
/// where they are.
void update_implicit_rows(const ImplicitEntries& entries, const EntryTasks& tasks,
                          const ImplicitVectors& cols, const ImplicitPrior& prior, bool nonnegative,
                          int threads, ImplicitVectors& rows, const std::function<bool()>& stop = {});

/// Which sides have no number below zero.
struct ImplicitSigns {
  bool rows = false, cols = false;
};

/// Both orders of the same entries, and who updates whose vectors by them: threads, and the ranks of a team.
class ImplicitSides {
 public:
  /// The team, if there is one, outlives this; rank 0 asks it.
  ImplicitSides(const ObservedMatrix& entries, const Confidence& confidence, RankTeam* team);
  ~ImplicitSides();
  ImplicitSides(const ImplicitSides&) = delete;
  ImplicitSides& operator=(const ImplicitSides&) = delete;

  /// Those of a rank that follows, and what it is asked.
  explicit ImplicitSides(Ranks& ranks);
  void follow(const Job& job);
  static bool is_made_by(const Job& job);
  static bool is_released_by(const Job& job);

  Index rows() const { return sides_[0].entries.ones.size(); }
  Index cols() const { return sides_[1].entries.ones.size(); }

  /// The best vectors of a side, with those of the other held. Ranks that share them finish them all.
  void update(bool of_rows, const ImplicitPrior& prior, bool nonnegative, int threads,
              const ImplicitVectors& held, ImplicitVectors& own, const std::function<bool()>& stop) const;

 private:
  struct Side {
    ImplicitEntries entries;
    std::optional<EntryTasks> tasks;
  };
  struct Task;

  void deal();
  void do_update(bool of_rows, Task task, ImplicitVectors& held, ImplicitVectors& own) const;

  Ranks* ranks_ = nullptr;  // where there are several
  RankTeam* team_ = nullptr;
  std::int64_t number_ = 0;
  Side sides_[2];
};

/// Both sides, which take turns.
class ImplicitFactors {
 public:
  /// The entries must outlive this. Columns begin at random.
  ImplicitFactors(const ImplicitSides& sides, Index atoms, ImplicitSigns nonnegative, std::uint64_t seed,
                  int threads);
  /// Or where a model has them; those that it has not are zeros.
  ImplicitFactors(const ImplicitSides& sides, const CompletionModel& start, int threads);

  void ends_when(std::function<bool()> stop) { stop_ = std::move(stop); }
  /// The same factors over other entries.
  void rebind(const ImplicitSides& sides) { sides_ = &sides; }

  /// Some turns of rows and columns, and rows once more. On the way, but not at the end, either side goes
  /// further than its best, in the direction it went; after(k) is asked after turn k whether to go on. So
  /// many of the turns are `done` already.
  void sweep(const ImplicitPrior& prior, int done, int turns, const std::function<bool(int)>& after);
  /// After a turn.
  void visit_state(StateArchive& archive);
  /// Those of a checkpoint; false where they have other sizes.
  bool take(ImplicitVectors rows, ImplicitVectors cols);

  const ImplicitVectors& rows() const { return rows_; }
  const ImplicitVectors& cols() const { return cols_; }
  Index atoms() const { return atoms_; }

 private:
  void update(bool of_rows, const ImplicitPrior& prior, double ahead);

  const ImplicitSides* sides_;
  ImplicitVectors rows_, cols_;
  Index atoms_;
  ImplicitSigns nonnegative_;
  int threads_;
  std::function<bool()> stop_;
};

}  // namespace pursuit
