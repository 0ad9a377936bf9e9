// Haar wavelets for any length: the constant vector, and for every interval of a binary splitting the vector
// that is positive on its left half, negative on its right half and orthogonal to constants. Orthonormal, and
// the usual basis where n is a power of two. O(n).

#include <cmath>
#include <vector>

#include "atoms/basis.hpp"

namespace pursuit {
namespace {

/// An interval [first, last) of at least two entries, split in the middle.
struct Interval {
  Index first, last;

  Index middle() const { return first + (last - first + 1) / 2; }
  double left() const { return double(middle() - first); }
  double right() const { return double(last - middle()); }
  /// The two levels of its wavelet.
  double high() const { return std::sqrt(right() / (left() * (left() + right()))); }
  double low() const { return -std::sqrt(left() / (right() * (left() + right()))); }
};

/// Calls visit(j, interval) for wavelets j = 1..n-1, the widest first.
template <class Visit>
void for_each_interval(Index n, const Visit& visit) {
  thread_local std::vector<Interval> queue;
  queue.clear();
  if (n > 1) queue.push_back({0, n});
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const Interval interval = queue[at];
    visit(Index(at) + 1, interval);
    if (interval.left() > 1) queue.push_back({interval.first, interval.middle()});
    if (interval.right() > 1) queue.push_back({interval.middle(), interval.last});
  }
}

class HaarBasis final : public Basis {
 public:
  Index count(Index n) const override { return n; }

  void analyze(ConstVectorRef x, Vector& products) const override {
    const Index n = x.size();
    sum_up(x);
    products.resize(n);
    products[0] = sums_.back() / std::sqrt(double(n));
    for_each_interval(n, [&](Index j, const Interval& interval) {
      products[j] = interval.high() * sum(interval.first, interval.middle()) +
                    interval.low() * sum(interval.middle(), interval.last);
    });
  }

  void energies(ConstVectorRef a, Vector& energies) const override {
    const Index n = a.size();
    sum_up(a);
    energies.resize(n);
    energies[0] = sums_.back() / double(n);
    for_each_interval(n, [&](Index j, const Interval& interval) {
      energies[j] = interval.high() * interval.high() * sum(interval.first, interval.middle()) +
                    interval.low() * interval.low() * sum(interval.middle(), interval.last);
    });
  }

  void vector(Index wanted, VectorRef d) const override {
    d.setZero();
    if (wanted == 0) d.setConstant(1 / std::sqrt(double(d.size())));
    for_each_interval(d.size(), [&](Index j, const Interval& interval) {
      if (j != wanted) return;
      d.segment(interval.first, interval.middle() - interval.first).setConstant(interval.high());
      d.segment(interval.middle(), interval.last - interval.middle()).setConstant(interval.low());
    });
  }

  bool orthonormal() const override { return true; }
  void require_dimension(const std::string&, Index) const override {}

 private:
  static void sum_up(ConstVectorRef x) {
    sums_.assign(std::size_t(x.size() + 1), 0.0);
    for (Index i = 0; i < x.size(); ++i) sums_[std::size_t(i + 1)] = sums_[std::size_t(i)] + x[i];
  }
  static double sum(Index first, Index last) { return sums_[std::size_t(last)] - sums_[std::size_t(first)]; }

  static thread_local std::vector<double> sums_;  // over the first i entries
};
thread_local std::vector<double> HaarBasis::sums_;

}  // namespace

std::shared_ptr<const Basis> haar_basis() {
  return std::make_shared<HaarBasis>();
}

}  // namespace pursuit
