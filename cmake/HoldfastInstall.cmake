# What `cmake --install` puts where: the library, its headers, and what find_package and pkg-config
# need to find them. The program installs itself: see cli/CMakeLists.txt.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_directory "${CMAKE_INSTALL_LIBDIR}/cmake/holdfast")
install(TARGETS holdfast EXPORT holdfastTargets COMPONENT library FILE_SET HEADERS)
install(EXPORT holdfastTargets NAMESPACE holdfast:: DESTINATION "${package_directory}"
  COMPONENT library)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/holdfast" COMPONENT library)

# Before 1.0 a minor version may change the API.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/holdfastConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
# Who links the static library links what it needs as well; the shared one brings it.
set(needs_openssl OFF)
set(required_packages "")
if(HOLDFAST_WITH_TLS AND NOT BUILD_SHARED_LIBS)
  set(needs_openssl ON)
  set(required_packages "openssl >= 3")
endif()
configure_file("${CMAKE_CURRENT_LIST_DIR}/holdfastConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/holdfastConfig.cmake" @ONLY)
install(FILES
  "${PROJECT_BINARY_DIR}/holdfastConfig.cmake"
  "${PROJECT_BINARY_DIR}/holdfastConfigVersion.cmake"
  DESTINATION "${package_directory}" COMPONENT library)

# The prefix is relative to the file, so that the installed tree may be moved.
file(RELATIVE_PATH prefix_from_pc "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file("${CMAKE_CURRENT_LIST_DIR}/holdfast.pc.in" "${PROJECT_BINARY_DIR}/holdfast.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/holdfast.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT library)
