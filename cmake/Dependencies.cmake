# Everything comes from Debian packages; scripts/dependencies installs them.
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)

# OpenBLAS decomposes small matrices on the calling thread, so its own threading is switched off around our calls
# (src/linalg/blas.cpp); that needs OpenBLAS itself, not just any BLAS.
find_path(PURSUIT_BLAS_INCLUDE cblas.h PATH_SUFFIXES openblas-pthread openblas REQUIRED)
find_library(PURSUIT_BLAS_LIBRARY NAMES openblas REQUIRED)
add_library(pursuit_blas INTERFACE)
target_include_directories(pursuit_blas SYSTEM INTERFACE ${PURSUIT_BLAS_INCLUDE})
target_link_libraries(pursuit_blas INTERFACE ${PURSUIT_BLAS_LIBRARY})

find_path(PURSUIT_RANDOM123_INCLUDE Random123/philox.h REQUIRED)  # headers only
