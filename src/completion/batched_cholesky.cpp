#include "completion/batched_cholesky.hpp"

#include <algorithm>
#include <cmath>

#include "base/kernel.hpp"

namespace pursuit {
namespace {

typedef float Sixteen __attribute__((vector_size(64), may_alias));
typedef int SixteenBits __attribute__((vector_size(64), may_alias));

constexpr int kPasses = 100;       // over the coordinates of a system, at most
constexpr float kSettled = 1e-4F;  // of what its best pass has gained: one that gains less is the last

}  // namespace

PURSUIT_KERNEL void factor_systems(float* factor, float* inverse_pivot, int width) {
  auto* A = reinterpret_cast<Sixteen*>(factor);
  for (int c = 0; c < width; ++c) {
    for (int a = c & ~3; a < width; a += 4) {
      Sixteen sum[4];
      for (int t = 0; t < 4; ++t) sum[t] = A[c * width + a + t];
      for (int k = 0; k < c; ++k) {
        const Sixteen left = A[k * width + c];
        for (int t = 0; t < 4; ++t) sum[t] -= A[k * width + a + t] * left;
      }
      for (int t = 0; t < 4; ++t) A[c * width + a + t] = sum[t];
    }
    float* inverse = inverse_pivot + c * kSystems;
    const auto* pivot = reinterpret_cast<const float*>(A + c * width + c);
    for (int l = 0; l < kSystems; ++l) inverse[l] = 1.0F / std::sqrt(std::max(pivot[l], 1e-30F));
    const Sixteen scale = *reinterpret_cast<Sixteen*>(inverse);
    for (int a = c + 1; a < width; ++a) A[c * width + a] *= scale;
  }
}

PURSUIT_KERNEL void solve_systems(const float* factor, const float* inverse_pivot, const float* normal,
                                  int width, float* solution) {
  const auto* A = reinterpret_cast<const Sixteen*>(factor);
  const auto* inverse = reinterpret_cast<const Sixteen*>(inverse_pivot);
  auto* x = reinterpret_cast<Sixteen*>(solution);
  for (int c = 0; c < width; ++c) {
    x[c] *= inverse[c];
    for (int a = c + 1; a < width; ++a) x[a] -= A[c * width + a] * x[c];
  }
  if (normal)
    for (int c = 0; c < width; ++c) x[c] += reinterpret_cast<const Sixteen*>(normal)[c];
  for (int c = width - 1; c >= 0; --c) {
    Sixteen sum = x[c];
    for (int a = c + 1; a < width; ++a) sum -= A[c * width + a] * x[a];
    x[c] = sum * inverse[c];
  }
}

PURSUIT_KERNEL void solve_nonnegative_systems(float* matrix, int width, float* right, float* solution) {
  auto* A = reinterpret_cast<Sixteen*>(matrix);
  auto* slope = reinterpret_cast<Sixteen*>(right);
  auto* x = reinterpret_cast<Sixteen*>(solution);
  for (int c = 0; c < width; ++c)
    for (int a = c + 1; a < width; ++a) A[a * width + c] = A[c * width + a];
  for (int c = 0; c < width; ++c)
    for (int a = 0; a < width; ++a) slope[a] -= A[c * width + a] * x[c];
  const Sixteen nothing = {}, one = nothing + 1;
  Sixteen most = {};                   // gained by a pass
  SixteenBits moving = nothing < one;  // all
  for (int pass = 0; pass < kPasses; ++pass) {
    Sixteen gain = {};
    for (int c = 0; c < width; ++c) {
      const Sixteen curvature = A[c * width + c];
      Sixteen to = x[c] + slope[c] / curvature;
      to = to > nothing ? to : nothing;
      const Sixteen step = moving ? to - x[c] : nothing;
      x[c] += step;
      gain += curvature * step * step;
      for (int a = 0; a < width; ++a) slope[a] -= A[c * width + a] * step;
    }
    most = gain > most ? gain : most;
    moving &= gain > kSettled * most;
    bool any = false;
    for (int l = 0; l < kSystems; ++l) any = any || moving[l] != 0;
    if (!any) break;
  }
}

PURSUIT_KERNEL void inverse_diagonals(const float* factor, const float* inverse_pivot, int width,
                                      float* columns, float* variance) {
  const auto* A = reinterpret_cast<const Sixteen*>(factor);
  const auto* inverse = reinterpret_cast<const Sixteen*>(inverse_pivot);
  auto* z = reinterpret_cast<Sixteen*>(columns);
  auto* out = reinterpret_cast<Sixteen*>(variance);
  const Sixteen one = Sixteen{} + 1.0F;
  for (int first = 0; first < width; first += 4) {
    for (int i = first * 4; i < width * 4; ++i) z[i] = Sixteen{};
    Sixteen sum[4] = {};
    for (int t = 0; t < 4; ++t) z[(first + t) * 4 + t] = one;
    for (int k = first; k < width; ++k) {
      Sixteen entry[4];
      for (int t = 0; t < 4; ++t) {
        entry[t] = z[k * 4 + t] * inverse[k];
        sum[t] += entry[t] * entry[t];
      }
      for (int a = k + 1; a < width; ++a) {
        const Sixteen l = A[k * width + a];
        for (int t = 0; t < 4; ++t) z[a * 4 + t] -= l * entry[t];
      }
    }
    for (int t = 0; t < 4; ++t) out[first + t] = sum[t];
  }
}

PURSUIT_KERNEL void quadratic_forms(const float* factor, const float* inverse_pivot, int width,
                                    const float* solution, float* form) {
  const auto* A = reinterpret_cast<const Sixteen*>(factor);
  const auto* inverse = reinterpret_cast<const Sixteen*>(inverse_pivot);
  const auto* x = reinterpret_cast<const Sixteen*>(solution);
  Sixteen total = {};
  for (int c = 0; c < width; ++c) {
    Sixteen sum = x[c] / inverse[c];
    for (int a = c + 1; a < width; ++a) sum += A[c * width + a] * x[a];
    total += sum * sum;
  }
  *reinterpret_cast<Sixteen*>(form) = total;
}

}  // namespace pursuit
