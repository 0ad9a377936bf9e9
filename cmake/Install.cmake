# `cmake --install` gives the program, the headers, the library and `find_package(pursuit)`.
include(CMakePackageConfigHelpers)

install(TARGETS pursuit pursuit_warnings pursuit_blas EXPORT pursuit-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/pursuit DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET pursuit_cli AND NOT SKBUILD)
  install(TARGETS pursuit_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(EXPORT pursuit-targets NAMESPACE pursuit:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pursuit)
configure_package_config_file(cmake/pursuit-config.cmake.in pursuit-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pursuit)
write_basic_package_version_file(pursuit-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pursuit-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/pursuit-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pursuit)
