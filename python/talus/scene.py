"""Scenes: read from a file, a text, a dict or a dataclass; every problem explained."""

from __future__ import annotations

import os
from ctypes import byref, c_char_p, c_void_p
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from . import lua
from ._library import CError, PROBLEM, PathLike, SceneOptions, check, lib, path_of, scenes_folder, text_of
from .errors import Problem

Setting = Union[bool, int, float, str, Sequence[float], "np.ndarray[Any, Any]"]
Settings = Mapping[str, Setting]


def _setting(key: str, value: Any) -> bytes:
    """As --set of the program has it. A text stays as it is: it may be a word or Lua."""
    return f"{key}={value if isinstance(value, str) else lua.write(value)}".encode()


class Reading:
    """Options for reading a scene, kept alive with what they point to; collects every problem."""

    def __init__(self, settings: Optional[Settings], size: str, driven: bool, shapes: Optional[PathLike]) -> None:
        """driven: kinematic bodies may come without a motion. shapes: folder of shape files; None: talus' own."""
        self.problems: list[Problem] = []
        words = [_setting(k, v) for k, v in (settings or {}).items()]
        self._words = (c_char_p * len(words))(*words)
        self._callback = PROBLEM(self._problem)
        scenes = scenes_folder()
        folder = shapes if shapes is not None else scenes / "shapes" if scenes else None
        self.options: SceneOptions = lib.talus_scene_options_default()
        self.options.size = size.encode()
        self.options.settings = len(words)
        self.options.setting = self._words
        self.options.problem = self._callback
        self.options.driven = 1 if driven else 0
        self._shapes = path_of(folder) if folder is not None else None
        self.options.shapes_folder = self._shapes

    def _problem(self, _user: Any, file: bytes, line: int, note: int, text: bytes) -> None:
        if not note:
            self.problems.append(Problem(text_of(file), line, text_of(text)))

    def check(self, status: int, err: CError) -> None:
        """Raises every problem, or what err says."""
        check(status, err, self.problems)


def gallery() -> list[str]:
    """Names of the scenes that come with talus."""
    folder = scenes_folder()
    return sorted(path.stem for path in folder.glob("*/*.lua") if path.stem == path.parent.name) if folder else []


def find(source: PathLike) -> str:
    """A file's path as it is; else that of a scene of talus' own, by name."""
    path = os.fspath(source)
    folder = scenes_folder()
    if folder and not os.path.isfile(path) and not set("/.") & set(path):
        own = folder / path / f"{path}.lua"
        if own.is_file():
            return str(own)
    return path


class Scene:
    """A checked scene.

    source: path of a file; name of a scene that comes with talus ("dam-break"); text of a scene (it has a newline
        or a brace, or text=True); a dict or a dataclass with the keys of docs/scene-reference.md (see talus.lua).
    settings: {"height": 0.5, "bodies[2].density": 500}, as --set of the program.
    size: "small" or "paper".
    shapes: folder where shape_file looks; None: talus' own.
    name: of a text or a dict, in messages; its folder is where files are looked for.

    Kinematic bodies may come without a motion: Sim.set_pose moves them. Raises Error with every problem.
    """

    text: Optional[str]  #: of the scene when it did not come from a file; lines of messages count here
    path: Optional[str]  #: of its file

    def __init__(self, source: Any, settings: Optional[Settings] = None, size: str = "small",
                 text: Optional[bool] = None, shapes: Optional[PathLike] = None, name: str = "scene") -> None:
        """See the class."""
        self._handle: Optional[c_void_p] = None
        self.text = self.path = None
        if not isinstance(source, (str, os.PathLike)):
            self.text = lua.scene_text(source)
        elif text or (text is None and isinstance(source, str) and ("\n" in source or "{" in source)):
            self.text = str(source)
        else:
            self.path = find(source)
        self._origin = (self.text, self.path, dict(settings or {}), size, shapes, name)
        reading = Reading(settings, size, True, shapes)
        handle, err = c_void_p(), CError()
        if self.text is not None:
            status = lib.talus_scene_load_text(self.text.encode(), name.encode(), byref(reading.options), byref(handle),
                                               byref(err))
        else:
            assert self.path is not None
            status = lib.talus_scene_load(path_of(self.path), byref(reading.options), byref(handle), byref(err))
        reading.check(status, err)
        self._handle = handle

    def __del__(self) -> None:
        """Gives its memory back."""
        if getattr(self, "_handle", None):
            lib.talus_scene_free(self._handle)
            self._handle = None

    def __reduce__(self) -> tuple[Any, ...]:
        """For other processes: read again there."""
        text, path, settings, size, shapes, name = self._origin
        return Scene, (path if text is None else text, settings, size, text is not None, shapes, name)

    @property
    def title(self) -> str:
        """One line; "" when not given."""
        return text_of(lib.talus_scene_title(self._handle))

    @property
    def about(self) -> str:
        """What it shows; "" when not given."""
        return text_of(lib.talus_scene_about(self._handle))

    @property
    def engine(self) -> str:
        """ "grid", "sph" or "lg"."""
        return text_of(lib.talus_scene_engine(self._handle))

    @property
    def duration(self) -> float:
        """Simulated seconds of a run."""
        return float(lib.talus_scene_duration(self._handle))

    @property
    def fps(self) -> float:
        """Frames per simulated second."""
        return float(lib.talus_scene_fps(self._handle))

    @property
    def bodies(self) -> list[str]:
        """Names of the bodies, in order."""
        count = lib.talus_scene_count(self._handle, 0)
        return [text_of(lib.talus_scene_body_name(self._handle, i)) for i in range(count)]


def scene_of(source: Any, settings: Optional[Settings] = None, size: str = "small") -> Scene:
    """A Scene as it is, anything else read as one."""
    if isinstance(source, Scene):
        if settings:
            raise TypeError("settings belong to the reading of a scene, and this one is read already")
        return source
    return Scene(source, settings, size)

