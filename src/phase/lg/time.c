#include "phase/lg/time.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#define RATIO_MAX                                                                                                      \
    2.0 /* of two steps: beyond 1 + sqrt(2) the formula is not stable, and a fresh start is better. Chosen */
#define PI 3.14159265358979323846
#define LAND_SWEEPS 10 /* over the contacts; nodes belong to few of them. Chosen */

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the time integration of elastic bodies");
}

talus_status tl_lg_time_begin(tl_lg_time *t, const tl_lg *lg, const tl_lg_state *now, tl_lg_times kind, double reach,
                              double h, tl_arena *arena, talus_error *err)
{
    const int64_t n = 3 * (int64_t)lg->nodes;
    *t = (tl_lg_time){.second = kind == TL_LG_BDF2, .rests = kind == TL_LG_STATIC, .h = h, .he = h, .ratio = 1};
    if (t->rests) t->he = tl_lg_round_step(reach);
    double **const vectors[] = {&t->q_hat, &t->p, &t->q_was, &t->v_was, &t->push};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        if (!(*vectors[k] = TL_TAKE(arena, double, n))) return no_memory(err);
    if (!t->second) return TALUS_OK;
    double before = now->step_before[0];
    if (before > 0 && h <= RATIO_MAX * before) t->ratio = h / before;
    t->he = tl_lg_round_step(h * (1 + t->ratio) / (1 + 2 * t->ratio));
    return TALUS_OK;
}

/* ---- prediction ---- */

/* Where nodes would have been and how fast, had they flown freely to where they are, turning with their body. */
static void begin_history(tl_lg_time *t, const tl_lg *lg, const tl_lg_state *now, const double *a)
{
    const double h = t->h;
    for (int b = 0; b < lg->bodies; b++) {
        const tl_lg_body *body = &lg->body[b];
        tl_lg_whole w = tl_lg_whole_of(lg, body, now->q, now->v);
        tl_quat back = tl_quat_exp(tl_vec3_scale(-h, w.spin));
        for (int64_t i = body->node; i < body->node + body->nodes; i++) {
            tl_vec3 r = tl_vec3_sub(tl_vec3_load(now->q + 3 * i), w.centre), g = tl_vec3_load(a + 3 * i),
                    turns = tl_vec3_cross(w.spin, r),
                    v = tl_vec3_sub(tl_vec3_load(now->v + 3 * i), turns), /* all but the turning */
                was = tl_quat_rotate(back, r);
            tl_vec3 q = tl_vec3_add(tl_vec3_add(w.centre, was), tl_vec3_scale(-h, v));
            tl_vec3_store(tl_vec3_add_scaled(q, 0.5 * h * h, g), t->q_was + 3 * i);
            tl_vec3_store(tl_vec3_add_scaled(tl_vec3_add(v, tl_vec3_cross(w.spin, was)), -h, g), t->v_was + 3 * i);
        }
    }
}

void tl_lg_time_predict(tl_lg_time *t, const tl_lg *lg, const tl_lg_state *now, const double *a, double *q_tilde)
{
    const int64_t n = 3 * (int64_t)lg->nodes;
    const double w = t->ratio, he = t->he;
    const bool history = t->second && now->step_before[0] > 0 && t->h <= RATIO_MAX * now->step_before[0];
    if (t->second && !history) begin_history(t, lg, now, a);
    const double *q1 = history ? now->q_before : t->q_was, *v1 = history ? now->v_before : t->v_was;
    for (int64_t i = 0; i < n; i++) {
        double q = now->q[i], v = t->rests ? 0 : now->v[i];
        if (t->second) { /* as differences: rounding is that of the increment */
            double s = w * w / (1 + 2 * w);
            t->p[i] = v + s * (1 + 2 * w) / (1 + w) * (v - v1[i]);
            q += s * (q - q1[i]);
            v += s * (v - v1[i]);
        } else {
            t->p[i] = v;
        }
        t->q_hat[i] = q;
        q_tilde[i] = q + he * (v + he * a[i]);
    }
    memcpy(t->q_was, now->q, sizeof *now->q * (size_t)n);
    memcpy(t->v_was, now->v, sizeof *now->v * (size_t)n);
}

void tl_lg_time_velocities(const tl_lg_time *t, const tl_lg *lg, const double *q, double *v)
{
    for (int64_t i = 0; i < 3 * (int64_t)lg->nodes; i++) v[i] = t->rests ? 0 : (q[i] - t->q_hat[i]) / t->he;
}

double tl_lg_time_stretch(const tl_lg_time *t, double angle, double *data)
{
    double complex z = 1 / (t->second ? 2 - csqrt(1 + 2 * I * angle) : 1 - I * angle);
    *data = pow(cabs(z), 2 * PI / fabs(carg(z)));
    return angle / carg(z);
}

/* ---- landing ---- */

/* p of nodes of a contact along its normal, against that of the other side. */
static double normal_speed(const tl_lg_rows *r, const tl_lg_link *l, const double *p, tl_vec3 drag,
                           const tl_motion *body)
{
    tl_vec3 u = tl_vec3_neg(drag);
    for (int32_t k = 0; k < l->nodes; k++)
        u = tl_vec3_add_scaled(u, l->weight[k], tl_vec3_load(p + 3 * (int64_t)r->node[l->node[k]]));
    if (l->body[1] >= 0) {
        const tl_motion *m = &body[r->body[l->body[1]]];
        u = tl_vec3_sub(u, tl_vec3_add(m->v, tl_vec3_cross(m->w, l->lever[1])));
    }
    return tl_vec3_dot(l->axis[0], u);
}

/* One impulse of a contact: onto p of nodes and onto the body. */
static void strike(const tl_lg_rows *r, const tl_lg_link *l, double share, double impulse, double *p, tl_motion *body)
{
    tl_vec3 j = tl_vec3_scale(impulse, l->axis[0]);
    for (int32_t k = 0; k < l->nodes; k++) {
        int64_t i = r->node[l->node[k]];
        tl_vec3_store(tl_vec3_add_scaled(tl_vec3_load(p + 3 * i), l->weight[k] / r->lg->mass[i], j), p + 3 * i);
    }
    if (l->body[1] < 0) return;
    tl_motion *m = &body[r->body[l->body[1]]];
    m->v = tl_vec3_add_scaled(m->v, -r->inverse_mass[l->body[1]] / share, j);
    tl_vec3 turn = tl_mat3_mul_vec(r->inverse_inertia[l->body[1]], tl_vec3_cross(l->lever[1], j));
    m->w = tl_vec3_add_scaled(m->w, -1 / share, turn);
}

/* Speed per impulse; 0: a node without mass, which no impulse can be given to. */
static double mobility(const tl_lg_rows *r, const tl_lg_link *l, double share)
{
    double sum = 0;
    for (int32_t k = 0; k < l->nodes; k++) {
        double m = r->lg->mass[r->node[l->node[k]]];
        if (!(m > 0)) return 0;
        sum += l->weight[k] * l->weight[k] / m;
    }
    if (l->body[1] < 0) return sum;
    tl_vec3 turn = tl_vec3_cross(l->lever[1], l->axis[0]);
    return sum +
           (r->inverse_mass[l->body[1]] + tl_vec3_dot(turn, tl_mat3_mul_vec(r->inverse_inertia[l->body[1]], turn))) /
               share;
}

/* Velocities x of nodes, such that contacts that have struck (added < 0) have the relative normal speed `goal`: the
 * nearest ones, by masses. Other sides stay. */
static void make_even(const tl_lg_touch *touch, const tl_lg_contacts *contacts, const tl_motion *body,
                      const double *added, const double *goal, double *x)
{
    const tl_lg_rows *r = &touch->rows;
    for (int sweep = 0; sweep < LAND_SWEEPS; sweep++)
        for (int32_t c = 0; c < r->soft; c++) {
            if (!(added[c] < 0)) continue;
            tl_lg_link l = r->link[c];
            tl_vec3 other = contacts->contact[c].drag;
            if (l.body[1] >= 0) {
                const tl_motion *m = &body[r->body[l.body[1]]];
                other = tl_vec3_add(m->v, tl_vec3_cross(m->w, l.lever[1]));
            }
            l.body[1] = -1;
            double speed = normal_speed(r, &l, x, other, NULL);
            strike(r, &l, 1, (goal[c] - speed) / mobility(r, &l, 1), x, NULL);
        }
}

/* p with impulses of landing, into t->push; by contact: impulses and speeds that are wanted. */
static bool find_impulses(tl_lg_time *t, const tl_lg_touch *touch, const tl_lg_contacts *contacts,
                          const tl_motion *before, tl_motion *body, double *added, double *goal)
{
    const tl_lg_rows *r = &touch->rows;
    const double share = t->h * t->h / (t->he * t->he);
    bool any = false;
    for (int32_t c = 0; c < r->soft; c++) {
        const tl_lg_contact *k = &contacts->contact[c];
        added[c] = goal[c] = 0;
        if (!(k->restitution > 0)) continue;
        goal[c] = k->restitution * fmax(0, -normal_speed(r, &r->link[c], t->p, k->drag, before));
    }
    for (int sweep = 0; sweep < LAND_SWEEPS; sweep++)
        for (int32_t c = 0; c < r->soft; c++) {
            const tl_lg_link *l = &r->link[c];
            double force = touch->force[3 * (int64_t)c], gives = mobility(r, l, share);
            if (!(force > 0) || !(gives > 0)) continue;
            double speed = normal_speed(r, l, t->push, contacts->contact[c].drag, body);
            double next = added[c] + (goal[c] - speed) / gives;
            next = fmax(-t->h * force, fmin(0, next)); /* none is raised: that would add energy */
            if (next == added[c]) continue;
            strike(r, l, share, next - added[c], t->push, body);
            added[c] = next;
            any = true;
        }
    return any;
}

void tl_lg_time_land(tl_lg_time *t, const tl_lg_touch *touch, const tl_lg_contacts *contacts, const double *q,
                     const tl_motion *before, tl_motion *body, double *v)
{
    const tl_lg_rows *r = &touch->rows;
    const int64_t n = 3 * (int64_t)r->lg->nodes;
    double *added = touch->landed, *goal = touch->t; /* [rows]: what was there is done with */
    if (!t->second || r->soft == 0) return;
    for (int64_t k = 0; k < n; k++) t->push[k] = tl_lg_time_momentum(t, v, k);
    if (!find_impulses(t, touch, contacts, before, body, added, goal)) return;
    for (int64_t k = 0; k < n; k++) t->q_was[k] = (q[k] - t->q_was[k]) / t->h;
    make_even(touch, contacts, body, added, goal, v);
    make_even(touch, contacts, body, added, goal, t->v_was);
    make_even(touch, contacts, body, added, goal, t->q_was);
    for (int64_t k = 0; k < n; k++) {
        double missing = t->push[k] - tl_lg_time_momentum(t, v, k);
        t->q_was[k] = q[k] - t->h * t->q_was[k];
        v[k] += missing;
        t->v_was[k] += missing;
    }
}

/* ---- spin ---- */

void tl_lg_time_spin(tl_lg_time *t, const tl_lg *lg, const tl_lg_state *now, const bool *held, const bool *touched,
                     const double *q, double *v)
{
    for (int b = 0; b < lg->bodies; b++) {
        const tl_lg_body *body = &lg->body[b];
        if (held[b]) continue;
        for (int64_t k = 3 * (int64_t)body->node, end = k + 3 * (int64_t)body->nodes; k < end; k++)
            t->push[k] = tl_lg_time_momentum(t, v, k);
        tl_lg_whole before = tl_lg_whole_of(lg, body, now->q, t->p), after = tl_lg_whole_of(lg, body, q, t->push);
        if (!(after.mass > 0)) continue;
        tl_vec3 lost = tl_vec3_sub(before.L, after.L);
        if (touched[b]) { /* what acts on it may turn it: only the integration's own part */
            lost = (tl_vec3){0, 0, 0};
            for (int64_t i = body->node; i < body->node + body->nodes; i++) {
                tl_vec3 moved = tl_vec3_sub(tl_vec3_load(q + 3 * i), tl_vec3_load(now->q + 3 * i)),
                        p = tl_vec3_sub(tl_vec3_load(t->p + 3 * i), before.v);
                lost = tl_vec3_add_scaled(lost, -lg->mass[i], tl_vec3_cross(moved, p));
            }
        }
        tl_vec3 turn = tl_mat3_mul_vec(after.inverse, lost);
        t->largest_turn = fmax(t->largest_turn, tl_vec3_norm(turn));
        for (int64_t i = body->node; i < body->node + body->nodes; i++) {
            tl_vec3 r = tl_vec3_sub(tl_vec3_load(q + 3 * i), after.centre), add = tl_vec3_cross(turn, r);
            tl_vec3_store(tl_vec3_add(tl_vec3_load(v + 3 * i), add), v + 3 * i);
            if (t->second) tl_vec3_store(tl_vec3_add(tl_vec3_load(t->v_was + 3 * i), add), t->v_was + 3 * i);
        }
    }
}
