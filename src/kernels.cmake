# Builds the target `kernels`: every function, compiled once for each instruction set. The module
# selects one set when it is imported. Nothing here depends on Python.

# Every file of functions registers one group.
file(GLOB function_files CONFIGURE_DEPENDS functions/*.cpp)
foreach(file ${function_files})
  get_filename_component(name ${file} NAME_WE)
  list(APPEND function_groups ${name}_functions)
endforeach()
list(JOIN function_groups ", " function_groups)
set(function_list functions)
configure_file(registry/list.cpp.in list.cpp @ONLY)

# The functions of poses take no model: a list of their own.
set(function_groups poses_functions)
set(function_list poses)
configure_file(registry/list.cpp.in pose_list.cpp @ONLY)
set(pose_files poses/poses.cpp ${CMAKE_CURRENT_BINARY_DIR}/pose_list.cpp)
set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/pose_list.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)  # has the names of list.cpp

file(GLOB shared_files CONFIGURE_DEPENDS functions/shared/*.cpp)  # for the two scalars of shared/algorithms.hpp

function(add_functions variant)
  add_library(functions_${variant} OBJECT ${function_files} ${CMAKE_CURRENT_BINARY_DIR}/list.cpp
              batch/run.cpp batch/peak.cpp)
  target_include_directories(functions_${variant} PRIVATE ${PROJECT_SOURCE_DIR}/include .)
  target_compile_definitions(functions_${variant} PRIVATE DTAU_VARIANT=${variant})
  target_compile_options(functions_${variant} PRIVATE ${dtau_flags} ${ARGN})
  target_precompile_headers(functions_${variant} PRIVATE registry/arguments.hpp functions/shared/algorithms.hpp)
endfunction()

# Takes the kernels of another build as they are.
if(DTAU_KERNELS MATCHES "\\.a$")
  get_filename_component(archive ${DTAU_KERNELS} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
  add_library(kernels STATIC IMPORTED)
  set_target_properties(kernels PROPERTIES IMPORTED_LOCATION ${archive})
  return()
endif()

# Compiles the kernels once for the modules of several Python versions, in a build of their own.
# Each of these modules brings that build up to date.
if(DTAU_KERNELS)
  get_filename_component(folder ${DTAU_KERNELS} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
  set(settings ${CMAKE_CURRENT_BINARY_DIR}/kernels_settings.cmake)  # a file, because lists pass through it intact
  # Keeps the compiler of the first build: CMake discards its cache when the compiler changes.
  set(text "set(DTAU_MODULES OFF CACHE BOOL [[]])\nset(CMAKE_CXX_COMPILER [[${CMAKE_CXX_COMPILER}]] CACHE STRING [[]])\n")
  foreach(name CMAKE_BUILD_TYPE CMAKE_MAKE_PROGRAM CMAKE_TOOLCHAIN_FILE CMAKE_CXX_FLAGS
               CMAKE_CXX_COMPILER_LAUNCHER CMAKE_OSX_ARCHITECTURES DTAU_INSTRUCTION_SETS DTAU_WERROR)
    if(DEFINED ${name})
      string(APPEND text "set(${name} [[${${name}}]] CACHE STRING [[]] FORCE)\n")
    endif()
  endforeach()
  file(WRITE ${settings} "${text}")
  set(archive ${folder}/src/${CMAKE_STATIC_LIBRARY_PREFIX}kernels${CMAKE_STATIC_LIBRARY_SUFFIX})
  add_custom_target(compile_kernels VERBATIM USES_TERMINAL BYPRODUCTS ${archive}
    COMMAND ${CMAKE_COMMAND} -G ${CMAKE_GENERATOR} -C ${settings} -S ${PROJECT_SOURCE_DIR} -B ${folder}
    COMMAND ${CMAKE_COMMAND} --build ${folder} --target kernels)
  add_library(kernels STATIC IMPORTED)
  set_target_properties(kernels PROPERTIES IMPORTED_LOCATION ${archive})
  add_dependencies(kernels compile_kernels)
  return()
endif()

# Finds the instruction set of this machine: the one that the compiler selects with -march=native.
function(find_native result)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -march=native -dM -E -x c++ /dev/null
                  OUTPUT_VARIABLE macros ERROR_QUIET)
  set(set x86_64_v2)
  set(has_v3 TRUE)  # the same features as in registry/dispatch.cpp
  foreach(feature AVX2 FMA BMI BMI2 LZCNT MOVBE F16C)
    if(NOT macros MATCHES "__${feature}__")
      set(has_v3 FALSE)
    endif()
  endforeach()
  if(has_v3)
    set(set x86_64_v3)
    if(macros MATCHES "__AVX512F__" AND macros MATCHES "__AVX512BW__" AND macros MATCHES "__AVX512CD__"
       AND macros MATCHES "__AVX512DQ__" AND macros MATCHES "__AVX512VL__")
      set(set x86_64_v4)
    endif()
  endif()
  set(${result} ${set} PARENT_SCOPE)
endfunction()

if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(sets baseline)
elseif(DTAU_INSTRUCTION_SETS STREQUAL "native")
  find_native(sets)
elseif(DTAU_INSTRUCTION_SETS STREQUAL "all")
  set(sets x86_64_v4 x86_64_v3 x86_64_v2)  # best first
else()
  string(REPLACE "-" "_" wanted "${DTAU_INSTRUCTION_SETS}")
  foreach(set x86_64_v4 x86_64_v3 x86_64_v2)  # best first, in any order of the option
    if(set IN_LIST wanted)
      list(APPEND sets ${set})
      list(REMOVE_ITEM wanted ${set})
    endif()
  endforeach()
  if(wanted OR NOT sets)
    message(FATAL_ERROR "DTAU_INSTRUCTION_SETS: expected native, all or a list of x86-64-v2, x86-64-v3, "
                        "x86-64-v4, got ${DTAU_INSTRUCTION_SETS}")
  endif()
endif()
message(STATUS "dtau: compiling for ${sets} (DTAU_INSTRUCTION_SETS=${DTAU_INSTRUCTION_SETS})")

# Algorithms throw nothing. These allocate scratch memory before they run one, or call what does: without
# -fexceptions an exception that passes through them ends the process.
set(allocating_files batch/run.cpp control/lqr.cpp mujoco/step.cpp
    ${CMAKE_CURRENT_BINARY_DIR}/list.cpp ${CMAKE_CURRENT_BINARY_DIR}/pose_list.cpp)
set_property(SOURCE ${allocating_files} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
if(NOT MSVC)
  set_property(SOURCE ${allocating_files} APPEND PROPERTY COMPILE_OPTIONS -fexceptions)
endif()

list(GET sets -1 described)  # has the signatures of functions for all sets
foreach(set ${sets})
  string(REGEX REPLACE "x86_64_" "x86-64-" name ${set})
  set(mujoco_set ${set})
  if(set STREQUAL baseline)
    add_functions(${set})
  else()
    add_functions(${set} $<$<BOOL:${MSVC}>:/clang:>-march=${name})
  endif()
  target_sources(functions_${set} PRIVATE ${shared_files} ${pose_files} control/lqr.cpp)
  if(NOT set STREQUAL described)
    target_compile_definitions(functions_${set} PRIVATE DTAU_SIGNATURES=${described})
  endif()
  if(set STREQUAL x86_64_v4 AND x86_64_v3 IN_LIST sets)
    # Wider vectors are of no use to one state: the next set computes it, with the same bits.
    target_compile_definitions(functions_${set} PRIVATE DTAU_LONE_STATES=x86_64_v3)
    set(mujoco_set x86_64_v3)
  else()
    target_sources(functions_${set} PRIVATE mujoco/step.cpp)
  endif()
  if(set STREQUAL x86_64_v2)
    # The fallback for processors without AVX2 is compiled for size.
    target_compile_definitions(functions_${set} PRIVATE DTAU_NO_LANES)
    if(NOT DTAU_DEVELOP AND NOT sanitizers)
      compile_as_one(functions_${set})
      target_compile_definitions(functions_${set} PRIVATE DTAU_INLINE=inline)
      target_compile_options(functions_${set} PRIVATE $<$<BOOL:${MSVC}>:/clang:>-Os)
    endif()
  endif()
  if(NOT MSVC)
    target_compile_options(functions_${set} PRIVATE -fno-exceptions -fno-asynchronous-unwind-tables)
  endif()
  list(APPEND function_objects $<TARGET_OBJECTS:functions_${set}>)
  string(APPEND set_declarations "namespace ${set} {\nextern const FunctionList functions, poses;\nLqrSolver solve_lqr;\nextern const mujoco::Kernels mujoco_kernels;\n}\n")
  string(APPEND set_rows "{\"${name}\", &${set}::functions, &${set}::poses, ${set}::solve_lqr, &${mujoco_set}::mujoco_kernels}, ")
endforeach()
configure_file(registry/compiled_sets.cpp.in compiled_sets.cpp @ONLY)
add_library(kernels STATIC ${CMAKE_CURRENT_BINARY_DIR}/compiled_sets.cpp ${function_objects})
target_include_directories(kernels PRIVATE ${PROJECT_SOURCE_DIR}/include .)

# The sets that this machine can run, for tests/core.
if(sets STREQUAL "baseline")
  set(runnable baseline)
else()
  find_native(native)
  foreach(set ${sets})
    if(NOT set STRGREATER native)
      list(APPEND runnable ${set})
    endif()
  endforeach()
endif()
set_property(TARGET kernels PROPERTY RUNNABLE_SETS ${runnable})
