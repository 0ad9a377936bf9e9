#include "pursuit/base/state_archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class Number>
bool all_finite(const std::vector<Number>& list) {
  return std::all_of(list.begin(), list.end(), [](Number value) { return std::isfinite(value); });
}

}  // namespace

StateArchive StateArchive::in(const std::string& name) const {
  StateArchive part = *this;
  part.section_ += '.' + name;
  return part;
}

void StateArchive::refuse(const std::string& what) const {
  throw InvalidInput(fmt::format("{}: not a checkpoint of this run: {}", file_, what));
}

void StateArchive::put(const std::string& name, StoredArray array) {
  into_->insert_or_assign(section_ + '.' + name, std::move(array));
}

const StoredArray& StateArchive::get(const std::string& name, std::size_t dimensions,
                                     const std::vector<Index>& shape) const {
  const auto found = from_->find(section_ + '.' + name);
  if (found == from_->end()) refuse(fmt::format("array '{}.{}' is missing", section_, name));
  const StoredArray& array = found->second;
  if (array.shape.size() != dimensions)
    refuse(fmt::format("array '{}' has {} dimensions instead of {}", found->first, array.shape.size(),
                       dimensions));
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != kAny && array.shape[d] != shape[d])
      refuse(fmt::format("array '{}' has {} entries along dimension {} instead of {}", found->first,
                         array.shape[d], d, shape[d]));
  return array;
}

void StateArchive::require_finite(const std::string& name, const std::vector<double>& list) const {
  if (!all_finite(list)) refuse(fmt::format("array '{}.{}' has an entry that is not finite", section_, name));
}
void StateArchive::require_finite(const std::string& name, const std::vector<float>& list) const {
  if (!all_finite(list)) refuse(fmt::format("array '{}.{}' has an entry that is not finite", section_, name));
}

void StateArchive::operator()(const std::string& name, double& value) {
  if (!reads()) return put(name, {{}, std::vector<double>{value}});
  value = values<double>(get(name, 0, {}), name).at(0);
}

void StateArchive::operator()(const std::string& name, bool& value) {
  std::int64_t number = value ? 1 : 0;
  whole(name, number, 0, 1);
  value = number != 0;
}

void StateArchive::operator()(const std::string& name, std::string& value) {
  if (!reads()) return put(name, {{}, std::vector<std::string>{value}});
  value = values<std::string>(get(name, 0, {}), name).at(0);
}

void StateArchive::operator()(const std::string& name, std::uint64_t& value) {
  auto bits = std::bit_cast<std::int64_t>(value);
  whole(name, bits, std::numeric_limits<Index>::min(), std::numeric_limits<Index>::max());
  value = std::bit_cast<std::uint64_t>(bits);
}

void StateArchive::operator()(const std::string& name, std::optional<double>& value) {
  std::vector<double> list;
  if (value) list.push_back(*value);
  (*this)(name, list);
  require(list.size() <= 1, fmt::format("'{}.{}' is more than one number", section_, name));
  value = list.empty() ? std::nullopt : std::optional(list.front());
}

void StateArchive::whole(const std::string& name, std::int64_t& value, Index least, Index most) {
  if (!reads()) return put(name, {{}, std::vector<std::int64_t>{value}});
  value = values<std::int64_t>(get(name, 0, {}), name).at(0);
  if (value < least || value > most)
    refuse(fmt::format("'{}.{}' is {}; allowed are {} to {}", section_, name, value, least, most));
}

void StateArchive::operator()(const std::string& name, Vector& value, Index size) {
  std::vector<double> list(value.begin(), value.end());
  (*this)(name, list, size);
  if (reads()) value = Eigen::Map<const Vector>(list.data(), Index(list.size()));
}

void StateArchive::operator()(const std::string& name, Matrix& value, Index rows, Index cols) {
  if (!reads()) {
    std::vector<double> list(std::size_t(value.size()));
    Eigen::Map<RowMajor>(list.data(), value.rows(), value.cols()) = value;
    return put(name, {{value.rows(), value.cols()}, std::move(list)});
  }
  const StoredArray& array = get(name, 2, {rows, cols});
  const auto& list = values<double>(array, name);
  require_finite(name, list);
  value = Eigen::Map<const RowMajor>(list.data(), array.shape[0], array.shape[1]);
}

}  // namespace pursuit
