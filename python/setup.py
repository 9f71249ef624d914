"""Puts the library and the scenes into the package, so that an installed talus needs nothing of the source tree.

The library is TALUS_LIBRARY, else build/libtalus.so of the source tree, which is made by CMake when it is not there.
Nothing is downloaded; what it links to (OpenBLAS, HDF5, ...) comes from the system. `./dev wheel` makes a wheel for any
CPU; `pip install --no-build-isolation ./python` takes the build for this one.
"""

import atexit
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


def version():
    return re.search(r"project\(talus VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def library():
    """Path of libtalus.so; builds it when there is none."""
    asked = os.environ.get("TALUS_LIBRARY")
    path = Path(asked) if asked else ROOT / "build" / "libtalus.so"
    if not path.exists() and not asked:
        subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, check=True)
        subprocess.run(["cmake", "--build", "build", "--target", "talus_shared"], cwd=ROOT, check=True)
    return path.resolve(strict=True)


class BuildWithLibrary(build_py):
    """The modules, then lib/libtalus.so and scenes/."""

    def run(self):
        super().run()
        package = Path(self.build_lib, "talus")
        (package / "lib").mkdir(exist_ok=True)
        shutil.copyfile(library(), package / "lib" / "libtalus.so")
        shutil.copytree(ROOT / "scenes", package / "scenes", dirs_exist_ok=True)


class PlatformWheel(bdist_wheel):
    """For any Python 3, since the library is loaded by ctypes; for this platform alone."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


# What setuptools makes on the way stays out of the source tree.
aside = tempfile.mkdtemp(prefix="talus-wheel-")
atexit.register(shutil.rmtree, aside, ignore_errors=True)

setup(
    version=version(),
    packages=["talus"],
    package_data={"talus": ["py.typed"]},
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel},
    options={"build": {"build_base": aside}, "egg_info": {"egg_base": aside}},
    zip_safe=False,
)
