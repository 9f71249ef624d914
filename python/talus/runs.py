"""Whole runs into a folder, how good they are, their pictures and their export."""

from __future__ import annotations

import ctypes
from ctypes import byref
from typing import Any, Callable, NamedTuple, Optional

from ._library import (LOG, PROGRESS, CRunResult, CVerdict, PathLike, RenderOptions, RunOptions, call, compute,
                       lib, path_of, text_of)
from .scene import Reading, Settings, find
from .sim import Log, Report, report_of

Progress = Callable[[int, int, Optional[Report]], Any]


class Line(NamedTuple):
    """One line of a verdict: value and limit as a share (NaN: the engine does not account for it)."""

    value: float
    limit: float
    good: bool
    text: str  #: what was found
    remedy: str  #: what to change; "" where it is good


class Verdict(NamedTuple):
    """How good the answer of a run is: a line each for solves, momentum, energy, volume, penetration and what
    escaped."""

    steps: int
    time: float
    good: bool
    refused: bool  #: worse than the scene's `accept`
    lines: dict[str, Line]


class Run(NamedTuple):
    """What came out of a run: run.json, steps.csv, frames and so on are in its folder."""

    folder: str
    picture: str  #: "" for none
    frames: int
    steps: int
    hash: int  #: of the final state
    verdict: Verdict


def _verdict(v: CVerdict) -> Verdict:
    lines = {text_of(line.name): Line(line.value, line.limit, not (line.bad or line.refused), text_of(line.text),
                                      text_of(line.remedy)) for line in v.line[:v.lines]}
    return Verdict(v.steps, v.time, v.bad == 0, v.refused > 0, lines)


class _Callback:
    """A Python function behind a C callback: an exception in it stops the work and is raised afterwards."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.raised: Optional[BaseException] = None

    def __call__(self, *arguments: Any) -> int:
        try:
            return 1 if self.function(*arguments) else 0
        except BaseException as why:  # KeyboardInterrupt too
            self.raised = why
            return 1


def run(scene: PathLike, folder: Optional[PathLike] = None, settings: Optional[Settings] = None, size: str = "small",
        frames: int = 0, resume: bool = False, pictures: bool = True, progress: Optional[Progress] = None,
        log: Optional[Log] = None) -> Run:
    """Runs a scene file, or one that comes with talus by name, into a folder, as `talus run` does.

    folder: None: runs/NAME, or runs/NAME-2, ... when that exists. frames: 0: all of the scene's duration.
    resume: go on from the folder's checkpoint. progress(frame, frames, report) is called after every step; a true
    result stops. Ctrl-C saves and raises KeyboardInterrupt: resume=True goes on, with the same bits."""
    reading = Reading(settings, size, False, None)
    options: RunOptions = lib.talus_run_options_default()
    options.scene = ctypes.pointer(reading.options)
    options.folder = path_of(folder) if folder else None
    options.frames = frames
    options.resume = 1 if resume else 0
    options.no_pictures = 0 if pictures else 1
    guard = _Callback(lambda user, p: progress(p.contents.frame, p.contents.frames, _report(p.contents))
                      if progress else False)
    options.progress = PROGRESS(guard)
    if log:
        tell = log
        options.log = LOG(lambda user, level, text: tell(level, text_of(text)))
    result = CRunResult()
    status, err = compute(lib.talus_run, path_of(find(scene)), byref(options), byref(result))
    if guard.raised:
        raise guard.raised
    reading.check(status, err)
    return Run(text_of(result.folder), text_of(result.picture), result.frames, result.steps, result.hash,
               _verdict(result.verdict))


def _report(p: Any) -> Optional[Report]:
    return report_of(p.report.contents) if p.report else None


def verdict(folder: PathLike) -> Verdict:
    """How good the answer of a run is, finished or not."""
    found = CVerdict()
    call(lib.talus_run_verdict, path_of(folder), byref(found))
    return _verdict(found)


def render(source: PathLike, output: PathLike, settings: Optional[Settings] = None, size: str = "small",
           width: int = 0, height: int = 0, samples: int = 0, view: Optional[str] = None) -> None:
    """A picture of a scene's start, a shape or a mesh file, to a PNG."""
    reading = Reading(settings, size, True, None)
    options: RenderOptions = lib.talus_render_options_default()
    options.scene = ctypes.pointer(reading.options)
    options.width, options.height, options.samples = width, height, samples
    options.view = view.encode() if view else None
    reading.check(*compute(lib.talus_render_file, path_of(find(source)), path_of(output), byref(options)))


def export(folder: PathLike, output: PathLike, format: str = "ply", frame: int = -1) -> None:
    """Surfaces of bodies of a run's frame (negative: all) to files: ply, obj or vtk."""
    reading = Reading(None, "small", False, None)
    reading.check(*compute(lib.talus_export, path_of(folder), format.encode(), frame, path_of(output),
                           byref(reading.options)))
