#pragma once
// How much an entry of implicit feedback counts: once, or the more the larger its number is.

#include <cmath>
#include <string>

namespace pursuit {

struct Confidence {
  enum Kind { constant, linear, logarithmic };
  Kind kind = constant;
  double a = 0, b = 1;

  /// 1, 1 + a v, or 1 + a log(1 + v / b); v is at least 0.
  double weight(double value) const {
    if (kind == linear) return 1 + a * value;
    return kind == logarithmic ? 1 + a * std::log1p(value / b) : 1.0;
  }
  /// As parse_confidence() takes it.
  std::string spec() const;
};

/// "constant", "linear:A" or "log:A:B", A at least 0 and B above; InvalidArgument otherwise.
Confidence parse_confidence(const std::string& text);

}  // namespace pursuit
