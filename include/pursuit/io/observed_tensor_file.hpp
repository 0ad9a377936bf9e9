#pragma once
// Arrays of which some entries are known, in the files of tensor_file.hpp. In .npy NaN is an unknown entry;
// in files that list entries everything else is unknown.

#include <filesystem>

#include "pursuit/io/tensor_file.hpp"
#include "pursuit/objective/observed_tensor.hpp"

namespace pursuit {

/// What is not there: unknown, or zero (then a NaN is refused).
enum class Others { unknown, zero };

struct NamedObservedTensor {
  ObservedTensor data;
  ModeNames names = {};
  std::vector<std::string> labels = {};  // of the modes, where a table has them
};

/// Two modes are taken too. Every defect is an InvalidInput that names the file, the place and the value.
NamedObservedTensor read_named_observed_tensor(const std::filesystem::path& path, Others others,
                                               int threads = 0);
ObservedTensor read_observed_tensor(const std::filesystem::path& path, Others others, int threads = 0);

/// How often every entry counts: an array of the same sizes, of which a list leaves out what does not count
/// at all; the ids of a table are those of `names`, the data's. Entries that are zeros without being listed,
/// which have weights too, are listed then, for `loss`.
void read_tensor_weights(const std::filesystem::path& path, const Loss& loss, const ModeNames& names,
                         ObservedTensor& data, int threads = 0);

}  // namespace pursuit
