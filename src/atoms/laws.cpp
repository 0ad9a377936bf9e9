#include "pursuit/atoms/laws.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <new>
#include <numeric>

#include "pursuit/base/error.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// At most eight entries of a vector, for messages.
std::string text(const Vector& x) {
  const Index shown = std::min<Index>(x.size(), 8);
  return fmt::format("[{}{}]", fmt::join(x.data(), x.data() + shown, ", "), shown < x.size() ? ", ..." : "");
}

bool same_bits(const Vector& x, const Vector& y) {
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](double p, double q) {
    return std::bit_cast<std::uint64_t>(p) == std::bit_cast<std::uint64_t>(q);
  });
}

/// sum a_i x_i^2 - 2 b_i x_i at x = t u.
double parabolas(const Vector& a, const Vector& b, double t, const Vector& u) {
  return t * t * a.dot(u.cwiseAbs2()) - 2 * t * b.dot(u);
}

/// The parabolas at the best multiple of u.
double best_parabolas(const Vector& a, const Vector& b, Sign sign, const Vector& u) {
  const double curvature = a.dot(u.cwiseAbs2()), slope = b.dot(u);
  if (!(curvature > 0) || (sign == Sign::nonnegative && slope < 0)) return 0;
  return -slope * slope / curvature;
}

const char* name(Sign sign) {
  return sign == Sign::free ? "of free sign" : "non-negative";
}

/// One run over all laws: samples inputs, collects members, asks, compares.
class LawCourt {
 public:
  LawCourt(const AtomSet& set, Index n, const LawOptions& options)
      : set_(set), n_(n), options_(options), random_(options.seed) {}

  std::vector<LawViolation> verdict() {
    hear("membership", [&] { gather_members(); });
    hear("best", [&] { best(); });
    hear("homogeneity", [&] { homogeneity(); });
    hear("determinism", [&] { determinism(); });
    hear("zero", [&] { zero(); });
    hear("finiteness", [&] { finiteness(); });
    for (const Sign sign : {Sign::free, Sign::nonnegative}) {
      hear("uniform fit", [&] { uniform_fit(sign); });
      hear("fit", [&] { fit(sign); });
    }
    hear("symmetry", [&] { symmetry(); });
    hear("unit norm", [&] { unit_norm(); });
    hear("simple", [&] { simple(); });
    hear("narrowing", [&] { narrowing(); });
    hear("spec", [&] { spec(); });
    return violations_;
  }

 private:
  /// Runs the hearing of one law; an exception breaks it too.
  template <class Hearing>
  void hear(const char* law, const Hearing& hearing) {
    try {
      hearing();
    } catch (const std::bad_alloc&) {
      throw;  // no fault of the set
    } catch (const std::exception& error) {
      convict(law, fmt::format("an exception: {}", error.what()));
    }
  }

  void convict(const std::string& law, const std::string& detail) {
    const auto known = [&](const LawViolation& violation) { return violation.law == law; };
    if (std::none_of(violations_.begin(), violations_.end(), known)) violations_.push_back({law, detail});
  }

  Vector sample(int trial) {
    Vector g = random_.gaussian_matrix(n_, 1);
    switch (trial % 6) {
      case 1:  // thin
        for (double& x : g)
          if (random_.uniform() < 0.7) x = 0;
        break;
      case 2:  // tied
        for (double& x : g) x = double(random_.below(3)) - 1;
        break;
      case 3: g = -g.cwiseAbs(); break;
      case 4: g = g.cwiseAbs(); break;
      case 5:  // badly scaled
        for (double& x : g) x *= std::pow(10.0, 6 * random_.uniform() - 3);
        break;
      default: break;
    }
    return g;
  }

  /// The oracles, with an output that holds something else before.
  Vector maximize(const Vector& g, double before = kNaN) const {
    Vector u = Vector::Constant(n_, before);
    set_.maximize(g, u);
    return u;
  }

  struct Fit {
    double scale;
    Vector u;
  };
  template <class Curvature>
  Fit fit_to(const Curvature& a, const Vector& b, Sign sign, double before = kNaN) {
    Fit result{0, Vector::Constant(n_, before)};
    result.scale = set_.fit(a, b, sign, result.u);
    if (!is_member(result.u))
      convict("membership",
              fmt::format("fit to b = {} answers {}, which contains() refuses", text(b), text(result.u)));
    return result;
  }

  bool is_member(const Vector& u) const { return u.allFinite() && set_.contains(u, options_.tolerance); }

  void gather_members() {
    for (int trial = 0; trial < options_.trials; ++trial) {
      inputs_.push_back(sample(trial));
      const Vector u = maximize(inputs_.back());
      if (!is_member(u))
        convict("membership",
                fmt::format("maximize({}) is {}, which contains() refuses", text(inputs_.back()), text(u)));
      members_.push_back(u);
    }
  }

  void best() {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const Vector& g = inputs_[i];
      const double value = g.dot(members_[i]), slack = options_.tolerance * g.norm();
      for (const Vector& other : members_)
        if (!(promised(g.dot(other)) <= value + slack * other.norm()))
          convict("best", fmt::format("maximize({}) reaches {}, but the member {} reaches {}", text(g), value,
                                      text(other), g.dot(other)));
      if (!options_.brute_force) continue;
      const double exact = options_.brute_force(g);
      if (!(promised(exact) <= value + slack && value <= exact + slack))
        convict("best", fmt::format("maximize({}) reaches {}, but the maximum is {}", text(g), value, exact));
    }
  }

  void homogeneity() {
    for (std::size_t i = 0; i < members_.size(); ++i)
      for (const double c : {1e-100, 1e-3, 7.0, 1e100}) {
        const Vector &g = inputs_[i], u = maximize(c * g);
        if (!(promised(g.dot(members_[i])) <= g.dot(u) + options_.tolerance * g.norm() * u.norm()))
          convict("homogeneity",
                  fmt::format("for g = {}, maximize(g) reaches {} along g, maximize({} g) only {}", text(g),
                              g.dot(members_[i]), c, g.dot(u)));
      }
  }

  void determinism() {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const Vector& g = inputs_[i];
      const Vector again = maximize(g, 0.0);
      if (!same_bits(members_[i], again))
        convict("determinism", fmt::format("maximize({}) is {}, and asked again {}", text(g),
                                           text(members_[i]), text(again)));
      const Vector a = curvatures(), b = (a.array() > 0).select(g, 0.0);
      const Fit first = fit_to(a, b, Sign::free), second = fit_to(a, b, Sign::free, 0.0);
      if (first.scale != second.scale || !same_bits(first.u, second.u))
        convict("determinism", fmt::format("fit to b = {} is {} * {}, and asked again {} * {}", text(b),
                                           first.scale, text(first.u), second.scale, text(second.u)));
    }
  }

  void zero() {
    const Vector nothing = Vector::Zero(n_), u = maximize(nothing);
    if (!is_member(u)) convict("zero", fmt::format("maximize(0) is {}, which contains() refuses", text(u)));
    for (const Sign sign : {Sign::free, Sign::nonnegative})
      for (const Vector& a : {Vector(Vector::Ones(n_)), curvatures(), nothing}) {
        const double scale = fit_to(a, nothing, sign).scale;
        if (scale != 0) convict("zero", fmt::format("the fit to b = 0 has scale {}", scale));
      }
  }

  void finiteness() {
    for (const double bad : {kNaN, kInfinity, -kInfinity})
      for (const Index place : {Index(0), n_ - 1}) {
        Vector g = Vector::Ones(n_);
        g[place] = bad;
        const auto refused = [&](const auto& question) {
          try {
            question();
          } catch (const InvalidArgument&) {
            return true;
          }
          return false;
        };
        if (!refused([&] { maximize(g); }))
          convict("finiteness", fmt::format("maximize answers a vector with an entry {}", bad));
        if (!refused([&] { fit_to(1.0, g, Sign::free); }) ||
            !refused([&] { fit_to(g, Vector::Ones(n_), Sign::free); }))
          convict("finiteness", fmt::format("fit answers a vector with an entry {}", bad));
      }
  }

  void uniform_fit(Sign sign) {
    for (const Vector& b : inputs_)
      for (const double curvature : {0.2, 5.0}) {
        const Vector a = Vector::Constant(n_, curvature);
        double target = best_parabolas(a, b, sign, maximize(b));
        if (sign == Sign::free) target = std::min(target, best_parabolas(a, b, sign, maximize(-b)));
        target *= set_.traits().oracle_factor * set_.traits().oracle_factor;
        const Fit one = fit_to(curvature, b, sign), many = fit_to(a, b, sign);
        const double slack = options_.tolerance * b.squaredNorm() / curvature;
        for (const Fit& found : {one, many})
          if (!(parabolas(a, b, found.scale, found.u) <= target + slack))
            convict("uniform fit",
                    fmt::format("the {} fit to b = {} with curvature {} is {} * {} and reaches {}, but a "
                                "multiple of maximize reaches {}",
                                name(sign), text(b), curvature, found.scale, text(found.u),
                                parabolas(a, b, found.scale, found.u), target));
      }
  }

  void fit(Sign sign) {
    for (const Vector& input : inputs_) {
      const Vector a = curvatures(), b = (a.array() > 0).select(input, 0.0);
      const Fit found = fit_to(a, b, sign);
      if (!std::isfinite(found.scale) || (sign == Sign::nonnegative && found.scale < 0))
        convict("fit", fmt::format("the {} fit to a = {}, b = {} has scale {}", name(sign), text(a), text(b),
                                   found.scale));
      const double value = parabolas(a, b, found.scale, found.u);
      const double unconstrained = (a.array() > 0).select(b.array().square() / a.array(), 0.0).sum();
      const auto beaten_by = [&](const Vector& member) {
        const double other =
            best_parabolas(a, b, sign, member) * set_.traits().oracle_factor * set_.traits().oracle_factor;
        if (!(value <= other + options_.tolerance * unconstrained))
          convict("fit",
                  fmt::format("the {} fit to a = {}, b = {} is {} * {} and reaches {}, but a multiple of the "
                              "member {} reaches {}",
                              name(sign), text(a), text(b), found.scale, text(found.u), value, text(member),
                              other));
      };
      if (const double steepest = a.maxCoeff(); steepest > 0) beaten_by(fit_to(steepest, b, sign).u);
      if (set_.traits().exact_fit) std::for_each(members_.begin(), members_.end(), beaten_by);
    }
  }

  void symmetry() {
    if (!set_.traits().symmetric) return;
    for (const Vector& u : members_)
      if (!is_member(-u))
        convict("symmetry",
                fmt::format("symmetric, but contains() refuses the negative of the member {}", text(u)));
  }

  void unit_norm() {
    if (!set_.traits().unit_norm) return;
    for (const Vector& u : members_)
      if (!(std::abs(u.norm() - 1) <= options_.tolerance))
        convict("unit norm", fmt::format("unit_norm, but the member {} has norm {}", text(u), u.norm()));
  }

  void simple() {
    const auto& simple = set_.traits().simple;
    if (!simple) return;
    if (set_.traits().symmetric == simple->nonnegative || !set_.traits().unit_norm)
      convict("simple", "the traits of a simple set are unit_norm, and symmetric unless it is non-negative");
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const Vector expected = simple_answer(*simple, inputs_[i]);
      if (expected.isZero(0)) continue;
      if (!((members_[i] - expected).norm() <= options_.tolerance))
        convict("simple", fmt::format("maximize({}) is {}, not the vector clipped to its signs, cut to its "
                                      "largest entries and scaled",
                                      text(inputs_[i]), text(members_[i])));
    }
  }

  /// Zero where nothing is left to scale.
  static Vector simple_answer(const SimpleSet& simple, Vector g) {
    if (simple.nonnegative) g = g.cwiseMax(0.0);
    std::vector<Index> order(std::size_t(g.size()));
    std::iota(order.begin(), order.end(), Index(0));
    std::stable_sort(order.begin(), order.end(),
                     [&](Index i, Index j) { return std::abs(g[i]) > std::abs(g[j]); });
    for (auto i = std::size_t(simple.max_nonzeros(g.size())); i < order.size(); ++i) g[order[i]] = 0;
    return g.normalized();
  }

  void narrowing() {
    hear_narrowed("nonnegative()", set_.nonnegative(), [](const Vector& u) { return u.minCoeff() >= 0; });
    Mask mask{std::vector<unsigned char>(std::size_t(n_), 1)};
    for (Index i = 1; i < n_; ++i) mask.inside[std::size_t(i)] = random_.uniform() < 0.6;
    const auto inside = [&](const Vector& u) {
      for (Index i = 0; i < n_; ++i)
        if (u[i] != 0 && !mask.inside[std::size_t(i)]) return false;
      return true;
    };
    hear_narrowed("within(mask)", set_.within(mask), inside);
  }

  template <class Keeps>
  void hear_narrowed(const char* name, const AtomSetPtr& narrowed, const Keeps& keeps) {
    if (!narrowed) return;
    std::vector<Vector> answers, others;
    for (const Vector& g : inputs_) {
      Vector u = Vector::Constant(n_, kNaN);
      narrowed->maximize(g, u);
      if (!is_member(u) || !keeps(u))
        convict("narrowing", fmt::format("{}.maximize({}) is {}, which is no member of the set or breaks the "
                                         "constraint",
                                         name, text(g), text(u)));
      answers.push_back(u);
    }
    others = answers;
    std::copy_if(members_.begin(), members_.end(), std::back_inserter(others), keeps);
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      for (const Vector& other : others) {
        const Vector& g = inputs_[i];
        const double value = g.dot(answers[i]);
        if (!(promised(g.dot(other), *narrowed) <= value + options_.tolerance * g.norm() * other.norm()))
          convict("narrowing", fmt::format("{}.maximize({}) reaches {}, but the member {} reaches {}", name,
                                           text(g), value, text(other), g.dot(other)));
      }
  }

  void spec() {
    const std::string spec = set_.spec();
    if (spec.starts_with("custom:") || !options_.parse) return;
    const Atoms parsed = options_.parse(spec);
    if (parsed.spec() != spec) convict("spec", fmt::format("'{}' is parsed to '{}'", spec, parsed.spec()));
    Vector u(n_);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      parsed->maximize(inputs_[i], u);
      if (!same_bits(u, members_[i]))
        convict("spec", fmt::format("the set parsed from '{}' answers {} to {}, this one {}", spec, text(u),
                                    text(inputs_[i]), text(members_[i])));
    }
  }

  /// The least that maximize may reach where a member reaches `value`.
  double promised(double value) const { return promised(value, set_); }
  static double promised(double value, const AtomSet& by) {
    if (by.traits().oracle_factor == 0) return -kInfinity;  // nothing is promised
    return value > 0 ? by.traits().oracle_factor * value : value;
  }

  /// Non-negative, with zeros here and there.
  Vector curvatures() {
    Vector a(n_);
    for (double& x : a) x = random_.uniform() < 0.2 ? 0.0 : 0.01 + 3 * random_.uniform();
    return a;
  }

  const AtomSet& set_;
  Index n_;
  const LawOptions& options_;
  Random random_;
  std::vector<Vector> inputs_, members_;  // members_[i] = maximize(inputs_[i])
  std::vector<LawViolation> violations_;
};

}  // namespace

std::vector<LawViolation> check_atom_laws(const AtomSet& set, Index n, const LawOptions& options) {
  if (n < 1) throw InvalidArgument(fmt::format("n {}: vectors have at least one entry", n));
  if (options.trials < 1) throw InvalidArgument(fmt::format("trials {}: must be 1 or more", options.trials));
  set.require_dimension(n);
  return LawCourt(set, n, options).verdict();
}

}  // namespace pursuit
