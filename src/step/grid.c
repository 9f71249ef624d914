/* The step of the grid engine: liquid and rigid bodies in one contact-aware solve.
 *
 *     predict bodies          v* = v + dt (gravity, forces)
 *     particles to grid       emission, sorted particles, grid around them, face velocities
 *     add external forces     u* = u + dt gravity, continued into faces without matter
 *     classify domains        solids, open parts of faces, distance to the surface
 *     detect contacts
 *     repeat                  until no fast body ends up inside of something that it was not told of
 *         assemble            contacts, lists of cells and faces, operators
 *         run scheme          pressure and contact: u1, v1
 *         move bodies
 *     stabilise, bounce
 *     extend velocities       what pressure did, to faces beside the liquid; u1 beyond it, and not into solids; the
 *                             way that takes crowds of whole cells apart
 *     move particles          affine velocities from u1, places by u1 and that way, out of solids
 *     correct density         particles that crowd part
 *     commit
 *
 * [FM21 alg. 1], spec grid-granular 4 */
#include <math.h>
#include <string.h>

#include "base/cancel.h"
#include "base/parallel.h"
#include "model/coupling/slip.h"
#include "model/grid/correct.h"
#include "model/grid/emit.h"
#include "model/grid/extrapolate.h"
#include "model/grid/grains.h"
#include "model/grid/levelset.h"
#include "model/grid/particles.h"
#include "model/grid/pieces.h"
#include "step/accounts_flow.h"
#include "step/engines.h"
#include "step/grid.h"
#include "step/statics.h"

#define WARM_SHARE 0.98  /* of active cells with a pressure of the last step: fewer start from the coarse levels */
#define CORRECT_SWEEPS 1 /* once per frame [FM21 sec. 4.1.2]: crowds of whole cells part in every step */
#define STRESS_ITERATIONS                                                                                              \
    16 /* per sweep. With 8, 5 to 11 % of the steps of a collapse miss their target in 20 sweeps, with 16 1 to 5 %, for a tenth more time; 32 gain nothing */
/* The same where there is no stress to go on from, as in the first step of a run: with 16 it misses its target in 20 sweeps (5 times above in `sandbox`), with 32 it just reaches it. */
#define COLD_ITERATIONS 64
#define COLD_SHARE 0.5   /* of the cells with a memory: fewer are a cold start */
#define FRAME_SLACK 1e-6 /* of a step: rounding of the frame's time */
#define PART_SHARE                                                                                                     \
    0.25 /* of a crowd's excess that one step takes away: 1 opens gaps beside walls, 0.25 keeps a pool within 1 % */
#define CROWDED 0.1   /* excess of a cell up to which a liquid's strain counts */
#define PART_LAYERS 2 /* beyond the liquid */
enum phase { TO_GRID, DOMAINS, SYSTEM, SOLVE, EXTEND, MOVE, CORRECT, MEASURE, PHASES };
static const char *const phase_names[PHASES] = {"particles to grid", "domains",        "system",          "solve",
                                                "extend velocities", "move particles", "correct density", "measure"};

typedef struct grid_step {
    tl_bodies b;
    tl_sim *sim;
    const tl_scene *scene;
    tl_grid_kept *kept;
    tl_arena *arena;
    double dt;
    /* particles to grid */
    tl_emitter_state *emitter; /* [emitters] */
    tl_particles particles;    /* the state that is to be */
    tl_grid_totals totals;
    tl_grid grid;
    tl_faces faces;
    uint8_t *known[3]; /* [cells] */
    /* classify domains */
    tl_solids solids;
    float *solid_phi; /* [cells] m */
    tl_fractions fractions;
    double *phi;      /* [cells] m */
    tl_fillings full; /* of cells */
    tl_liquid liquid; /* sand */
    double *excess;   /* [cells] over full */
    double liquid_volume;
    tl_pieces pieces; /* of NULL: sand that weighs on faces what is there */
    /* assemble, run scheme */
    tl_slip slip;    /* friction of solids against sand */
    bool slips;      /* any has its own */
    tl_vec3 *centre; /* [bodies] */
    tl_system system;
    bool assembled;
    double *p;          /* [cells of the system] Pa */
    uint8_t *pressed;   /* [cells] those with a pressure */
    double *stress;     /* [system.stress.n] Pa; NULL: nothing is granular */
    double *five;       /* [cells of the system][5] the same for memory */
    double *cone;       /* [cells] sqrt 2 sin(angle) of what is there */
    tl_statics statics; /* p_next NULL: not wanted */
    tl_friction friction;
    tl_coupled coupled;
    tl_scheme_report solved;
    double *fluid; /* [6 bodies] force and torque */
    /* extend velocities */
    double *moving[3]; /* [cells] m/s: what carries particles, and is not what they carry */
    /* measure */
    tl_particles_measure measured;
    tl_correction corrected;
    tl_flow_account account;
    tl_spent spent[PHASES];
} grid_step;

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a step of the grid engine");
}

static void lap(grid_step *s, enum phase phase) { tl_bodies_lap_to(&s->b, &s->spent[phase]); }

static tl_flow_sums sums_of(const grid_step *s, double *const u[3])
{
    return tl_accounts_faces(&s->grid, &s->faces, u, s->scene->gravity);
}

/* ---- phases ---- */

static talus_status begin_step(grid_step *s, tl_sim *sim, double dt, talus_error *err)
{
    tl_grid_kept *kept = sim->own;
    *s = (grid_step){.sim = sim, .scene = sim->scene, .kept = kept, .arena = &sim->arena, .dt = dt};
    TL_TRY(tl_bodies_begin(&s->b, sim, &kept->rigid, dt, err));
    s->totals = *sim->state.grid.totals;
    s->centre = TL_TAKE(s->arena, tl_vec3, sim->rigid.count);
    s->fluid = TL_TAKE_ZERO(s->arena, double, 6 * (int64_t)sim->rigid.count);
    if (!s->centre || !s->fluid) return no_memory(err);
    for (int32_t i = 0; i < sim->rigid.count; i++) s->centre[i] = s->b.before[i].x;
    return TALUS_OK;
}

/* What emitters add, behind the particles of the state; its count stays. */
static talus_status emit(grid_step *s, tl_particles *all, talus_error *err)
{
    tl_grid_state *g = &s->sim->state.grid;
    *all = g->particles;
    int n = s->scene->emitter_count;
    s->emitter = TL_TAKE(s->arena, tl_emitter_state, n);
    tl_emission *now = TL_TAKE(s->arena, tl_emission, n);
    if (!s->emitter || !now) return no_memory(err);
    if (!n) return TALUS_OK;
    tl_grid nothing;
    tl_solids solids;
    TL_TRY(tl_emitters_read(s->scene, s->sim->state.t, now, err));
    TL_TRY(tl_grid_build(&nothing, &s->kept->frame, 0, NULL, s->arena, err));
    TL_TRY(tl_solids_make(&solids, &nothing, &s->sim->rigid, &s->scene->domain, s->b.before, s->arena, err));
    talus_status status = tl_particles_emit(s->scene, &s->kept->frame, &solids, now, s->dt, g->emitter, s->emitter, all,
                                            &s->totals.next_id, s->arena, err);
    g->particles.particle = all->particle;
    g->particles.room = all->room;
    return status;
}

/* Gravity along a periodic axis: what leaves at one end comes in at the other, higher or lower. */
static bool falls_around(const tl_scene *scene)
{
    double g[3];
    tl_vec3_store(scene->gravity, g);
    for (int k = 0; k < 3; k++)
        if (scene->grid.periodic[k] && g[k] != 0) return true;
    return false;
}

/* What the step really starts with, and what of its energy the faces have. */
static talus_status account_matter(grid_step *s, talus_error *err)
{
    tl_totals now = s->sim->flowing;
    if (s->scene->emitter_count || s->particles.count != s->sim->state.grid.particles.count || falls_around(s->scene))
        TL_TRY(tl_accounts_particles(s->sim, &s->particles, &s->kept->frame, s->arena, &now, err));
    tl_accounts_matter(s->sim, &now);
    tl_accounts_to_grid(s->sim, &s->account, sums_of(s, s->faces.u), &now, s->dt);
    return TALUS_OK;
}

static talus_status particles_to_grid(grid_step *s, talus_error *err)
{
    tl_particles all;
    TL_TRY(emit(s, &all, err));
    TL_TRY(tl_particles_reserve(&s->kept->spare, all.count, err));
    s->particles = s->kept->spare;
    uint64_t *key = TL_TAKE(s->arena, uint64_t, all.count);
    if (!key) return no_memory(err);
    const tl_grid_frame *f = &s->kept->frame;
    double lost = 0;
    TL_TRY(tl_particles_sort(f, &s->scene->domain, &all, &s->particles, key, &lost, s->arena, err));
    s->totals.escaped += (double)(all.count - s->particles.count);
    s->totals.escaped_volume += lost;
    TL_TRY(tl_grid_build(&s->grid, f, s->particles.count, key, s->arena, err));
    TL_TRY(tl_particles_to_grid(&s->grid, &s->particles, s->kept->density, s->scene->material_count, s->arena,
                                &s->faces, err));
    TL_TRY(account_matter(s, err));
    for (int a = 0; a < 3; a++)
        if (!(s->known[a] = TL_TAKE(s->arena, uint8_t, s->grid.cells))) return no_memory(err);
    return TALUS_OK;
}

/* Faces without matter go on from their neighbours: zero there would be still air. */
static talus_status add_external_forces(grid_step *s, talus_error *err)
{
    double g[3];
    tl_vec3_store(tl_vec3_scale(s->dt, s->scene->gravity), g);
    for (int a = 0; a < 3; a++) {
        double *u = s->faces.u[a];
        const double *mass = s->faces.mass[a], step = g[a];
        uint8_t *known = s->known[a];
#pragma omp parallel for schedule(static) if (s->grid.cells >= TL_PARALLEL_MIN)
        for (int64_t i = 0; i < s->grid.cells; i++) {
            known[i] = mass[i] > 0;
            u[i] = known[i] ? u[i] + step : 0;
        }
    }
    tl_accounts_fall(&s->account, sums_of(s, s->faces.u));
    TL_TRY(tl_extrapolate(&s->grid, TL_EXTRAPOLATE_LAYERS, s->faces.u, s->known, s->arena, err));
    lap(s, TO_GRID);
    return TALUS_OK;
}

static talus_status classify_domains(grid_step *s, talus_error *err)
{
    tl_arena *a = s->arena;
    const tl_grid *g = &s->grid;
    TL_TRY(tl_solids_make(&s->solids, g, &s->sim->rigid, &s->scene->domain, s->b.before, a, err));
    s->solid_phi = TL_TAKE(a, float, g->cells);
    s->phi = TL_TAKE(a, double, g->cells);
    s->excess = TL_TAKE(a, double, g->cells);
    if (!s->solid_phi || !s->phi || !s->excess) return no_memory(err);
    tl_solids_field(&s->solids, g, s->solid_phi);
    TL_TRY(tl_solid_fractions(g, &s->solids, s->kept->family, a, &s->fractions, err));
    bool sand = s->kept->alpha != NULL;
    tl_vec3 up = tl_vec3_normalize_or(tl_vec3_scale(-1, s->scene->gravity), (tl_vec3){0, 0, 0});
    TL_TRY(tl_liquid_distance(g, s->faces.fill, &s->fractions, &s->solids, s->solid_phi, s->kept->spacing,
                              sand ? NULL : &up, a, s->phi, s->excess, &s->full, &s->kept->rules.surface, err));
    if (sand) TL_TRY(tl_liquid_fractions(g, s->phi, false, true, true, a, &s->liquid, err));
    lap(s, DOMAINS);
    return TALUS_OK;
}

/* A contact that had a force in the last step, or would close within this one. */
static bool presses(const grid_step *s, int32_t k)
{
    const tl_rigid_point *p = &s->b.contacts.point[k];
    if (s->b.lam[3 * (int64_t)k] > 0) return true;
    const double *va = s->b.v_free + 6 * (int64_t)p->a, *vb = s->b.v_free + 6 * (int64_t)p->b;
    tl_vec3 a = tl_vec3_add(tl_vec3_load(va), tl_vec3_cross(tl_vec3_load(va + 3), p->arm_a));
    tl_vec3 b = tl_vec3_add(tl_vec3_load(vb), tl_vec3_cross(tl_vec3_load(vb + 3), p->arm_b));
    return p->gap + s->dt * tl_vec3_dot(p->normal, tl_vec3_sub(a, b)) <= 0;
}

/* Pieces of liquid, and which of them something fixed holds. Bodies that a contact presses against each other, and what wets them, hang together with the liquid: water in a vessel that stands on a floor, or
 * floats, has its weight carried as if the vessel were a wall. */
static talus_status find_pieces(grid_step *s, talus_error *err)
{
    const tl_rigid *r = &s->sim->rigid;
    const tl_rigid_contacts *c = &s->b.contacts;
    tl_piece_links links = {.fixed = s->fractions.fixed,
                            .covers = &s->fractions.covers,
                            .bodies = r->count,
                            .inv_mass = s->b.inv_mass,
                            .pair = TL_TAKE(s->arena, int32_t, 2 * (int64_t)c->count)};
    if (!links.pair) return no_memory(err);
    for (int32_t k = 0; k < c->count; k++) {
        if (!presses(s, k)) continue;
        links.pair[2 * links.pairs] = c->point[k].a;
        links.pair[2 * links.pairs++ + 1] = c->point[k].b;
    }
    TL_TRY(tl_pieces_find(&s->pieces, &s->grid, s->faces.fill, s->faces.mass, &links, s->arena, err));
    lap(s, DOMAINS);
    return TALUS_OK;
}

/* Mean of a material's number over the cells of the lists. */
static talus_status mean_of(grid_step *s, const double *value, double *out, talus_error *err)
{
    size_t mark = tl_arena_mark(s->arena);
    double *mean = TL_TAKE(s->arena, double, s->grid.cells);
    if (!mean) return no_memory(err);
    TL_TRY(tl_particles_mean(&s->grid, &s->particles, value, s->faces.fill, s->arena, mean, err));
    for (int32_t i = 0; i < s->system.c.cells; i++) out[i] = mean[s->system.active.cell[i]];
    tl_arena_release(s->arena, mark);
    return TALUS_OK;
}

/* mu(I) of the velocities and pressures that the step begins with, gravity of the step left out. [Jop2006] */
static talus_status add_rates(grid_step *s, double *alpha, talus_error *err)
{
    tl_coupling *c = &s->system.c;
    const int32_t n = c->cells;
    if (!s->kept->rise) return TALUS_OK;
    size_t mark = tl_arena_mark(s->arena);
    double *rise = TL_TAKE(s->arena, double, n), *inertia = TL_TAKE(s->arena, double, n);
    double *rate = TL_TAKE(s->arena, double, n), *scratch = TL_TAKE(s->arena, double, s->system.stress.n);
    if (!rise || !inertia || !rate || !scratch) return no_memory(err);
    TL_TRY(mean_of(s, s->kept->rise, rise, err));
    TL_TRY(mean_of(s, s->kept->inertia, inertia, err));
    double g[3];
    tl_vec3_store(tl_vec3_scale(s->dt, s->scene->gravity), g);
    tl_system_load(&s->system, s->faces.u);
    for (int32_t f = 0; f < c->faces; f++) c->u[f] -= g[s->system.axis[f]];
    for (int32_t i = 0; i < s->sim->rigid.count; i++) {
        tl_vec3_store(s->b.before[i].v, c->v + 6 * (int64_t)i);
        tl_vec3_store(s->b.before[i].w, c->v + 6 * (int64_t)i + 3);
    }
    tl_friction_rates(&s->system.stress, c, scratch, rate);
    for (int32_t i = 0; i < n; i++) {
        double p = s->p[i] / s->system.stress.cell[i], over = sqrt(2) * rate[i] * inertia[i]; /* I / I0 times sqrt p */
        if (over > 0) alpha[i] += rise[i] * over / (over + sqrt(fmax(p, 0)));
    }
    tl_arena_release(s->arena, mark);
    return TALUS_OK;
}

/* Stress of the last step and cones of today's material, on the lists of the system. */
static talus_status prepare_friction(grid_step *s, bool cold, talus_error *err)
{
    const tl_system *system = &s->system;
    double *alpha = TL_TAKE(s->arena, double, system->c.cells), *own = TL_TAKE(s->arena, double, system->c.cells);
    s->cone = TL_TAKE(s->arena, double, s->grid.cells);
    if (!s->cone || !alpha || !own) return no_memory(err);
    TL_TRY(tl_particles_mean(&s->grid, &s->particles, s->kept->alpha, s->faces.fill, s->arena, s->cone, err));
    for (int32_t i = 0; i < system->c.cells; i++) alpha[i] = own[i] = s->cone[system->active.cell[i]];
    TL_TRY(add_rates(s, alpha, err));
    double *cohesion = s->kept->cohesion ? TL_TAKE(s->arena, double, system->c.cells) : NULL;
    if (s->kept->cohesion && !cohesion) return no_memory(err);
    if (cohesion) TL_TRY(mean_of(s, s->kept->cohesion, cohesion, err));
    tl_slip_cells slip;
    TL_TRY(tl_slip_apply(&s->slip, &s->system, alpha, &slip, s->arena, err));
    /* what bears no load has none: a cell that was sand in the last step may be a solid's now */
    for (int32_t i = 0; i < system->c.cells && s->slips; i++)
        if (!(system->stress.diagonal[i] > 0))
            s->stress[TL_STRESS_GROUP * (int64_t)i + TL_S_XX] = s->stress[TL_STRESS_GROUP * (int64_t)i + TL_S_ZZ] = 0;
    for (int32_t i = 0; i < system->c.cells && cohesion; i++)
        if (!(system->stress.diagonal[i] > 0))
            cohesion[i] = 0; /* sand does not stick to a solid with a friction of its own */
    int iterations = s->scene->solver.friction.iterations;
    s->friction = (tl_friction){.stress = &system->stress,
                                .c = &s->system.c,
                                .alpha = alpha,
                                .own = own,
                                .cohesion = cohesion,
                                .slip = slip,
                                .s = s->stress,
                                .method = s->kept->friction,
                                .rule = s->kept->rule,
                                .parts = s->kept->parts,
                                .iterations = iterations > 0 ? iterations
                                              : cold         ? COLD_ITERATIONS
                                                             : STRESS_ITERATIONS};
    return tl_friction_begin(&s->friction, s->arena, err);
}

/* Which solids have a friction of their own against sand. */
static talus_status find_slip(grid_step *s, talus_error *err)
{
    const int32_t n = s->sim->rigid.scene_count;
    const tl_domain_spec *domain = &s->scene->domain;
    double *mu = TL_TAKE(s->arena, double, n);
    if (!mu) return no_memory(err);
    s->slip = (tl_slip){.grid = &s->grid,
                        .fractions = &s->fractions,
                        .solids = &s->solids,
                        .friction = mu,
                        .walls = domain->sand_friction == TL_SAND_FRICTION_OWN ? domain->friction : -1};
    s->slips = s->slip.walls >= 0;
    for (int32_t i = 0; i < n; i++) {
        mu[i] = s->scene->bodies[i].sand_friction == TL_SAND_FRICTION_OWN ? s->b.friction[i] : -1;
        s->slips |= mu[i] >= 0;
    }
    return TALUS_OK;
}

/* Sand that liquid covers, unless it is to be mud: cells with a pressure beside each other, one of sand and one of liquid. */
static talus_status refuse_mixture(const grid_step *s, talus_error *err)
{
    if (!s->kept->refuse_mixture) return TALUS_OK;
    const double least = 0.5 * s->kept->sand_least;
    for (int32_t i = 0; i < s->system.c.cells; i++) {
        int32_t cell = s->system.active.cell[i];
        if (!(s->cone[cell] > least) || !(s->faces.fill[cell] > TL_ACTIVE_LIQUID)) continue;
        for (int k = 0; k < 6; k++) {
            int32_t other = tl_grid_step(&s->grid, cell, k / 2, k & 1 ? 1 : -1);
            /* cells inside of solids have nothing of their own */
            if (s->system.active.number[other] < 0 || s->cone[other] > least ||
                !(s->faces.fill[other] > TL_ACTIVE_LIQUID))
                continue;
            tl_vec3 x = tl_grid_centre(&s->grid, cell);
            return TL_FAIL(
                err, TALUS_UNSUPPORTED,
                "t = %.6g s: liquid covers sand at {%.3g, %.3g, %.3g}: nothing flows through its pores, and "
                "its strength would grow with the pressure of the water; grid.mixture = \"mud\" runs both as "
                "one flow",
                s->sim->state.t, x.x, x.y, x.z);
        }
    }
    return TALUS_OK;
}

/* Grains and drops where no stress and no pressure acts. given: kinetic energy that free bodies got from them, J. */
static talus_status stop_grains(grid_step *s, double *given, talus_error *err)
{
    const size_t n = 6 * (size_t)s->sim->rigid.count;
    tl_grain_account got = {0};
    *given = 0;
    if (!(s->b.v_asked = TL_TAKE(s->arena, double, n))) return no_memory(err);
    memcpy(s->b.v_asked, s->b.v_free, sizeof(double) * n);
    tl_grains grains = {.alpha = s->kept->alpha,
                        .rho = s->kept->density,
                        .number = s->system.active.number,
                        .solids = &s->solids,
                        .solid_phi = s->solid_phi,
                        .touch = 0.5 * s->kept->spacing,
                        .inv_mass = s->b.inv_mass,
                        .inv_inertia = s->b.inv_inertia,
                        .body_v = s->b.v_free,
                        .friction = s->slips ? s->slip.friction : NULL,
                        .walls = s->slip.walls,
                        .account = &got,
                        .push = tl_vec3_scale(s->dt, s->scene->gravity)};
    if (!s->kept->alpha || s->scene->solver.rules.single_grains)
        tl_grains_stop(&s->grid, &grains, &s->particles, &s->faces);
    *given = got.given;
    tl_accounts_fixed(s->sim, got.fixed, got.turned);
    return TALUS_OK;
}

/* Lists and operators depend on places at the start: made once per step. */
static talus_status assemble_coupling(grid_step *s, talus_error *err)
{
    TL_TRY(tl_bodies_assemble(&s->b, err));
    if (s->assembled) return TALUS_OK;
    const tl_scene *scene = s->scene;
    tl_liquid_domain d = {.grid = &s->grid,
                          .faces = &s->faces,
                          .fractions = &s->fractions,
                          .phi = s->phi,
                          .pieces = s->kept->alpha ? NULL : &s->pieces,
                          .loose = s->kept->alpha && s->pieces.of ? &s->pieces : NULL,
                          .binary = scene->solver.surface && !strcmp(scene->solver.surface, "binary"),
                          .granular = s->kept->alpha ? &s->liquid : NULL,
                          .staggered = s->kept->staggered,
                          .edge_rule = s->kept->edge_rule,
                          .density_rule = s->kept->density_rule,
                          .open_slivers = !scene->solver.rules.closed_slivers,
                          .open_fringe = !scene->solver.rules.closed_fringe,
                          .bodies = s->sim->rigid.count,
                          .centre = s->centre,
                          .inv_mass = s->b.inv_mass,
                          .inv_inertia = s->b.inv_inertia};
    TL_TRY(tl_liquid_system(&s->system, &d, s->dt, s->arena, err));
    s->p = TL_TAKE(s->arena, double, s->system.c.cells);
    if (s->kept->alpha) {
        s->stress = TL_TAKE(s->arena, double, s->system.stress.n);
        s->five = TL_TAKE(s->arena, double, TL_STRESS_GROUP *(int64_t)s->system.c.cells);
        if (!s->stress || !s->five) return no_memory(err);
    }
    if (!s->p) return no_memory(err);
    int32_t recalled = tl_active_recall(&s->grid, &s->system.active, &s->sim->state.grid, s->p, s->five);
    if (s->stress) {
        tl_stress_unpack(&s->system.stress, s->five, s->stress);
        TL_TRY(find_slip(s, err));
    }
    double given;
    TL_TRY(stop_grains(s, &given, err));
    if (s->system.carry.known[0]) TL_TRY(tl_carry_velocities(&s->system.carry, &s->grid, &s->faces, s->arena, err));
    if (s->system.carry.known[0] && !s->stress) tl_carry_follow(&s->system.carry, &s->grid, s->faces.u);
    tl_accounts_stopped(s->sim, &s->account, s->stress ? TL_ENERGY_FRICTION : TL_ENERGY_CONTACT, given,
                        sums_of(s, s->faces.u));
    const bool cold = recalled < (s->stress ? COLD_SHARE : WARM_SHARE) * s->system.c.cells || recalled == 0;
    if (s->stress) TL_TRY(prepare_friction(s, cold, err));
    if (s->stress) TL_TRY(refuse_mixture(s, err));
    const tl_method_spec *o = &scene->solver.pressure;
    s->coupled = (tl_coupled){.system = &s->system,
                              .b = &s->b,
                              .p = s->p,
                              .friction = s->stress ? &s->friction : NULL,
                              .scheme = s->kept->scheme,
                              .method = s->kept->method,
                              .warm = !cold,
                              .plain_sweeps = !s->kept->rules.mix,
                              .unilateral = tl_pressure_method_bounded(s->kept->method),
                              .tolerance = scene->solver.tolerance,
                              .sweeps = scene->solver.sweeps,
                              .pressure_iterations = o->iterations,
                              .history = s->sim->history};
    s->assembled = true;
    lap(s, SYSTEM);
    return TALUS_OK;
}

/* A solver that misses its target is the scene's to judge. */
static talus_status judge(const grid_step *s, bool *again, talus_error *err)
{
    const tl_coupled_certificate *c = &s->solved.certificate;
    if (!isfinite(c->pressure) || !isfinite(c->normal) || !isfinite(c->tangent) || !isfinite(c->stress)) {
        *again = true;
        return TL_FAIL(err, TALUS_NOT_DEFINITE, "scheme \"%s\" left the numbers", tl_scheme_name(s->solved.scheme));
    }
    tl_unconverged policy = s->scene->solver.on_unconverged;
    if (s->solved.result == TL_CONVERGED || policy == TL_UNCONVERGED_ACCEPT) return TALUS_OK;
    *again = policy == TL_UNCONVERGED_SHRINK_DT;
    return TL_FAIL(
        err, TALUS_NOT_DEFINITE,
        "scheme \"%s\": errors of pressure, stress, normal and friction forces %.3g, %.3g, %.3g, %.3g, wanted %.3g",
        tl_scheme_name(s->solved.scheme), c->pressure, c->stress, c->normal, c->tangent, s->scene->solver.tolerance);
}

/* Reruns (second looks) go on from the pressure that is there. */
static talus_status run_scheme(grid_step *s, bool *again, talus_error *err)
{
    tl_system_load(&s->system, s->faces.u);
    tl_scheme_report earlier = s->solved;
    TL_TRY(tl_scheme_run(&s->coupled, &s->solved, err));
    s->coupled.warm = true;
    s->solved.sweeps += earlier.sweeps;
    s->solved.pressure_iterations += earlier.pressure_iterations;
    s->solved.stress_iterations += earlier.stress_iterations;
    s->solved.contact_iterations += earlier.contact_iterations;
    s->solved.pressure_work.products += earlier.pressure_work.products;
    s->solved.contact_work.products += earlier.contact_work.products;
    s->solved.stress_work.products += earlier.stress_work.products;
    s->solved.stress_work.projections += earlier.stress_work.projections;
    lap(s, SOLVE);
    return judge(s, again, err);
}

static talus_status show_problem(const grid_step *s, talus_error *err)
{
    if (!s->sim->probe) return TALUS_OK;
    const tl_grid_view view = {.t = s->sim->state.t,
                               .grid = &s->grid,
                               .fractions = &s->fractions,
                               .phi = s->phi,
                               .fill = s->faces.fill,
                               .u_star = s->faces.u,
                               .coupled = &s->coupled,
                               .solved = &s->solved};
    return s->sim->probe(s->sim->probe_user, &view, err);
}

/* Cells with a pressure: they are kept full, and liquid there does not leave the solids beside it. */
static talus_status find_pressed(grid_step *s, talus_error *err)
{
    if (!(s->pressed = TL_TAKE_ZERO(s->arena, uint8_t, s->grid.cells))) return no_memory(err);
    for (int32_t i = 0; i < s->system.c.cells; i++) s->pressed[s->system.active.cell[i]] = s->p[i] != 0;
    return tl_liquid_volume(&s->grid, &s->full, s->pressed, s->arena, &s->liquid_volume, err);
}

/* Speed of the fastest cell of liquid. */
static double fastest_cell(const tl_coupling *c)
{
    double most = 0;
#pragma omp parallel for schedule(static) reduction(max : most) if (c->cells >= TL_PARALLEL_MIN)
    for (int32_t i = 0; i < c->cells; i++) {
        const int32_t *face = c->face + 6 * (int64_t)i;
        double v2 = 0;
        for (int k = 0; k < 3; k++) {
            double v = 0.5 * (c->u[face[2 * k]] + c->u[face[2 * k + 1]]);
            v2 += v * v;
        }
        most = fmax(most, v2);
    }
    return sqrt(most);
}

/* What the next step starts from, where sand is at rest. */
static talus_status select_static_stress(grid_step *s, talus_error *err)
{
    const tl_system *y = &s->system;
    if (!s->stress || !s->kept->statics) return TALUS_OK;
    s->statics = (tl_statics){.system = y,
                              .friction = &s->friction,
                              .p = s->p,
                              .solid = s->fractions.solid_cell,
                              .gravity = tl_vec3_norm(s->scene->gravity),
                              .tolerance = s->scene->solver.tolerance,
                              .on = s->totals.statics > 0,
                              .t = TL_TAKE(s->arena, double, y->c.faces),
                              .p_next = TL_TAKE(s->arena, double, y->c.cells),
                              .s_next = TL_TAKE(s->arena, double, y->stress.n)};
    if (!s->statics.t || !s->statics.p_next || !s->statics.s_next) return no_memory(err);
    tl_system_recall(y, &s->grid, &s->sim->state.grid, s->statics.t);
    TL_TRY(tl_statics_select(&s->statics, s->arena, err));
    s->totals.statics = s->statics.on;
    lap(s, SOLVE);
    return TALUS_OK;
}

static talus_status bounce(grid_step *s, bool *again, talus_error *err)
{
    bool any;
    tl_contact_report solved;
    TL_TRY(tl_bodies_bounce(&s->b, &solved, &any, err));
    if (!any || isfinite(solved.certificate.residual)) return TALUS_OK;
    *again = true;
    return TL_FAIL(err, TALUS_NOT_DEFINITE, "contact method \"%s\" left the numbers in a bounce",
                   s->b.kept->method->name);
}

/* Bodies where the step began, with the velocities of its end: what liquid beside them must not flow into. */
static talus_status solids_in_motion(grid_step *s, tl_solids *out, talus_error *err)
{
    tl_motion *m = TL_TAKE(s->arena, tl_motion, s->sim->rigid.count);
    if (!m) return no_memory(err);
    for (int32_t i = 0; i < s->sim->rigid.count; i++) {
        m[i] = s->b.before[i];
        m[i].v = tl_vec3_load(s->b.v + 6 * (int64_t)i);
        m[i].w = tl_vec3_load(s->b.v + 6 * (int64_t)i + 3);
    }
    return tl_solids_make(out, &s->grid, &s->sim->rigid, &s->scene->domain, m, s->arena, err);
}

/* Excess of a cell of the system that the step has to take away. */
static double wanted_excess(const grid_step *s, int32_t i)
{
    const tl_coupling *c = &s->system.c;
    double excess = s->excess[s->system.active.cell[i]], strain = 0;
    if (s->stress || excess > CROWDED) return excess;
    for (int k = 0; k < 3; k++) {
        const int32_t *face = &c->face[6 * (int64_t)i + 2 * k];
        double rate = (c->u[face[1]] - c->u[face[0]]) / c->dx;
        strain += rate * rate;
    }
    return excess * fmin(1, s->kept->rules.strains * s->dt * sqrt(strain) / PART_SHARE);
}

/* Parting a crowd lifts what is above it: in all by no more than what the flow has lost so far, so that corrections never take its energy above where it began. With what a step loses alone, waves grow: crowds of one half of a
 * period part in the other. way [3][cells] m, shortened. */
static void pay_for_lift(grid_step *s, const tl_accounts_flow *x, double *const way[3])
{
    const double work = -sums_of(s, way).power;
    const double lost = s->totals.lost + tl_accounts_lost(x, &s->account, sums_of(s, s->faces.u));
    const double part = s->kept->rules.pay && work > lost ? lost / work : 1;
    s->totals.lost = lost - part * work;
    for (int a = 0; a < 3 && part < 1; a++)
        for (int64_t i = 0; i < s->grid.cells; i++) way[a][i] *= part;
}

/* What carries particles, and not what they carry: u1 plus the way that crowds have to go. */
static talus_status part_crowds(grid_step *s, const tl_accounts_flow *x, talus_error *err)
{
    const tl_system *y = &s->system;
    for (int a = 0; a < 3; a++)
        if (!(s->moving[a] = TL_TAKE(s->arena, double, s->grid.cells))) return no_memory(err);
    size_t mark = tl_arena_mark(s->arena);
    double *excess = TL_TAKE(s->arena, double, y->c.cells), *d = TL_TAKE(s->arena, double, y->c.faces), *way[3];
    uint8_t *known[3];
    bool good = excess && d;
    for (int a = 0; a < 3; a++) {
        good &= (way[a] = TL_TAKE_ZERO(s->arena, double, s->grid.cells)) != NULL;
        good &= (known[a] = TL_TAKE_ZERO(s->arena, uint8_t, s->grid.cells)) != NULL;
    }
    if (!good) return no_memory(err);
    for (int32_t i = 0; i < y->c.cells; i++) excess[i] = wanted_excess(s, i);
    if (s->scene->grid.correct_density)
        TL_TRY(tl_coupled_part(&s->coupled, excess, PART_SHARE, d, err));
    else
        memset(d, 0, sizeof *d * (size_t)y->c.faces);
    for (int32_t f = 0; f < y->c.faces; f++) {
        if (!(y->c.fluid[f] > 0)) continue;
        way[y->axis[f]][y->id[f]] = d[f];
        known[y->axis[f]][y->id[f]] = 1;
    }
    TL_TRY(tl_extrapolate(&s->grid, PART_LAYERS, way, known, s->arena, err));
    pay_for_lift(s, x, way);
    const double per_dt = 1 / s->dt;
    for (int a = 0; a < 3; a++) {
        const double *open = s->fractions.open[a], *u = s->faces.u[a], *more = way[a];
        double *out = s->moving[a];
#pragma omp parallel for schedule(static) if (s->grid.cells >= TL_PARALLEL_MIN)
        for (int64_t i = 0; i < s->grid.cells; i++) out[i] = open[i] > 0 ? u[i] + per_dt * more[i] : u[i];
    }
    tl_arena_release(s->arena, mark);
    return TALUS_OK;
}

/* A cell of which a single face is open lies in a solid: what it does to a pair of closed faces is in balance inside of that solid, and would only be shared out between bodies that meet in
 * a corner, as one that stands on a floor. y [faces] without it. */
static void drop_inner_forces(const grid_step *s, double *y)
{
    const tl_coupling *c = &s->system.c;
    for (int32_t i = 0; i < c->cells; i++) {
        const int32_t *face = c->face + 6 * (int64_t)i;
        int open = 0;
        for (int k = 0; k < 6; k++) open += c->fluid[face[k]] > 0 && face[k] != face[k ^ 1];
        if (open != 1) continue;
        double d[3] = {0, 0, 0};
        if (s->stress && !s->system.stress.staggered) {
            const double *g = s->stress + TL_STRESS_GROUP * (int64_t)i, w = s->system.stress.diagonal[i];
            d[0] = w * s->system.stress.only[0] * g[TL_S_XX];
            d[2] = w * s->system.stress.only[2] * g[TL_S_ZZ];
            d[1] = -d[0] - d[2];
        }
        for (int k = 0; k < 3; k++) {
            if (face[2 * k] == face[2 * k + 1] || c->fluid[face[2 * k]] > 0 || c->fluid[face[2 * k + 1]] > 0) continue;
            double force = (s->p[i] - d[k]) / c->dx;
            y[face[2 * k]] -= force;
            y[face[2 * k + 1]] += force;
        }
    }
}

/* Static bodies share one weight per face with the walls; a face's force goes to the nearest of them, with the face's centre as lever. */
static void push_static_bodies(grid_step *s)
{
    const tl_system *y = &s->system;
    const tl_rigid *r = &s->sim->rigid;
    double volume = y->c.dx * y->c.dx * y->c.dx;
    bool any = false;
    for (int32_t i = 0; i < r->scene_count; i++) any |= r->body[i].kind == TL_BODY_STATIC;
    if (!any) return;
    tl_coupled_face_forces(&s->coupled, y->c.y);
    drop_inner_forces(s, y->c.y);
    for (int32_t f = 0; f < y->c.faces; f++) {
        int axis = y->axis[f];
        double weight = s->fractions.fixed[axis][y->id[f]], force[3] = {0, 0, 0}, torque[3];
        int32_t block = y->id[f] / s->grid.f.size;
        if (!(weight > 0) || y->c.y[f] == 0 || block >= s->grid.blocks) continue;
        tl_vec3 at = tl_grid_face_centre(&s->grid, axis, y->id[f]);
        int32_t body = tl_solids_nearest_fixed(&s->solids, block, at);
        if (body < 0) continue;
        force[axis] = -weight * y->c.y[f] * volume;
        tl_vec3_store(tl_vec3_cross(tl_vec3_sub(at, s->centre[body]), tl_vec3_load(force)), torque);
        for (int k = 0; k < 3; k++) {
            s->fluid[6 * (int64_t)body + k] += force[k];
            s->fluid[6 * (int64_t)body + 3 + k] += torque[k];
        }
    }
}

/* Faces of the system have the velocities of the solve. A free piece has no weight to carry: its faces get what the solve gave them, by their own mass, and those that go with others follow. Sand
 * has its own rule (carry.h). */
static void store_solved(grid_step *s)
{
    const tl_system *y = &s->system;
    for (int32_t f = 0; f < y->c.faces; f++) {
        int a = y->axis[f];
        int32_t i = y->id[f];
        if (y->c.fluid[f] > s->kept->rules.closed || tl_face_is_free(&s->pieces, &s->grid, a, i))
            s->faces.u[a][i] = y->c.u[f];
    }
    if (y->carry.known[0]) tl_carry_follow(&y->carry, &s->grid, s->faces.u);
}

/* A face outside of the system with matter on it moves on its own where no kernel reaches held liquid. */
static bool is_alone(const grid_step *s, int axis, int32_t i)
{
    if (tl_face_is_free(&s->pieces, &s->grid, axis, i)) return true;
    return 0.5 * (s->phi[i] + s->phi[tl_grid_step(&s->grid, i, axis, -1)]) >=
           s->kept->rules.kernel_reach * s->grid.f.dx;
}

/* Velocities of liquids on open faces. Nearer to held liquid, two layers far, matter goes with it: on its own, the last half cell below a surface falls freely between two solves, the density correction lifts it again, and
 * waves grow (by a factor of 3.5 in 20 s); with the impulse of its neighbours instead of their velocity they still gain a fifth. own: velocities of the solve, and of what is alone. */
static talus_status surround_liquid(grid_step *s, double *const own[3], talus_error *err)
{
    for (int a = 0; a < 3; a++) {
        const double *open = s->fractions.open[a];
        const int32_t *of = s->system.of[a];
        uint8_t *known = s->known[a];
#pragma omp parallel for schedule(static) if (s->grid.cells >= TL_PARALLEL_MIN)
        for (int32_t i = 0; i < s->grid.cells; i++) known[i] = of[i] >= 0 && open[i] > s->kept->rules.closed;
    }
    TL_TRY(tl_extrapolate(&s->grid, s->kept->rules.surround_layers, s->faces.u, s->known, s->arena, err));
    for (int a = 0; a < 3; a++) {
        const double *mass = s->faces.mass[a], *open = s->fractions.open[a], *from = own[a];
        double *u = s->faces.u[a];
        uint8_t *known = s->known[a];
#pragma omp parallel for schedule(static) if (s->grid.cells >= TL_PARALLEL_MIN)
        for (int32_t i = 0; i < s->grid.cells; i++) {
            if (known[i] == 1) continue;
            bool matter = mass[i] > 0 && open[i] > s->kept->rules.closed;
            if (matter && (!known[i] || is_alone(s, a, i))) u[i] = from[i];
            known[i] = matter;
        }
    }
    return TALUS_OK;
}

/* Momentum on faces before the solve, and what pressure gave them. */
static talus_status note_momentum(grid_step *s, double *due[3], talus_error *err)
{
    const tl_system *y = &s->system;
    const double impulse = s->dt * y->c.dx * y->c.dx * y->c.dx;
    for (int a = 0; a < 3; a++) {
        if (!(due[a] = TL_TAKE(s->arena, double, s->grid.cells))) return no_memory(err);
        const double *mass = s->faces.mass[a], *u = s->faces.u[a];
        double *out = due[a];
#pragma omp parallel for schedule(static) if (s->grid.cells >= TL_PARALLEL_MIN)
        for (int64_t i = 0; i < s->grid.cells; i++) out[i] = mass[i] * u[i];
    }
#pragma omp parallel for schedule(static) if (y->c.faces >= TL_PARALLEL_MIN)
    for (int32_t f = 0; f < y->c.faces; f++) due[y->axis[f]][y->id[f]] -= impulse * y->c.fluid[f] * y->c.y[f];
    return TALUS_OK;
}

/* What the mass on faces did not get of that. */
static talus_status repay_momentum(grid_step *s, double *const due[3], talus_error *err)
{
    tl_repay r = {.mass = s->faces.mass, .due = due};
    TL_TRY(tl_faces_repay(&s->grid, &s->pieces, &r, s->faces.u, s->arena, err));
    tl_accounts_fixed(s->sim, r.fixed, r.turned);
    return TALUS_OK;
}

/* Velocities that faces have of their own, and that nothing below may lose: those with mass, of free pieces. */
static talus_status keep_own(const grid_step *s, double *own[3], talus_error *err)
{
    for (int a = 0; a < 3; a++) {
        if (!(own[a] = TL_TAKE(s->arena, double, s->grid.cells))) return no_memory(err);
        memcpy(own[a], s->faces.u[a], sizeof(double) * (size_t)s->grid.cells);
    }
    return TALUS_OK;
}

static void restore_own(grid_step *s, double *const own[3])
{
    for (int a = 0; a < 3; a++) {
        const double *mass = s->faces.mass[a], *from = own[a];
        double *u = s->faces.u[a];
        uint8_t *known = s->known[a];
#pragma omp parallel for schedule(static) if (s->grid.cells >= TL_PARALLEL_MIN)
        for (int32_t i = 0; i < s->grid.cells; i++) {
            if (!(mass[i] > 0) || !tl_face_is_free(&s->pieces, &s->grid, a, i)) continue;
            u[i] = from[i];
            if (!known[i]) known[i] = 1;
        }
    }
}

/* Two fields: what particles carry (faces.u), by momentum, and what carries them (moving), by what solids let through. */
static talus_status extend_velocities(grid_step *s, talus_error *err)
{
    const double closed = s->stress ? 0 : s->kept->rules.closed;
    double *due[3], *own[3];
    tl_coupled_fluid_forces(&s->coupled, s->fluid);
    if (s->stress) {
        tl_system_store(&s->system, s->faces.u);
    } else {
        TL_TRY(note_momentum(s, due, err));
        store_solved(s);
        TL_TRY(keep_own(s, own, err));
        TL_TRY(surround_liquid(s, own, err));
    }
    const tl_accounts_flow solved = {&s->grid, &s->fractions, &s->coupled, &s->b, s->fluid};
    if (s->stress) tl_accounts_solved(&solved, &s->account, sums_of(s, s->faces.u));
    tl_impulse held = {{0, 0, 0}, {0, 0, 0}}, left = held;
    for (int a = 0; a < 3 && s->stress; a++) {
        const uint8_t *alone = s->system.carry.known[a];
        uint8_t *known = s->known[a];
#pragma omp parallel for schedule(static) if (s->grid.cells >= TL_PARALLEL_MIN)
        for (int32_t i = 0; i < s->grid.cells; i++) known[i] = alone[i] == 1;
    }
    tl_solids moving;
    TL_TRY(solids_in_motion(s, &moving, err));
    moving.free_gives = s->stress != NULL;
    TL_TRY(tl_extrapolate(&s->grid, TL_EXTRAPOLATE_LAYERS, s->faces.u, s->known, s->arena, err));
    if (s->stress) held = tl_accounts_closed(&s->grid, &s->faces, &s->fractions);
    TL_TRY(tl_clip_inflow(&s->grid, &moving, s->fractions.open, closed, s->known, s->stress ? NULL : s->pressed,
                          s->faces.u, s->arena, err));
    if (s->stress) left = tl_accounts_closed(&s->grid, &s->faces, &s->fractions);
    TL_TRY(part_crowds(s, &solved, err));
    if (s->stress) {
        tl_accounts_fixed(s->sim, tl_vec3_sub(left.linear, held.linear), tl_vec3_sub(left.angular, held.angular));
    }
    tl_accounts_carried(s->sim, &s->account, sums_of(s, s->faces.u), sums_of(s, s->moving));
    if (!s->stress) {
        restore_own(s, own);
        TL_TRY(repay_momentum(s, due, err));
        tl_accounts_solved(&solved, &s->account, sums_of(s, s->faces.u)); /* faces in walls belong to what walls do */
    }
    push_static_bodies(s);
    lap(s, EXTEND);
    return TALUS_OK;
}

/* How far the surface of any body moves in the step, m. */
static double farthest_travel(const grid_step *s)
{
    double most = 0;
    for (int32_t i = 0; i < s->sim->rigid.scene_count; i++) {
        const tl_motion *from = &s->b.before[i], *to = &s->b.body[i];
        double reach = s->sim->rigid.body[i].reach;
        double turn = tl_vec3_norm(tl_quat_difference(from->q, to->q));
        double d = tl_vec3_norm(tl_vec3_sub(to->x, from->x)) + (reach < INFINITY ? turn * reach : 0);
        most = fmax(most, d);
    }
    return most;
}

/* Steps that reach the next frame, or go beyond: for who steps without frames that is every step. */
static bool ends_frame(const grid_step *s)
{
    const tl_state *now = &s->sim->state;
    return now->t + s->dt * (1 + FRAME_SLACK) >= (double)(now->frame + 1) / s->scene->fps;
}

/* Blocks with matter of pieces that nothing holds. */
static talus_status mark_free_blocks(const grid_step *s, uint8_t **out, talus_error *err)
{
    const tl_grid *g = &s->grid;
    uint8_t *free = *out = TL_TAKE_ZERO(s->arena, uint8_t, g->blocks);
    if (!free) return no_memory(err);
    for (int32_t i = 0; s->pieces.of && !s->stress && tl_grid_exists(g, i); i++)
        free[tl_grid_block_of(g, i)] |= s->pieces.of[i] != TL_NO_PIECE && !s->pieces.held[s->pieces.of[i]];
    return TALUS_OK;
}

/* Affine velocities weigh more between faces than on them. That evens out in a flow, and not where something hits a body: in pieces that nothing holds they gain nothing. */
static talus_status move_particles(grid_step *s, talus_error *err)
{
    tl_solids end;
    uint8_t *free;
    TL_TRY(mark_free_blocks(s, &free, err));
    double gap = TL_GAP_CELLS * s->grid.f.dx;
    TL_TRY(tl_solids_make(&end, &s->grid, &s->sim->rigid, &s->scene->domain, s->b.body, s->arena, err));
    end.free_gives = true;
    tl_carried *carried = TL_TAKE(s->arena, tl_carried, s->grid.blocks);
    tl_impulse all = {{0, 0, 0}, {0, 0, 0}};
    if (!carried) return no_memory(err);
    tl_particles_carry(&s->grid, s->faces.u, s->moving, s->known, &end, s->solid_phi, farthest_travel(s), gap, s->dt,
                       s->kept->density, free, carried, &s->particles);
    for (int32_t b = 0; b < s->grid.blocks; b++) {
        all.linear = tl_vec3_add(all.linear, carried[b].impulse);
        all.angular = tl_vec3_add(all.angular, carried[b].turn);
    }
    tl_accounts_fixed(s->sim, all.linear, all.angular);
    s->measured = tl_particle_sums_total(s->grid.blocks, &carried->sums, sizeof *carried, s->scene->gravity);
    lap(s, MOVE);
    tl_accounts_to_particles(s->sim, &s->account, s->measured.kinetic, s->measured.potential);
    const tl_spread spread = {CORRECT_SWEEPS, gap, 1 / s->scene->fps};
    lap(s, MEASURE);
    if (!s->scene->grid.correct_density || !ends_frame(s)) return TALUS_OK;
    TL_TRY(tl_particles_spread(&s->kept->frame, &end, &spread, &s->particles, s->arena, &s->corrected, err));
    tl_particles_bound_affine(&s->grid, s->kept->density, carried, free, &s->particles);
    lap(s, CORRECT);
    TL_TRY(tl_particles_measures(&s->kept->frame, &s->particles, s->kept->density, s->scene->gravity, s->arena,
                                 &s->measured, err));
    tl_accounts_spread(s->sim, &s->account, s->measured.kinetic, s->measured.potential);
    return TALUS_OK;
}

static talus_status judge_particles(const grid_step *s, bool *again, talus_error *err)
{
    if (isfinite(s->measured.kinetic) && isfinite(s->measured.potential)) return TALUS_OK;
    *again = true;
    return TL_FAIL(err, TALUS_NOT_DEFINITE, "particles left the numbers");
}

/* Room for what commit writes. */
static talus_status make_room(grid_step *s, talus_error *err)
{
    tl_grid_state *g = &s->sim->state.grid;
    TL_TRY(tl_bodies_make_room(&s->b, err));
    if (s->statics.t) TL_TRY(tl_grid_state_reserve_rest(g, tl_system_rest_cells(&s->system, &s->grid), err));
    return tl_grid_state_reserve_memory(g, s->system.c.cells, s->stress != NULL, err);
}

static void fill_report(grid_step *s)
{
    tl_report *r = &s->sim->report;
    const tl_scheme_report *c = &s->solved;
    const tl_particles_measure *m = &s->measured;
    *r = (tl_report){.sweeps = c->sweeps, .solves = 2};
    tl_bodies_report(&s->b, r);
    for (int k = 0; k < PHASES; k++)
        r->phase[r->phases++] = (tl_report_phase){phase_names[k], s->spent[k].seconds, s->spent[k].cpu};
    /* sand: solved, or settled; the lesser of the two stops the sweeps and judges them */
    double target = s->scene->solver.tolerance, pressure = fmin(c->certificate.pressure, c->settled),
           stress = fmin(c->certificate.stress, c->settled);
    r->solve[0] = (tl_report_solve){"pressure",
                                    c->pressure_method,
                                    tl_result_name(pressure <= target ? TL_CONVERGED : TL_OUT_OF_ITERATIONS),
                                    c->pressure_iterations,
                                    pressure,
                                    target,
                                    c->pressure_work};
    double contact = fmax(c->certificate.normal, c->certificate.tangent);
    r->solve[1] = (tl_report_solve){"contact",
                                    tl_scheme_name(c->scheme),
                                    tl_result_name(contact <= target ? TL_CONVERGED : TL_OUT_OF_ITERATIONS),
                                    c->contact_iterations,
                                    contact,
                                    target,
                                    c->contact_work};
    if (s->stress)
        r->solve[r->solves++] =
            (tl_report_solve){"stress",
                              s->kept->friction ? s->kept->friction->name : s->kept->rule->name,
                              tl_result_name(stress <= target ? TL_CONVERGED : TL_OUT_OF_ITERATIONS),
                              c->stress_iterations,
                              stress,
                              target,
                              c->stress_work};
    /* what is selected acts in the next step, so that this is a finding and no target to be missed */
    if (s->statics.t)
        r->solve[r->solves++] = (tl_report_solve){"static_stress",
                                                  "least-energy",
                                                  tl_result_name(TL_CONVERGED),
                                                  s->statics.evaluations,
                                                  s->statics.distance,
                                                  1,
                                                  {0}};
    r->kinetic += m->kinetic;
    r->potential += m->potential;
    r->momentum = tl_vec3_add(r->momentum, m->momentum);
    r->angular_momentum = tl_vec3_add(r->angular_momentum, m->angular_momentum);
    r->fastest = fmax(r->fastest, m->fastest);
    r->particles = s->particles.count;
    r->escaped += (int64_t)s->totals.escaped;
    r->particle_volume = m->volume;
    r->liquid_volume = s->liquid_volume;
    double due = s->totals.initial_volume - s->totals.escaped_volume;
    for (int k = 0; k < s->scene->emitter_count; k++) due += s->emitter[k].emitted;
    r->volume_error = due > 0 ? s->liquid_volume / due - 1 : 0;
}

/* The first time that something is lost or refused. */
static void tell(const grid_step *s)
{
    const tl_grid_state *g = &s->sim->state.grid;
    double t = s->sim->state.t + s->dt;
    for (int k = 0; k < s->scene->emitter_count; k++)
        if (s->emitter[k].refused > 0 && !(g->emitter[k].refused > 0))
            tl_log_write(
                &s->sim->log, 0,
                "t = %.6g s: emitters[%d] finds no free place for what is due: it is blocked, or its rate is more "
                "than its velocity carries away; what is refused is counted",
                t, k + 1);
    if (s->totals.escaped > 0 && !(g->totals->escaped > 0))
        tl_log_write(&s->sim->log, 0,
                     "t = %.6g s: the first particles left the domain, %.0f of them; steps.csv counts on", t,
                     s->totals.escaped);
}

static void commit(grid_step *s)
{
    tl_grid_state *g = &s->sim->state.grid;
    for (int32_t i = 0; i < s->sim->rigid.scene_count; i++) {
        s->b.body[i].fluid_force = tl_vec3_load(s->fluid + 6 * (int64_t)i);
        s->b.body[i].fluid_torque = tl_vec3_load(s->fluid + 6 * (int64_t)i + 3);
    }
    tl_bodies_commit(&s->b);
    s->kept->spare = g->particles; /* they change places */
    s->kept->spare.count = 0;
    g->particles = s->particles;
    const tl_statics *q = &s->statics;
    if (s->stress) tl_stress_pack(&s->system.stress, q->s_next ? q->s_next : s->stress, s->five);
    tl_active_remember(&s->grid, &s->system.active, q->p_next ? q->p_next : s->p, s->five, g);
    tl_system_remember(&s->system, &s->grid, q->t, g);
    for (int k = 0; k < s->scene->emitter_count; k++) g->emitter[k] = s->emitter[k];
    s->totals.measured = 1;
    s->totals.particles = s->measured;
    s->totals.flow = s->stress ? s->measured.fastest : fastest_cell(&s->system.c);
    *g->totals = s->totals;
}

static talus_status step_flow(tl_sim *sim, double dt, bool *again, talus_error *err)
{
    grid_step s;
    TL_TRY(begin_step(&s, sim, dt, err));
    TL_TRY(tl_bodies_predict(&s.b, err));
    TL_TRY(particles_to_grid(&s, err));
    TL_TRY(add_external_forces(&s, err));
    TL_TRY(classify_domains(&s, err));
    TL_TRY(tl_cancel_check(err));
    TL_TRY(tl_bodies_detect(&s.b, err));
    TL_TRY(tl_bodies_match(&s.b, err));
    if (!s.kept->alpha || s.kept->density_rule == TL_DENSITY_KERNEL) TL_TRY(find_pieces(&s, err));
    bool more = true;
    for (int looks = 0; more; looks++) {
        TL_TRY(assemble_coupling(&s, err));
        TL_TRY(run_scheme(&s, again, err));
        TL_TRY(tl_bodies_move(&s.b, again, err));
        TL_TRY(tl_bodies_look_again(&s.b, looks, &more, again, err));
    }
    TL_TRY(show_problem(&s, err));
    TL_TRY(find_pressed(&s, err));
    TL_TRY(select_static_stress(&s, err));
    TL_TRY(tl_accounts_bodies(&s.b, err));
    TL_TRY(tl_bodies_stabilise(&s.b, err));
    tl_accounts_push(&s.b);
    TL_TRY(bounce(&s, again, err));
    tl_accounts_bounce(&s.b);
    TL_TRY(extend_velocities(&s, err));
    TL_TRY(tl_cancel_check(err));
    TL_TRY(move_particles(&s, err));
    TL_TRY(judge_particles(&s, again, err));
    TL_TRY(make_room(&s, err));
    TL_TRY(tl_cancel_check(err));
    lap(&s, MEASURE);
    fill_report(&s);
    TL_TRY(tl_accounts_end(sim, dt, s.b.body, again, err));
    tell(&s);
    commit(&s);
    return TALUS_OK;
}

static talus_status step(tl_sim *sim, double dt, bool *again, talus_error *err)
{
    tl_grid_kept *kept = sim->own;
    *again = false;
    if (kept->elastic) return tl_elastic_step(sim, kept->elastic, &kept->rigid, dt, again, err);
    return kept->flows ? step_flow(sim, dt, again, err) : tl_rigid_step(sim, &kept->rigid, dt, again, err);
}

const tl_engine_entry tl_engine_grid = {"grid", tl_grid_begin, tl_grid_end, tl_grid_dt_wanted, step};
