// Ranges of entries with a structure each. The multiples of members of the parts form a product of cones, and
// a projection onto a product is one projection per part.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "atoms/cone_set.hpp"
#include "atoms/scratch.hpp"
#include "pursuit/atoms/structures.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

struct Part {
  Index first, last;  // inclusive; last < 0: to the end
  AtomSetPtr set;
  const ConeSet* cone;  // the same set
};

/// Throws InvalidArgument unless the ranges follow each other and their sets are cones.
std::vector<Part> parts_of(const std::vector<RangePart>& ranges) {
  if (ranges.empty()) throw InvalidArgument("a product of sets needs at least one range");
  std::vector<Part> parts;
  Index next = 0;
  for (const auto& [first, last, set] : ranges) {
    const bool open = last < 0, is_final = &set == &ranges.back().set;
    if (first != next || (!open && last < first) || (open && !is_final))
      throw InvalidArgument(
          fmt::format("range {}-{}: ranges follow each other without gaps, from 0, and only the last may be "
                      "open; this one should start at {}",
                      first, open ? "" : std::to_string(last), next));
    if (last == std::numeric_limits<Index>::max())
      throw InvalidArgument(fmt::format("range {}-{}: no vector has so many entries", first, last));
    const ConeSet* cone = set.varies() ? nullptr : set->cone();
    if (!cone)
      throw InvalidArgument(fmt::format(
          "range {}-{}: '{}' has no exact oracle as part of a product; sets of unit vectors with an exact "
          "fit have: sphere, nonneg, sparse, group, tree, graph, block, support, monotone, unimodal, "
          "convex-shape, smooth, fused, binary, dictionary, span",
          first, open ? "" : std::to_string(last), set.spec()));
    parts.push_back({first, last, set.shared(0), cone});
    next = last + 1;
  }
  return parts;
}

AtomTraits traits_of(const std::vector<Part>& parts) {
  AtomTraits traits = parts.front().set->traits();
  for (const Part& part : parts) traits = common_traits(traits, part.set->traits());
  return traits;
}

class Product final : public ConeSet {
 public:
  explicit Product(const std::vector<Part>& parts) : ConeSet(traits_of(parts)), parts_(parts) {}

  std::string spec() const override {
    std::string text;
    bool custom = false;
    for (const Part& part : parts_) {
      const std::string inner = part.set->spec();
      custom = custom || inner.starts_with("custom:");
      text += fmt::format("{}{}-{}:{}", text.empty() ? "" : "|", part.first,
                          part.last < 0 ? "" : std::to_string(part.last), inner);
    }
    return custom ? "custom:" + text : text;
  }

  void require_dimension(Index n) const override {
    const Part& final_part = parts_.back();
    if (final_part.last < 0 ? n <= final_part.first : n != final_part.last + 1)
      throw InvalidArgument(fmt::format("{}: the ranges do not cover vectors of {} entries", spec(), n));
    for (const Part& part : parts_) part.set->require_dimension(length(part, n));
  }

  bool contains(ConstVectorRef u, double tolerance) const override {
    if (!has_unit_norm(u, tolerance)) return false;
    return std::all_of(parts_.begin(), parts_.end(), [&](const Part& part) {
      const Vector inside = u.segment(part.first, length(part, u.size()));
      const double norm = inside.norm();
      return norm == 0 || part.set->contains(inside / norm, std::max(tolerance, 1e-15 / norm));
    });
  }

  AtomSetPtr narrowed(const Constraint& constraint) const override {
    if (!std::holds_alternative<Nonnegativity>(constraint)) return nullptr;  // others count entries
    std::vector<RangePart> narrowed;
    for (const Part& part : parts_) {
      const AtomSetPtr set = part.set->nonnegative();
      if (!set) return nullptr;
      narrowed.push_back({part.first, part.last, set});
    }
    return std::make_shared<Product>(parts_of(narrowed));
  }

  double project(ConstVectorRef a, ConstVectorRef b, VectorRef x) const override {
    double gain = 0;
    for (const Part& part : parts_) {
      const Index n = length(part, b.size());
      const double own =
          part.cone->project(a.segment(part.first, n), b.segment(part.first, n), x.segment(part.first, n));
      if (!(own > 0)) x.segment(part.first, n).setZero();
      gain += own;
    }
    return gain;
  }

  /// No part can do better than 0, so that only the least bad one is not zero.
  void least_bad(ConstVectorRef g, VectorRef u) const override {
    double best = -std::numeric_limits<double>::infinity();
    u.setZero();
    Scratch candidate(g.size());
    for (const Part& part : parts_) {
      const Index n = length(part, g.size());
      candidate.setZero();
      part.cone->least_bad(g.segment(part.first, n), candidate.segment(part.first, n));
      if (const double value = candidate.dot(g); value > best) {
        best = value;
        u = candidate;
      }
    }
  }

 private:
  static Index length(const Part& part, Index n) { return (part.last < 0 ? n : part.last + 1) - part.first; }

  std::vector<Part> parts_;
};

}  // namespace

Atoms product(const std::vector<RangePart>& parts) {
  return std::make_shared<Product>(parts_of(parts));
}

}  // namespace pursuit
