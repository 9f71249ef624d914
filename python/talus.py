"""talus from Python: load a scene, step it, look at it as NumPy arrays, push it, save it.

    import talus
    scene = talus.Scene("scenes/tower/tower.lua", settings={"levels": 5})
    sim = talus.Sim(scene)
    sim.advance(1.0)
    print(sim.view("bodies.position"))

One file over the C library (include/talus), with ctypes and NumPy. The library is looked for in the
variable TALUS_LIBRARY, then in build/ beside this file's folder and in lib/ of an installation, then
wherever the system keeps libraries. Lengths are metres, times seconds; see docs/library.md.
"""

import ctypes
import ctypes.util
import operator
import os
from ctypes import POINTER, byref, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint64, c_void_p
from pathlib import Path

import numpy as np

__all__ = ["Error", "Report", "Scene", "Sim", "View", "export", "render", "run", "threads", "version"]


class Error(Exception):
    """What the library refused or could not do. `status` is a word: "bad input", "file error", ..."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


# ---- the library, as its headers have it ----------------------------------------------------------------

LOG = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p)
PROBLEM = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_int, c_int, c_char_p)


class _Error(ctypes.Structure):
    _fields_ = [("status", c_int), ("message", c_char * 512)]


class _SceneOptions(ctypes.Structure):
    _fields_ = [("size", c_char_p), ("settings", c_int), ("setting", POINTER(c_char_p)),
                ("shapes_folder", c_char_p), ("mesh_folder", c_char_p), ("problem", PROBLEM),
                ("problem_user", c_void_p), ("print", LOG), ("print_user", c_void_p), ("driven", c_int)]


class _SimOptions(ctypes.Structure):
    _fields_ = [("log", LOG), ("log_user", c_void_p)]


class _View(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("count", c_int64), ("components", c_int), ("type", c_int), ("stride", c_size_t)]


class _Phase(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("seconds", c_double)]


class _Solve(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("method", c_char_p), ("outcome", c_char_p), ("iterations", c_int),
                ("products", c_int64), ("factorizations", c_int64), ("certificate", c_double), ("target", c_double)]


class _Report(ctypes.Structure):
    _fields_ = [("step", c_int64), ("time", c_double), ("dt", c_double), ("retries", c_int), ("phases", c_int),
                ("solves", c_int), ("phase", _Phase * 16), ("solve", _Solve * 8), ("kinetic", c_double),
                ("potential", c_double), ("elastic", c_double), ("momentum", c_double * 3),
                ("angular_momentum", c_double * 3), ("contacts", c_int64), ("touching", c_int64),
                ("penetration", c_double), ("force_balance", c_double), ("liquid_volume", c_double),
                ("particle_volume", c_double), ("volume_error", c_double), ("particles", c_int64),
                ("escaped", c_int64), ("fastest", c_double), ("peak_bytes", c_size_t),
                ("momentum_unexplained", c_double * 3), ("angular_unexplained", c_double * 3),
                ("energy_unexplained", c_double)]


class _Progress(ctypes.Structure):
    _fields_ = [("frame", c_int64), ("frames", c_int64), ("report", POINTER(_Report)), ("seconds", c_double),
                ("seconds_left", c_double), ("phase", c_char_p)]


PROGRESS = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(_Progress))
SHARE = ctypes.CFUNCTYPE(c_int, c_void_p, c_double)


class _RunOptions(ctypes.Structure):
    _fields_ = [("folder", c_char_p), ("frames", c_int), ("resume", c_int), ("history", c_int),
                ("no_pictures", c_int), ("capture_step", c_int), ("scene", POINTER(_SceneOptions)),
                ("progress", PROGRESS), ("log", LOG), ("user", c_void_p)]


class _VerdictLine(ctypes.Structure):
    _fields_ = [("name", c_char * 16), ("value", c_double), ("limit", c_double), ("bad", c_int), ("refused", c_int),
                ("text", c_char * 400), ("remedy", c_char * 120)]


class _Verdict(ctypes.Structure):
    _fields_ = [("steps", c_int64), ("time", c_double), ("lines", c_int), ("bad", c_int), ("refused", c_int),
                ("line", _VerdictLine * 8)]


class _RunResult(ctypes.Structure):
    _fields_ = [("folder", c_char * 1024), ("picture", c_char * 1200), ("frames", c_int64), ("steps", c_int64),
                ("hash", c_uint64), ("verdict", _Verdict)]


class _RenderOptions(ctypes.Structure):
    _fields_ = [("width", c_int), ("height", c_int), ("samples", c_int), ("view", c_char_p), ("plain", c_int),
                ("sheet", c_int), ("turn", c_int), ("scene", POINTER(_SceneOptions)), ("progress", SHARE),
                ("user", c_void_p)]


# C type of each structure: the test compares sizes with the headers'.
STRUCTURES = {"talus_error": _Error, "talus_scene_options": _SceneOptions, "talus_sim_options": _SimOptions,
              "talus_view": _View, "talus_report": _Report, "talus_progress": _Progress,
              "talus_run_options": _RunOptions, "talus_run_result": _RunResult, "talus_verdict": _Verdict,
              "talus_render_options": _RenderOptions}

_ERR = POINTER(_Error)
_VEC = POINTER(c_double)
_FUNCTIONS = {
    "talus_version": (c_char_p, []),
    "talus_status_name": (c_char_p, [c_int]),
    "talus_threads": (c_int, []),
    "talus_threads_set": (None, [c_int]),
    "talus_scene_options_default": (_SceneOptions, []),
    "talus_scene_load": (c_int, [c_char_p, POINTER(_SceneOptions), POINTER(c_void_p), _ERR]),
    "talus_scene_load_text": (c_int, [c_char_p, c_char_p, POINTER(_SceneOptions), POINTER(c_void_p), _ERR]),
    "talus_scene_free": (None, [c_void_p]),
    "talus_scene_title": (c_char_p, [c_void_p]),
    "talus_scene_engine": (c_char_p, [c_void_p]),
    "talus_scene_duration": (c_double, [c_void_p]),
    "talus_scene_fps": (c_double, [c_void_p]),
    "talus_scene_count": (c_int, [c_void_p, c_int]),
    "talus_scene_body_name": (c_char_p, [c_void_p, c_int]),
    "talus_sim_create": (c_int, [c_void_p, POINTER(_SimOptions), POINTER(c_void_p), _ERR]),
    "talus_sim_free": (None, [c_void_p]),
    "talus_sim_step": (c_int, [c_void_p, c_double, _ERR]),
    "talus_sim_advance": (c_int, [c_void_p, c_double, _ERR]),
    "talus_cancel": (None, [c_int]),
    "talus_sim_time": (c_double, [c_void_p]),
    "talus_sim_steps": (c_int64, [c_void_p]),
    "talus_sim_hash": (c_uint64, [c_void_p]),
    "talus_sim_generation": (c_uint64, [c_void_p]),
    "talus_sim_view": (c_int, [c_void_p, c_char_p, POINTER(_View), _ERR]),
    "talus_sim_view_name": (c_char_p, [c_int]),
    "talus_sim_body": (c_int, [c_void_p, c_char_p]),
    "talus_sim_set_force": (c_int, [c_void_p, c_int, _VEC, _VEC, _ERR]),
    "talus_sim_set_handle": (c_int, [c_void_p, c_int, _VEC, _VEC, _ERR]),
    "talus_sim_set_cable": (c_int, [c_void_p, c_int, c_double, _ERR]),
    "talus_sim_set_pressure": (c_int, [c_void_p, c_int, c_double, _ERR]),
    "talus_sim_set_node_forces": (c_int, [c_void_p, c_int64, c_int64, _VEC, _ERR]),
    "talus_sim_set_velocity": (c_int, [c_void_p, c_int, _VEC, _VEC, _ERR]),
    "talus_sim_set_pose": (c_int, [c_void_p, c_int, _VEC, _VEC, _ERR]),
    "talus_sim_save": (c_int, [c_void_p, c_char_p, _ERR]),
    "talus_sim_restore": (c_int, [c_void_p, c_char_p, _ERR]),
    "talus_sim_report": (None, [c_void_p, POINTER(_Report)]),
    "talus_run_options_default": (_RunOptions, []),
    "talus_run_verdict": (c_int, [c_char_p, POINTER(_Verdict), _ERR]),
    "talus_run": (c_int, [c_char_p, POINTER(_RunOptions), POINTER(_RunResult), _ERR]),
    "talus_render_options_default": (_RenderOptions, []),
    "talus_render_file": (c_int, [c_char_p, c_char_p, POINTER(_RenderOptions), _ERR]),
    "talus_export": (c_int, [c_char_p, c_char_p, c_int, c_char_p, POINTER(_SceneOptions), _ERR]),
}


def _find_library():
    asked = os.environ.get("TALUS_LIBRARY")
    if asked:
        return asked
    here = Path(__file__).resolve().parent
    for base in (here.parent, *here.parents):
        for place in ("build/libtalus.so", "lib/libtalus.so", "lib64/libtalus.so", "lib/*/libtalus.so"):
            for found in base.glob(place):
                return str(found)
        if (base / "CMakeLists.txt").is_file():
            break
    return ctypes.util.find_library("talus") or "libtalus.so"


def _load():
    os.environ.setdefault("GOMP_SPINCOUNT", "2000")  # waiting threads sleep soon: see talus_program_start
    path = _find_library()
    try:
        library = ctypes.CDLL(path)
    except OSError as why:
        raise ImportError(f"cannot load {path} ({why}); build talus, or set TALUS_LIBRARY to its libtalus.so") from why
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


_lib = _load()


def _check(status, err):
    if status != 0:
        raise Error(_lib.talus_status_name(status).decode(), err.message.decode(errors="replace"))


def _path(path):
    return os.fsencode(path)


def _vector(values, count, what):
    """An array of doubles for C, or None."""
    if values is None:
        return None
    values = np.asarray(values, dtype=float)
    if values.shape != (count,):
        raise ValueError(f"{what} must be {count} numbers, got an array of shape {values.shape}")
    return (c_double * count)(*values)


def _setting(key, value):
    if isinstance(value, bool):
        value = "true" if value else "false"
    elif isinstance(value, (list, tuple, np.ndarray)):
        value = "{" + ", ".join(repr(float(v)) for v in value) + "}"
    return f"{key}={value}".encode()


def version():
    return _lib.talus_version().decode()


def threads(count=None):
    """Threads of parallel loops; with a count, sets it. Results do not depend on it."""
    if count is not None:
        _lib.talus_threads_set(count)
    return _lib.talus_threads()


def cancel(wanted=True):
    """Asks every simulation of this process to leave its step: step, advance and run then raise Error ("interrupted") with the
    simulation as it was before the step. From any thread. Stays asked for until cancel(False)."""
    _lib.talus_cancel(1 if wanted else 0)


# ---- scenes ---------------------------------------------------------------------------------------------


class _Reading:
    """Options for reading a scene, kept alive with what they point to; collects every problem."""

    def __init__(self, settings, size, driven, shapes):
        self.problems = []
        words = [_setting(k, v) for k, v in (settings or {}).items()]
        self.words = (c_char_p * len(words))(*words)
        self.callback = PROBLEM(self._problem)
        self.options = _lib.talus_scene_options_default()
        self.options.size = (size or "small").encode()
        self.options.settings = len(words)
        self.options.setting = self.words
        self.options.problem = self.callback
        self.options.driven = 1 if driven else 0
        self.shapes = _path(shapes) if shapes else None
        self.options.shapes_folder = self.shapes

    def _problem(self, user, file, line, note, text):
        if not note:
            where = f"{file.decode()}:{line}" if line > 0 else file.decode()
            self.problems.append(f"{where}: {text.decode(errors='replace')}")

    def check(self, status, err):
        if status != 0 and self.problems:
            raise Error(_lib.talus_status_name(status).decode(), "\n".join(self.problems))
        _check(status, err)


def _default_shapes():
    here = Path(__file__).resolve().parent
    for base in (here.parent / "scenes", here.parent / "share" / "talus" / "scenes", here / "scenes"):
        if (base / "shapes").is_dir():
            return base / "shapes"
    return None


class Scene:
    """A checked scene. `source` is a file's path, or the scene's own text when it has a newline or `text=True`.

    settings: {"height": 0.5, "bodies[2].density": 500}, as --set of the program. Kinematic bodies may come
    without a motion: Sim.set_pose moves them."""

    def __init__(self, source, settings=None, size="small", text=None, shapes=None):
        self._handle = c_void_p()
        source_text = os.fspath(source)
        if text is None:
            text = isinstance(source_text, str) and "\n" in source_text
        reading = _Reading(settings, size, True, shapes or _default_shapes())
        err = _Error()
        if text:
            status = _lib.talus_scene_load_text(source_text.encode(), b"scene", byref(reading.options),
                                                byref(self._handle), byref(err))
        else:
            status = _lib.talus_scene_load(_path(source), byref(reading.options), byref(self._handle), byref(err))
        reading.check(status, err)

    def __del__(self):
        if getattr(self, "_handle", None):
            _lib.talus_scene_free(self._handle)
            self._handle = None

    @property
    def title(self):
        return _lib.talus_scene_title(self._handle).decode()

    @property
    def engine(self):
        return _lib.talus_scene_engine(self._handle).decode()

    @property
    def duration(self):
        return _lib.talus_scene_duration(self._handle)

    @property
    def fps(self):
        return _lib.talus_scene_fps(self._handle)

    @property
    def bodies(self):
        """Names of the bodies, in order."""
        count = _lib.talus_scene_count(self._handle, 0)
        return [_lib.talus_scene_body_name(self._handle, i).decode() for i in range(count)]


# ---- simulations ----------------------------------------------------------------------------------------

_DTYPES = [np.float64, np.float32, np.int32, np.int64]


class View:
    """An array inside of the simulation, not copied. Once the simulation has moved on, it refuses to be read."""

    def __init__(self, sim, name):
        self._sim = sim
        self._name = name
        self._array, self._generation = sim._array(name)

    @property
    def array(self):
        if not self._sim._handle or _lib.talus_sim_generation(self._sim._handle) != self._generation:
            raise RuntimeError(f"the view of {self._name} is older than the simulation's state; ask for a new one")
        return self._array

    def __array__(self, dtype=None, copy=None):
        return np.array(self.array, dtype=dtype)

    def __getitem__(self, key):
        item = self.array[key]
        return item.copy() if isinstance(item, np.ndarray) else item

    def __len__(self):
        return len(self.array)


class Report(dict):
    """What happened in the last step: report["kinetic"], report["phases"]["solve"], report["solves"][0]["method"]."""


def _report(r):
    words = lambda text: text.decode() if text else ""
    out = Report()
    for name, _ in _Report._fields_:
        value = getattr(r, name)
        if name in ("phase", "solve", "phases", "solves"):
            continue
        out[name] = list(value) if isinstance(value, ctypes.Array) else value
    out["phases"] = {words(p.name): p.seconds for p in r.phase[:r.phases]}
    out["solves"] = [{k: words(getattr(s, k)) if isinstance(getattr(s, k), (bytes, type(None))) else getattr(s, k)
                      for k, _ in _Solve._fields_} for s in r.solve[:r.solves]]
    return out


class Sim:
    """A simulation of a scene. Use one from one thread at a time."""

    def __init__(self, scene, log=None):
        self._handle = c_void_p()
        self.scene = scene  # must live as long as the simulation
        options = _SimOptions()
        if log:
            self._log = LOG(lambda user, level, text: log(level, text.decode(errors="replace")))
            options.log = self._log
        err = _Error()
        _check(_lib.talus_sim_create(scene._handle, byref(options), byref(self._handle), byref(err)), err)

    def close(self):
        """Frees it now instead of when Python gets to it; views become unusable."""
        if getattr(self, "_handle", None):
            _lib.talus_sim_free(self._handle)
            self._handle = None

    __del__ = close

    def _alive(self):
        if not self._handle:
            raise RuntimeError("the simulation was closed")
        return self._handle

    def step(self, dt=0.0):
        """One step of dt, or shorter when accuracy asks for it; 0: as long as the engine wants. Returns the time."""
        err = _Error()
        _check(_lib.talus_sim_step(self._alive(), dt, byref(err)), err)
        return self.time

    def advance(self, time):
        """Steps until exactly this time."""
        err = _Error()
        _check(_lib.talus_sim_advance(self._alive(), time, byref(err)), err)

    @property
    def time(self):
        return _lib.talus_sim_time(self._alive())

    @property
    def steps(self):
        return _lib.talus_sim_steps(self._alive())

    @property
    def hash(self):
        """Of the whole state: equal states have equal hashes."""
        return _lib.talus_sim_hash(self._alive())

    def _array(self, name):
        view, err = _View(), _Error()
        _check(_lib.talus_sim_view(self._alive(), name.encode(), byref(view), byref(err)), err)
        dtype = np.dtype(_DTYPES[view.type])
        shape = (view.count,) if view.components == 1 else (view.count, view.components)
        generation = _lib.talus_sim_generation(self._handle)
        if view.count == 0:
            return np.empty(shape, dtype), generation
        size = (view.count - 1) * view.stride + view.components * dtype.itemsize
        memory = (c_char * size).from_address(view.data)
        strides = (view.stride, dtype.itemsize)[:len(shape)]
        array = np.ndarray(shape, dtype, memory, 0, strides)
        array.flags.writeable = False
        return array, generation

    def view(self, name, copy=True):
        """"bodies.position", "contacts.force", ... (see views) as an array; copy=False: a View into the simulation."""
        return self._array(name)[0].copy() if copy else View(self, name)

    @property
    def views(self):
        names, i = [], 0
        while (name := _lib.talus_sim_view_name(i)) is not None:
            names.append(name.decode())
            i += 1
        return names

    def body(self, name):
        """Index of a body by name, or the index itself."""
        if not isinstance(name, str):
            index = operator.index(name)
            if not 0 <= index < 2**31:
                raise IndexError(f"there is no body {index}")
            return index
        index = _lib.talus_sim_body(self._alive(), name.encode())
        if index < 0:
            raise KeyError(f"no body '{name}'")
        return index

    def set_force(self, body, force=None, torque=None):
        """Newtons at the centre of mass of a free body, newton metres; they stay until changed. None: zero."""
        err = _Error()
        _check(_lib.talus_sim_set_force(self._alive(), self.body(body), _vector(force, 3, "force"),
                                        _vector(torque, 3, "torque"), byref(err)), err)

    def set_node_forces(self, force=None, first=0):
        """Newtons on nodes first, first + 1, ... of elastic bodies, [count][3], in the order of the view
        "nodes.position"; they stay until changed. None: no forces on any node from `first` on."""
        nodes, err = len(self._array("nodes.position")[0]), _Error()
        first = operator.index(first)
        if force is None:
            pointer, count = None, max(nodes - first, 0)
        else:
            force = np.ascontiguousarray(force, dtype=np.float64)
            if force.ndim != 2 or force.shape[1] != 3:
                raise ValueError(f"force must have shape [count][3], got {list(force.shape)}")
            pointer, count = force.ctypes.data_as(_VEC), len(force)
        _check(_lib.talus_sim_set_node_forces(self._alive(), first, count, pointer, byref(err)), err)

    def set_pressure(self, body, pressure):
        """Pascals along the outward normals of an elastic body's surface (engine "lg"), on top of the scene's; they stay until changed."""
        err = _Error()
        _check(_lib.talus_sim_set_pressure(self._alive(), self.body(body), pressure, byref(err)), err)

    def set_velocity(self, body, velocity=None, spin=None):
        """Of a free body, m/s and rad/s. None: as it is."""
        err = _Error()
        _check(_lib.talus_sim_set_velocity(self._alive(), self.body(body), _vector(velocity, 3, "velocity"),
                                           _vector(spin, 3, "spin"), byref(err)), err)

    def set_pose(self, body, position=None, rotation=None):
        """Where a kinematic body is at the end of the next step; rotation w x y z. None: as it is."""
        err = _Error()
        _check(_lib.talus_sim_set_pose(self._alive(), self.body(body), _vector(position, 3, "position"),
                                       _vector(rotation, 4, "rotation"), byref(err)), err)

    def set_handle(self, handle, position=None, rotation=None):
        """Where a handle without a motion is at the end of the next step; rotation w x y z. None: as it is."""
        err = _Error()
        _check(_lib.talus_sim_set_handle(self._alive(), operator.index(handle), _vector(position, 3, "position"),
                                         _vector(rotation, 4, "rotation"), byref(err)), err)

    def set_cable(self, cable, length):
        """Length (m) of a cable whose length is not a function of time, from the next step on."""
        err = _Error()
        _check(_lib.talus_sim_set_cable(self._alive(), operator.index(cable), length, byref(err)), err)

    def save(self, path):
        err = _Error()
        _check(_lib.talus_sim_save(self._alive(), _path(path), byref(err)), err)

    def restore(self, path):
        err = _Error()
        _check(_lib.talus_sim_restore(self._alive(), _path(path), byref(err)), err)

    @property
    def report(self):
        r = _Report()
        _lib.talus_sim_report(self._alive(), byref(r))
        return _report(r)


# ---- runs and pictures ----------------------------------------------------------------------------------


class _Callback:
    """A Python function behind a C callback: an exception in it stops the work and is raised afterwards."""

    def __init__(self, function):
        self.function = function
        self.raised = None

    def __call__(self, *arguments):
        try:
            return 1 if self.function(*arguments) else 0
        except BaseException as why:  # KeyboardInterrupt too
            self.raised = why
            return 1


def run(scene, folder=None, settings=None, size="small", frames=0, resume=False, pictures=True, progress=None,
        log=None):
    """Runs a scene file into a folder of frames, tables, checkpoints and pictures, as `talus run` does.

    progress(frame, frames, report) is called after every step; a true result stops. Returns a dict: folder,
    picture, frames, steps, hash."""
    reading = _Reading(settings, size, False, _default_shapes())
    options = _lib.talus_run_options_default()
    options.scene = ctypes.pointer(reading.options)
    options.folder = _path(folder) if folder else None
    options.frames = frames
    options.resume = 1 if resume else 0
    options.no_pictures = 0 if pictures else 1
    tell = progress or (lambda frame, frames, report: False)
    guard = _Callback(lambda user, p: tell(p.contents.frame, p.contents.frames,
                                           _report(p.contents.report.contents) if p.contents.report else None))
    options.progress = PROGRESS(guard)
    if log:
        options.log = LOG(lambda user, level, text: log(level, text.decode(errors="replace")))
    result, err = _RunResult(), _Error()
    status = _lib.talus_run(_path(scene), byref(options), byref(result), byref(err))
    if guard.raised:
        raise guard.raised
    reading.check(status, err)
    return {"folder": result.folder.decode(), "picture": result.picture.decode(), "frames": result.frames,
            "steps": result.steps, "hash": result.hash, "verdict": _verdict(result.verdict)}


def _verdict(v):
    lines = {}
    for line in v.line[:v.lines]:
        lines[line.name.decode()] = {"value": line.value, "limit": line.limit, "good": not (line.bad or line.refused),
                                     "text": line.text.decode(), "remedy": line.remedy.decode()}
    return {"steps": v.steps, "time": v.time, "good": v.bad == 0, "refused": v.refused > 0, "lines": lines}


def verdict(folder):
    """How good the answer of a run is, finished or not: a line each for solves, momentum, energy, volume,
    penetration and what escaped."""
    found, err = _Verdict(), _Error()
    _check(_lib.talus_run_verdict(_path(folder), byref(found), byref(err)), err)
    return _verdict(found)


def render(source, output, settings=None, size="small", width=0, height=0, samples=0, view=None):
    """A picture of a scene's start, a shape or a mesh file, to a PNG."""
    reading = _Reading(settings, size, True, _default_shapes())
    options = _lib.talus_render_options_default()
    options.scene = ctypes.pointer(reading.options)
    options.width, options.height, options.samples = width, height, samples
    options.view = view.encode() if view else None
    err = _Error()
    reading.check(_lib.talus_render_file(_path(source), _path(output), byref(options), byref(err)), err)


def export(folder, output, format="ply", frame=-1):
    """Surfaces of bodies of a run's frame (negative: all) to files: ply, obj or vtk."""
    reading = _Reading(None, "small", False, _default_shapes())
    err = _Error()
    reading.check(_lib.talus_export(_path(folder), format.encode(), frame, _path(output), byref(reading.options),
                                    byref(err)), err)
