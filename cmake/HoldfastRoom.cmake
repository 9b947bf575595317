# holdfast_room(FOLDER [USES FOLDER...] [LINKS LIBRARY...] [WITHOUT FILE-OR-FOLDER])
#
# A room is a folder under src/ and an object library made of all its .cpp files: redis/resp is
# holdfast_resp.
# USES names the rooms below it: the direction that tools/tidy checks. Unit tests lie beside the
# code as *_test.cpp and become one program per room, resp_test, which links only this room and
# those below it. Files are found by pattern, so none can be forgotten.

include(HoldfastPrecompiled)

# As distributions build their packages. A debug build is not for use.
function(holdfast_harden target)
  if(NOT HOLDFAST_HARDENED OR CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    return()
  endif()
  target_compile_options(${target} PRIVATE
    "$<$<NOT:$<CONFIG:Debug>>:-fstack-protector-strong;-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
  target_link_options(${target} PRIVATE LINKER:-z,relro,-z,now)
endfunction()

function(holdfast_compile_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wnon-virtual-dtor)
  # Where files are compiled together, what one declares shadows what another does, and what is in
  # an unnamed namespace seems to come from a header. .ci/run clang compiles each file alone.
  set(together $<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>)
  target_compile_options(${target} PRIVATE
    $<IF:${together},$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>,-Wshadow>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # False alarms in std::string's operator+ when optimising (GCC bug 105651).
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(HOLDFAST_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  holdfast_harden(${target})
endfunction()

# For code that waits more than it computes, and that contains much code of others: GoogleTest,
# CLI11, nlohmann-json. To optimise that takes as long as all the rest of compiling it.
function(holdfast_waits target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Debug>:-O0>)
endfunction()

# holdfast_test(TARGET SOURCES... [LINKS LIBRARY...] [LABELS LABEL...] [SHARDS NUMBER] [COMPUTES]
# [TOGETHER]): a GoogleTest program, and as many tests, which each run a part of it. The target
# LABEL_tests builds all that have this label. Only what COMPUTES is optimised in a debug build. Its
# files are compiled TOGETHER, in a quarter of the time, where none defines what another does.
function(holdfast_test target)
  cmake_parse_arguments(PARSE_ARGV 1 arg
    "COMPUTES;TOGETHER" "SHARDS;TIMEOUT" "SOURCES;LINKS;LABELS")
  add_executable(${target} ${arg_SOURCES})
  holdfast_compile_options(${target})
  if(NOT arg_COMPUTES)
    holdfast_waits(${target})
  endif()
  if(NOT arg_TOGETHER)
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  endif()
  target_include_directories(${target} PRIVATE
    "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${target} PRIVATE ${arg_LINKS} GTest::gmock GTest::gtest_main)
  if(NOT arg_COMPUTES)  # what is precompiled must be optimised alike
    holdfast_precompiled(${target})
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(NOT arg_SHARDS)
    set(arg_SHARDS 1)
  endif()
  math(EXPR last "${arg_SHARDS} - 1")
  foreach(shard RANGE ${last})
    set(test ${target}_${shard})
    if(arg_SHARDS EQUAL 1)
      set(test ${target})
    endif()
    add_test(NAME ${test} COMMAND ${target})
    # Which may take longest begin first, so that none is waited for alone in the end.
    set_tests_properties(${test} PROPERTIES
      TIMEOUT ${arg_TIMEOUT} COST ${arg_TIMEOUT} LABELS "${arg_LABELS}"
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${shard}")
  endforeach()
  foreach(label IN LISTS arg_LABELS)
    if(NOT TARGET ${label}_tests)
      add_custom_target(${label}_tests)
    endif()
    add_dependencies(${label}_tests ${target})
  endforeach()
endfunction()

function(holdfast_room folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "WITHOUT" "USES;LINKS")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp")
  if(arg_WITHOUT)
    list(FILTER sources EXCLUDE REGEX "/${arg_WITHOUT}")
  endif()
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")

  get_filename_component(name ${folder} NAME)
  set(target holdfast_${name})
  add_library(${target} OBJECT ${sources})
  holdfast_compile_options(${target})
  # Programs see of the shared library what include/holdfast/detail/export.hpp marks.
  set_target_properties(${target} PROPERTIES
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  # A user's static destructors may still use the library: see base/never_destroyed.hpp.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:Clang>:-Wexit-time-destructors>)
  target_include_directories(${target} PUBLIC
    "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_BINARY_DIR}/generated")
  target_link_libraries(${target} PUBLIC Threads::Threads ${arg_LINKS})
  holdfast_precompiled(${target})

  set(closure ${name})
  foreach(used IN LISTS arg_USES)
    get_property(below GLOBAL PROPERTY holdfast_closure_${used})
    list(APPEND closure ${below})
  endforeach()
  list(REMOVE_DUPLICATES closure)
  set_property(GLOBAL PROPERTY holdfast_closure_${folder} ${closure})
  set_property(GLOBAL APPEND PROPERTY holdfast_rooms ${name})

  if(HOLDFAST_BUILD_TESTS AND tests)
    list(TRANSFORM closure PREPEND holdfast_ OUTPUT_VARIABLE linked)
    holdfast_test(${name}_test SOURCES ${tests} LINKS ${linked} LABELS unit)
  endif()
endfunction()
