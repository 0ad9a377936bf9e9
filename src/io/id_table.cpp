#include "pursuit/io/id_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

#include "io/defect.hpp"
#include "io/number_text.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {

namespace {

// Most files number their rows and columns; such ids are looked up in an array instead of a hash table. Below
// this number the array stays small beside any file that is large.
constexpr std::size_t kMostNumbers = std::size_t{1} << 22;
constexpr std::size_t kNoNumber = kMostNumbers;

constexpr std::size_t kMost = std::numeric_limits<int>::max();

constexpr std::size_t kShort = 7;  // bytes that fit a key

/// The number that an id is the usual text of; kNoNumber for all else, "007" included.
std::size_t number_of(std::string_view id, std::uint64_t packed) {
  if (id.empty() || (id.front() == '0' && id.size() > 1)) return kNoNumber;
  std::uint32_t number = 0;
  if (!io::parse_digits(packed, id.size(), number)) return kNoNumber;
  return std::min<std::size_t>(number, kNoNumber);
}

constexpr std::uint64_t kLong = std::uint64_t{1} << 63;

/// A number that no two short ids share; of long ones a hash, marked as such. Never 0.
std::uint64_t key_of(std::string_view id, std::uint64_t packed) {
  if (id.size() > kShort) return std::hash<std::string_view>{}(id) | kLong;
  return packed | std::uint64_t{id.size() + 1} << 56;
}

/// Where to look for a key first.
std::size_t place_of(std::uint64_t key, std::size_t slots) {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
  return static_cast<std::size_t>(((key ^ key >> 32) * kGolden) >> (64 - std::countr_zero(slots)));
}

}  // namespace

IdTable::IdTable(const std::vector<std::string>& names) {
  for (const std::string& id : names) {
    const int before = size();
    if (add(id) != before) throw InvalidInput(fmt::format("the id {} is listed twice", io::shown(id)));
  }
}

/// Where the id is, or else the free slot for it.
inline std::size_t IdTable::slot_of(std::uint64_t key, std::string_view id) const {
  std::size_t at = place_of(key, slots_.size());
  while (slots_[at].key != 0 &&
         (slots_[at].key != key || ((key & kLong) != 0 && name(slots_[at].index) != id)))
    at = (at + 1) & (slots_.size() - 1);
  return at;
}

int IdTable::add(std::string_view id) {
  const std::uint64_t packed = id.size() <= kShort ? io::packed_text(id) : 0;
  const std::size_t number = id.size() <= kShort ? number_of(id, packed) : kNoNumber;
  if (number != kNoNumber) {
    if (number >= numbers_.size()) [[unlikely]]
      numbers_.resize(std::min(kMostNumbers, std::max(number + 1, 2 * numbers_.size())), -1);
    int& index = numbers_[number];
    if (index < 0) [[unlikely]]
      index = append(id);
    return index;
  }
  if (2 * (hashed_ + 1) > slots_.size()) widen();
  const std::uint64_t key = key_of(id, packed);
  Slot& slot = slots_[slot_of(key, id)];
  if (slot.key == 0) {
    slot = {key, append(id)};
    ++hashed_;
  }
  return slot.index;
}

int IdTable::find(std::string_view id) const {
  const std::uint64_t packed = id.size() <= kShort ? io::packed_text(id) : 0;
  const std::size_t number = id.size() <= kShort ? number_of(id, packed) : kNoNumber;
  if (number != kNoNumber) return number < numbers_.size() ? numbers_[number] : -1;
  return slots_.empty() ? -1 : slots_[slot_of(key_of(id, packed), id)].index;
}

void IdTable::refuse_more() {
  throw InvalidInput(
      fmt::format("there are more than {} ids, the most that rows or columns may have", kMost));
}

int IdTable::append(std::string_view id) {
  if (ends_.size() >= kMost) refuse_more();
  text_ += id;
  ends_.push_back(text_.size());
  return size() - 1;
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

void IdTable::widen() {
  constexpr std::size_t kFewest = 64;
  std::vector<Slot> old(std::max(kFewest, 4 * slots_.size()));
  old.swap(slots_);
  for (const Slot& slot : old)
    if (slot.key != 0) slots_[slot_of(slot.key, name(slot.index))] = slot;
}

}  // namespace pursuit
