# Plays packaging/vcpkg/holdfast/portfile.cmake with as much of vcpkg's functions as it calls.
#   cmake -DBUILD=DIRECTORY -P vcpkg.cmake
cmake_minimum_required(VERSION 3.25)
set(CURRENT_PACKAGES_DIR "${BUILD}/package")
set(port "${CMAKE_CURRENT_LIST_DIR}/../../packaging/vcpkg/holdfast")
file(READ "${port}/vcpkg.json" manifest)
string(JSON version GET "${manifest}" version)
string(JSON features GET "${manifest}" default-features)

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_check_features)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT_FEATURE_OPTIONS" "FEATURES")
  list(GET arg_FEATURES 0 feature)
  list(GET arg_FEATURES 1 option)
  string(FIND "${features}" "\"${feature}\"" at)
  set(value ON)
  if(at EQUAL -1)
    set(value OFF)
  endif()
  set(${arg_OUT_FEATURE_OPTIONS} "-D${option}=${value}" PARENT_SCOPE)
endfunction()

function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  run("${CMAKE_COMMAND}" -S "${arg_SOURCE_PATH}" -B "${BUILD}/build" -G Ninja
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DCMAKE_INSTALL_LIBDIR=lib
    "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}" ${arg_OPTIONS})
endfunction()

function(vcpkg_cmake_install)
  run("${CMAKE_COMMAND}" --build "${BUILD}/build" --target install)
endfunction()

function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
  file(MAKE_DIRECTORY "${CURRENT_PACKAGES_DIR}/share")
  file(RENAME "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}" "${CURRENT_PACKAGES_DIR}/share/holdfast")
  file(GLOB files "${CURRENT_PACKAGES_DIR}/share/holdfast/*.cmake")
  set(up "get_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)\n")
  foreach(file IN LISTS files)  # they are one folder nearer to the prefix than they were
    file(READ "${file}" text)
    string(REPLACE "${up}${up}" "${up}" text "${text}")
    file(WRITE "${file}" "${text}")
  endforeach()
endfunction()

function(vcpkg_fixup_pkgconfig)
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  run("${CMAKE_COMMAND}" -E cat ${arg_FILE_LIST})
endfunction()

file(STRINGS "${port}/../../../CMakeLists.txt" project
  REGEX "^project\\(holdfast VERSION ${version} ")
if(NOT project)
  message(FATAL_ERROR "vcpkg.json has another version than CMakeLists.txt")
endif()
include("${port}/portfile.cmake")
