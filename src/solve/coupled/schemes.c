#include <math.h>
#include <string.h>

#include "base/cancel.h"
#include "base/sum.h"
#include "solve/coupled/work.h"

#define PASSES_MAX 4   /* pressure solves in a row: rounding of the solver's matrix, a start that was too far off */
#define MOVED 10.0     /* tolerances: of the impulse, what a last sweep may change of it */
#define ROUNDING 1e-10 /* of velocities over their spacing: less than that is nothing to solve for, as in free fall */
/* Cells up to which the preconditioner knows bodies in contact. In a heap in 7000 cells it saves 3 of 4 iterations,
 * but takes twice the time. */
#define KNOWN_BELOW 2000
/* Contraction of p and n in turn above which they are solved together: at 0.6 a sweep still gains a digit in 4.5
 * passes. Chosen. */
#define UNIFY_ABOVE 0.6
#define TOGETHER_SWEEPS 60 /* of contacts with their friction: cheap ones, at an impact up to 30 of them are needed */

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a coupled solve");
}

static bool good(const tl_coupled_certificate *c, double tolerance)
{
    return c->pressure <= tolerance && c->normal <= tolerance && c->tangent <= tolerance && c->stress <= tolerance &&
           c->joint <= tolerance;
}

/* With cones pressures need not settle: enough when they and s hardly change, or velocities, and contacts are
 * solved. [grid-granular spec 6.9, 6.11] */
static double settled(const tl_scheme_report *r) { return fmin(r->change, r->moved / MOVED); }

static bool hardly_changes(const tl_scheme_report *r, double tolerance) { return settled(r) <= tolerance; }

static bool still(const tl_scheme_report *r, double tolerance)
{
    return hardly_changes(r, tolerance) && r->certificate.normal <= tolerance && r->certificate.tangent <= tolerance &&
           r->certificate.joint <= tolerance;
}

/* ---- schemes ---- */

enum { P_C, C_P, T_PN, T_P_N, P_TN, TN_PN, PF_C, C_PF, T_F_PN, T_F_P_N, F_P_C };
static const tl_scheme schemes[] = {
    [P_C] = {"p-c", "pressure, then contact, once", false, 1, {tl_coupled_pressure, tl_coupled_contact}},
    [C_P] = {"c-p", "contact, then pressure, once", false, 1, {tl_coupled_contact, tl_coupled_pressure}},
    [T_PN] = {"t-pn",
              "tangent, pressure and normal together until still",
              false,
              30,
              {tl_coupled_tangent, tl_coupled_pressure_normal}},
    [T_P_N] = {"t-p-n",
               "tangent, pressure, normal until still",
               false,
               30,
               {tl_coupled_tangent, tl_coupled_pressure, tl_coupled_normal}},
    [P_TN] = {"p-tn",
              "pressure, contact with its friction until still",
              false,
              TOGETHER_SWEEPS,
              {tl_coupled_pressure, tl_coupled_contact}},
    [TN_PN] = {"tn-pn",
               "contact with its friction, pressure and normal together until still",
               false,
               TOGETHER_SWEEPS,
               {tl_coupled_contact, tl_coupled_pressure_normal}},
    [PF_C] =
        {"pf-c", "pressure and stress, then contact, once", true, 1, {tl_coupled_pressure_stress, tl_coupled_contact}},
    [C_PF] =
        {"c-pf", "contact, then pressure and stress, once", true, 1, {tl_coupled_contact, tl_coupled_pressure_stress}},
    [T_F_PN] = {"t-f-pn",
                "tangent, stress, pressure and normal together until still",
                true,
                TL_COUPLED_CONE_SWEEPS,
                {tl_coupled_tangent, tl_coupled_stress, tl_coupled_pressure_normal}},
    [T_F_P_N] = {"t-f-p-n",
                 "tangent, stress, pressure, normal until still",
                 true,
                 TL_COUPLED_CONE_SWEEPS,
                 {tl_coupled_tangent, tl_coupled_stress, tl_coupled_pressure, tl_coupled_normal}},
    [F_P_C] = {"f-p-c",
               "stress, pressure, contact with its friction until still",
               true,
               TL_COUPLED_CONE_SWEEPS,
               {tl_coupled_stress, tl_coupled_pressure, tl_coupled_contact}},
};
static const tl_scheme pressure_only = {"p", "pressure alone", false, PASSES_MAX, {tl_coupled_pressure}};
static const tl_scheme stress_pressure = {
    "f-p", "stress, pressure until still", true, TL_COUPLED_CONE_SWEEPS, {tl_coupled_stress, tl_coupled_pressure}};

int tl_scheme_count(void) { return (int)(sizeof schemes / sizeof schemes[0]); }
const tl_scheme *tl_scheme_at(int i) { return i >= 0 && i < tl_scheme_count() ? &schemes[i] : NULL; }
const char *tl_scheme_name(const tl_scheme *s) { return s->name; }

const tl_scheme *tl_scheme_find(const char *name)
{
    for (int i = 0; i < tl_scheme_count(); i++)
        if (!strcmp(schemes[i].name, name)) return &schemes[i];
    return NULL;
}

/* The two bodies of a contact, -1 where there is none. */
static void bodies_of(const tl_csr *J, int32_t contact, int32_t out[2])
{
    int32_t count = 0;
    out[0] = out[1] = -1;
    for (int64_t k = J->start[3 * (int64_t)contact]; k < J->start[3 * (int64_t)contact + 1] && count < 2; k++)
        if (!count || J->col[k] / 6 != out[0]) out[count++] = J->col[k] / 6;
}

/* p and n in turn contract like m2 / (m1 + m2), m1 wet and m2 what it carries; a field that a body holds weighs like
 * a body. [grid-granular spec 9] */
static double contraction(const tl_coupled *c)
{
    const tl_body_cells *wet = &c->wet;
    const double *im = c->bodies.inv_mass;
    double max = 0;
    for (int32_t k = 0; k < c->work->points; k++) {
        int32_t pair[2];
        bodies_of(c->bodies.J, k, pair);
        for (int side = 0; side < 2; side++) {
            int32_t a = pair[side], b = pair[1 - side];
            if (a < 0 || !(im[a] > 0) || !wet->wet[a]) continue;
            double other = b >= 0 && im[b] > 0 ? im[a] / (im[a] + im[b]) : 0;
            double held = 0;
            for (int32_t i = wet->first[a]; i < wet->first[a + 1]; i++) held = fmax(held, c->work->diag[wet->cell[i]]);
            max = fmax(max, fmax(other, held / (held + TL_COUPLED_LAMBDA_DIAGONAL)));
        }
    }
    return tl_coupled_max(c, max);
}

/* Normal forces together with pressures, while joints stand, push what joints do not let go: such sweeps need not
 * settle (a hinged rod that leans on a wall: none did). With joints their turns are those of the scheme that has normal
 * forces apart. */
static const tl_scheme *apart(const tl_scheme *s)
{
    return s == &schemes[T_PN]     ? &schemes[T_P_N]
           : s == &schemes[TN_PN]  ? &schemes[P_TN]
           : s == &schemes[T_F_PN] ? &schemes[T_F_P_N]
                                   : s;
}

static const tl_scheme *choose(const tl_coupled *c)
{
    const bool joints = c->work->m > c->work->points;
    if (!c->work->m) return c->cones ? &stress_pressure : &pressure_only;
    if (c->scheme) return joints ? apart(c->scheme) : c->scheme;
    if (c->cones) return &schemes[F_P_C]; /* sweeps are mixed, whatever the masses */
    bool together = !joints && !c->viscous && contraction(c) > UNIFY_ABOVE;
    return &schemes[together ? TN_PN : P_TN];
}

static talus_status take_work(tl_coupled *c, talus_error *err)
{
    tl_arena *a = c->arena;
    tl_coupled_work *w = c->work = TL_TAKE_ZERO(a, tl_coupled_work, 1);
    if (!w) return no_memory(err);
    w->n = c->pressure.n;
    w->m = c->bodies.J->rows / 3;
    w->points = w->m - (int32_t)c->contact.boxes;
    w->bodies = c->bodies.count;
    w->started = c->warm;
    int64_t all = (int64_t)w->n + 3 * (int64_t)w->m, six = 6 * (int64_t)w->bodies, three = 3 * (int64_t)w->m;
    const tl_pressure_space *space = c->pressure.space;
    const int64_t copies = space ? (int64_t)w->points + 1 + space->copies[0] + space->copies[1] : 0;
    double **vectors[] = {&w->x, &w->x0, &w->b, &w->diag, &w->went};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!(*vectors[i] = TL_TAKE(a, double, all + copies))) return no_memory(err);
    w->g = TL_TAKE(a, double, w->n);
    w->scale = TL_TAKE(a, double, w->m);
    w->r = TL_TAKE(a, double, six);
    w->dv = TL_TAKE(a, double, six);
    w->base = TL_TAKE(a, double, six);
    w->q = TL_TAKE_ZERO(a, double, three);
    w->l = TL_TAKE(a, double, three);
    w->dl = TL_TAKE(a, double, three);
    w->no_friction = TL_TAKE_ZERO(a, double, w->m);
    w->sums = TL_TAKE(a, double, six);
    w->mover = TL_TAKE(a, int32_t, w->bodies);
    w->root = TL_TAKE(a, double, 10 * (int64_t)w->bodies);
    if (!w->sums || !w->mover || !w->root || !w->g || !w->scale || !w->r || !w->dv || !w->base || !w->q || !w->l ||
        !w->dl || !w->no_friction)
        return no_memory(err);
    for (int32_t j = w->points; j < w->m; j++) w->no_friction[j] = c->contact.mu[j];
    return TALUS_OK;
}

static talus_status make_work(tl_coupled *c, talus_error *err)
{
    TL_TRY(tl_comm_agree(tl_coupled_comm(c), take_work(c, err), err));
    tl_arena *a = c->arena;
    tl_coupled_work *w = c->work;
    w->all = (int64_t)tl_comm_sum(tl_coupled_comm(c), w->n);
    tl_coupled_find_bodies(c);
    w->free_bodies = c->bodies;
    w->free_bodies.v_free = w->base;
    w->contact = c->contact;
    w->contact.bodies = &w->free_bodies;
    w->contact.q = w->q;
    if (w->m) {
        TL_TRY(tl_arena_reserve(a, tl_pairs_bytes(&w->contact), err));
        if (!tl_pairs_build(&w->contact, &w->pairs, a))
            return TL_FAIL(err, TALUS_UNSUPPORTED, "a body in contact has no inertia about some axis");
    }
    return TALUS_OK;
}

/* Several parts: normal forces stand between cells and copies. */
static talus_status shift_copies(tl_coupled *c, talus_error *err)
{
    tl_coupled_work *w = c->work;
    tl_pressure *p = &w->with_normals;
    const tl_pressure *of = &c->pressure;
    if (!of->space || !w->points) return TALUS_OK;
    bool good = true;
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) good &= (w->nb[k] = TL_TAKE(c->arena, int32_t, w->n)) != NULL;
    TL_TRY(tl_comm_agree(tl_coupled_comm(c), good ? TALUS_OK : no_memory(err), err));
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
        for (int32_t i = 0; i < w->n; i++) w->nb[k][i] = of->nb[k][i] + (of->nb[k][i] < of->none ? 0 : w->points);
        p->nb[k] = w->nb[k];
    }
    p->none = of->none + w->points;
    return TALUS_OK;
}

static talus_status make_plans(tl_coupled *c, const tl_scheme *s, talus_error *err)
{
    tl_coupled_work *w = c->work;
    tl_pressure_options options = tl_pressure_options_default();
    bool wet = false;
    for (int32_t b = 0; b < c->wet.bodies; b++) wet |= c->wet.wet[b];
    w->alone = c->pressure;
    w->alone.b = w->b;
    if (wet) w->alone.extra = (tl_pressure_extra){.add = tl_coupled_add_alone, .ctx = c};
    w->with_normals = w->alone;
    w->with_normals.extras = w->points;
    TL_TRY(shift_copies(c, err));
    int32_t columns = w->points && w->all < KNOWN_BELOW ? 6 * w->moving : 0;
    w->with_normals.extra = (tl_pressure_extra){
        tl_coupled_add_with_normals, c, w->diag + w->n, columns, tl_coupled_gather, tl_coupled_scatter, 0};
    if (c->viscous) return tl_coupled_viscous_begin(c, err);
    for (int k = 0; k < TL_COUPLED_BLOCKS && s->block[k]; k++) {
        if ((s->block[k] == tl_coupled_pressure || s->block[k] == tl_coupled_pressure_stress) && w->all &&
            !w->plan_alone)
            TL_TRY(tl_pressure_plan_make(&w->plan_alone, c->pressure_method, &w->alone, &options, c->arena, err));
        if (s->block[k] == tl_coupled_pressure_normal && w->all + w->m && !w->plan_with_normals)
            TL_TRY(tl_pressure_plan_make(&w->plan_with_normals, c->pressure_method, &w->with_normals, &options,
                                         c->arena, err));
    }
    return TALUS_OK;
}

/* What is there before any force, and what the start makes of it. A scheme that goes once starts without forces:
 * each block is then blind for what comes after it. The block of cones may still start from what it found in the
 * last step. */
static void start(tl_coupled *c, bool once)
{
    tl_coupled_work *w = c->work;
    memcpy(c->v, c->bodies.v_free, sizeof *c->v * 6 * (size_t)w->bodies);
    c->gradient(c->ctx, w->g);
    w->b_pressure = fmax(tl_max_abs(w->n, w->g), ROUNDING * tl_max_abs(c->faces, c->u) / c->spacing);
    w->b_pressure = tl_coupled_max(c, w->b_pressure);
    tl_csr_mul(c->bodies.J, c->v, w->q);
    w->b_normal = tl_coupled_largest_row(w->q, w->points, 0, 0);
    w->b_tangent = tl_coupled_largest_row(w->q, w->points, 1, 2);
    if (w->m > w->points) { /* what a joint holds may close with nothing: then a solve of contacts alone is enough */
        const double least = c->contact_tolerance / c->tolerance;
        w->b_normal = fmax(w->b_normal, least);
        w->b_joint = fmax(tl_coupled_largest_row(w->q + 3 * (int64_t)w->points, w->m - w->points, 0, 2), least);
    }
    if (c->viscous) {
        double error;
        c->viscous->begin(c->viscous->ctx);
        c->viscous->unbalanced(c->viscous->ctx, &w->free_viscous, &error);
        /* one field: what its divergence and its balance are measured against is the larger of both */
        w->free_viscous = fmax(w->free_viscous, w->b_pressure * c->spacing);
        w->b_pressure = w->free_viscous / c->spacing;
    }
    w->free_pressure = w->b_pressure;
    w->free_normal = w->b_normal;
    if (once) memset(c->lam, 0, sizeof *c->lam * 3 * (size_t)w->m);
    w->held = w->started && once && c->cones;
    if (w->started && !once)
        tl_coupled_push(c, c->p);
    else if (!w->held)
        memset(c->p, 0, sizeof *c->p * (size_t)w->n);
    if (w->held) return;
    if (c->cones && w->started && !once)
        c->cones->push(c->cones->ctx, c->cones->s);
    else if (c->cones)
        memset(c->cones->s, 0, sizeof *c->cones->s * (size_t)c->cones->n);
    if (w->m) tl_coupled_push_contacts(c, c->lam);
}

talus_status tl_scheme_run(tl_coupled *c, tl_scheme_report *out, talus_error *err)
{
    TL_TRY(make_work(c, err));
    const tl_scheme *s = choose(c);
    *out = (tl_scheme_report){.scheme = s, .pressure_method = tl_pressure_method_name(c->pressure_method)};
    TL_TRY(make_plans(c, s, err));
    int max = s->sweeps > 1 && c->sweeps > 0 ? c->sweeps : s->sweeps;
    /* stress by parts is for comparison with the papers: as they do it */
    bool certified = false,
         mixed = s->cones && s->sweeps > 1 && c->pressure.unilateral && c->cones && !c->cones->method->rule;
    const bool turns =
        !c->cones && s->sweeps > 1 && c->work->m && (c->pressure.unilateral || c->viscous) && !c->plain_sweeps;
    if (mixed) TL_TRY(tl_coupled_mix_cones_begin(c, err));
    if (turns) TL_TRY(tl_coupled_mix_begin(c, s, err));
    start(c, s->sweeps == 1);
    if (turns) tl_coupled_mix_state(c, c->work->began);
    for (; out->sweeps < max; out->sweeps++) {
        if (out->sweeps > 0 && s->sweeps > 1 && certified && good(&out->certificate, c->tolerance)) break;
        if (out->sweeps > 0 && c->cones && certified && still(out, c->tolerance)) break;
        size_t mark = tl_arena_mark(c->arena);
        if (mixed && out->sweeps > 0) tl_coupled_mix_cones(c, out->sweeps);
        if (turns && out->sweeps > 0) tl_coupled_mix(c);
        for (int k = 0; k < TL_COUPLED_BLOCKS && s->block[k]; k++) {
            TL_TRY(s->block[k](c, out, err));
            TL_TRY(tl_cancel_check(err));
        }
        if (s->sweeps > 1) tl_coupled_clip_tangent(c);
        out->change = tl_coupled_changed(c);
        out->moved = mixed ? tl_coupled_moved(c) : INFINITY;
        /* a certificate costs a quarter of a sweep */
        certified = !mixed || hardly_changes(out, c->tolerance) || out->sweeps + 1 >= max;
        if (certified) TL_TRY(tl_coupled_certify(c, &out->certificate, err));
        tl_arena_release(c->arena, mark);
    }
    /* by the rules that stop it */
    out->settled = c->cones ? settled(out) : INFINITY;
    bool enough = good(&out->certificate, c->tolerance) || (c->cones && still(out, c->tolerance));
    out->result = enough ? TL_CONVERGED : TL_OUT_OF_ITERATIONS;
    return TALUS_OK;
}

void tl_scheme_report_add(tl_scheme_report *to, const tl_scheme_report *earlier)
{
    to->sweeps += earlier->sweeps;
    to->pressure_iterations += earlier->pressure_iterations;
    to->stress_iterations += earlier->stress_iterations;
    to->contact_iterations += earlier->contact_iterations;
    to->pressure_work.products += earlier->pressure_work.products;
    to->contact_work.products += earlier->contact_work.products;
    to->stress_work.products += earlier->stress_work.products;
    to->stress_work.projections += earlier->stress_work.projections;
}
