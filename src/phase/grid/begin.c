#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "model/grid/emit.h"
#include "model/rigid/motion.h"
#include "phase/accounts/accounts.h"
#include "phase/grid/grid.h"

#define STRESS_ITERATIONS 20 /* of primal-dual per sweep: as many products as jcsp spends. Chosen */
#define THIN_CELLS 2.0       /* bodies thinner than this have no inside: liquid on both sides shares cells */

static const char *file_of(const tl_scene *s) { return s->file ? s->file : "scene"; }

/* The exact cone whole where stress is colocated; boxes by parts where it is staggered or asked for. */
static talus_status find_stress_method(tl_grid_data *k, const tl_scene *s, talus_error *err)
{
    const tl_parts_spec *o = &s->solver.parts;
    const bool staggered = s->solver.stress == TL_STRESS_STAGGERED;
    const bool pyramid = s->solver.cone == TL_CONE_PYRAMID;
    const char *method = s->solver.friction.method;
    if (!method || !*method) method = pyramid ? "jcsp-pyramid" : staggered ? "primal-dual" : "apgd";
    k->friction = tl_cone_method_find(method);
    const tl_parts_rule *rule = k->friction ? k->friction->rule : NULL;
    k->parts = tl_parts_default();
    k->parts.pyramid = o->pyramid;
    k->parts.loose = o->loose;
    k->parts.damping = o->damping > 0 ? o->damping : rule && rule->cone ? 0.3 : 0.5;
    if (o->penalty > 0)
        k->parts.penalty = o->penalty;
    else if (staggered)
        k->parts.penalty = TL_PARTS_SOFT;
    k->parts.keep = o->keep;
    k->parts.line_search = o->line_search;
    k->parts.newton = o->newton;
    k->parts.stiffen = o->stiffen;
    k->parts.as_energy = o->as_energy;
    if (rule && rule->order == TL_PARTS_DUAL) k->parts.iterations = STRESS_ITERATIONS;
    if (s->solver.friction.iterations > 0) k->parts.iterations = s->solver.friction.iterations;
    const char *precond = s->solver.friction.precond;
    k->parts.ssor = precond && !strcmp(precond, "ssor");
    if (precond && *precond && (!rule || (!k->parts.ssor && strcmp(precond, "jacobi"))))
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "%.200s: solver.friction.precond \"%.20s\" is not there for \"%.40s\"; stress by parts takes "
                       "\"jacobi\" or \"ssor\"",
                       file_of(s), precond, method);
    return TALUS_OK;
}

static talus_status find_methods(tl_grid_data *k, const tl_scene *s, talus_error *err)
{
    const tl_solver_spec *o = &s->solver;
    bool named = o->scheme && *o->scheme;
    const bool sand = tl_scene_has_sand(s), viscous = tl_scene_is_viscous(s);
    if (k->elastic && !(sand && viscous)) { /* which is refused as a whole, by tl_flow_setup_make */
        k->dual = tl_dual_scheme_find(named ? o->scheme : sand ? "f-p-c" : viscous ? "pvec" : "pec-gs");
        if (!k->dual || tl_dual_scheme_cones(k->dual) != sand || tl_dual_scheme_viscous(k->dual) != viscous)
            return TL_FAIL(err, TALUS_UNSUPPORTED,
                           "%.200s: solver.scheme \"%.20s\" does not fit %s with elastic bodies: %s", file_of(s),
                           o->scheme,
                           sand      ? "sand"
                           : viscous ? "a viscous liquid"
                                     : "a liquid",
                           sand      ? "\"f-p-c\""
                           : viscous ? "\"pvec\", \"pve-ec\", \"ec-pve\" or \"pvec-ucg\""
                                     : "\"pec\", \"pec-gs\", \"pe-ec\", \"ec-pe\" or one that starts with \"pec-\"");
        /* normal forces that are solved with pressures, but without joints, need not settle */
        if (s->joint_count && !strcmp(tl_dual_scheme_name(k->dual), "pec")) k->dual = tl_dual_scheme_find("pec-gs");
        if (s->joint_count && !tl_dual_scheme_split(k->dual))
            return TL_FAIL(err, TALUS_UNSUPPORTED, "%.200s: solver.scheme \"%.20s\" has no joints: \"pec-gs\" does",
                           file_of(s), o->scheme);
        named = false;
    }
    k->scheme = named ? tl_scheme_find(o->scheme) : NULL;
    if (named && !k->scheme)
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "%.200s: solver.scheme \"%.20s\" does not fit a liquid with rigid bodies: \"p-c\", \"c-p\", "
                       "\"t-pn\", \"t-p-n\", \"p-tn\" or \"tn-pn\"; sand with them: \"pf-c\", \"c-pf\", \"t-f-pn\", "
                       "\"t-f-p-n\" or \"f-p-c\"",
                       file_of(s), o->scheme);
    if (named && tl_scene_is_viscous(s) && (!strcmp(o->scheme, "t-pn") || !strcmp(o->scheme, "tn-pn")))
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "%.200s: solver.scheme \"%.20s\" solves pressure and normal forces as one; of a viscous liquid "
                       "pressure goes with its stress: \"p-c\", \"c-p\", \"t-p-n\" or \"p-tn\"",
                       file_of(s), o->scheme);
    const char *method = o->pressure.method && *o->pressure.method ? o->pressure.method : "multigrid";
    k->method = tl_pressure_method_find(method);
    if (!k->method)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "%.200s: solver.pressure \"%.40s\" is no method of the coupled solve",
                       file_of(s), method);
    return TALUS_OK;
}

static void tell_thin_bodies(const tl_sim *sim, double dx)
{
    for (int32_t i = 0; i < sim->rigid.scene_count; i++) {
        double extent = sim->rigid.body[i].extent;
        if (extent < THIN_CELLS * dx && sim->rigid.body[i].reach < INFINITY)
            tl_log_write(&sim->log, 0, "body \"%s\" is %.3g m thin, less than %g cells: liquid may pass through it",
                         sim->scene->bodies[i].name, extent, THIN_CELLS);
    }
}

static talus_status begin_particles(tl_sim *sim, tl_grid_data *k, tl_grid_state *g, talus_error *err)
{
    const tl_scene *s = sim->scene;
    tl_skins skins = {0};
    if (k->elastic) {
        const tl_lg_state *nodes = tl_lg_state_of(&sim->state);
        TL_TRY(tl_skins_make(&skins, &sim->lg, sim->rigid.scene_count, nodes->q, nodes->v, &sim->arena, err));
    }
    const tl_fill_bodies bodies = {&sim->rigid, sim->state.rigid.body, k->elastic ? &skins : NULL};
    TL_TRY(tl_grid_state_begin(g, s, &k->flow.frame, &bodies, err));
    if (s->fill_count && !g->particles.count)
        tl_log_write(&sim->log, 0,
                     "no fill has room for a particle: bodies or walls cover them, or they are too small");
    return TALUS_OK;
}

/* Room for what the first part will tell. */
static talus_status begin_elsewhere(const tl_scene *s, tl_grid_state *g, talus_error *err)
{
    g->emitters = s->emitter_count;
    g->emitter = TL_NEW_ZERO(tl_emitter_state, s->emitter_count + 1);
    g->totals = TL_NEW_ZERO(tl_grid_totals, 1);
    g->totals_count = g->totals != NULL;
    if (!g->emitter || !g->totals) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the state of the grid");
    return tl_particles_reserve(&g->particles, 1, err);
}

/* The first part makes all particles, and deals them out. */
talus_status tl_grid_begin_parts(tl_sim *sim, talus_error *err)
{
    tl_grid_data *k = sim->engine_data;
    tl_grid_state *g = tl_grid_state_of(&sim->state);
    talus_status status = sim->comm->part == 0 ? begin_particles(sim, k, g, err) : begin_elsewhere(sim->scene, g, err);
    if (status == TALUS_OK) status = tl_owners_make(&k->owners, sim->comm, err);
    TL_TRY(tl_comm_agree(sim->comm, status, err));
    k->flow.frame.owners = k->owners;
    tl_comm_tell(sim->comm, sizeof *g->totals, g->totals);
    return tl_grid_parts.deal(sim, &sim->state, NULL, err);
}

static talus_status begin_flow(tl_sim *sim, tl_grid_data *k, talus_error *err)
{
    const tl_scene *s = sim->scene;
    TL_TRY(find_methods(k, s, err));
    if (tl_scene_has_sand(s)) TL_TRY(find_stress_method(k, s, err));
    TL_TRY(tl_flow_setup_make(&k->flow, s, k->friction && !k->friction->rule, err));
    tell_thin_bodies(sim, k->flow.frame.dx);
    tl_grid_state *g = tl_state_add(&sim->state, &tl_grid_state_kind);
    if (!g) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for particles");
    return sim->comm ? TALUS_OK : begin_particles(sim, k, g, err);
}

talus_status tl_grid_begin(tl_sim *sim, talus_error *err)
{
    tl_grid_data *k = TL_NEW_ZERO(tl_grid_data, 1);
    sim->engine_data = k;
    if (!k) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the grid engine");
    TL_TRY(tl_rigid_begin(sim, &k->rigid, err));
    k->flows = sim->scene->fill_count + sim->scene->emitter_count > 0;
    if (tl_scene_bends(sim->scene)) TL_TRY(tl_elastic_begin(sim, &k->elastic, err));
    return k->flows ? begin_flow(sim, k, err) : TALUS_OK;
}

void tl_grid_end(tl_sim *sim)
{
    tl_grid_data *k = sim->engine_data;
    if (!k) return;
    tl_rigid_end(&k->rigid);
    tl_elastic_end(k->elastic);
    tl_particles_free(&k->spare);
    tl_owners_free(k->owners);
    tl_flow_setup_free(&k->flow);
    tl_free(k);
    sim->engine_data = NULL;
}

static double fastest_particle(const tl_particles *p)
{
    double max = 0;
#pragma omp parallel for schedule(static) reduction(max : max)
    for (int64_t i = 0; i < p->count; i++) max = fmax(max, tl_vec3_norm2(p->particle[i].v));
    return sqrt(max);
}

static double fastest_node(const tl_sim *sim)
{
    const double *v = tl_lg_state_of(&sim->state)->v;
    double max = 0;
    for (int32_t i = 0; i < sim->lg.nodes; i++) max = fmax(max, tl_vec3_norm2(tl_vec3_load(v + 3 * (int64_t)i)));
    return sqrt(max);
}

double tl_grid_dt_wanted(const tl_sim *sim)
{
    const tl_grid_data *k = sim->engine_data;
    double dt = tl_rigid_dt_wanted(sim);
    if (!k->flows) return dt;
    const tl_scene *s = sim->scene;
    double body = tl_rigid_measure(&sim->rigid, sim->state.rigid.body, s->gravity).fastest;
    if (k->elastic) body = fmax(body, fastest_node(sim));
    double g = tl_vec3_norm(s->gravity);
    const tl_grid_totals *now = tl_grid_state_of(&sim->state)->totals;
    double fastest = now->measured > 0
                         ? now->particles.fastest
                         : tl_comm_max(sim->comm, fastest_particle(&tl_grid_state_of(&sim->state)->particles));
    if (!k->flow.alpha && now->measured > 0) fastest = fmax(fmin(now->flow, fastest), fastest / k->flow.rules.drop_way);
    if (!k->flow.alpha && g > 0) dt = fmin(dt, k->flow.rules.gravity_step * sqrt(k->flow.frame.dx / g));
    return fmin(dt, tl_particles_dt(&k->flow.frame, s->grid.cfl, fastest, body, s->gravity));
}

/* ---- what others see of it ---- */

static tl_totals totals_of(const tl_particles_measure *m)
{
    return (tl_totals){.mass = m->mass,
                       .first = m->first,
                       .second = m->second,
                       .kinetic = m->kinetic,
                       .potential = m->potential,
                       .momentum = m->momentum,
                       .angular = m->angular_momentum};
}

talus_status tl_grid_totals_of(const tl_sim *sim, const tl_particles *p, const tl_grid_frame *f, tl_arena *a,
                               tl_totals *out, talus_error *err)
{
    const tl_grid_data *data = sim->engine_data;
    tl_particles_measure m;
    TL_TRY(tl_particles_measures(f, p, data->flow.density, sim->scene->gravity, a, &m, err));
    *out = totals_of(&m);
    return TALUS_OK;
}

talus_status tl_grid_measure(tl_sim *sim, tl_totals *t, talus_error *err)
{
    const tl_grid_data *data = sim->engine_data;
    const tl_grid_state *g = tl_grid_state_of(&sim->state);
    if (!g || (!g->particles.count && !sim->comm)) return TALUS_OK;
    tl_totals particles = totals_of(&g->totals->particles);
    if (!(g->totals->measured > 0))
        TL_TRY(tl_grid_totals_of(sim, &g->particles, &data->flow.frame, &sim->arena, &particles, err));
    tl_totals_add(t, 1, &particles);
    sim->flowing = particles;
    return TALUS_OK;
}
