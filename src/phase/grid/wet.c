#include "phase/grid/wet.h"

#include <math.h>
#include <string.h>

#include "base/sum.h"
#include "phase/accounts/accounts.h"

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for elastic bodies in a liquid");
}

/* ---- surfaces ---- */

static talus_status seal(tl_wet *w, talus_error *err)
{
    w->thin = INFINITY;
    for (int32_t k = 0; k < w->start.count; k++) {
        tl_skin *s = &w->start.skin[k];
        if (!s->lg) continue;
        const tl_lg_body *b = &s->lg->body[s->body];
        double least;
        TL_TRY(tl_clip_seal((tl_clip *)s->clip, b->triangles, (const int32_t(*)[3])s->lg->surface + b->triangle, s->x,
                            &least, w->flow->arena, err));
        w->thin = fmin(w->thin, least);
    }
    return TALUS_OK;
}

talus_status tl_wet_begin(tl_wet *w, tl_elastic_trial *trial, tl_flow *flow, talus_error *err)
{
    tl_arena *a = flow->arena;
    const int32_t bodies = flow->rigid->scene_count;
    const tl_lg *lg = trial->lg;
    *w = (tl_wet){.trial = trial, .flow = flow};
    uint8_t *held = TL_TAKE_ZERO(a, uint8_t, bodies + 1);
    if (!held) return no_memory(err);
    for (int32_t i = 0; i < lg->nodes; i++) held[lg->body[lg->owner[i]].body] |= trial->fem->place[i] < 0;
    for (int32_t k = 0; k < lg->anchors; k++) held[lg->body[lg->owner[lg->anchor[k].vertex]].body] = 1;
    TL_TRY(tl_skins_make(&w->start, lg, bodies, trial->now->q, trial->now->v, a, err));
    TL_TRY(tl_skins_clip(&w->start, flow->set->frame.origin, flow->set->frame.dx, a, err));
    if (flow->scene->solver.seal) TL_TRY(seal(w, err));
    w->soft = (tl_flow_soft){.start = &w->start, .held = held};
    flow->soft = &w->soft;
    trial->wet = w;
    return TALUS_OK;
}

talus_status tl_wet_link(tl_wet *w, talus_error *err)
{
    const tl_elastic_trial *s = w->trial;
    int32_t *pair = TL_TAKE(w->flow->arena, int32_t, 2 * (int64_t)s->rows.soft + 1), count = 0;
    if (!pair) return no_memory(err);
    if (s->rows.contacts) tl_fem_rows_velocity(&s->rows, s->v_star, s->bodies->v_free, s->u);
    for (int32_t c = 0; c < s->rows.soft; c++) {
        const tl_lg_contact *k = &s->contacts.contact[c];
        if (!(s->lam[3 * (int64_t)c] > 0) && s->u[3 * (int64_t)c] > 0) continue;
        if (k->body_a < 0 || k->body_b < 0 || k->body_a == k->body_b) continue;
        pair[2 * count] = k->body_a;
        pair[2 * count++ + 1] = k->body_b;
    }
    w->soft.pairs = count;
    w->soft.pair = pair;
    return TALUS_OK;
}

/* ---- operators ---- */

int64_t tl_wet_unknown(const tl_elastic_trial *s, int32_t node, int c)
{
    int32_t place = s->fem->place[node];
    return place < 0 ? -1 : s->data->first[s->lg->owner[node]] + 3 * (int64_t)place + c;
}

/* Columns of unknown nodes as they come, then those of free rigid bodies, G^T J with the other sign. */
static talus_status join_columns(tl_wet *w, talus_error *err)
{
    const tl_elastic_trial *s = w->trial;
    const tl_system *y = &w->flow->system;
    const tl_body_cells *wet = &y->wet;
    const tl_csr *A = &w->ops.Ft;
    tl_arena *a = w->flow->arena;
    const int64_t n = s->data->first[s->fem->bodies], max = A->start[A->rows] + 6 * (int64_t)wet->rows;
    tl_csr *Zt = &w->Zt;
    *Zt = (tl_csr){A->rows, (int32_t)(n + 6 * (int64_t)w->flow->rigid->count),
                   TL_TAKE_ZERO(a, int64_t, (int64_t)A->rows + 1), TL_TAKE(a, int32_t, max + 1),
                   TL_TAKE(a, double, max + 1)};
    int32_t *next = TL_TAKE(a, int32_t, wet->bodies + 1);
    if (!Zt->start || !Zt->col || !Zt->val || !next) return no_memory(err);
    for (int32_t b = 0; b < wet->bodies; b++) next[b] = wet->first[b];
    int64_t at = 0;
    for (int32_t i = 0; i < A->rows; i++) {
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
            int64_t to = tl_wet_unknown(s, A->col[k] / 3, A->col[k] % 3);
            if (to < 0) continue;
            Zt->col[at] = (int32_t)to;
            Zt->val[at++] = A->val[k];
        }
        for (int32_t b = 0; b < wet->bodies; b++) {
            if (next[b] >= wet->first[b + 1] || wet->cell[next[b]] != i) continue;
            for (int k = 0; k < 6; k++) {
                Zt->col[at] = (int32_t)(n + 6 * (int64_t)b + k);
                Zt->val[at++] = -wet->val[6 * (int64_t)next[b] + k];
            }
            next[b]++;
        }
        Zt->start[i + 1] = at;
    }
    return tl_soft_transpose(&w->Z, Zt, a, err);
}

/* Motions of each body as if it were rigid, about its middle. */
static talus_status find_modes(tl_wet *w, talus_error *err)
{
    const tl_elastic_trial *s = w->trial;
    const int64_t n = s->data->first[s->fem->bodies];
    w->modes = TL_TAKE_ZERO(w->flow->arena, double, TL_DUAL_MODES *n + 1);
    if (!w->modes) return no_memory(err);
    for (int b = 0; b < s->fem->bodies; b++) {
        const tl_fem_body *body = &s->fem->body[b];
        tl_vec3 middle = {0, 0, 0};
        for (int32_t i = body->node; i < body->node + body->nodes; i++)
            middle = tl_vec3_add_scaled(middle, 1.0 / body->nodes, tl_vec3_load(s->now->q + 3 * (int64_t)i));
        for (int32_t i = body->node; i < body->node + body->nodes; i++) {
            if (s->fem->place[i] < 0) continue;
            tl_vec3 r = tl_vec3_sub(tl_vec3_load(s->now->q + 3 * (int64_t)i), middle);
            const double turn[3][3] = {{0, r.z, -r.y}, {-r.z, 0, r.x}, {r.y, -r.x, 0}}; /* [axis][spin about] */
            for (int c = 0; c < 3; c++) {
                double *m = w->modes + TL_DUAL_MODES * tl_wet_unknown(s, i, c);
                m[c] = 1;
                for (int k = 0; k < 3; k++) m[3 + k] = turn[c][k];
            }
        }
    }
    return TALUS_OK;
}

talus_status tl_wet_assemble(tl_wet *w, talus_error *err)
{
    tl_flow *f = w->flow;
    tl_elastic_trial *s = w->trial;
    const tl_soft_domain d = {.skins = &w->start,
                              .grid = &f->grid,
                              .fractions = &f->fractions,
                              .pieces = f->pieces.of ? &f->pieces : NULL,
                              .system = &f->system,
                              .gravity = f->scene->gravity,
                              .form = f->scene->solver.coupling,
                              .plain = f->stress || !f->scene->solver.offset};
    TL_TRY(tl_soft_build(&w->ops, &d, f->arena, err));
    if (f->stress) TL_TRY(tl_sandy_assemble(&w->sandy, s, f, &d, err));
    TL_TRY(join_columns(w, err));
    TL_TRY(find_modes(w, err));
    w->outflow = TL_TAKE(f->arena, double, f->system.c.cells + 1);
    s->load = TL_TAKE_ZERO(f->arena, double, 3 * (int64_t)s->lg->nodes + 6 * (int64_t)f->rigid->count + 1);
    s->offset = TL_TAKE_ZERO(f->arena, double, 3 * (int64_t)s->lg->nodes + 1);
    s->follow = TL_TAKE_ZERO(f->arena, double, 3 * (int64_t)s->lg->nodes + 1);
    w->follows = f->scene->solver.follow;
    if (!w->outflow || !s->load || !s->offset || !s->follow) return no_memory(err);
    for (int32_t i = 0; i < s->lg->nodes; i++)
        for (int64_t k = 3 * (int64_t)i; k < 3 * (int64_t)i + 3; k++) {
            s->offset[k] = f->dt * w->ops.offset[k];
            if (s->fem->place[i] >= 0) s->v_star[k] += s->offset[k] / s->lg->mass[i];
        }
    return f->system.viscous.s ? tl_wet_viscous_make(w, &d, err) : TALUS_OK;
}

/* ---- the problem ---- */

static void field(const void *ctx, double *g)
{
    const tl_coupling *c = &((const tl_flow *)ctx)->system.c;
    for (int32_t f = 0; f < c->faces; f++) c->y[f] = c->fluid[f] * c->u[f];
    tl_coupling_adjoint(c, c->y, g);
    for (int32_t i = 0; i < c->cells; i++) g[i] = -g[i];
}

static void push(const void *ctx, const double *dp)
{
    const tl_coupling *c = &((const tl_flow *)ctx)->system.c;
    tl_coupling_gradient(c, dp, c->y);
    for (int32_t f = 0; f < c->faces; f++) c->u[f] -= c->dt * (c->mobility[f] * c->y[f]);
}

static void pose_sand(tl_wet *w, const tl_wet_options *o)
{
    const tl_coupling *c = &w->sandy.c;
    tl_sandy_pose(&w->sandy, o->friction, o->cones, o->warm);
    w->sand = (tl_dual_cones){.cones = &w->sandy.cones,
                              .load = tl_sandy_load,
                              .faces = c->faces,
                              .u = c->u,
                              .mass = w->sandy.mass,
                              .u_free = w->sandy.u_free,
                              .u_last = w->sandy.u_last,
                              .spacing = c->dx};
    w->dual.sand = &w->sand;
}

talus_status tl_wet_pose(tl_wet *w, const tl_wet_options *o, talus_error *err)
{
    tl_flow *f = w->flow;
    tl_system *y = &f->system;
    const tl_coupling *c = &y->c;
    (void)err;
    w->dual = (tl_dual){.pressure = tl_system_pressure(y),
                        .field = field,
                        .push = push,
                        .ctx = f,
                        .faces = c->faces,
                        .u = c->u,
                        .spacing = c->dx,
                        .per_g = y->density * c->dx * c->dx / c->dt,
                        .per_u = y->density / (c->dx * c->dt * c->dt),
                        .impulse = c->dt * c->dx * c->dx * c->dx,
                        .outflow = w->outflow,
                        .Z = &w->Z,
                        .Zt = &w->Zt,
                        .flex = &w->trial->flex,
                        .modes = w->modes,
                        .viscous = w->viscous.ctx ? &w->viscous : NULL};
    w->dual.pressure.unilateral = o->unilateral && !w->viscous.ctx;
    w->solver = (tl_dual_solver){.p = &w->dual,
                                 .scheme = o->scheme,
                                 .method = o->method,
                                 .contact = &w->contact,
                                 .tolerance = f->scene->solver.tolerance,
                                 .sweeps = f->scene->solver.sweeps,
                                 .precond = f->scene->solver.elastic.precond,
                                 .pressure_iterations = f->scene->solver.pressure.iterations,
                                 .contact_iterations = f->scene->solver.contact.iterations,
                                 .plain_sweeps = !f->set->rules.mix,
                                 .started = o->warm,
                                 .arena = f->arena};
    tl_system_load(y, f->faces.u);
    if (o->cones) pose_sand(w, o);
    if (o->warm && !w->viscous.ctx)
        push(f, f->p);
    else if (!o->warm)
        memset(f->p, 0, sizeof *f->p * (size_t)c->cells);
    return TALUS_OK;
}

/* Contacts are others: room, plans and the route's own data. */
static talus_status begin_contacts(tl_wet *w, talus_error *err)
{
    tl_elastic_trial *s = w->trial;
    tl_arena *a = w->flow->arena;
    w->solver.g = TL_TAKE(a, double, s->flex.n + 1);
    w->solver.c = TL_TAKE(a, double, 3 * (int64_t)s->flex.contacts + 1);
    if (!w->solver.g || !w->solver.c) return no_memory(err);
    w->problem = s->flex;
    w->problem.g = w->solver.g;
    w->problem.c = w->solver.c;
    TL_TRY(tl_flex_begin(&w->contact, s->data->route, s->data->flex, &w->problem, a, err));
    return tl_dual_begin(&w->solver, err);
}

/* Of solids at the velocities at hand: nodes, held ones too; rigid bodies without forces of the problem. */
static void find_outflow(tl_wet *w)
{
    const tl_elastic_trial *s = w->trial;
    const tl_coupling *c = &w->flow->system.c;
    memset(c->y, 0, sizeof *c->y * (size_t)c->faces);
    if (c->solid.n) c->solid.sample(&c->solid, s->bodies->v_free, c->y);
    tl_coupling_adjoint(c, c->y, w->outflow);
    for (int32_t i = 0; i < c->cells; i++) w->outflow[i] = -w->outflow[i];
    tl_csr_mul_add(&w->ops.Ft, 1, s->v, w->outflow);
}

/* ---- loads that follow ---- */

static tl_vec3 area_vector(const double *x, const int32_t t[3])
{
    tl_vec3 a = tl_vec3_load(x + 3 * (int64_t)t[0]), b = tl_vec3_load(x + 3 * (int64_t)t[1]),
            c = tl_vec3_load(x + 3 * (int64_t)t[2]);
    return tl_vec3_scale(0.5, tl_vec3_cross(tl_vec3_sub(b, a), tl_vec3_sub(c, a)));
}

/* Pieces of triangles keep their part of the triangle and the pressure of their cell. */
static void turn_pieces(const tl_wet *w, const tl_skin *skin, const double *x)
{
    const tl_elastic_trial *s = w->trial;
    const tl_flow *f = w->flow;
    const int32_t(*surface)[3] = (const int32_t(*)[3])skin->lg->surface + skin->lg->body[skin->body].triangle;
    for (int64_t i = 0; i < skin->clip->pieces; i++) {
        const tl_clip_piece *q = &skin->clip->piece[i];
        int32_t id = tl_grid_cell(&f->grid, q->cube[0] >> 1, q->cube[1] >> 1, q->cube[2] >> 1);
        int32_t cell = f->system.active.number[id];
        if (cell < 0 || f->p[cell] == 0) continue;
        const int32_t *t = surface[q->triangle];
        tl_vec3 from = area_vector(skin->x, t), change = tl_vec3_sub(area_vector(x, t), from);
        double part = tl_vec3_dot(q->area, from) / tl_vec3_norm2(from);
        if (!isfinite(part)) continue;
        for (int k = 0; k < 3; k++) {
            double *out = s->follow + 3 * (int64_t)t[k];
            tl_vec3_store(tl_vec3_add_scaled(tl_vec3_load(out), -f->dt * f->p[cell] * part * q->weight[k], change),
                          out);
        }
    }
}

/* The liquid has given the load of the start: the sum stays, what a body would get on top is taken off it by mass. */
static void keep_sum(const tl_elastic_trial *s, const tl_fem_body *b)
{
    tl_vec3 sum = {0, 0, 0};
    double mass = 0;
    for (int32_t i = b->node; i < b->node + b->nodes; i++) {
        if (s->fem->place[i] < 0) continue;
        sum = tl_vec3_add(sum, tl_vec3_load(s->follow + 3 * (int64_t)i));
        mass += s->lg->mass[i];
    }
    for (int32_t i = b->node; i < b->node + b->nodes; i++) {
        double *f = s->follow + 3 * (int64_t)i;
        tl_vec3 now = {0, 0, 0};
        if (s->fem->place[i] >= 0) now = tl_vec3_add_scaled(tl_vec3_load(f), -s->lg->mass[i] / mass, sum);
        tl_vec3_store(now, f);
    }
}

void tl_wet_follow(tl_wet *w, const double *x)
{
    tl_elastic_trial *s = w->trial;
    if (!s->follow || !w->follows) return;
    memset(s->follow, 0, sizeof *s->follow * 3 * (size_t)s->lg->nodes);
    for (int32_t k = 0; k < w->start.count; k++)
        if (w->start.skin[k].lg) turn_pieces(w, &w->start.skin[k], x);
    for (int b = 0; b < s->fem->bodies; b++) keep_sum(s, &s->fem->body[b]);
}

const double *tl_wet_load(const tl_wet *w) { return w->solver.load; }

static void add_report(tl_dual_report *to, const tl_dual_report *one)
{
    to->result = one->result;
    to->certificate = one->certificate;
    to->sweeps += one->sweeps;
    to->pressure_iterations += one->pressure_iterations;
    to->stress_iterations += one->stress_iterations;
    if (one->sweeps > 0) to->settled = one->settled;
    if (one->unknowns > 0) to->unknowns = one->unknowns, to->nonzeros = one->nonzeros;
    to->stress_work.products += one->stress_work.products;
    to->stress_work.projections += one->stress_work.projections;
    to->contact_iterations += one->contact_iterations;
    to->pressure_work.products += one->pressure_work.products;
    to->pressure_work.preconds += one->pressure_work.preconds;
    to->pressure_work.factorizations += one->pressure_work.factorizations;
}

talus_status tl_wet_solve(tl_wet *w, bool fresh, talus_error *err)
{
    tl_elastic_trial *s = w->trial;
    tl_flow *f = w->flow;
    tl_dual_report one;
    const int64_t n = 3 * (int64_t)s->lg->nodes, r = 6 * (int64_t)f->rigid->count;
    if (s->posed) TL_TRY(begin_contacts(w, err));
    find_outflow(w);
    if (w->viscous.ctx) {
        tl_wet_viscous_blend(w);
        if (fresh) TL_TRY(tl_wet_viscous_fit(w, err));
    }
    w->contact.now = s->flex_now;
    w->contact.near = s->correction;
    w->solver.slack = s->slack;
    TL_TRY(tl_dual_solve(&w->solver, fresh, f->p, s->flex_lam, s->flex_dv, &one, err));
    if (w->sandy.failed != TALUS_OK) {
        if (err) *err = w->sandy.why;
        return w->sandy.failed;
    }
    add_report(&w->solved, &one);
    TL_TRY(tl_sim_show(s->sim, (tl_shown){TL_SHOWN_DUAL, &w->solver, f->p, NAN, w->solver.tolerance}, err));
    s->solved = (tl_flex_report){.prepare = one.prepare};
    s->contact = one.certificate.solids.contact;
    s->contact_iterations += one.contact_iterations;
    s->work.products += one.contact_work.products;
    s->work.factorizations += one.contact_work.factorizations;
    s->work.projections += one.contact_work.projections;
    tl_csr_mul(&w->ops.F, f->p, s->load);
    for (int64_t i = 0; i < n; i++) s->load[i] *= w->dual.impulse;
    if (f->stress) tl_sandy_load_nodes(&w->sandy, f->stress, s->load);
    if (w->viscous.ctx) tl_wet_viscous_load(w, s->load);
    memcpy(s->load + n, tl_wet_load(w) + s->flex.n, sizeof *s->load * (size_t)r);
    return TALUS_OK;
}

/* ---- the end ---- */

static double energy_of_nodes(const tl_elastic_trial *s, const double *x, const double *v)
{
    double sum = 0;
    for (int32_t i = 0; i < s->lg->nodes; i++) {
        const int64_t k = 3 * (int64_t)i;
        sum += s->lg->mass[i] *
               (0.5 * tl_vec3_norm2(tl_vec3_load(v + k)) - tl_vec3_dot(s->scene->gravity, tl_vec3_load(x + k)));
    }
    return sum;
}

talus_status tl_wet_end(tl_wet *w, double *fluid, talus_error *err)
{
    tl_elastic_trial *s = w->trial;
    tl_arena *a = w->flow->arena;
    TL_TRY(tl_skins_move(&w->moving, &w->start, s->v, a, err));
    TL_TRY(tl_skins_make(&w->end, s->lg, w->start.count, s->x_end, s->v_end, a, err));
    w->soft.moving = &w->moving;
    w->soft.end = &w->end;
    for (int32_t i = 0; i < s->lg->nodes; i++) {
        const int64_t k = 3 * (int64_t)i;
        const int32_t body = s->lg->body[s->lg->owner[i]].body;
        tl_vec3 from = tl_vec3_load(s->now->q + k), push = tl_vec3_load(s->load + k);
        push = tl_vec3_scale(1 / s->h, tl_vec3_add(push, tl_vec3_load(s->offset + k)));
        w->soft.travel = fmax(w->soft.travel, tl_vec3_norm(tl_vec3_sub(tl_vec3_load(s->x_end + k), from)));
        double *out = fluid + 6 * (int64_t)body;
        tl_vec3_store(tl_vec3_add(tl_vec3_load(out), push), out);
        tl_vec3 lever = tl_vec3_sub(from, s->bodies->before[body].x);
        tl_vec3_store(tl_vec3_add(tl_vec3_load(out + 3), tl_vec3_cross(lever, push)), out + 3);
    }
    w->gain = energy_of_nodes(s, s->x_end, s->v_end) - energy_of_nodes(s, s->now->q, s->now->v) + s->energy -
              tl_fem_forces(s->fem, s->now->q, NULL, NULL, s->scratch) -
              tl_elastic_springs(s, s->now->q, s->source, NULL);
    return TALUS_OK;
}

talus_status tl_wet_sand(tl_wet *w, const double *p, double *sand, talus_error *err)
{
    const tl_elastic_trial *s = w->trial;
    const tl_flow *f = w->flow;
    const int64_t n = 3 * (int64_t)s->lg->nodes;
    double *load = TL_TAKE(f->arena, double, n + 1);
    if (!load) return no_memory(err);
    tl_csr_mul(&w->ops.F, p, load);
    for (int64_t i = 0; i < n; i++) load[i] *= w->dual.impulse;
    tl_sandy_load_nodes(&w->sandy, f->stress, load);
    tl_elastic_riders_end(s, load);
    for (int32_t i = 0; i < s->lg->nodes; i++) {
        double *out = sand + 6 * (int64_t)s->lg->body[s->lg->owner[i]].body;
        const tl_vec3 push = tl_vec3_scale(1 / s->h, tl_vec3_load(load + 3 * (int64_t)i)),
                      lever = tl_vec3_sub(tl_vec3_load(s->now->q + 3 * (int64_t)i),
                                          s->bodies->before[s->lg->body[s->lg->owner[i]].body].x);
        tl_vec3_store(tl_vec3_add(tl_vec3_load(out), push), out);
        tl_vec3_store(tl_vec3_add(tl_vec3_load(out + 3), tl_vec3_cross(lever, push)), out + 3);
    }
    return TALUS_OK;
}
