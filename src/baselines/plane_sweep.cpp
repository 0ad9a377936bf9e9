#include "baselines/plane_sweep.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "linalg/top_k.hpp"

namespace pursuit {
namespace {

/// As c = (cos phi, sin phi) turns, the entries of V c are p sine waves, to which a last one, zero, is added.
/// Let `top` be the set of the k largest positive waves and the pivot the lowest wave of the top, or zero
/// where fewer than k are positive. The top can change only where the pivot meets another wave, and two waves
/// meet twice a turn. So the sweep goes from one meeting of the pivot to the next (it walks along the k-level
/// of the arrangement of waves) and looks at no other of the O(p^2) meetings.
class PivotWalk {
 public:
  PivotWalk(const Matrix& V, Index k)
      : V_(Matrix::Zero(V.rows() + 1, 2)), side_(Vector::Constant(V.rows() + 1, -1)), k_(k) {
    V_.topRows(V.rows()) = V;
    turn_to(0);
    pivot_ = zero();
    for_top_k(height_.head(V.rows()), k, [&](Index i) {
      if (height_[i] > 0) enter(i);
    });
    if (size_ == k_)
      for (Index i = 0; i < zero(); ++i)
        if (side_[i] > 0 && (pivot_ == zero() || height_[i] < height_[pivot_])) pivot_ = i;
  }

  double angle() const { return angle_; }

  /// The wave that the pivot meets next, and the angle from here to there.
  std::pair<Index, double> next_meeting() {
    // A wave at distance a > 0 from the pivot, closing in at the rate b, is met after an angle with the
    // cotangent b / a. Distances count towards the side on which a wave is known to be, so that rounding, or
    // several waves that meet in one point, can neither lose a meeting nor repeat one.
    constexpr double kTiny = std::numeric_limits<double>::min();
    cotangent_ = side_.array() * (slope_[pivot_] - slope_.array()) /
                 ((side_.array() * (height_.array() - height_[pivot_])).max(0.0) + kTiny);
    cotangent_[pivot_] = -std::numeric_limits<double>::infinity();
    const double largest = cotangent_.maxCoeff();
    Index wave = 0;
    while (wave == pivot_ || cotangent_[wave] != largest) ++wave;
    return {wave, std::atan2(1.0, largest)};
  }

  /// Where, on the next `width` radians, the sum of squares of the top is largest, and that sum. The far end
  /// is left to the next step, which begins there.
  std::pair<double, double> best_within(double width) const {
    const double mean = (moments_(0, 0) + moments_(1, 1)) / 2, even = (moments_(0, 0) - moments_(1, 1)) / 2,
                 odd = moments_(0, 1);  // c^T M c = mean + even cos 2 phi + odd sin 2 phi
    const double peak = std::atan2(odd, even) / 2;
    double ahead = std::fmod(peak - angle_, std::numbers::pi);
    if (ahead < 0) ahead += std::numbers::pi;
    if (ahead <= width) return {angle_ + ahead, mean + std::hypot(even, odd)};
    return {angle_, mean + even * std::cos(2 * angle_) + odd * std::sin(2 * angle_)};
  }

  void turn_to(double angle) {
    angle_ = angle;
    const double cosine = std::cos(angle), sine = std::sin(angle);
    height_ = cosine * V_.col(0) + sine * V_.col(1);
    slope_ = cosine * V_.col(1) - sine * V_.col(0);
  }

  /// Takes notice that the pivot has met `wave`.
  void pass(Index wave) {
    if (pivot_ == zero()) {
      if (side_[wave] > 0) return leave(wave);
      enter(wave);
      if (size_ == k_) pivot_ = wave;
    } else {
      if (side_[wave] < 0) {
        leave(pivot_);
        if (wave != zero()) enter(wave);
      }
      pivot_ = wave;
    }
  }

 private:
  Index zero() const { return V_.rows() - 1; }
  void enter(Index i) { count(i, 1); }
  void leave(Index i) { count(i, -1); }
  void count(Index i, int sign) {
    side_[i] = sign;
    size_ += sign;
    moments_ += sign * V_.row(i).transpose() * V_.row(i);
  }

  Matrix V_;
  Vector height_, slope_, cotangent_;
  Vector side_;                                        // +1 in the top, -1 below
  Eigen::Matrix2d moments_ = Eigen::Matrix2d::Zero();  // of the rows of V in the top
  Index k_, size_ = 0, pivot_ = 0;
  double angle_ = 0;
};

}  // namespace

Vector best_plane_direction(const Matrix& V, Index k) {
  PivotWalk walk(V, k);
  double best_angle = 0, best_value = -1;
  while (walk.angle() < 2 * std::numbers::pi) {
    const auto [wave, width] = walk.next_meeting();
    const auto [angle, value] = walk.best_within(width);
    if (value > best_value) {
      best_value = value;
      best_angle = angle;
    }
    if (width > 0) walk.turn_to(walk.angle() + width);
    walk.pass(wave);
  }
  return (Vector(2) << std::cos(best_angle), std::sin(best_angle)).finished();
}

}  // namespace pursuit
