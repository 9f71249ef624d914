# libtalus-cluster.so, and the tests that mpirun starts: a list of their own, so that nobody needs MPI who does not ask for it.
pkg_check_modules(PETSC IMPORTED_TARGET PETSc>=3.15)
talus_need(PETSC_FOUND "PETSc, for clusters" libpetsc-real-dev)
find_package(MPI COMPONENTS C)
talus_need(MPI_C_FOUND "MPI, the one that PETSc was built for" libopenmpi-dev)
if(TALUS_MISSING)
  message(FATAL_ERROR "clusters cannot be built here, because these are missing:${TALUS_MISSING}\n"
                      "On Debian, `./dev setup --cluster` installs them.")
endif()

file(GLOB TALUS_CLUSTER_SOURCES CONFIGURE_DEPENDS src/cluster/*.c)
add_library(talus_cluster SHARED ${TALUS_CLUSTER_SOURCES})
target_include_directories(talus_cluster PUBLIC "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
target_link_libraries(talus_cluster PRIVATE talus_flags PkgConfig::PETSC MPI::MPI_C)
set_target_properties(talus_cluster PROPERTIES OUTPUT_NAME talus-cluster C_VISIBILITY_PRESET hidden
                      LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}") # beside the program, which looks there
install(TARGETS talus_cluster LIBRARY)

if(TALUS_TESTS)
  enable_testing()
  pkg_check_modules(CMOCKA QUIET IMPORTED_TARGET cmocka)
  file(GLOB TALUS_TEST_SUPPORT CONFIGURE_DEPENDS tests/support/*.c)
  add_library(talus_test_support STATIC $<TARGET_OBJECTS:talus_objects> $<TARGET_OBJECTS:talus_lab> ${TALUS_TEST_SUPPORT})
  target_include_directories(talus_test_support PUBLIC tests/support "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(talus_test_support PUBLIC TL_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(talus_test_support PUBLIC talus_inside PkgConfig::LAPACKE PkgConfig::CMOCKA)
  file(GLOB TALUS_CLUSTER_TESTS CONFIGURE_DEPENDS tests/cluster/*.c)
  foreach(file ${TALUS_CLUSTER_TESTS})
    get_filename_component(name ${file} NAME_WE)
    add_executable(test_cluster_${name} ${file})
    target_link_libraries(test_cluster_${name} PRIVATE talus_test_support talus_cluster)
    # More processes than cores: they must not spin while they wait, and share the cores with the others of the list.
    set(counts 2 3 4 8)
    if(name STREQUAL petsc) # set-ups of others' multigrid: minutes where eight processes share two cores
      set(counts 2 3 4)
    endif()
    foreach(processes ${counts})
      add_test(NAME cluster/${name}_${processes} COMMAND ${MPIEXEC_EXECUTABLE} -n ${processes} --allow-run-as-root --oversubscribe
               --mca mpi_yield_when_idle 1 $<TARGET_FILE:test_cluster_${name}>)
      set_tests_properties(cluster/${name}_${processes} PROPERTIES TIMEOUT 600 PROCESSORS 2 ENVIRONMENT "OMP_NUM_THREADS=1;GOMP_SPINCOUNT=2000")
    endforeach()
  endforeach()
  # Whole runs, through the program.
  find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
  add_test(NAME cluster/run COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tests/cluster/run.py" ${MPIEXEC_EXECUTABLE} "$<TARGET_FILE:talus_program>")
  set_tests_properties(cluster/run PROPERTIES TIMEOUT 900 PROCESSORS 2 ENVIRONMENT "OMP_NUM_THREADS=1;GOMP_SPINCOUNT=2000")
endif()
