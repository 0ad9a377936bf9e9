#include "pursuit/baselines/cone_power.hpp"

#include <fmt/format.h>

#include <cmath>

#include "pursuit/base/error.hpp"
#include "pursuit/baselines/truncated_power.hpp"

namespace pursuit {
namespace {

/// C + rho I.
class Shifted final : public LinearOperator {
 public:
  Shifted(const LinearOperator& C, double rho) : C_(C), rho_(rho) {}

  Index rows() const override { return C_.rows(); }
  Index cols() const override { return C_.cols(); }
  void apply(const Matrix& V, Matrix& out) const override {
    C_.apply(V, out);
    out += rho_ * V;
  }
  void apply_transposed(const Matrix& U, Matrix& out) const override { apply(U, out); }

 private:
  const LinearOperator& C_;
  double rho_;
};

}  // namespace

Component cone_power(const Covariance& C, double rho, const Matrix& starts, const PowerOptions& options) {
  if (!(rho >= 0 && std::isfinite(rho)))
    throw InvalidArgument(fmt::format("rho {}: must be a number, 0 or above", rho));
  Component found = truncated_power(Shifted(C, rho), nonneg(), starts, options);
  found.variance -= rho;
  return found;
}

}  // namespace pursuit
