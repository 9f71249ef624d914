#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "step/sph.h"

#define ITERATIONS_MAX 100 /* of a solve, where the scene names none */
#define CLOSEST 0.95       /* spacings: places of an emitter nearer to a particle than this are taken */
#define CLEAR 0.9      /* spacings between liquid and samples of solids at the start; at 1 a lattice has density 1 */
#define CAPILLARY 0.25 /* of the period of a wave of two spacings */

static talus_status no_memory(talus_error *err) { return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for SPH particles"); }

/* ---- begin and end of a simulation ---- */

static talus_status choose_method(tl_sph_kept *k, const tl_scene *s, talus_error *err)
{
    const tl_method_spec *asked = &s->solver.pressure;
    const char *name = asked->method && *asked->method ? asked->method : "nncg";
    k->method = tl_fixedpoint_method_find(name);
    if (!k->method)
        return TL_FAIL(
            err, TALUS_BAD_INPUT,
            "solver.pressure must be \"nncg\", \"jacobi\" or \"interlinked\" with engine \"sph\", got \"%.60s\"", name);
    k->stop = (tl_stop){.tolerance = asked->tolerance > 0 ? asked->tolerance : s->solver.tolerance,
                        .max_iterations = asked->iterations > 0 ? asked->iterations : ITERATIONS_MAX};
    if (k->stop.max_iterations < s->sph.iterations_least) k->stop.max_iterations = s->sph.iterations_least;
    return TALUS_OK;
}

/* Lattice points inside of the shape, half a spacing from its surface or more. */
static talus_status make_inlet(tl_sph_inlet *out, const tl_scene *s, const tl_emitter *e, double h, talus_error *err)
{
    if (!tl_shape_bounded(s->shapes, e->shape))
        return TL_FAIL(err, TALUS_BAD_INPUT, "%.120s:%d: an emitter's shape must be bounded", e->where.file,
                       e->where.line);
    tl_box3 b = tl_shape_bounds(s->shapes, e->shape);
    tl_vec3 size = tl_vec3_sub(b.hi, b.lo), middle = tl_vec3_scale(0.5, tl_vec3_add(b.lo, b.hi));
    int64_t n[3] = {(int64_t)fmax(1, floor(size.x / h + 1e-9)), (int64_t)fmax(1, floor(size.y / h + 1e-9)),
                    (int64_t)fmax(1, floor(size.z / h + 1e-9))};
    out->at = tl_alloc(sizeof *out->at * (size_t)(n[0] * n[1] * n[2]));
    if (!out->at) return no_memory(err);
    for (int64_t k = 0; k < n[2]; k++)
        for (int64_t j = 0; j < n[1]; j++)
            for (int64_t i = 0; i < n[0]; i++) {
                tl_vec3 p = {middle.x + h * ((double)i - 0.5 * (double)(n[0] - 1)),
                             middle.y + h * ((double)j - 0.5 * (double)(n[1] - 1)),
                             middle.z + h * ((double)k - 0.5 * (double)(n[2] - 1))};
                if (tl_shape_distance(s->shapes, e->shape, p) < 0) out->at[out->count++] = p;
            }
    out->near = (tl_box3){tl_vec3_sub(b.lo, (tl_vec3){h, h, h}), tl_vec3_add(b.hi, (tl_vec3){h, h, h})};
    if (!out->count)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%.120s:%d: the emitter has no room for a particle %g m wide",
                       e->where.file, e->where.line, h);
    return TALUS_OK;
}

/* Distance of p from the samples of the domain's closed walls, positive inside. */
static double wall_distance(const tl_scene *s, tl_vec3 p, double inset)
{
    const double x[3] = {p.x, p.y, p.z}, lo[3] = {s->domain.box.lo.x, s->domain.box.lo.y, s->domain.box.lo.z},
                 hi[3] = {s->domain.box.hi.x, s->domain.box.hi.y, s->domain.box.hi.z};
    double least = INFINITY;
    for (int k = 0; k < 3 && s->domain.bounded; k++) {
        if (s->domain.wall[2 * k] == TL_WALL_CLOSED) least = fmin(least, x[k] - lo[k] + inset);
        if (s->domain.wall[2 * k + 1] == TL_WALL_CLOSED) least = fmin(least, hi[k] - x[k] + inset);
    }
    return least;
}

static bool in_bounds(const tl_box3 *b, tl_vec3 p, double margin)
{
    return p.x > b->lo.x - margin && p.x < b->hi.x + margin && p.y > b->lo.y - margin && p.y < b->hi.y + margin &&
           p.z > b->lo.z - margin && p.z < b->hi.z + margin;
}

/* Liquid that would be inside of solids, or nearer to their samples than it can rest, is not there. */
static bool has_room(const tl_sim *sim, tl_vec3 p)
{
    const tl_scene *s = sim->scene;
    double h = sim->sph.h, inset = sim->sph.wet_inset * h, clear = CLEAR * h - inset;
    if (wall_distance(s, p, inset) < CLEAR * h) return false;
    for (int i = 0; i < s->body_count; i++) {
        tl_pose pose = tl_rigid_pose(&sim->rigid.body[i], &sim->state.rigid.body[i]);
        tl_vec3 local = tl_quat_rotate(tl_quat_conjugate(pose.rotation), tl_vec3_sub(p, pose.at));
        tl_box3 b = tl_shape_bounds(s->shapes, s->bodies[i].shape);
        if (in_bounds(&b, local, h) && tl_shape_distance(s->shapes, s->bodies[i].shape, local) < clear) return false;
    }
    return true;
}

static void cut_out_solids(tl_sim *sim)
{
    tl_sph_state *f = &sim->state.sph;
    int64_t stay = 0;
    for (int64_t i = 0; i < f->count; i++)
        if (has_room(sim, f->particle[i].x)) f->particle[stay++] = f->particle[i];
    for (int64_t i = 0; i < stay; i++) f->particle[i].id = (int32_t)i;
    f->count = f->counter->next_id = stay;
}

talus_status tl_sph_engine_begin(tl_sim *sim, talus_error *err)
{
    const tl_scene *s = sim->scene;
    tl_sph_kept *k = TL_NEW_ZERO(tl_sph_kept, 1);
    sim->own = k;
    if (!k) return no_memory(err);
    TL_TRY(choose_method(k, s, err));
    TL_TRY(tl_rigid_create(&sim->rigid, s, err));
    TL_TRY(tl_rigid_state_begin(&sim->state.rigid, &sim->rigid, s, err));
    TL_TRY(tl_sph_create(&sim->sph, s, &sim->rigid, NULL, err));
    TL_TRY(tl_sph_state_begin(&sim->state.sph, &sim->sph, s, err));
    cut_out_solids(sim);
    for (int i = 0; i < s->material_count; i++) {
        k->viscous |= s->materials[i].viscosity > 0;
        k->tense |= s->materials[i].surface_tension > 0;
    }
    k->inlet = TL_NEW_ZERO(tl_sph_inlet, s->emitter_count + 1);
    k->lost = TL_NEW_ZERO(bool, sim->rigid.scene_count + 1);
    k->squeezed = TL_NEW_ZERO(bool, sim->rigid.scene_count + 1);
    if (!k->inlet || !k->lost || !k->squeezed) return no_memory(err);
    for (int i = 0; i < s->emitter_count; i++) TL_TRY(make_inlet(&k->inlet[i], s, &s->emitters[i], sim->sph.h, err));
    return TALUS_OK;
}

void tl_sph_engine_end(tl_sim *sim)
{
    tl_sph_kept *k = sim->own;
    if (!k) return;
    for (int i = 0; k->inlet && i < sim->scene->emitter_count; i++) tl_free(k->inlet[i].at);
    tl_free(k->inlet);
    tl_free(k->lost);
    tl_free(k->squeezed);
    tl_free(k);
    sim->own = NULL;
}

/* ---- how long a step may be ---- */

static double fastest_of(const tl_sim *sim)
{
    const tl_sph_state *f = &sim->state.sph;
    double most = 0;
    for (int64_t i = 0; i < f->count; i++) most = fmax(most, tl_vec3_norm2(f->particle[i].v));
    most = sqrt(most);
    for (int32_t i = 0; i < sim->rigid.scene_count; i++) {
        const tl_motion *m = &sim->state.rigid.body[i];
        double reach = sim->rigid.body[i].reach;
        if (sim->rigid.body[i].kind == TL_BODY_STATIC) continue;
        most = fmax(most, tl_vec3_norm(m->v) + (reach < INFINITY ? reach * tl_vec3_norm(m->w) : 0));
    }
    return most;
}

double tl_sph_dt_wanted(const tl_sim *sim)
{
    const tl_scene *s = sim->scene;
    double most = s->dt_max > 0 ? s->dt_max : 1 / s->fps, way = s->sph.cfl * sim->sph.h;
    double v = fastest_of(sim), g = tl_vec3_norm(s->gravity), dt = most;
    if (!(v < TL_SPH_ABSURD)) return most; /* no step is short enough: the step says who it is */
    /* (v + dt g) dt = way, without cancellation */
    if (v > 0 || g > 0) dt = fmin(dt, 2 * way / (v + sqrt(v * v + 4 * g * way)));
    for (int i = 0; i < s->material_count; i++) {
        const tl_material *m = &s->materials[i];
        if (m->surface_tension > 0)
            dt = fmin(dt, CAPILLARY * 2 * TL_SPH_PI *
                              sqrt(m->density * pow(sim->sph.h / TL_SPH_PI, 3) / m->surface_tension));
    }
    return dt;
}

/* ---- emitters ---- */

static bool inside(const tl_box3 *b, tl_vec3 p)
{
    return p.x > b->lo.x && p.x < b->hi.x && p.y > b->lo.y && p.y < b->hi.y && p.z > b->lo.z && p.z < b->hi.z;
}

static bool taken(tl_vec3 at, int32_t count, const tl_vec3 *others, double reach)
{
    for (int32_t i = 0; i < count; i++)
        if (tl_vec3_norm2(tl_vec3_sub(at, others[i])) < reach * reach) return true;
    return false;
}

static talus_status emit_one(const tl_sim *sim, int i, double dt, int32_t count, const tl_sph_particle *particle,
                             tl_arena *a, tl_sph_births *out, talus_error *err)
{
    const tl_scene *s = sim->scene;
    const tl_emitter *e = &s->emitters[i];
    const tl_sph_inlet *in = &((const tl_sph_kept *)sim->own)->inlet[i];
    tl_sph_emitter *now = &out->emitter[i];
    double t = sim->state.t, V0 = sim->sph.V0, rate, v[3];
    if (t < e->start || t >= e->stop) return TALUS_OK;
    TL_TRY(tl_scene_timed(s, &e->rate, t, &rate, 1, err));
    TL_TRY(tl_scene_timed(s, &e->velocity, t, v, 3, err));
    now->due = fmin(now->due + rate * dt, V0 * in->count);
    if (now->due < V0) return TALUS_OK;

    size_t mark = tl_arena_mark(a);
    tl_vec3 *others = TL_TAKE(a, tl_vec3, (int64_t)count + out->count + in->count);
    if (!others) return no_memory(err);
    int32_t n = 0;
    for (int32_t k = 0; k < count; k++)
        if (inside(&in->near, particle[k].x)) others[n++] = particle[k].x;
    for (int32_t k = 0; k < out->count; k++)
        if (inside(&in->near, out->particle[k].x)) others[n++] = out->particle[k].x;
    for (int32_t k = 0; k < in->count && now->due >= V0; k++) {
        if (taken(in->at[k], n, others, CLOSEST * sim->sph.h)) {
            now->skipped++;
            continue;
        }
        others[n++] = in->at[k];
        out->particle[out->count++] =
            (tl_sph_particle){.x = in->at[k], .v = {v[0], v[1], v[2]}, .material = e->material};
        now->due -= V0;
    }
    tl_arena_release(a, mark);
    return TALUS_OK;
}

talus_status tl_sph_emit(const tl_sim *sim, double dt, int32_t count, const tl_sph_particle *particle, tl_arena *a,
                         tl_sph_births *out, talus_error *err)
{
    const tl_scene *s = sim->scene;
    const tl_sph_kept *kept = sim->own;
    int64_t most = 0;
    *out = (tl_sph_births){0};
    if (!s->emitter_count) return TALUS_OK;
    for (int i = 0; i < s->emitter_count; i++) most += kept->inlet[i].count;
    out->particle = TL_TAKE(a, tl_sph_particle, most);
    out->emitter = TL_TAKE(a, tl_sph_emitter, s->emitter_count);
    if (!out->particle || !out->emitter) return no_memory(err);
    memcpy(out->emitter, sim->state.sph.emitter, sizeof *out->emitter * (size_t)s->emitter_count);
    for (int i = 0; i < s->emitter_count; i++) TL_TRY(emit_one(sim, i, dt, count, particle, a, out, err));
    return TALUS_OK;
}
