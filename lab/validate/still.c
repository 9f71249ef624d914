#include "lab/validate/still.h"
#include "lab/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AROUND 2 /* cells beyond the domain that exist */

talus_status tl_still_begin(tl_still *s, const char *text, talus_error *err)
{
    *s = (tl_still){.dt = 0.01,
                    .density = 1000,
                    .family = TL_WEIGHT_AREA,
                    .scheme = "",
                    .method = "multigrid",
                    .tolerance = 1e-11,
                    .stress_iterations = 12,
                    .options = tl_parts_default()};
    tl_world w;
    TL_TRY(tl_world_text(&w, text, NULL, err));
    s->scene = w.scene;
    s->sim = w.sim;
    s->data = s->sim->engine_data; /* first of tl_grid_data */
    return TALUS_OK;
}

void tl_still_end(tl_still *s)
{
    tl_world_close(&(tl_world){s->scene, s->sim});
    *s = (tl_still){0};
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static talus_status make_grid(tl_still *s, talus_error *err)
{
    tl_grid_frame f = tl_grid_frame_of(s->scene);
    int32_t lo[3], hi[3];
    int64_t n = 1;
    for (int k = 0; k < 3; k++) {
        lo[k] = f.periodic[k] ? 0 : -AROUND;
        hi[k] = f.count[k] + (f.periodic[k] ? 0 : AROUND);
        n *= hi[k] - lo[k];
    }
    uint64_t *key = TL_TAKE(&s->sim->arena, uint64_t, n);
    if (!key) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a case of %lld cells", (long long)n);
    int64_t at = 0;
    for (int32_t x = lo[0]; x < hi[0]; x++)
        for (int32_t y = lo[1]; y < hi[1]; y++)
            for (int32_t z = lo[2]; z < hi[2]; z++) key[at++] = tl_grid_key(&f, (const int32_t[3]){x, y, z});
    qsort(key, (size_t)n, sizeof *key, by_key);
    return tl_grid_build(&s->grid, &f, n, key, &s->sim->arena, err);
}

static talus_status make_bodies(tl_still *s, talus_error *err)
{
    TL_TRY(tl_bodies_begin(&s->b, s->sim, s->data, s->dt, err));
    for (int32_t i = 0; i < s->sim->rigid.scene_count; i++)
        if (s->sim->rigid.body[i].kind == TL_BODY_FREE) s->b.body[i].v = s->u;
    TL_TRY(tl_bodies_predict(&s->b, err));
    TL_TRY(tl_bodies_detect(&s->b, err));
    TL_TRY(tl_bodies_match(&s->b, err));
    return tl_bodies_assemble(&s->b, err);
}

static talus_status make_liquid(tl_still *s, talus_error *err)
{
    tl_arena *a = &s->sim->arena;
    int64_t n = s->grid.cells;
    double g[3];
    tl_vec3_store(tl_vec3_add_scaled(s->u, s->dt, s->scene->gravity), g);
    s->faces = (tl_faces){.rho0 = s->density};
    s->level = TL_TAKE(a, double, n);
    for (int k = 0; k < 3; k++) {
        s->faces.u[k] = TL_TAKE(a, double, n);
        if (!s->faces.u[k] || !s->level) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a case");
        for (int64_t i = 0; i < n; i++) s->faces.u[k][i] = g[k];
    }
    float *solid = TL_TAKE(a, float, n);
    if (!solid) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a case");
    tl_solids_field(&s->solids, &s->grid, solid);
    for (int64_t i = 0; i < n; i++) {
        bool there = s->phi && tl_grid_exists(&s->grid, (int32_t)i) && solid[i] > -1.25 * s->grid.f.dx;
        s->level[i] = there ? s->phi(tl_grid_centre(&s->grid, (int32_t)i)) : s->grid.f.dx;
    }
    return TALUS_OK;
}

/* What is full is as dense as its material. */
static talus_status make_sand(tl_still *s, talus_error *err)
{
    tl_arena *a = &s->sim->arena;
    TL_TRY(tl_liquid_fractions(&s->grid, s->level, false, true, true, a, &s->liquid, err));
    s->faces.fill = TL_TAKE(a, double, s->grid.cells);
    if (!s->faces.fill) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a case");
    for (int64_t i = 0; i < s->grid.cells; i++) s->faces.fill[i] = s->liquid.cell[i] * (1 - s->fractions.solid_cell[i]);
    return TALUS_OK;
}

static talus_status make_friction(tl_still *s, talus_error *err)
{
    tl_arena *a = &s->sim->arena;
    double *alpha = TL_TAKE(a, double, s->system.c.cells);
    s->stress = TL_TAKE_ZERO(a, double, s->system.stress.n);
    if (!alpha || !s->stress) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a case");
    for (int32_t i = 0; i < s->system.c.cells; i++) alpha[i] = s->alpha;
    s->friction = (tl_friction){.stress = &s->system.stress,
                                .c = &s->system.c,
                                .alpha = alpha,
                                .own = alpha,
                                .s = s->stress,
                                .parts = s->parts ? &s->options : NULL};
    TL_TRY(tl_friction_begin(&s->friction, a, err));
    s->cones = tl_friction_cones(&s->friction);
    s->cones.method = tl_cone_method_find(s->parts ? s->parts : "apgd");
    s->cones.iterations = s->stress_iterations;
    return tl_cones_begin(&s->cones, s->p, a, err);
}

/* Mass of body 0 from the volume that it displaces, m^3: what a pressure that falls by 1 Pa/m along y does to it. */
static void make_neutral(tl_still *s)
{
    tl_coupling *c = &s->system.c;
    for (int32_t i = 0; i < c->cells; i++) s->p[i] = -s->level[s->system.active.cell[i]];
    tl_coupling_gradient(c, s->p, c->y);
    c->solid.gather(&c->solid, c->y, s->fluid);
    double volume = -s->fluid[1] * c->dx * c->dx * c->dx, mass = s->neutral * s->density * volume;
    double share = s->b.inv_mass[0] * mass;
    s->b.inv_mass[0] = 1 / mass;
    for (int k = 0; k < 9; k++) s->b.inv_inertia[k] /= share;
    memset(s->p, 0, sizeof *s->p * (size_t)c->cells);
}

talus_status tl_still_assemble(tl_still *s, talus_error *err)
{
    tl_arena *a = &s->sim->arena;
    const tl_rigid *r = &s->sim->rigid;
    tl_arena_reset(a);
    TL_TRY(make_grid(s, err));
    TL_TRY(tl_solids_make(&s->solids, &s->grid, r, &s->scene->domain, s->sim->state.rigid.body, a, err));
    TL_TRY(tl_solid_fractions(&s->grid, &s->solids, s->family, a, &s->fractions, err));
    TL_TRY(make_bodies(s, err));
    TL_TRY(make_liquid(s, err));
    if (s->alpha > 0) TL_TRY(make_sand(s, err));
    tl_vec3 *centre = TL_TAKE(a, tl_vec3, r->count);
    if (!centre) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a case");
    for (int32_t i = 0; i < r->count; i++) centre[i] = s->b.before[i].x;
    tl_liquid_domain d = {.grid = &s->grid,
                          .faces = &s->faces,
                          .fractions = &s->fractions,
                          .phi = s->level,
                          .granular = s->alpha > 0 ? &s->liquid : NULL,
                          .staggered = s->staggered,
                          .edge_rule = s->edge_rule,
                          .density_rule = TL_DENSITY_CONST,
                          .bodies = r->count,
                          .centre = centre,
                          .inv_mass = s->b.inv_mass,
                          .inv_inertia = s->b.inv_inertia};
    TL_TRY(tl_liquid_system(&s->system, &d, s->dt, a, err));
    s->p = TL_TAKE_ZERO(a, double, s->system.c.cells);
    s->fluid = TL_TAKE_ZERO(a, double, 6 * (int64_t)r->count);
    if (!s->p || !s->fluid) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a case");
    if (s->alpha > 0) TL_TRY(make_friction(s, err));
    if (s->neutral > 0) make_neutral(s);
    tl_system_load(&s->system, s->faces.u);
    memcpy(s->system.c.v, s->b.v_free, sizeof(double) * 6 * (size_t)r->count);
    return TALUS_OK;
}

talus_status tl_still_solve(tl_still *s, talus_error *err)
{
    TL_TRY(tl_still_assemble(s, err));
    const tl_pressure_method *method = tl_pressure_method_find(s->method);
    const tl_scheme *scheme = *s->scheme ? tl_scheme_find(s->scheme) : NULL;
    if (!method || (*s->scheme && !scheme))
        return TL_FAIL(err, TALUS_BAD_INPUT, "no scheme \"%s\" or method \"%s\"", s->scheme, s->method);
    tl_coupled *c = &s->coupled;
    TL_TRY(tl_system_coupled(c, &s->system, s->p, s->alpha > 0 ? &s->cones : NULL, tl_pressure_method_bounded(method),
                             &s->sim->arena, err));
    tl_system_contacts(c, &s->b.p, s->b.lam);
    c->scheme = scheme;
    c->pressure_method = method;
    c->contact_method = s->data->method;
    c->contact_iterations = s->data->iterations;
    c->contact_tolerance = s->b.tolerance;
    c->tolerance = s->tolerance;
    c->sweeps = s->sweeps;
    TL_TRY(tl_scheme_run(c, &s->report, err));
    memcpy(s->b.v, c->v, sizeof *s->b.v * 6 * (size_t)s->b.rigid->count);
    tl_stress_solid_forces(&s->system.stress, &s->system.c, s->p, s->stress, s->fluid);
    return TALUS_OK;
}

double tl_still_pressure(const tl_still *s, tl_vec3 at)
{
    const double x[3] = {at.x, at.y, at.z};
    int32_t c[3];
    for (int k = 0; k < 3; k++) c[k] = (int32_t)floor(tl_grid_scaled(&s->grid.f, x[k], k));
    int32_t cell = tl_grid_cell(&s->grid, c[0], c[1], c[2]), i = s->system.active.number[cell];
    return i >= 0 ? s->p[i] : NAN;
}

double tl_still_motion(const tl_still *s, tl_vec3 u)
{
    const tl_coupling *c = &s->system.c;
    const double want[3] = {u.x, u.y, u.z};
    double max = 0;
    for (int32_t f = 0; f < c->faces; f++)
        if (c->fluid[f] > 0) max = fmax(max, fabs(c->u[f] - want[s->system.axis[f]]));
    return max;
}
