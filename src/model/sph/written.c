#include "model/sph/written.h"

#include <string.h>

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to write a problem of particles down");
}

/* A force of the size that moves its own residual by one: differences then have all digits. */
static double size_of(const tl_projected *p, int64_t j)
{
    const int64_t pressures = (int64_t)p->pressures + p->contacts;
    const double d = j < pressures ? p->D[j] : p->slip[(j - pressures) / 3];
    return d > 0 ? 1 / d : 0;
}

typedef struct unit {
    tl_sph_step *s;
    const tl_projected *p;
    double *x; /* [n] zeros */
} unit;

static void column_of(void *ctx, int32_t j, double *y)
{
    const unit *u = ctx;
    const double size = size_of(u->p, j);
    u->x[j] = size;
    tl_sph_residual(u->s, u->x, y);
    u->x[j] = 0;
    for (int64_t i = 0; i < u->p->space.n; i++) y[i] = size > 0 ? (y[i] - u->p->c[i]) / size : 0;
}

talus_status tl_sph_write_down(tl_sph_step *s, tl_projected *out, tl_csr *A, tl_arena *a, talus_error *err)
{
    const int64_t n = s->space.n, m = s->contacts;
    if (n > TL_SPH_WRITTEN_MAX)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "%lld unknowns without explicit rows; up to %d are written out",
                       (long long)n, TL_SPH_WRITTEN_MAX);
    if (s->joined) return TL_FAIL(err, TALUS_UNSUPPORTED, "joints are part of it, whose rows no capture holds");
    if (s->given) return TL_FAIL(err, TALUS_UNSUPPORTED, "friction is given, not solved for");
    double *c = TL_TAKE(a, double, n), *x = TL_TAKE_ZERO(a, double, n), *D = TL_TAKE(a, double, s->fluid + m),
           *of_contacts = TL_TAKE(a, double, 4 * m);
    int32_t *active = TL_TAKE(a, int32_t, m);
    if (!c || !x || !D || !of_contacts || !active) return no_memory(err);
    double *max = of_contacts, *slip = max + m, *friction = slip + m, *group = friction + m;
    memcpy(D, s->D, sizeof *D * (size_t)s->fluid);
    for (int32_t k = 0, groups = -1; k < m; k++) { /* contacts are by body */
        const tl_sph_contact *q = &s->contact[k];
        groups += k == 0 || s->contact[k - 1].body != q->body;
        D[s->fluid + k] = q->far ? 0 : q->D;
        max[k] = q->max;
        slip[k] = q->Dl > 0 ? q->Dl : 0;
        friction[k] = q->mu * q->force;
        group[k] = groups;
    }
    tl_sph_residual(s, x, c);
    *out = (tl_projected){.space = tl_space_local(n),
                          .pressures = s->fluid,
                          .contacts = s->contacts,
                          .A = A,
                          .c = c,
                          .D = D,
                          .max = max,
                          .slip = slip,
                          .friction = friction,
                          .group = group,
                          .relax = s->relax,
                          .rate = s->dt / s->sph->h,
                          .strict = s->strict,
                          .worst = s->scene->sph.worst,
                          .active = active};
    return tl_csr_from_columns(A, (int32_t)n, (int32_t)n, column_of, &(unit){s, out, x}, err);
}
