#include "catalogue/plugin.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <exception>
#include <memory>

#include "atoms/spec_text.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {

Atoms plugin_set(const std::string& path, const std::string& function) {
  const std::string spec = fmt::format("plugin:{}:{}", spec_path(path), function);
  // A name without a slash would be looked up in the system's folders, which is not what a path means.
  const std::string place = path.find('/') == std::string::npos ? "./" + path : path;
  const std::shared_ptr<void> object(dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL), [](void* handle) {
    if (handle) dlclose(handle);
  });
  if (!object) throw InvalidArgument(fmt::format("atom set '{}': {}", spec, dlerror()));
  using Maximize = int (*)(const double*, double*, long);
  const auto maximize = reinterpret_cast<Maximize>(dlsym(object.get(), function.c_str()));
  if (!maximize)
    throw InvalidArgument(
        fmt::format("atom set '{}': the object has no function '{}'; it needs int {}(const double* g, "
                    "double* u, long n), "
                    "in C++ declared extern \"C\"",
                    spec, function, function));
  return custom({.name = function,
                 .maximize = [object, maximize, spec](ConstVectorRef g) -> Vector {
                   Vector u = Vector::Zero(g.size());
                   int status = 0;
                   try {
                     status = maximize(g.data(), u.data(), long(g.size()));
                   } catch (const std::exception& error) {
                     throw InvalidArgument(fmt::format("atom set '{}': {}", spec, error.what()));
                   } catch (...) {  // nobody above could say what it is
                     throw InvalidArgument(fmt::format(
                         "atom set '{}': the function threw something that is no std::exception", spec));
                   }
                   if (status != 0)
                     throw InvalidArgument(
                         fmt::format("atom set '{}': the function failed with status {}", spec, status));
                   return u;
                 },
                 .spec = spec});
}

}  // namespace pursuit
