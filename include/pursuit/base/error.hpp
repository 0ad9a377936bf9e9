#pragma once
// One exception family. Every message says what, where, which value, and what is allowed.

#include <stdexcept>
#include <string>

namespace pursuit {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An option, a spec string or an argument that is not allowed.
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// A file or a matrix whose content cannot be used.
class InvalidInput : public Error {
 public:
  using Error::Error;
};

/// A result that could not be written.
class OutputFailure : public Error {
 public:
  using Error::Error;
};

}  // namespace pursuit
