#!/bin/sh
# Installs a build to a fresh prefix, moves it, and uses it as a stranger would: through pkg-config and through
# CMake, shared and static; with the example, a C++ compiler and Python.        tests/install/use.sh BUILD CC PYTHON
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1
cc=$2
python=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

step() { echo "-- $1"; }
fail() { echo "$1"; exit 1; }

step "install, as after ./dev run, then move the prefix"
cmake --build "$build" --target talus_product >"$work/build.log" || { cat "$work/build.log"; exit 1; }
cmake --install "$build" --prefix "$work/first" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
mv "$work/first" "$work/prefix"
prefix=$work/prefix
libdir=$(dirname "$(find "$prefix" -name libtalus.a)")
[ -x "$prefix/bin/talus" ] || fail "no program in bin/"

step "the program finds its library from the new place"
"$prefix/bin/talus" --version >"$work/version" || fail "talus --version: exit status $?"

step "the shared library exports what the list says, and nothing else"
nm -D --defined-only "$libdir/libtalus.so" | awk '$2 ~ /[A-TV-Z]/ { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort >"$work/symbols"
LC_ALL=C sort "$here/symbols.txt" | diff - "$work/symbols" || fail "tests/install/symbols.txt is another list (see TALUS_ABI)"

PKG_CONFIG_PATH=$libdir/pkgconfig
export PKG_CONFIG_PATH
unset LD_LIBRARY_PATH # the library is found by what the package files say

# The path comes from pkg-config alone. Word splitting of its answers is meant.
step "pkg-config, shared"
# shellcheck disable=SC2046
"$cc" -std=c11 -Wall -Werror $(pkg-config --cflags talus) "$here/consumer.c" -o "$work/shared" $(pkg-config --libs talus)
"$work/shared"

# The examples use the public headers only, and fail when physics is not what it should be.
step "the examples, by pkg-config"
for name in push plate; do
    # shellcheck disable=SC2046
    "$cc" -std=c11 -Wall -Wextra -Werror $(pkg-config --cflags talus) "$prefix/share/talus/examples/$name.c" \
        -o "$work/$name" $(pkg-config --libs talus) -lm
done
"$work/push" || fail "push: exit status $?" # plate runs below, from the page
# shellcheck disable=SC2046
"${CXX:-c++}" -std=c++17 -Wall -Wextra -Werror $(pkg-config --cflags talus) "$prefix/share/talus/examples/scale.cpp" \
    -o "$work/scale" $(pkg-config --libs talus)
"$work/scale" || fail "scale: exit status $?"

step "the examples, by find_package; built, installed, moved"
{
    cmake -S "$prefix/share/talus/examples" -B "$work/examples" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix" &&
        cmake --build "$work/examples" && cmake --install "$work/examples" --prefix "$work/installed"
} >"$work/examples.log" 2>&1 || { cat "$work/examples.log"; exit 1; }
"$work/examples/push" >"$work/said" || fail "push of the build: exit status $?"
"$work/installed/bin/push" >"$work/said" || fail "push of the installation: exit status $?"

step "docs/library.md, word by word"
"$python" "$here/walk.py" "$here/../../docs/library.md" "$here/../../examples"

step "C++"
# shellcheck disable=SC2046
"${CXX:-c++}" -std=c++17 -Wall -Wextra -Wconversion -Wno-sign-conversion -Werror $(pkg-config --cflags talus) \
    "$here/cpp.cpp" -o "$work/cpp" $(pkg-config --libs talus)
"$work/cpp" || fail "cpp.cpp: exit status $?"

step "headers on their own, in C and in C++"
for header in "$prefix"/include/talus/*.h; do
    echo "#include <talus/$(basename "$header")>" >"$work/header.c"
    # shellcheck disable=SC2046
    "$cc" -std=c11 -Wall -Wextra -Werror $(pkg-config --cflags talus) -fsyntax-only "$work/header.c"
    # shellcheck disable=SC2046
    "${CXX:-c++}" -std=c++11 -Wall -Wextra -Werror $(pkg-config --cflags talus) -fsyntax-only -x c++ "$work/header.c"
done

step "Python"
"$python" - "$prefix/share/talus/python" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import talus
sim = talus.Sim(talus.Scene("""return scene { talus = 1, engine = "grid", duration = 1, bodies = {
    { shape = plane {}, kind = "static" }, { shape = shape_file "duck", density = 500, at = {0, 1, 0} } } }""", text=True))
sim.advance(0.1)
assert sim.view("bodies.position").shape == (2, 3)
END

# All of the archive, so that a library missing from the file shows here.
step "pkg-config, static"
# shellcheck disable=SC2046
"$cc" -std=c11 $(pkg-config --cflags talus) "$here/consumer.c" -o "$work/static" \
    $(pkg-config --static --libs talus | sed 's/-ltalus/-Wl,--whole-archive -l:libtalus.a -Wl,--no-whole-archive/')
"$work/static"
if ldd "$work/static" | grep libtalus; then fail "the static consumer asks for the shared library"; fi

step "CMake package, shared and static"
{
    cmake -S "$here" -B "$work/cmake" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix" && cmake --build "$work/cmake"
} >"$work/cmake.log" 2>&1 || { cat "$work/cmake.log"; exit 1; }
"$work/cmake/consumer_shared"
"$work/cmake/consumer_static"
