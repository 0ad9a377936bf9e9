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

const char* name(Moment::Phase phase) {
  switch (phase) {
    case Moment::Phase::atom: return "atom";
    case Moment::Phase::correction: return "correction";
    case Moment::Phase::polish: return "polish";
  }
  return "";
}

const char* name(CompletionMoment::Phase phase) {
  switch (phase) {
    case CompletionMoment::Phase::growing: return "growing";
    case CompletionMoment::Phase::refining: return "refining";
    case CompletionMoment::Phase::sampling: return "sampling";
  }
  return "";
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

CompletionObserver Watch::completion_observer() {
  return [this](const CompletionMoment& moment) {
    completion_moments_.push_back(moment);
    return go_on(moment);
  };
}

template <class Step>
bool Watch::go_on(const Step& step) {
  const auto now = std::chrono::steady_clock::now();
  const bool look = now - looked_ >= kBetweenLooks;
  if (!failure_.is_none()) return false;
  if (!look && callback_.is_none()) return true;
  if (look) looked_ = now;
  const Locked lock;
  try {
    if (while_python_lives([] { return PyErr_CheckSignals(); }) != 0) throw py::error_already_set();
    return callback_.is_none() || !call(callback_, step).is(py::bool_(false));
  } catch (py::error_already_set& error) {
    failure_ = exception_of(error);
    return false;
  }
}

py::object Watch::failure() const {
  return failure_;
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
  if (!completion_moments_.empty()) {
    history["phase"] = names_of(completion_moments_, [](const auto& m) { return name(m.phase); });
    history["rank"] = column_of(completion_moments_, &CompletionMoment::rank);
    history["sweep"] = column_of(completion_moments_, &CompletionMoment::sweep);
    history["noise"] = column_of(completion_moments_, &CompletionMoment::noise);
    history["validation"] = column_of(completion_moments_, &CompletionMoment::validation);
    history["seconds"] = column_of(completion_moments_, &CompletionMoment::seconds);
    return history;
  }
  history["phase"] = names_of(moments_, [](const auto& m) { return name(m.phase); });
  history["rank"] = column_of(moments_, &Moment::rank);
  history["sweep"] = column_of(moments_, &Moment::sweep);
  history["relative_error"] = column_of(moments_, &Moment::relative_error);
  history["seconds"] = column_of(moments_, &Moment::seconds);
  return history;
}

void bind_steps(py::module_& m) {
  py::class_<Moment>(m, "Step", "A moment of a fit, as callbacks see it.")
      .def_property_readonly("phase", [](const Moment& s) { return name(s.phase); })
      .def_readonly("rank", &Moment::rank)
      .def_readonly("target_rank", &Moment::target_rank)
      .def_readonly("sweep", &Moment::sweep)
      .def_readonly("max_sweeps", &Moment::max_sweeps)
      .def_readonly("relative_error", &Moment::relative_error)
      .def_readonly("seconds", &Moment::seconds)
      .def("__repr__", [](const Moment& s) {
        return py::str("Step(phase={!r}, rank={}, sweep={}, relative_error={:.6g}, seconds={:.3g})")
            .format(name(s.phase), s.rank, s.sweep, s.relative_error, s.seconds);
      });
  py::class_<CompletionMoment>(m, "CompletionStep", "A moment of a completion, as callbacks see it.")
      .def_property_readonly("phase", [](const CompletionMoment& s) { return name(s.phase); })
      .def_readonly("rank", &CompletionMoment::rank)
      .def_readonly("sweep", &CompletionMoment::sweep)
      .def_readonly("max_sweeps", &CompletionMoment::max_sweeps)
      .def_readonly("noise", &CompletionMoment::noise)
      .def_readonly("validation", &CompletionMoment::validation)
      .def_readonly("seconds", &CompletionMoment::seconds)
      .def("__repr__", [](const CompletionMoment& s) {
        return py::str("CompletionStep(phase={!r}, rank={}, sweep={}, noise={:.6g}, seconds={:.3g})")
            .format(name(s.phase), s.rank, s.sweep, s.noise, s.seconds);
      });
}

}  // namespace pursuit::python
