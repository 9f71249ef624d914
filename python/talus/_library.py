"""The C library as its headers have it: where it lies, its structures, its functions, its errors.

Everything else in the package calls `lib` through `call`, which turns a status into an exception and lets Ctrl-C
reach a computation that is going on.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import signal
import threading
from ctypes import POINTER, byref, c_char, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Callable, Optional, Sequence, Union

from .errors import Error, Problem

PathLike = Union[str, "os.PathLike[str]"]

# ---- callbacks and structures ----------------------------------------------------------------------------

LOG = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p)
WRITE = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)
STEP = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)
PROBLEM = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_int, c_int, c_char_p)


class CError(ctypes.Structure):
    """talus_error"""

    _fields_ = [("status", c_int), ("message", c_char * 512)]


class SceneOptions(ctypes.Structure):
    """talus_scene_options"""

    _fields_ = [("size", c_char_p), ("settings", c_int), ("setting", POINTER(c_char_p)),
                ("shapes_folder", c_char_p), ("mesh_folder", c_char_p), ("problem", PROBLEM),
                ("problem_user", c_void_p), ("print", LOG), ("print_user", c_void_p), ("driven", c_int)]


class SimOptions(ctypes.Structure):
    """talus_sim_options"""

    _fields_ = [("log", LOG), ("log_user", c_void_p)]


class CView(ctypes.Structure):
    """talus_view"""

    _fields_ = [("data", c_void_p), ("count", c_int64), ("components", c_int), ("type", c_int), ("stride", c_size_t)]


class CViewInfo(ctypes.Structure):
    """talus_view_info"""

    _fields_ = [("name", c_char_p), ("unit", c_char_p), ("help", c_char_p), ("engines", c_char_p), ("frame", c_char_p),
                ("type", c_int), ("components", c_int), ("computed", c_int)]


class CCost(ctypes.Structure):
    """talus_cost"""

    _fields_ = [("particles", c_int64), ("cells", c_int64), ("nodes", c_int64), ("elements", c_int64),
                ("bodies", c_int64), ("bytes", c_size_t), ("dt", c_double), ("steps", c_double),
                ("seconds_per_step", c_double), ("seconds", c_double), ("at_least", c_int)]


class CPhase(ctypes.Structure):
    """talus_report.phase"""

    _fields_ = [("name", c_char_p), ("seconds", c_double)]


class CSolve(ctypes.Structure):
    """talus_report.solve"""

    _fields_ = [("name", c_char_p), ("method", c_char_p), ("outcome", c_char_p), ("iterations", c_int),
                ("products", c_int64), ("factorizations", c_int64), ("certificate", c_double), ("target", c_double)]


class CReport(ctypes.Structure):
    """talus_report"""

    _fields_ = [("step", c_int64), ("time", c_double), ("dt", c_double), ("retries", c_int), ("phases", c_int),
                ("solves", c_int), ("phase", CPhase * 16), ("solve", CSolve * 8), ("kinetic", c_double),
                ("potential", c_double), ("elastic", c_double), ("momentum", c_double * 3),
                ("angular_momentum", c_double * 3), ("contacts", c_int64), ("touching", c_int64),
                ("penetration", c_double), ("force_balance", c_double), ("liquid_volume", c_double),
                ("particle_volume", c_double), ("volume_error", c_double), ("compression", c_double),
                ("particles", c_int64), ("escaped", c_int64), ("fastest", c_double), ("peak_bytes", c_size_t),
                ("momentum_unexplained", c_double * 3), ("angular_unexplained", c_double * 3),
                ("energy_unexplained", c_double)]


class CProgress(ctypes.Structure):
    """talus_progress"""

    _fields_ = [("frame", c_int64), ("frames", c_int64), ("report", POINTER(CReport)), ("seconds", c_double),
                ("seconds_left", c_double), ("phase", c_char_p)]


PROGRESS = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(CProgress))
SHARE = ctypes.CFUNCTYPE(c_int, c_void_p, c_double)


class RunOptions(ctypes.Structure):
    """talus_run_options"""

    _fields_ = [("folder", c_char_p), ("frames", c_int), ("resume", c_int), ("history", c_int),
                ("no_pictures", c_int), ("capture", c_char_p), ("scene", POINTER(SceneOptions)),
                ("progress", PROGRESS), ("log", LOG), ("user", c_void_p)]


class CVerdictLine(ctypes.Structure):
    """talus_verdict_line"""

    _fields_ = [("name", c_char * 16), ("value", c_double), ("limit", c_double), ("bad", c_int), ("refused", c_int),
                ("text", c_char * 400), ("remedy", c_char * 120)]


class CVerdict(ctypes.Structure):
    """talus_verdict"""

    _fields_ = [("steps", c_int64), ("time", c_double), ("lines", c_int), ("bad", c_int), ("refused", c_int),
                ("line", CVerdictLine * 8)]


class CRunResult(ctypes.Structure):
    """talus_run_result"""

    _fields_ = [("folder", c_char * 1024), ("picture", c_char * 1200), ("frames", c_int64), ("steps", c_int64),
                ("hash", c_uint64), ("verdict", CVerdict)]


class RenderOptions(ctypes.Structure):
    """talus_render_options"""

    _fields_ = [("width", c_int), ("height", c_int), ("samples", c_int), ("view", c_char_p), ("plain", c_int),
                ("sheet", c_int), ("turn", c_int), ("scene", POINTER(SceneOptions)), ("progress", SHARE),
                ("user", c_void_p)]


# C type of each structure: the test compares sizes with the headers'.
STRUCTURES: dict[str, type[ctypes.Structure]] = {
    "talus_error": CError, "talus_scene_options": SceneOptions, "talus_sim_options": SimOptions, "talus_view": CView,
    "talus_view_info": CViewInfo,
    "talus_cost": CCost, "talus_report": CReport, "talus_progress": CProgress, "talus_run_options": RunOptions,
    "talus_run_result": CRunResult, "talus_verdict": CVerdict, "talus_render_options": RenderOptions,
}

# ---- functions -------------------------------------------------------------------------------------------

_ERR = POINTER(CError)
VEC = POINTER(c_double)
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "talus_version": (c_char_p, []),
    "talus_abi": (c_int, []),
    "talus_status_name": (c_char_p, [c_int]),
    "talus_threads": (c_int, []),
    "talus_threads_set": (None, [c_int]),
    "talus_scene_options_default": (SceneOptions, []),
    "talus_scene_load": (c_int, [c_char_p, POINTER(SceneOptions), POINTER(c_void_p), _ERR]),
    "talus_scene_load_text": (c_int, [c_char_p, c_char_p, POINTER(SceneOptions), POINTER(c_void_p), _ERR]),
    "talus_scene_free": (None, [c_void_p]),
    "talus_scene_title": (c_char_p, [c_void_p]),
    "talus_scene_about": (c_char_p, [c_void_p]),
    "talus_scene_engine": (c_char_p, [c_void_p]),
    "talus_scene_minutes": (c_double, [c_void_p]),
    "talus_scene_duration": (c_double, [c_void_p]),
    "talus_scene_fps": (c_double, [c_void_p]),
    "talus_scene_count": (c_int, [c_void_p, c_int]),
    "talus_scene_body_name": (c_char_p, [c_void_p, c_int]),
    "talus_scene_reference": (None, [WRITE, c_void_p]),
    "talus_sim_create": (c_int, [c_void_p, POINTER(SimOptions), POINTER(c_void_p), _ERR]),
    "talus_sim_free": (None, [c_void_p]),
    "talus_sim_step": (c_int, [c_void_p, c_double, _ERR]),
    "talus_sim_advance": (c_int, [c_void_p, c_double, _ERR]),
    "talus_sim_on_step": (c_int, [c_void_p, STEP, STEP, c_void_p, _ERR]),
    "talus_sim_cost": (c_int, [c_void_p, POINTER(CCost), _ERR]),
    "talus_cancel": (None, [c_int]),
    "talus_signals_begin": (None, []),
    "talus_signals_end": (c_int, []),
    "talus_sim_time": (c_double, [c_void_p]),
    "talus_sim_steps": (c_int64, [c_void_p]),
    "talus_sim_hash": (c_uint64, [c_void_p]),
    "talus_sim_generation": (c_uint64, [c_void_p]),
    "talus_sim_view": (c_int, [c_void_p, c_char_p, POINTER(CView), _ERR]),
    "talus_sim_view_name": (c_char_p, [c_int]),
    "talus_view_info_at": (c_int, [c_int, POINTER(CViewInfo)]),
    "talus_sim_clone": (c_int, [c_void_p, POINTER(c_void_p), _ERR]),
    "talus_sim_cancel": (None, [c_void_p, c_int]),
    "talus_sim_bytes": (c_size_t, [c_void_p]),
    "talus_sim_save_bytes": (c_int, [c_void_p, c_void_p, c_size_t, _ERR]),
    "talus_sim_restore_bytes": (c_int, [c_void_p, c_void_p, c_size_t, _ERR]),
    "talus_sim_body": (c_int, [c_void_p, c_char_p]),
    "talus_sim_material": (c_int, [c_void_p, c_char_p]),
    "talus_sim_joint": (c_int, [c_void_p, c_char_p]),
    "talus_sim_place": (c_int, [c_void_p, c_int, VEC, VEC, _ERR]),
    "talus_sim_set_friction": (c_int, [c_void_p, c_int, c_double, _ERR]),
    "talus_sim_add_body": (c_int, [c_void_p, c_int, VEC, VEC, VEC, VEC, POINTER(c_int), _ERR]),
    "talus_sim_remove_body": (c_int, [c_void_p, c_int, _ERR]),
    "talus_sim_set_rate": (c_int, [c_void_p, c_int, c_double, _ERR]),
    "talus_sim_add_particles": (c_int, [c_void_p, c_int, c_int64, VEC, VEC, VEC, POINTER(c_int64), _ERR]),
    "talus_sim_remove_particles": (c_int, [c_void_p, c_int64, POINTER(c_int32), _ERR]),
    "talus_sim_set_gravity": (c_int, [c_void_p, VEC, _ERR]),
    "talus_sim_set_material": (c_int, [c_void_p, c_int, c_char_p, c_double, _ERR]),
    "talus_sim_set_force": (c_int, [c_void_p, c_int, VEC, VEC, _ERR]),
    "talus_sim_set_handle": (c_int, [c_void_p, c_int, VEC, VEC, _ERR]),
    "talus_sim_set_cable": (c_int, [c_void_p, c_int, c_double, _ERR]),
    "talus_sim_set_motor": (c_int, [c_void_p, c_int, c_double, _ERR]),
    "talus_sim_set_pressure": (c_int, [c_void_p, c_int, c_double, _ERR]),
    "talus_sim_set_node_forces": (c_int, [c_void_p, c_int64, c_int64, VEC, _ERR]),
    "talus_sim_set_velocity": (c_int, [c_void_p, c_int, VEC, VEC, _ERR]),
    "talus_sim_set_pose": (c_int, [c_void_p, c_int, VEC, VEC, _ERR]),
    "talus_sim_save": (c_int, [c_void_p, c_char_p, _ERR]),
    "talus_sim_restore": (c_int, [c_void_p, c_char_p, _ERR]),
    "talus_sim_report": (None, [c_void_p, POINTER(CReport)]),
    "talus_run_options_default": (RunOptions, []),
    "talus_run_verdict": (c_int, [c_char_p, POINTER(CVerdict), _ERR]),
    "talus_run": (c_int, [c_char_p, POINTER(RunOptions), POINTER(CRunResult), _ERR]),
    "talus_sample_random": (c_double, [c_uint64, c_int, c_int64]),
    "talus_sample_latin": (c_double, [c_uint64, c_int, c_int64, c_int64]),
    "talus_render_options_default": (RenderOptions, []),
    "talus_render_file": (c_int, [c_char_p, c_char_p, POINTER(RenderOptions), _ERR]),
    "talus_export": (c_int, [c_char_p, c_char_p, c_int, c_char_p, POINTER(SceneOptions), _ERR]),
}

ABI = 1  # TALUS_ABI of the headers that the structures above are from

PACKAGE = Path(__file__).resolve().parent


def _roots() -> list[Path]:
    """Where a source tree or an installation may begin, nearest first: python/talus and share/talus/python/talus."""
    return [PACKAGE.parents[1], PACKAGE.parents[3]]


def _find_library() -> str:
    """TALUS_LIBRARY, the package's own, a build beside the sources, an installation, the system's."""
    asked = os.environ.get("TALUS_LIBRARY")
    if asked:
        return asked
    own = PACKAGE / "lib" / "libtalus.so"
    if own.is_file():
        return str(own)
    for root in _roots():
        for place in ("build/libtalus.so", "lib/libtalus.so", "lib64/libtalus.so", "lib/*/libtalus.so"):
            for found in root.glob(place):
                return str(found)
    return ctypes.util.find_library("talus") or "libtalus.so"


def scenes_folder() -> Optional[Path]:
    """Folder of the scenes that come with talus; TALUS_SCENES goes first."""
    asked = os.environ.get("TALUS_SCENES")
    places = [Path(asked)] if asked else []
    places += [PACKAGE / "scenes"]
    for root in _roots():
        places += [root / "scenes", root / "share" / "talus" / "scenes"]
    return next((place for place in places if (place / "shapes").is_dir()), None)


def _load() -> ctypes.CDLL:
    path = _find_library()
    try:
        library = ctypes.CDLL(path)
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(library, name)
            function.restype = result
            function.argtypes = arguments
    except OSError as why:
        raise ImportError(f"cannot load {path} ({why}); build talus, or set TALUS_LIBRARY to its libtalus.so") from why
    except AttributeError as why:
        raise ImportError(f"{path} is another version of talus than this package: {why}") from why
    if library.talus_abi() != ABI:
        raise ImportError(f"{path} has the binary interface {library.talus_abi()}, this package needs {ABI}")
    return library


lib = _load()

# ---- calls -----------------------------------------------------------------------------------------------

INTERRUPTED = 6  # talus_status


def status_name(status: int) -> str:
    """A word for a talus_status."""
    return text_of(lib.talus_status_name(status))


def text_of(raw: Optional[bytes]) -> str:
    """A text of the library's; "" for none."""
    return raw.decode(errors="replace") if raw else ""


def check(status: int, err: CError, problems: Sequence[Problem] = ()) -> None:
    """Raises what a status other than TALUS_OK means."""
    if status != 0:
        raise Error(status_name(status), text_of(err.message), problems)


def call(function: Callable[..., int], *arguments: Any) -> None:
    """A quick call that may fail."""
    err = CError()
    status = function(*arguments, byref(err))
    if status != 0:
        check(status, err)


_MAIN = threading.main_thread().ident


def compute(function: Callable[..., int], *arguments: Any) -> tuple[int, CError]:
    """A call that may take long. Ctrl-C ends it soon; then Python's own handler runs, which raises KeyboardInterrupt.
    A handler that does not raise lets the call go on where it was."""
    err = CError()
    if threading.get_ident() != _MAIN:  # signals are for the main thread
        return function(*arguments, byref(err)), err
    while True:
        lib.talus_signals_begin()
        status = function(*arguments, byref(err))
        if not lib.talus_signals_end():
            return status, err
        signal.raise_signal(signal.SIGINT)
        if status != INTERRUPTED:
            return status, err


def path_of(path: PathLike) -> bytes:
    """A path as the system has it."""
    return os.fsencode(path)


def version() -> str:
    """Version of the library, as "0.1.0"."""
    return text_of(lib.talus_version())


def threads(count: Optional[int] = None) -> int:
    """Threads of parallel loops; with a count, sets it. Results do not depend on it."""
    if count is not None:
        lib.talus_threads_set(count)
    return int(lib.talus_threads())


def cancel(wanted: bool = True) -> None:
    """Asks every simulation of this process to leave its step: step, advance and run then raise Error ("interrupted")
    with the simulation as it was before the step. From any thread. Stays asked for until cancel(False)."""
    lib.talus_cancel(1 if wanted else 0)
