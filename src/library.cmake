# Builds the library `dtau`: kernels, dispatch, compiled trees and batches, with the interfaces
# dtau.hpp and dtau.h, without Python. The modules of the Python package link it, so that the package
# has the kernels once. On Windows, where it exports nothing, it is a part of each module.
set(engine_files registry/dispatch.cpp call/raw_call.cpp)
set(described_files library/array_file.cpp library/model_file.cpp library/model.cpp library/reading.cpp
    library/contact_texts.cpp)
set(interface_files ${described_files} library/library.cpp library/c_interface.cpp)
compile_for_size(${described_files} registry/dispatch.cpp)
if(WIN32)
  add_library(dtau STATIC $<TARGET_OBJECTS:common> ${engine_files})
else()
  add_library(dtau SHARED $<TARGET_OBJECTS:common> ${engine_files} ${interface_files})
endif()
compile_as_one(dtau)
target_include_directories(dtau PRIVATE . ${PROJECT_SOURCE_DIR}/include)
target_compile_features(dtau INTERFACE cxx_std_20)
target_link_libraries(dtau PRIVATE kernels Threads::Threads)
if(WIN32)
  return()
endif()

target_compile_definitions(dtau PRIVATE DTAU_VERSION="${PROJECT_VERSION}")
target_compile_options(dtau PRIVATE -Wall -Wextra)
# The modules call the functions of these files, as they call `common`. The library calls its own
# functions directly, and symbols of files are left out.
set_property(SOURCE ${engine_files} APPEND PROPERTY COMPILE_OPTIONS -fvisibility=default -fvisibility-inlines-hidden)
if(NOT APPLE)
  target_compile_options(dtau PRIVATE -fno-semantic-interposition)
  target_link_options(dtau PRIVATE -Wl,-Bsymbolic-functions)
endif()
target_link_options(dtau PRIVATE $<$<CONFIG:Release>:-Wl,$<IF:$<BOOL:${APPLE}>,-x,-s>>)
# Beside the modules in the folder of the build it would be taken for one.
set_target_properties(dtau PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/lib)

# With the modules it is installed inside the Python package, without the headers of the algorithms.
# There its file has no version, since wheels hold no links; so the loader does not take it for an
# installed library.
set(prefix)
if(DTAU_MODULES)
  set(prefix dtau/)
else()
  set_target_properties(dtau PROPERTIES VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  add_library(core INTERFACE)
  target_compile_features(core INTERFACE cxx_std_20)
  install(TARGETS core EXPORT dtau INCLUDES DESTINATION include)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/dtau DESTINATION include)
endif()
include(CMakePackageConfigHelpers)
write_basic_package_version_file(dtauConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(TARGETS dtau EXPORT dtau LIBRARY DESTINATION ${prefix}lib INCLUDES DESTINATION ${prefix}include)
install(FILES ${PROJECT_SOURCE_DIR}/include/dtau.hpp ${PROJECT_SOURCE_DIR}/include/dtau.h
        DESTINATION ${prefix}include)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/dtau/library DESTINATION ${prefix}include/dtau)
install(FILES ${PROJECT_SOURCE_DIR}/include/dtau/eigen.hpp DESTINATION ${prefix}include/dtau)
install(EXPORT dtau NAMESPACE dtau:: FILE dtauTargets.cmake DESTINATION ${prefix}lib/cmake/dtau)
install(FILES library/dtauConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/dtauConfigVersion.cmake
        DESTINATION ${prefix}lib/cmake/dtau)
configure_file(library/dtau.pc.in dtau.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dtau.pc DESTINATION ${prefix}lib/pkgconfig)
