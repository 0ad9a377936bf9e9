# Registers a test that compiles every public header alone and all of them together, in either order: each must bring
# what it needs, and no two may give one name two meanings.
file(GLOB_RECURSE PURSUIT_HEADERS CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include
     ${PROJECT_SOURCE_DIR}/include/*.hpp)
set(folder ${CMAKE_CURRENT_BINARY_DIR}/headers)
set(sources)
set(together)
set(reversed)
foreach(header IN LISTS PURSUIT_HEADERS)
  string(MAKE_C_IDENTIFIER ${header} name)
  file(CONFIGURE OUTPUT ${folder}/${name}.cpp CONTENT "#include \"${header}\"\n#include \"${header}\"\n")
  list(APPEND sources ${folder}/${name}.cpp)
  string(APPEND together "#include \"${header}\"\n")
  string(PREPEND reversed "#include \"${header}\"\n")
endforeach()
file(CONFIGURE OUTPUT ${folder}/together.cpp CONTENT "${together}")
file(CONFIGURE OUTPUT ${folder}/reversed.cpp CONTENT "${reversed}")
add_library(pursuit_headers OBJECT EXCLUDE_FROM_ALL ${sources} ${folder}/together.cpp ${folder}/reversed.cpp)
target_link_libraries(pursuit_headers PRIVATE pursuit pursuit_warnings)
target_compile_options(pursuit_headers PRIVATE -O0)
target_precompile_headers(pursuit_headers PRIVATE <Eigen/Core> <Eigen/SparseCore>)  # most of the time
add_test(NAME Headers.CompileTogetherAndAlone
         COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --config $<CONFIG> --target pursuit_headers)
set_tests_properties(Headers.CompileTogetherAndAlone PROPERTIES TIMEOUT 300)
