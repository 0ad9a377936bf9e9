#pragma once
// Completion without a parameter to tune. The model of an observed entry, values centred and scaled to unit
// variance:
//
//   y_ij = a_i + b_j + u_i . v_j + noise_ij,      noise_ij ~ N(0, sigma^2 / (w_i w_j)),   w ~ Gamma(shape,
//   shape) (a_i, u_i) ~ N(p_i, diag tau),                p_i = intercept + regression on features of i
//   (prior_regression.hpp)
//
// and the same for columns. Everything, tau and sigma included, is estimated from the entries: by variational
// Bayes (a sweep updates factorised posteriors and raises a bound of the evidence) or by Gibbs sampling (a
// sweep draws everything from its conditional). An atom u_k v_k^T that does not pay is shrunk to nothing by
// its own tau.
//
// Of 0 and 1 (Loss::bernoulli) mean + a_i + b_j + u_i . v_j are the log-odds, and there is no other noise.
// Their bound of the evidence is loose where much is uncertain: variances learned by it leave hardly an atom.
// Atoms have one tau then, which somebody else chooses, and the other side's factors count as known.

#include <cstdint>
#include <functional>

#include "base/chunks.hpp"
#include "completion/predictor.hpp"
#include "completion/prior_regression.hpp"
#include "completion/row_posteriors.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/completion/model.hpp"
#include "pursuit/data/rank_team.hpp"

namespace pursuit {

/// Rows, or columns: factor vectors of `width` numbers, the offset first.
struct FactorSide {
  std::shared_ptr<const EntryTasks> entries;
  SharedNumbers<float> mean, variance;  // posterior; in Gibbs sampling the draw, and the last variances
  AlignedVector<float> prior_mean;      // p_i
  std::vector<double> prior_variance;   // tau
  std::vector<double> intercept;
  std::vector<PriorRegression> regressions;  // what p_i is made of, beside the intercept
  SharedNumbers<float> noise_weight;         // w_i
  double noise_shape = 10;
  std::vector<double> count;  // of the entries of every member, by their weights
  std::vector<double> squared_error;

  Index size() const { return entries->size(); }
};

/// Sums over members, all of which are here: add(i, sums) adds what member i has to say.
template <class Add>
Vector sum_over_members(Index members, Index numbers, int threads, const Add& add) {
  return chunked_sum<Vector>(Chunks(members), threads, [&](Index first, Index count) {
    Vector sums = Vector::Zero(numbers);
    for (Index i = first; i < first + count; ++i) add(i, sums.data());
    return sums;
  });
}

/// What BayesianFactors asks of the ranks that follow.
enum class SweepOrder : std::int64_t { bind, say, take_state, sweep, draw, judge, give_state };

class BayesianFactors {
 public:
  /// Entries in both orders, with their weights; of a rank those of its own members.
  struct Data {
    std::shared_ptr<const EntryTasks> by_row, by_col;

    Data(std::shared_ptr<const EntryTasks> rows, std::shared_ptr<const EntryTasks> cols)
        : by_row(std::move(rows)), by_col(std::move(cols)) {}
    Data(const ObservedMatrix& all)
        : Data(std::make_shared<EntryTasks>(all.by_row()), std::make_shared<EntryTasks>(all.by_col())) {}
  };

  /// Offsets only, until widen(). Entries must outlive this, and so must features, which may be added before
  /// the first sweep, and the team that shares sweeps, if there is one: this is rank 0's hold on them then
  /// (ranked_sweeps.cpp).
  BayesianFactors(Data data, double mean, double scale, bool use_pattern, std::uint64_t seed, int threads,
                  const Loss& loss = {}, RankTeam* team = nullptr);
  /// A rank that follows, with its own entries.
  BayesianFactors(Ranks& ranks, Data data);
  /// What it is asked for.
  void follow(SweepOrder order, const ObservedEntries& held_back);

  void add_features(bool of_rows, Features features);

  /// Takes up an earlier result, with the weights of side information as this run scales it (empty for
  /// none). Rows and columns that it has not begin with their priors.
  void start_from(const CompletionModel& model, const FactorMatrix& row_features,
                  const FactorMatrix& col_features);

  /// Sweeps are left half done once `stop` says true, which it must not take back: some rows are updated
  /// then, others not. Sweeps that ranks share are always finished.
  void ends_when(std::function<bool()> stop) {
    if (!team_) stop_ = std::move(stop);
  }

  /// Goes on with other entries of a matrix of the same size.
  void rebind(Data data);

  /// tau of all atoms, where the loss does not let it be learned.
  void set_atom_variance(double variance);
  double atom_variance() const { return atom_variance_; }

  /// Variational update of columns, rows and all hyper-parameters.
  void sweep() { team_ ? lead(SweepOrder::sweep) : advance(false); }
  /// Gibbs draw of the same.
  void draw() { team_ ? lead(SweepOrder::draw) : advance(true); }
  /// Where ranks share sweeps each owns a part of what these have made, but for means, variances and noise:
  /// brings it together. Anything but sweeps needs it.
  void gather();

  /// What u_i . v_j and offsets are at some entries, which all ranks know; with their variances where asked.
  std::vector<Moments> at(const ObservedEntries& places, bool with_variances);

  /// More atoms, as small random vectors, the ones there are kept: `atoms` in all.
  void widen(int atoms);

  /// Only the coordinates named, ascending, of which 0 is the offset: the other atoms are nothing, and cost
  /// as much as any.
  void keep(const std::vector<int>& coordinates);

  /// All but the data, features and what sweeps find anew.
  void visit_state(StateArchive& archive);

  int atoms() const { return atoms_; }
  int width() const { return width_; }  // 1 + atoms and what fills the last lanes, which stays zero
  int sweeps() const { return sweeps_; }
  int threads() const { return threads_; }
  double noise_variance() const { return noise_variance_; }
  const FactorSide& rows() const { return rows_; }
  const FactorSide& cols() const { return cols_; }

 private:
  void advance(bool draws);
  void update(FactorSide& side, const FactorSide& other, bool draws);
  void update_factors(FactorSide& side, const FactorSide& other, bool draws);
  void begin_priors(FactorSide& side, bool draws);
  void end_priors(FactorSide& side, bool draws, std::vector<double> squares);
  void update_noise_weights(FactorSide& side, bool draws, SharingRound& round, Vector& divergence);
  static void set_noise_shape(FactorSide& side, double divergence);
  void bind(Data data);
  void count_entries();
  void bind_all();
  void lead(SweepOrder order);
  void ask(SweepOrder order, const std::function<void()>& own_part);
  void begin_together();
  void say();
  void say_all();
  void deal_state();
  void bring_entries_together();
  void moments_at(const ObservedEntries& places, Index first, Index last, bool with_variances,
                  std::vector<Moments>& moments) const;
  void judge_all(const ObservedEntries& places, bool with_variances, std::vector<Moments>& moments);
  void collect_state();
  void agree();
  template <class Visit>
  void visit_common(const Visit& visit);
  template <class Numbers>
  void agree_on_draw(Numbers&& drawn);
  bool learns_variances() const { return loss_.kind == Loss::squares; }
  void set_width(int width);
  std::uint64_t next_seed() { return random_.bits(); }

  /// Of one update; copies share it, for they do not work at the same time.
  struct Scratch {
    Regressors held;
    AlignedVector<float> deviation;  // of means from what priors say, of the side whose priors are updated
    Vector shift, weighted_error;    // sums over the side updated last
  };

  RankTeam* team_ = nullptr;                  // of several, on rank 0
  Ranks* ranks_ = nullptr;                    // where there are several
  bool bound_ = false, state_dealt_ = false;  // on all ranks
  bool entries_together_ = false;             // on rank 0, for draws
  Loss loss_;
  double mean_, scale_;  // of values: they are (value - mean) / scale
  bool use_pattern_ = false;
  int width_ = 0, atoms_ = 0, threads_ = 1;
  Random random_;
  FactorSide rows_, cols_;
  double noise_variance_ = 1, atom_variance_ = 0.5;
  double count_ = 0;  // of entries, by their weights
  int sweeps_ = 0;
  std::function<bool()> stop_;
  std::shared_ptr<Scratch> scratch_ = std::make_shared<Scratch>();
};

}  // namespace pursuit
