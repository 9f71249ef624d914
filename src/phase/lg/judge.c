#include "phase/lg/step.h"

#include <math.h>
#include <string.h>

#define CREEP_TOLD 100.0 /* slow speeds */
#define AT_REST 1e-3     /* of a slow speed, over a step: less than this to be done is rest */
#define JUDGED 5         /* steps in a row after which it is told that rounds do not suffice. Chosen */
#define CURVED 1e-4      /* share of A that the energy's curvature has at least */
#define LEFT_TOLD 0.06   /* of the forces of a step is missing: what swings is slower by half of that, see judge */
#define MOVES 1e-3 /* of its speed is what the missing forces do to a body within a step: less is not told. Chosen */
#define STEPS_PER_SWING 20 /* of BDF2, for 3 % */
#define NEARBY 1e-3        /* of a step: how far along its motion forces are looked at for their change. Chosen */
#define LED 0.1            /* of its speed: anchors of a body that swings by itself are slower. Chosen */
#define STRETCH_TOLD 1.03  /* of a period: swings that come out longer are told */
#define SWINGS 1e-5        /* of a body's size: a swing by less is not told. Chosen */
#define PI 3.14159265358979323846

void tl_lg_find_residual(tl_lg_step *s)
{
    s->elastic = tl_lg_stress(s->lg, s->q, s->force) + tl_lg_linear_energy(s->lg, s->q, s->target);
    tl_lg_residual(s->lg, s->he, s->q, s->qtil, s->target, s->force, s->r);
    tl_lg_press(s->lg, s->pressure, s->he * s->he, s->q, s->r);
    tl_lg_touch_push(&s->touch, s->r);
    s->laws = tl_lg_touch_laws(&s->touch, s->contacts.shapes, s->slow, s->q);
    tl_lg_solve(s->data->solver, s->data->precision, s->r, s->step);
}

/* How far rounds came. Where they end, the step A^-1 r goes down, and the energy's curvature along it is a share k
 * of A's: the minimum lies 1/k steps away. That over the way from q~, by masses, is the share c of forces that the
 * step lacks. A mode that feels (1 - c) of its force swings slower by 1 / sqrt(1 - c), and c / 2 is what users see
 * of it. With slow modes k is 1e-2 and less, so |r| alone says nothing. s->r and s->step are those of q. */
void tl_lg_find_missing(tl_lg_step *s)
{
    const tl_lg *lg = s->lg;
    for (int64_t i = 0; i < 3 * (int64_t)lg->nodes; i++) s->trial[i] = s->q[i] + s->step[i];
    tl_lg_newton_residual(&s->newton, s->trial, s->after);
    tl_lg_touch_push(&s->touch, s->after);
    for (int b = 0; b < lg->bodies; b++) {
        const tl_lg_body *body = &lg->body[b];
        double curved = 0, full = 0, step2 = 0, way2 = 0;
        for (int64_t k = 3 * (int64_t)body->node, end = k + 3 * (int64_t)body->nodes; k < end; k++) {
            double m = lg->mass[k / 3], way = s->q[k] - s->qtil[k];
            curved += s->step[k] * (s->r[k] - s->after[k]);
            full += s->step[k] * s->r[k];
            step2 += m * s->step[k] * s->step[k];
            way2 += m * way * way;
        }
        double k = full > 0 ? fmin(1, fmax(CURVED, curved / full)) : 1, rest = AT_REST * s->slow * s->he;
        s->off2[b] = step2 / (k * k);
        s->missing[b] = sqrt(s->off2[b] / (way2 + s->off2[b] + rest * rest * body->mass));
    }
}

void tl_lg_judge(tl_lg_step *s)
{
    const tl_lg *lg = s->lg;
    tl_lg_find_missing(s);
    for (int32_t k = 0; k < s->touch.rows.nodes; k++) s->touched[lg->owner[s->touch.rows.node[k]]] = true;
    for (int b = 0; b < lg->bodies && s->joined; b++) s->touched[b] = s->touched[b] || s->joined->of[b];
    for (int b = 0; b < lg->bodies; b++) {
        const tl_lg_body *body = &lg->body[b];
        double speed2 = 0;
        for (int64_t k = 3 * (int64_t)body->node, end = k + 3 * (int64_t)body->nodes; k < end; k++)
            speed2 += lg->mass[k / 3] * s->v[k] * s->v[k];
        bool misses = !s->touched[b] && s->missing[b] > LEFT_TOLD && sqrt(s->off2[b]) > MOVES * s->h * sqrt(speed2);
        s->data->missed[b] = misses ? s->data->missed[b] + 1 : 0;
    }
}

/* How bodies deform that nothing touches, m/s, others 0: velocities, those of anchored bodies as they are and of
 * free ones without their rigid motion. Where handles lead a body, how it swings by itself cannot be told from
 * that. */
static bool deforming(const tl_lg_step *s, double *p, bool *held)
{
    const tl_lg *lg = s->lg;
    bool any = false;
    memset(p, 0, sizeof *p * 3 * (size_t)lg->nodes);
    for (int32_t k = 0; k < lg->anchors; k++) held[lg->owner[lg->anchor[k].vertex]] = true;
    for (int b = 0; b < lg->bodies; b++) {
        const tl_lg_body *body = &lg->body[b];
        if (s->touched[b]) continue;
        tl_lg_whole now = tl_lg_whole_of(lg, body, s->q, s->v);
        if (held[b]) now.v = now.spin = (tl_vec3){0, 0, 0};
        for (int64_t i = body->node; i < body->node + body->nodes; i++) {
            tl_vec3 r = tl_vec3_sub(tl_vec3_load(s->q + 3 * i), now.centre),
                    turns = tl_vec3_add(now.v, tl_vec3_cross(now.spin, r));
            tl_vec3_store(tl_vec3_sub(tl_vec3_load(s->v + 3 * i), turns), p + 3 * i);
        }
        any = true;
    }
    return any;
}

/* How fast a body swings: Rayleigh's quotient of its motion, curvature over mass. Steps that are too long for it
 * are counted, then told. */
talus_status tl_lg_watch_swings(tl_lg_step *s, talus_error *err)
{
    const tl_lg *lg = s->lg;
    double *p = TL_TAKE(s->arena, double, 3 * (int64_t)lg->nodes),
           *after = TL_TAKE(s->arena, double, 3 * (int64_t)lg->nodes);
    bool *held = TL_TAKE_ZERO(s->arena, bool, lg->bodies + 1);
    double *led = TL_TAKE_ZERO(s->arena, double, lg->bodies + 1);
    if (!p || !after || !held || !led) return tl_lg_no_memory(err);
    if (!deforming(s, p, held)) return TALUS_OK;
    for (int32_t k = 0; k < lg->anchors; k++) {
        const int64_t i = lg->anchor[k].vertex;
        led[lg->owner[i]] = fmax(led[lg->owner[i]], tl_vec3_norm(tl_vec3_load(p + 3 * i)));
    }
    for (int64_t k = 0; k < 3 * (int64_t)lg->nodes; k++) s->trial[k] = s->q[k] + NEARBY * s->he * p[k];
    tl_lg_newton_residual(&s->newton, s->trial, after);
    tl_lg_touch_push(&s->touch, after);
    for (int b = 0; b < lg->bodies; b++) {
        const tl_lg_body *body = &lg->body[b];
        double mass = 0, bend = 0, data;
        for (int64_t k = 3 * (int64_t)body->node, end = k + 3 * (int64_t)body->nodes; k < end; k++) {
            mass += lg->mass[k / 3] * p[k] * p[k];
            bend += p[k] * (s->r[k] - after[k]) / (NEARBY * s->he);
        }
        double rate = bend > mass && mass > 0 ? sqrt((bend - mass) / mass) / s->he : 0, size = cbrt(body->volume);
        double speed = sqrt(mass / body->mass);
        bool visible = speed > SWINGS * size * rate && led[b] < LED * speed;
        double stretch = tl_lg_time_stretch(&s->time, rate * s->h, &data);
        s->data->hurried[b] = rate > 0 && visible && stretch > STRETCH_TOLD ? s->data->hurried[b] + 1 : 0;
        if (s->data->hurried[b] < JUDGED || s->data->told_fast) continue;
        s->data->told_fast = true;
        tl_log_write(&s->sim->log, 0,
                     "t = %.6g s: \"%s\" swings with a period of %.3g s, which is %.1f steps: it comes out %.0f %% too "
                     "long and keeps %.0f %% of its swing per period; with dt_max = %.2g s it would be 3 %%",
                     s->sim->state.t + s->h, body->name, 2 * PI / rate, 2 * PI / (rate * s->h), 100 * (stretch - 1),
                     100 * data, 2 * PI / rate / STEPS_PER_SWING);
    }
    return TALUS_OK;
}

/* Slip below the cone is a friction solve that has not ended: told once, with the way out. */
static void tell_creep(const tl_lg_step *s)
{
    const tl_lg_laws *l = &s->laws;
    if (s->data->told || !(l->creep > CREEP_TOLD * s->slow)) return;
    s->data->told = true;
    tl_log_write(
        &s->sim->log, 0,
        "t = %.6g s: %lld of %lld contacts creep, at up to %.3g m/s: friction holds them but the solve has not ended; "
        "more lg.iterations, lg.inner or lg.cr_iterations help",
        s->sim->state.t + s->h, (long long)l->creeping, (long long)l->touching, l->creep);
}

/* Told once, when that lasts. */
static void tell_left(const tl_lg_step *s)
{
    tl_lg_data *k = s->data;
    for (int b = 0; b < s->lg->bodies && !k->told_left; b++) {
        double c = s->missing[b];
        if (k->missed[b] < JUDGED) continue;
        k->told_left = true;
        tl_log_write(
            &s->sim->log, 0,
            "t = %.6g s: %d rounds per step find %.0f %% of the forces inside of \"%s\": it swings about %.0f %% too "
            "slowly; shorter steps (dt_max) or more lg.iterations help",
            s->sim->state.t + s->h, s->rounds, 100 * (1 - c), s->lg->body[b].name,
            100 * (1 / sqrt(fmax(1 - c, 1e-4)) - 1));
    }
}

void tl_lg_tell(const tl_lg_step *s)
{
    tell_left(s);
    tell_creep(s);
}
