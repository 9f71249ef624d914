#!/bin/sh
# The gates before a commit. Runs them all, then says which ones are red; exit status 1 if any is.
#
#     tools/check.sh         three minutes on two cores: text, two builds, clang-tidy, quick tests
#     tools/check.sh --all   before a release: every test, plain and sanitized, and clang's warnings
#
# `./dev check` installs what these need first; what a system does not have is told and left out.
set -u
cd "$(dirname "$0")/.." || exit 1
red=
all=${1:-}
jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(getconf _NPROCESSORS_ONLN)}

gate() { # name, command...
    name=$1
    shift
    if output=$("$@" 2>&1); then
        echo "green    $name"
    else
        echo "$output" | sed 's/^/    /'
        echo "RED      $name"
        red="$red $name,"
    fi
}
not_here() { echo "not here $1 ($2)"; }

build() { # folder, compiler
    cmake --preset release -B "$1" -DCMAKE_C_COMPILER="$2" -DTALUS_WERROR=ON -DCMAKE_EXPORT_COMPILE_COMMANDS=ON && cmake --build "$1" -j "$jobs"
}

# Library and program without -march=native, and its own answer to whether it still computes.
portable() {
    cmake --preset release -B build-portable -DTALUS_NATIVE=OFF -DTALUS_TESTS=OFF -DTALUS_WERROR=ON \
        && cmake --build build-portable -j "$jobs" && build-portable/talus validate grid V2
}

# What computes, for another kind of CPU: compiled, not run. Headers of libraries are those of this system, after its own.
arm() {
    git ls-files 'src/base/*.c' 'src/math/*.c' 'src/geom/*.c' 'src/solve/*.c' 'src/model/*.c' \
        | xargs -P "$jobs" -n 1 aarch64-linux-gnu-gcc -std=c11 -O1 -fopenmp -ffp-contract=fast -fno-math-errno -fno-trapping-math \
            -D_DEFAULT_SOURCE -D_POSIX_C_SOURCE=200809L -D_XOPEN_SOURCE=700 -Iinclude -Isrc -idirafter /usr/include \
            -idirafter /usr/include/suitesparse -idirafter "/usr/include/$(gcc -print-multiarch)" \
            -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wno-sign-conversion -Wno-maybe-uninitialized -Werror -c -o /dev/null
}

# .clang-tidy says which checks, and why not the others. src/cluster needs headers that only --cluster installs.
tidy() { git ls-files 'src/*.c' 'cli/*.c' ':!src/cluster' | xargs -P "$jobs" -n 20 clang-tidy -p build-check --quiet --extra-arg=-Wno-error; }

formatted() {
    git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format --dry-run -Werror \
        || { echo "to format: git ls-files '*.c' '*.h' | xargs clang-format -i"; return 1; }
}

# Fails when a tracked file holds the pattern. The patterns are written so that this file does not match.
absent() { # pattern, pathspec...
    pattern=$1
    shift
    if git grep -nIE "$pattern" -- "$@"; then return 1; fi
}

gate "python" python3 -m py_compile tools/*.py
gate "includes" python3 tools/check_includes.py
gate "references" python3 tools/check_references.py
gate "parameters" python3 tools/check_parameters.py
gate "lengths" python3 tools/check_lengths.py
gate "no unfinished work" absent 'TO[D]O|FIX[M]E|(^|[^X])XX[X]([^X]|$)' .
gate "no absolute paths" absent '/(ho[m]e|ro[o]t|wo[r]k|Use[r]s)/' .
gate "no spaces at line ends" absent '[[:blank:]]$' '*.c' '*.h' '*.py' '*.sh' '*.cmake' '*.md' dev
if command -v clang-format >/dev/null; then gate "clang-format" formatted; else not_here "clang-format" "package clang-format"; fi
if command -v shellcheck >/dev/null; then
    gate "shellcheck" shellcheck dev .ci/run tools/check.sh tests/install/use.sh tests/install/pip.sh
else
    not_here "shellcheck" "package shellcheck"
fi
gate "gcc, warnings are errors" build build-check gcc
gate "names that nobody uses" python3 tools/unused.py build-check
gate "for any CPU" portable
if command -v clang-tidy >/dev/null; then gate "clang-tidy" tidy; else not_here "clang-tidy" "package clang-tidy"; fi
if [ "$all" = --all ]; then
    gate "tests" python3 tools/run_tests.py --jobs "$jobs" build-check
    gate "tests, sanitized" ./dev test --preset sanitize
    if command -v aarch64-linux-gnu-gcc >/dev/null; then
        gate "for aarch64" arm
    else
        not_here "for aarch64" "packages gcc-aarch64-linux-gnu, libc6-dev-arm64-cross"
    fi
    if command -v clang >/dev/null; then gate "clang, warnings are errors" build build-check-clang clang; else not_here "clang" "packages clang, libomp-dev"; fi
else
    gate "quick tests" python3 tools/run_tests.py --jobs "$jobs" build-check '^(tools|unit|agree|scenes)/'
fi

if [ -n "$red" ]; then
    echo "red:${red%,}"
    exit 1
fi
echo "all green"
