# Python and pybind11 are optional: where they are missing, everything else is built.

# A sanitized extension cannot be loaded by an interpreter that is not.
if(PURSUIT_SANITIZE)
  message(STATUS "Python package: not built with sanitizers")
  return()
endif()

# A build by pip names its own interpreter; otherwise Debian's is taken, which has the Debian packages that the tests use, and not
# whichever comes first on the path.
if(NOT SKBUILD AND NOT Python_EXECUTABLE AND EXISTS /usr/bin/python3)
  set(Python_EXECUTABLE /usr/bin/python3)
endif()
find_package(Python 3.9 COMPONENTS Interpreter Development.Module)
find_package(pybind11 2.10 CONFIG)
if(Python_Development.Module_FOUND AND pybind11_FOUND)
  add_subdirectory(python)
else()
  message(STATUS "Python package: not built, Python's headers or pybind11 are missing (Debian: python3-dev pybind11-dev)")
endif()
