#pragma once
// The interpreter's lock, and calls into Python, on threads that may outlive the interpreter.

#include <pybind11/pybind11.h>
#include <unistd.h>

namespace pursuit::python {

namespace py = pybind11;

/// What the call returns; it may wait for the interpreter's lock and must not throw.
///
/// A daemon thread that asks for the lock of an interpreter that is ending never gets it: before Python 3.14
/// its stack is unwound there and then (pthread_exit), which destructors of C++ answer with std::terminate.
/// Here it waits for the end of the process, as it does in Python 3.14.
template <class Call>
auto while_python_lives(const Call& call) {
  try {
    return call();
  } catch (...) {  // only the unwinding can get here
    for (;;) pause();
  }
}

/// The lock is ours as long as this lives. On any thread, whether it has the lock or not.
class Locked {
 public:
  Locked() : state_(while_python_lives([] { return PyGILState_Ensure(); })) {}
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

/// The lock is everybody's as long as this lives.
class Unlocked {
 public:
  Unlocked() : thread_(PyEval_SaveThread()) {}
  ~Unlocked() {
    while_python_lives([this] { PyEval_RestoreThread(thread_); });
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* thread_;
};

/// The answer of a function, with the lock.
template <class... Arguments>
py::object call(const py::object& function, const Arguments&... arguments) {
  const py::tuple all = py::make_tuple(arguments...);
  PyObject* answer = while_python_lives([&] { return PyObject_CallObject(function.ptr(), all.ptr()); });
  if (!answer) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(answer);
}

}  // namespace pursuit::python
