# The libraries talus stands on. What is missing is reported all at once, with its Debian package.
set(TALUS_MISSING "")

macro(talus_need found what package)
  if(NOT ${found})
    string(APPEND TALUS_MISSING "\n  ${what}: Debian package ${package}")
  endif()
endmacro()

find_package(PkgConfig QUIET)
if(NOT PKG_CONFIG_FOUND)
  message(FATAL_ERROR "talus needs pkg-config to find its libraries: Debian package pkg-config.\n"
                      "On Debian, `./dev setup` installs everything that is missing.")
endif()
find_package(OpenMP QUIET COMPONENTS C)
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
  talus_need(OpenMP_C_FOUND "OpenMP for clang" libomp-dev)
else()
  talus_need(OpenMP_C_FOUND "a C compiler with OpenMP" build-essential)
endif()
find_package(CHOLMOD QUIET)
talus_need(CHOLMOD_FOUND "CHOLMOD, sparse factorisation" libsuitesparse-dev)
pkg_check_modules(OPENBLAS QUIET IMPORTED_TARGET openblas)
talus_need(OPENBLAS_FOUND "OpenBLAS, built for OpenMP" libopenblas-openmp-dev)
pkg_check_modules(HDF5S QUIET IMPORTED_TARGET hdf5-serial) # never plain hdf5: that may be the MPI build
talus_need(HDF5S_FOUND "HDF5, serial build" libhdf5-dev)
find_package(embree 3 QUIET CONFIG) # brings TBB
talus_need(embree_FOUND "Embree 3, rays and distances" libembree-dev)
find_package(PNG QUIET)
talus_need(PNG_FOUND "libpng, pictures" libpng-dev)
if(TALUS_TESTS)
  pkg_check_modules(CMOCKA QUIET IMPORTED_TARGET cmocka)
  talus_need(CMOCKA_FOUND "cmocka, for the tests" libcmocka-dev)
  pkg_check_modules(LAPACKE QUIET IMPORTED_TARGET lapacke)
  talus_need(LAPACKE_FOUND "LAPACKE, for the tests" liblapacke-dev)
  find_package(Python3 QUIET COMPONENTS Interpreter)
  talus_need(Python3_Interpreter_FOUND "Python 3, for the tests" python3)
endif()

if(TALUS_MISSING)
  message(FATAL_ERROR "talus cannot be built here, because these are missing:${TALUS_MISSING}\n"
                      "On Debian, `./dev setup` installs them.")
endif()
