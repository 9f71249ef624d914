/* Joints of SPH: part of what every push does to bodies, so that no iterate of the solve breaks them.
 *
 * Velocities without contacts are first made such that joints allow them, places at the end of the step included. The
 * solve of pressures and friction then moves mechanisms instead of bodies: each time that it looks, rows of joints are
 * solved exactly (solve/contact/row_system.h). After it, what turning bodies add to a straight row is put right by joints
 * alone (tl_bodies_joints_settle), all other impulses as they are.
 *
 * Velocities of the end are those that led there, as of all that SPH moves: chords of the way, half a step behind. So
 * nothing takes out what leads away from a joint; the next step turns it, and a pendulum keeps its energy. */
#include <math.h>
#include <string.h>

#include "phase/sph/trial.h"

#define AIM 1e-2 /* of the least tolerance: what solves of joints alone go on to */

typedef struct answer {
    const tl_sph_trial *s;
    tl_row_system rows;
    tl_rigid_problem p; /* bodies and rows behind them */
    const double *base; /* [6 bodies] velocities without joints and contacts */
    double *v;          /* [6 bodies] scratch */
} answer;

static bool is_free(const tl_sph_trial *s, int32_t i) { return s->rigid->body[i].kind == TL_BODY_FREE; }

static void take(tl_sph_trial *s, const double *v)
{
    for (int32_t i = 0; i < s->rigid->scene_count; i++) {
        if (!is_free(s, i)) continue;
        s->f.body_v[i] = tl_vec3_load(v + 6 * (int64_t)i);
        s->f.body_w[i] = tl_vec3_load(v + 6 * (int64_t)i + 3);
    }
}

/* What pushes give to bodies, and what joints make of it. */
static void respond(void *ctx, tl_vec3 *add_v, tl_vec3 *add_w)
{
    answer *a = ctx;
    const tl_sph_trial *s = a->s;
    const int32_t n = s->rigid->count;
    memcpy(a->v, a->base, 6 * sizeof *a->v * (size_t)n);
    for (int32_t i = 0; i < n; i++) {
        double *v = a->v + 6 * (int64_t)i;
        tl_vec3_store(tl_vec3_add(tl_vec3_load(v), add_v[i]), v);
        tl_vec3_store(tl_vec3_add(tl_vec3_load(v + 3), add_w[i]), v + 3);
    }
    tl_row_system_respond(&a->rows, a->v);
    for (int32_t i = 0; i < s->rigid->scene_count; i++) {
        if (s->joined->number[i] < 0) continue;
        add_v[i] = tl_vec3_sub(tl_vec3_load(a->v + 6 * (int64_t)i), s->f.body_v[i]);
        add_w[i] = tl_vec3_sub(tl_vec3_load(a->v + 6 * (int64_t)i + 3), s->f.body_w[i]);
    }
}

static talus_status number_bodies(tl_sph_trial *s, tl_sph_joined *q, talus_error *err)
{
    const tl_joint_blocks *rows = &s->b.joint.blocks;
    *q = (tl_sph_joined){.number = TL_TAKE(s->arena, int32_t, s->rigid->count)};
    if (!q->number) return tl_sph_no_memory(err);
    for (int32_t i = 0; i < s->rigid->count; i++) q->number[i] = -1;
    for (int32_t k = 0; k < rows->count; k++)
        for (int side = 0; side < 2; side++) {
            const int32_t i = rows->body[k][side];
            if (i >= 0 && is_free(s, i) && q->number[i] < 0) q->number[i] = q->count++;
        }
    q->moved = TL_TAKE_ZERO(s->arena, double, 36 * (int64_t)q->count);
    q->along = TL_TAKE_ZERO(s->arena, double, (int64_t)q->count * q->count);
    return q->moved && q->along ? TALUS_OK : tl_sph_no_memory(err);
}

/* What makes velocities and spins of body i as large as their energies. */
static void roots_of(const tl_sph_trial *s, int32_t i, double root[6])
{
    const double *inverse = s->b.inv_inertia + 9 * (int64_t)i;
    for (int k = 0; k < 3; k++) {
        root[k] = sqrt(s->b.inv_mass[i]);
        root[3 + k] = sqrt((inverse[0] + inverse[4] + inverse[8]) / 3);
    }
}

/* Unit impulses on each body of a mechanism: what they do to it, and how much of that to others. */
static talus_status find_response(tl_sph_trial *s, answer *a, tl_sph_joined *q, talus_error *err)
{
    const int32_t n = s->rigid->count;
    double *own = TL_TAKE(s->arena, double, q->count);
    if (!own) return tl_sph_no_memory(err);
    for (int32_t i = 0; i < s->rigid->scene_count; i++) {
        const int32_t at = q->number[i];
        double root[6];
        if (at < 0) continue;
        roots_of(s, i, root);
        for (int k = 0; k < 6; k++) {
            memset(a->v, 0, 6 * sizeof *a->v * (size_t)n);
            if (k < 3) a->v[6 * (int64_t)i + k] = s->b.inv_mass[i];
            for (int c = 0; c < 3 && k >= 3; c++)
                a->v[6 * (int64_t)i + 3 + c] = s->b.inv_inertia[9 * (int64_t)i + 3 * c + k - 3];
            tl_row_system_push(&a->rows, a->v);
            for (int32_t o = 0; o < s->rigid->scene_count; o++) {
                double other[6];
                if (q->number[o] < 0) continue;
                roots_of(s, o, other);
                for (int c = 0; c < 6; c++) {
                    const double part = a->v[6 * (int64_t)o + c] / (root[k] * other[c]);
                    q->along[(int64_t)at * q->count + q->number[o]] += part * part;
                }
            }
            for (int c = 0; c < 6; c++) q->moved[36 * (int64_t)at + 6 * c + k] = a->v[6 * (int64_t)i + c];
        }
        own[at] = sqrt(q->along[(int64_t)at * q->count + at]);
    }
    for (int32_t i = 0; i < q->count; i++)
        for (int32_t o = 0; o < q->count; o++) {
            double *along = &q->along[(int64_t)i * q->count + o];
            *along = i == o ? 1 : own[i] > 0 && own[o] > 0 ? fmin(1, sqrt(*along / (own[i] * own[o]))) : 0;
        }
    return TALUS_OK;
}

/* Rows of where bodies are, and bodies with velocities `base`. */
static talus_status pose(tl_sph_trial *s, const double *base, tl_row_system *rows, tl_rigid_problem *p,
                         talus_error *err)
{
    tl_bodies *b = &s->b;
    tl_rigid_contacts none = {0};
    const tl_contact_bodies bodies = {s->rigid->count, b->inv_mass, b->inv_inertia, NULL, base};
    TL_TRY(tl_rigid_problem_build(p, &bodies, &none, NULL, &b->joint.blocks, s->dt, s->arena, err));
    return tl_row_system_begin(rows, &p->bodies, b->joint.blocks.box, b->joint.blocks.bias, b->joint.lam, s->arena,
                               err);
}

talus_status tl_sph_join(tl_sph_trial *s, bool *again, talus_error *err)
{
    tl_bodies *b = &s->b;
    const int64_t n = 6 * (int64_t)s->rigid->count;
    if (!b->joint.now || !b->joint.first[s->sim->joints.count]) return TALUS_OK;
    answer *a = tl_arena_take_zero(s->arena, sizeof *a);
    tl_sph_joined *q = tl_arena_take_zero(s->arena, sizeof *q);
    if (!a || !q || !(a->v = TL_TAKE(s->arena, double, n))) return tl_sph_no_memory(err);
    for (int32_t i = 0; i < s->rigid->count; i++) {
        tl_vec3_store(s->f.body_v[i], b->v_free + 6 * (int64_t)i);
        tl_vec3_store(s->f.body_w[i], b->v_free + 6 * (int64_t)i + 3);
    }
    b->aim = AIM * b->least;
    /* alone: where its turning leads, rows bend */
    TL_TRY(tl_bodies_joints_assemble(b, err));
    TL_TRY(pose(s, b->v_free, &a->rows, &a->p, err));
    memcpy(b->v, b->v_free, sizeof *b->v * (size_t)n);
    tl_row_system_respond(&a->rows, b->v);
    memcpy(b->joint.lam, a->rows.lam, sizeof *b->joint.lam * (size_t)a->rows.rows);
    TL_TRY(tl_bodies_move(b, again, err));
    TL_TRY(tl_bodies_joints_settle(b, again, err));
    /* and with what it leads to */
    TL_TRY(tl_bodies_joints_assemble(b, err));
    TL_TRY(pose(s, b->v_free, &a->rows, &a->p, err));
    memcpy(b->v, b->v_free, sizeof *b->v * (size_t)n);
    tl_row_system_respond(&a->rows, b->v);
    TL_TRY(number_bodies(s, q, err));
    TL_TRY(find_response(s, a, q, err));
    a->s = s;
    a->base = b->v_free;
    q->respond = respond;
    q->ctx = a;
    s->joined = q;
    s->answer = a;
    s->f.joined = q;
    for (int32_t k = 0; k < a->rows.rows; k++) s->f.held += fabs(a->rows.lam[k]);
    for (int32_t k = 0; k < s->sim->joints.count; k++)
        for (int r = 0; r < s->sim->joints.joint[k].rows && !(b->joint.now[k].broken > 0); r++)
            s->f.held += s->dt * fabs(b->joint.now[k].force[r]);
    take(s, b->v);
    return TALUS_OK;
}

talus_status tl_sph_settle_joints(tl_sph_trial *s, bool *again, talus_error *err)
{
    const answer *a = s->answer;
    tl_bodies *b = &s->b;
    if (!a) return TALUS_OK;
    memcpy(b->joint.lam, a->rows.lam, sizeof *b->joint.lam * (size_t)a->rows.rows);
    TL_TRY(tl_bodies_joints_settle(b, again, err));
    tl_row_system rows;
    tl_rigid_problem p;
    TL_TRY(pose(s, b->v, &rows, &p, err));
    s->joint_residual = fmax(tl_row_system_residual(&rows, b->v, b->joint.lam), b->joint.missed);
    take(s, b->v);
    return TALUS_OK;
}
