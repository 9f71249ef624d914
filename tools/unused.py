#!/usr/bin/env python3
"""Names of the library that nobody needs, from what the linker sees in a build folder.

    tools/unused.py BUILD

A name that only its own file uses should be static. A name that only tests use is code that no user can reach: it
goes, or moves to tests/support. EXCEPTIONS below have a reason each; one that no longer applies is told as well.
"""
import collections
import pathlib
import re
import subprocess
import sys

LAB = ("lab/bench/", "lab/validate/")  # tests share their generators
# name: why it may stay
EXCEPTIONS = {
    "tl_grid_check": "checked builds call it at phase borders, guards are tested",
    "tl_rigid_contacts_check": "checked builds call it at phase borders, guards are tested",
    "tl_pressure_check_rows": "checked builds call it before a solve",
    "tl_alloc_fail_at": "tests make the k-th allocation fail",
    "tl_alloc_fail_happened": "tests make the k-th allocation fail",
    "tl_comm_send": "messages below the rows that steps send: cases of parts send their own",
    "tl_kind_name": "tests ask what was captured",
    "tl_dual_scheme_at": "agreement tests walk the table",
    "tl_dual_scheme_count": "agreement tests walk the table",
    "tl_dual_scheme_written": "agreement tests choose preconditioners by it",
    "tl_precond_at": "agreement tests walk the table",
    "tl_precond_count": "agreement tests walk the table",
    "tl_grid_rule_at": "its unit test walks the table",
    "tl_grid_rule_count": "its unit test walks the table",
    "tl_factor_fits": "its unit test changes patterns by hand",
    "tl_least_energy": "its unit test compares with another method",
    "tl_triangle_nearest": "its unit test compares with a sampling",
    "tl_triangle_winding": "agreement tests sum it over all triangles",
    "tl_triangles_cut": "its unit test has cases by hand",
    "tl_image_text": "its unit test draws every letter",
    "tl_image_text_width": "its unit test draws every letter",
    "tl_render_trace": "tests look at light before it becomes an image",
    "tl_render_open_ground": "tests look at light before it becomes an image",
}
# To be cleared when these files are next moved; a name may leave this list, none may join it.
KNOWN = """tl_slip_at tl_active_cells tl_particles_advect tl_grid_unkey tl_depth_of_fill tl_fill_of_depth
tl_grid_to_particles tl_forest_invert_make tl_lg_compliance tl_sph_options_of tl_elastic_star""".split()


def symbols(build):
    """{name: file that defines it}, {name: files that use it}; files as src/..., cli/..., tests/..."""
    defined, used = {}, collections.defaultdict(set)
    for path in pathlib.Path(build, "CMakeFiles").rglob("*.o"):
        source = re.sub(r"^.*?\.dir/", "", str(path.relative_to(build)))[: -len(".o")]
        if not pathlib.Path(source).is_file():
            continue  # of a file that was removed
        for line in subprocess.run(["nm", str(path)], capture_output=True, text=True, check=True).stdout.splitlines():
            kind, name = line.split()[-2:]
            if kind == "U":
                used[name].add(source)
            elif kind in "TDBRC":
                defined.setdefault(name, source)
    return defined, used


def main():
    defined, used = symbols(sys.argv[1])
    told, excused = [], set()
    for name, file in sorted(defined.items(), key=lambda item: item[1]):
        if not file.startswith("src/") or file.startswith(LAB) or not name.startswith("tl_"):
            continue
        users = used[name]
        if not users:
            problem = "is used in its own file only: make it static"
        elif not any(user.startswith(("src/", "cli/", "lab/")) for user in users):
            problem = "is used by tests only: remove it, or move it to tests/support"
        else:
            continue
        excused.add(name)
        if name not in EXCEPTIONS and name not in KNOWN:
            told.append(f"{file}: {name} {problem}")
    told += [f"tools/unused.py: {name} is excused without need" for name in [*EXCEPTIONS, *KNOWN] if name not in excused]
    print("\n".join(told) or f"{len(defined)} names, {len(KNOWN)} to be cleared")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
