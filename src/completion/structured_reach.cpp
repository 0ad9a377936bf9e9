#include "completion/structured_reach.hpp"

#include <algorithm>
#include <cmath>

namespace pursuit {
namespace {

constexpr double kMostAtoms = 4;  // a run takes their square in time

double share_of(const Atoms& atoms, Index size) {
  const auto& simple = atoms.of(0).traits().simple;
  return simple && size > 0 ? double(simple->max_nonzeros(size)) / double(size) : 1.0;
}

}  // namespace

double atoms_for_reach(const StructuredOptions& options, Index rows, Index cols) {
  if (options.polish > 0) return 1;  // sweeps until they settle take the time already
  const double left = share_of(options.left, rows),
               right = options.symmetric ? left : share_of(options.right, cols);
  return std::clamp(1 / std::sqrt(std::sqrt(left * right)), 1.0, kMostAtoms);
}

Index usual_rank(const StructuredOptions& options, Index rows, Index cols) {
  return Index(std::lround(double(StructuredOptions{}.max_rank) * atoms_for_reach(options, rows, cols)));
}

}  // namespace pursuit
