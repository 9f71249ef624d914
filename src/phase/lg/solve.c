#include "phase/lg/step.h"

#include <math.h>
#include <string.h>

#include "base/cancel.h"
#include "base/sum.h"
#include "phase/lg/held.h"

#define NEWTON_STEPS 3         /* each with a solve to SOLVED: the third has little left */
#define ITERATIONS_EACH 4      /* conjugate gradients per round that is allowed. Chosen */
#define CORRECTIONS 3          /* where laws of contact have no say: the third has little left */
#define BALANCED 1e-8          /* of the forces that act: left over by a static step */
#define BALANCE_MAX 500        /* corrections of a static step */
#define BALANCE_ITERATIONS 400 /* each */
#define EXACT_MAX 20 /* corrections by the true curvature: most steps take 3 to 8, what buckles under contact 15 */
#define DENSE_MAX                                                                                                      \
    400 /* contacts that push: of more, or of more than coordinates, corrections do not write W out. Chosen */
#define EXACT_LOOKS 6   /* for more that touches, each followed by corrections */
#define EXACT_SLACK 0.1 /* of the target of contact laws: what their solves may leave */

double tl_lg_contact_target(const tl_lg_step *s)
{
    const double asked = s->scene->solver.contact.tolerance;
    return asked > 0 ? asked : s->slow;
}

double tl_lg_static_target(const tl_lg_step *s) { return fmin(s->scene->solver.tolerance, BALANCED); }

talus_status tl_lg_renew_duals(tl_lg_step *s, talus_error *err)
{
    bool *all = TL_TAKE(s->arena, bool, s->lg->bodies + 1);
    if (!all) return tl_lg_no_memory(err);
    for (int b = 0; b < s->lg->bodies; b++) all[b] = true;
    tl_lg_set_duals(s->lg, s->q, all, s->u);
    return TALUS_OK;
}

talus_status tl_lg_solve_free(tl_lg_step *s, talus_error *err)
{
    tl_lg_newton *w = &s->newton;
    int budget = ITERATIONS_EACH * s->scene->lg.iterations;
    TL_TRY(tl_lg_newton_begin(w, s->arena, err));
    for (int step = 0; step < NEWTON_STEPS && budget > 0; step++) {
        TL_TRY(tl_cancel_check(err));
        int made = tl_lg_newton_correct(w, budget);
        if (made < 0) return TALUS_OK;
        budget -= made;
        s->rounds++;
    }
    if (s->lg->dual_rows) tl_lg_set_duals(s->lg, s->q, w->of, s->u);
    tl_lg_lap(s, TL_LG_SOLVE);
    return TALUS_OK;
}

static void plain_round(tl_lg_step *s)
{
    tl_lg_project(s);
    tl_lg_balance(s);
    tl_lg_solve_global(s, s->rounds);
}

/* After the rounds: corrections with what touches held, each with a round after it that lets go, takes hold and
 * slides as the laws have it. What leaves no less than before is taken back: the curvature of a step may change
 * faster than a correction knows. */
static talus_status solve_held(tl_lg_step *s, int max, talus_error *err)
{
    const int64_t n = 3 * (int64_t)s->lg->nodes, duals = TL_LG_LANES * s->lg->dual_rows, rows = s->touch.rows.rows;
    tl_lg_corrections c = {.left = INFINITY, .q = s->from, .force = TL_TAKE(s->arena, double, rows)};
    bool *of = TL_TAKE_ZERO(s->arena, bool, s->lg->bodies + 1);
    if (!of || !c.force) return tl_lg_no_memory(err);
    for (int32_t k = 0; k < s->touch.rows.nodes; k++) of[s->lg->owner[s->touch.rows.node[k]]] = true;
    for (int k = 0; !c.done; k++) {
        const double before = c.left;
        const int iterations = k < max ? ITERATIONS_EACH * s->scene->lg.iterations : 0;
        TL_TRY(tl_lg_held_correct(&s->newton, &s->touch, iterations, &c, s->arena, err));
        if (!c.done) {
            memcpy(s->from + n, s->u, sizeof *s->u * (size_t)duals);
            if (duals) tl_lg_set_duals(s->lg, s->q, of, s->u);
            plain_round(s);
            TL_TRY(tl_lg_touch_nodes(s, err));
            s->rounds++;
        } else if (!(c.left < before) && k > 0) {
            memcpy(s->q, s->from, sizeof *s->q * (size_t)(n + duals));
            memcpy(s->touch.force, c.force, sizeof *c.force * (size_t)rows);
            memcpy(s->touch.lam, c.force, sizeof *c.force * (size_t)rows);
        }
    }
    return TALUS_OK;
}

/* The largest share of forces that a body lacks, and the largest error of contact laws over their target. */
typedef struct quality {
    double missing, laws;
} quality;

static quality how_good(tl_lg_step *s)
{
    const double target = tl_lg_contact_target(s);
    quality out = {0, fmax(s->laws.normal / s->h, s->laws.friction) / target};
    for (int b = 0; b < s->lg->bodies; b++) out.missing = fmax(out.missing, s->missing[b]);
    return out;
}

/* Corrections by the true curvature with all laws of contact, also of bodies that nothing touches where Newton's
 * method with A did not end. What they move may come to touch something else. Where laws contradict each other, as
 * between folds of cloth that are thicker than the room they have, corrections may end worse than rounds: then the
 * rounds' answer stands. */
static talus_status solve_exact(tl_lg_step *s, int max, talus_error *err)
{
    const int64_t n = 3 * (int64_t)s->lg->nodes, duals = TL_LG_LANES * s->lg->dual_rows;
    tl_lg_find_residual(s);
    tl_lg_find_missing(s);
    const quality rounds = how_good(s);
    const tl_lg_joined *joined = s->touch.joined;
    if (rounds.missing <= s->scene->solver.tolerance && rounds.laws <= 1 && !joined) return TALUS_OK;
    bool *of = TL_TAKE_ZERO(s->arena, bool, s->lg->bodies + 1), changed = true;
    if (!of) return tl_lg_no_memory(err);
    int64_t coordinates = 0;
    for (int b = 0; b < s->lg->bodies; b++)
        of[b] = s->missing[b] > s->scene->solver.tolerance || (joined && joined->of[b]);
    for (int32_t k = 0; k < s->touch.rows.nodes; k++) of[s->lg->owner[s->touch.rows.node[k]]] = true;
    for (int b = 0; b < s->lg->bodies; b++) coordinates += of[b] ? 3 * (int64_t)s->lg->body[b].nodes : 0;
    const bool many = s->laws.touching > DENSE_MAX || 3 * s->laws.touching > coordinates;
    const tl_lg_touch touch_before = s->touch;
    const tl_lg_contacts contacts_before = s->contacts;
    double *force = TL_TAKE(s->arena, double, s->touch.rows.rows);
    if (!force) return tl_lg_no_memory(err);
    if (s->touch.rows.rows) memcpy(force, s->touch.force, sizeof *force * (size_t)s->touch.rows.rows);
    memcpy(s->from, s->q, sizeof *s->q * (size_t)(n + duals));
    tl_lg_exact x = {.sim = s->sim,
                     .w = &s->newton,
                     .t = &s->touch,
                     .hessian = s->data->hessian,
                     .data = s->data->flex,
                     .of = of,
                     .route = many ? "sum" : "schur",
                     .target = s->scene->solver.tolerance,
                     .slack = joined ? fmin(EXACT_SLACK * tl_lg_contact_target(s), s->bodies.tolerance)
                                     : EXACT_SLACK * tl_lg_contact_target(s),
                     .slow = s->slow,
                     .max = max,
                     .until = s->scene->lg.budget > 0 ? s->began + 1e-3 * s->scene->lg.budget : INFINITY};
    s->view.solids_again = true;
    for (int look = 0; look < EXACT_LOOKS && changed && !tl_lg_is_late(s); look++) {
        talus_error why = {0};
        talus_status status = tl_lg_exact_solve(&x, s->arena, &why);
        if (status == TALUS_UNSUPPORTED && joined && strcmp(x.route, "sum") != 0) {
            x.route = "sum";
            continue;
        }
        if (status == TALUS_UNSUPPORTED && !joined) break; /* more contacts push than a matrix has room for */
        if (status != TALUS_OK) {
            if (err) *err = why;
            return status;
        }
        s->rounds += x.made;
        tl_lg_lap(s, TL_LG_TOUCH);
        changed = false;
        if (x.converged) TL_TRY(tl_lg_look_again(s, &changed, err));
    }
    tl_lg_find_residual(s);
    tl_lg_find_missing(s);
    const quality now = how_good(s);
    s->unsolved = changed || !x.converged;
    if (s->unsolved && !joined && !(now.missing < rounds.missing && now.laws <= fmax(1, rounds.laws))) {
        memcpy(s->q, s->from, sizeof *s->q * (size_t)(n + duals));
        s->contacts = contacts_before;
        s->touch = touch_before;
        if (s->touch.rows.rows) {
            memcpy(s->touch.force, force, sizeof *force * (size_t)s->touch.rows.rows);
            memcpy(s->touch.lam, force, sizeof *force * (size_t)s->touch.rows.rows);
        }
        tl_lg_find_residual(s);
        tl_lg_find_missing(s);
        return TALUS_OK;
    }
    if (duals) tl_lg_set_duals(s->lg, s->q, of, s->u);
    return TALUS_OK;
}

/* After the rounds, where they did not suffice. */
talus_status tl_lg_solve_touching(tl_lg_step *s, talus_error *err)
{
    int max = s->scene->lg.corrections;
    const bool holds = s->touch.rows.bilateral.count > 0;
    if (s->scene->lg.form || max == 0) return TALUS_OK;
    if (holds && !s->touch.rows.contacts && !s->touch.joined) return solve_held(s, max < 0 ? CORRECTIONS : max, err);
    return solve_exact(s, max < 0 ? EXACT_MAX : max, err);
}

/* Forces that do not balance, of each body, over those that act on it: gravity, what scenes ask for, pressure,
 * anchors. Returns the worst. */
static double unbalanced(tl_lg_step *s, double *share)
{
    const tl_lg *lg = s->lg;
    const double he2 = s->he * s->he;
    double worst = 0, *acts = s->trial;
    for (int64_t i = 0; i < lg->nodes; i++)
        for (int64_t k = 3 * i; k < 3 * i + 3; k++) {
            s->qtil[k] = s->q[k] + he2 * s->accel[k];
            acts[k] = lg->mass[i] * s->accel[k];
        }
    tl_lg_newton_residual(&s->newton, s->q, s->r);
    tl_lg_press(lg, s->pressure, 1, s->q, acts);
    double *pull2 = share;
    memset(pull2, 0, sizeof *pull2 * (size_t)lg->bodies);
    for (int32_t k = 0; k < lg->anchors; k++) {
        const tl_lg_anchor *a = &lg->anchor[k];
        tl_vec3 off = tl_vec3_sub(s->target[k], tl_vec3_load(s->q + 3 * (int64_t)a->vertex));
        pull2[lg->owner[a->vertex]] += a->weight * a->weight * tl_vec3_norm2(off);
    }
    for (int b = 0; b < lg->bodies; b++) {
        const int64_t from = 3 * (int64_t)lg->body[b].node, n = 3 * (int64_t)lg->body[b].nodes;
        double load2 = pull2[b] + tl_dot(n, acts + from, acts + from), left2 = tl_dot(n, s->r + from, s->r + from);
        share[b] = left2 > 0 ? fmin(1, sqrt(left2 / load2) / he2) : 0;
        worst = fmax(worst, share[b]);
    }
    return worst;
}

/* Newton's method for the positions in which forces balance. Each correction starts from where the last one ended,
 * held by a mass over he^2 that is small beside the stiffness: it ends at a minimum, wherever it began, and what
 * it holds is nothing there. */
talus_status tl_lg_find_balance(tl_lg_step *s, talus_error *err)
{
    memcpy(s->q, s->now->q, sizeof *s->q * 3 * (size_t)s->lg->nodes);
    TL_TRY(tl_lg_newton_begin(&s->newton, s->arena, err));
    double left = unbalanced(s, s->missing);
    while (left > tl_lg_static_target(s) && s->rounds < BALANCE_MAX) {
        TL_TRY(tl_cancel_check(err));
        (void)tl_lg_newton_correct(&s->newton, BALANCE_ITERATIONS);
        left = unbalanced(s, s->missing);
        s->rounds++;
    }
    if (s->lg->dual_rows) TL_TRY(tl_lg_renew_duals(s, err));
    tl_lg_lap(s, TL_LG_SOLVE);
    return TALUS_OK;
}
