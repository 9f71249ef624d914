"""Scenes as Python data: dicts, lists, dataclasses and calls of the scene language, written as Lua.

    from talus import lua
    sand = lua.granular(density=1600, friction_angle_deg=30)
    board = {"name": "board", "shape": lua.box(size=[0.3, 0.03, 0.3]), "at": [0.5, 0.4, 0.5], "density": 500}

Names that this module does not have are functions of the scene language, from the library's own table: lua.box,
lua.granular, lua.preset, lua.move, ...; help(lua.box) lists its keys. Wrong keys are told when the scene is read.
"""

from __future__ import annotations

import dataclasses
import difflib
import keyword
import math
import re
from typing import Any, Callable, Mapping, Union

import numpy as np

from .reference import reference

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_RESERVED = frozenset("and break do else elseif end false for function goto if in local nil not or repeat return then "
                      "true until while".split())
_LOCALS_MAX = 150  # Lua has room for 200
_HELPERS = frozenset(["grid_of", "stack_of", "ring_of", "join"])
_WITH_BRACKETS = frozenset(["move", "rotate", "scale", "mirror", "paint", "preset", "shape_file"])


@dataclasses.dataclass(frozen=True)
class Code:
    """Lua as it is: lua.code("function(t) return {0, math.sin(t), 0} end")."""

    text: str


class Call:
    """A call of the scene language: box { size = 1 }, move(shape, {0, 1, 0})."""

    def __init__(self, name: str, /, *entries: Any, **keys: Any) -> None:
        """name: of the function; entries: its arguments by place; keys: those by name (`from_` stands for `from`)."""
        if not _NAME.match(name) or name in _RESERVED:
            raise ValueError(f"'{name}' is no name of the scene language")
        if name in _WITH_BRACKETS and keys:
            raise TypeError(f"{name} takes no keys, got {', '.join(keys)}")
        self.name, self.entries = name, entries
        self.keys = {key[:-1] if key[-1:] == "_" and keyword.iskeyword(key[:-1]) else key: v for key, v in keys.items()}

    def __repr__(self) -> str:
        """As Lua."""
        return write(self)

    def __deepcopy__(self, memo: Any) -> Call:
        """Itself: dataclasses.asdict does not make two materials of one."""
        return self


def _functions() -> list[str]:
    """Of the scene language: makers of materials and shapes, and what is called with brackets."""
    makers = [table.name for table in reference().values() if table.part in ("Materials", "Shapes")]
    return sorted([*makers, *_WITH_BRACKETS, *_HELPERS])


def __dir__() -> list[str]:
    return sorted([*globals(), *_functions()])


def __getattr__(name: str) -> Callable[..., Call]:
    if name not in _functions():
        near = difflib.get_close_matches(name, _functions(), 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise AttributeError(f"the scene language has no function '{name}'{hint}")

    def make(*entries: Any, **keys: Any) -> Call:
        return Call(name, *entries, **keys)

    make.__name__ = make.__qualname__ = name
    known = reference().get(name)
    make.__doc__ = known.describe() if known and known.part != "Tables" else "See docs/scene-reference.md."
    return make


def code(text: str) -> Code:
    """Lua as it is, where data does not do: functions of time above all."""
    return Code(text)


def _write_text(text: str) -> str:
    out = ['"']
    for byte in text.encode():
        char = chr(byte)
        out.append("\\" + char if char in '"\\' else char if byte >= 0x20 and byte != 0x7F else f"\\{byte:03d}")
    return "".join(out).encode("latin-1").decode() + '"'


def _write_number(value: Union[int, float]) -> str:
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        raise ValueError(f"a scene holds finite numbers, got {value}")
    return repr(value)


def _write_key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"keys of a scene are texts, got {key!r}")
    return key if _NAME.match(key) and key not in _RESERVED else f"[{_write_text(key)}]"


class _Writer:
    """Writes values; calls that are used in several places become locals, so that they are one thing in Lua too."""

    def __init__(self, value: Any) -> None:
        self.seen: dict[int, int] = {}
        self.names: dict[int, str] = {}
        self.locals: list[str] = []
        self._count(value)

    def _count(self, value: Any) -> None:
        if isinstance(value, Call):
            self.seen[id(value)] = self.seen.get(id(value), 0) + 1
            if self.seen[id(value)] == 1:
                for part in (*value.entries, *value.keys.values()):
                    self._count(part)
        elif isinstance(value, (Mapping, list, tuple)) or _is_data(value):
            for part in _keys_of(value).values() if not isinstance(value, (list, tuple)) else value:
                self._count(part)

    def table(self, entries: Any, keys: Mapping[Any, Any], indent: str) -> str:
        inner = indent + "  "
        parts = [self.write(entry, inner) for entry in entries]
        parts += [f"{_write_key(k)} = {self.write(v, inner)}" for k, v in keys.items() if v is not None]
        line = "{ " + ", ".join(parts) + " }" if parts else "{}"
        if len(line) + len(indent) <= 110 and "\n" not in line:
            return line
        return "{\n" + "".join(f"{inner}{part},\n" for part in parts) + indent + "}"

    def _call(self, value: Call, indent: str) -> str:
        if value.name in _WITH_BRACKETS:
            return f"{value.name}({', '.join(self.write(entry, indent) for entry in value.entries)})"
        return f"{value.name} {self.table(value.entries, value.keys, indent)}"

    def _shared(self, value: Call, indent: str) -> str:
        if self.seen.get(id(value), 1) < 2 or (len(self.names) >= _LOCALS_MAX and id(value) not in self.names):
            return self._call(value, indent)
        if id(value) not in self.names:
            text = self._call(value, "")
            self.names[id(value)] = f"{value.name}_{len(self.names) + 1}"
            self.locals.append(f"local {self.names[id(value)]} = {text}\n")
        return self.names[id(value)]

    def write(self, value: Any, indent: str) -> str:
        if isinstance(value, (bool, np.bool_)):
            return "true" if value else "false"
        if isinstance(value, np.generic):
            return self.write(value.item(), indent)
        if isinstance(value, (int, float)):
            return _write_number(value)
        if isinstance(value, str):
            return _write_text(value)
        if isinstance(value, Code):
            return value.text
        if isinstance(value, Call):
            return self._shared(value, indent)
        if isinstance(value, Mapping) or _is_data(value):
            return self.table((), _keys_of(value), indent)
        if isinstance(value, (list, tuple, np.ndarray)):
            return self.table(value, {}, indent)
        if callable(value):
            raise TypeError("a scene is data: write functions of time as lua.code('function(t) return ... end')")
        raise TypeError(f"a scene cannot hold a {type(value).__name__}: {value!r}")


def _is_data(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, (type, Code))


def _keys_of(value: Any) -> Mapping[Any, Any]:
    """The keys of a dict or a dataclass."""
    if isinstance(value, Mapping):
        return value
    return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}


def write(value: Any) -> str:
    """A value as Lua. Keys that are None are left out, so dataclasses may have optional fields."""
    return _Writer(None).write(value, "")


def scene_text(value: Any) -> str:
    """A whole scene file from a dict or a dataclass: a line per key, `talus = 1` unless it is there."""
    keys = {"talus": 1, **_keys_of(value)}
    writer = _Writer(keys)
    lines = [f"  {_write_key(k)} = {writer.write(v, '  ')},\n" for k, v in keys.items() if v is not None]
    return "".join(writer.locals) + "return scene {\n" + "".join(lines) + "}\n"
