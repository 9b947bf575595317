# holdfast_precompiled(TARGET): TARGET's files begin with what most files include anyway, read once
# for all of them. That is a third of the time a test takes to compile and half of a small file's.
# Only standard headers and GoogleTest, which never change under who works here. Only where
# HOLDFAST_PRECOMPILED_HEADERS is on: elsewhere each file stands on what it includes itself.

set(holdfast_precompiled_headers
  <algorithm> <array> <atomic> <chrono> <cstdint> <functional> <map> <memory> <mutex> <optional>
  <stdexcept> <string> <string_view> <utility> <variant> <vector>)

# Makes the target whose headers the others reuse. Code for a library and code for
# a program are not compiled alike (-fPIC, -fPIE).
function(holdfast_add_precompiled target kind)
  set(source "${PROJECT_BINARY_DIR}/generated/${target}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "int main() {}\n")
  if(kind STREQUAL "PROGRAM")
    add_executable(${target} EXCLUDE_FROM_ALL "${source}")
  else()
    add_library(${target} OBJECT EXCLUDE_FROM_ALL "${source}")
  endif()
  holdfast_compile_options(${target})
  target_link_libraries(${target} PRIVATE ${ARGN})
  target_precompile_headers(${target} PRIVATE ${holdfast_precompiled_headers})
endfunction()

function(holdfast_precompiled target)
  if(NOT HOLDFAST_PRECOMPILED_HEADERS)
    return()
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set(owner holdfast_test_headers)
    if(NOT TARGET ${owner})
      holdfast_add_precompiled(${owner} PROGRAM GTest::gmock GTest::gtest)
      holdfast_waits(${owner})  # as holdfast_test does
      target_precompile_headers(${owner} PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
    endif()
  else()
    set(owner holdfast_library_headers)
    if(NOT TARGET ${owner})
      holdfast_add_precompiled(${owner} LIBRARY Threads::Threads)
    endif()
    # As rooms have it: clang compares.
    set_target_properties(${owner} ${target} PROPERTIES
      CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()
