#include "watch.hpp"

#include <pybind11/numpy.h>

#include <utility>

#include "columns.hpp"
#include "interpreter.hpp"

namespace pursuit::python {
namespace {

/// The run of this thread that Python's signal handlers may have to stop.
thread_local Watch* current = nullptr;

/// Often enough for a person who waits, seldom enough for runs on other threads that hold the interpreter's
/// lock.
constexpr std::chrono::milliseconds kBetweenLooks{20};

/// The exception with the place where it was raised.
py::object exception_of(const py::error_already_set& error) {
  if (error.trace()) PyException_SetTraceback(error.value().ptr(), error.trace().ptr());
  return error.value();
}

bool of_completion(const Moment& moment) {
  using enum Moment::Phase;
  return moment.phase == growing || moment.phase == refining || moment.phase == sampling;
}

}  // namespace

Watch::Watch(py::object callback)
    : callback_(std::move(callback)), failure_(py::none()), previous_(std::exchange(current, this)) {}

Watch::~Watch() {
  current = previous_;
}

Observer Watch::observer() {
  return [this](const Moment& moment) {
    moments_.push_back(moment);
    return go_on(moment);
  };
}

bool Watch::go_on(const Moment& moment) {
  const auto now = std::chrono::steady_clock::now();
  const bool look = now - looked_ >= kBetweenLooks;
  if (!failure_.is_none()) return false;
  if (!look && callback_.is_none()) return true;
  if (look) looked_ = now;
  const Locked lock;
  try {
    if (while_python_lives([] { return PyErr_CheckSignals(); }) != 0) throw py::error_already_set();
    return callback_.is_none() || !call(callback_, moment).is(py::bool_(false));
  } catch (py::error_already_set& error) {
    failure_ = exception_of(error);
    return false;
  }
}

py::dict Watch::answer(Stop stop) const {
  py::dict answer;
  answer["stop"] = name(stop);
  answer["history"] = history();
  answer["failure"] = failure_;
  return answer;
}

bool Watch::keep_interrupt(py::error_already_set& error) {
  if (!current || !current->failure_.is_none() || !error.matches(PyExc_KeyboardInterrupt)) return false;
  current->failure_ = error.value();
  // Without its traceback, whose frames hold the vector that the function was asked about.
  PyException_SetTraceback(current->failure_.ptr(), Py_None);
  return true;
}

py::dict Watch::history() const {
  py::dict history;
  history["phase"] = names_of(moments_, [](const Moment& moment) { return name(moment.phase); });
  history["rank"] = column_of(moments_, &Moment::rank);
  history["sweep"] = column_of(moments_, &Moment::sweep);
  if (!moments_.empty() && of_completion(moments_.front())) {
    history["noise"] = column_of(moments_, &Moment::noise);
    history["validation"] = column_of(moments_, &Moment::validation);
  } else {
    history["relative_error"] = column_of(moments_, &Moment::relative_error);
  }
  history["seconds"] = column_of(moments_, &Moment::seconds);
  return history;
}

void bind_moments(py::module_& m) {
  py::class_<Moment>(m, "Moment", "A moment of a fit, as callbacks see it; what is not known is nan.")
      .def_property_readonly("phase", [](const Moment& moment) { return name(moment.phase); })
      .def_readonly("rank", &Moment::rank)
      .def_readonly("target_rank", &Moment::target_rank)
      .def_readonly("sweep", &Moment::sweep)
      .def_readonly("max_sweeps", &Moment::max_sweeps)
      .def_readonly("relative_error", &Moment::relative_error)
      .def_readonly("noise", &Moment::noise)
      .def_readonly("validation", &Moment::validation)
      .def_readonly("seconds", &Moment::seconds)
      .def("__repr__", [](const Moment& moment) {
        const bool completion = of_completion(moment);
        return py::str("Moment(phase={!r}, rank={}, sweep={}, {}={:.6g}, seconds={:.3g})")
            .format(name(moment.phase), moment.rank, moment.sweep, completion ? "noise" : "relative_error",
                    completion ? moment.noise : moment.relative_error, moment.seconds);
      });
}

}  // namespace pursuit::python
