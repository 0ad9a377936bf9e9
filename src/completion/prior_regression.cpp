#include "completion/prior_regression.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "base/chunks.hpp"
#include "base/kernel.hpp"
#include "completion/entry_sums.hpp"
#include "completion/feature_blocks.hpp"
#include "completion/gamma.hpp"
#include "completion/row_posteriors.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

constexpr double kStart = 0.01;       // of nu: priors hardly move at first
constexpr double kSmallestNu = 1e-9;  // of nu

// The steps of conjugate gradients beside the sums over entries, for rows first .. last - 1. Numbers per
// coordinate that are summed up are doubles, `width` of them.

/// out_i = scale_i x_i.
PURSUIT_KERNEL void scale_rows(Index first, Index last, Index width, const float* scale, const float* x,
                               float* out) {
  for (Index i = first; i < last; ++i)
    for (Index c = 0; c < width; ++c) out[i * width + c] = scale[i] * x[i * width + c];
}

/// Inner products of the preconditioned gradient z and the last step p: the quadratic along the two.
struct Plane {
  enum { gain_z, gain_p, zz, zp, pp, count };
};

/// From F^T (x - p) to z, in place; sums += gradient * z, gradient * p, and ratio times z z, z p and p p.
PURSUIT_KERNEL void set_direction(Index first, Index last, Index width, const float* squared_norm,
                                  const float* ratio, const float* weights, const float* step,
                                  float* direction, double* sums) {
  for (Index f = first; f < last; ++f) {
    if (!(squared_norm[f] > 0)) {
      for (Index c = 0; c < width; ++c) direction[f * width + c] = 0;
      continue;
    }
    for (Index c = 0; c < width; ++c) {
      const float gradient = direction[f * width + c] - ratio[c] * weights[f * width + c];
      const float z = gradient / (squared_norm[f] + ratio[c]), p = step[f * width + c];
      direction[f * width + c] = z;
      sums[Plane::gain_z * width + c] += double(gradient) * z;
      sums[Plane::gain_p * width + c] += double(gradient) * p;
      sums[Plane::zz * width + c] += double(ratio[c]) * z * z;
      sums[Plane::zp * width + c] += double(ratio[c]) * z * p;
      sums[Plane::pp * width + c] += double(ratio[c]) * p * p;
    }
  }
}

/// image = scale F z; sums += products of the images of z and p.
PURSUIT_KERNEL void add_curvature(Index first, Index last, Index width, const float* scale,
                                  const float* last_image, float* image, double* sums) {
  for (Index i = first; i < last; ++i)
    for (Index c = 0; c < width; ++c) {
      const float z = scale ? scale[i] * image[i * width + c] : image[i * width + c],
                  p = last_image[i * width + c];
      image[i * width + c] = z;
      sums[Plane::zz * width + c] += double(z) * z;
      sums[Plane::zp * width + c] += double(z) * p;
      sums[Plane::pp * width + c] += double(p) * p;
    }
}

/// The step for members: its image, and x - p less that.
PURSUIT_KERNEL void step_members(Index first, Index last, Index width, const float* along_z,
                                 const float* along_p, const float* image, float* last_image,
                                 float* deviation) {
  for (Index i = first; i < last; ++i)
    for (Index c = 0; c < width; ++c) {
      const Index t = i * width + c;
      const float moved = along_z[c] * image[t] + along_p[c] * last_image[t];
      last_image[t] = moved;
      deviation[t] -= moved;
    }
}

/// The step for features; squares += y^2 + var y, spread += squared_norm var y.
PURSUIT_KERNEL void step_features(Index first, Index last, Index width, const float* squared_norm,
                                  const float* tau, const float* ratio, const float* along_z,
                                  const float* along_p, const float* direction, float* step, float* weights,
                                  double* squares, double* spread) {
  for (Index f = first; f < last; ++f) {
    const float norm = squared_norm[f];
    if (!(norm > 0)) continue;
    for (Index c = 0; c < width; ++c) {
      const Index t = f * width + c;
      const float moved = along_z[c] * direction[t] + along_p[c] * step[t];
      const float y = weights[t] + moved, variance = tau[c] / (norm + ratio[c]);
      step[t] = moved;
      weights[t] = y;
      squares[c] += double(y) * y + variance;
      spread[c] += double(norm) * variance;
    }
  }
}

/// The least of the quadratic over the plane of z and p, or along z where the two are nearly one.
std::pair<float, float> step_lengths(const Vector& sums, Index width, Index c) {
  const auto at = [&](int product) { return sums[product * width + c]; };
  const double zz = at(Plane::zz), zp = at(Plane::zp), pp = at(Plane::pp);
  if (!(zz > 0)) return {0.0F, 0.0F};
  const double determinant = zz * pp - zp * zp;
  constexpr double kIndependent = 1e-6;  // they are sums of single precision
  if (!(determinant > kIndependent * zz * pp)) return {float(at(Plane::gain_z) / zz), 0.0F};
  return {float((at(Plane::gain_z) * pp - at(Plane::gain_p) * zp) / determinant),
          float((at(Plane::gain_p) * zz - at(Plane::gain_z) * zp) / determinant)};
}

}  // namespace

AlignedVector<float> widened(const AlignedVector<float>& rows, int width, int wider) {
  const std::size_t count = rows.size() / std::size_t(width);
  AlignedVector<float> result(count * std::size_t(wider), 0.0F);
  for (std::size_t i = 0; i < count; ++i)
    std::copy_n(rows.begin() + std::ptrdiff_t(i * std::size_t(width)), std::min(width, wider),
                result.begin() + std::ptrdiff_t(i * std::size_t(wider)));
  return result;
}

PriorRegression::PriorRegression(Features features, int width, int threads)
    : width_(width),
      weights_(std::size_t(features.by_feature->size() * width), 0.0F),
      nu_(std::size_t(width), kStart) {
  rebind(std::move(features), threads);
}

void PriorRegression::rebind(Features features, int threads) {
  features_ = std::move(features);
  whole_.reset();
  blocks_.reset();
  forget_last_step();
  find_norms(features_, threads);
}

/// Of features whose entries are here.
void PriorRegression::find_norms(const Features& features, int threads) {
  const GroupedEntries& entries = features.by_feature->entries();
  squared_norm_.assign(std::size_t(entries.size()), 0.0F);
  const Chunks chunks(entries.size(), 16);
  parallel_for(chunks.count(), threads, [&](Index chunk) {
    for (Index f = chunks.first(chunk); f < chunks.first(chunk + 1); ++f)
      for (std::int64_t e = entries.start[f]; e < entries.start[f + 1]; ++e)
        squared_norm_[f] += features.value(e) * features.value(e);
  });
  used_ = double(std::count_if(squared_norm_.begin(), squared_norm_.end(), [](float n) { return n > 0; }));
}

void PriorRegression::forget_last_step() {
  scratch_->step.clear();
  scratch_->image.clear();
}

void PriorRegression::widen(int width) {
  weights_ = widened(weights_, width_, width);
  nu_.resize(std::size_t(width), kStart);
  width_ = width;
  forget_last_step();
}

void PriorRegression::keep(const std::vector<int>& coordinates) {
  bring_forward(weights_, width_, coordinates, 0.0F);
  bring_forward(nu_, width_, coordinates, kStart);
  forget_last_step();
}

void PriorRegression::set_weights(const FactorMatrix& weights) {
  for (Index f = 0; f < weights.rows(); ++f)
    std::copy_n(weights.row(f).data(), weights.cols(), &weights_[f * width_]);
}

/// All ranks call it: what the weights of rank 0 say of members comes back to it.
void PriorRegression::say(Ranks* ranks, int& shared, int threads) {
  SharedNumbers<float>&of_features = scratch_->of_features, &of_members = scratch_->of_members;
  const MemberShares &features = features_.by_feature->shares(), &members = features_.by_member->shares();
  of_features = weights_;
  if (ranks) {
    of_features.share_from_leader(*ranks, shared++, weights_.size());
    of_members.share(*ranks, shared++, std::size_t(members.cuts().back() * width_));
    features.collect({{squared_norm_.data(), 1}});
  }
  sum_over_entries(*features_.by_member, of_features, width_, features_.has_values(), threads, of_members);
  if (!ranks) return;
  if (ranks->leads()) of_members.take_back();
  members.collect({{of_members.data(), width_}});
  used_ = double(std::count_if(squared_norm_.begin(), squared_norm_.end(), [](float n) { return n > 0; }));
}

void PriorRegression::start_from(const Eigen::VectorXf& nu, Index coordinates, std::span<const double> tau,
                                 AlignedVector<float>& prior_mean) {
  const SharedNumbers<float>& said = scratch_->of_members;
  for (Index i = 0; i < features_.by_member->size(); ++i)
    for (Index c = 0; c < width_; ++c)
      prior_mean[i * width_ + c] +=
          (features_.has_values() ? 1.0F : features_.scale[i]) * said[i * width_ + c];
  if (nu.size() == 0) return guess_nu(coordinates, tau);
  for (Index c = 0; c < nu.size(); ++c) nu_[c] = std::max<double>(kSmallestNu, nu[c]);
}

void PriorRegression::take_whole(Features all, int threads) {
  whole_ = std::move(all);
  find_norms(*whole_, threads);
}

/// Where updates leave nu for these means. The size of the means alone is far too little where each is vague:
/// it would shrink them to nothing.
void PriorRegression::guess_nu(Index coordinates, std::span<const double> tau) {
  constexpr int kSteps = 50;
  for (Index c = 0; c < coordinates; ++c) {
    double squares = 0;
    for (std::size_t f = 0; f < squared_norm_.size(); ++f)
      squares += double(weights_[Index(f) * width_ + c]) * weights_[Index(f) * width_ + c];
    for (int step = 0; step < kSteps; ++step) {
      double sum = squares;
      for (const float norm : squared_norm_)
        if (norm > 0) sum += tau[c] / (norm + tau[c] / nu_[c]);
      nu_[c] = std::max(kSmallestNu, sum / std::max(used_, 1.0));
    }
  }
}

std::vector<double> PriorRegression::improve(std::span<const double> tau, int threads,
                                             AlignedVector<float>& deviation,
                                             const std::function<bool()>& stop) {
  const Index width = width_;
  const EntryTasks &by_feature = *features_.by_feature, &by_member = *features_.by_member;
  const MemberShares &features = by_feature.shares(), &members = by_member.shares();
  const bool has_values = features_.has_values();
  const float* scale = has_values ? nullptr : features_.scale.data();
  SharedNumbers<float>&of_features = scratch_->of_features, &of_members = scratch_->of_members;
  AlignedVector<float>&step = scratch_->step, &image = scratch_->image;
  if (step.size() != weights_.size()) {  // a first step, or the last was one of another width
    step.assign(weights_.size(), 0.0F);
    image.assign(deviation.size(), 0.0F);
  }
  std::vector<float> variance(tau.begin(), tau.end()), ratio(variance), along_z(variance), along_p(variance);
  for (std::size_t c = 0; c < ratio.size(); ++c) ratio[c] = float(tau[c] / nu_[c]);

  of_members.resize(deviation.size());
  members.for_own(threads, [&](Index first, Index last) {
    if (scale)
      scale_rows(first, last, width, scale, deviation.data(), of_members.data());
    else
      std::copy(deviation.begin() + first * width, deviation.begin() + last * width,
                of_members.begin() + first * width);
  });
  SharingRound members_say;
  members_say.share(members, {{of_members.data(), width}});
  members_say.run();
  sum_over_entries(by_feature, of_members, width_, has_values, threads, of_features, stop);
  if (stop && stop()) return std::vector<double>(std::size_t(width), 0.0);
  Vector sums;
  SharingRound features_say;
  features_say.sum(features, Plane::count * width, threads, sums, [&](Index first, Index last, double* part) {
    set_direction(first, last, width, squared_norm_.data(), ratio.data(), weights_.data(), step.data(),
                  of_features.data(), part);
  });
  features_say.share(features, {{of_features.data(), width}});
  features_say.run();
  sum_over_entries(by_member, of_features, width_, has_values, threads, of_members, stop);
  if (stop && stop()) return std::vector<double>(std::size_t(width), 0.0);
  sums += sum_over(members, Plane::count * width, threads, [&](Index first, Index last, double* part) {
    add_curvature(first, last, width, scale, image.data(), of_members.data(), part);
  });
  for (Index c = 0; c < width; ++c)
    std::tie(along_z[std::size_t(c)], along_p[std::size_t(c)]) = step_lengths(sums, width, c);
  members.for_own(threads, [&](Index first, Index last) {
    step_members(first, last, width, along_z.data(), along_p.data(), of_members.data(), image.data(),
                 deviation.data());
  });
  sums = sum_over(features, 2 * width, threads, [&](Index first, Index last, double* part) {
    step_features(first, last, width, squared_norm_.data(), variance.data(), ratio.data(), along_z.data(),
                  along_p.data(), of_features.data(), step.data(), weights_.data(), part, part + width);
  });
  for (Index c = 0; c < width; ++c) nu_[c] = std::max(kSmallestNu, sums[c] / std::max(used_, 1.0));
  return {sums.begin() + width, sums.end()};
}

void PriorRegression::draw(std::span<const double> tau, std::uint64_t seed, int threads,
                           AlignedVector<float>& deviation) {
  // Every weight is drawn given all others, so that ranks cannot share them.
  const MemberShares &features = features_.by_feature->shares(), &members = features_.by_member->shares();
  features.collect({{weights_.data(), width_}});
  members.collect({{deviation.data(), width_}});
  if (members.rank() == 0) draw_all(tau, seed, threads, deviation);
  features.deal({{weights_.data(), width_}});
  members.deal({{deviation.data(), width_}});
  members.from_leader(nu_);
}

void PriorRegression::draw_all(std::span<const double> tau, std::uint64_t seed, int threads,
                               AlignedVector<float>& deviation) {
  const GroupedEntries& entries = all_features().by_feature->entries();
  AlignedVector<float>& normal = scratch_->normal;
  normal.resize(weights_.size());
  Random random(seed);
  const Chunks chunks(entries.size(), 16);
  parallel_for(chunks.count(), threads, [&](Index chunk) {
    for (Index f = chunks.first(chunk); f < chunks.first(chunk + 1); ++f) {
      Random of_feature = random.stream(f);
      for (Index i = f * width_; i < (f + 1) * width_; ++i) normal[i] = float(of_feature.gaussian());
    }
  });
  AlignedVector<float> variance(tau.begin(), tau.end()), ratio(variance);
  for (std::size_t c = 0; c < ratio.size(); ++c) ratio[c] = float(tau[c] / nu_[c]);
  if (!blocks_) blocks_ = std::make_shared<FeatureBlocks>(all_features(), threads);
  const std::vector<double> squares = blocks_->draw(
      {width_, squared_norm_, variance, ratio, normal, deviation, weights_, scratch_->room}, threads);
  for (int c = 0; c < width_; ++c)
    nu_[c] = std::max(kSmallestNu, draw_variance(squares[std::size_t(c)], used_, random));
}

void PriorRegression::visit_state(StateArchive& archive, int width, Index members) {
  const Index features = features_.by_feature->size();
  archive("weights", weights_, features * width);
  archive("nu", nu_, width);
  AlignedVector<float>&step = scratch_->step, &image = scratch_->image;
  archive("step", step);
  archive("image", image);
  archive.require((step.empty() && image.empty()) || features == 0 ||
                      (Index(step.size()) % features == 0 && Index(image.size()) % members == 0 &&
                       (step.size() != weights_.size() || Index(image.size()) == members * width)),
                  "the last step of a regression has not the size of its weights");
  width_ = width;
}

void PriorRegression::deal(int& shared) {
  const MemberShares &features = features_.by_feature->shares(), &members = features_.by_member->shares();
  used_ = sum_over(features, 1, 1, [&](Index first, Index last, double* sum) {
    *sum += double(std::count_if(squared_norm_.begin() + first, squared_norm_.begin() + last,
                                 [](float n) { return n > 0; }));
  })[0];
  std::array<bool, 1> goes_on{scratch_->step.size() == weights_.size()};
  members.from_leader(goes_on);
  members.from_leader(nu_);
  for (auto [room, of] : {std::pair(&scratch_->of_features, &features), {&scratch_->of_members, &members}})
    if (of->team()) room->share(*of->team(), shared++, std::size_t(of->cuts().back() * width_));
  features.deal({{weights_.data(), width_}});
  if (!goes_on[0]) return forget_last_step();
  scratch_->step.resize(weights_.size());
  scratch_->image.resize(std::size_t(features_.by_member->size() * width_));
  features.deal({{scratch_->step.data(), width_}});
  members.deal({{scratch_->image.data(), width_}});
}

void PriorRegression::collect() {
  const MemberShares &features = features_.by_feature->shares(), &members = features_.by_member->shares();
  features.collect({{weights_.data(), width_}});
  if (scratch_->step.size() != weights_.size()) return;
  features.collect({{scratch_->step.data(), width_}});
  members.collect({{scratch_->image.data(), width_}});
}

}  // namespace pursuit
