/* Certificate of a coupled problem, at the velocities as they are: apart from the blocks. */
#include <math.h>
#include <string.h>

#include "solve/coupled/work.h"

static double relative(double e, double b) { return b > 0 ? e / b : e; }

/* b is A p - g: what the pressure has to undo, given the contact forces that are there. */
static double pressure_error(const tl_coupled *c)
{
    const tl_coupled_work *w = c->work;
    double max = 0, b = w->free_pressure;
    c->gradient(c->ctx, w->g);
    tl_pressure_refresh(&w->alone, c->p);
    tl_pressure_product(&w->alone, c->p, w->b);
    for (int32_t i = 0; i < w->n; i++) {
        double d = (c->pressure.d[i] + w->diag[i]) / c->per_g;
        b = fmax(b, fabs(w->b[i] / c->per_g - w->g[i]));
        double e = fabs(c->pressure.unilateral ? fmin(d * c->p[i], w->g[i]) : w->g[i]);
        max = e > max || isnan(e) ? e : max;
    }
    return relative(tl_coupled_max(c, max), tl_coupled_max(c, b));
}

/* Fastest that contacts close without normal forces, given pressure and friction as they are, or before any force,
 * m/s. */
static double closing(tl_coupled *c)
{
    tl_coupled_work *w = c->work;
    double *v = c->v, max = w->free_normal;
    memset(w->dl, 0, sizeof *w->dl * 3 * (size_t)w->m);
    for (int32_t j = 0; j < w->points; j++) w->dl[3 * (int64_t)j] = -c->lam[3 * (int64_t)j];
    memcpy(w->base, v, sizeof *w->base * 6 * (size_t)w->bodies);
    tl_coupled_push_contacts(c, w->dl);
    tl_csr_mul(c->bodies.J, v, w->q);
    memcpy(v, w->base, sizeof *v * 6 * (size_t)w->bodies);
    for (int32_t j = 0; j < w->points; j++) max = fmax(max, -(w->q[3 * (int64_t)j] + c->bias[3 * (int64_t)j]));
    return max;
}

/* The largest first-order decrease that is left over E(z), with u0 the slip without friction: A z = u - u0. */
static double tangent_gap(tl_coupled *c)
{
    tl_coupled_work *w = c->work;
    double gap = 0, energy = 0, rest = 0;
    memset(w->dl, 0, sizeof *w->dl * 3 * (size_t)w->m);
    for (int32_t j = 0; j < w->points; j++) {
        const double *l = c->lam + 3 * (int64_t)j, *u = w->q + 3 * (int64_t)j;
        gap += (u[1] * l[1] + u[2] * l[2]) + c->contact.mu[j] * fmax(l[0], 0) * hypot(u[1], u[2]);
        energy += 0.5 * (u[1] * l[1] + u[2] * l[2]);
        rest += TL_COUPLED_REST * w->b_normal * c->contact.mu[j] * fmax(l[0], 0);
        w->dl[3 * (int64_t)j + 1] = -l[1];
        w->dl[3 * (int64_t)j + 2] = -l[2];
    }
    double *v = c->v;
    memcpy(w->base, v, sizeof *w->base * 6 * (size_t)w->bodies);
    tl_coupled_push_contacts(c, w->dl);
    tl_csr_mul(c->bodies.J, v, w->q);
    memcpy(v, w->base, sizeof *v * 6 * (size_t)w->bodies);
    for (int32_t j = 0; j < w->points; j++) {
        const double *l = c->lam + 3 * (int64_t)j, *u0 = w->q + 3 * (int64_t)j;
        energy += 0.5 * (u0[1] * l[1] + u0[2] * l[2]);
    }
    return gap > 0 ? gap / fmax(fabs(energy), rest) : 0;
}

/* q: velocities of all rows. */
static double joint_error(const tl_coupled *c)
{
    const tl_coupled_work *w = c->work;
    double max = 0;
    for (int32_t j = w->points; j < w->m; j++) {
        double u[3];
        for (int k = 0; k < 3; k++) u[k] = w->q[3 * (int64_t)j + k] + c->bias[3 * (int64_t)j + k];
        double e = tl_contact_box_residual(tl_coupled_box(c, j), c->contact.blocks + 9 * (int64_t)j, u,
                                           c->lam + 3 * (int64_t)j);
        max = e > max || isnan(e) ? e : max;
    }
    return relative(max, w->b_joint);
}

talus_status tl_coupled_certify(tl_coupled *c, tl_coupled_certificate *to, talus_error *err)
{
    tl_coupled_work *w = c->work;
    tl_coupled_certificate out = {.pressure = pressure_error(c)};
    if (c->cones) TL_TRY(tl_cones_error(c->cones, c->p, c->arena, &out.stress, err));
    if (c->viscous) out.stress = tl_coupled_viscous_error(c);
    *to = out;
    if (!w->m) return TALUS_OK;
    double b = closing(c);
    tl_csr_mul(c->bodies.J, c->v, w->q);
    out.joint = joint_error(c);
    for (int32_t j = 0; j < w->points; j++) {
        double g = w->q[3 * (int64_t)j] + c->bias[3 * (int64_t)j];
        double e = fabs(fmin(c->contact.blocks[9 * (int64_t)j] * c->lam[3 * (int64_t)j], g));
        out.normal = e > out.normal || isnan(e) ? e : out.normal;
    }
    out.normal = relative(out.normal, b);
    out.tangent = tangent_gap(c);
    *to = out;
    return TALUS_OK;
}
