#include "phase/lg/joined.h"

#include <math.h>
#include <string.h>

#include "phase/bodies/joint_rows.h"

static talus_status no_memory(talus_error *err) { return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for joints"); }

static int32_t slot_of(const tl_lg_joined *j, const tl_lg_grip *g)
{
    return j->b->rigid->count + 2 * g->joint + g->side;
}

static void find_centres(const tl_lg *lg, const double *q, tl_vec3 *centre)
{
    for (int b = 0; b < lg->bodies; b++) {
        const tl_lg_body *body = &lg->body[b];
        double mass = 0;
        centre[b] = (tl_vec3){0, 0, 0};
        for (int64_t i = body->node; i < body->node + body->nodes; i++) {
            mass += lg->mass[i];
            centre[b] = tl_vec3_add_scaled(centre[b], lg->mass[i], tl_vec3_load(q + 3 * i));
        }
        if (mass > 0) centre[b] = tl_vec3_scale(1 / mass, centre[b]);
    }
}

static void mark(tl_lg_joined *j)
{
    const tl_joint_state *state = tl_state_find(&j->b->sim->state, &tl_joints_kind);
    for (int32_t k = 0; k < j->b->sim->joints.count; k++) {
        const tl_joint *joint = &j->b->sim->joints.joint[k];
        const int32_t side[2] = {joint->a, joint->b};
        j->grip_of[2 * k] = j->grip_of[2 * k + 1] = -1;
        for (int e = 0; e < 2; e++)
            if (!(state->joint[k].broken > 0) && tl_bodies_is_free(j->b, side[e])) j->on[side[e]] = true;
    }
    for (int32_t i = 0; i < j->grips->count; i++) {
        const tl_lg_grip *g = &j->grips->grip[i];
        j->grip_of[2 * g->joint + g->side] = i;
        if (!(state->joint[g->joint].broken > 0)) j->of[g->body] = true;
    }
}

talus_status tl_lg_join_begin(tl_lg_joined **out, tl_bodies *b, const tl_lg_grips *grips, const double *from,
                              const double *v, talus_error *err)
{
    const tl_lg *lg = &b->sim->lg;
    const int32_t n = b->rigid->count, joints = b->sim->joints.count;
    *out = NULL;
    if (!joints) return TALUS_OK;
    tl_arena *a = b->arena;
    tl_lg_joined *j = *out = tl_arena_take_zero(a, sizeof *j);
    if (!j) return no_memory(err);
    *j = (tl_lg_joined){.b = b, .lg = lg, .grips = grips, .h = b->dt, .from = from};
    j->on = TL_TAKE_ZERO(a, bool, n + 1);
    j->of = TL_TAKE_ZERO(a, bool, lg->bodies + 1);
    j->grasp = TL_TAKE_ZERO(a, tl_lg_grasp, grips->count + 1);
    j->grip_of = TL_TAKE(a, int32_t, 2 * (int64_t)joints);
    j->place = TL_TAKE(a, int32_t, n + 1);
    j->centre = TL_TAKE(a, tl_vec3, 2 * (int64_t)lg->bodies + 1);
    j->chord = TL_TAKE_ZERO(a, double, 3 * (int64_t)lg->nodes + 1);
    tl_motion *act = TL_TAKE(a, tl_motion, n + b->sim->joints.frames);
    if (!j->on || !j->of || !j->grasp || !j->grip_of || !j->place || !j->centre || !j->chord || !act)
        return no_memory(err);
    mark(j);
    find_centres(lg, from, j->centre);
    b->straight = true;
    for (int32_t i = 0; i < grips->count; i++) {
        const tl_lg_grip *g = &grips->grip[i];
        const int32_t slot = slot_of(j, g);
        tl_motion *m = &b->before[slot];
        j->grasp[i] = tl_lg_grip_at(g, from);
        m->x = j->grasp[i].x;
        m->q = j->grasp[i].q;
        tl_lg_grip_speed(g, &j->grasp[i], v, &m->v, &m->w);
        b->body[slot] = *m;
        tl_vec3_store(m->v, b->v_free + 6 * (int64_t)slot);
        tl_vec3_store(m->w, b->v_free + 6 * (int64_t)slot + 3);
    }
    memcpy(act, b->before, sizeof *act * (size_t)(n + b->sim->joints.frames));
    b->act = act;
    return TALUS_OK;
}

talus_status tl_lg_join_predict(tl_lg_joined *j, talus_error *err)
{
    tl_bodies *b = j->b;
    memcpy(b->v, b->v_free, sizeof *b->v * 6 * (size_t)(b->rigid->count + b->sim->joints.frames));
    return tl_bodies_joints_assemble(b, err);
}

void tl_lg_join_number(tl_lg_joined *j, const tl_lg_rows *rows)
{
    for (int32_t i = 0; i < j->b->rigid->count; i++) j->place[i] = -1;
    for (int32_t k = 0; k < rows->bodies; k++) j->place[rows->body[k]] = k;
}

static void set_velocities(tl_lg_joined *j, const tl_lg_rows *rows, const double *moved)
{
    for (int32_t i = 0; i < rows->bodies; i++)
        for (int k = 0; k < 6; k++) j->b->v[6 * (int64_t)rows->body[i] + k] = moved[6 * (int64_t)i + k] / j->h;
}

/* Frames where nodes are. `renew`: and where impulses act on them from now on. */
static void find_frames(tl_lg_joined *j, const double *q, bool renew)
{
    tl_bodies *b = j->b;
    tl_motion *act = (tl_motion *)b->act;
    tl_vec3 *now = j->centre + j->lg->bodies;
    if (!j->grips->count) return;
    for (int64_t k = 0; k < 3 * (int64_t)j->lg->nodes; k++) j->chord[k] = (q[k] - j->from[k]) / j->h;
    find_centres(j->lg, q, now);
    for (int32_t i = 0; i < j->grips->count; i++) {
        const tl_lg_grip *g = &j->grips->grip[i];
        const int32_t slot = slot_of(j, g);
        const tl_lg_grasp there = tl_lg_grip_at(g, q);
        b->body[slot].x = there.x;
        b->body[slot].q = there.q;
        if (renew) {
            j->grasp[i] = there;
            act[slot].q = there.q;
            act[slot].x = tl_vec3_add(there.x, tl_vec3_sub(j->centre[g->body], now[g->body]));
        }
        tl_vec3 v, w;
        tl_lg_grip_speed(g, &j->grasp[i], j->chord, &v, &w);
        tl_vec3_store(v, b->v + 6 * (int64_t)slot);
        tl_vec3_store(w, b->v + 6 * (int64_t)slot + 3);
    }
}

talus_status tl_lg_join_look(tl_lg_joined *j, const tl_lg_rows *rows, const double *q, const double *moved, bool renew,
                             talus_error *err)
{
    bool again;
    set_velocities(j, rows, moved);
    TL_TRY(tl_bodies_move(j->b, &again, err));
    find_frames(j, q, renew);
    /* rows of there first, from which it is told what they start from */
    if (renew) TL_TRY(tl_bodies_joints_assemble(j->b, err));
    j->right = tl_bodies_joints_look(j->b);
    return renew ? tl_bodies_joints_assemble(j->b, err) : TALUS_OK;
}

void tl_lg_join_velocities(tl_lg_joined *j, const tl_lg_rows *rows, const double *moved, double *out)
{
    const tl_bodies *b = j->b;
    set_velocities(j, rows, moved);
    for (int64_t k = 0; k < 3 * (int64_t)b->joint.blocks.count; k++)
        out[k] = tl_joint_block_speed(&b->joint.blocks, k, b->v) + b->joint.blocks.bias[k];
}

/* The joint that a block is of. */
static int32_t joint_of(const tl_lg_joined *j, int32_t block)
{
    int32_t k = 0;
    while (j->b->joint.first[k + 1] <= block) k++;
    return k;
}

void tl_lg_join_push(const tl_lg_joined *j, double scale, double *r, double *body_push)
{
    const tl_bodies *b = j->b;
    for (int32_t block = 0; block < b->joint.blocks.count; block++) {
        const int32_t *grip = j->grip_of + 2 * (int64_t)joint_of(j, block);
        for (int e = 0; e < 2; e++) {
            const int32_t body = b->joint.blocks.body[block][e];
            tl_vec3 push = {0, 0, 0}, turn = push;
            for (int i = 0; i < 3; i++) {
                const tl_joint_row *row = &b->joint.blocks.row[3 * (int64_t)block + i];
                const double force = b->joint.lam[3 * (int64_t)block + i] / j->h;
                push = tl_vec3_add_scaled(push, force, e ? row->push_b : row->push_a);
                turn = tl_vec3_add_scaled(turn, force, e ? row->turn_b : row->turn_a);
            }
            if (grip[e] >= 0) {
                const tl_lg_grip *g = &j->grips->grip[grip[e]];
                for (int32_t k = 0; k < g->count; k++) {
                    double *at = r + 3 * (int64_t)g->node[k];
                    const tl_vec3 f = tl_lg_grip_share(g, &j->grasp[grip[e]], k, push, turn);
                    tl_vec3_store(tl_vec3_add_scaled(tl_vec3_load(at), scale, f), at);
                }
            } else if (body >= 0 && j->place[body] >= 0) {
                double *at = body_push + 6 * (int64_t)j->place[body];
                tl_vec3_store(tl_vec3_add(tl_vec3_load(at), push), at);
                tl_vec3_store(tl_vec3_add(tl_vec3_load(at + 3), turn), at + 3);
            }
        }
    }
}

int tl_lg_join_entries(const tl_lg_joined *j, int64_t k, int64_t (*column)(const void *ctx, int32_t node),
                       const void *ctx, int64_t rigid, int64_t *col, double *val)
{
    const tl_joint_blocks *blocks = &j->b->joint.blocks;
    const tl_joint_row *row = &blocks->row[k];
    const int32_t *grip = j->grip_of + 2 * (int64_t)joint_of(j, (int32_t)(k / 3));
    int count = 0;
    for (int e = 0; e < 2; e++) {
        const tl_vec3 push = e ? row->push_b : row->push_a, turn = e ? row->turn_b : row->turn_a;
        const int32_t body = blocks->body[k / 3][e];
        if (grip[e] >= 0) {
            const tl_lg_grip *g = &j->grips->grip[grip[e]];
            for (int32_t i = 0; i < g->count; i++) {
                const tl_vec3 f = tl_lg_grip_share(g, &j->grasp[grip[e]], i, push, turn);
                const double along[3] = {f.x, f.y, f.z};
                const int64_t at = column(ctx, g->node[i]);
                for (int d = 0; d < 3; d++) col[count] = at + d, val[count++] = along[d];
            }
        } else if (body >= 0 && j->place[body] >= 0) {
            const double along[6] = {push.x, push.y, push.z, turn.x, turn.y, turn.z};
            for (int d = 0; d < 6; d++) col[count] = rigid + 6 * (int64_t)j->place[body] + d, val[count++] = along[d];
        }
    }
    return count;
}

int64_t tl_lg_join_entries_most(const tl_lg_joined *j, int32_t block)
{
    const int32_t *grip = j->grip_of + 2 * (int64_t)joint_of(j, block);
    int64_t most = 0;
    for (int e = 0; e < 2; e++) most += grip[e] >= 0 ? 3 * (int64_t)j->grips->grip[grip[e]].count : 6;
    return most;
}

talus_status tl_lg_join_end(tl_lg_joined *j, const double *q, const double *v, talus_error *err)
{
    tl_bodies *b = j->b;
    find_frames(j, q, false);
    for (int32_t i = 0; i < j->grips->count; i++) {
        const int64_t slot = slot_of(j, &j->grips->grip[i]);
        /* what the accounts call before: nodes' own work is that of the way they went */
        memcpy(b->v_free + 6 * slot, b->v + 6 * slot, 6 * sizeof *b->v);
        tl_lg_grip_speed(&j->grips->grip[i], &j->grasp[i], v, &b->body[slot].v, &b->body[slot].w);
    }
    j->right = tl_bodies_joints_look(b);
    return tl_bodies_joints_end(b, err);
}
