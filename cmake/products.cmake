# libtalus (shared and static), the program, and the files that an installation holds.
include(CMakePackageConfigHelpers)
set(TALUS_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/talus")

function(talus_library target type)
  add_library(${target} ${type} $<TARGET_OBJECTS:talus_objects>)
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME talus LINKER_LANGUAGE C)
  target_link_libraries(${target} PRIVATE OpenMP::OpenMP_C CHOLMOD::CHOLMOD PkgConfig::OPENBLAS PkgConfig::HDF5S PkgConfig::LUA embree PNG::PNG m)
  if(TALUS_SANITIZE OR TALUS_FUZZ)
    target_link_options(${target} PUBLIC -fsanitize=address,undefined)
  elseif(TALUS_TSAN)
    target_link_options(${target} PUBLIC -fsanitize=thread)
  endif()
endfunction()

talus_library(talus_shared SHARED)
# Installed, it still finds the OpenBLAS that it was linked to, not the flavour that the system prefers.
set_target_properties(talus_shared PROPERTIES EXPORT_NAME talus INSTALL_RPATH_USE_LINK_PATH ON
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
if(NOT TALUS_SANITIZE AND NOT TALUS_FUZZ AND NOT TALUS_TSAN) # the sanitizers' own symbols come with the program
  target_link_options(talus_shared PRIVATE -Wl,--no-undefined)
endif()
# Programs that are built with an installed talus find it at run time, wherever its prefix is.
target_link_options(talus_shared INTERFACE "$<INSTALL_INTERFACE:-Wl,-rpath,$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}>")
talus_library(talus_static STATIC)

# The program sees the public headers, like any other user of the library, and the two of the laboratory.
file(GLOB TALUS_CLI_SOURCES CONFIGURE_DEPENDS cli/*.c)
add_executable(talus_program ${TALUS_CLI_SOURCES} $<TARGET_OBJECTS:talus_lab>)
target_include_directories(talus_program PRIVATE "${PROJECT_SOURCE_DIR}")
file(RELATIVE_PATH to_lib "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
set_target_properties(talus_program PROPERTIES OUTPUT_NAME talus RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}"
                      INSTALL_RPATH "$ORIGIN/${to_lib}")
target_link_libraries(talus_program PRIVATE talus_flags talus_static)
target_compile_definitions(talus_program PRIVATE CLI_LIBRARY_FOLDER="${CMAKE_INSTALL_LIBDIR}")

# All that an installation holds, and nothing of the tests.
add_custom_target(talus_product DEPENDS talus_program talus_shared talus_static)

install(TARGETS talus_program RUNTIME)
install(TARGETS talus_shared EXPORT talusTargets)
install(TARGETS talus_static EXPORT talusStaticTargets)
install(DIRECTORY include/talus TYPE INCLUDE)
install(DIRECTORY scenes DESTINATION "${CMAKE_INSTALL_DATADIR}/talus")
install(DIRECTORY python/talus DESTINATION "${CMAKE_INSTALL_DATADIR}/talus/python" PATTERN __pycache__ EXCLUDE)
install(DIRECTORY examples DESTINATION "${CMAKE_INSTALL_DATADIR}/talus")
install(FILES LICENSE NOTICE DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# pkg-config: the prefix is found from the file's own place, so an installation may be moved.
file(RELATIVE_PATH TALUS_PC_TO_PREFIX "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" TALUS_PC_TO_PREFIX "${TALUS_PC_TO_PREFIX}")
list(JOIN OPENBLAS_LDFLAGS " " openblas_flags)
list(JOIN HDF5S_LDFLAGS " " hdf5_flags)
list(JOIN LUA_LDFLAGS " " lua_flags)
set(TALUS_PC_LIBS "${openblas_flags} ${hdf5_flags} ${lua_flags} -lembree3 -lpng")
configure_file(cmake/talus.pc.in talus.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/talus.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# CMake package: find_package(talus) gives talus::talus; COMPONENTS static adds talus::talus_static.
install(EXPORT talusTargets NAMESPACE talus:: DESTINATION "${TALUS_CMAKE_DIR}")
install(EXPORT talusStaticTargets NAMESPACE talus:: DESTINATION "${TALUS_CMAKE_DIR}")
configure_package_config_file(cmake/talusConfig.cmake.in talusConfig.cmake INSTALL_DESTINATION "${TALUS_CMAKE_DIR}")
write_basic_package_version_file(talusConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/talusConfig.cmake" "${PROJECT_BINARY_DIR}/talusConfigVersion.cmake"
        cmake/FindCHOLMOD.cmake DESTINATION "${TALUS_CMAKE_DIR}")
