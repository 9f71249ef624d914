#include "model/grid/rules.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/parallel.h"
#include "model/grid/extrapolate.h"

#define PART_SHARE                                                                                                     \
    0.25 /* of a crowd's excess that one step takes away: 1 opens gaps beside walls, 0.25 keeps a pool within 1 % */
#define PART_LEAK                                                                                                      \
    1e-3 /* of a face: crowds reach 30 cells far in a step, and those of a closed cavity have a solution */
#define PART_FURTHEST 0.2 /* cells */
#define PART_LAYERS 2     /* beyond the liquid */
#define CROWDED 0.1       /* excess of a cell up to which a liquid's strain counts */

static const tl_grid_rule rules[] = {
    {"stress at rest", "select static stress, model/coupling/statics.h",
     "rigid-plastic sand at rest keeps the stress of its last impact: walls of silos read anything",
     "solver.static_stress = \"none\"", "physics/sand.c silo_at_rest"},
    {"rough solids", "assemble, model/coupling/slip.h",
     "stress samples reach over a wall, so that a solid is as rough as the sand unless it says otherwise",
     "sand_friction = \"own\"", "physics/sand.c sand_slips_on_floors"},
    {"edges carry the load around them", "assemble, model/coupling/edges.h",
     "outer faces of steep steps get nothing from what lies below them, and feet of piles creep",
     "solver.edges = \"wall\"", "physics/sand.c round_piles_rest"},
    {"hand over", "condition, model/coupling/carry.h",
     "faces that go with others would lose the momentum that is on them: 35 % of what an emitter lets fall",
     "solver.density = \"kernel\"", "physics/sand_rules.c emitted_sand_lands"},
    {"least mass", "assemble, model/coupling/liquid.h",
     "cells of sand with an empty side would have a pressure, and faces with next to no mass any speed",
     "solver.density = \"kernel\"", "physics/sand.c sand_hits_a_free_ball"},
    {"closed slivers", "assemble, model/coupling/liquid.h",
     "a face that a solid covers by three quarters and more shoots off: nothing balances its velocity",
     "solver.rules.closed_slivers = false", "physics/sand_rules.c slivers_at_a_plate"},
    {"held faces", "assemble, model/coupling/viscous.h",
     "edges and cells see other parts of what is open around a face inside of a curved solid: viscous liquid slips "
     "there",
     "solver.rules.closed_slivers = false", "physics/viscous.c curved_solids_hold_the_liquid"},
    {"closed fringe", "assemble, model/coupling/liquid.h",
     "a floor face beyond a front, that shear reaches and no pressure holds, moves with the front and holds it back",
     "solver.rules.closed_fringe = false", "physics/sand_rules.c fringe_of_piles"},
    {"single grains", "condition, model/grid/grains.h",
     "where no pressure acts no stress holds a grain: a floor is ice, and its gradient speeds it up with every cell",
     "solver.rules.single_grains = false", "physics/sand_rules.c single_grains_stop"},
    {"riders", "condition, model/grid/grains.h",
     "single grains that are heavier than the elastic sheet below them fall with it: nothing lifts them",
     "solver.rules.single_grains = false", "physics/sandy.c a_light_sheet_bears_a_layer"},
    {"crowds part", "part crowds, model/grid/rules.h",
     "cells fill beyond what they hold and empty elsewhere: a collapsed column loses 1.5 % of its volume",
     "grid.correct_density = false", "physics/sand_rules.c piles_at_rest_stay"},
};

int tl_grid_rule_count(void) { return (int)(sizeof rules / sizeof *rules); }
const tl_grid_rule *tl_grid_rule_at(int i) { return i >= 0 && i < tl_grid_rule_count() ? &rules[i] : NULL; }

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the rules of a step of the grid engine");
}

/* ---- before the solve ---- */

/* As many as there may be. */
static talus_status make_riders(tl_flow *f, talus_error *err)
{
    const tl_grid *g = &f->grid;
    f->riders = (tl_riders){0};
    for (int32_t b = 0; b < g->blocks; b++)
        if (f->solids.start[b] < f->solids.start[b + 1]) f->riders.room += g->first[b + 1] - g->first[b];
    if (!(f->riders.of = TL_TAKE(f->arena, tl_rider, f->riders.room + 1))) return no_memory(err);
    return TALUS_OK;
}

talus_status tl_rule_single_grains(tl_flow *f, double *load, tl_grain_account *got, talus_error *err)
{
    *got = (tl_grain_account){0};
    const bool rides = f->soft && f->set->alpha && f->set->rules.ride && f->scene->solver.rules.single_grains;
    if (rides) TL_TRY(make_riders(f, err));
    tl_grains grains = {.alpha = f->set->alpha,
                        .rho = f->set->density,
                        .number = f->system.active.number,
                        .solids = &f->solids,
                        .solid_phi = f->solid_phi,
                        .touch = 0.5 * f->set->spacing,
                        .inv_mass = f->inv_mass,
                        .inv_inertia = f->inv_inertia,
                        .body_v = f->v_free,
                        .load = load,
                        .friction = f->slips ? f->slip.friction : NULL,
                        .walls = f->slip.walls,
                        .riders = rides ? &f->riders : NULL,
                        .account = got,
                        .push = tl_vec3_scale(f->dt, f->scene->gravity)};
    if (f->set->alpha && !f->scene->solver.rules.single_grains) return TALUS_OK;
    if (f->grid.comm) return tl_grains_stop_parts(&f->grid, &grains, &f->particles, &f->faces, f->arena, err);
    tl_grains_stop(&f->grid, &grains, &f->particles, &f->faces);
    return TALUS_OK;
}

talus_status tl_rule_land_riders(tl_flow *f, talus_error *err)
{
    double *impulse[3];
    if (!f->riders.count) return TALUS_OK;
    for (int a = 0; a < 3; a++)
        if (!(impulse[a] = TL_TAKE_ZERO(f->arena, double, f->grid.cells))) return no_memory(err);
    tl_grains_land(&f->grid, &f->riders, &f->particles, impulse);
    tl_carry_impulses(&f->system.carry, &f->grid, &f->faces, impulse);
    return TALUS_OK;
}

talus_status tl_rule_hand_over(tl_flow *f, talus_error *err)
{
    const tl_carry *c = &f->system.carry;
    if (!c->known[0]) return TALUS_OK;
    TL_TRY(tl_carry_velocities(c, &f->grid, &f->faces, f->arena, err));
    if (!f->stress) tl_carry_follow(c, &f->grid, f->faces.u);
    return TALUS_OK;
}

/* ---- crowds ---- */

/* Excess of a cell of the system that the step has to take away. */
static double wanted_excess(const tl_flow *f, int32_t i)
{
    const tl_coupling *c = &f->system.c;
    double excess = f->excess[f->system.active.cell[i]], strain = 0;
    if (f->stress || excess > CROWDED) return excess;
    for (int k = 0; k < 3; k++) {
        const int32_t *face = &c->face[6 * (int64_t)i + 2 * k];
        double rate = (c->u[face[1]] - c->u[face[0]]) / c->dx;
        strain += rate * rate;
    }
    return excess * fmin(1, f->set->rules.strains * f->dt * sqrt(strain) / PART_SHARE);
}

talus_status tl_rule_find_crowds(const tl_flow *f, tl_crowds *out, talus_error *err)
{
    const tl_system *y = &f->system;
    const int32_t n = y->c.cells;
    *out = (tl_crowds){0};
    if (!f->scene->grid.correct_density) return TALUS_OK;
    double *b = TL_TAKE(f->arena, double, n), *d = TL_TAKE(f->arena, double, n), max = 0;
    float *dir = TL_TAKE(f->arena, float, n), *ar = TL_TAKE(f->arena, float, n);
    out->x = TL_TAKE_ZERO(f->arena, double, tl_coupling_length(&y->c));
    TL_TRY(tl_comm_agree(f->grid.comm, b && d && dir && ar && out->x ? TALUS_OK : no_memory(err), err));
    for (int32_t i = 0; i < n; i++) {
        b[i] = PART_SHARE * wanted_excess(f, i);
        max = fmax(max, fabs(b[i]));
        dir[i] = y->dir[i] + (float)PART_LEAK;
        ar[i] = y->ar[i] + (float)PART_LEAK;
        d[i] = y->d[i] + (double)(dir[i] - y->dir[i]);
    }
    if (!(tl_comm_max(f->grid.comm, max) > 0)) return TALUS_OK;
    out->any = true;
    out->problem = tl_system_pressure(y);
    out->problem.b = b;
    out->problem.dir = dir;
    out->problem.ar = ar;
    out->problem.d = d;
    out->problem.unilateral = false;
    return TALUS_OK;
}

talus_status tl_rule_part_crowds(const tl_flow *f, tl_crowds *c, talus_error *err)
{
    const tl_system *y = &f->system;
    const double furthest = PART_FURTHEST * y->c.dx, scale = y->density * y->c.dx * y->c.dx;
    uint8_t *known[3];
    bool good = true;
    for (int a = 0; a < 3; a++) {
        good &= (c->way[a] = TL_TAKE_ZERO(f->arena, double, f->grid.cells)) != NULL;
        good &= (known[a] = TL_TAKE_ZERO(f->arena, uint8_t, f->grid.cells)) != NULL;
    }
    double *d = TL_TAKE_ZERO(f->arena, double, y->c.faces);
    TL_TRY(tl_comm_agree(f->grid.comm, good && d ? TALUS_OK : no_memory(err), err));
    if (c->any) {
        tl_pressure_refresh(&c->problem, c->x);
        tl_coupling_gradient(&y->c, c->x, d);
    }
    for (int32_t k = 0; k < y->c.faces; k++) {
        if (!(y->c.fluid[k] > 0)) continue;
        c->way[y->axis[k]][y->id[k]] = fmax(-furthest, fmin(furthest, -scale * y->c.mobility[k] * d[k]));
        known[y->axis[k]][y->id[k]] = 1;
    }
    tl_grid_refresh3(&f->grid, c->way);
    for (int a = 0; a < 3; a++) tl_grid_refresh(&f->grid, sizeof(uint8_t), known[a]);
    return tl_extrapolate(&f->grid, PART_LAYERS, c->way, known, f->arena, err);
}

talus_status tl_rule_carry(tl_flow *f, const tl_crowds *c, double part, talus_error *err)
{
    const double per_dt = 1 / f->dt;
    for (int a = 0; a < 3; a++) f->moving[a] = TL_TAKE(f->arena, double, f->grid.cells);
    const bool good = f->moving[0] && f->moving[1] && f->moving[2];
    TL_TRY(tl_comm_agree(f->grid.comm, good ? TALUS_OK : no_memory(err), err));
    for (int a = 0; a < 3; a++) {
        const double *open = f->fractions.open[a], *u = f->faces.u[a], *way = c->way[a];
        double *out = f->moving[a];
#pragma omp parallel for schedule(static) if (f->grid.cells >= TL_PARALLEL_MIN)
        for (int64_t i = 0; i < f->grid.cells; i++) out[i] = open[i] > 0 ? u[i] + per_dt * (part * way[i]) : u[i];
    }
    return TALUS_OK;
}

/* ---- loads of what does not move ---- */

/* s_xx, s_yy, s_zz of a cell as faces feel them, of sand or a viscous liquid; none of one without either. */
static void diagonal_stress(const tl_flow *f, const double *stress, int32_t cell, double d[3])
{
    const tl_stress *t = &f->system.stress;
    const int stride = t->staggered ? 2 : TL_STRESS_GROUP, zz = t->staggered ? 1 : TL_S_ZZ;
    const double *g = stress ? stress + stride * (int64_t)cell : NULL, w = stress ? t->diagonal[cell] : 0;
    d[0] = g ? w * t->only[0] * g[0] : 0;
    d[2] = g ? w * t->only[2] * g[zz] : 0;
    d[1] = -d[0] - d[2];
}

/* A cell of which a single face is open lies in a solid: what it does to a pair of closed faces is in balance inside
 * of that solid, and would only be shared out between bodies that meet in a corner, as one that stands on a floor. y
 * [faces] without it. */
static void drop_inner_forces(const tl_flow *f, const double *stress, double *y)
{
    const tl_coupling *c = &f->system.c;
    for (int32_t i = 0; i < c->cells; i++) {
        const int32_t *face = c->face + 6 * (int64_t)i;
        int open = 0;
        for (int k = 0; k < 6; k++) open += c->fluid[face[k]] > 0 && face[k] != face[k ^ 1];
        if (open != 1) continue;
        double d[3];
        diagonal_stress(f, stress, i, d);
        for (int k = 0; k < 3; k++) {
            if (face[2 * k] == face[2 * k + 1] || c->fluid[face[2 * k]] > 0 || c->fluid[face[2 * k + 1]] > 0) continue;
            double force = (f->p[i] - d[k]) / c->dx;
            y[face[2 * k]] -= force;
            y[face[2 * k + 1]] += force;
        }
    }
}

/* The same in several parts: cells of others have a say in own faces. */
static talus_status drop_in_parts(const tl_flow *f, const double *stress, double *y, talus_error *err)
{
    const tl_system *s = &f->system;
    size_t mark = tl_arena_mark(f->arena);
    double *drop = TL_TAKE_ZERO(f->arena, double, s->c.faces), *on[3];
    bool good = drop != NULL;
    for (int a = 0; a < 3; a++) good &= (on[a] = TL_TAKE_ZERO(f->arena, double, f->grid.cells)) != NULL;
    TL_TRY(tl_comm_agree(f->grid.comm, good ? TALUS_OK : no_memory(err), err));
    drop_inner_forces(f, stress, drop);
    for (int32_t k = 0; k < s->c.faces; k++) on[s->axis[k]][s->id[k]] = drop[k];
    for (int a = 0; a < 3; a++) tl_grid_add_halo(&f->grid, on[a]);
    for (int32_t k = 0; k < s->c.faces; k++) y[k] += on[s->axis[k]][s->id[k]];
    tl_arena_release(f->arena, mark);
    return TALUS_OK;
}

/* Of own faces. */
static void load_static(const tl_flow *f, const double *force, double *load)
{
    const tl_system *y = &f->system;
    const double volume = y->c.dx * y->c.dx * y->c.dx;
    for (int32_t k = 0; k < y->c.faces; k++) {
        int axis = y->axis[k];
        if (y->c.owned && !y->c.owned[k]) continue;
        double weight = f->fractions.fixed[axis][y->id[k]], on[3] = {0, 0, 0}, torque[3];
        int32_t block = y->id[k] / f->grid.f.size;
        if (!(weight > 0) || force[k] == 0 || block >= f->grid.blocks) continue;
        tl_vec3 at = tl_grid_face_centre(&f->grid, axis, y->id[k]);
        int32_t body = tl_solids_nearest_fixed(&f->solids, block, at);
        if (body < 0) continue;
        on[axis] = -weight * force[k] * volume;
        tl_vec3_store(tl_vec3_cross(tl_vec3_sub(at, f->before[body].x), tl_vec3_load(on)), torque);
        for (int m = 0; m < 3; m++) {
            load[6 * (int64_t)body + m] += on[m];
            load[6 * (int64_t)body + 3 + m] += torque[m];
        }
    }
}

talus_status tl_rule_load_static_bodies(const tl_flow *f, double *load, talus_error *err)
{
    const tl_system *y = &f->system;
    const int64_t six = 6 * (int64_t)f->rigid->scene_count;
    double *force = y->c.y;
    bool any = false;
    for (int32_t i = 0; i < f->rigid->scene_count; i++) any |= f->rigid->body[i].kind == TL_BODY_STATIC;
    if (!any) return TALUS_OK;
    const double *stress = tl_flow_stress(f);
    tl_stress_face_forces(&y->stress, &y->c, f->p, stress, force);
    if (!f->grid.comm) {
        drop_inner_forces(f, stress, force);
        load_static(f, force, load);
        return TALUS_OK;
    }
    TL_TRY(drop_in_parts(f, stress, force, err));
    double *mine = TL_TAKE_ZERO(f->arena, double, six);
    TL_TRY(tl_comm_agree(f->grid.comm, mine ? TALUS_OK : no_memory(err), err));
    load_static(f, force, mine);
    tl_comm_sums(f->grid.comm, six, mine);
    for (int64_t k = 0; k < six; k++) load[k] += mine[k];
    return TALUS_OK;
}
