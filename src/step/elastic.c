/* The step of elastic bodies by finite elements, with rigid ones.
 *
 *     predict             v* = v + h (gravity, forces); where held nodes go; rigid bodies likewise
 *     detect              what may touch between x and x + h v*; forces of the last step
 *     repeat              until corrections of velocities are below the tolerance
 *         balance         g = M (v - v*) - h f(x + h v)
 *         factor          H = M + h^2 K(x) of each body (true Hessians; projected ones where these are not definite) and W = J H^-1 J^T, unless the last correction was much smaller than the one before
 *         touch           contact impulses lam for u = J (v - H^-1 g) + W lam + bias: Signorini and Coulomb, exactly
 *         search          v += step H^-1 (-g + J^T lam), as long as the exact penalty falls
 *         look again      once it has converged: contacts that these positions show and the prediction did not
 *     move                rigid bodies fly with the velocities that contacts leave them
 *     commit
 *
 * Implicit Euler: x = x_t + h v. The midpoint rule is the same step with h/2 and extrapolated: v_end = 2 v - v_t; it keeps linear and angular momentum to the
 * tolerance and damps nothing, but has no answer to impacts, so bodies with a contact in reach take Euler's step.
 *
 * The exact penalty: 1/2 |v - v*|_M^2 + elastic energy - friction impulses times slips + nu sum of closing beyond the gap, nu = 1.1 times the largest
 * normal impulse. Friction enters as a load: Coulomb's law has no potential. */
#include "step/elastic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/sum.h"
#include "base/timer.h"
#include "model/elastic/rows.h"
#include "model/rigid/motion.h"
#include "solve/contact/dense.h"
#include "step/accounts.h"
#include "step/bodies.h"

#define TOLERANCE_LEAST 1e-8 /* m/s */
#define TOLERANCE_SPEED 1e-6 /* of the fastest node or body */
#define CONTACT_SHARE 0.1    /* of the tolerance: what contact solves may leave in the end, */
#define CONTACT_EARLY 0.01   /* of the last correction: and before */
#define EARLY_MAX 0.01       /* m/s: of a correction that counts for that */
#define ITERATIONS_MAX 40    /* Newton corrections of a step, unless the scene names another cap */
#define CONTRACTION 0.7      /* of corrections: above it the matrix is made anew. A factor costs ten corrections */
#define SEARCH_MAX 12        /* halvings */
#define SEARCH_SHARE 1e-4    /* of the predicted decrease */
#define SEARCH_SLACK 1e-10   /* of the penalty: a rise by less is rounding */
#define PENALTY 1.1          /* over the largest normal impulse */
#define LOOKS 3              /* second looks that may add contacts */
#define PLANE_TRUST 1e-7     /* m: overlaps at the start of a step that are rounding and what solves leave */
#define ROWS_MAX 12000       /* of a dense W: 1.2 GB */

enum phase { PREDICT, DETECT, BALANCE, FACTOR, COMPLIANCE, TOUCH, SEARCH, MOVE, PHASES };
static const char *const phase_names[PHASES] = {"predict",    "detect",        "balance", "factor",
                                                "compliance", "solve contact", "search",  "move"};

typedef struct elastic_step {
    tl_sim *sim;
    const tl_scene *scene;
    const tl_lg *lg;
    tl_elastic_kept *kept;
    const tl_fem *fem;
    tl_arena *arena;
    double h, tolerance;
    tl_bodies bodies; /* rigid ones, their contacts with each other */
    /* predict */
    double *v_star;  /* [3 nodes] of Euler's step */
    tl_vec3 *target; /* [anchors] at the end of the step */
    tl_vec3 *source; /* [anchors] at its start */
    tl_vec3 *spring; /* [anchors] what springs are drawn to at x: halfway with the midpoint rule */
    double *x_star;  /* [3 nodes] where nodes would go without contacts and stresses */
    /* detect */
    tl_lg_contacts contacts;
    tl_lg_view view;
    tl_fem_rows rows;
    double *he;      /* [bodies] h, or h/2 of the midpoint rule */
    double *lam, *u; /* [3 contacts] impulses, N s; velocities */
    /* those of them that may push: the rest is only watched. W is as large as they are many */
    tl_fem_rows active;
    int32_t *pick; /* [active.contacts] of all */
    double *act_lam, *q, *W, *blocks;
    int64_t room; /* contacts that there is room for */
    tl_contact_dense dense;
    tl_contact problem;
    tl_space space;
    /* Newton */
    double *v, *x;   /* [3 nodes] velocities (of the middle, midpoint rule) and positions that they stand for */
    double *v_rigid; /* [6 rigid] */
    double *force, *g, *dv, *r, *v_free, *trial, *x_trial, *scratch;
    bool *movable;          /* [contacts] something of it can move */
    bool *wanted;           /* [contacts] */
    tl_stable_modes *modes; /* [elements] */
    double energy;          /* J, elastic, at x */
    tl_contact_report solved;
    tl_work work;
    int iterations, factors, halvings, looks, contact_iterations;
    double correction; /* m/s, the last one */
    bool converged;
    bool indefinite; /* true Hessians of elements made no definite matrix in this step */
    bool projected;  /* Hessians of elements: the true ones make no definite matrix */
    double slack;    /* m/s: what the contact solve may leave now */
    /* measure */
    double *x_end, *v_end; /* [3 nodes] */
    double depth;          /* m */
    tl_lg_memory *memory;
    double seconds[PHASES], mark;
} elastic_step;

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a step of elastic bodies");
}

static void lap(elastic_step *s, enum phase phase)
{
    double now = tl_seconds();
    s->seconds[phase] += now - s->mark;
    s->mark = now;
}

/* ---- predict ---- */

static talus_status begin_step(elastic_step *s, tl_sim *sim, tl_elastic_kept *kept, const tl_rigid_kept *rigid,
                               double dt, talus_error *err)
{
    tl_arena *a = &sim->arena;
    const int64_t n = 3 * (int64_t)sim->lg.nodes;
    *s = (elastic_step){.sim = sim,
                        .scene = sim->scene,
                        .lg = &sim->lg,
                        .kept = kept,
                        .fem = &kept->fem,
                        .arena = a,
                        .h = dt,
                        .mark = tl_seconds()};
    double **const of_nodes[] = {&s->v_star, &s->x_star, &s->v,     &s->x,       &s->force, &s->g,    &s->dv,
                                 &s->r,      &s->v_free, &s->trial, &s->x_trial, &s->x_end, &s->v_end};
    for (size_t k = 0; k < sizeof of_nodes / sizeof *of_nodes; k++)
        if (!(*of_nodes[k] = TL_TAKE_ZERO(a, double, n))) return no_memory(err);
    s->target = TL_TAKE(a, tl_vec3, s->lg->anchors + 1);
    s->source = TL_TAKE(a, tl_vec3, s->lg->anchors + 1);
    s->spring = TL_TAKE(a, tl_vec3, s->lg->anchors + 1);
    s->he = TL_TAKE(a, double, s->fem->bodies + 1);
    s->v_rigid = TL_TAKE(a, double, 6 * (int64_t)sim->rigid.count + 1);
    s->scratch = TL_TAKE(a, double, tl_fem_scratch(s->fem));
    s->modes = TL_TAKE(a, tl_stable_modes, s->fem->elements + 1);
    if (!s->target || !s->source || !s->spring || !s->he || !s->v_rigid || !s->scratch || !s->modes)
        return no_memory(err);
    return tl_bodies_begin(&s->bodies, sim, rigid, dt, err);
}

/* Force and torque on an elastic body, from the scene and from code, as accelerations of its nodes: a + alpha x (x - centre). */
static talus_status push_body(elastic_step *s, int b, talus_error *err)
{
    const tl_lg_body *body = &s->lg->body[b];
    const tl_lg_state *now = &s->sim->state.lg;
    const tl_motion *m = &s->bodies.before[body->body];
    const tl_body *asked = &s->scene->bodies[body->body];
    double f[3], t[3];
    TL_TRY(tl_scene_timed(s->scene, &asked->force, s->sim->state.t, f, 3, err));
    TL_TRY(tl_scene_timed(s->scene, &asked->torque, s->sim->state.t, t, 3, err));
    tl_vec3 force = tl_vec3_add(m->force, tl_vec3_load(f)), torque = tl_vec3_add(m->torque, tl_vec3_load(t)),
            c = {0, 0, 0};
    double mass = 0;
    for (int32_t i = body->node; i < body->node + body->nodes; i++) {
        mass += s->lg->mass[i];
        c = tl_vec3_add_scaled(c, s->lg->mass[i], tl_vec3_load(now->q + 3 * (int64_t)i));
    }
    c = tl_vec3_scale(1 / mass, c);
    tl_vec3 alpha = {0, 0, 0};
    if (tl_vec3_norm(torque) > 0) {
        tl_mat3 I = tl_mat3_zero(), inverse;
        for (int32_t i = body->node; i < body->node + body->nodes; i++) {
            tl_vec3 r = tl_vec3_sub(tl_vec3_load(now->q + 3 * (int64_t)i), c);
            tl_mat3 square = tl_mat3_sub(tl_mat3_scale(tl_vec3_norm2(r), tl_mat3_identity()), tl_mat3_outer(r, r));
            I = tl_mat3_add_scaled(I, s->lg->mass[i], square);
        }
        if (tl_mat3_inverse(I, &inverse)) alpha = tl_mat3_mul_vec(inverse, torque);
    }
    tl_vec3 a = tl_vec3_add_scaled(s->scene->gravity, 1 / mass, force);
    for (int32_t i = body->node; i < body->node + body->nodes; i++) {
        tl_vec3 r = tl_vec3_sub(tl_vec3_load(now->q + 3 * (int64_t)i), c);
        tl_vec3 v = tl_vec3_load(now->v + 3 * (int64_t)i), all = tl_vec3_add(a, tl_vec3_cross(alpha, r));
        tl_vec3_store(tl_vec3_add_scaled(v, s->h, all), s->v_star + 3 * (int64_t)i);
    }
    return TALUS_OK;
}

/* Velocities of held nodes lead to where they have to be. */
static void lead_held(const elastic_step *s, double *v)
{
    const double *from = s->sim->state.lg.q;
    for (int32_t k = 0; k < s->lg->anchors; k++) {
        if (!s->fem->is_held[k]) continue;
        const double t[3] = {s->target[k].x, s->target[k].y, s->target[k].z};
        for (int64_t c = 0, i = 3 * (int64_t)s->lg->anchor[k].vertex; c < 3; c++)
            v[i + c] = (t[c] - from[i + c]) / s->h;
    }
}

/* Functions of time are read here and nowhere else. */
static talus_status predict(elastic_step *s, talus_error *err)
{
    const tl_lg_state *now = &s->sim->state.lg;
    const int64_t n = 3 * (int64_t)s->lg->nodes;
    tl_pose *handle = TL_TAKE(s->arena, tl_pose, s->lg->handles + 1);
    if (!handle) return no_memory(err);
    TL_TRY(tl_lg_handle_poses(s->lg, s->scene, s->sim->state.t + s->h, handle, err));
    tl_lg_targets(s->lg, handle, s->target);
    TL_TRY(tl_lg_handle_poses(s->lg, s->scene, s->sim->state.t, handle, err));
    tl_lg_targets(s->lg, handle, s->source);
    TL_TRY(tl_bodies_predict(&s->bodies, err));
    for (int b = 0; b < s->lg->bodies; b++) TL_TRY(push_body(s, b, err));
    lead_held(s, s->v_star);
    memcpy(s->v, now->v, sizeof *s->v * (size_t)n);
    lead_held(s, s->v);
    for (int64_t i = 0; i < n; i++) s->x_star[i] = now->q[i] + s->h * s->v_star[i];
    double fastest2 = 0;
    for (int32_t i = 0; i < s->lg->nodes; i++)
        fastest2 = fmax(fastest2, tl_vec3_norm2(tl_vec3_load(now->v + 3 * (int64_t)i)));
    for (int32_t i = 0; i < s->sim->rigid.count; i++) fastest2 = fmax(fastest2, tl_vec3_norm2(s->bodies.before[i].v));
    double asked = s->scene->solver.contact.tolerance;
    s->tolerance = asked > 0 ? asked : fmax(TOLERANCE_LEAST, TOLERANCE_SPEED * sqrt(fastest2));
    memcpy(s->v_rigid, s->bodies.v_free, sizeof *s->v_rigid * 6 * (size_t)s->sim->rigid.count);
    lap(s, PREDICT);
    return TALUS_OK;
}

/* ---- detect ---- */

/* Frames of all shapes at the end of the step, free bodies as if nothing touched them. */
static void predict_poses(const elastic_step *s, tl_pose *after)
{
    for (int32_t i = 0; i < s->sim->rigid.count; i++) {
        tl_motion m = s->bodies.body[i];
        const tl_rigid_body *b = &s->sim->rigid.body[i];
        if (b->kind == TL_BODY_FREE && !b->elastic)
            tl_rigid_fly(b, s->h, &m);
        else if (b->kind == TL_BODY_KINEMATIC)
            m.x = m.goal.at, m.q = m.goal.rotation;
        after[i] = tl_rigid_pose(b, &m);
    }
}

static int compare(const void *a, const void *b)
{
    const tl_lg_memory *p = a, *q = b;
    if (p->obstacle != q->obstacle) return p->obstacle < q->obstacle ? -1 : 1;
    if (p->point != q->point) return p->point < q->point ? -1 : 1;
    return p->feature < q->feature ? -1 : p->feature > q->feature;
}

/* Impulses of the last step where the same points touch again. */
static void match(elastic_step *s)
{
    const tl_lg_state *past = &s->sim->state.lg;
    for (int32_t c = 0; c < s->rows.soft; c++) {
        const tl_lg_contact *k = &s->contacts.contact[c];
        tl_lg_memory key = {.point = k->point, .obstacle = k->obstacle, .feature = k->feature}, *m = NULL;
        if (past->contacts) m = bsearch(&key, past->contact, (size_t)past->contacts, sizeof key, compare);
        if (!m) continue;
        tl_vec3 f = tl_vec3_scale(s->h, tl_vec3_load(m->force));
        for (int a = 0; a < 3; a++) s->lam[3 * (int64_t)c + a] = tl_vec3_dot(f, s->rows.link[c].axis[a]);
    }
    for (int64_t k = 3 * (int64_t)s->rows.soft; k < 3 * (int64_t)s->rows.contacts; k++)
        s->lam[k] = s->bodies.lam[k - 3 * (int64_t)s->rows.soft];
}

/* Planes of shapes are found where nodes would go, and deep inside the nearest way out need not be the one they came: a point that starts outside of the shape but
 * behind such a plane gets the plane that separates them at the start instead. Else it would be pushed through the shape, at a fifth of the depth per step, for
 * ever. */
static void mend_planes(elastic_step *s)
{
    const double *from = s->sim->state.lg.q;
    for (int32_t k = 0; k < s->contacts.shapes; k++) {
        tl_lg_contact *c = &s->contacts.contact[k];
        tl_vec3 x = {0, 0, 0}, n;
        for (int i = 0; i < 4 && c->a.node[i] >= 0; i++)
            x = tl_vec3_add_scaled(x, c->a.weight[i], tl_vec3_load(from + 3 * (int64_t)c->a.node[i]));
        double moved = s->h * tl_vec3_dot(c->normal, c->drag), gap = tl_vec3_dot(c->normal, x) - c->offset + moved;
        if (!(gap < -PLANE_TRUST)) continue;
        const tl_pose *pose = &s->bodies.pose[c->body_b];
        double d = tl_collider_distance(s->sim->rigid.body[c->body_b].collider, tl_pose_to_local(pose, x), &n);
        if (!(d > 0.5 * gap)) continue; /* it does overlap */
        c->normal = tl_quat_rotate(pose->rotation, n);
        c->at = tl_vec3_add_scaled(x, -d, c->normal);
        c->offset = tl_vec3_dot(c->normal, c->at) + s->h * tl_vec3_dot(c->normal, c->drag);
    }
}

/* Rows for the contacts there are; impulses are zero. */
static talus_status make_rows(elastic_step *s, talus_error *err)
{
    mend_planes(s);
    tl_fem_rows_of from = {.fem = s->fem,
                           .h = s->h,
                           .from = s->sim->state.lg.q,
                           .soft = &s->contacts,
                           .rigid = s->sim->rigid.count,
                           .body = s->bodies.before,
                           .inv_mass = s->bodies.inv_mass,
                           .inv_inertia = s->bodies.inv_inertia,
                           .hard = &s->bodies.contacts};
    TL_TRY(tl_fem_rows_make(&s->rows, &from, s->arena, err));
    const int64_t m = s->rows.contacts, n = 3 * m;
    s->lam = TL_TAKE_ZERO(s->arena, double, n + 1);
    s->u = TL_TAKE_ZERO(s->arena, double, n + 1);
    s->pick = TL_TAKE(s->arena, int32_t, m + 1);
    s->wanted = TL_TAKE(s->arena, bool, m + 1);
    s->movable = TL_TAKE_ZERO(s->arena, bool, m + 1);
    if (!s->lam || !s->u || !s->pick || !s->wanted || !s->movable) return no_memory(err);
    s->active = (tl_fem_rows){0};
    s->room = 0;
    for (int32_t c = 0; c < s->rows.contacts; c++) {
        const tl_fem_link *l = &s->rows.link[c];
        for (int k = 0; k < l->nodes; k++) s->movable[c] |= s->fem->place[l->node[k]] >= 0;
        for (int e = 0; e < 2; e++) s->movable[c] |= l->body[e] >= 0 && s->bodies.inv_mass[l->body[e]] > 0;
    }
    /* who takes which rule */
    for (int b = 0; b < s->fem->bodies; b++) s->he[b] = s->kept->midpoint ? 0.5 * s->h : s->h;
    for (int32_t c = 0; c < s->rows.soft; c++)
        for (int k = 0; k < s->rows.link[c].nodes; k++) s->he[s->lg->owner[s->rows.link[c].node[k]]] = s->h;
    return TALUS_OK;
}

static talus_status detect(elastic_step *s, talus_error *err)
{
    tl_bodies *b = &s->bodies;
    tl_pose *after = TL_TAKE(s->arena, tl_pose, s->sim->rigid.count);
    if (!after) return no_memory(err);
    predict_poses(s, after);
    s->view = (tl_lg_view){.lg = s->lg,
                           .rigid = &s->sim->rigid,
                           .scene = s->scene,
                           .from = s->sim->state.lg.q,
                           .to = s->x_star,
                           .body = b->body,
                           .before = b->pose,
                           .after = after,
                           .friction = b->friction,
                           .past = &s->sim->state.lg,
                           .h = s->h};
    TL_TRY(tl_lg_detect(&s->view, s->arena, &s->contacts, err));
    TL_TRY(tl_lg_detect_rigid(&s->view, &s->sim->state.rigid, s->arena, &b->contacts, err));
    TL_TRY(tl_bodies_match(b, err));
    TL_TRY(tl_bodies_assemble(b, err));
    TL_TRY(make_rows(s, err));
    match(s);
    lap(s, DETECT);
    return TALUS_OK;
}

/* ---- Newton ---- */

static void positions(const elastic_step *s, const double *v, double *x)
{
    const double *from = s->sim->state.lg.q;
    for (int b = 0; b < s->fem->bodies; b++) {
        const tl_fem_body *body = &s->fem->body[b];
        for (int64_t i = 3 * (int64_t)body->node; i < 3 * (int64_t)(body->node + body->nodes); i++)
            x[i] = from[i] + s->he[b] * v[i];
    }
}

/* v* of a body that takes h_e: the scene's forces act for that long. */
static double star(const elastic_step *s, int b, int64_t i)
{
    double v = s->sim->state.lg.v[i];
    return v + s->he[b] / s->h * (s->v_star[i] - v);
}

static double spring_energy(const elastic_step *s, const double *x, const tl_vec3 *target, double *force)
{
    double sum = 0;
    for (int32_t k = 0; k < s->lg->anchors; k++) {
        const tl_lg_anchor *a = &s->lg->anchor[k];
        if (s->fem->is_held[k] || s->fem->place[a->vertex] < 0) continue;
        tl_vec3 off = tl_vec3_sub(target[k], tl_vec3_load(x + 3 * (int64_t)a->vertex));
        sum += 0.5 * a->weight * tl_vec3_norm2(off);
        if (!force) continue;
        double *f = force + 3 * (int64_t)a->vertex;
        tl_vec3_store(tl_vec3_add_scaled(tl_vec3_load(f), a->weight, off), f);
    }
    return sum;
}

/* g = M (v - v*) - h f; zero at held nodes. */
static void balance(elastic_step *s)
{
    positions(s, s->v, s->x);
    s->energy = tl_fem_forces(s->fem, s->x, s->force, s->scratch);
    s->energy += spring_energy(s, s->x, s->spring, s->force);
    for (int b = 0; b < s->fem->bodies; b++) {
        const tl_fem_body *body = &s->fem->body[b];
        for (int32_t i = body->node; i < body->node + body->nodes; i++)
            for (int64_t k = 3 * (int64_t)i; k < 3 * (int64_t)i + 3; k++)
                s->g[k] =
                    s->fem->place[i] < 0 ? 0 : s->lg->mass[i] * (s->v[k] - star(s, b, k)) - s->he[b] * s->force[k];
    }
    lap(s, BALANCE);
}

static talus_status factor(elastic_step *s, bool *again, talus_error *err)
{
    const int bodies = s->fem->bodies;
    talus_status status = TALUS_OK;
    tl_fem_modes(s->fem, s->x, s->projected, s->modes);
    for (int b = 0; b < bodies; b++) tl_fem_matrix(s->fem, b, s->he[b], s->modes, &s->fem->body[b].A);
#pragma omp parallel for schedule(dynamic, 1) if (bodies > 1)
    for (int b = 0; b < bodies; b++) {
        talus_error why = {0};
        talus_status one = tl_factor_compute(s->kept->factor[b], &s->fem->body[b].A, &why);
        if (one == TALUS_OK) continue;
#pragma omp critical
        if (status == TALUS_OK) {
            status = one;
            if (err) *err = why;
        }
    }
    s->factors++;
    lap(s, FACTOR);
    if (status == TALUS_NOT_DEFINITE && !s->projected) {
        s->projected = s->indefinite = true;
        return factor(s, again, err);
    }
    *again = status != TALUS_OK && status != TALUS_NO_MEMORY;
    return status;
}

/* Room for a problem of m contacts. What was there before stays in the arena. */
static talus_status make_room(elastic_step *s, int64_t m, talus_error *err)
{
    if (s->room >= m) return TALUS_OK;
    int64_t room = m + m / 8 + 4, n = 3 * room;
    if (3 * m > ROWS_MAX)
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "%lld contacts of elastic bodies push in one step, at most %d are possible", (long long)m,
                       ROWS_MAX / 3);
    s->active.link = TL_TAKE(s->arena, tl_fem_link, room);
    s->active.mu = TL_TAKE(s->arena, double, room);
    s->act_lam = TL_TAKE(s->arena, double, n);
    s->q = TL_TAKE(s->arena, double, n);
    s->W = TL_TAKE(s->arena, double, n *n);
    s->blocks = TL_TAKE(s->arena, double, 3 * n);
    if (!s->active.link || !s->active.mu || !s->act_lam || !s->q || !s->W || !s->blocks) return no_memory(err);
    s->room = room;
    return TALUS_OK;
}

/* Contacts that push or whose velocities u [3 contacts] are below `near`; those that are active stay so, unless `anew`. */
static int32_t choose_active(elastic_step *s, double near, bool anew)
{
    int32_t count = 0, old = 0;
    for (int32_t c = 0; c < s->rows.contacts; c++) {
        bool was = old < s->active.contacts && s->pick[old] == c;
        old += was;
        s->wanted[c] = (was && !anew) || s->lam[3 * (int64_t)c] > 0 || s->u[3 * (int64_t)c] < near;
        s->wanted[c] &= s->movable[c];
    }
    for (int32_t c = 0; c < s->rows.contacts; c++)
        if (s->wanted[c]) s->pick[count++] = c;
    return count;
}

/* The problem of the contacts in `pick`, with the factors there are. */
static talus_status assemble(elastic_step *s, int32_t count, talus_error *err)
{
    TL_TRY(make_room(s, count, err));
    tl_fem_rows *a = &s->active;
    tl_fem_link *link = a->link;
    double *mu = a->mu;
    *a = s->rows;
    a->link = link;
    a->mu = mu;
    a->contacts = count;
    a->soft = 0;
    for (int32_t k = 0; k < count; k++) {
        link[k] = s->rows.link[s->pick[k]];
        mu[k] = s->rows.mu[s->pick[k]];
        a->soft += s->pick[k] < s->rows.soft;
    }
    const int64_t n = 3 * (int64_t)count;
    s->space = tl_space_local(n);
    s->dense = (tl_contact_dense){n, s->W};
    s->problem = (tl_contact){
        .space = &s->space, .W = tl_contact_dense_linop(&s->dense), .blocks = s->blocks, .q = s->q, .mu = mu};
    if (count == 0) return TALUS_OK;
    TL_TRY(tl_fem_rows_compliance(a, s->kept->factor, s->W, s->arena, err));
    for (int64_t c = 0; c < count; c++)
        for (int k = 0; k < 9; k++) s->blocks[9 * c + k] = s->W[(3 * c + k / 3) * n + 3 * c + k % 3];
    lap(s, COMPLIANCE);
    return TALUS_OK;
}

/* x = H^-1 b over all nodes; zero at held ones. room [3 nodes]; x may be b. */
static talus_status solve(elastic_step *s, const double *b, double *x, talus_error *err)
{
    for (int k = 0; k < s->fem->bodies; k++) {
        const tl_fem_body *body = &s->fem->body[k];
        double *own = s->x_trial; /* free here */
        for (int32_t i = body->node; i < body->node + body->nodes; i++)
            if (s->fem->place[i] >= 0) memcpy(own + 3 * (int64_t)s->fem->place[i], b + 3 * (int64_t)i, 3 * sizeof *own);
        TL_TRY(tl_factor_solve(s->kept->factor[k], 1, own, own, err));
        for (int32_t i = body->node; i < body->node + body->nodes; i++) {
            double *out = x + 3 * (int64_t)i;
            if (s->fem->place[i] < 0)
                memset(out, 0, 3 * sizeof *out);
            else
                memcpy(out, own + 3 * (int64_t)s->fem->place[i], 3 * sizeof *out);
        }
    }
    return TALUS_OK;
}

/* Impulses of the active contacts, from velocities v_free of nodes without any. */
static talus_status solve_active(elastic_step *s, const double *v_free, talus_error *err)
{
    const int32_t count = s->active.contacts;
    for (int32_t k = 0; k < count; k++)
        memcpy(s->act_lam + 3 * (int64_t)k, s->lam + 3 * (int64_t)s->pick[k], 3 * sizeof *s->lam);
    memset(s->lam, 0, 3 * sizeof *s->lam * (size_t)s->rows.contacts);
    if (count == 0) return TALUS_OK;
    tl_fem_rows_velocity(&s->active, v_free, s->bodies.v_free, s->q);
    bool box = s->scene->solver.cone && !strcmp(s->scene->solver.cone, "pyramid");
    tl_stop stop = {.tolerance = s->slack, .max_iterations = s->scene->solver.contact.iterations};
    tl_options options = tl_options_default();
    TL_TRY(tl_contact_solve(box ? &tl_contact_pyramid_dense : &tl_contact_newton_dense, &s->problem, &options, &stop,
                            s->act_lam, s->arena, s->sim->history, &s->solved, err));
    s->work.products += s->solved.work.products;
    s->work.factorizations += s->solved.work.factorizations;
    s->work.projections += s->solved.work.projections;
    s->work.outer += s->solved.work.outer;
    s->contact_iterations += s->solved.outcome.iterations;
    for (int32_t k = 0; k < count; k++)
        memcpy(s->lam + 3 * (int64_t)s->pick[k], s->act_lam + 3 * (int64_t)k, 3 * sizeof *s->lam);
    return TALUS_OK;
}

/* -g + J^T lam into s->dv, zero at held nodes; velocities of bodies under lam into v_rigid. */
static void push(elastic_step *s, double *v_rigid)
{
    const int64_t n = 3 * (int64_t)s->lg->nodes, r = s->sim->rigid.count;
    for (int64_t i = 0; i < n; i++) s->dv[i] = -s->g[i];
    memset(v_rigid, 0, sizeof *v_rigid * 6 * (size_t)r);
    tl_fem_rows_push(&s->rows, s->lam, s->dv, v_rigid);
    for (int32_t i = 0; i < s->lg->nodes; i++)
        if (s->fem->place[i] < 0) memset(s->dv + 3 * (int64_t)i, 0, 3 * sizeof *s->dv);
    for (int64_t i = 0; i < r; i++) {
        tl_mat3 I;
        double *w = v_rigid + 6 * i;
        memcpy(I.m, s->bodies.inv_inertia + 9 * i, sizeof I.m);
        tl_vec3 turn = tl_mat3_mul_vec(I, tl_vec3_load(w + 3));
        tl_vec3_store(tl_vec3_scale(s->bodies.inv_mass[i], tl_vec3_load(w)), w);
        tl_vec3_store(turn, w + 3);
        for (int k = 0; k < 6; k++) w[k] += s->bodies.v_free[6 * i + k];
    }
}

/* The correction dv and the impulses that go with it; contacts that it would close and that are not active become so. */
static talus_status touch(elastic_step *s, bool fresh, double *v_rigid, talus_error *err)
{
    const int64_t n = 3 * (int64_t)s->lg->nodes;
    if (s->rows.contacts > 0) {
        for (int64_t i = 0; i < n; i++) s->dv[i] = -s->g[i];
        TL_TRY(solve(s, s->dv, s->v_free, err));
        for (int64_t i = 0; i < n; i++) s->v_free[i] += s->v[i];
        if (fresh) { /* at first what closes without impulses, later what is as near as the last correction reached */
            bool first = s->active.contacts == 0;
            tl_fem_rows_velocity(&s->rows, first ? s->v_free : s->v, first ? s->bodies.v_free : s->v_rigid, s->u);
            TL_TRY(assemble(s, choose_active(s, first ? 0 : s->correction, true), err));
        }
    }
    for (bool more = true; more;) {
        more = false;
        if (s->rows.contacts > 0) TL_TRY(solve_active(s, s->v_free, err));
        push(s, v_rigid);
        memcpy(s->r, s->dv, sizeof *s->r * (size_t)n);
        TL_TRY(solve(s, s->dv, s->dv, err));
        if (s->rows.contacts == 0) break;
        for (int64_t i = 0; i < n; i++) s->trial[i] = s->v[i] + s->dv[i];
        tl_fem_rows_velocity(&s->rows, s->trial, v_rigid, s->u);
        int32_t k = 0;
        for (int32_t c = 0; c < s->rows.contacts; c++) {
            bool is = k < s->active.contacts && s->pick[k] == c;
            k += is;
            more |= !is && s->movable[c] && s->u[3 * (int64_t)c] < -s->slack;
        }
        if (!more) break;
        lap(s, TOUCH);
        TL_TRY(assemble(s, choose_active(s, 0, false), err));
    }
    lap(s, TOUCH);
    return TALUS_OK;
}

/* The exact penalty at velocities v and v_rigid. */
static double penalty(elastic_step *s, const double *v, const double *v_rigid, double energy, double nu)
{
    double sum = energy;
    for (int b = 0; b < s->fem->bodies; b++) {
        const tl_fem_body *body = &s->fem->body[b];
        for (int32_t i = body->node; i < body->node + body->nodes; i++)
            for (int64_t k = 3 * (int64_t)i; k < 3 * (int64_t)i + 3 && s->fem->place[i] >= 0; k++)
                sum += 0.5 * s->lg->mass[i] * (v[k] - star(s, b, k)) * (v[k] - star(s, b, k));
    }
    if (s->rows.contacts == 0) return sum;
    for (int32_t i = 0; i < s->sim->rigid.count; i++) {
        const tl_rigid_body *b = &s->sim->rigid.body[i];
        if (!(s->bodies.inv_mass[i] > 0)) continue;
        double d[6];
        for (int k = 0; k < 6; k++) d[k] = v_rigid[6 * (int64_t)i + k] - s->bodies.v_free[6 * (int64_t)i + k];
        tl_vec3 w = tl_vec3_load(d + 3);
        sum += 0.5 * b->mass * tl_vec3_norm2(tl_vec3_load(d)) +
               0.5 * tl_vec3_dot(w, tl_rigid_angular_momentum(b, s->bodies.before[i].q, w));
    }
    tl_fem_rows_velocity(&s->rows, v, v_rigid, s->u);
    for (int64_t c = 0; c < s->rows.contacts; c++) {
        sum -= s->lam[3 * c + 1] * s->u[3 * c + 1] + s->lam[3 * c + 2] * s->u[3 * c + 2];
        if (s->movable[c]) sum += nu * fmax(0, -s->u[3 * c]);
    }
    return sum;
}

/* The penalty `length` of the way along dv; trial velocities are left in s->trial and behind v_next. */
static double penalty_along(elastic_step *s, double length, double *v_next_rigid, double nu)
{
    const int64_t n = 3 * (int64_t)s->lg->nodes, r = 6 * (int64_t)s->sim->rigid.count;
    double *rigid = v_next_rigid + r;
    for (int64_t i = 0; i < n; i++) s->trial[i] = s->v[i] + length * s->dv[i];
    for (int64_t i = 0; i < r; i++) rigid[i] = s->v_rigid[i] + length * (v_next_rigid[i] - s->v_rigid[i]);
    positions(s, s->trial, s->x_trial);
    double energy = tl_fem_forces(s->fem, s->x_trial, NULL, s->scratch) + spring_energy(s, s->x_trial, s->spring, NULL);
    return penalty(s, s->trial, rigid, energy, nu);
}

/* Goes along dv as far as the penalty falls. Returns the share that it went. `slow`: corrections hardly shrink, as where something buckles and the projected
 * matrix is much stiffer than the body; then further than dv, doubling as long as it pays. */
static double search(elastic_step *s, double *v_next_rigid, bool slow)
{
    const int64_t n = 3 * (int64_t)s->lg->nodes, r = 6 * (int64_t)s->sim->rigid.count;
    double nu = 0, length = 1, load = 0;
    for (int64_t c = 0; c < s->rows.contacts; c++) {
        nu = fmax(nu, PENALTY * s->lam[3 * c]);
        load += hypot(s->lam[3 * c + 1], s->lam[3 * c + 2]);
    }
    double now = penalty(s, s->v, s->v_rigid, s->energy, nu), decrease = tl_dot(n, s->r, s->dv);
    /* what rounding and the contact solve leave */
    double slack = SEARCH_SLACK * fabs(now) + s->kept->noise + (nu * (double)s->rows.contacts + load) * s->slack;
    double at = penalty_along(s, length, v_next_rigid, nu);
    for (int k = 0; k < SEARCH_MAX && !(at <= now - SEARCH_SHARE * length * decrease + slack); k++) {
        length *= 0.5;
        at = penalty_along(s, length, v_next_rigid, nu);
        s->halvings++;
    }
    if (slow && length == 1) {
        for (int k = 0; k < SEARCH_MAX; k++) {
            double further = penalty_along(s, 2 * length, v_next_rigid, nu);
            if (!(further < at - s->kept->noise)) break;
            length *= 2;
            at = further;
        }
        penalty_along(s, length, v_next_rigid, nu);
    }
    memcpy(s->v, s->trial, sizeof *s->v * (size_t)n);
    memcpy(s->v_rigid, v_next_rigid + r, sizeof *v_next_rigid * (size_t)r);
    lap(s, SEARCH);
    return length;
}

/* Inertia and elastic energy at velocities v, J. */
static double energy_at(elastic_step *s, const double *v)
{
    double sum = 0;
    positions(s, v, s->x_trial);
    for (int b = 0; b < s->fem->bodies; b++) {
        const tl_fem_body *body = &s->fem->body[b];
        for (int32_t i = body->node; i < body->node + body->nodes; i++)
            for (int64_t k = 3 * (int64_t)i; k < 3 * (int64_t)i + 3 && s->fem->place[i] >= 0; k++)
                sum += 0.5 * s->lg->mass[i] * (v[k] - star(s, b, k)) * (v[k] - star(s, b, k));
    }
    return sum + tl_fem_forces(s->fem, s->x_trial, NULL, s->scratch) + spring_energy(s, s->x_trial, s->spring, NULL);
}

/* Velocities that lead a body where it would go if it were rigid, with the momenta of v*; those of v where nodes are held. */
static void fly_rigid(const elastic_step *s, int b, double *v)
{
    const tl_fem_body *body = &s->fem->body[b];
    const double *from = s->sim->state.lg.q;
    tl_vec3 c = {0, 0, 0}, mean = {0, 0, 0}, L = {0, 0, 0};
    tl_mat3 I = tl_mat3_zero(), inverse;
    double mass = 0, he = s->he[b];
    if (body->unknown < body->nodes) return;
    for (int32_t i = body->node; i < body->node + body->nodes; i++) {
        int64_t k = 3 * (int64_t)i;
        tl_vec3 w = {star(s, b, k), star(s, b, k + 1), star(s, b, k + 2)};
        mass += s->lg->mass[i];
        c = tl_vec3_add_scaled(c, s->lg->mass[i], tl_vec3_load(from + k));
        mean = tl_vec3_add_scaled(mean, s->lg->mass[i], w);
    }
    c = tl_vec3_scale(1 / mass, c);
    mean = tl_vec3_scale(1 / mass, mean);
    for (int32_t i = body->node; i < body->node + body->nodes; i++) {
        int64_t k = 3 * (int64_t)i;
        tl_vec3 r = tl_vec3_sub(tl_vec3_load(from + k), c), w = {star(s, b, k), star(s, b, k + 1), star(s, b, k + 2)};
        L = tl_vec3_add_scaled(L, s->lg->mass[i], tl_vec3_cross(r, w));
        tl_mat3 square = tl_mat3_sub(tl_mat3_scale(tl_vec3_norm2(r), tl_mat3_identity()), tl_mat3_outer(r, r));
        I = tl_mat3_add_scaled(I, s->lg->mass[i], square);
    }
    if (!tl_mat3_inverse(I, &inverse)) return;
    tl_quat turn = tl_quat_exp(tl_vec3_scale(he, tl_mat3_mul_vec(inverse, L)));
    for (int32_t i = body->node; i < body->node + body->nodes; i++) {
        tl_vec3 r = tl_vec3_sub(tl_vec3_load(from + 3 * (int64_t)i), c), d = tl_vec3_sub(tl_quat_rotate(turn, r), r);
        tl_vec3_store(tl_vec3_add_scaled(mean, 1 / he, d), v + 3 * (int64_t)i);
    }
}

/* Newton starts from the velocities of the last step, from rest, or from the flight of a rigid body, whichever is nearest to balance: what is badly deformed may fly
 * apart with the first, and a stiff body that turns is stretched by all but the last. */
static void choose_start(elastic_step *s)
{
    const size_t bytes = sizeof *s->v * 3 * (size_t)s->lg->nodes;
    double best = energy_at(s, s->v);
    memset(s->trial, 0, bytes);
    lead_held(s, s->trial);
    double still = energy_at(s, s->trial);
    memcpy(s->dv, s->v, bytes);
    for (int b = 0; b < s->fem->bodies; b++) fly_rigid(s, b, s->dv);
    double flight = energy_at(s, s->dv);
    if (flight < best && flight <= still)
        memcpy(s->v, s->dv, bytes);
    else if (still < best)
        memcpy(s->v, s->trial, bytes);
}

static talus_status newton(elastic_step *s, bool *again, talus_error *err)
{
    const int64_t n = 3 * (int64_t)s->lg->nodes;
    int cap = s->scene->fem.iterations > 0 ? s->scene->fem.iterations : ITERATIONS_MAX;
    for (int32_t k = 0; k < s->lg->anchors; k++) {
        bool middle = s->he[s->lg->owner[s->lg->anchor[k].vertex]] < s->h;
        s->spring[k] = middle ? tl_vec3_scale(0.5, tl_vec3_add(s->source[k], s->target[k])) : s->target[k];
    }
    if (s->looks == 0) choose_start(s);
    double last = INFINITY, *rigid = TL_TAKE_ZERO(s->arena, double, 12 * (int64_t)s->sim->rigid.count + 1);
    bool fresh = true;
    if (!rigid) return no_memory(err);
    s->converged = false;
    s->projected = true;
    for (int k = 0; k < cap && !s->converged; k++) {
        TL_TRY(tl_cancel_check(err));
        balance(s);
        if (fresh) TL_TRY(factor(s, again, err));
        s->slack = fmax(CONTACT_SHARE * s->tolerance, CONTACT_EARLY * fmin(last, EARLY_MAX));
        TL_TRY(touch(s, fresh, rigid, err));
        double most = 0;
        for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(s->dv[i]));
        for (int64_t i = 0; i < n; i++)
            if (!isfinite(s->dv[i])) most = INFINITY;
        if (!(most < INFINITY)) {
            *again = true;
            return TL_FAIL(err, TALUS_BAD_INPUT, "velocities of elastic nodes became NaN or infinite");
        }
        double length = search(s, rigid, most > CONTRACTION * last);
        s->iterations++;
        s->correction = most;
        s->converged = most <= s->tolerance && length == 1 && s->slack <= s->tolerance &&
                       (s->active.contacts == 0 || s->solved.certificate.residual <= s->tolerance);
        fresh = length != 1 || most > CONTRACTION * last;
        /* true Hessians are for the end, where they make Newton quadratic; before, their steps may be wild */
        s->projected = s->indefinite || length != 1 || most > last;
        last = most;
    }
    return TALUS_OK;
}

/* Where contact and stress lead nodes is not where they were predicted to be: something may stand between them now. */
static talus_status look_again(elastic_step *s, bool *more, talus_error *err)
{
    int32_t *origin;
    tl_lg_contacts all;
    const tl_fem_rows old = s->rows;
    const double *lam = s->lam;
    for (int64_t i = 0; i < 3 * (int64_t)s->lg->nodes; i++) s->x_end[i] = s->sim->state.lg.q[i] + s->h * s->v[i];
    s->view.to = s->x_end;
    TL_TRY(tl_lg_detect_again(&s->view, &s->contacts, s->arena, &all, &origin, more, err));
    if (*more) {
        s->contacts = all;
        TL_TRY(make_rows(s, err));
        for (int32_t c = 0; c < s->rows.soft; c++) {
            if (origin[c] < 0) continue;
            tl_vec3 f = tl_fem_link_force(&old.link[origin[c]], lam + 3 * (int64_t)origin[c]);
            for (int k = 0; k < 3; k++) s->lam[3 * (int64_t)c + k] = tl_vec3_dot(s->rows.link[c].axis[k], f);
        }
        if (old.contacts > old.soft)
            memcpy(s->lam + 3 * (int64_t)s->rows.soft, lam + 3 * (int64_t)old.soft,
                   3 * sizeof *lam * (size_t)(old.contacts - old.soft));
    }
    lap(s, DETECT);
    return TALUS_OK;
}

/* ---- move, measure, commit ---- */

static talus_status judge(const elastic_step *s, bool *again, talus_error *err)
{
    tl_unconverged policy = s->scene->solver.on_unconverged;
    if (s->converged || policy == TL_UNCONVERGED_ACCEPT) return TALUS_OK;
    *again = policy == TL_UNCONVERGED_SHRINK_DT;
    return TL_FAIL(err, TALUS_NOT_DEFINITE,
                   "elastic bodies: %d corrections of velocities, the last of %.3g m/s, wanted %.3g m/s", s->iterations,
                   s->correction, s->tolerance);
}

static void end_nodes(elastic_step *s)
{
    const tl_lg_state *now = &s->sim->state.lg;
    for (int b = 0; b < s->fem->bodies; b++) {
        const tl_fem_body *body = &s->fem->body[b];
        bool middle = s->he[b] < s->h;
        for (int32_t i = body->node; i < body->node + body->nodes; i++)
            for (int64_t k = 3 * (int64_t)i; k < 3 * (int64_t)i + 3; k++) {
                s->x_end[k] = now->q[k] + s->h * s->v[k];
                s->v_end[k] = middle && s->fem->place[i] >= 0 ? 2 * s->v[k] - now->v[k] : s->v[k];
            }
    }
    s->energy = tl_fem_forces(s->fem, s->x_end, NULL, s->scratch) + spring_energy(s, s->x_end, s->target, NULL);
}

/* ---- accounts ---- */

/* Walls, static and scripted bodies through contacts of elastic nodes; work of scripted ones and of friction. */
static void account_contacts(elastic_step *s, double *scripted, double *friction)
{
    tl_vec3 p = {0, 0, 0}, L = {0, 0, 0};
    tl_fem_rows_velocity(&s->rows, s->v, s->v_rigid, s->u);
    for (int32_t c = 0; c < s->rows.contacts; c++) {
        const double *lam = s->lam + 3 * (int64_t)c, *u = s->u + 3 * (int64_t)c;
        const tl_fem_link *l = &s->rows.link[c];
        *friction += lam[1] * u[1] + lam[2] * u[2];
        if (c >= s->rows.soft) continue;
        const tl_lg_contact *k = &s->contacts.contact[c];
        if (k->b.node[0] >= 0 || k->rigid >= 0) continue;
        tl_vec3 push = tl_fem_link_force(l, lam);
        p = tl_vec3_add(p, push);
        for (int i = 0; i < l->nodes; i++)
            L = tl_vec3_add_scaled(L, l->weight[i], tl_vec3_cross(tl_vec3_load(s->x + 3 * (int64_t)l->node[i]), push));
        *scripted += tl_vec3_dot(push, k->drag);
    }
    tl_accounts_fixed(s->sim, p, L);
}

/* What holds nodes: h m g + forces asked for + h f + J^T lam and the reaction make m (v_end - v_t). Returns the work of all that moves held nodes. */
static double account_held(elastic_step *s, const double *pushed)
{
    const tl_lg_state *now = &s->sim->state.lg;
    tl_vec3 p = {0, 0, 0}, L = {0, 0, 0};
    double work = 0;
    for (int32_t i = 0; i < s->lg->nodes; i++) {
        if (s->fem->place[i] >= 0) continue;
        int64_t k = 3 * (int64_t)i;
        tl_vec3 v = tl_vec3_load(s->v + k), f = tl_vec3_load(s->force + k), R;
        R = tl_vec3_scale(s->lg->mass[i], tl_vec3_sub(tl_vec3_load(s->v_end + k), tl_vec3_load(now->v + k)));
        R = tl_vec3_add_scaled(R, -s->h * s->lg->mass[i], s->scene->gravity);
        R = tl_vec3_sub(tl_vec3_add_scaled(R, -s->h, f), tl_vec3_load(pushed + k));
        p = tl_vec3_add(p, R);
        L = tl_vec3_add(L, tl_vec3_cross(tl_vec3_load(s->x + k), R));
        work += tl_vec3_dot(R, v);
    }
    for (int32_t k = 0; k < s->lg->anchors; k++) {
        const tl_lg_anchor *a = &s->lg->anchor[k];
        if (s->fem->is_held[k] || s->fem->place[a->vertex] < 0) continue;
        int64_t i = 3 * (int64_t)a->vertex;
        tl_vec3 pull = tl_vec3_scale(s->h * a->weight, tl_vec3_sub(s->spring[k], tl_vec3_load(s->x + i)));
        p = tl_vec3_add(p, pull);
        L = tl_vec3_add(L, tl_vec3_cross(tl_vec3_load(s->x + i), pull));
    }
    tl_accounts_fixed(s->sim, p, L);
    return work;
}

/* Where momentum and energy of nodes and of rigid bodies went. Levers are those of x, where stresses are: these have no moment there. */
static void account(elastic_step *s)
{
    const tl_lg_state *now = &s->sim->state.lg;
    const int64_t n = 3 * (int64_t)s->lg->nodes;
    double *pushed = s->dv, scripted = 0, friction = 0, asked = 0, work = 0, damped = 0, stressed = 0;
    tl_vec3 impulse = {0, 0, 0}, angular = {0, 0, 0};
    memset(pushed, 0, sizeof *pushed * (size_t)n);
    tl_fem_rows_push(&s->rows, s->lam, pushed, NULL);
    double held = spring_energy(s, now->q, s->source, NULL), led = spring_energy(s, now->q, s->target, NULL) - held;
    s->sim->start.elastic = tl_fem_forces(s->fem, now->q, NULL, s->scratch) + held;
    positions(s, s->v, s->x);
    tl_fem_forces(s->fem, s->x, s->force, s->scratch);
    spring_energy(s, s->x, s->spring, s->force);
    const double g[3] = {s->scene->gravity.x, s->scene->gravity.y, s->scene->gravity.z};
    for (int64_t k = 0; k < n; k++) {
        double m = s->lg->mass[k / 3], dv = s->v_end[k] - now->v[k], middle = 0.5 * (s->v_end[k] + now->v[k]);
        damped += m * dv * (middle - s->v[k]);
        stressed += s->h * s->force[k] * s->v[k];
        work += pushed[k] * s->v[k];
    }
    for (int32_t i = 0; i < s->lg->nodes; i++) {
        if (s->fem->place[i] < 0) continue;
        double push[3];
        for (int c = 0; c < 3; c++) {
            int64_t k = 3 * (int64_t)i + c;
            push[c] = s->lg->mass[i] * (s->v_star[k] - now->v[k] - s->h * g[c]);
            asked += push[c] * s->v[k];
        }
        impulse = tl_vec3_add(impulse, tl_vec3_load(push));
        angular = tl_vec3_add(angular, tl_vec3_cross(tl_vec3_load(s->x + 3 * (int64_t)i), tl_vec3_load(push)));
    }
    tl_accounts_forces(s->sim, impulse, angular);
    tl_accounts_energy(s->sim, TL_ENERGY_FORCES, asked);
    account_contacts(s, &scripted, &friction);
    tl_accounts_energy(s->sim, TL_ENERGY_SCRIPTED, account_held(s, pushed) + led);
    double given = tl_accounts_rigid_in_lg(&s->bodies, &scripted);
    tl_accounts_energy(s->sim, TL_ENERGY_TIME_STEP, damped + s->energy - s->sim->start.elastic - led + stressed);
    tl_accounts_energy(s->sim, TL_ENERGY_SCRIPTED, scripted);
    tl_accounts_energy(s->sim, TL_ENERGY_FRICTION, friction);
    tl_accounts_energy(s->sim, TL_ENERGY_CONTACT, work + given - scripted - friction);
}

/* Overlaps of rigid bodies are pushed out: what that costs. */
static talus_status stabilise(elastic_step *s, talus_error *err)
{
    tl_totals before = {0}, after = {0};
    tl_totals_add_bodies(&before, s->sim, s->bodies.body);
    TL_TRY(tl_bodies_stabilise(&s->bodies, err));
    tl_totals_add_bodies(&after, s->sim, s->bodies.body);
    tl_accounts_energy(s->sim, TL_ENERGY_CORRECTIONS,
                       after.potential + after.kinetic - before.potential - before.kinetic);
    return TALUS_OK;
}

static talus_status remember(elastic_step *s, talus_error *err)
{
    s->memory = TL_TAKE_ZERO(s->arena, tl_lg_memory, s->rows.soft + 1);
    if (!s->memory) return no_memory(err);
    tl_fem_rows_velocity(&s->rows, s->v, s->v_rigid, s->u);
    for (int32_t c = 0; c < s->rows.soft; c++) {
        const tl_lg_contact *k = &s->contacts.contact[c];
        tl_lg_memory *m = &s->memory[c];
        *m = (tl_lg_memory){
            .point = k->point, .obstacle = k->obstacle, .feature = k->feature, .body = k->body_a, .other = k->body_b};
        tl_vec3_store(tl_vec3_scale(1 / s->h, tl_fem_link_force(&s->rows.link[c], s->lam + 3 * (int64_t)c)), m->force);
        tl_vec3_store(k->normal, m->normal);
        tl_vec3_store(k->at, m->at);
        m->gap = s->h * s->u[3 * (int64_t)c];
    }
    qsort(s->memory, (size_t)s->rows.soft, sizeof *s->memory, compare);
    tl_lg_state *now = &s->sim->state.lg;
    if (now->contact_room >= s->rows.soft) return TALUS_OK;
    int64_t room = s->rows.soft + s->rows.soft / 2 + 16;
    tl_lg_memory *fresh = tl_realloc(now->contact, sizeof *fresh * (size_t)room);
    if (!fresh) return no_memory(err);
    now->contact = fresh;
    now->contact_room = room;
    return TALUS_OK;
}

static talus_status move(elastic_step *s, bool *again, talus_error *err)
{
    tl_bodies *b = &s->bodies;
    memcpy(b->v, s->v_rigid, sizeof *b->v * 6 * (size_t)s->sim->rigid.count);
    if (b->contacts.count)
        memcpy(b->lam, s->lam + 3 * (int64_t)s->rows.soft, 3 * sizeof *b->lam * (size_t)b->contacts.count);
    TL_TRY(tl_bodies_move(b, again, err));
    TL_TRY(tl_bodies_make_room(b, err));
    end_nodes(s);
    account(s);
    TL_TRY(stabilise(s, err));
    TL_TRY(remember(s, err));
    tl_pose *end = TL_TAKE(s->arena, tl_pose, s->sim->rigid.count);
    if (!end) return no_memory(err);
    for (int32_t i = 0; i < s->sim->rigid.count; i++) end[i] = tl_rigid_pose(&s->sim->rigid.body[i], &b->body[i]);
    s->view.from = s->view.to = s->x_end;
    s->view.before = s->view.after = end;
    TL_TRY(tl_lg_depth(&s->view, s->arena, &s->depth, err));
    lap(s, MOVE);
    return TALUS_OK;
}

static void report_contacts(const elastic_step *s, tl_report *r)
{
    const tl_contact_report *c = &s->solved;
    r->contacts = s->rows.contacts;
    for (int64_t k = 0; k < s->rows.contacts; k++) r->touching += s->lam[3 * k] > 0;
    r->penetration = fmax(s->depth, fmax(0, s->bodies.penetration));
    for (int32_t k = s->contacts.shapes; k < s->rows.soft; k++)
        if (s->lam[3 * (int64_t)k] > 0) r->penetration = fmax(r->penetration, -s->h * s->u[3 * (int64_t)k]);
    bool box = s->scene->solver.cone && !strcmp(s->scene->solver.cone, "pyramid");
    /* solved to a share of the target, judged by the target */
    double residual = s->active.contacts ? c->certificate.residual : 0;
    r->solve[r->solves] =
        (tl_report_solve){.name = "contact",
                          .method = box ? "pgs-pyramid-dense" : "newton-dense",
                          .outcome = tl_result_name(residual <= s->tolerance ? TL_CONVERGED : c->outcome.result),
                          .iterations = s->contact_iterations,
                          .certificate = residual,
                          .target = s->tolerance,
                          .work = s->work};
    r->solve[r->solves++].work.history = NULL;
}

static void fill_report(const elastic_step *s)
{
    const tl_lg *lg = s->lg;
    tl_report *r = &s->sim->report;
    tl_rigid_measures rigid = tl_rigid_measure(&s->sim->rigid, s->bodies.body, s->scene->gravity);
    *r = (tl_report){.phases = PHASES,
                     .solves = 1,
                     .force_balance = NAN,
                     .elastic = s->energy,
                     .kinetic = rigid.kinetic,
                     .potential = rigid.potential,
                     .momentum = rigid.momentum,
                     .angular_momentum = rigid.angular_momentum};
    for (int k = 0; k < PHASES; k++) r->phase[k] = (tl_report_phase){.name = phase_names[k], .seconds = s->seconds[k]};
    r->solve[0] = (tl_report_solve){.name = "elastic",
                                    .method = "schur",
                                    .outcome = tl_result_name(s->converged ? TL_CONVERGED : TL_OUT_OF_ITERATIONS),
                                    .iterations = s->iterations,
                                    .certificate = s->correction,
                                    .target = s->tolerance,
                                    .work = {.factorizations = s->factors, .products = s->iterations}};
    double fastest2 = 0;
    for (int32_t i = 0; i < lg->nodes; i++) {
        tl_vec3 x = tl_vec3_load(s->x_end + 3 * (int64_t)i), v = tl_vec3_load(s->v_end + 3 * (int64_t)i);
        double m = lg->mass[i];
        r->kinetic += 0.5 * m * tl_vec3_norm2(v);
        r->potential -= m * tl_vec3_dot(s->scene->gravity, x);
        r->momentum = tl_vec3_add_scaled(r->momentum, m, v);
        r->angular_momentum = tl_vec3_add_scaled(r->angular_momentum, m, tl_vec3_cross(x, v));
        fastest2 = fmax(fastest2, tl_vec3_norm2(v));
    }
    r->fastest = fmax(sqrt(fastest2), rigid.fastest);
    report_contacts(s, r);
    tl_rigid_report_lost(s->sim, s->bodies.body, s->bodies.kept->lost, r);
}

/* Forces between elastic and other bodies, added to those that rigid ones exert on each other. */
static void sum_contact_forces(const elastic_step *s)
{
    tl_motion *body = s->sim->state.rigid.body;
    const int32_t scene = s->sim->rigid.scene_count;
    for (int32_t c = 0; c < s->rows.soft; c++) {
        const tl_lg_contact *k = &s->contacts.contact[c];
        tl_vec3 f = tl_vec3_scale(1 / s->h, tl_fem_link_force(&s->rows.link[c], s->lam + 3 * (int64_t)c));
        const int32_t side[2] = {k->body_a, k->body_b};
        for (int e = 0; e < 2; e++) {
            if (side[e] < 0 || side[e] >= scene) continue;
            tl_motion *m = &body[side[e]];
            tl_vec3 lever = tl_vec3_sub(k->at, s->bodies.before[side[e]].x);
            m->contact_force = tl_vec3_add_scaled(m->contact_force, e ? -1 : 1, f);
            m->contact_torque = tl_vec3_add_scaled(m->contact_torque, e ? -1 : 1, tl_vec3_cross(lever, f));
        }
    }
}

/* Bodies' tables show the centre of mass of an elastic body. */
static void place_bodies(const elastic_step *s)
{
    const tl_lg *lg = s->lg;
    for (int b = 0; b < lg->bodies; b++) {
        const tl_lg_body *body = &lg->body[b];
        tl_motion *m = &s->bodies.body[body->body];
        tl_vec3 x = {0, 0, 0}, v = {0, 0, 0};
        for (int32_t i = body->node; i < body->node + body->nodes; i++) {
            x = tl_vec3_add_scaled(x, lg->mass[i] / body->mass, tl_vec3_load(s->x_end + 3 * (int64_t)i));
            v = tl_vec3_add_scaled(v, lg->mass[i] / body->mass, tl_vec3_load(s->v_end + 3 * (int64_t)i));
        }
        m->x = x;
        m->v = v;
    }
}

static void commit(elastic_step *s)
{
    tl_lg_state *to = &s->sim->state.lg;
    tl_bodies_commit(&s->bodies);
    sum_contact_forces(s);
    memcpy(to->q, s->x_end, sizeof *to->q * 3 * (size_t)s->lg->nodes);
    memcpy(to->v, s->v_end, sizeof *to->v * 3 * (size_t)s->lg->nodes);
    if (s->rows.soft) memcpy(to->contact, s->memory, sizeof *s->memory * (size_t)s->rows.soft);
    to->contacts = s->rows.soft;
}

talus_status tl_elastic_step(tl_sim *sim, tl_elastic_kept *kept, const tl_rigid_kept *rigid, double dt, bool *again,
                             talus_error *err)
{
    elastic_step s;
    *again = false;
    TL_TRY(begin_step(&s, sim, kept, rigid, dt, err));
    TL_TRY(predict(&s, err));
    TL_TRY(detect(&s, err));
    bool more = true;
    while (more) {
        TL_TRY(newton(&s, again, err));
        more = false;
        if (s.looks++ < LOOKS) TL_TRY(look_again(&s, &more, err));
    }
    TL_TRY(judge(&s, again, err));
    TL_TRY(move(&s, again, err));
    TL_TRY(tl_cancel_check(err));
    place_bodies(&s);
    fill_report(&s);
    TL_TRY(tl_accounts_end(sim, dt, s.bodies.body, again, err));
    commit(&s);
    return TALUS_OK;
}
