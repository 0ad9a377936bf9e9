#pragma once
// Atom sets from shared objects: one C function, compiled by anybody with any language,
//
//   int NAME(const double* g, double* u, long n);      u = argmax of <u, g> over the set; 0 for success
//
// found at PATH by dlopen. The set is one of unit vectors, and taken as not symmetric.

#include <string>

#include "pursuit/atoms/atom_set.hpp"

namespace pursuit {

/// InvalidArgument where the object or the function is not to be had.
Atoms plugin_set(const std::string& path, const std::string& function);

}  // namespace pursuit
