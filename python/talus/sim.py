"""Simulations: step, look at arrays, push, save; and reports of what happened in a step."""

from __future__ import annotations

import ctypes
import operator
from ctypes import byref, c_char, c_double, c_int, c_int64, c_void_p
from types import TracebackType
from typing import Any, Callable, Literal, NamedTuple, Optional, SupportsIndex, Type, Union, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._library import (LOG, STEP, VEC, CCost, CReport, CSolve, CView, CViewInfo, PathLike, SimOptions, call, check, compute, lib,
                       path_of, text_of)
from .scene import Scene, Settings, scene_of

Array = NDArray[Any]
Body = Union[str, SupportsIndex]
Log = Callable[[int, str], None]
Step = Callable[["Sim"], None]

_DTYPES = [np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.int32), np.dtype(np.int64)]


class View:
    """An array inside of the simulation, not copied. Once the simulation has moved on, it refuses to be read."""

    def __init__(self, sim: Sim, name: str) -> None:
        """Of a simulation, by name."""
        self._sim = sim
        self._name = name
        self._array = sim._array(name)
        self._generation = sim.generation

    @property
    def array(self) -> Array:
        """The array itself, read-only. It must not be kept beyond the next step."""
        if not self._sim._handle or self._sim.generation != self._generation:
            raise RuntimeError(f"the view of {self._name} is older than the simulation's state; ask for a new one")
        return self._array

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Array:
        """A copy, for NumPy's functions."""
        return np.array(self.array, dtype=dtype)

    def __getitem__(self, key: Any) -> Any:
        """A copy of what is asked for."""
        item = self.array[key]
        return item.copy() if isinstance(item, np.ndarray) else item

    def __len__(self) -> int:
        """Entries."""
        return len(self.array)


class Report(dict[str, Any]):
    """What happened in the last step: report["kinetic"], report["phases"]["solve"], report["solves"][0]["method"]."""


def report_of(r: CReport) -> Report:
    """A report of the library's as a dict."""
    out = Report()
    for name in (field[0] for field in CReport._fields_):
        value = getattr(r, name)
        if name not in ("phase", "solve", "phases", "solves"):
            out[name] = list(value) if isinstance(value, ctypes.Array) else value
    out["phases"] = {text_of(p.name): p.seconds for p in r.phase[:r.phases]}
    out["solves"] = [{key: _plain(getattr(s, key)) for key in (field[0] for field in CSolve._fields_)}
                     for s in r.solve[:r.solves]]
    return out


def _plain(value: Any) -> Any:
    return text_of(value) if isinstance(value, (bytes, type(None))) else value


def _vector(values: Optional[ArrayLike], count: int, what: str) -> Any:
    """An array of doubles for C, or None."""
    if values is None:
        return None
    array = np.asarray(values, dtype=float)
    if array.shape != (count,):
        raise ValueError(f"{what} must be {count} numbers, got an array of shape {array.shape}")
    return (c_double * count)(*array.tolist())


def _doubles(values: ArrayLike, shape: tuple[int, ...], what: str) -> Array:
    """Contiguous, of a shape in which -1 stands for any number."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != len(shape) or any(want not in (-1, have) for want, have in zip(shape, array.shape)):
        raise ValueError(f"{what} must have shape {list(shape)}, got {list(array.shape)}")
    return array


def _pointer(array: Optional[Array]) -> Any:
    return None if array is None else array.ctypes.data_as(VEC)


class Cost(NamedTuple):
    """What there is, and what the rest of a scene's duration will cost on this machine."""

    particles: int
    cells: int  #: of a grid, with a particle in them
    nodes: int
    elements: int
    bodies: int
    bytes: int  #: of the state and of a step
    dt: float
    steps: float  #: to the end
    seconds_per_step: float
    seconds: float  #: by the clock, all steps together
    at_least: bool  #: a step was interrupted: it takes longer than that


class ViewInfo(NamedTuple):
    """What is known about a view, from the library's own table (docs/views.md)."""

    name: str
    unit: str  #: "" of whole numbers and shares
    help: str
    engines: str  #: "all", "grid, sph": where it can have rows
    frame: str  #: the same numbers in frames/: "particles: velocity"; "": not there
    dtype: Any
    components: int
    computed: bool  #: made when it is looked at; else it lies in the state


def views() -> dict[str, ViewInfo]:
    """Every view of every engine by name."""
    found: dict[str, ViewInfo] = {}
    info = CViewInfo()
    while lib.talus_view_info_at(len(found), byref(info)):
        name = text_of(info.name)
        found[name] = ViewInfo(name, text_of(info.unit), text_of(info.help), text_of(info.engines), text_of(info.frame),
                               _DTYPES[info.type], info.components, bool(info.computed))
    return found


class Sim:
    """A simulation of a scene. Use one from one thread at a time; in a `with` it is freed at the end.

    scene: a Scene, or what Scene takes: a path, a name, a text, a dict.
    log(level, text) hears warnings (0), notes (1) and details (2).
    """

    scene: Scene

    def __init__(self, scene: Any, settings: Optional[Settings] = None, size: str = "small",
                 log: Optional[Log] = None) -> None:
        """See the class; settings and size are those of a scene that is read here."""
        self._handle: Optional[c_void_p] = None
        self._forget_callbacks()
        self.scene = scene_of(scene, settings, size)  # must live as long as the simulation
        options = SimOptions()
        self._log: Any = None
        if log:
            tell = log
            self._log = LOG(lambda user, level, text: tell(level, text_of(text)))
            options.log = self._log
        handle = c_void_p()
        check(*compute(lib.talus_sim_create, self.scene._handle, byref(options), byref(handle)))
        self._handle = handle

    def close(self) -> None:
        """Frees it now instead of when Python gets to it; views become unusable."""
        if getattr(self, "_handle", None):
            lib.talus_sim_free(self._handle)
            self._handle = None

    def __del__(self) -> None:
        """Frees it."""
        self.close()

    def __enter__(self) -> Sim:
        """Itself."""
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        """Frees it."""
        self.close()

    def _alive(self) -> c_void_p:
        if self._handle is None:
            raise RuntimeError("the simulation was closed")
        return self._handle

    def clone(self) -> Sim:
        """Another one in the same state, of the same scene, which goes its own way."""
        handle = c_void_p()
        call(lib.talus_sim_clone, self._alive(), byref(handle))
        other = Sim.__new__(Sim)
        other._forget_callbacks()
        other.scene, other._handle = self.scene, handle
        other._log = self._log  # the clone tells the same listener, which must live as long
        return other

    # ---- time ----

    def _forget_callbacks(self) -> None:
        self._calls: tuple[Any, Any] = (STEP(0), STEP(0))
        self._raised: Optional[BaseException] = None

    def _callback(self, function: Optional[Step]) -> Any:
        if function is None:
            return STEP(0)
        wanted = function

        def run(user: Any, sim: Any) -> int:
            try:
                wanted(self)
            except BaseException as error:  # goes on in step or advance
                self._raised = error
                return 1
            return 0

        return STEP(run)

    def on_step(self, before: Optional[Step] = None, after: Optional[Step] = None) -> None:
        """Functions that are called with the simulation before and after every step, those within advance too; None:
        none. They may look and drive, but not step, restore, change materials, or add and remove bodies. What they
        raise ends the call in progress, before or after that step, and is raised there."""
        calls = (self._callback(before), self._callback(after))
        call(lib.talus_sim_on_step, self._alive(), calls[0], calls[1], None)
        self._calls = calls

    def _compute(self, function: Any, argument: float) -> None:
        self._raised = None
        status, err = compute(function, self._alive(), argument)
        if self._raised is not None:
            error, self._raised = self._raised, None
            raise error
        if status:
            check(status, err)

    def cost(self) -> Cost:
        """Counts, and times two steps that are undone: see Cost. Ctrl-C ends it with what is known."""
        cost = CCost()
        check(*compute(lib.talus_sim_cost, self._alive(), byref(cost)))
        values = {name: getattr(cost, name) for name in Cost._fields}
        return Cost(**{**values, "at_least": bool(cost.at_least)})

    def step(self, dt: float = 0.0) -> float:
        """One step of dt, or shorter when accuracy asks for it; 0: as long as the engine wants. Returns the time."""
        self._compute(lib.talus_sim_step, dt)
        return float(lib.talus_sim_time(self._alive()))

    def cancel(self, wanted: bool = True) -> None:
        """Asks this simulation to leave its step, from another thread: step and advance then raise Error
        ("interrupted"). Stays asked for until cancel(False)."""
        lib.talus_sim_cancel(self._alive(), 1 if wanted else 0)

    def advance(self, time: float) -> None:
        """Steps until exactly this time. Ctrl-C ends it with the simulation at its last good step."""
        self._compute(lib.talus_sim_advance, time)

    @property
    def time(self) -> float:
        """Simulated seconds."""
        return float(lib.talus_sim_time(self._alive()))

    @property
    def steps(self) -> int:
        """Steps that were made."""
        return int(lib.talus_sim_steps(self._alive()))

    @property
    def hash(self) -> int:
        """Of the whole state: equal states have equal hashes."""
        return int(lib.talus_sim_hash(self._alive()))

    @property
    def generation(self) -> int:
        """Goes up whenever views may have become stale."""
        return int(lib.talus_sim_generation(self._alive()))

    @property
    def report(self) -> Report:
        """What happened in the last step."""
        r = CReport()
        lib.talus_sim_report(self._alive(), byref(r))
        return report_of(r)

    # ---- looking ----

    def _array(self, name: str) -> Array:
        view = CView()
        call(lib.talus_sim_view, self._alive(), name.encode(), byref(view))
        dtype = _DTYPES[view.type]
        shape = (view.count,) if view.components == 1 else (view.count, view.components)
        if view.count == 0:
            return np.empty(shape, dtype)
        size = (view.count - 1) * view.stride + view.components * dtype.itemsize
        memory = (c_char * size).from_address(view.data)
        strides = (view.stride, dtype.itemsize)[:len(shape)]
        array: Array = np.ndarray(shape, dtype, memory, 0, strides)
        array.flags.writeable = False
        return array

    @overload
    def view(self, name: str, copy: Literal[True] = True) -> Array: ...
    @overload
    def view(self, name: str, copy: Literal[False]) -> View: ...

    def view(self, name: str, copy: bool = True) -> Union[Array, View]:
        """ "bodies.position", "contacts.force", ... (see views) as an array of its own; copy=False: a View into the
        simulation, good until the next step."""
        return self._array(name).copy() if copy else View(self, name)

    @property
    def views(self) -> list[str]:
        """Names of all views, of every engine."""
        names: list[str] = []
        while (name := lib.talus_sim_view_name(len(names))) is not None:
            names.append(text_of(name))
        return names

    def body(self, name: Body) -> int:
        """Index of a body by name, or the index itself."""
        if not isinstance(name, str):
            index = operator.index(name)
            if not 0 <= index < 2**31:
                raise IndexError(f"there is no body {index}")
            return index
        index = int(lib.talus_sim_body(self._alive(), name.encode()))
        if index < 0:
            raise KeyError(f"no body '{name}'")
        return index

    # ---- pushing ----

    def set_force(self, body: Body, force: Optional[ArrayLike] = None, torque: Optional[ArrayLike] = None) -> None:
        """Newtons at the centre of mass of a free body, newton metres; they stay until changed. None: zero."""
        call(lib.talus_sim_set_force, self._alive(), self.body(body), _vector(force, 3, "force"),
             _vector(torque, 3, "torque"))

    def set_node_forces(self, force: Optional[ArrayLike] = None, first: int = 0) -> None:
        """Newtons on nodes first, first + 1, ... of elastic bodies, [count][3], in the order of the view
        "nodes.position"; they stay until changed. None: no forces on any node from `first` on."""
        first = operator.index(first)
        if force is None:
            call(lib.talus_sim_set_node_forces, self._alive(), first,
                 max(len(self._array("nodes.position")) - first, 0), None)
            return
        array = np.ascontiguousarray(force, dtype=np.float64)
        if array.ndim != 2 or array.shape[1] != 3:
            raise ValueError(f"force must have shape [count][3], got {list(array.shape)}")
        call(lib.talus_sim_set_node_forces, self._alive(), first, len(array), array.ctypes.data_as(VEC))

    def set_pressure(self, body: Body, pressure: float) -> None:
        """Pascals along the outward normals of an elastic body's surface (engine "lg"), on top of the scene's; they
        stay until changed."""
        call(lib.talus_sim_set_pressure, self._alive(), self.body(body), pressure)

    def set_velocity(self, body: Body, velocity: Optional[ArrayLike] = None, spin: Optional[ArrayLike] = None) -> None:
        """Of a free body, m/s and rad/s. None: as it is."""
        call(lib.talus_sim_set_velocity, self._alive(), self.body(body), _vector(velocity, 3, "velocity"),
             _vector(spin, 3, "spin"))

    def set_pose(self, body: Body, position: Optional[ArrayLike] = None, rotation: Optional[ArrayLike] = None) -> None:
        """Where a kinematic body is at the end of the next step; rotation w x y z. None: as it is."""
        call(lib.talus_sim_set_pose, self._alive(), self.body(body), _vector(position, 3, "position"),
             _vector(rotation, 4, "rotation"))

    def set_handle(self, handle: SupportsIndex, position: Optional[ArrayLike] = None,
                   rotation: Optional[ArrayLike] = None) -> None:
        """Where a handle without a motion is at the end of the next step; rotation w x y z. None: as it is."""
        call(lib.talus_sim_set_handle, self._alive(), operator.index(handle), _vector(position, 3, "position"),
             _vector(rotation, 4, "rotation"))

    def set_cable(self, cable: SupportsIndex, length: float) -> None:
        """Length (m) of a cable whose length is not a function of time, from the next step on."""
        call(lib.talus_sim_set_cable, self._alive(), operator.index(cable), length)

    def joint(self, name: Union[str, SupportsIndex]) -> int:
        """Index of a joint by name, or the index itself."""
        if not isinstance(name, str):
            return operator.index(name)
        index = int(lib.talus_sim_joint(self._alive(), name.encode()))
        if index < 0:
            raise KeyError(f"no joint '{name}'")
        return index

    def set_motor(self, joint: Union[str, SupportsIndex], target: Optional[float]) -> None:
        """What the motor of a joint is to reach or push with, in the units of the scene's motor; None: the scene's."""
        call(lib.talus_sim_set_motor, self._alive(), self.joint(joint), float("nan") if target is None else target)

    def place(self, body: Body, position: Optional[ArrayLike] = None, rotation: Optional[ArrayLike] = None) -> None:
        """Puts a free rigid body somewhere else at once; velocities stay. None: as it is."""
        call(lib.talus_sim_place, self._alive(), self.body(body), _vector(position, 3, "position"),
             _vector(rotation, 4, "rotation"))

    def set_friction(self, body: Body, friction: float) -> None:
        """Coulomb friction of a body, for pairs that the scene says nothing about; negative: the scene's again."""
        call(lib.talus_sim_set_friction, self._alive(), self.body(body), friction)

    def set_gravity(self, gravity: ArrayLike) -> None:
        """m/s^2, from the next step on."""
        call(lib.talus_sim_set_gravity, self._alive(), _vector(gravity, 3, "gravity"))

    def set_rate(self, emitter: SupportsIndex, rate: float) -> None:
        """Of an emitter, m^3/s, while it is open; negative: the scene's again."""
        call(lib.talus_sim_set_rate, self._alive(), operator.index(emitter), rate)

    def set_material(self, material: Union[str, SupportsIndex], key: str, value: float) -> None:
        """A number of a material by its key in the scene: "friction_angle_deg", "viscosity", "young", ... Costs as much
        as making the simulation."""
        call(lib.talus_sim_set_material, self._alive(), self.material(material), key.encode(), value)

    def material(self, name: Union[str, SupportsIndex]) -> int:
        """Index of a material by name, or the index itself."""
        if not isinstance(name, str):
            return operator.index(name)
        index = int(lib.talus_sim_material(self._alive(), name.encode()))
        if index < 0:
            raise KeyError(f"no material '{name}'")
        return index

    # ---- what comes and goes ----

    def add_body(self, like: Body, position: Optional[ArrayLike] = None, rotation: Optional[ArrayLike] = None,
                 velocity: Optional[ArrayLike] = None, spin: Optional[ArrayLike] = None) -> int:
        """A copy of a body, as the last one; returns its index. An elastic one begins undeformed, with the anchor of the
        one that it is a copy of but none of its handles, cables and joins. Costs as much as making the simulation."""
        index = c_int()
        call(lib.talus_sim_add_body, self._alive(), self.body(like), _vector(position, 3, "position"),
             _vector(rotation, 4, "rotation"), _vector(velocity, 3, "velocity"), _vector(spin, 3, "spin"), byref(index))
        return index.value

    def remove_body(self, body: Body) -> None:
        """A body leaves; those after it move up by one. What a joint, a handle, a cable or a join holds cannot."""
        call(lib.talus_sim_remove_body, self._alive(), self.body(body))

    def add_particles(self, material: Union[str, SupportsIndex], position: ArrayLike,
                      velocity: Optional[ArrayLike] = None, volume: Optional[ArrayLike] = None) -> int:
        """Particles of a material that the scene fills or emits: position and velocity [count][3], volume [count];
        None: at rest, with the volume of the others. Returns the id of the first; the others follow."""
        places = _doubles(position, (-1, 3), "position")
        count, first = len(places), c_int64()
        speeds = None if velocity is None else _doubles(velocity, (count, 3), "velocity")
        volumes = None if volume is None else _doubles(volume, (count,), "volume")
        call(lib.talus_sim_add_particles, self._alive(), self.material(material), count, _pointer(places),
             _pointer(speeds), _pointer(volumes), byref(first))
        return first.value

    def remove_particles(self, ids: ArrayLike) -> None:
        """Those with these ids leave, each of which must be there."""
        array = np.ascontiguousarray(ids, dtype=np.int32).ravel()
        call(lib.talus_sim_remove_particles, self._alive(), len(array),
             array.ctypes.data_as(ctypes.POINTER(ctypes.c_int32)))

    # ---- saving ----

    def save_bytes(self) -> bytes:
        """The whole state, for restore_bytes of the same scene and build."""
        room = int(lib.talus_sim_bytes(self._alive()))
        out = ctypes.create_string_buffer(room)
        call(lib.talus_sim_save_bytes, self._alive(), out, room)
        return out.raw

    def restore_bytes(self, data: bytes) -> None:
        """The state that save_bytes gave."""
        call(lib.talus_sim_restore_bytes, self._alive(), data, len(data))

    def save(self, path: PathLike) -> None:
        """The whole state to one file, complete or absent."""
        call(lib.talus_sim_save, self._alive(), path_of(path))

    def restore(self, path: PathLike) -> None:
        """The state of a file, made by a simulation of the same scene."""
        call(lib.talus_sim_restore, self._alive(), path_of(path))

