# Warnings and sanitizers for our own targets only; consumers never inherit them.
add_library(pursuit_warnings INTERFACE)
target_compile_options(pursuit_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                                                  -Woverloaded-virtual -Wcast-align)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "Release")
  # Eigen's inlined kernels trip GCC 12's flow analysis at -O3; the other presets keep these warnings.
  target_compile_options(pursuit_warnings INTERFACE -Wno-maybe-uninitialized -Wno-array-bounds)
endif()
if(PURSUIT_WARNINGS_AS_ERRORS)
  target_compile_options(pursuit_warnings INTERFACE -Werror)
endif()
if(PURSUIT_SANITIZE)
  add_compile_options(-fsanitize=${PURSUIT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${PURSUIT_SANITIZE})
endif()
