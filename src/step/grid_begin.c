#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "model/grid/emit.h"
#include "model/grid/particles.h"
#include "model/rigid/motion.h"
#include "step/grid.h"

#define STRESS_ITERATIONS 20 /* of primal-dual per sweep: as many products as jcsp spends. Chosen */
#define PI 3.14159265358979323846
#define FAST_OVER_SLOW 1.685 /* tan 32.76 over tan 20.9 degrees [Jop2006] */
#define GRAINS 0.6           /* part of the volume that grains take up, for their density in mu(I) */
#define THIN_CELLS 2.0       /* bodies thinner than this have no inside: liquid on both sides shares cells */

tl_liquid_rules tl_liquid_rules_default(void)
{
    return (tl_liquid_rules){
        /* What strain disturbs goes away as fast as strain disturbs it, and liquid at rest is left alone. Without the bound noise of the sampling keeps a pool at 0.12 mm/s instead of 0.02 and a bowl
         * at 1 instead of 0.3; with 3, a breaking dam loses 2.5 % of its volume while it splashes. */
        .strains = 6,
        /* With less than half open, a face's centre is in the solid, and particles that read it there climb walls. Just below half, since half of a face is open where a wall is on it. */
        .closed = 0.499,
        /* Mean of a face's cells. A particle's kernel reaches one cell, and its volume half a spacing, a quarter of a cell: matter on a face that far up hangs together with the liquid by at most the
         * last quarter of a kernel. */
        .kernel_reach = 0.75,
        /* As many as there are between the last face of the system and one that a particle at the surface reads: its own cell's and the next; one is not enough at slanted walls (41 mm/s at once). */
        .surround_layers = 2,
        .pay = true,
        .mix = true,
        /* Of the time in which gravity crosses a cell: waves of two cells turn by sqrt(pi g / dx) dt = 0.44 radians in a step. In steps four times as long they gain 6 % of their motion. */
        .gravity_step = 0.25,
        /* Drops and spray, which fill less than half of a cell, fly as they would in steps of any length, but for where they land. With `cfl` 2 that is 3 cells in a step, half of them and the kernel being
         * within the TL_GRID_MARGIN cells that exist around each particle. A few of them set the step of all: of half a million particles of a dam at the wall one is faster than 5.5 m/s and 1500 than 3.5. */
        .drop_way = 1.5,
        .surface = tl_surface_rules_default()};
}

static const char *file_of(const tl_scene *s) { return s->file ? s->file : "scene"; }

static talus_status refuse_materials(const tl_scene *s, talus_error *err)
{
    for (int i = 0; i < s->fill_count + s->emitter_count; i++) {
        const tl_where *at = i < s->fill_count ? &s->fills[i].where : &s->emitters[i - s->fill_count].where;
        const tl_material *m =
            &s->materials[i < s->fill_count ? s->fills[i].material : s->emitters[i - s->fill_count].material];
        if (m->kind == TL_MATERIAL_GRANULAR || (m->kind == TL_MATERIAL_LIQUID && m->surface_tension == 0)) continue;
        return TL_FAIL(
            err, TALUS_UNSUPPORTED,
            "%.200s:%d: engine \"grid\" runs sand and liquids without surface tension so far; %s cannot be run yet",
            file_of(s), at->line, m->kind == TL_MATERIAL_VISCOUS ? "viscous liquid" : "surface tension");
    }
    return TALUS_OK;
}

static talus_status refuse_grids(const tl_scene *s, talus_error *err)
{
    for (int k = 0; k < 3; k++)
        if (s->grid.periodic[k] && s->grid.cells[k] > 1 && s->grid.cells[k] % 2)
            return TL_FAIL(err, TALUS_UNSUPPORTED,
                           "%.200s: a periodic axis has one cell or an even number of them, grid.cells[%d] is %d",
                           file_of(s), k + 1, s->grid.cells[k]);
    return TALUS_OK;
}

static bool flows_as(const tl_scene *s, tl_material_kind kind)
{
    bool any = false;
    for (int i = 0; i < s->fill_count; i++) any |= s->materials[s->fills[i].material].kind == kind;
    for (int i = 0; i < s->emitter_count; i++) any |= s->materials[s->emitters[i].material].kind == kind;
    return any;
}

static bool has_sand(const tl_scene *s) { return flows_as(s, TL_MATERIAL_GRANULAR); }

static int word_of(const char *word, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (word && !strcmp(word, words[i])) return i;
    return 0;
}

/* The exact cone whole where stress is colocated; boxes by parts where it is staggered or asked for. */
static talus_status find_stress_method(tl_grid_kept *k, const tl_scene *s, talus_error *err)
{
    const tl_parts_spec *o = &s->solver.parts;
    k->staggered = s->solver.stress && !strcmp(s->solver.stress, "staggered");
    bool pyramid = s->solver.cone && !strcmp(s->solver.cone, "pyramid");
    const char *method = s->solver.friction.method;
    if (!method || !*method) method = pyramid ? "jcsp-pyramid" : k->staggered ? "primal-dual" : "apgd";
    k->friction = tl_cone_method_find(method);
    k->rule = tl_parts_rule_find(method);
    if (k->rule) k->friction = NULL;
    k->parts = tl_parts_default();
    k->parts.pyramid = o->pyramid;
    k->parts.loose = o->loose;
    k->parts.damping = o->damping > 0 ? o->damping : k->rule && k->rule->cone ? 0.3 : 0.5;
    if (o->penalty > 0)
        k->parts.penalty = o->penalty;
    else if (k->staggered)
        k->parts.penalty = TL_PARTS_SOFT;
    k->parts.keep = o->keep;
    k->parts.line_search = o->line_search;
    k->parts.newton = o->newton;
    k->parts.stiffen = o->stiffen;
    k->parts.as_energy = o->as_energy;
    if (k->rule && k->rule->order == TL_PARTS_DUAL) k->parts.iterations = STRESS_ITERATIONS;
    if (s->solver.friction.iterations > 0) k->parts.iterations = s->solver.friction.iterations;
    const char *precond = s->solver.friction.precond;
    k->parts.ssor = precond && !strcmp(precond, "ssor");
    if (precond && *precond && (!k->rule || (!k->parts.ssor && strcmp(precond, "jacobi"))))
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "%.200s: solver.friction.precond \"%.20s\" is not there for \"%.40s\"; stress by parts takes "
                       "\"jacobi\" or \"ssor\"",
                       file_of(s), precond, method);
    return TALUS_OK;
}

static bool free_body(const tl_scene *s)
{
    bool any = false;
    for (int i = 0; i < s->body_count; i++) any |= s->bodies[i].kind == TL_BODY_FREE;
    return any;
}

/* Shear on a plane over the pressure there. */
static double plane_friction(const tl_material *m, double angle_deg)
{
    double angle = angle_deg * (PI / 180);
    return m->angle_means == TL_ANGLE_SLOPE ? tan(angle) : sin(angle);
}

/* Friction of fast flow on a plane, where only the size of grains is given: as much more as glass beads were measured to have, and never more than the pressure, or one of the principal
 * stresses were a tension. */
static double fast_friction(const tl_material *m)
{
    if (m->dynamic_friction_angle_deg > 0) return plane_friction(m, m->dynamic_friction_angle_deg);
    double slow = plane_friction(m, m->friction_angle_deg);
    return fmax(slow, fmin(1, FAST_OVER_SLOW * slow));
}

/* Cones of all materials: sqrt 2 sin(angle) times the pressure. [FM21 sec. 3.1.3] */
static talus_status find_cones(tl_grid_kept *k, const tl_scene *s, talus_error *err)
{
    static const char *const edges[] = {"load", "wall", "strict", "inactive-zero", NULL};
    static const char *const densities[] = {"carried", "kernel", "share", "const", "mass", NULL};
    if (!has_sand(s)) return TALUS_OK;
    bool rates = false, sticks = false;
    for (int i = 0; i < s->material_count; i++) {
        rates |= s->materials[i].grain_size > 0;
        sticks |= s->materials[i].cohesion > 0;
    }
    k->alpha = TL_NEW_ZERO(double, s->material_count);
    if (rates) k->rise = TL_NEW_ZERO(double, s->material_count), k->inertia = TL_NEW_ZERO(double, s->material_count);
    if (sticks) k->cohesion = TL_NEW_ZERO(double, s->material_count);
    if (!k->alpha || (rates && (!k->rise || !k->inertia)) || (sticks && !k->cohesion))
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for materials");
    for (int i = 0; i < s->material_count; i++) {
        const tl_material *m = &s->materials[i];
        if (m->kind != TL_MATERIAL_GRANULAR) continue;
        k->alpha[i] = sqrt(2) * plane_friction(m, m->friction_angle_deg);
        if (m->grain_size > 0) {
            k->rise[i] = sqrt(2) * fast_friction(m) - k->alpha[i];
            k->inertia[i] = m->grain_size * sqrt(m->density / GRAINS) / m->inertial_number;
        }
        if (sticks) k->cohesion[i] = sqrt(2) * m->cohesion * cos(m->friction_angle_deg * (PI / 180));
    }
    k->sand_least = INFINITY;
    for (int i = 0; i < s->material_count; i++)
        if (k->alpha[i] > 0) k->sand_least = fmin(k->sand_least, k->alpha[i]);
    k->refuse_mixture = flows_as(s, TL_MATERIAL_LIQUID) && s->grid.mixture == TL_MIXTURE_NONE;
    TL_TRY(find_stress_method(k, s, err));
    const char *rest = s->solver.static_stress;
    bool exact = k->friction && !k->staggered;
    if (rest && !strcmp(rest, "least-energy") && !exact)
        return TL_FAIL(
            err, TALUS_UNSUPPORTED,
            "%.200s: solver.static_stress = \"least-energy\" is for colocated stress with exact cones; staggered "
            "stress and methods by parts have other sets",
            file_of(s));
    if ((rates || sticks) && !exact)
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "%.200s: mu(I) and cohesion of sand are for colocated stress with exact cones", file_of(s));
    k->statics = exact && !(rest && !strcmp(rest, "none"));
    bool own = s->domain.sand_friction == TL_SAND_FRICTION_OWN;
    for (int i = 0; i < s->body_count; i++) own |= s->bodies[i].sand_friction == TL_SAND_FRICTION_OWN;
    /* stress by parts is for comparison with the papers: as they do it. Bodies get forces that add up to the weight of the sand, and free ones its momentum; so does what emitters let fall, of which a fifth of the momentum is unexplained with the kernel's density. Without any of these the kernel's density leaves thin fringes calmer */
    const char *edge = s->solver.edges, *density = s->solver.density;
    k->edge_rule = edge && *edge ? (tl_edge_rule)word_of(edge, edges) : k->friction ? TL_EDGE_LOAD : TL_EDGE_WALL;
    k->density_rule = density && *density                                ? (tl_density_rule)word_of(density, densities)
                      : s->body_count > 0 || s->emitter_count > 0 || own ? TL_DENSITY_CARRIED
                                                                         : TL_DENSITY_KERNEL;
    if (own && (!exact || k->edge_rule != TL_EDGE_LOAD))
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "%.200s: sand_friction = \"own\" is for colocated stress with exact cones and edges \"load\"; "
                       "elsewhere stress has no samples in solids alone",
                       file_of(s));
    return TALUS_OK;
}

/* Areas are exact at walls; but of a flat bottom they see only which face it has passed, so a floating body would sit on the faces. */
static tl_weight_family choose_family(const tl_scene *s)
{
    if (has_sand(s)) return TL_WEIGHT_VOLUME;
    if (s->solver.weights && *s->solver.weights)
        return strcmp(s->solver.weights, "volume") ? TL_WEIGHT_AREA : TL_WEIGHT_VOLUME;
    return free_body(s) ? TL_WEIGHT_VOLUME : TL_WEIGHT_AREA;
}

static talus_status find_methods(tl_grid_kept *k, const tl_scene *s, talus_error *err)
{
    const tl_solver_spec *o = &s->solver;
    bool named = o->scheme && *o->scheme;
    k->scheme = named ? tl_scheme_find(o->scheme) : NULL;
    if (named && !k->scheme)
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "%.200s: solver.scheme \"%.20s\" does not fit a liquid with rigid bodies: \"p-c\", \"c-p\", "
                       "\"t-pn\", \"t-p-n\", \"p-tn\" or \"tn-pn\"; sand with them: \"pf-c\", \"c-pf\", \"t-f-pn\", "
                       "\"t-f-p-n\" or \"f-p-c\"",
                       file_of(s), o->scheme);
    k->family = choose_family(s);
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

static talus_status begin_flow(tl_sim *sim, tl_grid_kept *k, talus_error *err)
{
    const tl_scene *s = sim->scene;
    TL_TRY(refuse_materials(s, err));
    TL_TRY(refuse_grids(s, err));
    TL_TRY(find_methods(k, s, err));
    TL_TRY(find_cones(k, s, err));
    k->frame = tl_grid_frame_of(s);
    k->density = TL_NEW_ZERO(double, s->material_count);
    if (!k->density) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for materials");
    for (int i = 0; i < s->material_count; i++) k->density[i] = s->materials[i].density;
    k->rules = tl_liquid_rules_default();
    for (int i = 0; i < s->fill_count; i++) k->spacing = fmax(k->spacing, tl_spacing_of(s, s->fills[i].spacing));
    for (int i = 0; i < s->emitter_count; i++) k->spacing = fmax(k->spacing, tl_spacing_of(s, s->emitters[i].spacing));
    tell_thin_bodies(sim, k->frame.dx);
    TL_TRY(tl_grid_state_begin(&sim->state.grid, s, &k->frame, &sim->rigid, sim->state.rigid.body, err));
    if (s->fill_count && !sim->state.grid.particles.count)
        tl_log_write(&sim->log, 0,
                     "no fill has room for a particle: bodies or walls cover them, or they are too small");
    return TALUS_OK;
}

talus_status tl_grid_begin(tl_sim *sim, talus_error *err)
{
    tl_grid_kept *k = TL_NEW_ZERO(tl_grid_kept, 1);
    sim->own = k;
    if (!k) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the grid engine");
    TL_TRY(tl_rigid_begin(sim, &k->rigid, err));
    k->flows = sim->scene->fill_count + sim->scene->emitter_count > 0;
    if (tl_scene_bends(sim->scene)) {
        if (k->flows)
            return TL_FAIL(err, TALUS_UNSUPPORTED,
                           "%.200s: engine \"grid\" runs elastic bodies with rigid ones, not yet with sand or liquid",
                           file_of(sim->scene));
        return tl_elastic_begin(sim, &k->elastic, err);
    }
    return k->flows ? begin_flow(sim, k, err) : TALUS_OK;
}

void tl_grid_end(tl_sim *sim)
{
    tl_grid_kept *k = sim->own;
    if (!k) return;
    tl_rigid_end(&k->rigid);
    tl_elastic_end(k->elastic);
    tl_particles_free(&k->spare);
    tl_free(k->density);
    tl_free(k->alpha);
    tl_free(k->rise);
    tl_free(k->inertia);
    tl_free(k->cohesion);
    tl_free(k);
    sim->own = NULL;
}

static double fastest_particle(const tl_particles *p)
{
    double most = 0;
#pragma omp parallel for schedule(static) reduction(max : most)
    for (int64_t i = 0; i < p->count; i++) most = fmax(most, tl_vec3_norm2(p->particle[i].v));
    return sqrt(most);
}

double tl_grid_dt_wanted(const tl_sim *sim)
{
    const tl_grid_kept *k = sim->own;
    double dt = tl_rigid_dt_wanted(sim);
    if (!k->flows) return dt;
    const tl_scene *s = sim->scene;
    double body = tl_rigid_measure(&sim->rigid, sim->state.rigid.body, s->gravity).fastest;
    double g = tl_vec3_norm(s->gravity);
    const tl_grid_totals *now = sim->state.grid.totals;
    double fastest = now->measured > 0 ? now->particles.fastest : fastest_particle(&sim->state.grid.particles);
    if (!k->alpha && now->measured > 0) fastest = fmax(fmin(now->flow, fastest), fastest / k->rules.drop_way);
    if (!k->alpha && g > 0) dt = fmin(dt, k->rules.gravity_step * sqrt(k->frame.dx / g));
    return fmin(dt, tl_particles_dt(&k->frame, s->grid.cfl, fastest, body, s->gravity));
}
