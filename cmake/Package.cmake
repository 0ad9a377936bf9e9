# The Debian packages (scripts/package deb): the program with its man pages and completions, the library and its headers; and
# pursuit-mpi, what the program loads where it was started under MPI, so that nobody else needs Open MPI.
find_program(PURSUIT_HELP2MAN help2man)
if(TARGET pursuit_cli AND PURSUIT_HELP2MAN)
  set(manuals ${CMAKE_CURRENT_BINARY_DIR}/manuals)
  file(MAKE_DIRECTORY ${manuals})
  # A page for the program and one for every command, made of its --help: NAME:DESCRIPTION lines come from the program itself.
  add_custom_command(
    OUTPUT ${manuals}/pursuit.1.gz
    COMMAND ${PROJECT_SOURCE_DIR}/cmake/manuals.sh $<TARGET_FILE:pursuit_cli> ${PURSUIT_HELP2MAN} ${manuals}
    DEPENDS pursuit_cli ${PROJECT_SOURCE_DIR}/cmake/manuals.sh
    VERBATIM)
  add_custom_target(pursuit_manuals DEPENDS ${manuals}/pursuit.1.gz)
  install(DIRECTORY ${manuals}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL FILES_MATCHING PATTERN "*.1.gz")
  install(FILES ${manuals}/pursuit.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME pursuit OPTIONAL)
  install(FILES ${manuals}/pursuit.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions RENAME _pursuit OPTIONAL)
  install(FILES ${manuals}/pursuit.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d OPTIONAL)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME pursuit)
set(CPACK_PACKAGE_CONTACT "The pursuit developers <pursuit@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "structured matrix factorization by pursuit of rank-one atoms")
set(CPACK_PACKAGE_DESCRIPTION "Approximates a matrix by a short sum of rank-one atoms whose factors are sparse, non-negative, grouped,
ordered, or from a set of your own; completes matrices with missing entries. Holds the program, the C++ library and its headers.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME pursuit)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_SUGGESTS
    "pursuit-mpi, libeigen3-dev, libopenblas-dev, libfmt-dev, nlohmann-json3-dev, zlib1g-dev")
set(CPACK_COMPONENT_UNSPECIFIED_DESCRIPTION ${CPACK_PACKAGE_DESCRIPTION})
set(CPACK_DEBIAN_MPI_PACKAGE_NAME pursuit-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "pursuit (= ${PROJECT_VERSION}), openmpi-bin")
set(CPACK_DEBIAN_MPI_DESCRIPTION "structured matrix factorization by many processes
What pursuit needs to share a factorization or a completion among processes that mpirun or srun has started.")
include(CPack)
