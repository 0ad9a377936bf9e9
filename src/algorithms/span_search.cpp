#include "algorithms/span_search.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <utility>

#include "algorithms/span_sweeps.hpp"
#include "algorithms/varimax.hpp"
#include "base/parallel.hpp"
#include "linalg/decompositions.hpp"
#include "linalg/unit_blocks.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/linalg/axis.hpp"

namespace pursuit {
namespace {

// A sweep that gains less has converged; of a single component, which costs little, and of the result, less
// still.
constexpr double kTolerance = 1e-6, kFineTolerance = 1e-9;
constexpr int kSweepsToConverge = 200;
constexpr int kRound = 6;        // sweeps after which a perturbation must be close to the best...
constexpr double kClose = 2e-3;  // ...by this much
constexpr double kHope = 3;      // rounds that gain as much as the last must lead beyond the best later on
constexpr double kSlow = 3e-4;   // gain of a round of the best below which its perturbations begin
constexpr double kStartingShare = 0.15, kChainShare = 0.85;  // of the sweeps: first starts; chains
constexpr int kSweepsOfAStart = 25, kMostStarts = 17;
constexpr std::size_t kStay = 4;        // of the starts, after a round
constexpr int kSweepsForChains = 2000;  // from this many sweeps on, several chains
constexpr int kChains = 5;              // at least
constexpr int kSweepsOfAChain = 9000;   // enough for one to settle; longer searches have more chains
constexpr Index kNumbersTogether = Index(1) << 22;  // in the loadings of climbs that go together
constexpr Index kMostTogether = 16;
constexpr std::size_t kFew = 4;  // climbs that share products: side by side they would leave threads idle
constexpr Index kCached = Index(1) << 21;  // numbers of a matrix that is as well read by each climb
constexpr int kStretch = 8;                // sweeps before the time is asked for

/// Climbs go side by side, each at its own pace; where the data are large, or climbs few, together, sweep by
/// sweep, so that one product with the data serves all of them. Which climbs these are depends on the problem
/// alone. They go in rounds: what promises nothing then makes room for others, so that many are on their way
/// at once and many threads have work.
class Search {
 public:
  Search(const SpanProblem& problem, int sweeps, std::uint64_t seed,
         const std::function<bool(int, int, double)>& watch, Checkpoints* checkpoints)
      : p_(problem),
        sweeps_(problem),
        axis_(problem.A.cols()),
        r_(Index(problem.sets.size())),
        together_(std::clamp(kNumbersTogether / (axis_.size() * r_), Index(1), kMostTogether)),
        promising_(is_long(sweeps) ? 3 : 2),
        alone_(problem.A.rows() * problem.A.cols() <= kCached),
        budget_(sweeps),
        random_(seed),
        watch_(watch),
        kept_(checkpoints, kSpanPart, [this](StateArchive& archive) { visit_state(archive); }) {}

  SpanSolution run(const Matrix& leading, const Vector& values) {
    if (r_ == 1) return best_single(leading);
    // Perturbations of one solution end in its neighbourhood; with time for it, of several.
    const int wanted = is_long(budget_) ? std::clamp(budget_ / kSweepsOfAChain, kChains, 4 * kChains) : 1;
    if (place_ == Place::nowhere) {
      going_ = starts(leading, values, wanted);
      if (p_.initial.size() > 0) going_.push_back({members(p_.initial, p_.sets), p_.sets});
      place_ = Place::starting;
    }
    if (place_ == Place::starting) {
      climb_on();
      if (wanted > 1) {
        // The best, and others whatever they are worth yet: those next to the best are too often next to it.
        std::swap(going_.front(), *std::min_element(going_.begin(), going_.end(), by_value));
        if (going_.size() > std::size_t(wanted))
          going_.erase(going_.begin() + 1, going_.end() - (wanted - 1));
        place_ = Place::settling;
      } else {
        std::stable_sort(going_.begin(), going_.end(), by_value);
        going_.resize(std::min(going_.size(), kStay));
        chains_ = {{{}, p_.sets}};
        place_ = Place::racing;
      }
    }
    if (place_ == Place::settling) {
      ascend(kSweepsToConverge);
      chains_ = std::exchange(going_, {});
      place_ = Place::chaining;
    }
    if (place_ == Place::chaining) {
      perturb(kChainShare);
      chains_ = {std::move(*std::min_element(chains_.begin(), chains_.end(), by_value))};
      begin_to_perturb();
    }
    if (place_ == Place::racing) {
      while (ascending_ || (!going_.empty() && rises(chains_[0], going_) && !stopped_)) climb_on();
      begin_to_perturb();
    }
    perturb(1);
    return solution(chains_.front());
  }

  /// A few sweeps more.
  SpanSolution polished(Matrix loadings) {
    tolerance_ = kFineTolerance;
    going_ = {{std::move(loadings), p_.sets}};
    ascend(kRound);
    return solution(going_.front());
  }

 private:
  /// Where a search is; between any two stretches of sweeps it may be left, and gone on with.
  enum class Place { nowhere, starting, settling, chaining, racing, perturbing };

  void begin_to_perturb() {
    place_ = Place::perturbing;
    perturbed_ = 0;
  }

  SpanSolution solution(Climb& climb) const {
    climb.best.sweeps = used_;
    return std::move(climb.best);
  }

  void visit_state(StateArchive& archive) {
    constexpr Index kMostClimbs = 1 << 20;
    archive("place", place_, 0, Index(Place::perturbing));
    archive("ascending", ascending_);
    archive("used", used_);
    archive("best_value", best_value_);
    archive("perturbed", perturbed_);
    Index going = Index(going_.size()), chains = Index(chains_.size());
    archive("going", going, 1, kMostClimbs);
    archive("chains", chains, 0, kMostClimbs);
    archive("old", old_, 0, going);
    archive("first", first_, 0, going);
    archive("done", done_);
    archive.require(ascending_ && place_ != Place::nowhere, "it was not left between two sweeps");
    archive.require(chains > 0 || place_ <= Place::settling, "there is nothing to perturb");
    StateArchive random = archive.in("random");
    random_.visit_state(random);
    visit(archive, "going", going_, std::size_t(going), std::size_t(std::max<Index>(chains, 1)));
    visit(archive, "chains", chains_, std::size_t(chains), 1);
  }

  void visit(StateArchive& archive, const std::string& name, std::vector<Climb>& climbs, std::size_t count,
             std::size_t chains) const {
    if (archive.reads()) climbs.assign(count, {{}, p_.sets});
    for (std::size_t k = 0; k < climbs.size(); ++k) {
      StateArchive part = archive.in(name, Index(k));
      Climb& climb = climbs[k];
      // A chain has no loadings but its best, and none of these where nothing has arrived yet.
      part("loadings", climb.U, StateArchive::kAny, StateArchive::kAny);
      part("best", climb.best.loadings, StateArchive::kAny, StateArchive::kAny);
      for (const Matrix* U : {&climb.U, &climb.best.loadings})
        part.require(U->size() == 0 || (U->rows() == axis_.own() && U->cols() == r_),
                     "loadings of other sizes");
      const bool is_chain = &climbs == &chains_;
      part.require((is_chain ? climb.best.loadings : climb.U).size() > 0, "a climb without loadings");
      part("value", climb.best.value);
      part.require(!std::isnan(climb.best.value), "a value that is no number");
      part("last", climb.last);
      part("arrived", climb.arrived);
      part("before", climb.before);
      part("gain", climb.gain);
      part("chain", climb.chain_number, 0, Index(chains) - 1);
      part("counts", climb.counts);
      part.require(climb.counts.empty() || Index(climb.counts.size()) == r_, "counts of other components");
      for (const Index number : climb.counts)
        part.require(number >= 1 && number <= axis_.size(), "a count of non-zeros that is out of range");
      if (archive.reads() && !climb.counts.empty()) climb.sets = sweeps_.sets_with(climb.counts);
    }
  }

  static bool is_long(int sweeps) { return sweeps >= kSweepsForChains; }

  static bool by_value(const Climb& a, const Climb& b) { return a.best.value > b.best.value; }

  /// Leading components, as they are and rotated, and as many rotations more as there is time for.
  std::vector<Climb> starts(const Matrix& leading, const Vector& values, int chains) {
    const Matrix scaled = leading * values.asDiagonal(), identity = Matrix::Identity(r_, r_);
    const int most = std::max(kMostStarts, 3 * chains + 2);
    const int count = std::clamp(int(kStartingShare * budget_ / kSweepsOfAStart), 3, most);
    std::vector<Climb> result(std::size_t(count), {{}, p_.sets});
    std::vector<Matrix> rotations(result.size(), identity);
    for (std::size_t k = 4; k < rotations.size(); ++k)
      rotations[k] = orthonormal_basis(random_.gaussian_matrix(r_, r_));
    // Of few, each by all threads.
    const bool few = result.size() <= kFew;
    parallel_for(count, few ? 1 : p_.threads, [&](Index k) {
      const Matrix& base = k != 2 && k % 2 == 0 ? scaled : leading;
      const auto rotated = [&]() -> Matrix {
        return base * varimax_rotation(base, rotations[std::size_t(k)], few ? p_.threads : 1);
      };
      result[std::size_t(k)].U = members(k == 1 ? leading : k == 3 ? heaviest_columns() : rotated(), p_.sets);
    });
    return result;
  }

  /// One component: from the leading direction, its opposite and the heaviest columns; after a few sweeps the
  /// better ones go on to the end.
  SpanSolution best_single(const Matrix& leading) {
    constexpr Index kColumns = 30, kSurvivors = 8;
    constexpr int kSweeps = 4;
    tolerance_ = kFineTolerance;
    if (place_ == Place::nowhere) {
      const Matrix columns = axis_.units(heaviest(std::min(kColumns, leading.rows())));
      going_.assign(std::size_t(2 + columns.cols()), {Vector(leading.rows()), p_.sets});
      for (Index i = 0; i < Index(going_.size()); ++i) {
        const Vector start = i < 2 ? Vector((i == 0 ? 1 : -1) * leading.col(0)) : Vector(columns.col(i - 2));
        p_.sets[0]->maximize(start, going_[std::size_t(i)].U.col(0));
      }
      if (p_.initial.size() > 0) going_.push_back({members(p_.initial, p_.sets), p_.sets});
      place_ = Place::starting;
    }
    if (place_ == Place::starting) {
      ascend(kSweeps);
      std::stable_sort(going_.begin(), going_.end(), by_value);
      going_.resize(std::min<std::size_t>(kSurvivors, going_.size()));
      place_ = Place::settling;
    }
    ascend(kSweepsToConverge);
    return solution(*std::min_element(going_.begin(), going_.end(), by_value));
  }

  /// Whether to go on, up to a share of the budget.
  bool more(double share) const { return !stopped_ && used_ < share * budget_; }

  /// Calls work(k) for k = 0..count-1 side by side.
  template <class Work>
  void for_each(Index count, const Work& work) const {
    parallel_for(count, p_.threads, work);
  }

  /// Every column replaced by the member of its set along it.
  static Matrix members(Matrix U, const std::vector<Atoms>& sets) {
    for (Index i = 0; i < U.cols(); ++i) {
      const Vector g = U.col(i);
      sets[std::size_t(i)]->fit(1.0, g, Sign::free, U.col(i));
    }
    return U;
  }

  /// A round.
  void climb_on() {
    if (!ascending_)
      for (Climb& climb : going_) climb.before = climb.best.value;
    ascend(kRound);
    for (Climb& climb : going_) climb.gain = climb.best.value - climb.before;
  }

  /// Moves a solution to the best of those that are going, and drops those that lead nowhere. Whether the
  /// best still rises.
  static bool rises(Climb& best, std::vector<Climb>& going) {
    const auto first = std::min_element(going.begin(), going.end(), by_value);
    const bool is_fast = !first->arrived && first->gain > kSlow;
    take_better(best, *first);
    std::erase_if(going, [&](const Climb& climb) { return !is_hopeful(climb, best); });
    return is_fast;
  }

  static bool is_hopeful(const Climb& climb, const Climb& best) {
    return !climb.arrived && climb.best.value + kHope * climb.gain >= best.best.value;
  }

  static void take_better(Climb& best, const Climb& other) {
    if (!(other.best.value > best.best.value)) return;
    best.best = other.best;
    best.sets = other.sets;
    best.counts = other.counts;
  }

  /// Sweeps until they gain nothing, or so many; the rest of them, where a run that is resumed was left in
  /// their midst.
  void ascend(int sweeps) {
    if (!ascending_) first_ = done_ = 0;
    ascending_ = true;
    const Index count = Index(going_.size());
    for (; first_ < count; first_ += together_, done_ = 0)
      ascend({going_.data() + first_, std::size_t(std::min(together_, count - first_))}, sweeps);
    ascending_ = false;
  }

  void ascend(std::span<Climb> climbs, int sweeps) {
    const bool alone = alone_ && climbs.size() > kFew;
    std::vector<ClimbGroup> groups;
    for (Climb& climb : climbs) {
      if (climb.arrived) continue;
      if (alone || groups.empty()) groups.emplace_back();
      groups.back().going.push_back(&climb);
    }
    const int stretch = alone ? kStretch : 1;
    while (done_ < sweeps && !groups.empty() && !stopped_) {
      std::vector<int> made(groups.size());
      for_each(Index(groups.size()), [&](Index k) {
        made[std::size_t(k)] =
            sweeps_.make(groups[std::size_t(k)], std::min(stretch, sweeps - done_), tolerance_);
      });
      done_ += stretch;
      for (const int count : made) used_ += count;
      for (const Climb& climb : climbs) best_value_ = std::max(best_value_, climb.best.value);
      if (watch_ && !watch_(used_, budget_, best_value_)) stopped_ = true;
      std::erase_if(groups, [](const ClimbGroup& group) { return group.going.empty(); });
    }
  }

  std::vector<Index> heaviest(Index count) const {
    return axis_.heaviest(squared_column_norms(p_.A).cwiseSqrt(), count);
  }

  /// What the heaviest columns regress on.
  Matrix heaviest_columns() const {
    Matrix image;
    p_.A.apply_gram(axis_.units(heaviest(r_)), image);
    return image;
  }

  /// Goes on from perturbations of every chain, and with what is going already; moves a chain to the best of
  /// its own.
  void perturb(double share) {
    while (ascending_ || ((more(share) || !going_.empty()) && !stopped_)) {
      if (!ascending_) add_perturbed(share);
      climb_on();
      // The most promising of each chain stay.
      std::stable_sort(going_.begin() + old_, going_.end(), by_value);
      std::vector<Index> stay(chains_.size(), 0);
      std::vector<Climb> staying;
      for (Index k = 0; k < Index(going_.size()); ++k) {
        Climb& climb = going_[std::size_t(k)];
        Climb& chain = chains_[std::size_t(climb.chain_number)];
        const bool promising = k < old_ ? is_hopeful(climb, chain)
                                        : !climb.arrived && climb.best.value > chain.best.value - kClose &&
                                              stay[std::size_t(climb.chain_number)]++ < promising_;
        take_better(chain, climb);
        if (promising) staying.push_back(std::move(climb));
      }
      going_ = std::move(staying);
    }
  }

  /// Chains in turn, each in one of several ways, in turn; no more than there is time for.
  void add_perturbed(double share) {
    const auto count = Index(chains_.size());
    const Index affordable = Index((share * budget_ - used_) / kRound),
                free = together_ - Index(going_.size());
    const Index fresh = more(share) ? std::max<Index>(std::min(affordable, free), going_.empty() ? 1 : 0) : 0;
    old_ = Index(going_.size());
    going_.resize(going_.size() + std::size_t(fresh));
    std::vector<Random> streams;
    for (Index k = 0; k < fresh; ++k) streams.emplace_back(random_.bits());
    for_each(fresh, [&](Index k) {
      Climb& attempt = going_[std::size_t(old_ + k)];
      const Index n = perturbed_ + k;
      attempt.chain_number = n % count;
      const Climb& chain = chains_[std::size_t(attempt.chain_number)];
      attempt.sets = chain.sets;
      attempt.counts = chain.counts;
      attempt.U = members(perturbed(chain.best.loadings, n / count, streams[std::size_t(k)]), chain.sets);
    });
    perturbed_ += fresh;
  }

  Matrix perturbed(Matrix U, Index n, Random& random) const {
    const Index p = U.rows(), r = U.cols();
    switch (n % 3) {
      case 0: {  // noise, of a random size, on all of them
        const double size = std::pow(10.0, -1.5 * random.uniform());
        const double entry = size * std::sqrt(double(r) / std::max(1.0, double((U.array() != 0).count())));
        return U + entry * axis_.gaussian(r, random);
      }
      case 1: {  // two of them rotated, in the plane of what they regress on
        const Index a = random.below(r), b = (a + 1 + random.below(r - 1)) % r;
        const double angle = std::numbers::pi * (random.uniform() - 0.5);
        Matrix pair(p, 2), image;
        pair << U.col(a), U.col(b);
        p_.A.apply_gram(pair, image);
        for (auto direction : image.colwise()) direction.normalize();  // zero stays zero where nothing varies
        U.col(a) = std::cos(angle) * image.col(0) + std::sin(angle) * image.col(1);
        U.col(b) = std::cos(angle) * image.col(1) - std::sin(angle) * image.col(0);
        return U;
      }
      default: {  // one of them pulled towards a random direction of large variance
        const Index a = random.below(r);
        Matrix direction, image;
        p_.A.apply_transposed(random.gaussian_matrix(p_.A.rows(), 1), direction);
        p_.A.apply_gram(direction, image);
        U.col(a) = image.normalized() + 2 * random.uniform() * U.col(a);
        return U;
      }
    }
  }

  const SpanProblem& p_;
  const SpanSweeps sweeps_;
  const Axis axis_;  // of the loadings
  const Index r_, together_;
  const Index promising_;  // perturbations of a solution that go on to the end, of those made at once
  const bool alone_;
  double tolerance_ = kTolerance;
  int budget_, used_ = 0;
  double best_value_ = kNoValue;
  Random random_;
  const std::function<bool(int, int, double)>& watch_;
  bool stopped_ = false;

  Place place_ = Place::nowhere;
  std::vector<Climb> going_, chains_;
  bool ascending_ = false;
  Index first_ = 0;      // of the climbs that ascend together
  int done_ = 0;         // sweeps of these
  Index old_ = 0;        // climbs that were there before the newest perturbations
  Index perturbed_ = 0;  // chains so far
  const Kept kept_;
};

}  // namespace

SpanSolution search_span(const SpanProblem& problem, const Matrix& leading, const Vector& leading_values,
                         int sweeps, std::uint64_t seed, const std::function<bool(int, int, double)>& watch,
                         Checkpoints* checkpoints) {
  return Search(problem, sweeps, seed, watch, checkpoints).run(leading, leading_values);
}

SpanSolution polish_span(const SpanProblem& problem, Matrix loadings) {
  return Search(problem, 0, 0, nullptr, nullptr).polished(std::move(loadings));
}

}  // namespace pursuit
