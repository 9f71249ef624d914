/* From the answer of the coupled problem to velocities of all faces: what carries particles, and what they carry. */
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/parallel.h"
#include "model/grid/extrapolate.h"
#include "model/grid/flow.h"

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to extend velocities on the grid");
}

talus_status tl_flow_find_pressed(tl_flow *f, double *liquid_volume, talus_error *err)
{
    f->pressed = TL_TAKE_ZERO(f->arena, uint8_t, f->grid.cells);
    TL_TRY(tl_comm_agree(f->grid.comm, f->pressed ? TALUS_OK : no_memory(err), err));
    for (int32_t i = 0; i < f->system.c.cells; i++) f->pressed[f->system.active.cell[i]] = f->p[i] != 0;
    tl_grid_refresh(&f->grid, sizeof *f->pressed, f->pressed);
    return tl_liquid_volume(&f->grid, &f->full, f->pressed, f->arena, liquid_volume, err);
}

double tl_flow_fastest_cell(const tl_flow *f)
{
    const tl_coupling *c = &f->system.c;
    double max = 0;
#pragma omp parallel for schedule(static) reduction(max : max) if (c->cells >= TL_PARALLEL_MIN)
    for (int32_t i = 0; i < c->cells; i++) {
        const int32_t *face = c->face + 6 * (int64_t)i;
        double v2 = 0;
        for (int k = 0; k < 3; k++) {
            double v = 0.5 * (c->u[face[2 * k]] + c->u[face[2 * k + 1]]);
            v2 += v * v;
        }
        max = fmax(max, v2);
    }
    return sqrt(tl_comm_max(f->grid.comm, max));
}

/* ---- the velocities of the solve ---- */

/* Liquid: momentum of own faces before the solve, and what pressure gave them (force densities in c.y). */
static talus_status note_momentum(tl_flow *f, talus_error *err)
{
    const tl_system *y = &f->system;
    const double impulse = f->dt * y->c.dx * y->c.dx * y->c.dx;
    for (int a = 0; a < 3; a++) {
        if (!(f->due[a] = TL_TAKE(f->arena, double, f->grid.cells))) return no_memory(err);
        const double *mass = f->faces.mass[a], *u = f->faces.u[a];
        double *out = f->due[a];
#pragma omp parallel for schedule(static) if (f->grid.cells >= TL_PARALLEL_MIN)
        for (int64_t i = 0; i < f->grid.cells; i++) out[i] = mass[i] * u[i];
    }
#pragma omp parallel for schedule(static) if (y->c.faces >= TL_PARALLEL_MIN)
    for (int32_t k = 0; k < y->c.faces; k++) f->due[y->axis[k]][y->id[k]] -= impulse * y->c.fluid[k] * y->c.y[k];
    for (int32_t k = 0; k < y->stress.holds; k++) /* what solids got there in its place */
        f->due[y->axis[y->stress.held[k]]][y->id[y->stress.held[k]]] -= impulse * y->stress.hold[k];
    return TALUS_OK;
}

/* Viscous: a face that shear ties to a solid, which covers it in part or wholly. Its velocity is the solve's or the
 * solid's own, never its neighbours': with these, liquid beside the solid would be set in motion after every solve and
 * stopped in the next, and the solid would feel mass times velocity over the step (a plate that covers 0.8 of its cells
 * 1.23 of the drag at 50 ms, more with shorter steps). */
static bool sticks(const tl_flow *f, int32_t k)
{
    const tl_viscous_stress *v = &f->system.viscous;
    if (!v->s || !(f->system.c.fluid[k] < 1)) return false;
    for (int j = 0; j < 4; j++) {
        int32_t edge = f->system.stress.face_edge[j][k];
        if (edge < f->system.stress.edges && v->edge[edge] > 0) return true;
    }
    return false;
}

/* A free piece has no weight to carry: its faces get what the solve gave them, by their own mass, and those that go
 * with others follow. Sand has its own rule (carry.h). Then what faces have of their own is noted: nothing that
 * follows may lose it where they have mass and are of free pieces. */
talus_status tl_flow_store(tl_flow *f, talus_error *err)
{
    const tl_system *y = &f->system;
    if (f->stress) {
        tl_system_store(y, f->faces.u);
        return TALUS_OK;
    }
    talus_status status = note_momentum(f, err);
    for (int a = 0; a < 3 && status == TALUS_OK; a++)
        if (!(f->own[a] = TL_TAKE(f->arena, double, f->grid.cells))) status = no_memory(err);
    TL_TRY(tl_comm_agree(f->grid.comm, status, err));
    for (int32_t k = 0; k < y->c.faces; k++) {
        int a = y->axis[k];
        int32_t i = y->id[k];
        if (y->c.fluid[k] > f->set->rules.closed || tl_face_is_free(&f->pieces, &f->grid, a, i) ||
            (y->c.fluid[k] > 0 && sticks(f, k)))
            f->faces.u[a][i] = y->c.u[k];
    }
    tl_grid_refresh3(&f->grid, f->faces.u);
    if (y->carry.known[0]) tl_carry_follow(&y->carry, &f->grid, f->faces.u);
    for (int a = 0; a < 3; a++) memcpy(f->own[a], f->faces.u[a], sizeof(double) * (size_t)f->grid.cells);
    return TALUS_OK;
}

/* ---- beyond them ---- */

/* A face outside of the system with matter on it moves on its own where no kernel reaches held liquid. */
static bool is_alone(const tl_flow *f, int axis, int32_t i)
{
    if (tl_face_is_free(&f->pieces, &f->grid, axis, i)) return true;
    return 0.5 * (f->phi[i] + f->phi[tl_grid_step(&f->grid, i, axis, -1)]) >= f->set->rules.kernel_reach * f->grid.f.dx;
}

/* Velocities of liquids on open faces. Nearer to held liquid, two layers far, matter goes with it: on its own, the
 * last half cell below a surface falls freely between two solves, the density correction lifts it again, and waves
 * grow (by a factor of 3.5 in 20 s); with the impulse of its neighbours instead of their velocity they still gain a
 * fifth. */
static talus_status surround_liquid(tl_flow *f, talus_error *err)
{
    const double closed = f->set->rules.closed;
    const int64_t own_cells = tl_grid_summed(&f->grid);
    for (int a = 0; a < 3; a++) {
        const double *open = f->fractions.open[a];
        const int32_t *of = f->system.of[a];
        uint8_t *known = f->known[a];
#pragma omp parallel for schedule(static) if (f->grid.cells >= TL_PARALLEL_MIN)
        for (int64_t i = 0; i < own_cells; i++)
            known[i] = of[i] >= 0 && (open[i] > closed || (f->system.c.fluid[of[i]] > 0 && sticks(f, of[i])));
        tl_grid_refresh(&f->grid, sizeof *known, known);
    }
    TL_TRY(tl_extrapolate(&f->grid, f->set->rules.surround_layers, f->faces.u, f->known, f->arena, err));
    for (int a = 0; a < 3; a++) {
        const double *mass = f->faces.mass[a], *open = f->fractions.open[a], *own = f->own[a];
        double *u = f->faces.u[a];
        uint8_t *known = f->known[a];
#pragma omp parallel for schedule(static) if (f->grid.cells >= TL_PARALLEL_MIN)
        for (int64_t i = 0; i < own_cells; i++) {
            if (known[i] == 1) continue;
            bool matter = mass[i] > 0 && open[i] > closed;
            if (matter && (!known[i] || is_alone(f, a, (int32_t)i))) u[i] = own[i];
            known[i] = matter;
        }
        tl_grid_refresh(&f->grid, sizeof *u, u);
        tl_grid_refresh(&f->grid, sizeof *known, known);
    }
    return TALUS_OK;
}

/* Sand: faces with a velocity of their own; others go with them (carry.h). */
static void know_carriers(tl_flow *f)
{
    for (int a = 0; a < 3; a++) {
        const uint8_t *alone = f->system.carry.known[a];
        uint8_t *known = f->known[a];
#pragma omp parallel for schedule(static) if (f->grid.cells >= TL_PARALLEL_MIN)
        for (int64_t i = 0; i < f->grid.cells; i++) known[i] = alone[i] == 1;
    }
}

/* Bodies where the step began, with the velocities of its end: what flows beside them must not flow into. */
static talus_status solids_in_motion(tl_flow *f, tl_solids *out, talus_error *err)
{
    tl_motion *m = TL_TAKE(f->arena, tl_motion, f->rigid->count);
    if (!m) return no_memory(err);
    for (int32_t i = 0; i < f->rigid->count; i++) {
        m[i] = f->before[i];
        m[i].v = tl_vec3_load(f->v + 6 * (int64_t)i);
        m[i].w = tl_vec3_load(f->v + 6 * (int64_t)i + 3);
    }
    TL_TRY(tl_solids_with_skins(out, &f->grid, f->rigid, &f->scene->domain, m, f->soft ? f->soft->moving : NULL,
                                f->arena, err));
    out->free_gives = f->stress != NULL;
    return TALUS_OK;
}

/* Viscous: closed faces that stick go with their solid. */
static void stick_closed_faces(const tl_flow *f, const tl_solids *moving)
{
    const tl_system *y = &f->system;
    if (!y->viscous.s) return;
#pragma omp parallel for schedule(static) if (y->c.faces >= TL_PARALLEL_MIN)
    for (int32_t k = 0; k < y->c.faces; k++) {
        int a = y->axis[k];
        int32_t i = y->id[k], which;
        tl_vec3 n, at;
        if (y->c.fluid[k] > 0 || !tl_grid_exists(&f->grid, i) || !sticks(f, k)) continue;
        at = tl_grid_face_centre(&f->grid, a, i);
        tl_solids_distance(moving, tl_grid_block_of(&f->grid, i), at, &which, &n);
        if (which == TL_SOLID_NONE) continue;
        tl_vec3 v = tl_solids_velocity(moving, which, at);
        f->faces.u[a][i] = a == 0 ? v.x : a == 1 ? v.y : v.z;
        f->known[a][i] = 1;
    }
}

talus_status tl_flow_extend(tl_flow *f, tl_impulse *held, talus_error *err)
{
    const bool sand = f->stress != NULL;
    tl_solids moving;
    if (sand)
        know_carriers(f);
    else
        TL_TRY(surround_liquid(f, err));
    TL_TRY(tl_comm_agree(f->grid.comm, solids_in_motion(f, &moving, err), err));
    TL_TRY(tl_extrapolate(&f->grid, TL_EXTRAPOLATE_LAYERS, f->faces.u, f->known, f->arena, err));
    tl_impulse before = {{0, 0, 0}, {0, 0, 0}}, after = before;
    if (sand) before = tl_faces_closed(&f->grid, &f->faces, &f->fractions);
    const tl_covered covered = {&moving, f->fractions.open, sand ? 0 : f->set->rules.closed, sand ? NULL : f->pressed};
    TL_TRY(tl_clip_inflow(&f->grid, &covered, f->known, f->faces.u, f->arena, err));
    stick_closed_faces(f, &moving);
    if (sand) after = tl_faces_closed(&f->grid, &f->faces, &f->fractions);
    held->linear = tl_vec3_sub(after.linear, before.linear);
    held->angular = tl_vec3_sub(after.angular, before.angular);
    return TALUS_OK;
}

talus_status tl_flow_keep_momentum(tl_flow *f, tl_repay *r, talus_error *err)
{
    const int64_t own_cells = tl_grid_summed(&f->grid);
    for (int a = 0; a < 3; a++) {
        const double *mass = f->faces.mass[a], *own = f->own[a];
        double *u = f->faces.u[a];
        uint8_t *known = f->known[a];
#pragma omp parallel for schedule(static) if (f->grid.cells >= TL_PARALLEL_MIN)
        for (int64_t i = 0; i < own_cells; i++) {
            if (!(mass[i] > 0) || !tl_face_is_free(&f->pieces, &f->grid, a, (int32_t)i)) continue;
            u[i] = own[i];
            if (!known[i]) known[i] = 1;
        }
        tl_grid_refresh(&f->grid, sizeof *known, known);
    }
    *r = (tl_repay){.mass = f->faces.mass, .due = f->due};
    return tl_faces_repay(&f->grid, &f->pieces, r, f->faces.u, f->arena, err);
}
