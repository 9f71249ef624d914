"""Environments for learning: the method names and results of Gymnasium, without depending on it.

An Env is one world: reset, step, close. A VectorEnv is many of them in worker processes; arrays get one more axis in
front and lie in shared memory. Seeds decide everything: the number of workers does not change a bit.
"""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any, Callable, Optional, Type

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._workers import _CONTEXT, Crew, share_out
from .batch import generator
from .scene import Scene
from .sim import Sim

Floats = NDArray[np.float64]
Info = dict[str, Any]


class Box:
    """A space of real vectors between bounds."""

    def __init__(self, low: ArrayLike, high: ArrayLike, shape: tuple[int, ...]) -> None:
        """Bounds broadcast to the shape."""
        self.shape = shape
        self.dtype = np.dtype(np.float64)
        self.low: Floats = np.broadcast_to(np.asarray(low, dtype=float), shape).copy()
        self.high: Floats = np.broadcast_to(np.asarray(high, dtype=float), shape).copy()

    def contains(self, x: ArrayLike) -> bool:
        """Whether it is a vector of the space."""
        array = np.asarray(x, dtype=float)
        return array.shape == self.shape and bool(np.all(array >= self.low) and np.all(array <= self.high))

    def sample(self, rng: np.random.Generator) -> Floats:
        """Uniform between the bounds, which must be finite."""
        return rng.uniform(self.low, self.high)


class Env:
    """One world. A subclass says what it is made of:

        scene                      what Scene takes; read once
        action_space, observation_space
        control_dt                 seconds from one action to the next
        max_time                   seconds until an episode is cut (truncated)
        begin(sim, rng)            the start of an episode, after the scene's own
        act(sim, action)           forces, poses, ... until the next action
        observe(sim)               what the controller sees
        reward(sim, action)        of the step that was made
        is_over(sim)               whether the episode has ended by itself (terminated)
    """

    scene: Any
    action_space: Box
    observation_space: Box
    control_dt: float = 0.02
    max_time: float = 10.0

    _sim: Optional[Sim] = None
    _read: Optional[Scene] = None
    _start: bytes = b""  # the state at the scene's start
    _rng: Optional[np.random.Generator] = None

    def begin(self, sim: Sim, rng: np.random.Generator) -> None:
        """Nothing but the scene's start, unless a subclass says more."""

    def act(self, sim: Sim, action: Floats) -> None:
        """Hands an action to the simulation."""
        raise NotImplementedError

    def observe(self, sim: Sim) -> Floats:
        """What the controller sees."""
        raise NotImplementedError

    def reward(self, sim: Sim, action: Floats) -> float:
        """How good the last step was."""
        raise NotImplementedError

    def is_over(self, sim: Sim) -> bool:
        """Whether the episode has ended by itself; never, unless a subclass says when."""
        return False

    @property
    def np_random(self) -> np.random.Generator:
        """Random numbers of this world."""
        if self._rng is None:
            self._rng = np.random.default_rng()
        return self._rng

    @property
    def sim(self) -> Sim:
        """The simulation of this episode."""
        if self._sim is None:
            raise RuntimeError("reset() comes first")
        return self._sim

    def reset(self, *, seed: Optional[int] = None, options: Optional[Info] = None) -> tuple[Floats, Info]:
        """A new episode. With a seed, random numbers begin anew; without, they go on, from anywhere at first."""
        if seed is not None:
            self._rng = generator(seed)
        if self._read is None:
            self._read = Scene(self.scene)
        if self._sim is None:
            self._sim = Sim(self._read)
            self._start = self._sim.save_bytes()
        else:
            self._sim.restore_bytes(self._start)
        self.begin(self._sim, self.np_random)
        return self.observe(self._sim), {}

    def step(self, action: ArrayLike) -> tuple[Floats, float, bool, bool, Info]:
        """One action: observation, reward, terminated, truncated, info."""
        sim, given = self.sim, np.asarray(action, dtype=float)
        if given.shape != self.action_space.shape:
            raise ValueError(f"an action has shape {self.action_space.shape}, got {given.shape}")
        self.act(sim, given)
        sim.advance(sim.time + self.control_dt)
        return (self.observe(sim), float(self.reward(sim, given)), bool(self.is_over(sim)),
                sim.time >= self.max_time, {})

    def close(self) -> None:
        """Frees the simulation."""
        if self._sim is not None:
            self._sim.close()
        self._sim = None

    def __enter__(self) -> Env:
        """Itself."""
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        """As close."""
        self.close()


class _Shared:
    """Arrays that all processes see: [count][...]."""

    def __init__(self, count: int, actions: tuple[int, ...], observations: tuple[int, ...]) -> None:
        self.shapes = {"action": (count, *actions), "observation": (count, *observations), "reward": (count,),
                       "terminated": (count,), "truncated": (count,)}
        self.memory = {name: _CONTEXT.RawArray("d", max(1, int(np.prod(shape))))
                       for name, shape in self.shapes.items()}

    def array(self, name: str) -> Floats:
        shape = self.shapes[name]
        return np.frombuffer(self.memory[name], dtype=np.float64)[:int(np.prod(shape))].reshape(shape)


class _Server:
    """The environments of one worker."""

    def __init__(self, make: Callable[[], Env], members: range, shared: _Shared) -> None:
        self.envs = {i: make() for i in members}
        self.array = {name: shared.array(name) for name in shared.shapes}
        self.over = {i: True for i in members}

    def reset(self, seed: Optional[int], options: Optional[Info]) -> list[Info]:
        return [self._reset(i, None if seed is None else seed + i, options) for i in self.envs]

    def _reset(self, i: int, seed: Optional[int], options: Optional[Info]) -> Info:
        self.array["observation"][i], info = self.envs[i].reset(seed=seed, options=options)
        self.over[i] = False
        return info

    def step(self) -> list[Info]:
        return [self._step(i) for i in self.envs]

    def _step(self, i: int) -> Info:
        if self.over[i]:
            info = self._reset(i, None, None)
            reward, terminated, truncated = 0.0, False, False
        else:
            observation, reward, terminated, truncated, info = self.envs[i].step(self.array["action"][i])
            self.array["observation"][i] = observation
        self.array["reward"][i] = reward
        self.array["terminated"][i] = terminated
        self.array["truncated"][i] = truncated
        self.over[i] = terminated or truncated
        return info


class VectorEnv:
    """Many environments, stepped at the same time in worker processes.

    make: a class or function that makes one Env; workers import it, so it must be defined in a module or in a script
        with `if __name__ == "__main__":`.
    workers: processes; None: as many as cores. Results do not depend on it.

    reset(seed=s) gives member i the seed s + i. A member whose episode is over begins a new one in the next step, which
    then ignores its action and has reward 0 (Gymnasium calls that "next step").
    """

    def __init__(self, make: Callable[[], Env], count: int, workers: Optional[int] = None) -> None:
        """See the class."""
        one = make()
        self.num_envs = count
        self.single_action_space, self.single_observation_space = one.action_space, one.observation_space
        self.action_space = _many(one.action_space, count)
        self.observation_space = _many(one.observation_space, count)
        one.close()
        self._shared = _Shared(count, one.action_space.shape, one.observation_space.shape)
        self._array = {name: self._shared.array(name) for name in self._shared.shapes}
        parts = share_out(count, max(1, min(count, workers or os.cpu_count() or 1)))
        self._crew = Crew(_Server, [(make, part, self._shared) for part in parts])

    def reset(self, *, seed: Optional[int] = None, options: Optional[Info] = None) -> tuple[Floats, Info]:
        """New episodes of all members: observations [count][...], info of each that has one, by number."""
        infos = self._crew.ask("reset", seed, options)
        return self._array["observation"].copy(), _by_number(infos)

    def step(self, actions: ArrayLike) -> tuple[Floats, Floats, NDArray[np.bool_], NDArray[np.bool_], Info]:
        """One action each: observations, rewards, terminated, truncated, info."""
        self._array["action"][:] = actions
        infos = self._crew.ask("step")
        return (self._array["observation"].copy(), self._array["reward"].copy(), self._array["terminated"] != 0,
                self._array["truncated"] != 0, _by_number(infos))

    def close(self) -> None:
        """Ends the workers."""
        self._crew.close()

    def __enter__(self) -> VectorEnv:
        """Itself."""
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        """As close."""
        self.close()


def _many(space: Box, count: int) -> Box:
    shape = (count, *space.shape)
    return Box(np.broadcast_to(space.low, shape), np.broadcast_to(space.high, shape), shape)


def _by_number(infos: list[list[Info]]) -> Info:
    return {str(i): info for i, info in enumerate(info for part in infos for info in part) if info}
