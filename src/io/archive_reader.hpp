#pragma once
// What the files of models share: arrays in a .npz, and a JSON text of metadata among them.

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "io/npz_archive.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {

inline NpyArray array_of(const Matrix& m) {
  std::vector<double> values(std::size_t(m.size()));
  Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(values.data(), m.rows(),
                                                                                     m.cols()) = m;
  return {{m.rows(), m.cols()}, std::move(values)};
}

template <class T>
NpyArray array_of(std::vector<T> values) {
  return {{Index(values.size())}, std::move(values)};
}

/// With the version of this library added.
NpyArray array_of_metadata(std::map<std::string, std::string> metadata);

/// The arrays of a model's archive, each asked for by name, dimensions and type.
class ArchiveReader {
 public:
  ArchiveReader(const NpzArchive& archive, std::string path) : archive_(archive), path_(std::move(path)) {}

  bool has_any(std::initializer_list<const char*> names) const {
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return archive_.contains(name); });
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw InvalidInput(fmt::format("{}: not a pursuit model: {}", path_, why));
  }
  const NpyArray& array(const std::string& name, std::size_t dimensions) const {
    const auto found = archive_.find(name);
    if (found == archive_.end()) refuse(fmt::format("array '{}' is missing", name));
    if (found->second.shape.size() != dimensions)
      refuse(fmt::format("array '{}' has {} dimensions instead of {}", name, found->second.shape.size(),
                         dimensions));
    return found->second;
  }
  template <class T>
  const std::vector<T>& values(const NpyArray& array, const std::string& name) const {
    if (const auto* list = std::get_if<std::vector<T>>(&array.values)) return *list;
    refuse(fmt::format("array '{}' has the wrong type of entries", name));
  }
  Matrix matrix(const std::string& name) const {
    const NpyArray& entry = array(name, 2);
    const auto& list = values<double>(entry, name);
    Matrix result = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
        list.data(), entry.shape[0], entry.shape[1]);
    if (!result.allFinite()) refuse(fmt::format("array '{}' has an entry that is not finite", name));
    return result;
  }
  template <class T>
  std::vector<T> list(const std::string& name) const {
    return values<T>(array(name, 1), name);
  }
  std::vector<std::string> names(const std::string& name, Index expected) const {
    if (!archive_.contains(name)) return {};
    auto result = list<std::string>(name);
    if (Index(result.size()) != expected)
      refuse(fmt::format("array '{}' has {} entries for {} atoms' entries", name, result.size(), expected));
    return result;
  }
  std::map<std::string, std::string> metadata() const;

 private:
  const NpzArchive& archive_;
  std::string path_;
};

}  // namespace pursuit
