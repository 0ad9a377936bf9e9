# The files of a room are compiled together, which takes half the time of compiling them one by one: what Eigen and fmt
# make of our types is made once. So a name means one thing in all files of a room, in anonymous namespaces too.
# While one file is being worked on, -D PURSUIT_UNITY=OFF compiles them one by one.
option(PURSUIT_UNITY "Compile the files of a room together" ON)

function(pursuit_compile_by_room target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${PURSUIT_UNITY} UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A file that is included looks like a header to it, where a type would hold what only this file knows.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(folder ${source} DIRECTORY)
    get_filename_component(room ${folder} NAME)
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${room})
  endforeach()
endfunction()
