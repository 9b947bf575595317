# `cmake --install` installs these: the library, its headers, and what find_package and pkg-config
# need to find them. The program installs itself: see cli/CMakeLists.txt.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_directory "${CMAKE_INSTALL_LIBDIR}/cmake/holdfast")
install(TARGETS holdfast EXPORT holdfastTargets COMPONENT development FILE_SET HEADERS
  LIBRARY COMPONENT library NAMELINK_COMPONENT development)
if(TARGET holdfast_static)
  install(TARGETS holdfast_static EXPORT holdfastTargets COMPONENT development FILE_SET HEADERS)
endif()
install(EXPORT holdfastTargets NAMESPACE holdfast:: DESTINATION "${package_directory}"
  COMPONENT development)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/holdfast" COMPONENT licence)

# Before 1.0 a minor version may change the API.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/holdfastConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
# A program that links the static library links OpenSSL, too; the shared one brings it.
set(needs_openssl OFF)
set(required_packages "")
set(packages_if_static "")
if(HOLDFAST_WITH_TLS AND NOT BUILD_SHARED_LIBS)
  set(needs_openssl ON)
  set(required_packages "openssl >= 3")
elseif(HOLDFAST_WITH_TLS AND TARGET holdfast_static)
  set(needs_openssl ON)
  set(packages_if_static "openssl >= 3")
endif()
configure_file("${CMAKE_CURRENT_LIST_DIR}/holdfastConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/holdfastConfig.cmake" @ONLY)
install(FILES
  "${PROJECT_BINARY_DIR}/holdfastConfig.cmake"
  "${PROJECT_BINARY_DIR}/holdfastConfigVersion.cmake"
  DESTINATION "${package_directory}" COMPONENT development)

# The prefix is relative to the file, so that the installed tree may be moved.
file(RELATIVE_PATH prefix_from_pc "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file("${CMAKE_CURRENT_LIST_DIR}/holdfast.pc.in" "${PROJECT_BINARY_DIR}/holdfast.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/holdfast.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
