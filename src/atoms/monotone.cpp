// Vectors that never fall, or never rise: the cone of isotonic regression.

#include <cmath>
#include <limits>

#include "atoms/cone_set.hpp"
#include "atoms/isotonic.hpp"
#include "atoms/simple_members.hpp"
#include "pursuit/atoms/structures.hpp"

namespace pursuit {
namespace {

class Monotone final : public ConeSet {
 public:
  Monotone(Direction direction, bool nonnegative)
      : ConeSet({.symmetric = direction == Direction::either && !nonnegative, .exact_fit = true}),
        direction_(direction),
        nonnegative_(nonnegative) {}

  std::string spec() const override {
    const char* name = direction_ == Direction::up     ? "monotone:up"
                       : direction_ == Direction::down ? "monotone:down"
                                                       : "monotone";
    return nonnegative_ ? std::string("nonneg+") + name : name;
  }

  bool contains(ConstVectorRef u, double tolerance) const override {
    if (!has_unit_norm(u, tolerance) || (nonnegative_ && u.minCoeff() < 0)) return false;
    const auto steps = u.tail(u.size() - 1) - u.head(u.size() - 1);
    const bool rises = (steps.array() >= 0).all(), falls = (steps.array() <= 0).all();
    return (rises && direction_ != Direction::down) || (falls && direction_ != Direction::up);
  }

  std::optional<Constraints> constraints() const override {
    Constraints own{direction_};
    if (nonnegative_) own.emplace_back(Nonnegativity{});
    return own;
  }

  AtomSetPtr narrowed(const Constraint& constraint) const override {
    if (std::holds_alternative<Nonnegativity>(constraint))
      return std::make_shared<Monotone>(direction_, true);
    const auto* other = std::get_if<Direction>(&constraint);
    if (!other) return nullptr;
    if (direction_ == Direction::either) return std::make_shared<Monotone>(*other, nonnegative_);
    const bool goes = *other == direction_ || *other == Direction::either;
    return goes ? std::make_shared<Monotone>(direction_, nonnegative_) : nullptr;
  }

  double project(ConstVectorRef a, ConstVectorRef b, VectorRef x) const override {
    double up = -1, down = -1;
    if (direction_ != Direction::up) down = regress(a, b, true, x);
    if (direction_ != Direction::down) {
      thread_local Vector rising;
      rising.resize(b.size());
      up = regress(a, b, false, rising);
      if (up >= down) x = rising;
    }
    return std::max(up, down);
  }

  /// Without a sign constraint a constant vector is a member both ways, and one of them has <u, g> >= 0. With
  /// it the extreme rays are constant up to an end and zero before.
  void least_bad(ConstVectorRef g, VectorRef u) const override {
    if (nonnegative_)
      best_end_stretch(g, direction_ != Direction::up, direction_ != Direction::down, u);
    else
      constant_along(g, u);
  }

 private:
  double regress(ConstVectorRef a, ConstVectorRef b, bool falling, VectorRef x) const {
    thread_local IsotonicPrefixes prefixes;
    const Index n = b.size();
    const auto place = [&](Index i) { return falling ? n - 1 - i : i; };
    prefixes.restart(nonnegative_ ? 0.0 : std::numeric_limits<double>::lowest());
    double gain = 0;
    for (Index i = 0; i < n; ++i) gain = prefixes.push(a[place(i)], b[place(i)]);
    prefixes.write([&](Index i, double value) { x[place(i)] = value; });
    return gain;
  }

  Direction direction_;
  bool nonnegative_;
};

}  // namespace

Atoms monotone(Direction direction) {
  return std::make_shared<Monotone>(direction, false);
}

}  // namespace pursuit
