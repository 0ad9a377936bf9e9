# Installs PURSUIT_BUILD below FOLDER, then configures, builds and runs the project in this folder against it.
file(REMOVE_RECURSE ${FOLDER})

function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
endfunction()

step(${CMAKE_COMMAND} --install ${PURSUIT_BUILD} --config ${CONFIGURATION} --prefix ${FOLDER}/prefix)
step(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${FOLDER}/build -G ${GENERATOR}
     -D CMAKE_BUILD_TYPE=${CONFIGURATION} -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_PREFIX_PATH=${FOLDER}/prefix)
step(${CMAKE_COMMAND} --build ${FOLDER}/build)
step(${FOLDER}/build/consumer)
