#!/usr/bin/env python3
"""One-line faults, made one at a time in a copy of the tree: which do the tests catch?

    tools/mutate.py [FILTER] [--list] [--copy FOLDER]

FILTER: a regular expression on "folder/file.c: what". The copy has its own build folder and is built incrementally, so a mutant costs a few
compilations and the tests that are named with it. A mutant whose line is no longer there is told as stale, one that the compiler refuses counts as not caught. Exit status 1 when fewer than nine
tenths of those that ran are caught.
"""
import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

# file, what is wrong, line as it is, line with the fault, tests that should notice (regular expression on names)
MUTANTS = [
    ("src/base/sum.c", "a sum without its tail", "for (; i < n; i++) tail += x[i];", "for (; i < n; i++) tail += 0 * x[i];", "unit/base"),
    ("src/base/text.c", "escapes pass", "s[0] < 0x20 || s[0] == 0x7f", "s[0] < 0x08 || s[0] == 0x7f", "attack/outside"),
    ("src/base/cancel.c", "nobody is cancelled", "return tl_cancelled() ?", "return tl_cancelled() && !err ?", "unit/sim_api"),
    ("src/base/file.c", "links are followed", "O_CLOEXEC | O_NOFOLLOW |", "O_CLOEXEC |", "unit/run_files"),
    ("src/base/replace.c", "devices are replaced", "return stat(path, &s) == 0 && !S_ISREG(s.st_mode);", "return stat(path, &s) == 0 && S_ISSOCK(s.st_mode);", "unit/run_files"),
    ("src/run/folder.c", "frames of later steps stay", '{"nodes-", ".vtp"}', '{"nodes-", ".vtu"}', "unit/run_files"),
    ("src/run/folder.c", "every part is removed", "return IS_ONE_OF(name, length, ours) ||", "return true || IS_ONE_OF(name, length, ours) ||", "unit/run_files"),
    ("src/run/folder.c", "folders of others are taken", "bool any = !dir;", "bool any = false; if (dir) closedir(dir), dir = NULL;", "unit/run_files"),
    ("src/io/csv_run.c", "torque is the force", "                             m->contact_torque,", "                             m->contact_force,", "unit/policies"),
    ("src/io/csv_run.c", "fluid torque is the force", "                             m->fluid_torque,", "                             m->fluid_force,", "unit/policies"),
    ("src/io/csv.c", "formulas pass", 'strchr("=+-@", *plain)', 'strchr("=", *plain)', "unit/run_files"),
    ("src/io/checkpoint.c", "dt_next is not kept", '"dt_next", s->dt_next, err)', '"dt_next", 0 * s->dt_next, err)', "unit/policies"),
    ("src/model/state.c", "materials are not checked", "material >= scene->material_count ||", "material > 1000000000 ||", "faults/forged"),
    ("src/model/state.c", "ids are not checked", "uint64_t bit = id >= 0 && id < end ?", "uint64_t bit = id >= 0 ?", "faults/forged"),
    ("src/model/grid/state.c", "stress of fewer cells", "if (g->stresses != (is_granular(scene) ? g->memories : 0))", "if (g->stresses > g->memories)", "faults/forged"),
    ("src/step/sim.c", "a retry forgets the shorter step", "s->dt_next = REGROW_FIRST * length;", "s->dt_next = 0;", "unit/policies"),
    ("src/step/sim.c", "a retry is nearly as long", "length *= 0.5;", "length *= 0.9;", "unit/policies"),
    ("src/step/sim.c", "time goes on by too much", "s->t = last ? until : begin + length;", "s->t = last ? until : begin + 1.01 * length;", "unit/policies"),
    ("src/step/sim.c", "runs that cannot end", "if (s->duration / wanted <= TL_STEPS_MAX) return TALUS_OK;", "if (s->duration / wanted <= INFINITY) return TALUS_OK;", "attack/outside"),
    ("src/step/sim.c", "on_unconverged is ignored", "const tl_unconverged policy = sim->scene->solver.on_unconverged;", "const tl_unconverged policy = TL_UNCONVERGED_ACCEPT;", "unit/policies"),
    ("src/step/grid.c", "fluid torque halved", "s->b.body[i].fluid_torque = tl_vec3_load(s->fluid + 6 * (int64_t)i + 3);", "s->b.body[i].fluid_torque = tl_vec3_scale(0.5, tl_vec3_load(s->fluid + 6 * (int64_t)i + 3));", "unit/policies"),
    ("src/model/grid/move.c", "volume_error with the wrong sign of escaped", "totals->initial_volume - totals->escaped_volume;", "totals->initial_volume + totals->escaped_volume;", "attack/losses"),
    ("src/model/lg/bending.c", "bending without 1/(1-nu^2)", "(12 * (1 - p->poisson * p->poisson))", "12", "agree/lg"),
    ("src/model/sph/forces.c", "surface tension halved", "sum, tension * (unit", "sum, 0.5 * tension * (unit", "physics/sph_liquid"),
    ("src/model/sph/forces.c", "cohesion halved", "unit = 2 / parting_work(h);", "unit = 1 / parting_work(h);", "physics/sph_liquid"),
    ("src/scene/rules.c", "any number of frames", "if (s->duration * s->fps > TL_FRAMES_MAX)", "if (s->duration * s->fps > 1e300)", "scenes/broken"),
    ("src/scene/rules.c", "any number of steps", "s->duration / s->dt_max > TL_STEPS_MAX", "s->duration / s->dt_max > 1e308", "scenes/broken"),
    ("src/scene/load.c", "settings are not part of the hash", "s->hash = tl_hash(s->hash, o->setting[r->setting_count], strlen(o->setting[r->setting_count]) + 1);", "s->hash += 0;", "cli/run"),
    ("src/api/run_folder.c", "frames without their particles", 'if (tl_clouds_expected(f->scene) && !has_file(f, "particles", n)) continue;', "", "cli/export"),
    ("src/api/run_folder.c", "another scene is drawn", "return !*r->scene_hash || !strcmp(hash, r->scene_hash);", "return true;", "cli/export"),
    ("src/api/sim.c", "a NULL is used", "TL_NEED(scene);", "", "unit/api_misuse"),
    ("src/model/grid/advect.c", "a way without an end", "if (k == MARCH_MAX)", "if (k == MARCH_MAX && k < 0)", "faults/forged"),
    ("src/solve/outcome.h", "methods do not hear", " || tl_cancelled();", ";", "attack/signals"),
    ("src/math/quat.h", "an inverse that does not turn back", "return (tl_quat){s * q.w, -s * q.x, -s * q.y, -s * q.z};", "return (tl_quat){s * q.w, -s * q.x, -s * q.y, s * q.z};", "unit/quat"),
    ("src/math/svd3.c", "a rotation of the wrong angle", "t = 2 * ab / (d + copysign(", "t = 1.9 * ab / (d + copysign(", "unit/svd3"),
    ("src/math/eig3.c", "eigenvectors half turned", "return 2 * apq / (d + copysign(sqrt(d * d + 4 * apq * apq), d));", "return 2 * apq / (d + copysign(sqrt(d * d + 3 * apq * apq), d));", "unit/eig3"),
    ("src/geom/trimesh.c", "volumes a little large", "tl_vec3_dot(a, tl_vec3_cross(b, c)) / 6;", "tl_vec3_dot(a, tl_vec3_cross(b, c)) / 5.9;", "unit/trimesh"),
    ("src/geom/shape_mass.c", "products of inertia without their sign", "m->xy += v * c.x * c.y;", "m->xy -= v * c.x * c.y;", "unit/shape"),
    ("src/geom/polygon.c", "areas with the wrong sign", "return 0.5 * twice;", "return -0.5 * twice;", "unit/shape|unit/sample"),
    ("src/geom/polygon.c", "distances to the wrong end", "(wx * ex + wy * ey) / (ex * ex + ey * ey)", "(wx * ex - wy * ey) / (ex * ex + ey * ey)", "unit/shape"),
    ("src/solve/boxqp/mprgp.c", "room to the wrong bound", "double below = x[i] - l, above = h - x[i];", "double below = x[i] - l, above = x[i] - l;", "agree/boxqp"),
    ("src/solve/fixedpoint/nncg.c", "a direction that forgets", "s[i] = d[i] + t;", "s[i] = d[i];", "unit/fixedpoint"),
    ("src/solve/contact/pairs.h", "the shift takes half of the slip", "c->mu * sqrt(u[1] * u[1] + u[2] * u[2])", "0.5 * c->mu * sqrt(u[1] * u[1] + u[2] * u[2])", "unit/contact|agree/contact"),
    ("src/model/rigid/motion.c", "inertia turned the wrong way", "return tl_mat3_symmetric(tl_mat3_mul(R, tl_mat3_mul_t(b->inverse, R)));", "return b->inverse;", "physics/rigid_impact|physics/rigid_roll|physics/rigid_stand"),
    ("src/model/sph/kernel.h", "a kernel that does not sum to one", "return b > 0 ? k.s * (a * a * a - 4 * b * b * b)", "return b > 0 ? k.s * (a * a * a - 3.9 * b * b * b)", "unit/sph_system|unit/sph_sample"),
    ("src/model/grid/transfer.c", "weights that do not sum to one", "w[1] = of * (1 - tx) * ty;", "w[1] = of * (1 - tx) * 0.99 * ty;", "unit/grid_transfer"),
    ("src/model/grid/transfer.c", "affine part of one axis lost", "both = c0 + c1;", "both = c0;", "unit/grid_transfer"),
    ("src/render/colour.c", "colours too dark", "1.055f * powf(x, 1 / 2.4f) - 0.055f", "1.055f * powf(x, 1 / 2.2f) - 0.055f", "unit/render_colour"),
    ("src/base/random.h", "steps share their numbers", "+ step * odd + odd);", "+ odd);", "unit/base"),
    ("src/base/radix.c", "keys keep their order", "memcpy(value, from_value, sizeof *value * (size_t)n);", "(void)from_value;", "unit/base"),
    ("src/math/csr_ops.c", "a transpose with wrong values", "T->val[at] = A->val[k];", "T->val[at] = -A->val[k];", "unit/csr_ops"),
    ("src/geom/collide/sphere.c", "normals to the wrong side", "tl_vec3_scale(copysign(1, at[face]), b->axis[face]);", "tl_vec3_scale(copysign(1, -at[face]), b->axis[face]);", "unit/collide_primitives"),
    ("src/geom/triangle_tree.c", "a tree in a wild order", "x = (x | x << 8) & 0x100f00f00f00f00f;", "x = (x | x << 9) & 0x100f00f00f00f00f;", "unit/triangle_tree|agree/mesh_distance"),
    ("src/solve/precond/precond.c", "a shift is forgotten", "double d = inverse[i] + (add_diag ? add_diag[i] : 0);", "double d = inverse[i];", "agree/precond"),
    ("src/solve/boxqp/boxqp.c", "a certificate of another problem", "tl_vec_sub(p->space->n, g, p->b, g);", "tl_vec_add(p->space->n, 1, p->b, g);", "agree/boxqp"),
    ("src/solve/boxqp/boxqp.c", "answers beyond their bounds", "x[i] = tl_boxqp_clamp(p, i, x[i]);", "x[i] += 0 * tl_boxqp_clamp(p, i, x[i]);", "agree/boxqp"),
    ("src/model/lg/operators.c", "one axis of a pull is lost", "r[i] += pull.x, r[i + 1] += pull.y, r[i + 2] += pull.z;", "r[i] += pull.x, r[i + 1] += pull.y;", "agree/lg|unit/lg_hold"),
    ("src/model/lg/polar.h", "a cofactor with the wrong sign", "c01 = f12 * f20 - f10 * f22,", "c01 = f12 * f20 + f10 * f22,", "unit/lg_lanes"),
    ("src/model/grid/levelset.c", "fractions that are too small", "return d > 0 ? 1 - 0.5 * (1 - d) * (1 - d)", "return d > 0 ? 1 - 0.6 * (1 - d) * (1 - d)", "unit/grid_levelset|unit/grid_fractions"),
    ("src/phase/accounts/accounts.c", "angular momentum is not counted", "t->angular = tl_vec3_add_scaled(t->angular, sign, o->angular);", "t->angular = tl_vec3_add_scaled(t->angular, 0 * sign, o->angular);", "cli/verdict|unit/accounts"),
    ("src/io/vtk.c", "arrays begin too early", "l->offset += sizeof(uint64_t) + b.bytes;", "l->offset += b.bytes;", "unit/run_files|cli/vtk_read"),
    ("src/io/seal.c", "one byte of eight is sealed", "memcpy(&word, data + at + 8 * k, 8);", "memcpy(&word, data + at + 8 * k, 1);", "faults/checkpoint"),
    ("src/solve/coupled/certify.c", "the pressure's certificate is ten times too kind", "return relative(max, b);", "return relative(0.1 * max, b);", "unit/step_capture"),
    ("src/phase/lg/contact.c", "the certificate of friction is always 0", "out->friction = fmax(out->friction, r * hypot(", "out->friction = fmax(out->friction, 0 * r * hypot(", "physics/elastic_friction"),
    ("src/model/sph/forces.c", "viscosity doubled", "return (float)(-s->dt * twice_mu * V0", "return (float)(-2 * s->dt * twice_mu * V0", "physics/sph_liquid"),
    ("src/model/lg/rows.c", "belts do not drag local-global bodies", "start = tl_vec3_add_scaled(start, from->h, c->drag);", "start = tl_vec3_add_scaled(start, 0 * from->h, c->drag);", "physics/elastic_friction"),
    ("src/model/elastic/rows.c", "belts do not drag finite elements", "l.bias[k] = -tl_vec3_dot(l.axis[k], c->drag);", "l.bias[k] = 0;", "physics/elastic_friction"),
    ("src/geom/shape_mass.c", "products of inertia of extrusions with the wrong sign", "= -h * (xz - area * cx * cz);", "= h * (xz - area * cx * cz);", "unit/shape"),
    ("src/model/elastic/material.c", "a material that is too soft", "m.lam = lamL + 5.0 / 6 * muL;", "m.lam = lamL + 4.0 / 6 * muL;", "unit/elastic_material"),
    ("src/model/coupling/coupling.c", "bodies feel nine tenths of the pressure", "c->v[k] -= dt * volume * c->dv[k];", "c->v[k] -= 0.9 * dt * volume * c->dv[k];", "unit/step_capture"),
    ("src/solve/linear/cg.c", "a residual of another problem", "tl_vec_sub(s->n, b, r, r);", "tl_vec_add(s->n, b, r, r);", "agree/precond|agree/boxqp"),
    ("src/solve/cone/group.h", "a cone that is too wide", "double scale = r / sqrt(square);", "double scale = 1.01 * r / sqrt(square);", "unit/cone|agree/cone"),
    ("src/solve/pressure/problem.c", "cells may be there twice", "if (key[i] == key[i - 1])", "if (key[i] == key[i - 1] && !n)", "unit/pressure"),
    ("src/scene/settings.c", "true is false", "lua_pushboolean(L, word[0] == 't');", "lua_pushboolean(L, word[0] == 'f');", "unit/scene"),
    ("src/render/image.c", "text is pale", "lround(p[k] + opacity *", "lround(p[k] + 0.5 * opacity *", "unit/render"),
    ("src/run/verdict.c", "the smallest error of volume is judged", "if (fabs(x[VOLUME_ERROR]) > fabs(r->volume))", "if (fabs(x[VOLUME_ERROR]) < fabs(r->volume))", "cli/verdict"),
    ("src/run/verdict.c", "bodies that left are not judged", "part(r->bodies_escaped, r->bodies));", "0 * part(r->bodies_escaped, r->bodies));", "attack/losses"),
    ("src/phase/rigid/begin.c", "scripted bodies outside are lost", "if (sim->rigid.body[i].kind != TL_BODY_FREE) continue;\n        tl_vec3 x", "tl_vec3 x", "attack/losses"),
    ("src/phase/bodies/commit.c", "bodies leave without a word", "    tl_rigid_report_lost(s->sim, s->body, s->data->lost, r);\n", "", "attack/losses"),
    ("src/phase/sph/report.c", "particles leave without a word", "->counter->lost + (f->fluid - s->stay);", "->counter->lost;", "attack/losses|faults/sph"),
    ("src/phase/accounts/accounts.c", "the guard sleeps", "if (!sim->scene->solver.guard || !(gained > there)) return TALUS_OK;", "if (!sim->scene->solver.guard || !(gained > 1e9 * there)) return TALUS_OK;", "unit/policies"),
    ("src/model/grid/transfer.c", "a weight that grows", "w[2] = of * tx * (1 - ty);", "w[2] = of * tx * (1 + ty);", "unit/grid_transfer"),
    ("src/model/grid/advect.c", "affine velocities turned", "gradient[1] = d0 + t[0] * (d1 - d0);", "gradient[1] = d1 + t[0] * (d0 - d1);", "unit/grid_transfer"),
    ("src/model/coupling/stress.c", "a shear that does not act", "d[6 * i + 5] = v[i] * g[TL_S_XY];", "d[6 * i + 5] = 0 * v[i] * g[TL_S_XY];", "unit/stress|agree/stress|physics/sand_static"),
    ("src/model/coupling/stress.c", "a shear with the wrong sign", "d[6 * i + 3] = v[i] * g[TL_S_YZ];", "d[6 * i + 3] = -v[i] * g[TL_S_YZ];", "unit/stress|agree/stress|physics/sand_schemes"),
    ("src/model/grid/rules.c", "static bodies feel stress with the wrong sign", "double force = (f->p[i] - d[k]) / c->dx;", "double force = (f->p[i] + d[k]) / c->dx;", "physics/sand"),
    ("src/model/rigid/contacts.c", "the arm of the other body", "p->arm_b = tl_vec3_sub(p->at, body[p->b].x);", "p->arm_b = tl_vec3_sub(p->at, body[p->a].x);", "physics/rigid_impact|physics/rigid_roll"),
    ("src/solve/coupled/bodies.c", "contacts push bodies twice as hard in the Hessian", "w->r[J->col[k]] += J->val[k] * w->scale[j] * x[w->n + j];\n    accelerate(c, w->r, w->dv);", "w->r[J->col[k]] += 2 * J->val[k] * w->scale[j] * x[w->n + j];\n    accelerate(c, w->r, w->dv);", "unit/coupled"),
    ("src/model/sph/forces.c", "numerical viscosity pushes apart", "sum = tl_vec3_add_scaled(sum, w, tl_vec3_sub(s->v[j], s->v[i]));", "sum = tl_vec3_add_scaled(sum, w, tl_vec3_sub(s->v[i], s->v[j]));", "physics/sph"),
    ("src/model/sph/stop.c", "a blow without its answer", "m->v = tl_vec3_add_scaled(m->v, -blow * share, n);", "m->v = tl_vec3_add_scaled(m->v, 0 * blow * share, n);", "unit/sph|physics/sph"),
    ("src/model/sph/stop.c", "spin with the wrong sign", "m->w = tl_vec3_add_scaled(m->w, -blow, spin);", "m->w = tl_vec3_add_scaled(m->w, blow, spin);", "unit/sph|physics/sph"),
    ("src/model/lg/rows.c", "levers of the wrong place", "l.lever[k] = tl_vec3_sub(p->at, m->x);", "l.lever[k] = tl_vec3_sub(m->x, p->at);", "physics/lg|physics/elastic_friction|unit/lg"),
    ("src/phase/accounts/accounts.c", "momentum of a sum is lost", "t->momentum = tl_vec3_add_scaled(t->momentum, sign, o->momentum);", "t->momentum = tl_vec3_add_scaled(t->momentum, 0 * sign, o->momentum);", "cli/verdict"),
    ("src/io/vtk.c", "blocks that are too short", "(uint64_t)count * (uint64_t)components * bytes_of(type)}", "(uint64_t)count * (uint64_t)components * 4}", "unit/run_files|cli/vtk_read"),
    ("src/io/csv.c", "a line is written twice", "c->used = 0;\n    if (c->no_memory) {", "if (c->no_memory) {", "unit/run_files|cli/run"),
    ("src/phase/views.c", "velocities for places", "return nodes_of(sim, s ? s->q : NULL);", "return nodes_of(sim, s ? s->v : NULL);", "unit/lg_hold|unit/lg_reach|cli/export|python/talus"),
]


def copy_tree(copy):
    """The tree as git knows it, with its build folder left from the last time."""
    copy.mkdir(parents=True, exist_ok=True)
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout.split(b"\0")
    for name in filter(None, map(os.fsdecode, names)):
        source, target = ROOT / name, copy / name
        if not source.is_file() or (target.is_file() and target.read_bytes() == source.read_bytes()):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)  # with a new time, so that what a killed run left is built again


def build(copy, tests):
    """What these tests run: their own programs, or the command and the library."""
    if not (copy / "build/build.ninja").exists():
        subprocess.run(["cmake", "--preset", "release"], cwd=copy, check=True, stdout=subprocess.DEVNULL)
    listed = subprocess.run(["ctest", "--test-dir", "build", "-N", "-R", f"^({tests})"], cwd=copy, check=True, capture_output=True, text=True).stdout
    targets = set()
    for folder, name in re.findall(r"Test +#\d+: (\w+)/(\w+)", listed):
        compiled = (copy / f"tests/{folder}/{name}.c").is_file()
        targets |= {f"test_{folder}_{name}"} if compiled else {"talus_program", "talus_shared"}
    return targets and subprocess.run(["cmake", "--build", "build", "--target", *targets], cwd=copy, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL).returncode == 0


def passes(copy, tests, seconds=1800):
    """False when a test fails, or when they take longer than they may: a fault that hangs is noticed as well."""
    process = subprocess.Popen(["ctest", "--test-dir", "build", "-R", f"^({tests})", "--stop-on-failure"], cwd=copy, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        return process.wait(timeout=seconds) == 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("filter", nargs="?", default="")
    parser.add_argument("--list", action="store_true", help="only tell which are there, and which are stale")
    parser.add_argument("--copy", type=pathlib.Path, default=pathlib.Path("/tmp/talus-mutants"))
    options = parser.parse_args()
    chosen = [m for m in MUTANTS if re.search(options.filter, f"{m[0]}: {m[1]}")]
    stale = [m for m in chosen if not (ROOT / m[0]).is_file() or (ROOT / m[0]).read_text().count(m[2]) != 1]
    for m in stale:
        print(f"stale     {m[0]}: {m[1]}")
    chosen = [m for m in chosen if m not in stale]
    if options.list:
        print("\n".join(f"ready     {m[0]}: {m[1]}" for m in chosen))
        return 1 if stale else 0
    copy_tree(options.copy)
    if not build(options.copy, "|".join({m[4] for m in chosen})):
        sys.exit("the tree as it is does not build, or there is no such test")
    caught, sound = 0, {}
    for file, what, old, new, tests in chosen:
        if tests not in sound:
            began = time.monotonic()
            good = build(options.copy, tests)
            sound[tests] = 30 + 5 * (time.monotonic() - began) if good and passes(options.copy, tests) else 0
        if not sound[tests]:
            print(f"no test   {file}: {what} ({tests} fail without the fault as well)", flush=True)
            continue
        path = options.copy / file
        good = path.read_text()
        began = time.monotonic()
        path.write_text(good.replace(old, new))
        built = build(options.copy, tests)
        noticed = built and not passes(options.copy, tests, sound[tests])
        path.write_text(good)
        caught += noticed
        verdict = "caught   " if noticed else "SURVIVED " if built else "no fault "
        print(f"{verdict} {file}: {what} ({tests if built else 'does not build'}, {time.monotonic() - began:.0f} s)", flush=True)
    print(f"{caught} of {len(chosen)} caught, {len(stale)} stale")
    return 0 if chosen and caught >= 0.9 * len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
