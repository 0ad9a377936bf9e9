#include "checkpoints.hpp"

#include <filesystem>
#include <string>
#include <utility>

#include "pursuit/io/checkpoint_file.hpp"

namespace pursuit::python {

CheckpointsPtr checkpoints_from(const pybind11::object& given) {
  if (given.is_none()) return nullptr;
  const auto pair = given.cast<pybind11::tuple>();
  const auto file = pair[0].cast<std::string>(), every = pair[1].cast<std::string>();
  std::error_code unknown;
  return checkpoints_in(file, rhythm_of(every),
                        std::filesystem::exists(file, unknown) ? file : std::string());
}

}  // namespace pursuit::python
