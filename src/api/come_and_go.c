/* Bodies and particles that come and go between steps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/need.h"
#include "api/sim_own.h"
#include "base/alloc.h"
#include "model/driven.h"
#include "model/grid/emit.h"
#include "model/sph/state.h"
#include "phase/grid/grid.h"
#include "scene/own.h"

static tl_vec3 vec3(const double v[3]) { return (tl_vec3){v[0], v[1], v[2]}; }

/* ---- bodies that come and go ---- */

/* What is driven when bodies are those of `from`; friction goes along with them. */
static talus_status driven_for(const talus_sim *s, int bodies, const int32_t *from, int like, tl_driven *out,
                               talus_error *err)
{
    const tl_driven *d = tl_driven_of(&s->sim->state);
    *out = (tl_driven){.bodies = bodies, .origin = TL_NEW(int32_t, bodies + 1)};
    if (!out->origin) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for other bodies");
    for (int i = 0; i < bodies; i++) out->origin[i] = d->origin[from[i] >= 0 ? from[i] : like];
    for (int64_t k = 0; k < d->settings; k++) {
        const tl_setting *x = &d->setting[k];
        if (x->kind != TL_SET_FRICTION) {
            TL_TRY(tl_driven_set(out, (tl_setting_kind)x->kind, x->index, x->key, x->value, err));
            continue;
        }
        for (int i = 0; i < bodies; i++)
            if ((from[i] >= 0 ? from[i] : like) == x->index)
                TL_TRY(tl_driven_set(out, TL_SET_FRICTION, i, 0, x->value, err));
    }
    return TALUS_OK;
}

/* place: of a body that begins, the last one; NULL: none does. */
static talus_status change_bodies(talus_sim *s, int bodies, const int32_t *from, int like, const tl_body *place,
                                  talus_error *err)
{
    tl_driven next;
    tl_scene *scene;
    const bool elastic = place && s->sim->rigid.body[like].elastic;
    tl_arrival arrival = {.body = bodies - 1};
    talus_status status = driven_for(s, bodies, from, like, &next, err);
    if (status == TALUS_OK) status = tl_sim_scene_for(s, &next, &scene, err);
    if (status == TALUS_OK && place) {
        tl_body *b = &scene->bodies[bodies - 1];
        arrival.place = (tl_pose){place->at, place->rotation};
        arrival.velocity = place->velocity, arrival.spin = place->spin;
        if (!elastic) b->at = place->at, b->rotation = place->rotation;
        b->velocity = place->velocity, b->spin = place->spin;
    }
    if (status == TALUS_OK) status = tl_sim_replace(s, scene, &next, from, elastic ? &arrival : NULL, err);
    tl_driven_kind.free(&next);
    return status;
}

static bool is_free_of_joints(const tl_scene *s, int body, int *joint)
{
    for (*joint = 0; *joint < s->joint_count; ++*joint)
        if (s->joints[*joint].body[0] == body || s->joints[*joint].body[1] == body) return false;
    return true;
}

/* What holds a body goes by its name and has to find it. */
static talus_status need_free_of_holds(const talus_sim *s, int body, talus_error *err)
{
    const tl_scene *scene = s->scene;
    const char *name = scene->bodies[body].name, *what = NULL;
    int joint, number = 0;
    if (!is_free_of_joints(scene, body, &joint))
        return TL_FAIL(err, TALUS_UNSUPPORTED, "body %d (%.60s) cannot be removed: joint %d (\"%.60s\") holds it", body,
                       name, joint, scene->joints[joint].name);
    if (talus_sim_body(s, name) != body) return TALUS_OK; /* a copy: what has that name is another one */
    for (int i = 0; i < scene->handle_count && !what; i++)
        if (!strcmp(scene->handles[i].body, name)) what = "handle", number = i;
    for (int i = 0; i < scene->cable_count && !what; i++)
        if (!strcmp(scene->cables[i].body, name)) what = "cable", number = i;
    for (int i = 0; i < scene->join_count && !what; i++)
        if (!strcmp(scene->joins[i].body, name) || !strcmp(scene->joins[i].to, name)) what = "join", number = i;
    if (!what) return TALUS_OK;
    return TL_FAIL(err, TALUS_UNSUPPORTED, "body %d (%.60s) cannot be removed: %s %d holds it", body, name, what,
                   number);
}

static talus_status need_another_elastic(const talus_sim *s, int body, talus_error *err)
{
    int others = 0;
    if (s->scene->engine != TL_ENGINE_LG || !s->sim->rigid.body[body].elastic) return TALUS_OK;
    for (int i = 0; i < s->scene->body_count; i++) others += i != body && s->sim->rigid.body[i].elastic;
    if (others) return TALUS_OK;
    return TL_FAIL(
        err, TALUS_UNSUPPORTED,
        "body %d (%.60s) cannot be removed: it is the last elastic one, which engine \"lg\" cannot do without", body,
        s->scene->bodies[body].name);
}

talus_status talus_sim_add_body(talus_sim *s, int like, const double position[3], const double rotation[4],
                                const double velocity[3], const double spin[3], int *body, talus_error *err)
{
    TL_NEED_SIM(s);
    TL_TRY(tl_need_outside(s, __func__, err));
    TL_NEED(position);
    TL_TRY(tl_need_index("body", like, s->scene->body_count, err));
    tl_body place = s->scene->bodies[like];
    place.rotation = (tl_quat){1, 0, 0, 0};
    place.velocity = place.spin = (tl_vec3){0, 0, 0};
    TL_TRY(tl_need_finite("the position of a copy of body", like, 3, position, err));
    if (rotation) TL_NEED_ROTATION("a copy of body", like, rotation, &place.rotation);
    if (velocity) TL_TRY(tl_need_finite("the velocity of a copy of body", like, 3, velocity, err));
    if (spin) TL_TRY(tl_need_finite("the spin of a copy of body", like, 3, spin, err));
    if (place.motion != TL_NO_FUNCTION)
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "body %d (%.60s) moves by the scene's function of time, a copy would be "
                       "in the same place",
                       like, place.name);
    place.at = vec3(position);
    if (velocity) place.velocity = vec3(velocity);
    if (spin) place.spin = vec3(spin);
    const int count = s->scene->body_count;
    int32_t *from = TL_NEW(int32_t, count + 1);
    if (!from) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for another body");
    for (int i = 0; i <= count; i++) from[i] = i < count ? i : -1;
    talus_status status = change_bodies(s, count + 1, from, like, &place, err);
    tl_free(from);
    if (status == TALUS_OK && body) *body = count;
    return status;
}

talus_status talus_sim_remove_body(talus_sim *s, int body, talus_error *err)
{
    TL_NEED_SIM(s);
    TL_TRY(tl_need_outside(s, __func__, err));
    TL_TRY(tl_need_index("body", body, s->scene->body_count, err));
    TL_TRY(need_free_of_holds(s, body, err));
    TL_TRY(need_another_elastic(s, body, err));
    const int count = s->scene->body_count - 1;
    int32_t *from = TL_NEW(int32_t, count + 1);
    if (!from) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for other bodies");
    for (int i = 0; i < count; i++) from[i] = i < body ? i : i + 1;
    talus_status status = change_bodies(s, count, from, -1, NULL, err);
    tl_free(from);
    return status;
}

/* ---- particles that come and go ---- */

typedef struct newcomers {
    int material;
    int64_t count;
    const double *position, *velocity, *volume;
} newcomers;

static talus_status check_newcomers(const talus_sim *s, const newcomers *n, talus_error *err)
{
    const tl_scene *scene = s->scene;
    bool flows = false;
    TL_TRY(tl_need_index("material", n->material, scene->material_count, err));
    for (int i = 0; i < scene->fill_count; i++) flows |= scene->fills[i].material == n->material;
    for (int i = 0; i < scene->emitter_count; i++) flows |= scene->emitters[i].material == n->material;
    if (!flows)
        return TL_FAIL(err, TALUS_BAD_INPUT, "particles of material %d: the scene neither fills nor emits it",
                       n->material);
    for (int64_t i = 0; i < n->count; i++) {
        TL_TRY(tl_need_finite("the position of particle", i, 3, n->position + 3 * i, err));
        if (n->velocity) TL_TRY(tl_need_finite("the velocity of particle", i, 3, n->velocity + 3 * i, err));
        if (n->volume && !(n->volume[i] > 0 && isfinite(n->volume[i])))
            return TL_FAIL(err, TALUS_BAD_INPUT, "the volume of particle %lld must be > 0, got %g", (long long)i,
                           n->volume[i]);
        const double *x = n->position + 3 * i;
        const tl_box3 *box = &scene->domain.box;
        if (scene->domain.bounded && !(x[0] >= box->lo.x && x[0] <= box->hi.x && x[1] >= box->lo.y &&
                                       x[1] <= box->hi.y && x[2] >= box->lo.z && x[2] <= box->hi.z))
            return TL_FAIL(err, TALUS_BAD_INPUT, "particle %lld at (%g, %g, %g) is outside of the domain", (long long)i,
                           x[0], x[1], x[2]);
    }
    return TALUS_OK;
}

static double spacing_of(const tl_scene *s, int material)
{
    for (int i = 0; i < s->fill_count; i++)
        if (s->fills[i].material == material) return tl_spacing_of(s, s->fills[i].spacing);
    for (int i = 0; i < s->emitter_count; i++)
        if (s->emitters[i].material == material) return tl_spacing_of(s, s->emitters[i].spacing);
    return 0;
}

static talus_status no_room(talus_error *err)
{
    return TL_FAIL(err, TALUS_UNSUPPORTED, "ids of particles would pass %d", INT32_MAX);
}

static talus_status add_to_grid(talus_sim *s, tl_grid_state *g, const newcomers *n, int64_t *first, talus_error *err)
{
    const tl_grid_frame *f = &((const tl_grid_data *)s->sim->engine_data)->flow.frame;
    const double own = tl_particle_volume(f, spacing_of(s->scene, n->material));
    if (g->totals->next_id + (double)n->count > INT32_MAX) return no_room(err);
    TL_TRY(tl_particles_reserve(&g->particles, g->particles.count + n->count, err));
    *first = (int64_t)g->totals->next_id;
    for (int64_t i = 0; i < n->count; i++) {
        tl_particle p = {.x = tl_vec3_load(n->position + 3 * i),
                         .volume = n->volume ? n->volume[i] : own,
                         .id = (int32_t)(*first + i),
                         .material = n->material};
        if (n->velocity) p.v = tl_vec3_load(n->velocity + 3 * i);
        g->particles.particle[g->particles.count++] = p;
        g->totals->initial_volume += p.volume;
    }
    g->totals->next_id += (double)n->count;
    g->totals->measured = 0;
    return TALUS_OK;
}

static talus_status add_to_sph(talus_sim *s, tl_sph_state *f, const newcomers *n, int64_t *first, talus_error *err)
{
    (void)s;
    if (n->volume)
        return TL_FAIL(err, TALUS_BAD_INPUT, "particles of engine \"sph\" have one volume, none can be given");
    if (f->counter->next_id + n->count > INT32_MAX) return no_room(err);
    TL_TRY(tl_sph_state_reserve(f, f->count + n->count, f->memories, err));
    *first = f->counter->next_id;
    for (int64_t i = 0; i < n->count; i++) {
        tl_sph_particle p = {
            .x = tl_vec3_load(n->position + 3 * i), .id = (int32_t)(*first + i), .material = n->material};
        if (n->velocity) p.v = tl_vec3_load(n->velocity + 3 * i);
        f->particle[f->count++] = p;
    }
    f->counter->next_id += n->count;
    return TALUS_OK;
}

static talus_status nothing_flows(talus_error *err)
{
    return TL_FAIL(err, TALUS_BAD_INPUT, "nothing flows in this simulation: it has no particles");
}

talus_status talus_sim_add_particles(talus_sim *s, int material, int64_t count, const double *position,
                                     const double *velocity, const double *volume, int64_t *first, talus_error *err)
{
    TL_NEED_SIM(s);
    if (count < 0) return TL_FAIL(err, TALUS_BAD_INPUT, "%lld particles cannot be added", (long long)count);
    if (count > 0) TL_NEED(position);
    const newcomers n = {material, count, position, velocity, volume};
    tl_grid_state *g = tl_grid_state_of(&s->sim->state);
    tl_sph_state *f = tl_sph_state_of(&s->sim->state);
    int64_t begin = 0;
    if (!g && !f) return nothing_flows(err);
    TL_TRY(check_newcomers(s, &n, err));
    TL_TRY(g ? add_to_grid(s, g, &n, &begin, err) : add_to_sph(s, f, &n, &begin, err));
    if (first) *first = begin;
    s->generation++;
    return TALUS_OK;
}

static int by_id(const void *a, const void *b)
{
    const int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
    return (i > j) - (i < j);
}

static bool is_listed(const int32_t *sorted, int64_t count, int32_t id)
{
    return bsearch(&id, sorted, (size_t)count, sizeof id, by_id) != NULL;
}

/* Ids in order, each of which is there and named once. */
static talus_status sort_ids(talus_sim *s, int64_t count, const int32_t *id, int32_t *sorted, talus_error *err)
{
    const tl_rows rows = tl_sim_rows(s->sim, "particles.id");
    int64_t there = 0;
    memcpy(sorted, id, sizeof *id * (size_t)count);
    qsort(sorted, (size_t)count, sizeof *sorted, by_id);
    for (int64_t i = 1; i < count; i++)
        if (sorted[i] == sorted[i - 1])
            return TL_FAIL(err, TALUS_BAD_INPUT, "particle %d is named twice", (int)sorted[i]);
    for (int64_t i = 0; i < rows.count; i++)
        there += is_listed(sorted, count, *(const int32_t *)((const char *)rows.data + rows.stride * (size_t)i));
    if (there < count)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%lld of the %lld particles to be removed are not there",
                       (long long)(count - there), (long long)count);
    return TALUS_OK;
}

static void remove_listed(talus_sim *s, int64_t count, const int32_t *sorted)
{
    tl_grid_state *g = tl_grid_state_of(&s->sim->state);
    tl_sph_state *f = tl_sph_state_of(&s->sim->state);
    int64_t kept = 0;
    for (int64_t i = 0; g && i < g->particles.count; i++) {
        const tl_particle p = g->particles.particle[i];
        if (is_listed(sorted, count, p.id))
            g->totals->initial_volume -= p.volume;
        else
            g->particles.particle[kept++] = p;
    }
    for (int64_t i = 0; f && i < f->count; i++)
        if (!is_listed(sorted, count, f->particle[i].id)) f->particle[kept++] = f->particle[i];
    if (g) g->particles.count = kept, g->totals->measured = 0;
    if (f) f->count = kept;
}

talus_status talus_sim_remove_particles(talus_sim *s, int64_t count, const int32_t *id, talus_error *err)
{
    TL_NEED_SIM(s);
    if (count < 0) return TL_FAIL(err, TALUS_BAD_INPUT, "%lld particles cannot be removed", (long long)count);
    if (count > 0) TL_NEED(id);
    if (!tl_grid_state_of(&s->sim->state) && !tl_sph_state_of(&s->sim->state)) return nothing_flows(err);
    if (count == 0) return TALUS_OK;
    int32_t *sorted = TL_NEW(int32_t, count);
    if (!sorted) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld ids", (long long)count);
    talus_status status = sort_ids(s, count, id, sorted, err);
    if (status == TALUS_OK) {
        remove_listed(s, count, sorted);
        s->generation++;
    }
    tl_free(sorted);
    return status;
}
