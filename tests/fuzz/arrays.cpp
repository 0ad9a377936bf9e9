// Whatever the bytes, the readers of arrays return sound entries or throw InvalidInput, whether what is not
// there is zero or unknown.

#include <cmath>

#include "fuzz/target.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/io/observed_tensor_file.hpp"
#include "pursuit/io/tensor_file.hpp"

namespace pursuit::fuzz {
namespace {

void require_sound(const ObservedTensor& data) {
  const SparseTensor& entries = data.entries;
  require(data.modes() >= 2 && data.modes() <= kMostModes, "as many modes as are allowed");
  require(Index(entries.index.size()) == data.modes(), "every mode has indices");
  for (std::size_t mode = 0; mode < entries.index.size(); ++mode) {
    require(entries.index[mode].size() == entries.value.size(), "indices and values are parallel");
    for (const int at : entries.index[mode])
      require(at >= 0 && at < entries.shape[mode], "indices are in range");
  }
  for (const double value : entries.value) require(std::isfinite(value), "values are finite");
}

void read_in_full(const std::string& path) {
  try {
    const TensorData data = read_tensor(path, 1);
    require(data.shape.size() >= 2 && Index(data.shape.size()) <= kMostModes, "as many modes as are allowed");
    require(std::isfinite(data.target->largest_magnitude()), "values are finite");
    for (std::size_t mode = 0; mode < data.names.size(); ++mode)
      require(data.names[mode].empty() || Index(data.names[mode].size()) == data.shape[mode],
              "every index has a name");
  } catch (const InvalidInput&) {
  }
}

void read_observed(const std::string& path, Others others) {
  try {
    require_sound(read_observed_tensor(path, others, 1));
  } catch (const InvalidInput&) {
  }
}

}  // namespace

void read_arrays(std::string_view bytes) {
  const MemoryFile file(bytes);
  is_tensor_file(file.path());
  read_in_full(file.path());
  read_observed(file.path(), Others::unknown);
  read_observed(file.path(), Others::zero);
}

}  // namespace pursuit::fuzz
