#include "solve/contact/pairs.h"

#include <string.h>

#include "math/vec.h"

size_t tl_pairs_bytes(const tl_contact *p)
{
    int64_t m = p->space->n / 3, b = p->bodies ? p->bodies->count : 0;
    return TL_ARENA_ROOM(tl_pair, m) + 2 * TL_ARENA_ROOM(int32_t, b) + 2 * TL_ARENA_ROOM(double, b) +
           2 * TL_ARENA_ROOM(double, 9 * b);
}

/* Body mass blocks; false when an inverse inertia cannot be inverted. */
static bool add_body(const tl_contact_bodies *bodies, int32_t i, tl_pairs *t)
{
    const double *I = bodies->inv_inertia + 9 * (int64_t)i;
    int32_t k = t->moving++;
    tl_mat3 inverse;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) inverse.m[r][c] = I[3 * r + c];
    tl_mat3 inertia;
    if (!tl_mat3_inverse(inverse, &inertia)) return false;
    t->of_moving[k] = i;
    t->mass[k] = 1 / bodies->inv_mass[i];
    memcpy(t->inv_inertia + 9 * (int64_t)k, I, 9 * sizeof(double));
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) t->inertia[9 * (int64_t)k + 3 * r + c] = inertia.m[r][c];
    t->gyration[k] = sqrt(tl_mat3_trace(inertia) / (3 * t->mass[k]));
    return true;
}

static bool add_contact(const tl_contact *p, int32_t c, const int32_t *number, tl_pairs *t)
{
    const tl_csr *J = p->bodies->J;
    tl_pair *out = &t->pair[c];
    *out = (tl_pair){.body = {-1, -1}, .mu = p->mu[c]};
    if (c >= t->contacts - p->boxes) {
        out->box = &p->box[c - (t->contacts - p->boxes)];
        t->joined = true;
    }
    memcpy(out->W, p->blocks + 9 * (int64_t)c, sizeof out->W);
    tl_contact_scales(out->W, &out->w_n, &out->w_t);
    for (int r = 0; r < 3; r++) {
        int64_t row = 3 * (int64_t)c + r;
        out->q[r] = p->q[row];
        for (int64_t k = J->start[row]; k < J->start[row + 1]; k++) {
            int32_t body = number[J->col[k] / 6];
            if (body < 0) {
                if (r == 0 && !(out->mu < 0)) out->scripted += J->val[k] * p->bodies->v_free[J->col[k]];
                continue;
            }
            int side = out->body[0] == body || out->body[0] < 0 ? 0 : 1;
            if (side == 1 && out->body[1] >= 0 && out->body[1] != body) return false;
            out->body[side] = body;
            out->J[side][J->col[k] % 6][r] = J->val[k];
        }
    }
    for (int s = 0; s < 2; s++) {
        out->place[s] = out->body[s] < 0 ? t->moving : out->body[s];
        if (out->body[s] < 0) continue;
        const double *I = t->inv_inertia + 9 * (int64_t)out->body[s];
        double im = 1 / t->mass[out->body[s]];
        for (int k = 0; k < 3; k++) {
            tl_lanes4 turn = I[3 * k] * out->J[s][3] + I[3 * k + 1] * out->J[s][4] + I[3 * k + 2] * out->J[s][5];
            for (int r = 0; r < 3; r++) {
                out->MJ[s][r][k] = im * out->J[s][k][r];
                out->MJ[s][r][3 + k] = turn[r];
            }
        }
    }
    return true;
}

bool tl_pairs_build(const tl_contact *p, tl_pairs *t, tl_arena *a)
{
    const tl_contact_bodies *bodies = p->bodies;
    if (!bodies) return false;
    *t = (tl_pairs){.contacts = (int32_t)(p->space->n / 3)};
    int32_t *number = TL_TAKE(a, int32_t, bodies->count);
    t->pair = TL_TAKE(a, tl_pair, t->contacts);
    t->of_moving = TL_TAKE(a, int32_t, bodies->count);
    t->mass = TL_TAKE(a, double, bodies->count);
    t->gyration = TL_TAKE(a, double, bodies->count);
    t->inertia = TL_TAKE(a, double, 9 * (int64_t)bodies->count);
    t->inv_inertia = TL_TAKE(a, double, 9 * (int64_t)bodies->count);
    for (int32_t i = 0; i < bodies->count; i++) {
        number[i] = bodies->inv_mass[i] > 0 ? t->moving : -1;
        if (number[i] >= 0 && !add_body(bodies, i, t)) return false;
    }
    for (int32_t c = 0; c < t->contacts; c++)
        if (!add_contact(p, c, number, t)) return false;
    return true;
}

void tl_pairs_push(const tl_pairs *t, const double *lam, double *dv)
{
    memset(dv, 0, sizeof(double) * (size_t)tl_pairs_lanes(t));
    for (int32_t c = 0; c < t->contacts; c++) tl_pair_push(&t->pair[c], lam + 3 * (int64_t)c, dv);
}

double tl_pair_residual(const tl_pair *c, const double u[3], const double lam[3])
{
    if (c->box) return tl_contact_box_residual(c->box, c->W, u, lam);
    double e_n = fabs(lam[0] - (c->mu < 0 ? 0 : fmax(0, lam[0] - c->w_n * u[0]))) / c->w_n;
    double t[2] = {lam[1] - c->w_t * u[1], lam[2] - c->w_t * u[2]};
    tl_project_disc(c->mu < 0 ? -c->mu : c->mu * fmax(lam[0], 0), t);
    double x = lam[1] - t[0], y = lam[2] - t[1], e_t = sqrt(x * x + y * y) / c->w_t;
    return fmax(e_n, e_t);
}

double tl_pairs_speed(const tl_pairs *t)
{
    double fastest2 = 0;
    for (int32_t c = 0; c < t->contacts; c++) {
        const tl_lanes4 q = t->pair[c].q;
        if (q[0] < 0 && t->pair[c].mu >= 0) fastest2 = fmax(fastest2, q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
    }
    return sqrt(fastest2);
}

double tl_pairs_residual(const tl_pairs *t, const double *lam, double *dv)
{
    double max = 0, u[3];
    tl_pairs_push(t, lam, dv);
    for (int32_t c = 0; c < t->contacts; c++) {
        tl_pair_velocity(&t->pair[c], dv, u);
        double e = tl_pair_residual(&t->pair[c], u, lam + 3 * (int64_t)c);
        if (!(e <= max)) max = isfinite(e) ? e : INFINITY;
    }
    return max;
}
