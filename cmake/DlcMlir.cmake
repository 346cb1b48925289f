# MLIR 22, its precompiled header and TableGen, for the folders that speak MLIR.

find_package(MLIR 22.1 REQUIRED CONFIG PATHS /usr/lib/llvm-22)
find_package(LLD REQUIRED CONFIG PATHS /usr/lib/llvm-22)

add_library(dlc_mlir INTERFACE)
target_include_directories(dlc_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_compile_options(dlc_mlir INTERFACE -fno-rtti)
target_link_libraries(dlc_mlir INTERFACE dlc_flags MLIR LLVM)

# Everything that nearly every MLIR file includes; ours never, they change.
file(WRITE ${CMAKE_BINARY_DIR}/pch.cpp.in "")
configure_file(${CMAKE_BINARY_DIR}/pch.cpp.in ${CMAKE_BINARY_DIR}/pch.cpp COPYONLY)
add_library(dlc_pch OBJECT ${CMAKE_BINARY_DIR}/pch.cpp)
target_link_libraries(dlc_pch PRIVATE dlc_mlir)
target_precompile_headers(dlc_pch PRIVATE
  <mlir/Bytecode/BytecodeOpInterface.h>
  <mlir/Dialect/Arith/IR/Arith.h>
  <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/IR/Builders.h>
  <mlir/IR/BuiltinOps.h>
  <mlir/IR/Matchers.h>
  <mlir/IR/OpImplementation.h>
  <mlir/IR/PatternMatch.h>
  <mlir/Interfaces/SideEffectInterfaces.h>
  <mlir/Pass/Pass.h>
  <mlir/Transforms/GreedyPatternRewriteDriver.h>)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(dlc_mlir INTERFACE -fpch-instantiate-templates
    "SHELL:-Xclang -fno-pch-timestamp")
endif()

# dlc_tablegen(<output> <source.td> <generator flags>...): a header or source in
# the build tree. Collected per folder into `dlc_generated` for dlc_mlir_library.
file(GLOB_RECURSE DLC_TD CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/dialects/*.td ${CMAKE_SOURCE_DIR}/passes/*.td)
function(dlc_tablegen output source)
  set(out ${CMAKE_BINARY_DIR}/${output})
  get_filename_component(dir ${out} DIRECTORY)
  file(MAKE_DIRECTORY ${dir})
  set(includes ${MLIR_INCLUDE_DIRS})
  list(TRANSFORM includes PREPEND -I)
  add_custom_command(OUTPUT ${out}
    COMMAND ${MLIR_TABLEGEN_EXE} ${ARGN} ${includes} -I${CMAKE_SOURCE_DIR}
            ${CMAKE_SOURCE_DIR}/${source} --write-if-changed -d ${out}.d -o ${out}
    DEPFILE ${out}.d
    DEPENDS ${CMAKE_SOURCE_DIR}/${source} COMMENT "TableGen ${output}")
  set_property(GLOBAL APPEND PROPERTY DLC_GENERATED ${out})
endfunction()

# dlc_mlir_library(<name> <sources>... [DEPENDS <targets>...])
function(dlc_mlir_library name)
  dlc_library(${name} ${ARGN})
  target_link_libraries(${name} PUBLIC dlc_mlir)
  target_precompile_headers(${name} REUSE_FROM dlc_pch)
  if(TARGET dlc_tablegen_all)
    add_dependencies(${name} dlc_tablegen_all)
  endif()
endfunction()
