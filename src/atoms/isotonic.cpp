#include "atoms/isotonic.hpp"

#include <limits>

namespace pursuit {

void IsotonicPrefixes::restart(double floor) {
  blocks_.clear();
  floor_ = floor;
}

double IsotonicPrefixes::gain(const Block& block) const {
  const double x = clipped(block);
  return block.a > 0 ? x * (2 * block.b - block.a * x) : 0.0;
}

double IsotonicPrefixes::push(double a, double b) {
  Block top{a, b, 0, 0, blocks_.empty() ? 1 : blocks_.back().end + 1};
  while (true) {
    // An entry without curvature has no opinion and joins what lies below, if anything does.
    const bool first = blocks_.empty();
    if (top.a > 0) top.value = top.b / top.a;
    if (first || (top.a > 0 && blocks_.back().a > 0 && top.value > blocks_.back().value)) break;
    top.a += blocks_.back().a;
    top.b += blocks_.back().b;
    blocks_.pop_back();
  }
  top.gain_below = blocks_.empty() ? 0.0 : blocks_.back().gain_below + gain(blocks_.back());
  blocks_.push_back(top);
  return top.gain_below + gain(top);
}

}  // namespace pursuit
