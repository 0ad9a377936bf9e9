// The discrete cosine transform (type II), d_ij = s_j cos(pi (i + 1/2) j / n), by one complex FFT of length n
// (Makhoul 1980). O(n log n) where n has small prime factors.

#include <cmath>
#include <complex>
#include <numbers>
#include <unsupported/Eigen/FFT>
#include <vector>

#include "atoms/basis.hpp"

namespace pursuit {
namespace {

using Complex = std::complex<double>;

/// products_j = sum_i x_i cos(pi (i + 1/2) j / n), j = 0..n-1.
void cosine_sums(ConstVectorRef x, Vector& products) {
  const Index n = x.size();
  thread_local Eigen::FFT<double> fft;
  thread_local std::vector<Complex> shuffled, transformed;
  shuffled.resize(std::size_t(n));
  for (Index i = 0; 2 * i < n; ++i) shuffled[std::size_t(i)] = x[2 * i];
  for (Index i = 0; 2 * i + 1 < n; ++i) shuffled[std::size_t(n - 1 - i)] = x[2 * i + 1];
  fft.fwd(transformed, shuffled);
  products.resize(n);
  for (Index j = 0; j < n; ++j) {
    const double angle = -std::numbers::pi * double(j) / (2 * double(n));
    products[j] = (std::polar(1.0, angle) * transformed[std::size_t(j)]).real();
  }
}

class CosineBasis final : public Basis {
 public:
  Index count(Index n) const override { return n; }

  void analyze(ConstVectorRef x, Vector& products) const override {
    if (x.size() == 1) {
      products = x;
      return;
    }
    cosine_sums(x, products);
    for (Index j = 0; j < products.size(); ++j) products[j] *= scale(j, x.size());
  }

  /// cos^2 y = (1 + cos 2y) / 2, and frequencies of n and more fold back: 2n - m has the sums of m, negated.
  void energies(ConstVectorRef a, Vector& energies) const override {
    const Index n = a.size();
    energies.resize(n);
    if (n == 1) {
      energies = a;
      return;
    }
    thread_local Vector sums;
    cosine_sums(a, sums);
    for (Index j = 0; j < n; ++j) {
      const Index twice = 2 * j;
      const double doubled = twice < n ? sums[twice] : twice == n ? 0.0 : -sums[2 * n - twice];
      const double s = scale(j, n);
      energies[j] = std::max(0.5 * s * s * (sums[0] + doubled), 0.0);
    }
  }

  void vector(Index j, VectorRef d) const override {
    const Index n = d.size();
    for (Index i = 0; i < n; ++i)
      d[i] = scale(j, n) * std::cos(std::numbers::pi * (double(i) + 0.5) * double(j) / double(n));
  }

  bool orthonormal() const override { return true; }
  void require_dimension(const std::string&, Index) const override {}

 private:
  static double scale(Index j, Index n) { return std::sqrt((j == 0 ? 1.0 : 2.0) / double(n)); }
};

}  // namespace

std::shared_ptr<const Basis> cosine_basis() {
  return std::make_shared<CosineBasis>();
}

}  // namespace pursuit
