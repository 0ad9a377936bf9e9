#include "completion/tensor_posteriors.hpp"

#include <algorithm>
#include <cmath>

#include "base/chunks.hpp"
#include "linalg/cholesky.hpp"
#include "objective/group_panel.hpp"

namespace pursuit {
namespace {

constexpr double kLeastNoise = 1e-12;  // of the mean square of the values
constexpr double kLeastPrior = 1e-12;  // of the largest variance of an atom along a mode
constexpr double kFirstSize = 0.1;     // of a new atom, beside the noise
constexpr double kVanished = 1e-9;     // of the size of the values

}  // namespace

TensorEntries::TensorEntries(const ObservedTensor& data) : groups(data) {
  double largest = 0;
  for (const double value : data.entries.value) largest = std::max(largest, std::abs(value));
  if (largest > 0) unit = std::ldexp(1.0, std::ilogb(largest));
  for (std::size_t e = 0; e < data.entries.value.size(); ++e) {
    const double own = data.weights.empty() ? 1.0 : data.weights[e], value = data.entries.value[e] / unit;
    mean_square += own * value * value;
    weight += own;
  }
  if (weight > 0) mean_square /= weight;
}

TensorPosteriors::TensorPosteriors(const TensorEntries& data)
    : mean_(no_atoms(data.groups.shape()).factors),
      variance_(mean_),
      prior_(std::size_t(data.groups.modes()), Vector(0)),
      unit_(data.unit),
      noise_(data.mean_square),
      room_(std::pow(data.mean_square, 1.0 / double(data.groups.modes()))) {}

void TensorPosteriors::add_atom(Random random) {
  const double size = std::pow(kFirstSize * std::sqrt(noise_), 1.0 / double(mean_.modes()));
  std::vector<Panel> means, variances;
  std::vector<Index> own;
  for (Index mode = 0; mode < mean_.modes(); ++mode) {
    means.emplace_back(size * random.gaussian_matrix(mean_[mode].rows(), 1));
    variances.emplace_back(Panel::Zero(mean_[mode].rows(), 1));
    own.push_back(mode);
    Vector& prior = prior_[std::size_t(mode)];
    prior.conservativeResize(prior.size() + 1);
    prior[prior.size() - 1] = room_;
  }
  mean_.append(Factors(std::move(means), own));
  variance_.append(Factors(std::move(variances), own));
}

Factors TensorPosteriors::expected_squares() const {
  Factors squares = mean_;
  for (Index mode = 0; mode < squares.modes(); ++mode)
    squares[mode] = mean_[mode].cwiseAbs2() + variance_[mode];
  return squares;
}

void TensorPosteriors::sweep(const TensorEntries& data, int threads) {
  for (Index mode = 0; mode < mean_.modes(); ++mode) sweep(data, mode, threads);
}

void TensorPosteriors::sweep(const TensorEntries& data, Index mode, int threads) {
  const EntryGroups& entries = data.groups;
  const Index groups = entries.size(mode), rank = mean_.count();
  const bool last = mode + 1 == mean_.modes();
  const GroupPanel others(mean_, mode, true), squares(expected_squares(), mode, true);
  Vector& prior = prior_[std::size_t(mode)];
  const Vector priced = noise_ * prior.cwiseInverse();
  Panel &mean = mean_[mode], &variance = variance_[mode];
  Vector parts = Vector::Zero(groups);  // of the squared residual that is expected
  constexpr double kPieceEntries = 4096;
  const Chunks pieces(groups, 1 + Index(kPieceEntries / (1 + entries.entries() / double(groups))));
  parallel_for(pieces.count(), threads, [&](Index piece) {
    EntryGroups::Scratch scratch;
    AlignedVector<double> weight, weighted, fit;
    Matrix gram, unused;
    Vector slope(rank), square(rank);
    for (Index g = pieces.first(piece); g < pieces.first(piece + 1); ++g) {
      const EntryGroups::Group group = entries.group(mode, g, scratch);
      const auto count = std::size_t(group.count);
      weight.assign(count, 1.0);
      if (group.weight) std::copy_n(group.weight, count, weight.begin());
      weighted.resize(count);
      for (std::size_t e = 0; e < count; ++e) weighted[e] = weight[e] * group.y[e] / unit_;
      others.gram(group, weight.data(), unused, gram);
      others.contract(group, weighted.data(), slope.data());
      squares.contract(group, weight.data(), square.data());
      const Vector sure = gram.diagonal();
      gram.diagonal() = square + priced;
      const Cholesky system(gram);
      if (!system.definite()) continue;  // a row whose numbers are too large or small stays
      const Vector x = system.solve(slope);
      mean.row(g) = x;
      variance.row(g) = noise_ * system.solve(Matrix::Identity(rank, rank)).diagonal().transpose();
      if (!last) continue;
      fit.assign(count, 0.0);
      others.predict(group, x.data(), fit.data());
      for (std::size_t e = 0; e < count; ++e) {
        const double residual = group.y[e] / unit_ - fit[e];
        parts[g] += weight[e] * residual * residual;
      }
      parts[g] += variance.row(g).dot(square) + x.cwiseAbs2().dot(square - sure);
    }
  });
  const Vector sizes = (mean.cwiseAbs2() + variance).colwise().mean();
  prior = sizes.cwiseMax(kLeastPrior * std::max(sizes.maxCoeff(), 1e-300));
  if (last && data.weight > 0) noise_ = std::max(parts.sum() / data.weight, kLeastNoise * data.mean_square);
}

Expansion TensorPosteriors::atoms() const {
  Expansion x(mean_, Vector::Ones(rank()));
  double entries = 1;
  for (Index mode = 0; mode < mean_.modes(); ++mode) {
    entries *= double(mean_[mode].rows());
    for (Index k = 0; k < rank(); ++k) {
      const double norm = mean_[mode].col(k).norm();
      x.weights[k] *= norm;
      if (norm > 0) x.factors[mode].col(k) /= norm;
    }
  }
  const double nothing = kVanished * std::sqrt(entries) * std::pow(room_, 0.5 * double(mean_.modes()));
  std::vector<Index> staying;
  for (Index k = 0; k < rank(); ++k)
    if (x.weights[k] > nothing) staying.push_back(k);
  x.keep(staying);
  x.weights *= unit_;
  return x;
}

}  // namespace pursuit
