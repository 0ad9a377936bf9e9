# A compiler cache, where there is one: compiling anew what was compiled before, in this or another checkout, costs nothing.
find_program(PURSUIT_CCACHE ccache)
if(PURSUIT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths below the checkout are relative to the cache, and precompiled headers count by content. A file that changes while it
  # is compiled must not be taken for what was compiled: nothing sloppy about times.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${PURSUIT_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)  # without it, ccache cannot look into precompiled headers
  endif()
endif()
