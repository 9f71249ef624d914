#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "phase/accounts/accounts.h"
#include "phase/sph/sph.h"

#define ITERATIONS_MAX 100 /* of a solve, where the scene names none */
#define CLOSEST 0.95       /* spacings: places of an emitter nearer to a particle than this are taken */
/* Rad: as in engine grid, but bodies move along chords here, whose lag is of second order (1e-4 of a period), and steps
 * that change their length take energy from a swing: 0.7 % in 1.4 s with 0.02 at 2 to 4 ms. With 0.1 a falling chain
 * that carries 1000 times its weight missed its places in 4 % of the steps, with 0.05 in none. */
#define TURN_JOINT 0.05
/* Of p / density, over (h/dt)^2, where p is twice the mean, as at the bottom of a pool: pairs are as stiff as they are
 * pressed, and longer steps let them through. A quiet pool of 10 spacings of 0.1 m is compressed by 0.01 % at 0.4 and by
 * 3 % at 2.4; chosen. */
#define STIFF 0.6
#define CAPILLARY 0.25 /* of the period of a wave of two spacings */

static talus_status no_memory(talus_error *err) { return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for SPH particles"); }

/* ---- begin and end of a simulation ---- */

static talus_status choose_method(tl_sph_data *k, const tl_scene *s, talus_error *err)
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

talus_status tl_sph_engine_begin(tl_sim *sim, talus_error *err)
{
    const tl_scene *s = sim->scene;
    tl_sph_data *k = TL_NEW_ZERO(tl_sph_data, 1);
    sim->engine_data = k;
    if (!k) return no_memory(err);
    TL_TRY(choose_method(k, s, err));
    TL_TRY(tl_rigid_create(&sim->rigid, s, err));
    TL_TRY(tl_rigid_state_begin(&sim->state.rigid, &sim->rigid, s, err));
    TL_TRY(tl_rigid_begin_joints(sim, &k->rigid, NULL, err));
    TL_TRY(tl_sph_create(tl_sph_of(sim), s, &sim->rigid, NULL, err));
    TL_TRY(tl_sph_part_joined(tl_sph_of(sim), &sim->joints, err));
    tl_sph_state *state = tl_state_add(&sim->state, &tl_sph_state_kind);
    if (!state) return no_memory(err);
    TL_TRY(sim->empty ? tl_sph_state_empty(state, s, err) : tl_sph_state_begin(state, tl_sph_of(sim), s, err));
    if (!sim->empty) TL_TRY(tl_sph_fit_fills(sim, err));
    for (int i = 0; i < s->material_count; i++) {
        k->viscous |= s->materials[i].viscosity > 0;
        k->tense |= s->materials[i].surface_tension > 0;
    }
    k->inlet = TL_NEW_ZERO(tl_sph_inlet, s->emitter_count + 1);
    k->rigid.lost = TL_NEW_ZERO(bool, sim->rigid.scene_count + 1);
    k->squeezed = TL_NEW_ZERO(bool, sim->rigid.scene_count + 1);
    if (!k->inlet || !k->rigid.lost || !k->squeezed) return no_memory(err);
    for (int i = 0; i < s->emitter_count; i++)
        TL_TRY(make_inlet(&k->inlet[i], s, &s->emitters[i], tl_sph_of(sim)->h, err));
    return TALUS_OK;
}

void tl_sph_engine_end(tl_sim *sim)
{
    tl_sph_data *k = sim->engine_data;
    if (!k) return;
    tl_sph_free(&k->sph);
    for (int i = 0; k->inlet && i < sim->scene->emitter_count; i++) tl_free(k->inlet[i].at);
    tl_free(k->inlet);
    tl_free(k->rigid.lost);
    tl_free(k->squeezed);
    tl_free(k);
    sim->engine_data = NULL;
}

/* ---- how long a step may be ---- */

static double fastest_of(const tl_sim *sim)
{
    const tl_sph_state *f = tl_sph_state_of(&sim->state);
    double max = 0;
    for (int64_t i = 0; i < f->count; i++) max = fmax(max, tl_vec3_norm2(f->particle[i].v));
    max = sqrt(max);
    for (int32_t i = 0; i < sim->rigid.scene_count; i++) {
        const tl_motion *m = &sim->state.rigid.body[i];
        double reach = sim->rigid.body[i].reach;
        if (sim->rigid.body[i].kind == TL_BODY_STATIC) continue;
        max = fmax(max, tl_vec3_norm(m->v) + (reach < INFINITY ? reach * tl_vec3_norm(m->w) : 0));
    }
    return max;
}

/* J/kg: mean of p / density. */
static double pressed(const tl_sim *sim)
{
    const tl_sph_state *f = tl_sph_state_of(&sim->state);
    double sum = 0;
    for (int64_t i = 0; i < f->count; i++)
        sum += f->particle[i].p / sim->scene->materials[f->particle[i].material].density;
    return f->count ? sum / (double)f->count : 0;
}

static double longest_step(const tl_scene *s) { return s->dt_max > 0 ? s->dt_max : 1 / s->fps; }

double tl_sph_absurd(const tl_sim *sim) { return TL_SPH_ABSURD * tl_sph_of(sim)->h / longest_step(sim->scene); }

double tl_sph_dt_wanted(const tl_sim *sim)
{
    const tl_scene *s = sim->scene;
    double max = longest_step(s), way = s->sph.cfl * tl_sph_of(sim)->h;
    double v = fastest_of(sim), g = tl_vec3_norm(s->gravity), dt = tl_rigid_joint_limit(sim, TURN_JOINT, max);
    if (!(v < tl_sph_absurd(sim))) return max; /* no step is short enough: the step says who it is */
    /* (v + dt g) dt = way, without cancellation */
    if (v > 0 || g > 0) dt = fmin(dt, 2 * way / (v + sqrt(v * v + 4 * g * way)));
    const double stiff = 2 * pressed(sim);
    if (stiff > 0) dt = fmin(dt, tl_sph_of(sim)->h * sqrt(STIFF / stiff));
    for (int i = 0; i < s->material_count; i++) {
        const tl_material *m = &s->materials[i];
        if (m->surface_tension > 0)
            dt = fmin(dt, CAPILLARY * 2 * TL_SPH_PI *
                              sqrt(m->density * pow(tl_sph_of(sim)->h / TL_SPH_PI, 3) / m->surface_tension));
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
    const tl_sph_inlet *in = &((const tl_sph_data *)sim->engine_data)->inlet[i];
    tl_sph_emitter *now = &out->emitter[i];
    double t = sim->state.t, V0 = tl_sph_of(sim)->V0, rate, v[3];
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
        if (taken(in->at[k], n, others, CLOSEST * tl_sph_of(sim)->h)) {
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
    const tl_sph_data *data = sim->engine_data;
    int64_t max = 0;
    *out = (tl_sph_births){0};
    if (!s->emitter_count) return TALUS_OK;
    for (int i = 0; i < s->emitter_count; i++) max += data->inlet[i].count;
    out->particle = TL_TAKE(a, tl_sph_particle, max);
    out->emitter = TL_TAKE(a, tl_sph_emitter, s->emitter_count);
    if (!out->particle || !out->emitter) return no_memory(err);
    memcpy(out->emitter, tl_sph_state_of(&sim->state)->emitter, sizeof *out->emitter * (size_t)s->emitter_count);
    for (int i = 0; i < s->emitter_count; i++) TL_TRY(emit_one(sim, i, dt, count, particle, a, out, err));
    return TALUS_OK;
}

/* ---- what others see of it ---- */

talus_status tl_sph_measure(tl_sim *sim, tl_totals *t, talus_error *err)
{
    (void)err;
    const tl_sph_state *s = tl_sph_state_of(&sim->state);
    tl_blocks blocks = tl_blocks_of(s->count);
    tl_totals part[TL_BLOCKS_MAX];
    const double V0 = tl_sph_of(sim)->V0;
#pragma omp parallel for schedule(static) if (s->count > TL_PARALLEL_MIN)
    for (int b = 0; b < blocks.count; b++) {
        part[b] = (tl_totals){0};
        for (int64_t i = tl_block_begin(blocks, b); i < tl_block_end(blocks, b); i++) {
            const tl_sph_particle *p = &s->particle[i];
            tl_totals_add_point(&part[b], V0 * sim->scene->materials[p->material].density, p->x, p->v,
                                sim->scene->gravity);
        }
    }
    for (int b = 0; b < blocks.count; b++) tl_totals_add(t, 1, &part[b]);
    return TALUS_OK;
}

int64_t tl_sph_samples(const tl_sim *sim, tl_sample *out)
{
    const tl_sph *sph = tl_sph_of(sim);
    int64_t n = 0;
    for (int32_t b = 0; b < sim->rigid.scene_count; b++) {
        if (sim->rigid.body[b].kind == TL_BODY_STATIC) continue;
        const tl_motion *m = &sim->state.rigid.body[b];
        const tl_sph_surface *f = &sph->surface[sph->body[b].surface];
        tl_pose pose = tl_rigid_pose(&sim->rigid.body[b], m);
        for (int32_t i = 0; out && i < f->touching; i++) {
            tl_vec3 at = tl_pose_apply(&pose, f->at[i]);
            out[n + i] = (tl_sample){at, tl_vec3_add(m->v, tl_vec3_cross(m->w, tl_vec3_sub(at, m->x))),
                                     sph->body[b].first + i, b};
        }
        n += f->touching;
    }
    return n;
}

static tl_rows particles(const tl_sim *sim)
{
    const tl_sph_state *s = tl_sph_state_of(&sim->state);
    return (tl_rows){s->particle, sizeof *s->particle, s->count};
}
/* All have the same. */
static tl_rows volumes(const tl_sim *sim)
{
    return (tl_rows){&tl_sph_of(sim)->V0, 0, tl_sph_state_of(&sim->state)->count};
}

static tl_rows emitters(const tl_sim *sim)
{
    const tl_sph_state *s = tl_sph_state_of(&sim->state);
    return (tl_rows){s->emitter, sizeof *s->emitter, s->emitters};
}

const tl_view tl_sph_views[TL_SPH_VIEWS] = {
    {"particles.position", TL_NUMBER_F64, 3, offsetof(tl_sph_particle, x), particles, NULL},
    {"particles.velocity", TL_NUMBER_F64, 3, offsetof(tl_sph_particle, v), particles, NULL},
    {"particles.pressure", TL_NUMBER_F64, 1, offsetof(tl_sph_particle, p), particles, NULL},
    {"particles.volume", TL_NUMBER_F64, 1, 0, volumes, NULL},
    {"particles.id", TL_NUMBER_I32, 1, offsetof(tl_sph_particle, id), particles, NULL},
    {"particles.material", TL_NUMBER_I32, 1, offsetof(tl_sph_particle, material), particles, NULL},
    {"emitters.owed", TL_NUMBER_F64, 1, offsetof(tl_sph_emitter, due), emitters, NULL},
    {"emitters.skipped", TL_NUMBER_I64, 1, offsetof(tl_sph_emitter, skipped), emitters, NULL},
};
