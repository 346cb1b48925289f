# Compiler flags and the two functions that every folder declares its targets
# with: a target lists its sources and its dependencies, nothing else.

find_program(CCACHE ccache)
if(CCACHE)
  # Paths relative to the source tree, and precompiled headers by content.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
      CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

find_program(LLD NAMES ld.lld-22 ld.lld)
if(LLD AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_link_options(-fuse-ld=lld)
endif()

add_library(dlc_flags INTERFACE)
target_compile_options(dlc_flags INTERFACE -Wall -Wextra -Wno-unused-parameter)
if(DLC_WERROR)
  target_compile_options(dlc_flags INTERFACE -Werror)
endif()
target_include_directories(dlc_flags INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})

# dlc_library(<name> <sources>... [DEPENDS <targets>...])
function(dlc_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC dlc_flags ${ARG_DEPENDS})
endfunction()

# dlc_executable(<name> <sources>... [DEPENDS <targets>...])
function(dlc_executable name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE dlc_flags ${ARG_DEPENDS})
endfunction()

# dlc_unit_test(<name> <sources>... [DEPENDS <targets>...]): a GoogleTest program
# whose tests ctest knows one by one.
function(dlc_unit_test name)
  find_package(GTest REQUIRED)
  include(GoogleTest)
  dlc_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE GTest::gtest GTest::gtest_main)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60)
endfunction()
