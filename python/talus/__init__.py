"""talus from Python: load a scene, step it, look at it as NumPy arrays, push it, save it; many at once.

    import talus

    with talus.Sim("tower", settings={"levels": 5}) as sim:
        sim.advance(1.0)
        print(sim.view("bodies.position"))

Lengths are metres, times seconds, y is up. docs/python.md is a tour; what a scene may hold is in
docs/scene-reference.md, what a simulation shows in docs/library.md.
"""

from __future__ import annotations

import os

# Waiting threads sleep soon instead of spinning while others need the core (see talus_program_start). OpenMP reads it
# when it is loaded, which NumPy may do: before anything else.
os.environ.setdefault("GOMP_SPINCOUNT", "2000")

from . import lua
from ._library import cancel, threads, version
from .batch import Batch, generator, samples
from .env import Box, Env, VectorEnv
from .errors import Error, Problem
from .reference import Key, Table, reference
from .runs import Line, Run, Verdict, export, render, run, verdict
from .scene import Scene, gallery
from .sim import Cost, Report, Sim, View, ViewInfo, views

__all__ = ["Batch", "Box", "Cost", "Env", "Error", "Key", "Line", "Problem", "Report", "Run", "Scene", "Sim", "Table",
           "VectorEnv", "Verdict", "View", "ViewInfo", "cancel", "export", "gallery", "generator", "lua",
           "reference", "render", "run", "samples", "threads", "verdict", "version", "views"]
