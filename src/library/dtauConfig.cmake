include(${CMAKE_CURRENT_LIST_DIR}/dtauTargets.cmake)

# dtau_convert(NAME ROBOT [OPTION...])
# Adds the target NAME, a part of `all`, that writes NAME.dtau into the current folder of the build, and
# again when the file ROBOT has changed: a URDF, an MJCF or a xacro file. It takes the options of
# `dtau convert`, such as --root free. The command `dtau` of the Python package runs when the project
# is built: python -m pip install "dtau[cli]". Programs that load the file need no Python.
function(dtau_convert name robot)
  # Beside the Python that has this file in lib/python3.x/site-packages/dtau/lib/cmake/dtau.
  find_program(DTAU_COMMAND dtau HINTS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../../../../../../bin)
  if(NOT DTAU_COMMAND)
    message(FATAL_ERROR "dtau_convert: expected the command dtau, found none; python -m pip install \"dtau[cli]\" "
                        "installs it, and -DDTAU_COMMAND=FILE says where it is")
  endif()
  get_filename_component(robot ${robot} ABSOLUTE)
  set(written ${CMAKE_CURRENT_BINARY_DIR}/${name}.dtau)
  add_custom_command(OUTPUT ${written} DEPENDS ${robot} VERBATIM
                     COMMAND ${DTAU_COMMAND} convert ${robot} ${written} --force ${ARGN})
  add_custom_target(${name} ALL DEPENDS ${written})
endfunction()
