#include "phase/elastic/trial.h"

#include <math.h>
#include <string.h>

/* ---- detect ---- */

/* Impulses of the last step where the same points touch again. */
static void match(tl_elastic_trial *s)
{
    const tl_lg_state *past = s->now;
    for (int32_t c = 0; c < s->rows.soft; c++) {
        const tl_lg_contact *k = &s->contacts.contact[c];
        const tl_lg_memory *m = tl_lg_memory_find(past, k->point, k->obstacle, k->feature);
        if (!m) continue;
        tl_vec3 f = tl_vec3_scale(s->h, tl_vec3_load(m->force));
        for (int a = 0; a < 3; a++) s->lam[3 * (int64_t)c + a] = tl_vec3_dot(f, s->rows.link[c].axis[a]);
    }
}

static void take_rigid(tl_elastic_trial *s)
{
    const tl_bodies *b = s->bodies;
    for (int64_t k = 3 * (int64_t)s->rows.soft; k < 3 * (int64_t)s->rows.contacts; k++)
        s->lam[k] = b->lam[k - 3 * (int64_t)s->rows.soft];
    for (int64_t k = 3 * (int64_t)s->rows.contacts; k < 3 * (int64_t)s->rows.blocks; k++)
        s->lam[k] = b->joint.lam[k - 3 * (int64_t)s->rows.contacts];
}

void tl_elastic_hand_over(tl_elastic_trial *s)
{
    tl_bodies *b = s->bodies;
    memcpy(b->v, s->v_rigid, sizeof *b->v * 6 * (size_t)s->sim->rigid.count);
    for (int64_t k = 3 * (int64_t)s->rows.soft; k < 3 * (int64_t)s->rows.contacts; k++)
        b->lam[k - 3 * (int64_t)s->rows.soft] = s->lam[k];
    for (int64_t k = 3 * (int64_t)s->rows.contacts; k < 3 * (int64_t)s->rows.blocks; k++)
        b->joint.lam[k - 3 * (int64_t)s->rows.contacts] = s->lam[k];
}

/* A correction of velocities as a problem over unknown nodes and `count` blocks. */
static talus_status pose(tl_elastic_trial *s, int32_t count, talus_error *err)
{
    const tl_elastic_data *data = s->data;
    const int64_t n = data->first[s->fem->bodies], all = n + 6 * (int64_t)s->sim->rigid.count, m = 3 * (int64_t)count;
    s->part = TL_TAKE_ZERO(s->arena, tl_flex_part, s->fem->bodies + 1);
    s->flex_g = TL_TAKE(s->arena, double, n + 1);
    s->flex_dv = TL_TAKE(s->arena, double, all + 1);
    s->flex_c = TL_TAKE(s->arena, double, m + 1);
    s->flex_now = TL_TAKE(s->arena, double, m + 1);
    s->flex_lam = TL_TAKE(s->arena, double, m + 1);
    s->flex_mu = TL_TAKE(s->arena, double, count + 1);
    if (!s->part || !s->flex_g || !s->flex_dv || !s->flex_c || !s->flex_now || !s->flex_lam || !s->flex_mu)
        return tl_elastic_no_memory(err);
    TL_TRY(tl_fem_rows_matrix(&s->rows, count, s->pick, data->first, &s->J, &s->Jt, s->arena, err));
    for (int b = 0; b < s->fem->bodies; b++)
        s->part[b] = (tl_flex_part){.first = data->first[b],
                                    .H = &s->fem->body[b].A,
                                    .mass = data->mass + data->first[b],
                                    .roots = &data->roots[b],
                                    .factor = data->factor[b]};
    for (int32_t k = 0; k < count; k++) s->flex_mu[k] = s->rows.mu[s->pick[k]];
    const bool box = s->scene->solver.cone == TL_CONE_PYRAMID;
    s->flex = (tl_flex){.parts = s->fem->bodies,
                        .part = s->part,
                        .n = n,
                        .rigid = s->sim->rigid.count,
                        .inv_mass = s->bodies->inv_mass,
                        .inv_inertia = s->bodies->inv_inertia,
                        .contacts = count,
                        .J = &s->J,
                        .Jt = &s->Jt,
                        .mu = s->flex_mu,
                        .boxes = s->rows.blocks - s->rows.contacts,
                        .box = s->bodies->joint.blocks.box,
                        .g = s->flex_g,
                        .c = s->flex_c,
                        .law = box ? TL_FLEX_PYRAMID : TL_FLEX_CONE};
    return tl_flex_begin(&s->solver, data->route, data->flex, &s->flex, s->arena, err);
}

/* The midpoint rule is for bodies with no contact in reach. Another rule is another matrix. */
static void choose_rules(tl_elastic_trial *s)
{
    double h = s->data->midpoint ? 0.5 * s->h : s->h;
    for (int b = 0; b < s->fem->bodies; b++) {
        const tl_fem_body *body = &s->fem->body[b];
        bool reached = false;
        for (int32_t c = 0; c < s->rows.soft && !reached; c++)
            for (int k = 0; k < s->rows.link[c].nodes; k++) {
                int32_t i = s->rows.link[c].node[k];
                reached |= i >= body->node && i < body->node + body->nodes;
            }
        double rule = reached ? s->h : h;
        s->factored &= s->he[b] == rule;
        s->he[b] = rule;
    }
}

/* Rows for the contacts there are; impulses are zero. */
static talus_status make_rows(tl_elastic_trial *s, talus_error *err)
{
    tl_lg_mend_planes(&s->view, &s->contacts);
    tl_fem_rows_of from = {.fem = s->fem,
                           .h = s->h,
                           .from = s->now->q,
                           .soft = &s->contacts,
                           .rigid = s->sim->rigid.count,
                           .body = s->bodies->before,
                           .bias = s->bodies->p.bias,
                           .inv_mass = s->bodies->inv_mass,
                           .inv_inertia = s->bodies->inv_inertia,
                           .hard = &s->bodies->contacts,
                           .joint = &s->bodies->joint.blocks};
    TL_TRY(tl_fem_rows_make(&s->rows, &from, s->arena, err));
    const int64_t m = s->rows.blocks, n = 3 * m;
    s->lam = TL_TAKE_ZERO(s->arena, double, n + 1);
    s->u = TL_TAKE_ZERO(s->arena, double, n + 1);
    s->pick = TL_TAKE(s->arena, int32_t, m + 1);
    s->movable = TL_TAKE_ZERO(s->arena, bool, m + 1);
    if (!s->lam || !s->u || !s->pick || !s->movable) return tl_elastic_no_memory(err);
    int32_t count = 0;
    for (int32_t c = 0; c < s->rows.contacts; c++) {
        const tl_fem_link *l = &s->rows.link[c];
        for (int k = 0; k < l->nodes; k++) s->movable[c] |= s->fem->place[l->node[k]] >= 0;
        for (int e = 0; e < 2; e++) s->movable[c] |= l->body[e] >= 0 && s->bodies->inv_mass[l->body[e]] > 0;
        if (s->movable[c]) s->pick[count++] = c;
    }
    for (int32_t c = s->rows.contacts; c < s->rows.blocks; c++) s->movable[s->pick[count++] = c] = true;
    TL_TRY(pose(s, count, err));
    s->posed = true;
    choose_rules(s);
    return TALUS_OK;
}

talus_status tl_elastic_detect(tl_elastic_trial *s, talus_error *err)
{
    tl_bodies *b = s->bodies;
    const tl_pose *after;
    TL_TRY(tl_bodies_poses_ahead(b, NULL, &after, err));
    s->view = (tl_lg_view){.lg = s->lg,
                           .rigid = &s->sim->rigid,
                           .scene = s->scene,
                           .from = s->now->q,
                           .to = s->x_star,
                           .body = b->body,
                           .before = b->pose,
                           .after = after,
                           .friction = b->friction,
                           .joints = &s->sim->joints,
                           .solids_again = true,
                           .h = s->h};
    TL_TRY(tl_lg_detect(&s->view, s->arena, &s->contacts, err));
    TL_TRY(tl_lg_detect_rigid(&s->view, &s->sim->state.rigid, s->arena, &b->view, &b->contacts, err));
    TL_TRY(tl_bodies_match(b, err));
    TL_TRY(tl_elastic_halfway(s, err));
    TL_TRY(tl_bodies_assemble(b, err));
    TL_TRY(make_rows(s, err));
    match(s);
    take_rigid(s);
    tl_elastic_lap(s, TL_ELASTIC_DETECT);
    return TALUS_OK;
}

/* Impulses of soft contacts again in other rows; origin: which of `old` each was, -1: none. */
static void keep_impulses(tl_elastic_trial *s, const tl_fem_rows *old, const double *lam, const int32_t *origin)
{
    for (int32_t c = 0; c < s->rows.soft; c++) {
        const int32_t was = origin ? origin[c] : c;
        if (was < 0) continue;
        tl_vec3 f = tl_fem_link_force(&old->link[was], lam + 3 * (int64_t)was);
        for (int k = 0; k < 3; k++) s->lam[3 * (int64_t)c + k] = tl_vec3_dot(s->rows.link[c].axis[k], f);
    }
}

talus_status tl_elastic_make_rows(tl_elastic_trial *s, talus_error *err)
{
    const tl_fem_rows old = s->rows;
    const double *lam = s->lam;
    TL_TRY(make_rows(s, err));
    keep_impulses(s, &old, lam, NULL);
    take_rigid(s);
    return TALUS_OK;
}

/* Where contact and stress lead nodes is not where they were predicted to be: something may stand between them now. */
talus_status tl_elastic_look_again(tl_elastic_trial *s, bool *more, talus_error *err)
{
    int32_t *origin;
    tl_lg_contacts all;
    const tl_fem_rows old = s->rows;
    const double *lam = s->lam;
    for (int64_t i = 0; i < 3 * (int64_t)s->lg->nodes; i++) s->x_end[i] = s->now->q[i] + s->h * s->v[i];
    const tl_pose *after; /* where contacts lead rigid bodies, too */
    TL_TRY(tl_bodies_poses_ahead(s->bodies, s->v_rigid, &after, err));
    s->view.to = s->x_end;
    s->view.after = after;
    TL_TRY(tl_lg_detect_again(&s->view, &s->contacts, s->arena, &all, &origin, more, err));
    if (*more) {
        tl_elastic_hand_over(s);
        s->contacts = all;
        if (s->bodies->half.any) { /* what they touch now */
            TL_TRY(tl_elastic_halfway(s, err));
            TL_TRY(tl_bodies_assemble(s->bodies, err));
        }
        TL_TRY(make_rows(s, err));
        keep_impulses(s, &old, lam, origin);
        take_rigid(s);
    }
    tl_elastic_lap(s, TL_ELASTIC_DETECT);
    return TALUS_OK;
}

talus_status tl_elastic_remember(tl_elastic_trial *s, talus_error *err)
{
    s->memory = TL_TAKE_ZERO(s->arena, tl_lg_memory, s->rows.soft + 1);
    if (!s->memory) return tl_elastic_no_memory(err);
    tl_fem_rows_velocity(&s->rows, s->v, s->v_rigid, s->u);
    for (int32_t c = 0; c < s->rows.soft; c++) {
        const tl_lg_contact *k = &s->contacts.contact[c];
        s->memory[c] =
            tl_lg_memory_of(k, tl_vec3_scale(1 / s->h, tl_fem_link_force(&s->rows.link[c], s->lam + 3 * (int64_t)c)),
                            s->h * s->u[3 * (int64_t)c]);
    }
    tl_lg_memory_sort(s->memory, s->rows.soft);
    return tl_lg_contacts_reserve(s->now, s->rows.soft, err);
}
