#pragma once
// The state of something that iterates, as named arrays: written and read by one function of its own, which
// names its parts once. What is read comes from a file and is not trusted: types, shapes and ranges are
// checked, and entries of vectors and matrices have to be finite.

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "pursuit/base/types.hpp"

namespace pursuit {

/// Numbers keep whether they are float32, float64 or integers; text is UTF-8.
struct StoredArray {
  std::vector<Index> shape;  // empty for a scalar; values lie in C order
  std::variant<std::vector<double>, std::vector<float>, std::vector<std::int64_t>, std::vector<std::string>>
      values;
};
using Snapshot = std::map<std::string, StoredArray>;

class StateArchive {
 public:
  static constexpr Index kAny = -1;

  /// Writes the parts under "section.".
  StateArchive(Snapshot& into, std::string section) : into_(&into), section_(std::move(section)) {}
  /// Reads them; `file` is for messages.
  StateArchive(const Snapshot& from, std::string section, std::string file)
      : from_(&from), section_(std::move(section)), file_(std::move(file)) {}

  bool reads() const { return from_ != nullptr; }

  /// Parts of a part, by a name of their own.
  StateArchive in(const std::string& name) const;
  StateArchive in(const std::string& name, Index number) const {
    return in(name + '.' + std::to_string(number));
  }

  void operator()(const std::string& name, double& value);  // which may be infinite or unknown
  void operator()(const std::string& name, bool& value);
  void operator()(const std::string& name, std::string& value);
  void operator()(const std::string& name, std::optional<double>& value);
  void operator()(const std::string& name, std::uint64_t& value);
  template <class Whole>
  requires(std::is_enum_v<Whole> || std::is_same_v<Whole, int> || std::is_same_v<Whole, Index>)  //
      void
      operator()(const std::string& name, Whole& value, Index least = 0, Index most = kMost<Whole>()) {
    auto number = std::int64_t(value);
    whole(name, number, least, most);
    value = Whole(number);
  }

  void operator()(const std::string& name, Vector& value, Index size = kAny);
  void operator()(const std::string& name, Matrix& value, Index rows = kAny, Index cols = kAny);
  template <class Number, class Room>
  void operator()(const std::string& name, std::vector<Number, Room>& value, Index size = kAny) {
    if (!reads())
      return put(name, {{Index(value.size())}, std::vector<Stored<Number>>(value.begin(), value.end())});
    const StoredArray& array = get(name, 1, {size});
    const auto& list = values<Stored<Number>>(array, name);
    require_finite(name, list);
    value.assign(list.begin(), list.end());
  }

  /// InvalidInput, naming the file, where it is being read.
  void require(bool good, const std::string& what) const {
    if (!good && reads()) refuse(what);
  }
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  template <class Number>
  using Stored = std::conditional_t<std::is_integral_v<Number>, std::int64_t, Number>;
  template <class Whole>
  static constexpr Index kMost() {
    return std::is_same_v<Whole, Index> ? std::numeric_limits<Index>::max() : std::numeric_limits<int>::max();
  }

  void put(const std::string& name, StoredArray array);
  const StoredArray& get(const std::string& name, std::size_t dimensions,
                         const std::vector<Index>& shape) const;
  template <class T>
  const std::vector<T>& values(const StoredArray& array, const std::string& name) const {
    if (const auto* list = std::get_if<std::vector<T>>(&array.values)) return *list;
    refuse("array '" + section_ + '.' + name + "' has the wrong type of entries");
  }
  void require_finite(const std::string& name, const std::vector<double>& list) const;
  void require_finite(const std::string& name, const std::vector<float>& list) const;
  static void require_finite(const std::string&, const std::vector<std::int64_t>&) {}
  void whole(const std::string& name, std::int64_t& value, Index least, Index most);

  Snapshot* into_ = nullptr;
  const Snapshot* from_ = nullptr;
  std::string section_, file_;
};

}  // namespace pursuit
