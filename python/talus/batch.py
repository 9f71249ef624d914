"""Many simulations at once, in worker processes with shared memory."""

from __future__ import annotations

import os
from multiprocessing.shared_memory import SharedMemory
from types import TracebackType
from typing import Any, Callable, Mapping, Optional, Sequence, Type, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._library import lib
from ._workers import Crew, share_out
from .scene import Scene, Settings
from .sim import Array, Body, Report, Sim


def generator(seed: int, index: int = 0) -> np.random.Generator:
    """Random numbers of one member of many: counter-based, so they depend on seed and index alone."""
    return np.random.Generator(np.random.Philox(key=np.array([seed, index], dtype=np.uint64)))


class _Block:
    """Shared memory of one view: [count][...] of a type."""

    def __init__(self, shape: tuple[int, ...], dtype: Any, name: Optional[str] = None) -> None:
        size = max(1, int(np.prod(shape)) * np.dtype(dtype).itemsize)
        self.memory = SharedMemory(name=name, create=name is None, size=size)
        self.shape, self.dtype, self.owner = shape, np.dtype(dtype), name is None
        self.array: Optional[Array] = np.ndarray(shape, dtype, self.memory.buf)

    def close(self) -> None:
        self.array = None
        self.memory.close()
        if self.owner:
            self.memory.unlink()


class _Server:
    """The simulations of one worker."""

    def __init__(self, members: range, scenes: Sequence[Any], settings: Sequence[Settings], size: str) -> None:
        self.members = members
        self.sims = [Sim(Scene(scene, chosen, size)) for scene, chosen in zip(scenes, settings)]
        self.blocks: dict[str, _Block] = {}

    def step(self, dt: Sequence[float]) -> list[float]:
        return [sim.step(each) for sim, each in zip(self.sims, dt)]

    def advance(self, time: Sequence[float]) -> None:
        for sim, each in zip(self.sims, time):
            sim.advance(each)

    def get(self, name: str) -> list[Any]:
        return [getattr(sim, name) for sim in self.sims]

    def each(self, method: str, given: Sequence[tuple[Any, ...]]) -> list[Any]:
        return [getattr(sim, method)(*arguments) for sim, arguments in zip(self.sims, given)]

    def call(self, function: Callable[..., Any], given: tuple[Any, ...]) -> list[Any]:
        return [function(sim, *given) for sim in self.sims]

    def view(self, name: str, block: Optional[tuple[str, tuple[int, ...], str]]) -> list[tuple[tuple[int, ...], str]]:
        """Into shared memory when there is some and it fits; the shapes and types in any case."""
        arrays = [sim._array(name) for sim in self.sims]
        forms = [(array.shape, array.dtype.str) for array in arrays]
        if block and all(form == (block[1][1:], block[2]) for form in forms):
            known = self.blocks.get(name)
            if not known or known.memory.name != block[0]:
                if known:
                    known.close()
                known = self.blocks[name] = _Block(block[1], block[2], block[0])
            assert known.array is not None
            for member, array in zip(self.members, arrays):
                known.array[member] = array
        return forms


class Batch:
    """Many simulations in worker processes, with the interface of Sim: arrays get one more axis, the member, in front.

    scene: what Scene takes (not a Scene itself is needed, but it may be one), for all; or a list, one per member.
    count: how many; not needed with a list of scenes or settings.
    settings: for all members, or a list with those of each.
    seed: every member gets a key `seed` of its own from it (engines "grid" and "sph"); None: that of the scene.
    workers: processes; None: as many as cores. Results do not depend on it.

    Scripts that make one need `if __name__ == "__main__":`, because workers are spawned.
    """

    def __init__(self, scene: Any, count: Optional[int] = None,
                 settings: Union[Settings, Sequence[Settings], None] = None, size: str = "small",
                 seed: Optional[int] = None, workers: Optional[int] = None) -> None:
        """See the class."""
        lists = [len(x) for x in (scene, settings) if isinstance(x, (list, tuple))]
        self.count = count if count is not None else lists[0] if lists else 1
        if self.count < 1 or any(length != self.count for length in lists):
            raise ValueError(f"scenes and settings must be {self.count} each, got {lists}")
        scenes = list(scene) if isinstance(scene, (list, tuple)) else [scene] * self.count
        chosen: list[Settings] = [_settings(settings, seed, i) for i in range(self.count)]
        parts = share_out(self.count, min(self.count, workers or os.cpu_count() or 1))
        self._blocks: dict[str, _Block] = {}
        self._parts = parts
        self._crew = Crew(_Server, [(part, [_source(scenes[i]) for i in part], [chosen[i] for i in part], size)
                                    for part in parts])

    def __len__(self) -> int:
        """Members."""
        return self.count

    def close(self) -> None:
        """Ends the workers and gives the memory back."""
        for block in self.__dict__.pop("_blocks", {}).values():
            block.close()
        self._blocks = {}
        if hasattr(self, "_crew"):
            self._crew.close()

    def __del__(self) -> None:
        """As close."""
        self.close()

    def __enter__(self) -> Batch:
        """Itself."""
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        """As close."""
        self.close()

    # ---- all members at once ----

    def _split(self, values: Sequence[Any]) -> list[tuple[list[Any]]]:
        return [([values[i] for i in part],) for part in self._parts]

    def _numbers(self, value: ArrayLike) -> list[float]:
        return [float(v) for v in np.broadcast_to(np.asarray(value, dtype=float), (self.count,))]

    def step(self, dt: ArrayLike = 0.0) -> NDArray[np.float64]:
        """A step of every member; dt for all or one each. Returns their times."""
        return np.array([t for part in self._crew.ask("step", each=self._split(self._numbers(dt))) for t in part])

    def advance(self, time: ArrayLike) -> None:
        """Every member to this time, for all or one each."""
        self._crew.ask("advance", each=self._split(self._numbers(time)))

    def _get(self, name: str) -> list[Any]:
        return [value for part in self._crew.ask("get", name) for value in part]

    @property
    def time(self) -> NDArray[np.float64]:
        """Simulated seconds, [count]."""
        return np.array(self._get("time"))

    @property
    def steps(self) -> NDArray[np.int64]:
        """Steps that were made, [count]."""
        return np.array(self._get("steps"), dtype=np.int64)

    @property
    def hash(self) -> list[int]:
        """Of the whole state of each."""
        return self._get("hash")

    @property
    def report(self) -> list[Report]:
        """What happened in the last step of each."""
        return self._get("report")

    def call(self, function: Callable[..., Any], *given: Any) -> list[Any]:
        """function(sim, *given) for every member, in the workers; what it returns. It must be defined in a module."""
        return [value for part in self._crew.ask("call", function, given) for value in part]

    def view(self, name: str) -> Array:
        """[count][...]: the view of every member, from shared memory; a copy. All must have as many entries: for
        contacts and the like, which differ, use call."""
        block = self._blocks.get(name)
        while True:
            told = (block.memory.name, block.shape, block.dtype.str) if block else None
            forms = [form for part in self._crew.ask("view", name, told) for form in part]
            if any(form != forms[0] for form in forms):
                raise ValueError(f"{name} has another length in each member: {sorted({form[0][0] for form in forms})}")
            shape, dtype = (self.count, *forms[0][0]), np.dtype(forms[0][1])
            if block and (block.shape, block.dtype) == (shape, dtype):
                assert block.array is not None
                return block.array.copy()
            if block:
                block.close()
            block = self._blocks[name] = _Block(shape, dtype)

    # ---- pushing: one value for all members, or one each ----

    def _each(self, method: str, *given: Any) -> None:
        self._crew.ask("each", each=[(method, arguments[0]) for arguments in self._split(list(zip(*given)))])

    def _spread(self, value: Optional[ArrayLike], *shape: int) -> Sequence[Any]:
        if value is None:
            return [None] * self.count
        return list(np.broadcast_to(np.asarray(value, dtype=float), (self.count, *shape)))

    def set_force(self, body: Body, force: Optional[ArrayLike] = None, torque: Optional[ArrayLike] = None) -> None:
        """As Sim.set_force; force and torque [3] or [count][3]."""
        self._each("set_force", [body] * self.count, self._spread(force, 3), self._spread(torque, 3))

    def set_velocity(self, body: Body, velocity: Optional[ArrayLike] = None, spin: Optional[ArrayLike] = None) -> None:
        """As Sim.set_velocity; [3] or [count][3]."""
        self._each("set_velocity", [body] * self.count, self._spread(velocity, 3), self._spread(spin, 3))

    def set_pose(self, body: Body, position: Optional[ArrayLike] = None, rotation: Optional[ArrayLike] = None) -> None:
        """As Sim.set_pose; [3] or [count][3], rotation [4] or [count][4]."""
        self._each("set_pose", [body] * self.count, self._spread(position, 3), self._spread(rotation, 4))

    def set_handle(self, handle: int, position: Optional[ArrayLike] = None,
                   rotation: Optional[ArrayLike] = None) -> None:
        """As Sim.set_handle; [3] or [count][3], rotation [4] or [count][4]."""
        self._each("set_handle", [handle] * self.count, self._spread(position, 3), self._spread(rotation, 4))

    def set_cable(self, cable: int, length: ArrayLike) -> None:
        """As Sim.set_cable; one length or [count]."""
        self._each("set_cable", [cable] * self.count, self._numbers(length))

    def set_motor(self, joint: Union[str, int], target: ArrayLike) -> None:
        """As Sim.set_motor; one target or [count]."""
        self._each("set_motor", [joint] * self.count, self._numbers(target))

    def set_pressure(self, body: Body, pressure: ArrayLike) -> None:
        """As Sim.set_pressure; one pressure or [count]."""
        self._each("set_pressure", [body] * self.count, self._numbers(pressure))

    def set_node_forces(self, force: Optional[ArrayLike] = None, first: int = 0) -> None:
        """As Sim.set_node_forces; force [nodes][3] for all or [count][nodes][3]."""
        shape = np.shape(force)[-2:] if force is not None else ()
        self._each("set_node_forces", self._spread(force, *shape), [first] * self.count)

    def save_bytes(self) -> list[bytes]:
        """As Sim.save_bytes, of each."""
        return [data for part in self._crew.ask("each", each=[("save_bytes", [()] * len(p)) for p in self._parts])
                for data in part]

    def restore_bytes(self, data: Sequence[bytes]) -> None:
        """As Sim.restore_bytes, one for each."""
        self._each("restore_bytes", list(data))

    def save(self, paths: Sequence[Any]) -> None:
        """As Sim.save; a path each."""
        self._each("save", list(paths))

    def restore(self, paths: Sequence[Any]) -> None:
        """As Sim.restore; a path each."""
        self._each("restore", list(paths))


def _source(scene: Any) -> Any:
    """What a worker can read again."""
    if isinstance(scene, Scene):
        if scene._origin[2] or scene._origin[3] != "small":
            raise TypeError("give a Batch the source of a scene, and the settings to the Batch")
        return scene.text if scene.text is not None else scene.path
    return scene


def _settings(settings: Union[Settings, Sequence[Settings], None], seed: Optional[int], member: int) -> Settings:
    own = settings[member] if isinstance(settings, (list, tuple)) else settings
    if own is not None and not isinstance(own, Mapping):
        raise TypeError(f"settings are dicts, got {own!r}")
    if seed is None:
        return dict(own or {})
    return {"seed": int(generator(seed, member).integers(1, 2**31)), **(own or {})}


def samples(ranges: Mapping[str, tuple[float, float]], count: int, how: str = "latin",
            seed: int = 1) -> list[dict[str, float]]:
    """Settings for many runs: `count` samples of the ranges, "random" or "latin" (a Latin hypercube). Seed, key's place
    and sample decide: the numbers are those of `talus run --sample`."""
    if how not in ("random", "latin"):
        raise ValueError(f"samples are 'random' or 'latin', got '{how}'")

    def unit(axis: int, i: int) -> float:
        if how == "random":
            return float(lib.talus_sample_random(seed, axis, i))
        return float(lib.talus_sample_latin(seed, axis, i, count))

    return [{key: low + unit(axis, i) * (high - low) for axis, (key, (low, high)) in enumerate(ranges.items())}
            for i in range(count)]
