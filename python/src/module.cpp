// pursuit._core: the engine as plain functions of arrays. The estimators of the package are made of them.

#include <pybind11/pybind11.h>

#include <string>

#include "atoms.hpp"
#include "choosing.hpp"
#include "completion.hpp"
#include "consensus.hpp"
#include "factorizations.hpp"
#include "features.hpp"
#include "model_files.hpp"
#include "observed_tensors.hpp"
#include "penalized.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/version.hpp"
#include "pursuit/catalogue/catalogue.hpp"
#include "ranks.hpp"
#include "reports.hpp"
#include "serving.hpp"
#include "sparse_codes.hpp"
#include "tensors.hpp"
#include "traces.hpp"
#include "watch.hpp"

namespace py = pybind11;

namespace {

constexpr const char* kPybind11 =
    PYBIND11_TOSTRING(PYBIND11_VERSION_MAJOR) "." PYBIND11_TOSTRING(PYBIND11_VERSION_MINOR);

/// Before 2.12 pybind11 reads arrays as NumPy 1 lays them out, and crashes on those of NumPy 2.
void require_a_numpy_that_pybind11_knows() {
#if PYBIND11_VERSION_HEX < 0x020C0000
  const auto found = py::module_::import("numpy").attr("__version__").cast<std::string>();
  if (std::stoi(found) >= 2)
    throw py::import_error(std::string("pursuit was built with pybind11 ") + kPybind11 +
                           ", which knows only NumPy 1, but NumPy is " + found +
                           ": build it with pybind11 2.12 or later (pip install .), or install 'numpy<2'");
#endif
}

}  // namespace

PYBIND11_MODULE(_core, m) {
  require_a_numpy_that_pybind11_knows();
  m.doc() = "The engine of pursuit; use the classes of the package instead.";
  m.attr("__version__") = pursuit::version();
  m.attr("__pybind11__") = kPybind11;
  // The last one registered is asked first: kinds of Error before Error itself.
  py::register_exception<pursuit::Error>(m, "Error", PyExc_RuntimeError);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const pursuit::InvalidArgument& error) {
      PyErr_SetString(PyExc_ValueError, error.what());
    } catch (const pursuit::InvalidInput& error) {
      PyErr_SetString(PyExc_ValueError, error.what());
    } catch (const pursuit::OutputFailure& error) {
      PyErr_SetString(PyExc_OSError, error.what());
    }
  });
  py::register_exception<pursuit::NamesNeeded>(m, "NamesNeeded", PyExc_ValueError);
  pursuit::python::bind_moments(m);
  pursuit::python::bind_traces(m);
  pursuit::python::bind_atoms(m);
  pursuit::python::bind_ranks(m);
  pursuit::python::bind_factorizations(m);
  pursuit::python::bind_tensors(m);
  pursuit::python::bind_observed_tensors(m);
  pursuit::python::bind_penalized(m);
  pursuit::python::bind_consensus(m);
  pursuit::python::bind_sparse_codes(m);
  pursuit::python::bind_features(m);
  pursuit::python::bind_completion(m);
  pursuit::python::bind_serving(m);
  pursuit::python::bind_model_files(m);
  pursuit::python::bind_choosing(m);
  pursuit::python::bind_reports(m);
}
