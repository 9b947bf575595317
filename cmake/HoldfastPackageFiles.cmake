# cpack runs this when all files of the packages are in place: adds the licence and the changes, and
# makes smaller what Debian wants smaller.
set(source "${CMAKE_CURRENT_LIST_DIR}/..")

function(compress file)
  execute_process(COMMAND gzip --best --no-name --force "${file}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# The program has these inside; their licences want to be told. Debian's packages bring them.
function(licences_of_others variable)
  foreach(package libcli11-dev nlohmann-json3-dev libfmt-dev libhiredis-dev)
    file(READ "/usr/share/doc/${package}/copyright" text)
    string(APPEND all "\n\nThe program contains a part of the package ${package}:\n\n${text}")
  endforeach()
  set(${variable} "${all}" PARENT_SCOPE)
endfunction()

function(add_documents component package)
  set(root "${CPACK_TEMPORARY_DIRECTORY}/${component}/usr/share")
  set(documents "${root}/doc/${package}")
  file(READ "${source}/LICENSE" licence)
  if(component STREQUAL "program")
    licences_of_others(others)
    string(APPEND licence "${others}")
    compress("${root}/man/man1/holdfast.1")
  endif()
  file(WRITE "${documents}/copyright" "${licence}")
  file(COPY_FILE "${source}/CHANGELOG.md" "${documents}/changelog")
  compress("${documents}/changelog")
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of SOURCE_DATE_EPOCH, if that is set
  file(WRITE "${documents}/changelog.Debian"
    "holdfast (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n"
    "\n  * See changelog.gz.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  compress("${documents}/changelog.Debian")
endfunction()

foreach(component LIBRARY DEVELOPMENT PROGRAM)
  string(TOLOWER ${component} folder)
  add_documents(${folder} ${CPACK_DEBIAN_${component}_PACKAGE_NAME})
endforeach()

# cpack strips programs and shared libraries only.
file(GLOB_RECURSE archives "${CPACK_TEMPORARY_DIRECTORY}/development/*.a")
execute_process(COMMAND strip --strip-debug --enable-deterministic-archives ${archives}
  COMMAND_ERROR_IS_FATAL ANY)
