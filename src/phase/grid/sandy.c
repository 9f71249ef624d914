#include "phase/grid/sandy.h"

#include <math.h>
#include <string.h>

#include "solve/flex/inside.h"

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for elastic bodies in sand");
}

/* ---- nodes and unknowns ---- */

/* First of the three unknowns of a node; -1: held. */
static int64_t unknown(const tl_elastic_trial *s, int32_t node)
{
    const int32_t place = s->fem->place[node];
    return place < 0 ? -1 : s->data->first[s->lg->owner[node]] + 3 * (int64_t)place;
}

static int64_t nodes3(const tl_sandy *s) { return 3 * (int64_t)s->trial->lg->nodes; }
static int64_t unknowns(const tl_sandy *s) { return s->trial->data->first[s->trial->fem->bodies]; }
static int64_t twists(const tl_sandy *s) { return 6 * (int64_t)s->flow->rigid->count; }

/* v = H^-1 r */
static void give_way(const void *ctx, const double *r, double *v)
{
    tl_sandy *s = (tl_sandy *)ctx;
    const tl_elastic_trial *e = s->trial;
    const int64_t n = unknowns(s), nodes = nodes3(s);
    talus_error why = {0};
    for (int32_t i = 0; i < e->lg->nodes; i++) {
        const int64_t to = unknown(e, i);
        if (to >= 0) memcpy(s->r + to, r + 3 * (int64_t)i, 3 * sizeof *r);
    }
    memcpy(s->r + n, r + nodes, sizeof *r * (size_t)twists(s));
    const talus_status status = tl_flex_factor_solve(&e->flex, s->r, s->x, &why);
    if (status != TALUS_OK && s->failed == TALUS_OK) s->failed = status, s->why = why;
    memset(v, 0, sizeof *v * (size_t)nodes);
    for (int32_t i = 0; i < e->lg->nodes; i++) {
        const int64_t from = unknown(e, i);
        if (from >= 0) memcpy(v + 3 * (int64_t)i, s->x + from, 3 * sizeof *v);
    }
    memcpy(v + nodes, s->x + n, sizeof *v * (size_t)twists(s));
}

/* Velocities at hand and the correction that is being solved for. */
static void find_velocities(const tl_sandy *s)
{
    const tl_elastic_trial *e = s->trial;
    const int64_t n = unknowns(s), nodes = nodes3(s);
    memcpy(s->c.v, e->v, sizeof *e->v * (size_t)nodes);
    for (int32_t i = 0; i < e->lg->nodes; i++) {
        const int64_t from = unknown(e, i);
        for (int k = 0; k < 3 && from >= 0; k++) s->c.v[3 * (int64_t)i + k] += e->flex_dv[from + k];
    }
    for (int64_t k = 0; k < twists(s); k++) s->c.v[nodes + k] = e->bodies->v_free[k] + e->flex_dv[n + k];
}

/* ---- the operator ---- */

static talus_status take_room(tl_sandy *s, talus_error *err)
{
    tl_arena *a = s->flow->arena;
    const int64_t all = nodes3(s) + twists(s), n = unknowns(s) + twists(s), faces = s->c.faces;
    s->inv_mass = TL_TAKE(a, double, s->trial->lg->nodes + 1);
    s->r = TL_TAKE(a, double, n + 1);
    s->x = TL_TAKE(a, double, n + 1);
    s->c.v = TL_TAKE_ZERO(a, double, all + 1);
    s->c.r = TL_TAKE(a, double, all + 1);
    s->c.dv = TL_TAKE(a, double, all + 1);
    s->u_free = TL_TAKE(a, double, faces + 1);
    s->u_last = TL_TAKE(a, double, faces + 1);
    s->mass = TL_TAKE(a, double, faces + 1);
    s->bends = TL_TAKE(a, double, faces + 1);
    return s->inv_mass && s->r && s->x && s->c.v && s->c.r && s->c.dv && s->u_free && s->u_last && s->mass && s->bends
               ? TALUS_OK
               : no_memory(err);
}

talus_status tl_sandy_assemble(tl_sandy *s, tl_elastic_trial *trial, tl_flow *flow, const tl_soft_domain *d,
                               talus_error *err)
{
    const tl_system *y = &flow->system;
    *s = (tl_sandy){.trial = trial, .flow = flow, .c = y->c};
    TL_TRY(take_room(s, err));
    for (int32_t i = 0; i < trial->lg->nodes; i++)
        s->inv_mass[i] = trial->fem->place[i] < 0 ? 0 : 1 / trial->lg->mass[i];
    for (int32_t f = 0; f < y->c.faces; f++) {
        s->bends[f] = flow->fractions.soft[y->axis[f]][y->id[f]];
        s->mass[f] = y->c.mobility[f] > 0 ? y->c.fluid[f] / y->c.mobility[f] : 0;
    }
    s->solid = (tl_soft_solid){.rigid = &y->rigid, .inv_mass = s->inv_mass, .solve = give_way, .ctx = s};
    TL_TRY(tl_soft_solid_build(&s->solid, d, flow->arena, err));
    s->c.solid = tl_soft_solid_view(&s->solid);
    memcpy(s->c.v, trial->now->v, sizeof *s->c.v * (size_t)nodes3(s));
    flow->motion = &s->c;
    trial->sandy = true;
    flow->bends = s->bends;
    return TALUS_OK;
}

/* ---- the block ---- */

static tl_cone problem(const void *ctx, const double *p)
{
    const tl_sandy *s = ctx;
    find_velocities(s);
    return tl_friction_problem(s->friction, p);
}

/* What flows alone: solids follow from all forces on them at once. */
static void push(const void *ctx, const double *ds)
{
    const tl_sandy *s = ctx;
    const tl_coupling *c = &s->c;
    tl_stress_force(&s->flow->system.stress, c, ds, c->y);
    for (int32_t f = 0; f < c->faces; f++) c->u[f] -= c->dt * (c->mobility[f] * c->y[f]);
}

void tl_sandy_pose(tl_sandy *s, const tl_friction *friction, const tl_cones *cones, bool warm)
{
    s->friction = friction;
    s->cones = *cones;
    s->cones.problem = problem;
    s->cones.push = push;
    s->cones.ctx = s;
    memcpy(s->u_free, s->c.u, sizeof *s->u_free * (size_t)s->c.faces);
    if (warm)
        push(s, s->cones.s);
    else
        memset(s->cones.s, 0, sizeof *s->cones.s * (size_t)s->cones.n);
}

/* ---- what stress does to solids ---- */

/* r [3 nodes + 6 rigid] N s */
static void find_load(const tl_sandy *s, const double *stress, double *r)
{
    const tl_coupling *c = &s->c;
    const double impulse = c->dt * c->dx * c->dx * c->dx;
    double *y = s->flow->system.stress.y; /* not c->y: others read face forces there */
    tl_stress_force(&s->flow->system.stress, c, stress, y);
    c->solid.gather(&c->solid, y, r);
    c->solid.gather_cells(&c->solid, s->flow->system.stress.d, r);
    for (int64_t i = 0; i < c->solid.n; i++) r[i] *= -impulse;
}

void tl_sandy_load(const void *ctx, double *load)
{
    const tl_sandy *s = ctx;
    const int64_t n = unknowns(s), nodes = nodes3(s);
    find_load(s, s->cones.s, s->c.r);
    for (int32_t i = 0; i < s->trial->lg->nodes; i++) {
        const int64_t to = unknown(s->trial, i);
        for (int k = 0; k < 3 && to >= 0; k++) load[to + k] += s->c.r[3 * (int64_t)i + k];
    }
    for (int64_t k = 0; k < twists(s); k++) load[n + k] += s->c.r[nodes + k];
}

void tl_sandy_load_nodes(const tl_sandy *s, const double *stress, double *load)
{
    find_load(s, stress, s->c.r);
    for (int64_t i = 0; i < nodes3(s); i++) load[i] += s->c.r[i];
}
