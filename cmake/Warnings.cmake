# Warnings and sanitizers for our own targets only; consumers never inherit them.
add_library(pursuit_warnings INTERFACE)
add_library(pursuit::pursuit_warnings ALIAS pursuit_warnings)
target_compile_options(pursuit_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                                                  -Woverloaded-virtual -Wcast-align)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False alarms of GCC 12's flow analysis, which runs only with optimisation: Eigen's inlined kernels, std::regex under
  # the address sanitizer, "x" + std::string. clang-tidy and the sanitizers look for the same mistakes.
  target_compile_options(pursuit_warnings INTERFACE -Wno-maybe-uninitialized -Wno-array-bounds -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # It takes an enumerator of a room for a variable that is hidden; GCC looks for real ones.
  target_compile_options(pursuit_warnings INTERFACE -Wno-shadow)
endif()
if(PURSUIT_WARNINGS_AS_ERRORS)
  target_compile_options(pursuit_warnings INTERFACE -Werror)
endif()
if(PURSUIT_SANITIZE)
  add_compile_options(-fsanitize=${PURSUIT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${PURSUIT_SANITIZE})
  if(PURSUIT_SANITIZE MATCHES "address,undefined")
    # Checks at every access, a third of the time of compiling: the address sanitizer sees what goes wrong there.
    add_compile_options(-fno-sanitize=null,alignment,object-size,vptr)
  endif()
endif()
