#include "solve/coupled/apart.h"

#include "solve/coupled/work.h"

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a block of a coupled problem");
}

talus_status tl_coupled_field_apart(tl_coupled *c, tl_pressure *out, talus_error *err)
{
    const tl_coupled_work *w = c->work;
    double *b = TL_TAKE(c->arena, double, w->n + 1);
    if (!b) return no_memory(err);
    *out = w->alone;
    if (out->extra.add) {
        out->extra.columns = 6 * w->moving;
        out->extra.gather = tl_coupled_gather_alone;
        out->extra.scatter = tl_coupled_scatter_alone;
    }
    c->gradient(c->ctx, w->g);
    tl_pressure_product(out, c->p, b);
    for (int32_t i = 0; i < w->n; i++) b[i] -= c->per_g * w->g[i];
    out->b = b;
    return TALUS_OK;
}

talus_status tl_coupled_contact_apart(tl_coupled *c, tl_contact *out, talus_error *err)
{
    const int64_t rows = c->contact.space->n, six = 6 * (int64_t)c->bodies.count;
    tl_contact_bodies *bodies = TL_TAKE(c->arena, tl_contact_bodies, 1);
    double *v = TL_TAKE(c->arena, double, six + 1), *q = TL_TAKE(c->arena, double, rows + 1);
    if (!bodies || !v || !q) return no_memory(err);
    /* velocities without the contacts: what they would be if the impulses were taken back */
    for (int64_t i = 0; i < rows; i++) q[i] = -c->lam[i];
    *bodies = c->bodies;
    bodies->v_free = c->v;
    tl_contact_velocities(bodies, q, v);
    bodies->v_free = v;
    tl_contact_free_velocity(bodies, c->bias, q);
    *out = c->contact;
    out->bodies = bodies;
    out->q = q;
    return TALUS_OK;
}
