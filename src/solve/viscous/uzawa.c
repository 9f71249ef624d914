/* Uzawa's conjugate gradients for kind "viscous", for comparison [Takahashi2022 app. D]: pressures alone are unknown,
 * nothing preconditions them, and every product solves for the velocities of liquid and solids. Those inner solves are
 * conjugate gradients with the preconditioner of the method that this is compared with. */
#include <math.h>
#include <string.h>

#include "base/sum.h"
#include "solve/viscous/levels.h"
#include "solve/viscous/method.h"

#define INNER 1e-8       /* of their right side: what inner solves leave at most [Takahashi2022 sec. 4] */
#define INNER_SHARE 1e-2 /* and of the tolerance */
#define INNER_MAX 1000

typedef struct uzawa {
    const tl_viscous *p;
    tl_face_levels *levels;
    int64_t n;              /* faces and others */
    double *in, *out;       /* [n + cells] of products */
    double *r, *z, *d, *y;  /* [n] inner */
    double *left, *way, *S; /* [cells] outer */
} uzawa;

/* out = rows of velocities of A (u, q); NULL: 0 */
static void product(uzawa *s, const double *u, const double *q, tl_work *w)
{
    const size_t n = (size_t)s->n, cells = (size_t)s->p->cells;
    if (u)
        memcpy(s->in, u, sizeof *u * n);
    else
        memset(s->in, 0, sizeof *s->in * n);
    if (q)
        memcpy(s->in + n, q, sizeof *q * cells);
    else
        memset(s->in + n, 0, sizeof *s->in * cells);
    s->p->product(s->p->ctx, s->in, s->out);
    w->products++;
}

static void precondition(uzawa *s, const double *r, double *z)
{
    const tl_viscous *p = s->p;
    tl_face_levels_cycle(s->levels, r, z);
    if (p->inverse) {
        p->inverse(p->inverse_of, r + p->faces, z + p->faces);
        return;
    }
    for (int64_t b = 0; b < p->others / 6; b++)
        for (int i = 0; i < 6; i++) {
            double sum = 0;
            for (int j = 0; j < 6; j++) sum += p->solid[36 * b + 6 * i + j] * r[p->faces + 6 * b + j];
            z[p->faces + 6 * b + i] = sum;
        }
}

/* y = K^-1 r; s->r holds r, and is used up. */
static bool invert(uzawa *s, double eta, tl_work *w)
{
    const int64_t n = s->n;
    memset(s->y, 0, sizeof *s->y * (size_t)n);
    precondition(s, s->r, s->z);
    w->preconds++;
    memcpy(s->d, s->z, sizeof *s->d * (size_t)n);
    double rz = tl_dot(n, s->r, s->z);
    const double goal = eta * eta * rz;
    for (int k = 0; k < INNER_MAX && rz > goal; k++) {
        product(s, s->d, NULL, w);
        const double curvature = tl_dot(n, s->d, s->out), a = rz / curvature;
        if (!(curvature > 0)) return false;
        for (int64_t i = 0; i < n; i++) {
            s->y[i] += a * s->d[i];
            s->r[i] -= a * s->out[i];
        }
        precondition(s, s->r, s->z);
        w->preconds++;
        const double next = tl_dot(n, s->r, s->z), share = next / rz;
        rz = next;
        for (int64_t i = 0; i < n; i++) s->d[i] = s->z[i] + share * s->d[i];
    }
    return isfinite(rz);
}

static bool take(uzawa *s, tl_arena *a)
{
    const int64_t cells = s->p->cells;
    struct {
        double **to;
        int64_t n;
    } const room[] = {{&s->in, s->n + cells}, {&s->out, s->n + cells}, {&s->r, s->n},    {&s->z, s->n}, {&s->d, s->n},
                      {&s->y, s->n},          {&s->left, cells},       {&s->way, cells}, {&s->S, cells}};
    for (size_t k = 0; k < sizeof room / sizeof *room; k++)
        if (!(*room[k].to = TL_TAKE(a, double, room[k].n + 1))) return false;
    return true;
}

static tl_outcome run(uzawa *s, const double *b, const tl_stop *stop, double *x, tl_work *w)
{
    const int64_t n = s->n, cells = s->p->cells;
    const double eta = fmin(INNER, INNER_SHARE * stop->tolerance);
    double *u = x, *q = x + n;
    memset(q, 0, sizeof *q * (size_t)cells);
    memcpy(s->r, b, sizeof *b * (size_t)n);
    bool sound = invert(s, eta, w);
    memcpy(u, s->y, sizeof *u * (size_t)n);
    product(s, u, NULL, w);
    for (int64_t i = 0; i < cells; i++) s->way[i] = s->left[i] = s->out[n + i] - b[n + i];
    double rr = tl_dot(cells, s->left, s->left), first = fmax(rr, tl_dot(cells, b + n, b + n));
    int k = 0;
    for (; sound && rr > stop->tolerance * stop->tolerance * first; k++) {
        if ((stop->max_iterations && k >= stop->max_iterations) || tl_stop_spent(stop, w)) break;
        product(s, NULL, s->way, w);
        memcpy(s->r, s->out, sizeof *s->r * (size_t)n);
        sound = invert(s, eta, w);
        product(s, s->y, NULL, w);
        memcpy(s->S, s->out + n, sizeof *s->S * (size_t)cells);
        const double curvature = tl_dot(cells, s->way, s->S), a = rr / curvature;
        if (!(curvature > 0)) sound = false;
        if (!sound) break;
        for (int64_t i = 0; i < n; i++) u[i] -= a * s->y[i];
        for (int64_t i = 0; i < cells; i++) {
            q[i] += a * s->way[i];
            s->left[i] -= a * s->S[i];
        }
        const double next = tl_dot(cells, s->left, s->left), share = next / rr;
        rr = next;
        for (int64_t i = 0; i < cells; i++) s->way[i] = s->left[i] + share * s->way[i];
    }
    const double left = first > 0 ? sqrt(rr / first) : 0;
    return (tl_outcome){!sound                    ? TL_BROKE_DOWN
                        : left <= stop->tolerance ? TL_CONVERGED
                                                  : TL_OUT_OF_ITERATIONS,
                        k, left};
}

talus_status tl_viscous_uzawa(const tl_viscous *p, const double *b, const tl_stop *stop, double *x, tl_arena *a,
                              tl_work *w, tl_outcome *out, talus_error *err)
{
    uzawa s = {.p = p, .n = p->faces + p->others};
    size_t mark = tl_arena_mark(a);
    if (!take(&s, a)) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the solve of a viscous liquid");
    TL_TRY(tl_face_levels_build(&s.levels, &p->K, p->axis, p->ijk, p->period, a, err));
    *out = run(&s, b, stop, x, w);
    tl_arena_release(a, mark);
    return TALUS_OK;
}
