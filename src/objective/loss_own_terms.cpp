// What a loss fits beside the atoms: the constant that a model knowing nothing would use, offsets of rows and
// columns, the size of a negative binomial, thresholds between grades. Each step is looked at: f never rises.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "linalg/cholesky.hpp"
#include "objective/loss_functions.hpp"
#include "objective/loss_objective.hpp"
#include "objective/ordinal_shape.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

/// The absolute error and quantiles are smooth within this share of the mean distance of the data from their
/// mean.
constexpr double kSmoothShare = 1e-3;
/// Of the mean: what models of means that are not negative have where no atom is.
constexpr double kMeanFloor = 1e-10;

struct DataMoments {
  double weight = 0, mean = 0, variance = 0, deviation = 0;  // mean |y - mean|
};

DataMoments moments_of(const EntryGroups& entries, const Vector& scale) {
  DataMoments m;
  EntryGroups::Scratch scratch;
  const auto visit = [&](const auto& take) {
    for (Index i = 0; i < entries.size(0); ++i) {
      const EntryGroups::Group row = entries.group(0, i, scratch);
      for (Index e = 0; e < row.count; ++e) take(i, row.y[e], row.weight ? row.weight[e] : 1.0);
    }
  };
  double scaled = 0, sum = 0;
  visit([&](Index i, double y, double w) {
    m.weight += w;
    scaled += w * scale[i];
    sum += w * y;
  });
  if (!(m.weight > 0)) return m;
  m.mean = sum / scaled;
  visit([&](Index i, double y, double w) {
    const double about = y - m.mean * scale[i];
    m.variance += w * about * about / m.weight;
    m.deviation += w * std::abs(about) / m.weight;
  });
  return m;
}

}  // namespace

void LossObjective::renew_loss() {
  loss_ = entry_loss(shape_);
  double sum = 0;
  EntryGroups::Scratch scratch;
  for (Index i = 0; i < entries_.size(0); ++i) {
    const EntryGroups::Group row = entries_.group(0, i, scratch);
    sum += loss_->constant({row.count, row.y, nullptr, row.weight});
  }
  constant_ = sum;
  value_.reset();
}

void LossObjective::fit_null() {
  const DataMoments m = moments_of(entries_, log_scale_.array().exp());
  shape_.width = m.deviation > 0 ? kSmoothShare * m.deviation : 1.0;
  shape_.floor = kMeanFloor * std::abs(m.mean);
  double start = m.mean;
  switch (shape_.loss.kind) {
    case Loss::bernoulli: {
      const double p = std::clamp(m.mean, 1e-12, 1 - 1e-12);
      start = std::log(p / (1 - p));
      break;
    }
    case Loss::negative_binomial: {
      const double excess = std::max(m.variance - m.mean, 1e-6 * m.mean);
      shape_.size = shape_.loss.parameter > 0
                        ? shape_.loss.parameter
                        : std::clamp(m.mean * m.mean / std::max(excess, 1e-300), 1e-3, 1e6);
      [[fallthrough]];
    }
    case Loss::poisson_log:
    case Loss::gamma: start = std::log(m.mean > 0 ? m.mean : 1e-12); break;
    case Loss::ordinal: {
      start = 0;
      start_thresholds();
      break;
    }
    default: break;
  }
  renew_loss();
  offsets_[0] = log_scale_.array() + start;
  if (shape_.loss.kind != Loss::ordinal) fit_constant();
  constexpr int kRounds = 200;
  if (has_offsets_ || shape_.loss.kind == Loss::ordinal || shape_.loss.kind == Loss::negative_binomial)
    for (int round = 0; round < kRounds; ++round) {
      const double before = value();
      fit_own_terms();
      if (!has_offsets_) fit_constant();
      if (!(before - value() > 1e-9 * before)) break;
    }
  if (!has_offsets_) {
    // Errors of squares are relative to zero, whatever the weights.
    if (shape_.loss.kind != Loss::squares) null_value_ = value();
    offsets_[0] = log_scale_;
    value_.reset();
  }
  if (has_offsets_ || shape_.loss.kind == Loss::squares) null_value_ = value();
}

void LossObjective::fit_constant() {
  constexpr int kSteps = 50, kHalvings = 20;
  for (int step = 0; step < kSteps; ++step) {
    const double before = value();
    Matrix sums(2, axis(0).own());
    stream(0, [&](Index g, LossWalk& walk) {
      loss_->derivatives(walk.run(), Curvature::local, walk.slope.data(), walk.curvature.data());
      sums.col(g) << Eigen::Map<const Vector>(walk.slope.data(), walk.group.count).sum(),
          Eigen::Map<const Vector>(walk.curvature.data(), walk.group.count).sum();
    });
    const Vector total = sums.rowwise().sum();
    if (!(total[1] > 0)) return;
    double move = total[0] / total[1];
    const Vector start = offsets_[0];
    for (int halving = 0; halving < kHalvings; ++halving, move *= 0.5) {
      offsets_[0] = start.array() + move;
      value_.reset();
      if (value() < before) break;
    }
    if (!(value() < before)) {
      offsets_[0] = start;
      value_ = before;
    }
    if (!(before - value() > 1e-10 * before)) return;
  }
}

void LossObjective::fit_offsets(Index mode) {
  const double before = value();
  const Vector start = offsets_[std::size_t(mode)];
  Factors ones = no_atoms(entries_.shape()).factors;
  for (Index m = 0; m < modes(); ++m) ones[m].setOnes(entries_.size(m), 1);
  Matrix own = start.transpose();
  newton_steps(mode, place(mode), GroupPanel(ones, mode, entries_.are_listed()), {}, own);
  offsets_[std::size_t(mode)] = own.transpose();
  value_.reset();
  if (value() < before) return;
  offsets_[std::size_t(mode)] = start;
  value_ = before;
}

void LossObjective::fit_size() {
  constexpr double kProbe = 0.3, kFarthest = 2;  // in log size
  const double here = value(), size = shape_.size;
  const auto at = [&](double move) {
    shape_.size = std::clamp(size * std::exp(move), 1e-6, 1e9);
    renew_loss();
    return value();
  };
  const double below = at(-kProbe), above = at(kProbe), bend = below - 2 * here + above;
  const double vertex = bend > 0        ? 0.5 * kProbe * (below - above) / bend
                        : below < above ? -kFarthest
                                        : kFarthest;
  double best = here, move = 0;
  for (const double candidate : {std::clamp(vertex, -kFarthest, kFarthest), -kProbe, kProbe})
    if (const double f = at(candidate); f < best) {
      best = f;
      move = candidate;
    }
  at(move);
}

void LossObjective::start_thresholds() {
  std::map<int, double> weight_of;  // of every grade there is
  EntryGroups::Scratch scratch;
  double total = 0;
  for (Index i = 0; i < entries_.size(0); ++i) {
    const EntryGroups::Group row = entries_.group(0, i, scratch);
    for (Index e = 0; e < row.count; ++e) {
      const double weight = row.weight ? row.weight[e] : 1.0;
      if (weight == 0) continue;
      weight_of[int(row.y[e])] += weight;
      total += weight;
    }
  }
  grades_.clear();
  thresholds_ = Vector(0);
  double below = 0;
  for (const auto& [grade, weight] : weight_of) {
    grades_.push_back(grade);
    below += weight;
    if (grades_.size() == weight_of.size()) break;
    thresholds_.conservativeResize(thresholds_.size() + 1);
    thresholds_[thresholds_.size() - 1] = std::log(below / (total - below));
  }
  take_thresholds(thresholds_);
}

void LossObjective::take_thresholds(const Vector& thresholds) {
  thresholds_ = thresholds;
  set_thresholds(shape_, grades_, thresholds);
  renew_loss();
}

void LossObjective::fit_thresholds() {
  const Index n = thresholds_.size();
  if (n == 0) return;
  const double before = value();
  std::vector<Index> level_of(shape_.lower.size(), 0);
  for (std::size_t level = 0; level < grades_.size(); ++level)
    level_of[std::size_t(grades_[level] - grades_.front())] = Index(level);
  struct Sums {
    Vector slope;
    Matrix curvature;
  };
  std::vector<Sums> parts(std::size_t(pieces(0).count()), {Vector::Zero(n), Matrix::Zero(n, n)});
  stream(0, [&](Index, LossWalk& walk) {
    auto& [slope, curvature] = parts[std::size_t(walk.piece)];
    for (Index e = 0; e < walk.group.count; ++e) {
      const double weight = walk.group.weight ? walk.group.weight[e] : 1.0, x = walk.x[std::size_t(e)];
      if (weight == 0) continue;
      const Index up = level_of[std::size_t(walk.group.y[e] - shape_.first_grade)], low = up - 1;
      const bool has_up = up < n, has_low = low >= 0;
      const double t = has_up && has_low ? 1 / std::expm1(thresholds_[up] - thresholds_[low]) : 0.0;
      if (has_up) {
        slope[up] += weight * (losses::sigmoid(x - thresholds_[up]) + t);
        curvature(up, up) += weight * (losses::sigmoid_slope(x - thresholds_[up]) + t + t * t);
      }
      if (has_low) {
        slope[low] -= weight * (losses::sigmoid(thresholds_[low] - x) + t);
        curvature(low, low) += weight * (losses::sigmoid_slope(thresholds_[low] - x) + t + t * t);
      }
      if (has_up && has_low) {
        curvature(up, low) -= weight * (t + t * t);
        curvature(low, up) -= weight * (t + t * t);
      }
    }
  });
  tree_sum(parts, [](Sums& into, const Sums& part) {
    into.slope += part.slope;
    into.curvature += part.curvature;
  });
  const Cholesky cholesky(parts.front().curvature);
  if (!cholesky.definite()) return;
  Vector step = cholesky.solve(parts.front().slope);
  const Vector start = thresholds_;
  for (int halving = 0; halving < 8; ++halving, step *= 0.5) {
    const Vector moved = start + step;
    bool ordered = moved.allFinite();
    for (Index k = 1; k < n; ++k) ordered = ordered && moved[k] > moved[k - 1];
    if (!ordered) continue;
    take_thresholds(moved);
    if (value() < before) return;
  }
  take_thresholds(start);
}

bool LossObjective::fits_size() const {
  return shape_.loss.kind == Loss::negative_binomial && shape_.loss.parameter == 0;
}

bool LossObjective::has_own_terms() const {
  return has_offsets_ || fits_size() || shape_.loss.kind == Loss::ordinal;
}

void LossObjective::fit_own_terms() {
  if (has_offsets_)
    for (Index mode = 0; mode < modes(); ++mode) fit_offsets(mode);
  if (fits_size()) fit_size();
  if (shape_.loss.kind == Loss::ordinal) fit_thresholds();
}

void LossObjective::take_own_terms(const OwnTerms& model) {
  if (has_offsets_ && model.col_offsets.size() == offsets_[1].size()) offsets_[1] = model.col_offsets;
  if (shape_.loss.kind == Loss::negative_binomial && model.size > 0) shape_.size = model.size;
  if (shape_.loss.kind == Loss::ordinal && model.grades.size() > 0) {
    for (const int grade : grades_)
      if (!(model.grades.array() == grade).any())
        throw InvalidInput(fmt::format("grade {} is none of those that the model knows", grade));
    grades_.assign(model.grades.begin(), model.grades.end());
    take_thresholds(model.thresholds);
  } else {
    renew_loss();
  }
}

OwnTerms LossObjective::own_terms() const {
  OwnTerms terms;
  if (has_offsets_) {
    terms.row_offsets = offsets_[0] - log_scale_;
    terms.col_offsets = offsets_[1];
    terms.further_offsets.assign(offsets_.begin() + 2, offsets_.end());
  }
  terms.grades = Eigen::Map<const Eigen::VectorXi>(grades_.data(), Index(grades_.size())).cast<double>();
  terms.thresholds = thresholds_;
  terms.size = shape_.size;
  return terms;
}

void LossObjective::visit_state(StateArchive& archive) {
  visit(archive, "x", x_);
  archive("value", value_);
  for (Index mode = 0; mode < modes(); ++mode)
    archive("offsets" + std::to_string(mode), offsets_[std::size_t(mode)], axis(mode).own());
  archive("thresholds", thresholds_, thresholds_.size());
  archive("size", shape_.size);
  archive("constant", constant_);
  archive("null_value", null_value_);
  archive.require(std::isfinite(shape_.size) && std::isfinite(constant_) && std::isfinite(null_value_),
                  "a number of its loss is not finite");
  if (!archive.reads()) return;
  if (thresholds_.size() > 0) set_thresholds(shape_, grades_, thresholds_);
  loss_ = entry_loss(shape_);
}

}  // namespace pursuit
