#pragma once
// The entries of rows, of columns or of all, in the order of their times.

#include <span>
#include <vector>

#include "pursuit/base/types.hpp"
#include "pursuit/completion/drift.hpp"

namespace pursuit {

class Timeline {
 public:
  /// member(e) of `members`, for every entry.
  Timeline(std::span<const int> member, Index members, std::span<const double> times, int threads);

  /// Of what is `left` of every entry, each counted `weights` times (none: once).
  DriftOf drift(double reach, double ridge, std::span<const double> left,
                std::span<const float> weights) const;

  /// Takes the drift from what is left of every entry.
  void subtract(const DriftOf& drift, std::span<double> left) const;

  /// The entries of a member, earliest first.
  std::span<const Index> entries_of(Index member) const {
    return std::span(order_).subspan(
        std::size_t(start_[std::size_t(member)]),
        std::size_t(start_[std::size_t(member) + 1] - start_[std::size_t(member)]));
  }

 private:
  /// visit(entries of a knot), in order.
  template <class Visit>
  void for_knots(Index member, double reach, const Visit& visit) const;

  std::span<const double> times_;
  std::vector<Index> start_, order_;
  int threads_;
};

}  // namespace pursuit
