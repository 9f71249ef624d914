#!/usr/bin/env python3
"""Draws docs/images/data-flow.svg: what a run does with its data, and which folder does it.

    tools/draw_flow.py            writes the file
    tools/draw_flow.py --check    exit status 1 when the file is not what this script draws
"""
import pathlib
import sys

FILE = pathlib.Path(__file__).resolve().parent.parent / "docs/images/data-flow.svg"
WIDTH, HEIGHT = 960, 560
INK, PALE, EDGE, ACCENT = "#22303c", "#f4f1ea", "#8a8f98", "#b5542c"


def text(x, y, words, size=15, weight="normal", colour=INK, anchor="middle"):
    return (f'<text x="{x}" y="{y}" font-size="{size}" font-weight="{weight}" fill="{colour}" '
            f'text-anchor="{anchor}">{words}</text>')


def box(x, y, w, h, title, lines, folder, fill=PALE):
    parts = [f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="6" fill="{fill}" stroke="{EDGE}"/>',
             text(x + w / 2, y + 24, title, 17, "bold")]
    parts += [text(x + w / 2, y + 46 + 18 * i, line, 13) for i, line in enumerate(lines)]
    if folder:
        parts.append(text(x + w / 2, y + h - 9, folder, 12, colour=ACCENT))
    return "\n".join(parts)


def arrow(x1, y1, x2, y2, words="", above=True):
    parts = [f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{INK}" stroke-width="1.6" marker-end="url(#tip)"/>']
    if words:
        parts.append(text((x1 + x2) / 2, (y1 + y2) / 2 + (-7 if above else 17), words, 12))
    return "\n".join(parts)


def draw():
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="DejaVu Sans, Helvetica, Arial, sans-serif">',
        '<title>From a scene file to frames: data and the folders that work on them</title>',
        f'<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        f'<path d="M0,0 L8,4 L0,8 z" fill="{INK}"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        # the data, left to right
        box(20, 30, 150, 110, "scene file", ["a Lua table,", "what the user wrote"], "scenes/"),
        box(230, 30, 150, 110, "scene", ["what was asked for:", "checked, SI units"], "src/scene"),
        box(440, 30, 150, 110, "state", ["what is: all that is", "needed to go on", "bit for bit"], "src/model/state.h"),
        box(650, 30, 130, 110, "state'", ["the same,", "one step on"], ""),
        box(820, 30, 120, 110, "files", ["frames, csv,", "checkpoint,", "pictures"], "src/io, src/render"),
        arrow(170, 85, 230, 85, "read"),
        arrow(380, 85, 440, 85, "begin"),
        arrow(590, 85, 650, 85, "step"),
        arrow(780, 85, 820, 85, "run"),
        # the step
        f'<rect x="20" y="190" width="760" height="300" rx="8" fill="none" stroke="{EDGE}" stroke-dasharray="6 4"/>',
        text(36, 508, "a step: derived data in an arena of its own; only its last phase writes the state", 13,
             anchor="start"),
        box(40, 230, 160, 110, "the box", ["phases in order,", "as the paper", "has them"], "src/step/ENGINE.c", "#fbe9dd"),
        box(250, 230, 220, 110, "phases", ["bodies, accounts, schemes,", "what several steps share"], "src/step"),
        box(520, 230, 240, 110, "report", ["seconds, outcomes, certificates,", "energy, momentum, volume"],
            "src/model/report.h"),
        box(140, 375, 220, 100, "models", ["physics that turns a state", "into operators, bounds, rows"], "src/model"),
        box(420, 375, 220, 100, "methods", ["kinds of problems, methods,", "certificates; no physics"], "src/solve"),
        arrow(200, 285, 250, 285),
        arrow(470, 285, 520, 285),
        arrow(310, 340, 265, 375),
        text(262, 360, "builds", 12),
        arrow(420, 340, 490, 375),
        text(486, 360, "solves", 12),
        arrow(360, 425, 420, 425, "as data"),
        arrow(480, 140, 130, 230),
        arrow(715, 230, 715, 140),
        text(750, 215, "commit", 12),
        # what surrounds it
        box(820, 230, 120, 110, "users", ["the program,", "C, Python"], "cli, src/api"),
        box(820, 375, 120, 100, "lab", ["bench,", "validate"], "lab"),
        arrow(880, 140, 880, 230),
        text(WIDTH / 2, 540, "below all of it: src/base (status, arenas, sums, threads), src/math (vectors, sparse matrices, "
             "factors), src/geom (meshes, distances, contacts)", 13),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    drawing = draw()
    if "--check" in sys.argv[1:]:
        if not FILE.exists() or FILE.read_text(encoding="utf-8") != drawing:
            sys.exit(f"{FILE.name} is not what tools/draw_flow.py draws: run it")
    else:
        FILE.write_text(drawing, encoding="utf-8")
