/* What the grid engine decides once about what flows: from the scene. */
#include <math.h>

#include "base/alloc.h"
#include "model/grid/emit.h"
#include "model/grid/flow.h"

#define PI 3.14159265358979323846
#define FAST_OVER_SLOW 1.685 /* tan 32.76 over tan 20.9 degrees [Jop2006] */
#define GRAINS 0.6           /* part of the volume that grains take up, for their density in mu(I) */

static tl_liquid_rules default_rules(void)
{
    return (tl_liquid_rules){
        /* What strain disturbs goes away as fast as strain disturbs it, and liquid at rest is left alone. Without
         * the bound noise of the sampling keeps a pool at 0.12 mm/s instead of 0.02 and a bowl at 1 instead of 0.3;
         * with 3, a breaking dam loses 2.5 % of its volume while it splashes. */
        .strains = 6,
        /* With less than half open, a face's centre is in the solid, and particles that read it there climb walls.
         * Just below half, since half of a face is open where a wall is on it. */
        .closed = 0.499,
        /* Mean of a face's cells. A particle's kernel reaches one cell, and its volume half a spacing, a quarter of
         * a cell: matter on a face that far up hangs together with the liquid by at most the last quarter of a
         * kernel. */
        .kernel_reach = 0.75,
        /* As many as there are between the last face of the system and one that a particle at the surface reads: its
         * own cell's and the next; one is not enough at slanted walls (41 mm/s at once). */
        .surround_layers = 2,
        .pay = true,
        .mix = true,
        .ride = true,
        /* Of the time in which gravity crosses a cell: waves of two cells turn by sqrt(pi g / dx) dt = 0.44 radians
         * in a step. In steps four times as long they gain 6 % of their motion. */
        .gravity_step = 0.25,
        /* Drops and spray, which fill less than half of a cell, fly as they would in steps of any length, but for
         * where they land. With `cfl` 2 that is 3 cells in a step, half of them and the kernel being within the
         * TL_GRID_MARGIN cells that exist around each particle. A few of them set the step of all: of half a million
         * particles of a dam at the wall one is faster than 5.5 m/s and 1500 than 3.5. */
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
        if (m->kind == TL_MATERIAL_GRANULAR || m->surface_tension == 0) continue;
        return TL_FAIL(
            err, TALUS_UNSUPPORTED,
            "%.200s:%d: engine \"grid\" runs sand and liquids without surface tension so far; surface tension cannot "
            "be run yet",
            file_of(s), at->line);
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

bool tl_scene_has_sand(const tl_scene *s) { return flows_as(s, TL_MATERIAL_GRANULAR); }
bool tl_scene_is_viscous(const tl_scene *s) { return flows_as(s, TL_MATERIAL_VISCOUS); }

bool tl_grid_falls_around(const tl_scene *s)
{
    const double g[3] = {s->gravity.x, s->gravity.y, s->gravity.z};
    for (int k = 0; k < 3; k++)
        if (s->grid.periodic[k] && g[k] != 0) return true;
    return false;
}

/* A rigid one: elastic bodies have areas with the offset of their hydrostatic load. */
static bool free_body(const tl_scene *s)
{
    bool any = false;
    for (int i = 0; i < s->body_count; i++) {
        const int m = s->bodies[i].material;
        any |= s->bodies[i].kind == TL_BODY_FREE && !(m >= 0 && s->materials[m].kind == TL_MATERIAL_ELASTIC);
    }
    return any;
}

/* Shear on a plane over the pressure there. */
static double plane_friction(const tl_material *m, double angle_deg)
{
    double angle = angle_deg * (PI / 180);
    return m->angle_means == TL_ANGLE_SLOPE ? tan(angle) : sin(angle);
}

/* Friction of fast flow on a plane, where only the size of grains is given: as much more as glass beads were
 * measured to have, and never more than the pressure, or one of the principal stresses were a tension. */
static double fast_friction(const tl_material *m)
{
    if (m->dynamic_friction_angle_deg > 0) return plane_friction(m, m->dynamic_friction_angle_deg);
    double slow = plane_friction(m, m->friction_angle_deg);
    return fmax(slow, fmin(1, FAST_OVER_SLOW * slow));
}

/* Cones of all materials: sqrt 2 sin(angle) times the pressure. [FM21 sec. 3.1.3] */
static talus_status find_cones(tl_flow_setup *k, const tl_scene *s, bool by_cones, talus_error *err)
{
    const tl_solver_spec *o = &s->solver;
    if (!tl_scene_has_sand(s)) return TALUS_OK;
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
    k->liquid_too = flows_as(s, TL_MATERIAL_LIQUID) || flows_as(s, TL_MATERIAL_VISCOUS);
    k->refuse_mixture = flows_as(s, TL_MATERIAL_LIQUID) && s->grid.mixture == TL_MIXTURE_NONE;
    bool exact = by_cones && !k->staggered;
    if (o->static_stress == TL_STATICS_LEAST_ENERGY && !exact)
        return TL_FAIL(
            err, TALUS_UNSUPPORTED,
            "%.200s: solver.static_stress = \"least-energy\" is for colocated stress with exact cones; staggered "
            "stress and methods by parts have other sets",
            file_of(s));
    if ((rates || sticks) && !exact)
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "%.200s: mu(I) and cohesion of sand are for colocated stress with exact cones", file_of(s));
    k->statics = exact && o->static_stress != TL_STATICS_NONE;
    bool own = s->domain.sand_friction == TL_SAND_FRICTION_OWN;
    for (int i = 0; i < s->body_count; i++) own |= s->bodies[i].sand_friction == TL_SAND_FRICTION_OWN;
    /* stress by parts is for comparison with the papers: as they do it. Bodies get forces that add up to the weight
     * of the sand, and free ones its momentum; so does what emitters let fall, of which a fifth of the momentum is
     * unexplained with the kernel's density. Without any of these the kernel's density leaves thin fringes calmer */
    _Static_assert(TL_EDGES_INACTIVE_ZERO - 1 == (int)TL_EDGE_INACTIVE_ZERO, "words of solver.edges");
    _Static_assert(TL_DENSITIES_MASS - 1 == (int)TL_DENSITY_MASS, "words of solver.density");
    k->edge_rule = o->edges ? (tl_edge_rule)(o->edges - 1) : by_cones ? TL_EDGE_LOAD : TL_EDGE_WALL;
    k->density_rule = o->density                                         ? (tl_density_rule)(o->density - 1)
                      : s->body_count > 0 || s->emitter_count > 0 || own ? TL_DENSITY_CARRIED
                                                                         : TL_DENSITY_KERNEL;
    if (own && (!exact || k->edge_rule != TL_EDGE_LOAD))
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "%.200s: sand_friction = \"own\" is for colocated stress with exact cones and edges \"load\"; "
                       "elsewhere stress has no samples in solids alone",
                       file_of(s));
    return TALUS_OK;
}

/* Stress and pressure need weights of one family, and edges have volumes. */
static talus_status find_viscosities(tl_flow_setup *k, const tl_scene *s, talus_error *err)
{
    if (!tl_scene_is_viscous(s)) return TALUS_OK;
    if (tl_scene_has_sand(s))
        return TL_FAIL(err, TALUS_UNSUPPORTED, "%.200s: sand and viscous liquid in one scene cannot be run yet",
                       file_of(s));
    if (s->solver.weights == TL_WEIGHTS_AREA)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "%.200s: solver.weights = \"area\" is for liquids without viscosity",
                       file_of(s));
    if (!(k->viscosity = TL_NEW_ZERO(double, s->material_count)))
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for materials");
    for (int i = 0; i < s->material_count; i++) k->viscosity[i] = s->materials[i].viscosity;
    return TALUS_OK;
}

/* Areas are exact at walls; but of a flat bottom they see only which face it has passed, so a floating body would
 * sit on the faces. */
static tl_weight_family choose_family(const tl_scene *s)
{
    if (tl_scene_has_sand(s)) return TL_WEIGHT_VOLUME;
    if (s->solver.weights) return s->solver.weights == TL_WEIGHTS_AREA ? TL_WEIGHT_AREA : TL_WEIGHT_VOLUME;
    return free_body(s) || tl_scene_is_viscous(s) ? TL_WEIGHT_VOLUME : TL_WEIGHT_AREA;
}

talus_status tl_flow_setup_make(tl_flow_setup *k, const tl_scene *s, bool exact, talus_error *err)
{
    TL_TRY(refuse_materials(s, err));
    TL_TRY(refuse_grids(s, err));
    k->staggered = s->solver.stress == TL_STRESS_STAGGERED;
    TL_TRY(find_cones(k, s, exact, err));
    TL_TRY(find_viscosities(k, s, err));
    k->family = choose_family(s);
    k->frame = tl_grid_frame_of(s);
    k->density = TL_NEW_ZERO(double, s->material_count);
    if (!k->density) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for materials");
    for (int i = 0; i < s->material_count; i++) k->density[i] = s->materials[i].density;
    k->rules = default_rules();
    for (int i = 0; i < s->fill_count; i++) k->spacing = fmax(k->spacing, tl_spacing_of(s, s->fills[i].spacing));
    for (int i = 0; i < s->emitter_count; i++) k->spacing = fmax(k->spacing, tl_spacing_of(s, s->emitters[i].spacing));
    return TALUS_OK;
}

void tl_flow_setup_free(tl_flow_setup *k)
{
    tl_free(k->density);
    tl_free(k->alpha);
    tl_free(k->viscosity);
    tl_free(k->rise);
    tl_free(k->inertia);
    tl_free(k->cohesion);
}
