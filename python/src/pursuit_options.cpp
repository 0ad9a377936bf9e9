#include "pursuit_options.hpp"

#include <limits>
#include <string>

#include "checkpoints.hpp"

namespace pursuit::python {
namespace py = pybind11;

double seconds_or_forever(const py::object& limit) {
  return limit.is_none() ? std::numeric_limits<double>::infinity() : limit.cast<double>();
}

FactorOptions pursuit_options(const py::dict& given) {
  const auto take = [&](const char* name, auto& value) {
    if (!given.contains(name)) throw py::type_error(std::string("options: '") + name + "' is missing");
    try {
      value = given[name].cast<std::decay_t<decltype(value)>>();
    } catch (const py::cast_error&) {
      throw py::type_error(std::string(name) + "=" + std::string(py::str(py::repr(given[name]))) +
                           ": must be a number");
    }
  };
  FactorOptions options;
  std::string weights;
  take("rank", options.rank);
  take("weights", weights);
  options.weights = parse_weight_rule(weights);
  take("corrections", options.corrections);
  take("polish", options.polish);
  take("polish_tolerance", options.polish_tolerance);
  take("restarts", options.restarts);
  take("seed", options.seed);
  take("threads", options.threads);
  take("target_error", options.target_error);
  py::object time_limit;
  take("time_limit", time_limit);
  options.time_limit = seconds_or_forever(time_limit);
  if (given.contains("svd_tolerance")) take("svd_tolerance", options.svd_tolerance);
  if (given.contains("checkpoint")) options.checkpoints = checkpoints_from(given["checkpoint"]);
  return options;
}

}  // namespace pursuit::python
