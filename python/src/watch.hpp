#pragma once
// C++ at work, seen from Python: what a run tells about itself is kept, a callback is asked whether to go on,
// and Ctrl-C is noticed. The C++ code runs without the interpreter's lock, which is taken here for as long as
// Python runs.

#include <pybind11/pybind11.h>

#include <chrono>
#include <vector>

#include "pursuit/base/run.hpp"

namespace pursuit::python {

namespace py = pybind11;

class Watch {
 public:
  /// `callback` is None or a function of one moment that returns False to stop the run.
  explicit Watch(py::object callback);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Valid as long as this.
  Observer observer();

  /// What is told of every run that ended this way: "stop"; "history", every moment, one array per field; and
  /// "failure", what the callback raised or KeyboardInterrupt, None where nothing was: the run ended there
  /// and kept what it had.
  py::dict answer(Stop stop) const;

  /// An interrupt arrived while Python code of an atom set ran on the thread of this run. True where it is
  /// kept for the end of the step; false for a second one, which should end the run at once.
  static bool keep_interrupt(py::error_already_set& error);

 private:
  bool go_on(const Moment& moment);
  py::dict history() const;

  py::object callback_;
  py::object failure_;
  Watch* previous_;  // runs may start runs, in a callback
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
  std::vector<Moment> moments_;
};

/// The class whose objects callbacks get.
void bind_moments(py::module_& m);

}  // namespace pursuit::python
