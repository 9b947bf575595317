# Packages by cpack: Debian packages of the library, of the files to build programs with, and of
# the program. scripts/package builds all three.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The Holdfast authors <authors@holdfast.invalid>" CACHE STRING
  "Who answers for the packages")
set(CPACK_OUTPUT_FILE_PREFIX "${PROJECT_BINARY_DIR}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL library development program)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_CURRENT_LIST_DIR}/HoldfastPackageFiles.cmake")

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/src")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

get_target_property(abi holdfast SOVERSION)
set(library libholdfast${abi})
set(same_version "${library} (= ${PROJECT_VERSION}-1)")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
# The line that dpkg-shlibdeps writes into packages of programs that are linked with it, and the
# trigger for the loader. (Lintian refuses those that cpack would make.)
set(control "${PROJECT_BINARY_DIR}/control")
file(CONFIGURE OUTPUT "${control}/shlibs"
  CONTENT "libholdfast ${abi} ${library} (>= ${PROJECT_VERSION})\n")
file(CONFIGURE OUTPUT "${control}/triggers" CONTENT "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${control}/shlibs;${control}/triggers")
string(CONCAT CPACK_COMPONENT_LIBRARY_DESCRIPTION
  "${PROJECT_DESCRIPTION}: shared library\n"
  "Programs that are linked with Holdfast need this library. A lease that it\n"
  "gives renews itself, tells before it is lost, and has a fencing token.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libholdfast-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${same_version}, libssl-dev (>= 3)")
string(CONCAT CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
  "${PROJECT_DESCRIPTION}: headers and static library\n"
  "With this package C++20 programs are built that use Holdfast: headers, the\n"
  "static library, and what CMake and pkg-config need to find them.")

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME holdfast)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "${same_version}")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "redis-server | valkey-server")
string(CONCAT CPACK_COMPONENT_PROGRAM_DESCRIPTION
  "${PROJECT_DESCRIPTION}: program\n"
  "The program runs a command under a lock, so that only one machine at a time\n"
  "runs it. It also shows, changes and checks locks.")

include(CPack)
