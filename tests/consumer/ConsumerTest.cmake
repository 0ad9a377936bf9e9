# Registers a test that installs this build into an empty folder and builds and runs the project beside this file
# against it. Instrumented libraries are left out: whoever links them needs the same instrumentation.
if(PURSUIT_SANITIZE OR PURSUIT_COVERAGE)
  return()
endif()
add_test(NAME Consumer.FindsAndUsesTheInstalledLibrary
         COMMAND ${CMAKE_COMMAND}
                 -D PURSUIT_BUILD=${PROJECT_BINARY_DIR}
                 -D CONFIGURATION=$<CONFIG>
                 -D COMPILER=${CMAKE_CXX_COMPILER}
                 -D GENERATOR=${CMAKE_GENERATOR}
                 -D FOLDER=${CMAKE_CURRENT_BINARY_DIR}/consumer
                 -P ${CMAKE_CURRENT_LIST_DIR}/run.cmake)
set_tests_properties(Consumer.FindsAndUsesTheInstalledLibrary PROPERTIES TIMEOUT 300)
