#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pursuit {

/// The ids of rows or columns, in order of first appearance. An id is any text: "007" and "7" are two.
class IdTable {
 public:
  IdTable() = default;
  /// Throws InvalidInput where an id is listed twice.
  explicit IdTable(const std::vector<std::string>& names);

  /// The id's index; a new id takes the next one. Throws InvalidInput beyond 2^31 - 1 ids.
  int add(std::string_view id);
  /// The id's index, -1 for an unknown one.
  int find(std::string_view id) const;

  int size() const { return static_cast<int>(ends_.size()); }
  /// Valid until the next add().
  std::string_view name(int index) const;
  std::vector<std::string> names() const;

  /// InvalidInput: there are more ids than 2^31 - 1.
  [[noreturn]] static void refuse_more();

 private:
  struct Slot {
    std::uint64_t key = 0;  // a short id itself, or a hash of a long one; 0 where the slot is free
    int index = -1;
  };

  std::size_t slot_of(std::uint64_t key, std::string_view id) const;
  int append(std::string_view id);
  void widen();

  std::string text_;               // the ids, one behind the other
  std::vector<std::size_t> ends_;  // where each ends in it
  std::vector<int> numbers_;       // index of the id that reads "k", -1 where there is none; grows as needed
  std::vector<Slot> slots_;        // of all other ids: as many as a power of two, at least half of them free
  std::size_t hashed_ = 0;         // ids in it
};

}  // namespace pursuit
