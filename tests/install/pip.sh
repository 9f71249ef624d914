#!/bin/sh
# `pip install ./python` in a fresh virtual environment, without a network, then the package far from the source tree:
# what it carries, a run by name, and the examples.                       tests/install/pip.sh LIBRARY PYTHON CC
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
library=$1
python=$2
cc=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH

step() { echo "-- $1"; }
fail() { echo "$1"; exit 1; }

# Debian's NumPy and setuptools are seen from inside; pip itself too.
step "a fresh virtual environment"
"$python" -m venv --system-site-packages --without-pip "$work/venv"
venv=$work/venv/bin/python

step "pip install without a network"
cd "$work"
TALUS_LIBRARY=$library "$venv" -m pip install --quiet --no-index --no-build-isolation --no-deps "$root/python" \
    >"$work/pip.log" 2>&1 || { cat "$work/pip.log"; exit 1; }
[ -z "$(cd "$root" && find python -name '*.egg-info' -o -name build)" ] || fail "pip left files in the source tree"

step "what was installed"
"$venv" - "$work" <<'END'
import importlib.metadata, pathlib, sys
import talus
home = pathlib.Path(talus.__file__).parent
assert home.is_relative_to(pathlib.Path(sys.argv[1]).resolve()), home
for name in ("py.typed", "lib/libtalus.so", "scenes/dam-break/dam-break.lua", "scenes/shapes/duck.lua"):
    assert (home / name).is_file(), name
assert importlib.metadata.version("talus") == talus.version()
result = talus.run("dam-break", frames=2, pictures=False)
assert result.frames == 2 and pathlib.Path(result.folder, "run.json").is_file(), result
END

cd "$root/examples"
for name in plate_in_sand friction_fit balance gripper; do
    step "$name.py"
    "$venv" "$name.py" >"$work/$name.out" || { cat "$work/$name.out"; exit 1; }
done

step "gripper.c: the same bits"
"$cc" -std=c11 -Wall -Wextra -Werror -I "$root/include" gripper.c "$library" -Wl,-rpath,"$(dirname "$library")" -o "$work/gripper"
"$work/gripper" >"$work/c.out"
tail -n 1 "$work/gripper.out" | diff - "$work/c.out" || fail "C and Python differ"
