#include "model/coupling/coupled.h"

static void gradient(const void *ctx, double *g) { tl_coupling_pressure_gradient(&((const tl_system *)ctx)->c, g); }

static void push(const void *ctx, const double *dp)
{
    tl_coupling c = ((const tl_system *)ctx)->c; /* its arrays are written */
    tl_coupling_push_pressure(&c, dp);
}

talus_status tl_system_coupled(tl_coupled *out, tl_system *s, double *p, tl_cones *cones, bool unilateral, tl_arena *a,
                               talus_error *err)
{
    const tl_coupling *c = &s->c;
    *out = (tl_coupled){.pressure = tl_system_pressure(s),
                        .p = p,
                        .gradient = gradient,
                        .push = push,
                        .ctx = s,
                        .per_g = s->density * c->dx * c->dx / c->dt,
                        .per_u = s->density / (c->dx * c->dt * c->dt),
                        .impulse = c->dt * c->dx * c->dx * c->dx,
                        .wet = s->wet,
                        .faces = c->faces,
                        .u = c->u,
                        .spacing = c->dx,
                        .v = c->v,
                        .cones = cones,
                        .arena = a};
    out->pressure.unilateral = unilateral && !s->viscous.s;
    if (s->viscous.s) {
        if (!(out->viscous = TL_TAKE(a, tl_coupled_viscous, 1)))
            return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a coupled problem");
        TL_TRY(tl_viscous_coupled(out->viscous, &s->viscous, p, a, err));
    }
    if (!cones) return TALUS_OK;
    double *mass = TL_TAKE(a, double, c->faces);
    if (!mass) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a coupled problem");
    for (int32_t f = 0; f < c->faces; f++) mass[f] = c->mobility[f] > 0 ? c->fluid[f] / c->mobility[f] : 0;
    out->mass = mass;
    return TALUS_OK;
}

void tl_system_contacts(tl_coupled *out, const tl_rigid_problem *p, double *lam)
{
    out->contact = p->problem;
    out->bodies = p->bodies;
    out->bias = p->bias;
    out->lam = lam;
}
