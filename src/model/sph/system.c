/* Contacts, diagonals, and errors of the predicted velocities: all that is constant while pressures and friction are
 * solved. */
#include <math.h>

#include "base/parallel.h"
#include "base/sum.h"
#include "geom/collide/collider_data.h"
#include "model/sph/sph.h"

#define NORMAL_LEAST 1e-3  /* V0^2/h^4: shorter sums of gradients have no direction */
#define FLUID_FLOOR 0.1    /* of a lattice's diagonal: fluid between two solids may have none of its own */
#define CONTACT_FLOOR 1e-4 /* of the largest of the body */
/* Of an overlap that one step takes away. Differs from [Probst2023], where it is all of it: what a solve leaves
 * undone then comes back twice as large in the next one, and stacks tremble (validate V13). */
#define OVERLAP_SHARE 0.2
#define SETTLING 5.0 /* times sqrt(g/h), per second: how fast small compression of liquid goes away; chosen */
/* The same where one of two free bodies is round: its samples do not turn with the other (search.c), which brings
 * overlaps that no velocity shows. Taking them away gives energy with the square of this; 2e-4 of it in a step of
 * V17 at 0.2, 6e-6 here. */
#define ROUND_SHARE 0.02
#define PUSH_LEAST 0.1 /* the same where gradients cancel; chosen */
#define CHANGE 2.0  /* times the speeds of two bodies: most that contacts change between them, chosen; looked after */
#define WEDGED 10.0 /* 1 / tan of half of 11 degrees: how much a wedge makes of a force; chosen */
#define PARALLEL_CONTACTS 500

double tl_sph_push_out(const tl_scene *s)
{
    const double g = tl_vec3_norm(s->gravity);
    return s->sph.push_out > 0 ? s->sph.push_out : TL_SPH_WAVE_PUSH * sqrt((g > 0 ? g : TL_SPH_EARTH) * s->sph.spacing);
}

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the system of particles");
}

/* ---- contacts ---- */

/* Friction between two bodies; walls are -1 to the scene. */
static double pair_friction(const tl_sph_step *s, int32_t a, int32_t b)
{
    int32_t count = s->rigid->scene_count;
    double own[2] = {s->bodies.friction[a], s->bodies.friction[b]}, friction, restitution;
    tl_scene_pair(s->scene, a < count ? a : -1, b < count ? b : -1, own, &friction, &restitution);
    return friction;
}

static void contact_volumes(const tl_sph_step *s, int32_t k)
{
    const tl_sph *c = s->sph;
    tl_sph_contact *r = &s->contact[k];
    const tl_sph_body *body = &c->body[r->body];
    r->V0 = c->surface[body->surface].V0[s->near[r->near].particle - body->first];
    double w = 0, mu = 0, last_mu = 0;
    int32_t last = -1;
    tl_vec3 g = {0, 0, 0};
    for (int64_t t = s->touch_start[k]; t < s->touch_start[k + 1]; t++) {
        const tl_sph_touch *j = &s->touch[t];
        if (j->body != last) last_mu = pair_friction(s, r->body, last = j->body);
        w += j->w;
        mu += last_mu * j->w;
        g = tl_vec3_add(g, j->g);
    }
    r->V = 1 / (c->options.gamma / r->V0 + w);
    r->Vt = w > 0 ? 1 / w : 0;
    r->mu = w > 0 ? mu / w : 0;
    r->force = r->V0 * r->V0 * tl_vec3_norm(g);
    double h = c->h;
    if (r->force < NORMAL_LEAST * r->V0 * r->V0 / (h * h * h * h))
        r->mu = 0;
    else
        r->normal = tl_vec3_normalize(tl_vec3_neg(g));
    const tl_rigid_body *rigid = &s->rigid->body[r->body];
    r->sunk = body->sunk.x;
    r->ball = body->round == TL_ROUND_BALL && rigid->collider->kind == TL_COLLIDER_SPHERE;
    if (r->ball) r->sunk = rigid->collider->radius;
    if (r->ball || (r->sunk == body->sunk.y && r->sunk == body->sunk.z)) return; /* all but thin boxes */
    tl_vec3 n = tl_quat_rotate(tl_quat_conjugate(s->bodies.motion[r->body].q), r->normal);
    n = tl_mat3_mul_vec(tl_mat3_transpose(s->rigid->body[r->body].collider->axes), n);
    r->sunk = fabs(n.x) * body->sunk.x + fabs(n.y) * body->sunk.y + fabs(n.z) * body->sunk.z;
}

talus_status tl_sph_contacts(tl_sph_step *s, talus_error *err)
{
    (void)err;
#pragma omp parallel for schedule(static) if (s->contacts >= PARALLEL_CONTACTS)
    for (int32_t k = 0; k < s->contacts; k++) contact_volumes(s, k);
    return TALUS_OK;
}

/* ---- diagonals ---- */

/* What an impulse and an angular impulse do to a body that joints hold: NULL where none do. */
static const double *moved_by_joints(const tl_sph_step *s, int32_t body)
{
    const tl_sph_joined *q = s->joined;
    return q && q->number[body] >= 0 ? q->moved + 36 * (int64_t)q->number[body] : NULL;
}

static void move(const double W[36], tl_vec3 G, tl_vec3 T, tl_vec3 *v, tl_vec3 *w)
{
    const double p[6] = {G.x, G.y, G.z, T.x, T.y, T.z};
    double u[6] = {0};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) u[i] += W[6 * i + j] * p[j];
    *v = tl_vec3_load(u);
    *w = tl_vec3_load(u + 3);
}

/* Response of a body to unit pressure: |G|^2/M + T.I^-1 T for the force G at moment T. */
static double response(const tl_sph_step *s, int32_t body, tl_vec3 G, tl_vec3 T)
{
    const double *W = moved_by_joints(s, body);
    if (W) {
        tl_vec3 v, w;
        move(W, G, T, &v, &w);
        return fmax(0, tl_vec3_dot(v, G) + tl_vec3_dot(w, T));
    }
    return s->bodies.inv_mass[body] * tl_vec3_norm2(G) +
           tl_vec3_dot(T, tl_mat3_mul_vec(s->bodies.inv_inertia[body], T));
}

/* Neighbours are sorted by body, so every body is one run of them. */
static double edge_response(const tl_sph_step *s, int32_t e)
{
    double sum = 0;
    tl_vec3 G = {0, 0, 0}, T = {0, 0, 0};
    for (int64_t k = s->edge_start[2 * e]; k < s->edge_start[2 * e + 1]; k++) {
        const tl_sph_near *n = &s->near[s->edge_pair[k].j];
        tl_vec3 g = tl_sph_pair_g(&s->edge_pair[k]);
        G = tl_vec3_add(G, g);
        T = tl_vec3_add(T, tl_vec3_cross(n->arm, g));
        bool last = k + 1 == s->edge_start[2 * e + 1] || s->near[s->edge_pair[k + 1].j].body != n->body;
        if (!last) continue;
        sum += response(s, n->body, G, T);
        G = T = (tl_vec3){0, 0, 0};
    }
    return sum;
}

/* sum of |h^4 grad W|^2 over a cubic lattice of spacing h. */
static double lattice_squares(void)
{
    tl_sph_kernel k = tl_sph_kernel_of(1);
    double sum = 0;
    for (int i = -2; i <= 2; i++)
        for (int j = -2; j <= 2; j++)
            for (int l = -2; l <= 2; l++) {
                double r2 = i * i + j * j + l * l, slope = tl_sph_slope(k, sqrt(r2));
                sum += slope * slope * r2;
            }
    return sum;
}

static void fluid_diagonals(tl_sph_step *s)
{
    double scale = s->dt * s->dt * s->sph->h, floor = FLUID_FLOOR * lattice_squares();
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN)
    for (int32_t i = 0; i < s->fluid; i++) {
        const float *G = s->sum_g[i];
        double G2 = (double)(G[0] * G[0] + G[1] * G[1] + G[2] * G[2]);
        s->D[i] = (double)s->inv_m[i] * (G2 + (double)G[3]);
    }
#pragma omp parallel for schedule(static) if (s->edges >= TL_PARALLEL_MIN)
    for (int32_t e = 0; e < s->edges; e++) s->D[s->edge[e]] += edge_response(s, e);
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN)
    for (int32_t i = 0; i < s->fluid; i++) s->D[i] = scale * fmax(s->D[i], floor * (double)s->inv_m[i]);
}

/* Sums over the neighbours of a contact that belong to one body. */
typedef struct body_run {
    tl_vec3 G, T; /* gradients, and their moments about the body's centre */
    double w;     /* share of the contact's weights */
    tl_vec3 at;   /* weighted: where friction acts, from the body's centre */
} body_run;

/* Velocity there that force lam at `at` gives to a body, per dt. */
static tl_vec3 push(const tl_sph_step *s, int32_t body, tl_vec3 at, double share, tl_vec3 lam)
{
    const double *W = moved_by_joints(s, body);
    if (W) {
        tl_vec3 v, w, whole = tl_vec3_scale(sqrt(share), lam); /* `at` has its root in it */
        move(W, whole, tl_vec3_cross(at, lam), &v, &w);
        return tl_vec3_add(tl_vec3_scale(sqrt(share), v), tl_vec3_cross(w, at));
    }
    tl_vec3 w = tl_mat3_mul_vec(s->bodies.inv_inertia[body], tl_vec3_cross(at, lam));
    return tl_vec3_add(tl_vec3_scale(share * s->bodies.inv_mass[body], lam), tl_vec3_cross(w, at));
}

/* trace of (1 - n n^T) times the response `S` to the three unit forces, over 3. */
static double tangent_mean(tl_vec3 n, const tl_vec3 S[3])
{
    double trace = S[0].x + S[1].y + S[2].z;
    double normal = n.x * tl_vec3_dot(n, S[0]) + n.y * tl_vec3_dot(n, S[1]) + n.z * tl_vec3_dot(n, S[2]);
    return (trace - normal) / 3;
}

static void contact_diagonal(const tl_sph_step *s, int32_t k)
{
    static const tl_vec3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    tl_sph_contact *r = &s->contact[k];
    tl_vec3 G = {0, 0, 0}, T = {0, 0, 0}, at = {0, 0, 0}, X = s->bodies.motion[r->body].x;
    tl_vec3 S[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    double sum = 0;
    body_run run = {0};
    for (int64_t t = s->touch_start[k]; t < s->touch_start[k + 1]; t++) {
        const tl_sph_touch *j = &s->touch[t];
        tl_vec3 between = tl_vec3_sub(X, s->bodies.motion[j->body].x); /* centre of R seen from the other's */
        tl_vec3 m = tl_sph_rub_at(s, r, j);
        double w = r->Vt * j->w;
        G = tl_vec3_add(G, j->g);
        T = tl_vec3_add(T, j->turn);
        at = tl_vec3_add_scaled(at, w, m);
        run.G = tl_vec3_add(run.G, j->g);
        run.T = tl_vec3_add(run.T, j->back);
        run.w += w;
        run.at = tl_vec3_add_scaled(run.at, w, tl_vec3_add(m, between));
        if (t + 1 < s->touch_start[k + 1] && s->touch[t + 1].body == j->body) continue;
        sum += response(s, j->body, run.G, run.T);
        for (int d = 0; d < 3; d++) S[d] = tl_vec3_add(S[d], push(s, j->body, run.at, run.w * run.w, unit[d]));
        run = (body_run){0};
    }
    sum += response(s, r->body, G, T);
    for (int d = 0; d < 3; d++) S[d] = tl_vec3_add(S[d], push(s, r->body, at, r->Vt > 0 ? 1 : 0, unit[d]));
    r->D = r->V0 * r->V0 * r->V0 * s->dt * s->dt * sum;
    r->Dl = r->mu > 0 ? s->dt * tangent_mean(r->normal, S) : 0;
}

/* Of any point of a body, as predicted, m/s. */
static double speed_of(const tl_sph_step *s, int32_t i)
{
    double reach = s->rigid->body[i].reach;
    return tl_vec3_norm(s->body_v[i]) + (reach < INFINITY ? reach * tl_vec3_norm(s->body_w[i]) : 0);
}

/* N s: the most that one contact passes on in a step. All that free bodies and liquid bring to bear, their masses
 * times the fastest speed, what forces change in the step and joints pass on, times what a wedge of 11 degrees makes
 * of it. Without
 * it, a body in a place too narrow for it has pressures that grow with every iteration, to 1e15 m/s
 * (tests/faults/sph.c). */
static double largest_impulse(const tl_sph_step *s)
{
    double mass = 0, change = s->held, fastest = s->push_out * s->push_out;
    for (int32_t b = 0; b < s->rigid->scene_count; b++) {
        double speed = speed_of(s, b);
        if (s->rigid->body[b].kind != TL_BODY_STATIC) fastest = fmax(fastest, speed * speed);
        if (!(s->bodies.inv_mass[b] > 0)) continue;
        mass += 1 / s->bodies.inv_mass[b];
        change += tl_vec3_norm(tl_vec3_sub(s->body_v[b], s->bodies.motion[b].v)) / s->bodies.inv_mass[b];
    }
    for (int32_t i = 0; i < s->fluid; i++) {
        double m = s->sph->V0 * s->scene->materials[s->particle[i].material].density;
        mass += m;
        change += m * s->dt * tl_vec3_norm(s->scene->gravity);
        fastest = fmax(fastest, tl_vec3_norm2(s->v[i]));
    }
    return WEDGED * (mass * sqrt(fastest) + change);
}

static void limit_contacts(tl_sph_step *s)
{
    double impulse = s->contacts ? largest_impulse(s) : 0;
    for (int32_t k = 0; k < s->contacts; k++) {
        tl_sph_contact *r = &s->contact[k];
        double sum = 0;
        for (int64_t t = s->touch_start[k]; t < s->touch_start[k + 1]; t++) sum += tl_vec3_norm(s->touch[t].g);
        r->max = sum > 0 ? impulse / (s->dt * r->V0 * r->V0 * sum) : 0;
    }
}

/* Contacts of little weight beside the others of their body are left out. */
static void drop_weak(tl_sph_step *s)
{
    for (int32_t begin = 0, end; begin < s->contacts; begin = end) {
        double max = 0;
        for (end = begin; end < s->contacts && s->contact[end].body == s->contact[begin].body; end++)
            max = fmax(max, s->contact[end].D);
        for (int32_t k = begin; k < end; k++)
            if (!(s->contact[k].D > CONTACT_FLOOR * max)) s->contact[k].D = 0;
    }
}

/* ---- errors of the predicted velocities ---- */

static tl_vec3 body_velocity(const tl_sph_step *s, int32_t body, tl_vec3 arm)
{
    return tl_vec3_add(s->body_v[body], tl_vec3_cross(s->body_w[body], arm));
}

static double edge_rate(const tl_sph_step *s, int32_t e)
{
    double sum = 0;
    tl_vec3 v = s->v[s->edge[e]];
    for (int64_t k = s->edge_start[2 * e]; k < s->edge_start[2 * e + 2]; k++) {
        int32_t j = s->edge_pair[k].j, body;
        tl_vec3 arm;
        if (k < s->edge_start[2 * e + 1]) {
            body = s->near[j].body;
            arm = s->near[j].arm;
        } else {
            body = s->sph->body_of[j];
            arm = tl_vec3_sub(tl_sph_solid(s, j), s->bodies.motion[body].x);
        }
        sum += tl_vec3_dot(tl_vec3_sub(v, body_velocity(s, body, arm)), tl_sph_pair_g(&s->edge_pair[k]));
    }
    return sum;
}

/* Room that the step may take away from a particle; negative: what it must give back. Differs from [Probst2023]:
 * compression that is no more than what solves leave is given back at a rate, not at once. At once it is an
 * acceleration of h times the error over dt^2, as large as gravity, and the next solve leaves as much again: the
 * force of still water on a box trembled by 58 % (tests/physics/sph_still.c). */
static double fluid_source(const tl_sph_step *s, int32_t i, double share)
{
    double room = 1 - (double)s->density[i];
    if (room < 0) room = share * fmax(room, -s->unresolved) + fmin(0, room + s->unresolved);
    return fmax(room, -s->liquid_push * s->dt * TL_SPH_FLAT_SLOPE / s->sph->h);
}

/* The rate follows what presses liquid together: gravity, and surface tension at the scale of h. Without either
 * there is no rate, and all goes at once. */
static double settling_share(const tl_sph_step *s)
{
    double h = s->sph->h, pull = tl_vec3_norm(s->scene->gravity);
    for (int k = 0; k < s->scene->material_count; k++) {
        const tl_material *m = &s->scene->materials[k];
        if (m->surface_tension > 0) pull = fmax(pull, m->surface_tension / (m->density * h * h));
    }
    return pull > 0 ? -expm1(-SETTLING * s->dt * sqrt(pull / h)) : 1;
}

static void fluid_errors(tl_sph_step *s)
{
    double rate = s->dt / s->sph->h, share = settling_share(s);
    s->liquid_push = fmax(s->push_out, TL_SPH_WAVE_PUSH * sqrt(tl_vec3_norm(s->scene->gravity) * s->sph->h));
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN / 8)
    for (int32_t i = 0; i < s->fluid; i++) {
        double sum = 0;
        for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
            sum += tl_vec3_dot(tl_vec3_sub(s->v[i], s->v[s->neighbour[k]]), tl_sph_link_g(s, k));
        s->Verr[i] = fluid_source(s, i, share) - rate * sum;
    }
#pragma omp parallel for schedule(static) if (s->edges >= TL_PARALLEL_MIN / 8)
    for (int32_t e = 0; e < s->edges; e++) s->Verr[s->edge[e]] -= rate * edge_rate(s, e);
}

static void contact_errors(const tl_sph_step *s, int32_t k)
{
    tl_sph_contact *r = &s->contact[k];
    double rate = 0;
    double share = OVERLAP_SHARE;
    bool own_round = s->sph->body[r->body].round != TL_NOT_ROUND;
    tl_vec3 slip = {0, 0, 0};
    for (int64_t t = s->touch_start[k]; t < s->touch_start[k + 1]; t++) {
        const tl_sph_touch *j = &s->touch[t];
        if (j->other >= 0 && (own_round || s->sph->body[j->body].round != TL_NOT_ROUND)) share = ROUND_SHARE;
        rate += tl_sph_approach(j, s->body_v, s->body_w, r->body);
        tl_vec3 m = tl_sph_rub_at(s, r, j);
        tl_vec3 between = tl_vec3_sub(s->bodies.motion[r->body].x, s->bodies.motion[j->body].x);
        tl_vec3 d = tl_vec3_sub(body_velocity(s, r->body, m), body_velocity(s, j->body, tl_vec3_add(m, between)));
        slip = tl_vec3_add_scaled(slip, r->Vt * j->w, d);
    }
    /* density that changes when the contact opens at push_out, by its own gradient: deep overlaps have less of it */
    double steep = fmin(TL_SPH_FLAT_SLOPE, fmax(PUSH_LEAST, r->force * s->sph->h / r->V0));
    double deepest = -s->push_out * s->dt * steep / s->sph->h;
    double over = 1 - r->V0 / r->V;
    r->source = fmax(over < 0 ? share * over : over, deepest);
    r->Verr = r->source - r->V0 * s->dt * rate;
    r->slip = slip;
}

double tl_sph_push_work(const tl_sph_step *s, const double *x)
{
    tl_blocks blocks = tl_blocks_of(s->fluid);
    double part[TL_BLOCKS_MAX], sum = 0, share = settling_share(s);
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN / 8)
    for (int b = 0; b < blocks.count; b++) {
        part[b] = 0;
        for (int64_t i = tl_block_begin(blocks, b); i < tl_block_end(blocks, b); i++)
            part[b] += x[i] * fmax(0, -fluid_source(s, (int32_t)i, share));
    }
    for (int32_t k = 0; k < s->contacts; k++)
        sum += s->contact[k].V0 * x[s->fluid + k] * fmax(0, -s->contact[k].source);
    return sum + s->sph->V0 * tl_sum_ordered(blocks.count, part);
}

/* ---- contacts that are too far ---- */

static bool is_far(const tl_sph_step *s, int32_t k)
{
    const tl_sph_contact *r = &s->contact[k];
    double max = 0;
    int32_t last = -1;
    for (int64_t t = s->touch_start[k]; t < s->touch_start[k + 1]; t++)
        if (s->touch[t].body != last) max = fmax(max, speed_of(s, last = s->touch[t].body));
    double change = CHANGE * (speed_of(s, r->body) + max);
    return r->Verr > TL_SPH_FLAT_SLOPE * change * s->dt / s->sph->h;
}

void tl_sph_leave_far(tl_sph_step *s)
{
#pragma omp parallel for schedule(static) if (s->contacts >= PARALLEL_CONTACTS)
    for (int32_t k = 0; k < s->contacts; k++) s->contact[k].far = is_far(s, k);
}

static bool missed(const tl_sph_step *s, int32_t k, double tolerance)
{
    const tl_sph_contact *r = &s->contact[k];
    double rate = 0;
    for (int64_t t = s->touch_start[k]; t < s->touch_start[k + 1]; t++) {
        rate += tl_sph_approach(&s->touch[t], s->add_v, s->add_w, r->body);
    }
    return r->Verr - r->V0 * s->dt * rate < -tolerance;
}

bool tl_sph_call_back(tl_sph_step *s, double tolerance)
{
    bool any = false;
    for (int32_t k = 0; k < s->contacts && !any; k++)
        any = s->contact[k].far && s->contact[k].D > 0 && missed(s, k, tolerance);
    for (int32_t k = 0; k < s->contacts && any; k++) s->contact[k].far = false;
    return any;
}

talus_status tl_sph_system(tl_sph_step *s, talus_error *err)
{
    s->D = TL_TAKE(s->arena, double, s->fluid);
    s->Verr = TL_TAKE(s->arena, double, s->fluid);
    if (!s->D || !s->Verr) return no_memory(err);
    fluid_diagonals(s);
    fluid_errors(s);
#pragma omp parallel for schedule(static) if (s->contacts >= PARALLEL_CONTACTS)
    for (int32_t k = 0; k < s->contacts; k++) {
        contact_diagonal(s, k);
        contact_errors(s, k);
    }
    drop_weak(s);
    limit_contacts(s);
    return TALUS_OK;
}
