# One executable per file tests/<folder>/<name>.c, known to ctest as <folder>/<name>.
enable_testing()

# Two threads wherever a test leaves the count alone, also on large machines; no spinning, so that
# tests may share the cores.
set(TALUS_TEST_ENVIRONMENT "OMP_NUM_THREADS=2;GOMP_SPINCOUNT=2000")
set(TALUS_TEST_SECONDS 600) # of one executable or script: three times what the longest takes on two quiet cores
if(TALUS_SANITIZE OR TALUS_TSAN)
  set(TALUS_TEST_SECONDS 3600)
endif()
if(TALUS_SANITIZE)
  list(APPEND TALUS_TEST_ENVIRONMENT "UBSAN_OPTIONS=print_stacktrace=1")
endif()
# The thread sanitizer learns from archer what OpenMP orders. Libraries of others are not instrumented: what they do among their own threads is theirs.
if(TALUS_TSAN)
  get_filename_component(runtime "${OpenMP_omp_LIBRARY}" REALPATH)
  get_filename_component(runtime "${runtime}" DIRECTORY)
  find_library(TALUS_ARCHER archer PATHS "${runtime}" REQUIRED)
  list(APPEND TALUS_TEST_ENVIRONMENT "OMP_TOOL_LIBRARIES=${TALUS_ARCHER}" "TSAN_OPTIONS=ignore_noninstrumented_modules=1 exitcode=66" "OPENBLAS_NUM_THREADS=1")
endif()

file(GLOB TALUS_TEST_SUPPORT CONFIGURE_DEPENDS tests/support/*.c)
add_library(talus_test_support STATIC $<TARGET_OBJECTS:talus_objects> $<TARGET_OBJECTS:talus_lab> ${TALUS_TEST_SUPPORT})
target_include_directories(talus_test_support PUBLIC tests/support "${PROJECT_SOURCE_DIR}")
target_compile_definitions(talus_test_support PUBLIC TL_SOURCE_DIR="${PROJECT_SOURCE_DIR}") # where tests find their files
target_link_libraries(talus_test_support PUBLIC talus_inside PkgConfig::LAPACKE PkgConfig::CMOCKA)

# First, because they are quick and say most.
function(talus_tool_test name script)
  add_test(NAME tools/${name} COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/${script}" ${ARGN})
endfunction()
talus_tool_test(includes check_includes.py)
talus_tool_test(includes_self_test check_includes.py --self-test)
talus_tool_test(references check_references.py)
talus_tool_test(parameters check_parameters.py)
talus_tool_test(parameters_self_test check_parameters.py --self-test)
talus_tool_test(lengths check_lengths.py)
talus_tool_test(lengths_self_test check_lengths.py --self-test)
talus_tool_test(picture draw_flow.py --check)
talus_tool_test(api check_api.py)
talus_tool_test(count_self_test run_tests.py --self-test)
talus_tool_test(validate_self_test validate.py --self-test)

file(GLOB TALUS_TEST_FILES CONFIGURE_DEPENDS tests/unit/*.c tests/agree/*.c tests/physics/*.c tests/repeat/*.c tests/faults/*.c)
foreach(file ${TALUS_TEST_FILES})
  get_filename_component(name ${file} NAME_WE)
  get_filename_component(folder ${file} DIRECTORY)
  get_filename_component(folder ${folder} NAME)
  add_executable(test_${folder}_${name} ${file})
  target_link_libraries(test_${folder}_${name} PRIVATE talus_test_support)
  add_test(NAME ${folder}/${name} COMMAND test_${folder}_${name})
  set_tests_properties(${folder}/${name} PROPERTIES TIMEOUT ${TALUS_TEST_SECONDS} ENVIRONMENT "${TALUS_TEST_ENVIRONMENT}")
endforeach()

# An engine is a folder and a line: the files that read the list of engines once more, with the toy's line in it. They come before those of the library.
file(READ src/scene/engines.def engines)
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/toy/scene/engines.def" CONTENT "${engines}TL_ENGINE(TOY, toy)\n" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS src/scene/engines.def)
add_executable(test_unit_toy_engine tests/toy/engine.c tests/toy/toy.c src/scene/schema.c src/scene/page.c src/scene/read.c src/step/sim.c)
target_include_directories(test_unit_toy_engine BEFORE PRIVATE "${PROJECT_BINARY_DIR}/toy")
target_link_libraries(test_unit_toy_engine PRIVATE talus_test_support)
add_test(NAME unit/toy_engine COMMAND test_unit_toy_engine)
set_tests_properties(unit/toy_engine PROPERTIES TIMEOUT ${TALUS_TEST_SECONDS} ENVIRONMENT "${TALUS_TEST_ENVIRONMENT}")

# Scenes through the program: broken ones, attacks on the sandbox, the gallery, the reference page. Sanitizers may take five times as long.
set(scene_seconds 2)
if(TALUS_SANITIZE)
  set(scene_seconds 10)
endif()
foreach(folder broken attack)
  add_test(NAME scenes/${folder} COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tests/scenes/run_bad.py" "$<TARGET_FILE:talus_program>"
           "${PROJECT_SOURCE_DIR}/tests/scenes/${folder}" --seconds ${scene_seconds} --least 60)
endforeach()
add_test(NAME scenes/gallery COMMAND talus_program scenes)
add_test(NAME scenes/reference COMMAND sh -c "\"$1\" check --reference | diff - \"$2\"" sh "$<TARGET_FILE:talus_program>" "${PROJECT_SOURCE_DIR}/docs/scene-reference.md")
add_test(NAME scenes/views COMMAND sh -c "\"$1\" check --views | diff - \"$2\"" sh "$<TARGET_FILE:talus_program>" "${PROJECT_SOURCE_DIR}/docs/views.md")
set_tests_properties(scenes/broken scenes/attack scenes/gallery scenes/reference scenes/views PROPERTIES TIMEOUT ${TALUS_TEST_SECONDS} ENVIRONMENT "${TALUS_TEST_ENVIRONMENT}")

# Commands from the outside.
add_test(NAME cli/mesh COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tests/cli/mesh.py" "$<TARGET_FILE:talus_program>"
         "${PROJECT_SOURCE_DIR}/scenes")
foreach(name run sweep readme vtk_read gallery check_run verdict regions curved_cloth)
  add_test(NAME cli/${name} COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tests/cli/${name}.py" "$<TARGET_FILE:talus_program>")
endforeach()
set_tests_properties(cli/mesh cli/run cli/sweep cli/readme cli/vtk_read cli/gallery cli/check_run cli/verdict cli/regions cli/curved_cloth PROPERTIES TIMEOUT ${TALUS_TEST_SECONDS} ENVIRONMENT "${TALUS_TEST_ENVIRONMENT}")

add_test(NAME cli/export COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tests/cli/export.py" "$<TARGET_FILE:talus_program>")
set_tests_properties(cli/export PROPERTIES TIMEOUT ${TALUS_TEST_SECONDS} ENVIRONMENT "${TALUS_TEST_ENVIRONMENT}")

# What a hostile user, file or machine does. The long form is ./dev attack.
set(slower "")
if(TALUS_SANITIZE)
  set(slower 4) # steps take 3.1 to 3.5 times as long, measured
endif()
foreach(name signals outside losses)
  add_test(NAME attack/${name} COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tests/attack/${name}.py" "$<TARGET_FILE:talus_program>" ${slower})
  set_tests_properties(attack/${name} PROPERTIES TIMEOUT ${TALUS_TEST_SECONDS} ENVIRONMENT "${TALUS_TEST_ENVIRONMENT}")
endforeach()

# Python modules that Debian packages bring (NumPy) belong to Debian's own interpreter.
find_program(TALUS_SYSTEM_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(NOT TALUS_SYSTEM_PYTHON)
  set(TALUS_SYSTEM_PYTHON "${Python3_EXECUTABLE}")
endif()

# A sanitized library wants the sanitizers' own before everything else; Python's leaks are not ours.
set(python_environment "TALUS_LIBRARY=$<TARGET_FILE:talus_shared>")
if(TALUS_SANITIZE)
  execute_process(COMMAND "${CMAKE_C_COMPILER}" -print-file-name=libasan.so OUTPUT_VARIABLE asan OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND "${CMAKE_C_COMPILER}" -print-file-name=libubsan.so OUTPUT_VARIABLE ubsan OUTPUT_STRIP_TRAILING_WHITESPACE)
  list(APPEND python_environment "LD_PRELOAD=${asan} ${ubsan}" "ASAN_OPTIONS=detect_leaks=0")
endif()
add_test(NAME python/talus COMMAND "${TALUS_SYSTEM_PYTHON}" "${PROJECT_SOURCE_DIR}/tests/python/test_talus.py" "${PROJECT_SOURCE_DIR}/python"
         "${CMAKE_C_COMPILER}" "${PROJECT_SOURCE_DIR}/include")
foreach(name batch interrupt)
  add_test(NAME python/${name} COMMAND "${TALUS_SYSTEM_PYTHON}" "${PROJECT_SOURCE_DIR}/tests/python/test_${name}.py" "${PROJECT_SOURCE_DIR}/python")
endforeach()
add_test(NAME python/docs COMMAND "${TALUS_SYSTEM_PYTHON}" "${PROJECT_SOURCE_DIR}/tests/python/test_docs.py" "${PROJECT_SOURCE_DIR}/python"
         "${PROJECT_SOURCE_DIR}/docs/python.md")
set_tests_properties(python/talus python/batch python/interrupt python/docs PROPERTIES TIMEOUT ${TALUS_TEST_SECONDS} ENVIRONMENT "${TALUS_TEST_ENVIRONMENT};${python_environment}")
find_program(TALUS_MYPY mypy PATHS /usr/bin NO_DEFAULT_PATH)
if(TALUS_MYPY)
  add_test(NAME python/types COMMAND "${TALUS_MYPY}" --strict --cache-dir "${PROJECT_BINARY_DIR}/mypy" "${PROJECT_SOURCE_DIR}/python/talus")
endif()

# An installed talus, used through pkg-config and through CMake. Sanitized libraries are not for installing.
if(NOT TALUS_SANITIZE AND NOT TALUS_TSAN)
  add_test(NAME install/use COMMAND "${PROJECT_SOURCE_DIR}/tests/install/use.sh" "${PROJECT_BINARY_DIR}" "${CMAKE_C_COMPILER}"
           "${TALUS_SYSTEM_PYTHON}")
  set_tests_properties(install/use PROPERTIES TIMEOUT 300)
  add_test(NAME install/pip COMMAND "${PROJECT_SOURCE_DIR}/tests/install/pip.sh" "$<TARGET_FILE:talus_shared>" "${TALUS_SYSTEM_PYTHON}" "${CMAKE_C_COMPILER}")
  set_tests_properties(install/pip PROPERTIES TIMEOUT ${TALUS_TEST_SECONDS} ENVIRONMENT "${TALUS_TEST_ENVIRONMENT}")
endif()
