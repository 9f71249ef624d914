#!/bin/sh
# Every gate before a commit. Runs them all, then says which ones are red; exit status 1 if any is.
# `./dev check` installs what the build needs first; clang and clang-format are used when they are there.
set -u
cd "$(dirname "$0")/.." || exit 1
red=
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
    cmake --preset release -B "$1" -DCMAKE_C_COMPILER="$2" -DTALUS_WERROR=ON && cmake --build "$1" -j "$jobs"
}

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
gate "no unfinished work" absent 'TO[D]O|FIX[M]E|XX[X]' .
gate "no absolute paths" absent '/(ho[m]e|ro[o]t|wo[r]k|Use[r]s)/' .
gate "no spaces at line ends" absent '[[:blank:]]$' '*.c' '*.h' '*.py' '*.sh' '*.cmake' '*.md' dev
if command -v clang-format >/dev/null; then gate "clang-format" formatted; else not_here "clang-format" "package clang-format"; fi
if command -v shellcheck >/dev/null; then
    gate "shellcheck" shellcheck dev .ci/run tools/check.sh tests/install/use.sh
else
    not_here "shellcheck" "package shellcheck"
fi
gate "gcc, warnings are errors" build build-check gcc
gate "names that nobody uses" python3 tools/unused.py build-check
gate "tests" python3 tools/run_tests.py --jobs "$jobs" build-check
gate "tests, sanitized" ./dev test --preset sanitize
if command -v clang >/dev/null; then gate "clang, warnings are errors" build build-check-clang clang; else not_here "clang" "packages clang, libomp-dev"; fi

if [ -n "$red" ]; then
    echo "red:${red%,}"
    exit 1
fi
echo "all green"
