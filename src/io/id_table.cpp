#include "pursuit/io/id_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "io/defect.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {

namespace {

// Most files number their rows and columns; such ids are looked up in an array instead of a hash table. Below
// this number the array stays small beside any file that is large.
constexpr std::size_t kMostNumbers = std::size_t{1} << 22;
constexpr std::size_t kNoNumber = kMostNumbers;

/// The number that `id` is the usual text of; kNoNumber for all else, "007" included.
std::size_t number_of(std::string_view id) {
  constexpr std::size_t kMostDigits = 7;
  if (id.empty() || id.size() > kMostDigits || (id.front() == '0' && id.size() > 1)) return kNoNumber;
  std::size_t number = 0;
  for (const char c : id) {
    const auto digit = static_cast<unsigned>(c - '0');
    if (digit > 9) return kNoNumber;
    number = 10 * number + digit;
  }
  return std::min(number, kNoNumber);
}

}  // namespace

IdTable::IdTable(const std::vector<std::string>& names) {
  for (const std::string& id : names) {
    const int before = size();
    if (add(id) != before) throw InvalidInput(fmt::format("the id {} is listed twice", io::shown(id)));
  }
}

int IdTable::add(std::string_view id) {
  if (const std::size_t number = number_of(id); number != kNoNumber) {
    if (number >= numbers_.size())
      numbers_.resize(std::min(kMostNumbers, std::max(number + 1, 2 * numbers_.size())), -1);
    int& index = numbers_[number];
    if (index < 0) index = append(id);
    return index;
  }
  if (2 * (hashed_ + 1) > slots_.size()) widen();
  int& index = slots_[slot_of(id)];
  if (index < 0) {
    index = append(id);
    ++hashed_;
  }
  return index;
}

int IdTable::find(std::string_view id) const {
  if (const std::size_t number = number_of(id); number != kNoNumber)
    return number < numbers_.size() ? numbers_[number] : -1;
  return slots_.empty() ? -1 : slots_[slot_of(id)];
}

std::string_view IdTable::name(int index) const {
  const auto at = static_cast<std::size_t>(index);
  const std::size_t begin = at == 0 ? 0 : ends_[at - 1];
  return std::string_view(text_).substr(begin, ends_[at] - begin);
}

std::vector<std::string> IdTable::names() const {
  std::vector<std::string> all;
  all.reserve(ends_.size());
  for (int k = 0; k < size(); ++k) all.emplace_back(name(k));
  return all;
}

/// Where the id is in the hash table, or else the free slot for it.
std::size_t IdTable::slot_of(std::string_view id) const {
  const std::size_t mask = slots_.size() - 1;  // a power of two less one
  std::size_t slot = std::hash<std::string_view>{}(id)&mask;
  while (slots_[slot] >= 0 && name(slots_[slot]) != id) slot = (slot + 1) & mask;
  return slot;
}

int IdTable::append(std::string_view id) {
  constexpr std::size_t kMost = std::numeric_limits<int>::max();
  if (ends_.size() >= kMost)
    throw InvalidInput(
        fmt::format("there are more than {} ids, the most that rows or columns may have", kMost));
  text_ += id;
  ends_.push_back(text_.size());
  return size() - 1;
}

void IdTable::widen() {
  constexpr std::size_t kFewest = 64;
  std::vector<int> old(std::max(kFewest, 2 * slots_.size()), -1);
  old.swap(slots_);
  for (const int index : old)
    if (index >= 0) slots_[slot_of(name(index))] = index;
}

}  // namespace pursuit
