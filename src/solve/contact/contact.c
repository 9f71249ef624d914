#include "solve/contact/problem.h"

#include "base/parallel.h"
#include "base/sum.h"

talus_status tl_contact_check(const tl_contact *p, talus_error *err)
{
    int64_t n = p->space->n;
    if (p->bodies && p->space->parts > 1)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "force balance of bodies needs all contacts on one part, got %d parts",
                       (int)p->space->parts);
    if (n % 3 != 0)
        return TL_FAIL(err, TALUS_BAD_INPUT, "a contact problem has 3 unknowns per contact, got %lld in all",
                       (long long)n);
    for (int64_t c = 0; c < n / 3; c++) {
        const double *b = p->blocks + 9 * c, *q = p->q + 3 * c;
        if (!((p->mu[c] >= 0 || p->resists) && isfinite(p->mu[c])))
            return TL_FAIL(err, TALUS_BAD_INPUT, "contact %lld: mu must be >= 0 and finite, got %g", (long long)c,
                           p->mu[c]);
        if (!isfinite(q[0]) || !isfinite(q[1]) || !isfinite(q[2]))
            return TL_FAIL(err, TALUS_BAD_INPUT, "contact %lld: free velocity (%g, %g, %g) is not finite", (long long)c,
                           q[0], q[1], q[2]);
        for (int k = 0; k < 3 && c >= n / 3 - p->boxes; k++) {
            const tl_contact_box *x = &p->box[c - (n / 3 - p->boxes)];
            if (!(x->lo[k] <= x->hi[k] && x->give[k] >= 0 && isfinite(x->give[k])))
                return TL_FAIL(err, TALUS_BAD_INPUT, "joint block %lld: row %d has bounds (%g, %g), compliance %g",
                               (long long)c, k, x->lo[k], x->hi[k], x->give[k]);
        }
        for (int k = 0; k < 9; k++)
            if (!isfinite(b[k]))
                return TL_FAIL(err, TALUS_BAD_INPUT, "contact %lld: diagonal block entry %d is %g", (long long)c, k,
                               b[k]);
        if (!(b[0] > 0 && b[4] > 0 && b[8] > 0))
            return TL_FAIL(err, TALUS_BAD_INPUT, "contact %lld: diagonal of its block must be > 0, got (%g, %g, %g)",
                           (long long)c, b[0], b[4], b[8]);
        /* rounding of a product J M^-1 J^T, no more */
        double far = fmax(fabs(b[1] - b[3]), fmax(fabs(b[2] - b[6]), fabs(b[5] - b[7])));
        if (!(far <= 1e-9 * (b[0] + b[4] + b[8])))
            return TL_FAIL(err, TALUS_BAD_INPUT, "contact %lld: diagonal block is not symmetric (off by %g)",
                           (long long)c, far);
    }
    return TALUS_OK;
}

/* (x, y) moved into the disc of radius r >= 0. */
static void to_disc(double r, double *x, double *y)
{
    double length = hypot(*x, *y);
    if (length > r) {
        *x *= r / length;
        *y *= r / length;
    }
}

double tl_contact_box_residual(const tl_contact_box *box, const double *W, const double u[3], const double lam[3])
{
    double max = 0;
    for (int k = 0; k < 3; k++) {
        const double w = 1 / (W[4 * k] + box->give[k]), x = lam[k] - w * (u[k] + box->give[k] * lam[k]);
        const double e = fabs(lam[k] - tl_contact_clamp(x, box->lo[k], box->hi[k])) / w;
        if (!(e <= max)) max = e;
    }
    return max;
}

static double balance(const tl_contact_bodies *bodies, const double *v)
{
    double out = 0, free_fall = 0;
    for (int32_t i = 0; i < bodies->count; i++) {
        if (!(bodies->inv_mass[i] > 0)) continue;
        const double *f = bodies->v_free + 6 * (int64_t)i, *o = v + 6 * (int64_t)i;
        out += sqrt(o[0] * o[0] + o[1] * o[1] + o[2] * o[2]) / bodies->inv_mass[i];
        free_fall += sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]) / bodies->inv_mass[i];
    }
    return out == 0 ? 0 : out / free_fall;
}

/* The takes below; an empty take still uses 64 bytes. */
size_t tl_contact_certify_bytes(const tl_contact *p)
{
    int64_t contacts = p->space->n / 3, bodies = p->bodies ? p->bodies->count : 0;
    return tl_space_room(p->space) + 4 * TL_ARENA_ROOM(double, contacts) + TL_ARENA_ROOM(double, 6 * bodies) + 6 * 64;
}

talus_status tl_contact_certify(const tl_contact *p, double *lam, tl_contact_certificate *out, tl_arena *a,
                                talus_error *err)
{
    const tl_space *s = p->space;
    int64_t m = s->n / 3;
    TL_ASSERT(!p->bodies || s->parts == 1);

    TL_TRY(tl_space_reserve(s, a, tl_contact_certify_bytes(p), err));
    size_t mark = tl_arena_mark(a);
    double *u = tl_space_take(s, a);
    double *e_n = TL_TAKE(a, double, m), *e_t = TL_TAKE(a, double, m);
    double *outside = TL_TAKE(a, double, m), *normal = TL_TAKE(a, double, m);

    tl_linop_apply(&p->W, s, lam, u, NULL);
#pragma omp parallel for schedule(static) if (m >= TL_PARALLEL_MIN)
    for (int64_t c = 0; c < m; c++) {
        const double *l = lam + 3 * c, *q = p->q + 3 * c;
        if (c >= m - p->boxes) {
            const double at[3] = {u[3 * c] + q[0], u[3 * c + 1] + q[1], u[3 * c + 2] + q[2]};
            e_n[c] = tl_contact_box_residual(&p->box[c - (m - p->boxes)], p->blocks + 9 * c, at, l);
            e_t[c] = normal[c] = outside[c] = 0;
            continue;
        }
        double w_n, w_t, u_n = u[3 * c] + q[0], u_1 = u[3 * c + 1] + q[1], u_2 = u[3 * c + 2] + q[2];
        tl_contact_scales(p->blocks + 9 * c, &w_n, &w_t);

        double push = p->mu[c] < 0 ? 0 : l[0] - w_n * u_n;
        e_n[c] = (l[0] - (push < 0 ? 0 : push)) / w_n;

        double radius = p->mu[c] < 0 ? -p->mu[c]
                        : l[0] < 0   ? 0
                                     : p->mu[c] * l[0],
               x = l[1] - w_t * u_1, y = l[2] - w_t * u_2;
        to_disc(radius, &x, &y);
        e_t[c] = hypot(l[1] - x, l[2] - y) / w_t;

        double slip = hypot(l[1], l[2]) - radius;
        normal[c] = l[0];
        outside[c] = slip > -l[0] ? slip : -l[0];
        if (outside[c] < 0) outside[c] = 0;
    }

    *out = (tl_contact_certificate){.balance = NAN};
    out->normal = tl_space_max(s, tl_max_abs(m, e_n));
    out->tangent = tl_space_max(s, tl_max_abs(m, e_t));
    out->cone_violation = tl_space_max(s, tl_max_abs(m, outside));
    out->normal_sum = tl_space_sum(s, tl_sum(m, normal));
    out->residual = out->tangent > out->normal || isnan(out->tangent) ? out->tangent : out->normal;
    if (p->bodies) {
        double *v = TL_TAKE(a, double, 6 * (int64_t)p->bodies->count);
        tl_contact_velocities(p->bodies, lam, v);
        out->balance = balance(p->bodies, v);
    }
    tl_arena_release(a, mark);
    return TALUS_OK;
}
