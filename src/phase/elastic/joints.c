/* Joints of rigid bodies beside and under elastic ones: their rows are part of every correction's problem (contacts.c).
 *
 * They ask for places at the end of the step, and rows are straight: bodies are moved, places measured, and the problem
 * is solved again until these are right, as without elastic bodies (bodies/joints.c). Nothing of it is frozen in
 * between, so contacts with elastic bodies know what joints do. Only biases change from round to round: no factor and
 * no compliance is made anew. */
#include <math.h>
#include <string.h>

#include "phase/elastic/trial.h"

/* Rigid bodies that something elastic may touch. */
static talus_status bar(tl_elastic_trial *s, talus_error *err)
{
    tl_bodies *b = s->bodies;
    if (!b->half.barred) b->half.barred = TL_TAKE_ZERO(s->arena, bool, s->sim->rigid.count);
    if (!b->half.barred) return tl_elastic_no_memory(err);
    for (int32_t c = 0; c < s->contacts.count; c++)
        if (s->contacts.contact[c].rigid >= 0) b->half.barred[s->contacts.contact[c].rigid] = true;
    return TALUS_OK;
}

static void keep_missed(tl_elastic_trial *s, const tl_contact_report *r)
{
    s->stopped = fmax(s->stopped, r->outcome.result == TL_CONVERGED ? 0 : r->certificate.residual);
}

talus_status tl_elastic_halfway(tl_elastic_trial *s, talus_error *err)
{
    tl_bodies *b = s->bodies;
    tl_contact_report solved;
    bool any;
    if (!b->joint.now || s->wet) return TALUS_OK; /* what flows acts at the start of the step */
    TL_TRY(bar(s, err));
    TL_TRY(tl_bodies_halfway(b, &solved, &any, err));
    if (any) keep_missed(s, &solved);
    memcpy(s->v_rigid, b->v_free, sizeof *s->v_rigid * 6 * (size_t)s->sim->rigid.count);
    return TALUS_OK;
}

/* Work of contacts with what is elastic, by the mean of velocities at both ends of the step. */
void tl_elastic_give(tl_elastic_trial *s, double *given)
{
    const tl_bodies *b = s->bodies;
    for (int32_t c = 0; c < s->rows.soft; c++) {
        const tl_fem_link *l = &s->rows.link[c];
        const int32_t i = l->body[1];
        if (i < 0) continue;
        const tl_vec3 v = tl_vec3_add(b->before[i].v, b->body[i].v), w = tl_vec3_add(b->before[i].w, b->body[i].w);
        given[i] -= 0.5 * tl_vec3_dot(tl_fem_link_force(l, s->lam + 3 * (int64_t)c),
                                      tl_vec3_add(v, tl_vec3_cross(w, l->lever[1])));
    }
}

/* Contacts half-way turned out to be none, or to make energy. */
static talus_status check(tl_elastic_trial *s, tl_elastic_solve *solve, bool *again, talus_error *err)
{
    for (bool once_more = true; once_more;) {
        tl_contact_report solved = {.outcome = {.result = TL_CONVERGED}};
        tl_elastic_hand_over(s);
        TL_TRY(tl_bodies_halfway_check(s->bodies, &solved, &once_more, err));
        keep_missed(s, &solved);
        if (!once_more) break;
        TL_TRY(tl_bodies_assemble(s->bodies, err));
        TL_TRY(tl_elastic_make_rows(s, err));
        TL_TRY(solve(s, again, err));
    }
    return TALUS_OK;
}

talus_status tl_elastic_place_joints(tl_elastic_trial *s, tl_elastic_solve *solve, bool *again, talus_error *err)
{
    tl_bodies *b = s->bodies;
    bool place = b->joint.now != NULL;
    for (int round = 0; place; round++) {
        TL_TRY(check(s, solve, again, err));
        TL_TRY(tl_bodies_move(b, again, err));
        tl_bodies_joints_place(b, round, &place);
        if (!place) break;
        TL_TRY(tl_bodies_assemble(b, err));
        s->flex.box = b->joint.blocks.box;
        TL_TRY(solve(s, again, err));
    }
    return TALUS_OK;
}
