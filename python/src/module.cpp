// pursuit._core: the engine as plain functions of arrays. The estimators of the package are made of them.

#include <pybind11/pybind11.h>

#include "atoms.hpp"
#include "completion.hpp"
#include "factorizations.hpp"
#include "model_files.hpp"
#include "penalized.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/io/model_file.hpp"
#include "sparse_codes.hpp"
#include "watch.hpp"

namespace py = pybind11;

PYBIND11_MODULE(_core, m) {
  m.doc() = "The engine of pursuit; use the classes of the package instead.";
  m.attr("__version__") = pursuit::version();
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
  pursuit::python::bind_steps(m);
  pursuit::python::bind_atoms(m);
  pursuit::python::bind_factorizations(m);
  pursuit::python::bind_penalized(m);
  pursuit::python::bind_sparse_codes(m);
  pursuit::python::bind_completion(m);
  pursuit::python::bind_model_files(m);
}
