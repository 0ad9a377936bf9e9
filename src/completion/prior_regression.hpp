#pragma once
// What is known of a member of one side (a user, say) before any of its values: a linear function of its
// features,
//
//   x_i ~ N(p_i, diag tau),     p_i = sum_f  F_if y_f,     y_f ~ N(0, diag nu).
//
// Features are the pattern of what was observed (F_if = 1/sqrt(count of i) where entry (i, f) was seen: which
// films a user rated says much about the user; Koren 2008, Salakhutdinov and Mnih 2008), or a table that the
// user brings. All coordinates of x go side by side. Means take one step of conjugate gradients per update,
// all y_f at once, along the gradient and the step before: two sums over the feature entries, shared by all
// threads, and by all ranks: each has y_f and members of its own. Draws must be exact, so the y_f are drawn
// one after the other, each from its conditional, by blocks (feature_blocks.hpp), on rank 0.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "base/shared_numbers.hpp"
#include "completion/features.hpp"
#include "pursuit/base/state_archive.hpp"
#include "pursuit/completion/model.hpp"

namespace pursuit {

class FeatureBlocks;

class PriorRegression {
 public:
  PriorRegression(Features features, int width, int threads);

  /// Moves the means of all y_f towards their posterior, and nu. `deviation` holds x_i - p_i, rows of
  /// `width`, and is kept true. Returns per coordinate the sum over i of the variance of p_i. `stop` is asked
  /// all the time: where it says true nothing has changed, and zeros are returned.
  std::vector<double> improve(std::span<const double> tau, int threads, AlignedVector<float>& deviation,
                              const std::function<bool()>& stop = {});

  /// Draws all y_f from their conditionals, and nu, with random numbers of `seed`; keeps `deviation` true.
  void draw(std::span<const double> tau, std::uint64_t seed, int threads, AlignedVector<float>& deviation);

  void widen(int width);

  /// Only the coordinates named, ascending, come first now, and the others are nothing.
  void keep(const std::vector<int>& coordinates);

  /// Other entries of the same features; the weights are kept.
  void rebind(Features features, int threads);

  /// The same entries, whose members are shared out in another way.
  void set_owners(std::shared_ptr<const EntryTasks> by_member) { features_.by_member = std::move(by_member); }

  // Taking up an earlier run: rank 0 has its weights, one row per feature; all ranks find what they say of
  // members; rank 0 adds that to the prior means. `nu` is empty where it is not known any more.

  void set_weights(const FactorMatrix& weights);
  /// In memory that machines share from this number on, which grows.
  void say(Ranks* ranks, int& shared, int threads);
  void start_from(const Eigen::VectorXf& nu, Index coordinates, std::span<const double> tau,
                  AlignedVector<float>& prior_mean);

  /// The entries of all ranks, which draws on rank 0 need.
  void take_whole(Features all, int threads);

  /// Of features and members that are the same.
  void visit_state(StateArchive& archive, int width, Index members);

  /// What each rank needs for its own members and features, from rank 0 to it, and back; all ranks call them
  /// together. What all need of all is in memory that machines share, from this number on, which grows.
  void deal(int& shared);
  void collect();

  int width() const { return width_; }
  const Features& features() const { return features_; }
  const AlignedVector<float>& weights() const { return weights_; }  // y_f, rows of `width`
  const std::vector<double>& prior_variance() const { return nu_; }
  std::vector<double>& prior_variance() { return nu_; }

 private:
  void draw_all(std::span<const double> tau, std::uint64_t seed, int threads,
                AlignedVector<float>& deviation);
  void forget_last_step();
  void find_norms(const Features& features, int threads);
  void guess_nu(Index coordinates, std::span<const double> tau);
  const Features& all_features() const { return whole_ ? *whole_ : features_; }

  /// Copies share it, for they do not work at the same time.
  struct Scratch {
    SharedNumbers<float> of_features, of_members;  // of one update
    AlignedVector<float> step, image;              // the last step and F times it
    AlignedVector<float> normal, room;             // of draws
  };

  Features features_;
  std::optional<Features> whole_;                // of all ranks, for draws
  std::shared_ptr<const FeatureBlocks> blocks_;  // of these features, once there are draws
  int width_;
  std::vector<float> squared_norm_;  // of the columns of F
  double used_ = 0;                  // columns that are not zero
  AlignedVector<float> weights_;
  std::vector<double> nu_;
  std::shared_ptr<Scratch> scratch_ = std::make_shared<Scratch>();
};

/// Rows of `width` floats copied into rows of `wider`, the rest zero.
AlignedVector<float> widened(const AlignedVector<float>& rows, int width, int wider);

/// Of rows of `width` numbers the columns named, ascending, come first; what is behind them is `rest`.
template <class Numbers>
void bring_forward(Numbers& rows, int width, const std::vector<int>& columns,
                   typename Numbers::value_type rest) {
  for (auto row = rows.begin(); row != rows.end(); row += width) {
    auto next = row;
    for (const int c : columns) *next++ = row[c];
    std::fill(next, row + width, rest);
  }
}

}  // namespace pursuit
