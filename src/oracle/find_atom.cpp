#include "pursuit/oracle/find_atom.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "atoms/along_axis.hpp"

namespace pursuit {
namespace {

/// A block of starts that loses its worse half now and then, and remembers how all of them ended.
class Contest {
 public:
  Contest(Index starts, double tolerance)
      : tolerance_(tolerance), values_(Vector::Constant(starts, -std::numeric_limits<double>::infinity())) {}

  const Vector& values() const { return values_; }

  /// Takes the new values; true once no contender has risen noticeably.
  bool settle(const Vector& values) {
    const bool settled = (values.array() <= values_.array() + tolerance_ * values.array().abs()).all();
    values_ = values;
    return settled;
  }

  /// The columns to go on with: the better half of them, in their old order.
  std::vector<Index> survivors() {
    std::vector<Index> order(std::size_t(values_.size()));
    std::iota(order.begin(), order.end(), Index(0));
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return values_[a] > values_[b]; });
    const std::size_t keep = (order.size() + 1) / 2;
    for (std::size_t i = keep; i < order.size(); ++i) final_values_.push_back(values_[order[i]]);
    order.resize(keep);
    std::sort(order.begin(), order.end());
    values_ = Vector(values_(order));
    return order;
  }

  Index winner() const {
    Index best = 0;
    values_.maxCoeff(&best);
    return best;
  }

  double spread() {
    final_values_.insert(final_values_.end(), values_.begin(), values_.end());
    const auto median = final_values_.begin() + std::ptrdiff_t(final_values_.size() / 2);
    std::nth_element(final_values_.begin(), median, final_values_.end());
    const double best = *std::max_element(final_values_.begin(), final_values_.end());
    return best > 0 ? (best - *median) / best : 0.0;
  }

 private:
  double tolerance_;
  std::vector<double> final_values_;  // of the starts that were dropped
  Vector values_;
};

/// The power method on a block of atoms z, from step to step.
class Climb {
 public:
  Climb(const Form& R, const AtomSets& sets, Index number, Factors starts, const OracleOptions& options)
      : R_(R), sets_(sets), number_(number), o_(options), z_(std::move(starts)) {
    // Where no factor is alone none can take the sign: every start runs along +R and, where weights are free,
    // along -R.
    const bool alone = any_single();
    if (!alone && o_.sign == Sign::free) z_ = doubled(z_);
    side_ = Vector::Ones(z_.count());
    if (!alone && o_.sign == Sign::free)
      for (Index s = 1; s < side_.size(); s += 2) side_[s] = -1;
    shift_ = Vector::Zero(z_.count());
    const bool first_follows = sets_.is_single(0);  // it is the best answer to the others
    for (Index p = first_follows ? 1 : 0; p < sets_.panels(); ++p) {
      Panel& panel = z_.panel(p);
      for (Index s = 0; s < panel.cols(); ++s) {
        const Vector g = panel.col(s);
        maximize(axis(p), set(p), g, panel.col(s));
      }
    }
    if (first_follows) z_.panel(0).setZero(axis(0).own(), z_.count());
  }

  FoundAtom run() {
    constexpr int kStepsBetweenCuts = 2;
    const int starts = int(z_.count() / (any_single() || o_.sign != Sign::free ? 1 : 2));
    Contest contest(z_.count(), o_.tolerance);
    if (!any_single()) {
      R_.contract(0, z_, image_);
      values_ = side_.cwiseProduct(axis(0).dots(z_.panel(0), image_));
      contest.settle(values_);
    }
    int iteration = 0;
    for (bool settled = false; !settled && iteration < o_.max_iterations;) {
      ++iteration;
      bool shifted = false;
      for (Index p = 0; p < sets_.panels(); ++p)
        if (sets_.is_single(p))
          take_turn(p);
        else
          shifted = shifted_step(p) || shifted;
      settled = contest.settle(values_) && !shifted;
      if (!settled && z_.count() > 1 && iteration % kStepsBetweenCuts == 0) keep(contest.survivors());
    }
    const Index best = contest.winner();
    return {z_.atom(best), side_[best] * contest.values()[best], contest.spread(), iteration, starts};
  }

 private:
  const AtomSet& set(Index panel) const { return sets_.of(panel, number_); }
  const Axis& axis(Index panel) const { return R_.axis(sets_.mode_of(panel)); }
  bool any_single() const {
    for (Index p = 0; p < sets_.panels(); ++p)
      if (sets_.is_single(p)) return true;
    return false;
  }

  static Factors doubled(const Factors& starts) {
    std::vector<Index> twice;
    for (Index s = 0; s < 2 * starts.count(); ++s) twice.push_back(s / 2);
    return starts.pick(twice);
  }

  /// The best members along the image, of largest |<u, g>| where the weight may take either sign, relative to
  /// their norms where their scale is free. <R, z> = values * side.
  void take_turn(Index p) {
    R_.contract(sets_.mode_of(p), z_, image_);
    Panel& panel = z_.panel(p);
    for (Index s = 0; s < panel.cols(); ++s)
      if (o_.free_scale)
        fit(axis(p), set(p), 1.0, image_.col(s), o_.sign, panel.col(s));
      else
        maximize(axis(p), set(p), image_.col(s), panel.col(s));
    if (p + 1 < sets_.panels()) return;
    values_ = axis(p).dots(image_, panel);
    side_.setOnes(values_.size());
    if (o_.free_scale)
      for (Index q = 0; q < sets_.panels(); ++q) side_.array() *= axis(q).norms(z_.panel(q)).array();
    for (Index s = 0; s < side_.size(); ++s) {
      if (!(side_[s] > 0)) side_[s] = 1;
      if (o_.sign == Sign::free && values_[s] < 0) side_[s] = -side_[s];
      values_[s] /= side_[s];
    }
  }

  /// u <- argmax <u, (s R + kappa I) u>. Whether some start has to shift more, since it was not convex along
  /// its step.
  bool shifted_step(Index p) {
    const Index mode = sets_.mode_of(p);
    if (any_single()) {  // the other factors have moved since
      R_.contract(mode, z_, image_);
      values_ = axis(p).dots(z_.panel(p), image_);
      side_.setOnes(z_.count());
      if (o_.sign == Sign::free) side_ = (values_.array() < 0).select(-side_, side_);
      values_ = values_.cwiseProduct(side_);
    }
    Panel& U = z_.panel(p);
    Factors proposal = z_;
    for (Index s = 0; s < U.cols(); ++s)
      maximize(axis(p), set(p), side_[s] * image_.col(s) + shift_[s] * U.col(s), proposal.panel(p).col(s));
    R_.contract(mode, proposal, proposed_image_);
    const Vector proposed = side_.cwiseProduct(axis(p).dots(proposal.panel(p), proposed_image_));
    bool shifted = false;
    for (Index s = 0; s < U.cols(); ++s) {
      if (proposed[s] >= values_[s]) {
        U.col(s) = proposal.panel(p).col(s);
        image_.col(s) = proposed_image_.col(s);
        values_[s] = proposed[s];
      } else if (values_[s] - proposed[s] > o_.tolerance * std::abs(values_[s])) {
        shift_[s] = std::max({2 * shift_[s], std::abs(values_[s]), 0.5 * axis(p).norms(image_.col(s))[0]});
        shifted = true;
      }
    }
    return shifted;
  }

  void keep(const std::vector<Index>& columns) {
    z_ = z_.pick(columns);
    image_ = Panel(image_(Eigen::all, columns));
    side_ = Vector(side_(columns));
    shift_ = Vector(shift_(columns));
    values_ = Vector(values_(columns));
  }

  const Form& R_;
  const AtomSets& sets_;
  Index number_;
  const OracleOptions& o_;
  Factors z_;
  Panel image_, proposed_image_;  // contractions of R along the panel that moved last, or will move next
  Vector values_, side_, shift_;
};

}  // namespace

FoundAtom refine_atom(const Form& R, const AtomSets& sets, Index number, Factors starts,
                      const OracleOptions& options) {
  return Climb(R, sets, number, std::move(starts), options).run();
}

FoundAtom find_atom(const Form& R, const AtomSets& sets, Index number, const OracleOptions& options) {
  return refine_atom(R, sets, number, starting_block(R, sets, options.restarts, options.seed), options);
}

}  // namespace pursuit
