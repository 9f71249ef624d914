"""What scenes may hold, from the table of the library that reads them: names, types, units, defaults, meanings.

    talus.reference()["body"].keys["density"].unit      # "kg/m^3"
"""

from __future__ import annotations

import functools
import re
from typing import Any, NamedTuple

from ._library import WRITE, lib, text_of

_ROW = re.compile(r"\| `([^`]+)` \| (.*?) \| (.*?) \| (.*?) \| (.*?) \| (.*) \|\Z")


class Key(NamedTuple):
    """One key of a table."""

    name: str
    type: str  #: "number", "{x, y, z}", "list: body", ...
    unit: str  #: "" when it has none
    allowed: str  #: range or words; "" for anything
    default: str  #: as in a scene; "must be given"; "" for none
    help: str


class Table(NamedTuple):
    """A table of the scene language, or a function that makes a material or a shape."""

    name: str
    part: str  #: "Tables", "Materials" or "Shapes"
    help: str
    keys: dict[str, Key]

    def describe(self) -> str:
        """A page of help."""
        width = max((len(name) for name in self.keys), default=0)
        lines = [f"    {k.name:<{width}}  {k.help}" + _bracket(k) for k in self.keys.values()]
        return "\n".join([self.help, "", *lines])


def _bracket(key: Key) -> str:
    parts = [part for part in (key.type, key.unit, key.allowed, key.default) if part]
    return f" ({'; '.join(parts)})"


def _plain(text: str) -> str:
    """Without the marks of Markdown."""
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text).replace("`", "")


def page() -> str:
    """The reference of the scene language as Markdown, as `talus check --reference` prints it."""
    pieces: list[str] = []

    def write(_user: Any, text: bytes) -> None:
        pieces.append(text_of(text))

    lib.talus_scene_reference(WRITE(write), None)
    return "".join(pieces)


@functools.lru_cache(maxsize=1)
def reference() -> dict[str, Table]:
    """Every table by name."""
    tables: dict[str, Table] = {}
    part, name = "", ""
    for line in page().splitlines():
        row = _ROW.match(line)
        if line.startswith("## "):
            part, name = line[3:], ""
        elif line.startswith("### "):
            name = line[4:]
            tables[name] = Table(name, part, "", {})
        elif row and name:
            key = Key(*map(_plain, row.groups()))
            tables[name].keys[key.name] = key
        elif name and line and not tables[name].help and line[0] not in "| ":
            tables[name] = tables[name]._replace(help=_plain(line))
    return {name: table for name, table in tables.items() if name != "Presets"}
