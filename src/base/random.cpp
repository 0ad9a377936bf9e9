#include "pursuit/base/random.hpp"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>
#include <utility>

namespace pursuit {
namespace {

/// What the numbers of a seed are for, so that none is used twice: one after the other, and as new seeds.
enum Plane : std::uint64_t { kSequence, kStreams, kMatrices };

double unit_interval(std::uint64_t bits) {
  return double(bits >> 11) * 0x1.0p-53;
}

/// Box and Muller 1958.
std::pair<double, double> gaussians(RandomBlock block) {
  const double radius = std::sqrt(-2.0 * std::log(1 - unit_interval(block.first)));
  const double angle = 2.0 * std::numbers::pi * unit_interval(block.second);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

}  // namespace

RandomBlock random_block(std::uint64_t seed, std::uint64_t place, std::uint64_t plane) {
  const auto low = [](std::uint64_t x) { return std::uint32_t(x); };
  const auto high = [](std::uint64_t x) { return std::uint32_t(x >> 32); };
  const r123::Philox4x32::ctr_type counter = {{low(place), high(place), low(plane), high(plane)}};
  const r123::Philox4x32::key_type key = {{low(seed), high(seed)}};
  const auto words = r123::Philox4x32()(counter, key);
  const auto joined = [](std::uint32_t a, std::uint32_t b) { return a | std::uint64_t(b) << 32; };
  return {joined(words[0], words[1]), joined(words[2], words[3])};
}

Random Random::stream(Index place) const {
  return Random(random_block(seed_, std::uint64_t(place), kStreams).first);
}

std::uint64_t Random::bits() {
  if (spare_bits_) return *std::exchange(spare_bits_, std::nullopt);
  const RandomBlock block = random_block(seed_, blocks_++, kSequence);
  spare_bits_ = block.second;
  return block.first;
}

double Random::uniform() {
  return unit_interval(bits());
}

double Random::gaussian() {
  if (spare_gaussian_) return *std::exchange(spare_gaussian_, std::nullopt);
  const auto [one, other] = gaussians(random_block(seed_, blocks_++, kSequence));
  spare_gaussian_ = other;
  return one;
}

Index Random::below(Index bound) {
  return Index(uniform() * double(bound));
}

Matrix Random::gaussian_rows(Index first, Index count, Index cols) {
  const std::uint64_t seed = random_block(seed_, matrices_++, kMatrices).first;
  Matrix result(count, cols);
  for (Index j = 0; j < cols; ++j)
    for (Index pair = first / 2; 2 * pair < first + count; ++pair) {  // of rows: a block has two numbers
      const auto [even, odd] = gaussians(random_block(seed, std::uint64_t(pair), std::uint64_t(j)));
      const Index i = 2 * pair - first;
      if (i >= 0) result(i, j) = even;
      if (i + 1 < count) result(i + 1, j) = odd;
    }
  return result;
}

void Random::visit_state(StateArchive& archive) {
  archive("seed", seed_);
  archive("blocks", blocks_);
  archive("matrices", matrices_);
  bool spare = spare_bits_.has_value();
  archive("has_spare_bits", spare);
  std::uint64_t bits = spare_bits_.value_or(0);
  archive("spare_bits", bits);
  spare_bits_ = spare ? std::optional(bits) : std::nullopt;
  archive("spare_gaussian", spare_gaussian_);
}

}  // namespace pursuit
