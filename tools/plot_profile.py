#!/usr/bin/env python3
"""Draws `talus bench profile --csv`: seconds per phase, stacked, over the frames of each variant. Usage: talus bench profile ... --csv | tools/plot_profile.py > profile.svg"""
import csv
import sys

COLOURS = ["#4a90c2", "#7fb3d5", "#c9a35b", "#c0392b", "#8e6bb0", "#5fa55a", "#b0b0b0", "#444444", "#d98880", "#76d7c4"]
WIDE, HIGH, LEFT, TOP, GAP = 640, 180, 60, 40, 40
FIXED = "CPU s"


def read(lines):
    """Rows by variant, in the order of the file, and the names of the phases."""
    header, runs = None, {}
    for row in csv.reader(lines):
        if "variant" in row and FIXED in row:
            header = row
        elif header and len(row) == len(header):
            runs.setdefault(row[0], []).append(dict(zip(header, row)))
    if not runs:
        sys.exit("plot_profile: no rows of 'talus bench profile --csv' to draw")
    return runs, header[header.index(FIXED) + 1:]


def panel(name, rows, phases, top, most):
    """One variant: a band per phase."""
    out = [f'<text x="{LEFT}" y="{top - 8}" font-weight="bold">{name}</text>']
    first, last = int(rows[0]["frame"]), int(rows[-1]["frame"])
    across = [LEFT + WIDE * (int(r["frame"]) - first) / max(1, last - first) for r in rows]
    below = [0.0] * len(rows)
    for k, phase in enumerate(phases):
        above = [b + float(r[phase]) for b, r in zip(below, rows)]
        line = [(x, top + HIGH * (1 - y / most)) for x, y in zip(across, above)]
        line += [(x, top + HIGH * (1 - y / most)) for x, y in zip(reversed(across), reversed(below))]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in line)
        out.append(f'<polygon points="{points}" fill="{COLOURS[k % len(COLOURS)]}"/>')
        below = above
    out.append(f'<path d="M{LEFT},{top} V{top + HIGH} H{LEFT + WIDE}" fill="none" stroke="black"/>')
    out.append(f'<text x="{LEFT - 6}" y="{top + 6}" text-anchor="end">{most:.3g} s</text>')
    out.append(f'<text x="{LEFT}" y="{top + HIGH + 15}">frame {first}</text>')
    out.append(f'<text x="{LEFT + WIDE}" y="{top + HIGH + 15}" text-anchor="end">{last}</text>')
    return out


def main():
    runs, phases = read(sys.stdin)
    most = max(float(r[FIXED]) for rows in runs.values() for r in rows) or 1
    high = TOP + len(runs) * (HIGH + GAP) + 20 * ((len(phases) + 3) // 4)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDE + 20}" height="{high}" font-family="sans-serif" font-size="12">']
    for k, (name, rows) in enumerate(runs.items()):
        out += panel(name, rows, phases, TOP + k * (HIGH + GAP), most)
    for k, phase in enumerate(phases):
        x, y = LEFT + 160 * (k % 4), TOP + len(runs) * (HIGH + GAP) + 20 * (k // 4)
        out.append(f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{COLOURS[k % len(COLOURS)]}"/>')
        out.append(f'<text x="{x + 18}" y="{y}">{phase}</text>')
    print("\n".join(out + ["</svg>"]))


if __name__ == "__main__":
    main()
