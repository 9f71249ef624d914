#include "base/parallel.h"
#include "base/sum.h"
#include "math/vec.h"
#include "solve/flex/law.h"

static tl_mat3 inverse_inertia(const tl_flex *p, int64_t b)
{
    tl_mat3 I;
    memcpy(I.m, p->inv_inertia + 9 * b, sizeof I.m);
    return I;
}

/* Values stand up to the diagonal: row i gives its part of y_i, and columns give theirs in the order of rows. */
static void multiply_part(const tl_flex_part *part, const double *x, double *y)
{
    const tl_csr *H = part->H;
    for (int32_t i = 0; i < H->rows; i++) {
        double sum = 0;
        for (int64_t k = H->start[i]; k < H->start[i + 1] && H->col[k] <= i; k++) {
            int32_t j = H->col[k];
            sum += H->val[k] * x[j];
            if (j < i) y[j] += H->val[k] * x[i];
        }
        y[i] = sum;
    }
}

void tl_flex_product(const tl_flex *p, const double *x, double *y)
{
#pragma omp parallel for schedule(dynamic, 1) if (p->parts > 1)
    for (int32_t b = 0; b < p->parts; b++) multiply_part(&p->part[b], x + p->part[b].first, y + p->part[b].first);
    for (int64_t b = 0; b < p->rigid; b++) {
        const double *in = x + p->n + 6 * b;
        double *out = y + p->n + 6 * b;
        tl_mat3 I;
        memset(out, 0, 6 * sizeof *out);
        if (!(p->inv_mass[b] > 0)) continue;
        tl_vec3_store(tl_vec3_scale(1 / p->inv_mass[b], tl_vec3_load(in)), out);
        if (tl_mat3_inverse(inverse_inertia(p, b), &I))
            tl_vec3_store(tl_mat3_mul_vec(I, tl_vec3_load(in + 3)), out + 3);
    }
}

void tl_flex_rigid_inverse(const tl_flex *p, double *x)
{
    for (int64_t b = 0; b < p->rigid; b++) {
        double *w = x + p->n + 6 * b;
        tl_vec3 turn = tl_mat3_mul_vec(inverse_inertia(p, b), tl_vec3_load(w + 3));
        tl_vec3_store(tl_vec3_scale(p->inv_mass[b], tl_vec3_load(w)), w);
        tl_vec3_store(turn, w + 3);
    }
}

void tl_flex_diagonal(const tl_flex *p, double *d)
{
    for (int32_t b = 0; b < p->parts; b++) tl_csr_diagonal(p->part[b].H, d + p->part[b].first);
    for (int64_t b = 0; b < p->rigid; b++)
        for (int k = 0; k < 6; k++) {
            double inverse = k < 3 ? p->inv_mass[b] : p->inv_inertia[9 * b + 4 * (k - 3)];
            d[p->n + 6 * b + k] = inverse > 0 ? 1 / inverse : 1;
        }
}

void tl_flex_blocks(const tl_flex *p, const double *D, double *blocks)
{
    const tl_csr *J = p->J;
    for (int64_t c = 0; c < p->contacts; c++)
        for (int a = 0; a < 3; a++)
            for (int b = 0; b <= a; b++) {
                double sum = 0;
                int64_t i = J->start[3 * c + a], j = J->start[3 * c + b];
                while (i < J->start[3 * c + a + 1] && j < J->start[3 * c + b + 1]) {
                    int32_t at = J->col[i], to = J->col[j];
                    if (at < p->n && at == to) sum += J->val[i] * J->val[j] / D[at];
                    if (at >= p->n && to >= p->n) break;
                    if (at <= to) i++;
                    if (to <= at) j++;
                }
                /* rigid ends: few entries, each with each */
                for (i = J->start[3 * c + a]; i < J->start[3 * c + a + 1]; i++)
                    for (j = J->start[3 * c + b]; j < J->start[3 * c + b + 1]; j++) {
                        int64_t at = J->col[i] - p->n, to = J->col[j] - p->n;
                        if (at < 0 || to < 0 || at / 6 != to / 6) continue;
                        double inverse = at % 6 < 3 || to % 6 < 3
                                             ? (at == to ? p->inv_mass[at / 6] : 0)
                                             : p->inv_inertia[9 * (at / 6) + 3 * (at % 6 - 3) + to % 6 - 3];
                        sum += J->val[i] * J->val[j] * inverse;
                    }
                if (a == b && sum == 0) sum = 1;
                blocks[9 * c + 3 * a + b] = blocks[9 * c + 3 * b + a] = sum;
            }
}

int tl_flex_slope(tl_flex_law law, double mu, double radius, double r, const double x[3], double B[9])
{
    double length = hypot(x[1], x[2]), root = sqrt(r);
    int rank = 0;
    memset(B, 0, 9 * sizeof *B);
    if (law == TL_FLEX_STICKY || (law == TL_FLEX_CONE && mu > 0 && length <= mu * x[0])) {
        B[0] = B[4] = B[8] = root;
        return 3;
    }
    if (law == TL_FLEX_PYRAMID || mu == 0) {
        if (x[0] > 0) B[3 * rank++] = root;
        for (int k = 1; k < 3 && law == TL_FLEX_PYRAMID; k++)
            if (fabs(x[k]) < radius) B[3 * rank++ + k] = root;
        return rank;
    }
    if (mu * length <= -x[0]) return 0;
    double q = 1 / (1 + mu * mu), n = (x[0] + mu * length) * q, share = mu * n / length,
           e[2] = {x[1] / length, x[2] / length}, along = sqrt(r * q), across = sqrt(r * share);
    B[0] = along, B[1] = along * mu * e[0], B[2] = along * mu * e[1];
    B[4] = -across * e[1], B[5] = across * e[0];
    return 2;
}

double tl_flex_gyration(const tl_flex *p, int32_t body)
{
    const double *I = p->inv_inertia + 9 * (int64_t)body, turns = (I[0] + I[4] + I[8]) / 3;
    return p->inv_mass[body] > 0 && turns > 0 ? sqrt(p->inv_mass[body] / turns) : 1;
}

/* m per unit of an unknown's time */
static double speed_of_unit(const tl_flex *p, int64_t i)
{
    return i < p->n || (i - p->n) % 6 < 3 ? 1 : tl_flex_gyration(p, (int32_t)((i - p->n) / 6));
}

talus_status tl_flex_certify(const tl_flex *p, const double *lam, const double *dv, tl_flex_certificate *out,
                             tl_arena *a, talus_error *err)
{
    const int64_t n = tl_flex_size(p), m = p->contacts;
    size_t mark = tl_arena_mark(a);
    double *r = TL_TAKE(a, double, n + 1), *d = TL_TAKE(a, double, n + 1), *push = TL_TAKE(a, double, n + 1),
           *u = TL_TAKE(a, double, 3 * m + 1), *blocks = TL_TAKE(a, double, 9 * m + 1);
    if (!r || !d || !push || !u || !blocks) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a certificate");
    *out = (tl_flex_certificate){0};
    tl_flex_diagonal(p, d);
    tl_flex_product(p, dv, r);
    if (m > 0) {
        tl_csr_mul(p->Jt, lam, push);
        tl_csr_mul(p->J, dv, u);
        tl_flex_blocks(p, d, blocks);
    } else {
        memset(push, 0, sizeof *push * (size_t)n);
    }
    for (int64_t i = 0; i < n; i++) {
        bool fixed = i >= p->n && !(p->inv_mass[(i - p->n) / 6] > 0);
        double e = fixed ? 0 : fabs(r[i] + (i < p->n ? p->g[i] : 0) - push[i]) / d[i] * speed_of_unit(p, i);
        if (!(e <= out->balance)) out->balance = isfinite(e) ? e : INFINITY;
    }
    for (int64_t c = 0; c < m; c++) {
        double w_n, w_t, at[3];
        tl_contact_scales(blocks + 9 * c, &w_n, &w_t);
        for (int k = 0; k < 3; k++) at[k] = p->c[3 * c + k] + u[3 * c + k];
        const tl_contact_box *box = tl_flex_box(p, c);
        double e = box ? tl_contact_box_residual(box, blocks + 9 * c, at, lam + 3 * c)
                       : tl_flex_residual(p->law, p->mu[c], w_n, w_t, at, lam + 3 * c);
        if (!(e <= out->contact)) out->contact = isfinite(e) ? e : INFINITY;
    }
    out->residual = fmax(out->contact, out->balance);
    tl_arena_release(a, mark);
    return TALUS_OK;
}
