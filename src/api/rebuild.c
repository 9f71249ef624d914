/* Bodies and materials may change while a simulation runs: it is then made anew from its changed scene, and its state
 * moves in. Engines need not know: what they derive from a scene they derive again. */
#include <math.h>
#include <string.h>

#include "api/need.h"
#include "api/sim_own.h"
#include "base/alloc.h"
#include "model/driven.h"
#include "model/grid/state.h"
#include "model/lg/moving.h"
#include "model/sph/state.h"
#include "scene/own.h"
#include "scene/schema.h"

/* ---- settings ---- */

static void apply_material(tl_material *m, const tl_setting *s)
{
    const tl_key *key = &tl_schema_material(m->kind)->keys[s->key];
    char *field = (char *)m + key->offset;
    if (key->type == TL_NUMBER) memcpy(field, s->value, sizeof(double));
    if (key->type == TL_TIMED1) *(tl_timed *)field = (tl_timed){TL_NO_FUNCTION, {s->value[0], 0, 0}};
}

static void apply_setting(tl_scene *scene, const tl_setting *s)
{
    const tl_timed constant = {TL_NO_FUNCTION, {s->value[0], 0, 0}};
    switch ((tl_setting_kind)s->kind) {
    case TL_SET_GRAVITY: scene->gravity = tl_vec3_load(s->value); break;
    case TL_SET_FRICTION: scene->bodies[s->index].friction = constant; break;
    case TL_SET_RATE: scene->emitters[s->index].rate = constant; break;
    case TL_SET_MATERIAL: apply_material(&scene->materials[s->index], s); break;
    case TL_SETTING_KINDS: break;
    }
}

/* Bodies that take their numbers from a material follow it, as when a scene is read. */
static void follow_material(tl_scene *scene, const tl_scene *source, const int32_t *origin)
{
    for (int i = 0; i < scene->body_count; i++) {
        tl_body *b = &scene->bodies[i];
        if (b->material < 0) continue;
        const tl_material *was = &source->materials[b->material], *is = &scene->materials[b->material];
        const tl_body *read = &source->bodies[origin ? origin[i] : i];
        if (read->density == was->density && was->density != is->density) b->density = is->density;
        if (memcmp(&read->friction, &was->friction, sizeof was->friction) == 0) b->friction = is->friction;
        if (read->restitution == was->restitution) b->restitution = is->restitution;
        if (read->rolling_friction == was->rolling_friction) b->rolling_friction = is->rolling_friction;
        if (read->spinning_friction == was->spinning_friction) b->spinning_friction = is->spinning_friction;
    }
}

static void write_settings(tl_scene *scene, const tl_scene *source, const tl_driven *d)
{
    for (int64_t i = 0; i < d->settings; i++)
        if (d->setting[i].kind == TL_SET_MATERIAL) apply_setting(scene, &d->setting[i]);
    follow_material(scene, source, d->origin);
    for (int64_t i = 0; i < d->settings; i++)
        if (d->setting[i].kind != TL_SET_MATERIAL) apply_setting(scene, &d->setting[i]);
}

void tl_sim_apply(talus_sim *s)
{
    const tl_driven *d = tl_driven_of(&s->sim->state);
    s->scene->gravity = s->source->gravity;
    for (int i = 0; i < s->scene->body_count; i++)
        s->scene->bodies[i].friction = s->source->bodies[d->origin[i]].friction;
    for (int i = 0; i < s->scene->emitter_count; i++) s->scene->emitters[i].rate = s->source->emitters[i].rate;
    write_settings(s->scene, s->source, d);
}

talus_status tl_sim_scene_for(const talus_sim *s, const tl_driven *driven, tl_scene **out, talus_error *err)
{
    TL_TRY(tl_scene_own_create(out, s->source, (int)driven->bodies, driven->origin, err));
    write_settings(*out, s->source, driven);
    return TALUS_OK;
}

/* ---- the state moves in ---- */

/* What bodies and walls of before are called after the change; -1: gone. Walls come after all bodies. */
static void name_anew(const int32_t *from, const tl_sim *fresh, const tl_sim *old, int32_t *became)
{
    const int32_t before = old->rigid.scene_count, now = fresh->rigid.scene_count;
    for (int32_t i = 0; i < old->rigid.count; i++) became[i] = i < before ? -1 : now + i - before;
    for (int32_t i = 0; i < now; i++)
        if (from[i] >= 0) became[from[i]] = i;
}

static talus_status move_contacts(tl_rigid_state *to, const tl_rigid_state *was, const int32_t *became,
                                  talus_error *err)
{
    TL_TRY(tl_rigid_contacts_reserve(to, was->contacts, was->impacts, err));
    to->contacts = to->impacts = 0;
    for (int64_t k = 0; k < was->contacts + was->impacts; k++) {
        const bool hit = k >= was->contacts;
        tl_rigid_memory c = hit ? was->impact[k - was->contacts] : was->contact[k];
        c.a = became[c.a];
        c.b = became[c.b];
        if (c.a < 0 || c.b < 0) continue; /* order stays: numbers do */
        if (hit)
            to->impact[to->impacts++] = c;
        else
            to->contact[to->contacts++] = c;
    }
    return TALUS_OK;
}

static talus_status move_bodies(tl_sim *fresh, tl_sim *old, const int32_t *from, talus_error *err)
{
    tl_state *to = &fresh->state, *was = &old->state;
    const tl_lg_side here = {&fresh->lg, &fresh->rigid, tl_lg_state_of(to)},
                     there = {&old->lg, &old->rigid, tl_lg_state_of(was)};
    int32_t *became = TL_NEW(int32_t, old->rigid.count + 1);
    if (!became) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for other bodies");
    name_anew(from, fresh, old, became);
    talus_status status = move_contacts(&to->rigid, &was->rigid, became, err);
    if (status == TALUS_OK && here.state && there.state) status = tl_lg_state_move(&here, &there, became, err);
    tl_free(became);
    for (int64_t i = 0; i < to->rigid.count && status == TALUS_OK; i++)
        if (from[i] >= 0) to->rigid.body[i] = was->rigid.body[from[i]];
    tl_sph_state *sph = tl_sph_state_of(was);
    if (sph && status == TALUS_OK) sph->memories = 0; /* they name bodies by places of their own: they begin anew */
    return status;
}

/* The elastic body that comes is in the scene where the one is that it is a copy of, so that its mesh is the same
 * wherever it begins: what moves is its state. */
static void let_arrive(tl_sim *fresh, const tl_arrival *a)
{
    const tl_body *b = &fresh->scene->bodies[a->body];
    const tl_lg_arrival how = {.from = {b->at, tl_quat_normalize(b->rotation)},
                               .to = a->place,
                               .v = a->velocity,
                               .w = a->spin,
                               .gravity = fresh->scene->gravity,
                               .anchored = b->anchor >= 0};
    for (int k = 0; k < fresh->lg.bodies; k++)
        if (fresh->lg.body[k].body == a->body)
            tl_lg_arrive(&fresh->lg, tl_lg_state_of(&fresh->state), k, &how, &fresh->state.rigid.body[a->body]);
}

/* Sections of the same kind change places; `from`: but those of elastic nodes, which have moved already. */
static void move_sections(tl_state *to, tl_state *was, const int32_t *from)
{
    for (int k = 0; k < to->sections; k++) {
        const tl_state_kind *kind = to->section[k].kind;
        if (kind == &tl_driven_kind || (from && kind == &tl_lg_state_kind)) continue;
        for (int j = 0; j < was->sections; j++) {
            if (was->section[j].kind != kind) continue;
            void *begun = to->section[k].data;
            to->section[k].data = was->section[j].data;
            was->section[j].data = begun;
        }
    }
}

static talus_status move_state(tl_sim *fresh, tl_sim *old, const int32_t *from, const tl_arrival *arrival,
                               talus_error *err)
{
    tl_state *to = &fresh->state, *was = &old->state;
    if (from) TL_TRY(move_bodies(fresh, old, from, err));
    /* from here on nothing fails */
    if (arrival) let_arrive(fresh, arrival);
    if (!from) {
        const tl_rigid_state begun = to->rigid;
        to->rigid = was->rigid;
        was->rigid = begun;
    }
    to->t = was->t, to->step = was->step, to->frame = was->frame, to->dt_next = was->dt_next;
    move_sections(to, was, from);
    tl_grid_state *g = tl_grid_state_of(to);
    if (g && g->totals) g->totals->measured = 0; /* masses and energies may be others */
    fresh->report = old->report;
    return TALUS_OK;
}

static talus_status make_fresh(const talus_sim *s, const tl_scene *scene, const tl_driven *driven, tl_sim **out,
                               talus_error *err)
{
    static const tl_log quiet = {0}; /* what there is to say was said when the simulation began */
    TL_TRY(tl_sim_create_empty(out, scene, &quiet, err));
    tl_driven *to = tl_driven_of(&(*out)->state);
    (*out)->log = s->sim->log;
    talus_status status = TALUS_OK;
    for (int64_t i = 0; i < to->bodies; i++) to->origin[i] = driven->origin[i];
    for (int64_t i = 0; i < driven->settings && status == TALUS_OK; i++) {
        const tl_setting *x = &driven->setting[i];
        status = tl_driven_set(to, (tl_setting_kind)x->kind, x->index, x->key, x->value, err);
    }
    if (status != TALUS_OK) tl_sim_free(*out);
    return status;
}

void tl_sim_take_over(talus_sim *s, tl_sim *fresh, tl_scene *scene)
{
    tl_sim_free(s->sim);
    tl_scene_own_free(s->scene);
    s->sim = fresh;
    s->scene = scene;
    s->generation++;
    tl_looked_forget(s->looked);
}

talus_status tl_sim_replace(talus_sim *s, tl_scene *scene, const tl_driven *driven, const int32_t *from,
                            const tl_arrival *arrival, talus_error *err)
{
    tl_sim *fresh = NULL;
    talus_status status = make_fresh(s, scene, driven, &fresh, err);
    if (status == TALUS_OK) {
        status = move_state(fresh, s->sim, from, arrival, err);
        if (status != TALUS_OK) tl_sim_free(fresh);
    }
    if (status == TALUS_OK)
        tl_sim_take_over(s, fresh, scene);
    else
        tl_scene_own_free(scene);
    return status;
}

static bool needs_another(const tl_driven *a, const tl_driven *b)
{
    int64_t i = 0, j = 0;
    if (a->bodies != b->bodies || memcmp(a->origin, b->origin, sizeof *a->origin * (size_t)a->bodies)) return true;
    while (i < a->settings && a->setting[i].kind != TL_SET_MATERIAL) i++;
    while (j < b->settings && b->setting[j].kind != TL_SET_MATERIAL) j++;
    return a->settings - i != b->settings - j ||
           (a->settings > i &&
            memcmp(a->setting + i, b->setting + j, sizeof *a->setting * (size_t)(a->settings - i)) != 0);
}

talus_status tl_sim_match(const talus_sim *s, const tl_driven *driven, tl_sim **out, tl_scene **scene, talus_error *err)
{
    *out = NULL, *scene = NULL;
    if (!needs_another(tl_driven_of(&s->sim->state), driven)) return TALUS_OK;
    TL_TRY(tl_driven_kind.check(driven, s->source, 0, "what was driven", err));
    TL_TRY(tl_sim_scene_for(s, driven, scene, err));
    talus_status status = make_fresh(s, *scene, driven, out, err);
    if (status != TALUS_OK) tl_scene_own_free(*scene);
    return status;
}
