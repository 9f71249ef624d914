#include "base/alloc.h"
#include "model/lg/holds.h"
#include "phase/lg/step.h"

#define REACH 1e4 /* times that sound takes to cross a body: he of static steps. Changes the way, not the end */
#define OVERLAP                                                                                                        \
    2e-3 /* of their smallest extent: overlap of free rigid bodies that is left alone, as in engine `grid` */
#define OVERLAP_EDGE 1e-2 /* of the smallest mean edge, where there are none */

/* What has no place of rest, and what only rounds know. */
static talus_status refuse_static(const tl_sim *sim, talus_error *err)
{
    const tl_scene *s = sim->scene;
    const tl_lg *lg = &sim->lg;
    if (s->join_count || s->cable_count)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "lg.time = \"static\" has no cables and joins: use anchors or handles");
    if (s->lg.global == TL_LG_JACOBI || s->lg.local == TL_LG_LOCAL_PROX)
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "lg.time = \"static\" is solved by Newton's method, not with global_step = \"jacobi\" or "
                       "local_step = \"prox\"");
    for (int32_t i = 0; i < sim->rigid.scene_count; i++)
        if (sim->rigid.body[i].kind == TL_BODY_FREE && !sim->rigid.body[i].elastic)
            return TL_FAIL(err, TALUS_UNSUPPORTED, "lg.time = \"static\" has no free rigid bodies, got \"%.100s\"",
                           s->bodies[i].name);
    for (int b = 0; b < lg->bodies; b++) {
        bool held = false;
        for (int32_t k = 0; k < lg->anchors && !held; k++) held = lg->owner[lg->anchor[k].vertex] == b;
        if (!held)
            return TL_FAIL(err, TALUS_BAD_INPUT,
                           "lg.time = \"static\": \"%s\" is held by no anchor and no handle, it has no place of rest",
                           lg->body[b].name);
    }
    return TALUS_OK;
}

/* s, see REACH */
static double static_reach(const tl_lg *lg)
{
    double longest = 0;
    for (int b = 0; b < lg->bodies; b++) {
        const tl_lg_body *body = &lg->body[b];
        tl_vec3 low = tl_vec3_load(lg->rest + 3 * (int64_t)body->node), high = low;
        for (int64_t i = body->node; i < body->node + body->nodes; i++) {
            tl_vec3 x = tl_vec3_load(lg->rest + 3 * i);
            low = tl_vec3_min(low, x);
            high = tl_vec3_max(high, x);
        }
        longest = fmax(longest, tl_vec3_norm(tl_vec3_sub(high, low)) * sqrt(body->density / body->material.k));
    }
    return REACH * longest;
}

static double overlap_left(const tl_sim *sim)
{
    double extent = INFINITY, edge = INFINITY;
    for (int32_t i = 0; i < sim->rigid.scene_count; i++)
        if (sim->rigid.body[i].kind == TL_BODY_FREE && !sim->rigid.body[i].elastic)
            extent = fmin(extent, sim->rigid.body[i].extent);
    for (int b = 0; b < sim->lg.bodies; b++) edge = fmin(edge, sim->lg.skin.body[b].mean);
    return extent < INFINITY ? OVERLAP * extent : OVERLAP_EDGE * edge;
}

/* What joints need is corrections, by the factor of the stiffness. */
static talus_status begin_joints(tl_sim *sim, tl_lg_data *data, const tl_lg_state *nodes, talus_error *err)
{
    const tl_scene *s = sim->scene;
    if (!s->joint_count) return TALUS_OK;
    const char *without = s->lg.time == TL_LG_STATIC             ? "lg.time = \"static\""
                          : s->lg.global == TL_LG_JACOBI         ? "lg.global_step = \"jacobi\""
                          : s->lg.local != TL_LG_LOCAL_EXACT     ? "lg.local_step other than \"exact\""
                          : s->lg.form || s->lg.corrections == 0 ? "lg.corrections = 0, or another form of contact"
                                                                 : NULL;
    if (without) return TL_FAIL(err, TALUS_UNSUPPORTED, "joints are solved by corrections, which %s has not", without);
    TL_TRY(tl_lg_grips_create(&data->grips, &sim->lg, s, nodes->q, err));
    if (data->grips.count && data->time == TL_LG_BDF2) {
        data->time = TL_LG_EULER; /* bdf2 throws back what joints and their limits stop, and would need a landing */
        tl_log_write(&sim->log, 0, "joints hold elastic bodies: steps are Euler's, of first order (lg.time)");
    }
    return tl_rigid_begin_joints(sim, &data->rigid, data->grips.frame, err);
}

talus_status tl_lg_begin(tl_sim *sim, talus_error *err)
{
    const tl_scene *s = sim->scene;
    tl_lg_data *data = TL_NEW_ZERO(tl_lg_data, 1);
    if (!data) return tl_lg_no_memory(err);
    sim->engine_data = data;
    TL_TRY(tl_rigid_create(&sim->rigid, s, err));
    TL_TRY(tl_rigid_state_begin(&sim->state.rigid, &sim->rigid, s, err));
    TL_TRY(tl_lg_from_scene(&sim->lg, s, &sim->log, err));
    if (sim->lg.nodes == 0)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%.200s: engine \"lg\" needs an elastic body",
                       s->file ? s->file : "scene");
    tl_lg_state *nodes = tl_state_add(&sim->state, &tl_lg_state_kind);
    if (!nodes) return tl_lg_no_memory(err);
    TL_TRY(tl_lg_state_begin(nodes, &sim->lg, err));
    TL_TRY(tl_lg_holds_begin(nodes, &sim->lg, s, err));
    TL_TRY(tl_lg_give_centres(&sim->lg, s, &sim->rigid, &sim->state.rigid, err));
    data->time = (tl_lg_times)s->lg.time;
    TL_TRY(begin_joints(sim, data, nodes, err));
    data->rigid.slop = overlap_left(sim);
    data->missed = TL_NEW_ZERO(int, sim->lg.bodies + 1);
    data->hurried = TL_NEW_ZERO(int, sim->lg.bodies + 1);
    data->rigid.lost = TL_NEW_ZERO(bool, sim->rigid.scene_count + 1);
    if (!data->missed || !data->hurried || !data->rigid.lost) return tl_lg_no_memory(err);
    TL_TRY(tl_lg_columns_create(&data->columns, &sim->lg, err));
    TL_TRY(tl_lg_hessian_create(&data->hessian, &sim->lg, err));
    TL_TRY(tl_flex_data_create(&data->flex, err));
    data->precision = s->lg.precision == 0 ? TL_LG_FLOAT : TL_LG_DOUBLE;
    data->searches = s->lg.local == TL_LG_LOCAL_NEWTON;
    if (s->lg.time == TL_LG_STATIC) {
        TL_TRY(refuse_static(sim, err));
        data->reach = static_reach(&sim->lg);
        data->precision = TL_LG_DOUBLE;
    }
    return tl_lg_solver_create(&data->solver, &sim->lg, (tl_lg_method)s->lg.global, (int)data->precision, err);
}

void tl_lg_end(tl_sim *sim)
{
    tl_lg_data *data = sim->engine_data;
    if (data) {
        tl_free(data->missed);
        tl_free(data->hurried);
        tl_free(data->rigid.lost);
        tl_lg_hessian_free(data->hessian);
        tl_flex_data_free(data->flex);
        tl_lg_grips_free(&data->grips);
        tl_lg_columns_free(data->columns);
        tl_lg_solver_free(data->solver);
    }
    tl_free(data);
}
