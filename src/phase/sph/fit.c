/* Fills beside solids at t = 0. What would be nearer to samples than liquid can rest, 0.4 h from surfaces, was left
 * out once: a fill between curved or oblique surfaces lacked 0.4 h along each of them, a seventh of what is between
 * a ball of 6 h and a cavity of 12 h. */
#include <math.h>

#include "base/random.h"
#include "model/rigid/motion.h"
#include "phase/sph/sph.h"

#define CLEAR 0.9   /* spacings between liquid and samples of solids at the start; at 1 a lattice has density 1 */
#define PUSHES 4    /* of a particle: a corner has three faces */
#define WEDGED 0.05 /* spacings too near after that: there is no room for it */

static talus_status no_memory(talus_error *err) { return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for SPH particles"); }

typedef struct nearest {
    double distance; /* m from a solid's surface, positive outside */
    double room;     /* m from its samples, which are below */
    tl_vec3 out;     /* unit, away from it */
} nearest;

/* Of the domain's closed walls. */
static void nearest_wall(const tl_scene *s, tl_vec3 p, double sunk, nearest *n)
{
    static const tl_vec3 axis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const double x[3] = {p.x, p.y, p.z}, lo[3] = {s->domain.box.lo.x, s->domain.box.lo.y, s->domain.box.lo.z},
                 hi[3] = {s->domain.box.hi.x, s->domain.box.hi.y, s->domain.box.hi.z};
    for (int k = 0; k < 3 && s->domain.bounded; k++)
        for (int side = 0; side < 2; side++) {
            double d = side ? hi[k] - x[k] : x[k] - lo[k];
            if (s->domain.wall[2 * k + side] == TL_WALL_CLOSED && d + sunk < n->room)
                *n = (nearest){d, d + sunk, tl_vec3_scale(side ? -1 : 1, axis[k])};
        }
}

static bool in_bounds(const tl_box3 *b, tl_vec3 p, double margin)
{
    return p.x > b->lo.x - margin && p.x < b->hi.x + margin && p.y > b->lo.y - margin && p.y < b->hi.y + margin &&
           p.z > b->lo.z - margin && p.z < b->hi.z + margin;
}

/* Of all solids that are nearer than a spacing. */
static nearest nearest_solid(const tl_sim *sim, tl_vec3 p)
{
    const tl_scene *s = sim->scene;
    nearest n = {.distance = INFINITY, .room = INFINITY};
    nearest_wall(s, p, tl_sph_of(sim)->wet_inset * tl_sph_of(sim)->h, &n);
    for (int i = 0; i < s->body_count; i++) {
        tl_pose pose = tl_rigid_pose(&sim->rigid.body[i], &sim->state.rigid.body[i]);
        tl_vec3 local = tl_quat_rotate(tl_quat_conjugate(pose.rotation), tl_vec3_sub(p, pose.at));
        tl_box3 b = tl_shape_bounds(s->shapes, s->bodies[i].shape);
        if (!in_bounds(&b, local, tl_sph_of(sim)->h)) continue;
        double d = tl_shape_distance(s->shapes, s->bodies[i].shape, local);
        tl_vec3 sunk = tl_sph_of(sim)->body[i].wet_sunk; /* less in thin bodies */
        double room = d + fmin(sunk.x, fmin(sunk.y, sunk.z));
        if (room < n.room)
            n = (nearest){d, room,
                          tl_quat_rotate(pose.rotation, tl_shape_gradient(s->shapes, s->bodies[i].shape, local))};
    }
    return n;
}

/* Moves p to `clear` m from samples of solids, or nearly. False: there is no such place. */
static bool push_out(const tl_sim *sim, double clear, tl_vec3 *p)
{
    nearest n = nearest_solid(sim, *p);
    for (int k = 0; k < PUSHES && n.room < clear; k++) {
        *p = tl_vec3_add_scaled(*p, clear - n.room, n.out);
        n = nearest_solid(sim, *p);
    }
    return n.room >= clear - WEDGED * tl_sph_of(sim)->h;
}

/* False: p is in a solid, or there is no room for it. */
static bool find_room(const tl_sim *sim, tl_vec3 *p)
{
    double clear = CLEAR * tl_sph_of(sim)->h;
    nearest n = nearest_solid(sim, *p);
    if (n.room >= clear) return true;
    if (n.distance < 0 || !sim->scene->sph.fit) return false;
    return push_out(sim, clear, p);
}

/* ---- parting ---- */

/* What is compressed at the start, by pushing out, by samples of solids that are not even, by jitter or by fills that
 * share a place, is parted by the step's own solve of liquid, without gravity and beside bodies that are held: each
 * round is a step from rest, whose way counts and whose velocities do not. Where nothing is compressed, nothing
 * moves. A tank of walls 1.5 spacings thick that was not parted began compressed by 3.4 % in the mean and threw its
 * water up by 7 % of its energy. */
#define ROUNDS 200     /* at most; scenes take 1 to 40 */
#define PARTED 0.01    /* of its density that a particle may be compressed */
#define TRIED 10       /* rounds in which compression, all together, must fall to */
#define FALLEN 0.9     /* of what it was: else what is still more than */
#define CROWDED 0.05   /* compressed beside solids has no room: the most compressed ones around go */
#define APART 0.2      /* spacings: the longest way of a particle in a round */
#define AT_ONCE 10.0   /* times APART: what a round would part, more than there is; 1: five times as many rounds */
#define SHARED 0.25    /* of its density: so compressed, a particle may share its place with another, and */
#define NUDGE 0.02     /* spacings along each axis, at most, move it: nothing parts two in one place */
#define NEAREST 0.5    /* spacings from samples, at least */
#define STILL 1e-3     /* spacings: what has moved less is not looked after */
#define TOLERANCE 1e-4 /* of a round's solve */
#define ITERATIONS 30  /* at most: the next round goes on, from this one's pressures */

static talus_status held_bodies(tl_sim *sim, tl_sph_bodies *out, talus_error *err)
{
    int32_t n = sim->rigid.count;
    tl_motion *motion = TL_TAKE_ZERO(&sim->arena, tl_motion, n + 1);
    double *zero = TL_TAKE_ZERO(&sim->arena, double, n + 1);
    tl_mat3 *stiff = TL_TAKE_ZERO(&sim->arena, tl_mat3, n + 1);
    if (!motion || !zero || !stiff) return no_memory(err);
    for (int32_t i = 0; i < n; i++) {
        motion[i] = i < sim->rigid.scene_count ? sim->state.rigid.body[i] : (tl_motion){.q = tl_quat_identity()};
        motion[i].v = motion[i].w = (tl_vec3){0, 0, 0};
    }
    *out = (tl_sph_bodies){&sim->rigid, motion, zero, stiff, zero};
    return TALUS_OK;
}

/* More compressed than all around it, so of two that share a place one goes. */
static bool has_no_room(const tl_sph_step *s, int32_t i)
{
    if (s->count_edge[i][0] < 0 || !((double)s->density[i] > 1 + CROWDED)) return false;
    for (int64_t k = s->start[i]; k < s->start[i + 1]; k++) {
        int32_t j = s->neighbour[k];
        if (s->density[j] > s->density[i] || (s->density[j] == s->density[i] && j < i)) return false;
    }
    return true;
}

/* How much liquid is compressed. */
typedef struct pressed {
    double most; /* of a particle */
    double sum;  /* of all */
} pressed;

/* In the cube [-1, 1]^3. */
static tl_vec3 somewhere(int32_t id)
{
    double x[3];
    for (uint64_t k = 0; k < 3; k++) x[k] = 2 * tl_random(0, (uint64_t)id, k) - 1;
    return tl_vec3_load(x);
}

/* `was`: how it was before. Any speed would do: ways count, not times. */
static talus_status part_once(tl_sim *sim, bool drop, pressed *was, talus_error *err)
{
    const double g = tl_vec3_norm(sim->scene->gravity), h = tl_sph_of(sim)->h;
    const double push = sqrt((g > 0 ? g : TL_SPH_EARTH) * h), dt = APART * h / push;
    tl_sph_step s;
    tl_sph_bodies bodies;
    tl_fixedpoint problem;
    tl_fixedpoint_report report;
    tl_options options = tl_options_default();
    tl_stop stop = {.tolerance = TOLERANCE, .max_iterations = ITERATIONS};
    TL_TRY(held_bodies(sim, &bodies, err));
    TL_TRY(tl_sph_begin(&s, tl_sph_of(sim), sim->scene, tl_sph_state_of(&sim->state), &bodies, dt, &sim->arena, err));
    s.push_out = AT_ONCE * push;
    s.only = TL_SPH_LIQUID;
    for (int32_t i = 0; i < s.fluid; i++) s.v[i] = (tl_vec3){0, 0, 0};
    TL_TRY(tl_sph_neighbours(&s, err));
    TL_TRY(tl_sph_contacts(&s, err));
    TL_TRY(tl_sph_system(&s, err));
    TL_TRY(tl_sph_problem(&s, &problem, err));
    double *x = TL_TAKE_ZERO(&sim->arena, double, problem.space->n + problem.space->halo + 1);
    if (!x) return no_memory(err);
    tl_sph_warm_start(&s, tl_sph_state_of(&sim->state), 1, x);
    TL_TRY(tl_fixedpoint_solve(tl_fixedpoint_method_find("nncg"), &problem, &options, &stop, x, &sim->arena, &report,
                               err));
    tl_sph_finish(&s, x);
    tl_sph_state *f = tl_sph_state_of(&sim->state);
    *was = (pressed){0};
    f->count = 0;
    for (int32_t i = 0; i < s.fluid; i++) {
        was->most = fmax(was->most, (double)s.density[i] - 1);
        was->sum += fmax(0, (double)s.density[i] - 1);
        if (drop && has_no_room(&s, i)) continue;
        tl_sph_particle *p = &f->particle[f->count++];
        double way = dt * tl_vec3_norm(s.v[i]);
        *p = s.particle[i];
        p->p = x[i];
        p->x = tl_vec3_add_scaled(p->x, way > APART * h ? dt * APART * h / way : dt, s.v[i]);
        if ((double)s.density[i] > 1 + SHARED) p->x = tl_vec3_add_scaled(p->x, NUDGE * h, somewhere(p->id));
        if (s.count_edge[i][0] >= 0 && way > STILL * h) push_out(sim, NEAREST * h, &p->x);
    }
    return TALUS_OK;
}

static talus_status part(tl_sim *sim, talus_error *err)
{
    pressed was = {.most = INFINITY};
    double last = INFINITY; /* sum of TRIED rounds ago */
    bool drop = false;
    for (int k = 1; k <= ROUNDS && was.most > PARTED; k++) {
        size_t mark = tl_arena_mark(&sim->arena);
        talus_status status = part_once(sim, drop, &was, err);
        tl_arena_release(&sim->arena, mark);
        TL_TRY(status);
        drop = k % TRIED == 0 && was.sum > FALLEN * last;
        if (k % TRIED == 0) last = was.sum;
    }
    return TALUS_OK;
}

talus_status tl_sph_fit_fills(tl_sim *sim, talus_error *err)
{
    tl_sph_state *f = tl_sph_state_of(&sim->state);
    int64_t stay = 0;
    for (int64_t i = 0; i < f->count; i++)
        if (find_room(sim, &f->particle[i].x)) f->particle[stay++] = f->particle[i];
    f->count = stay;
    if (sim->scene->sph.fit && f->count) TL_TRY(part(sim, err));
    for (int64_t i = 0; i < f->count; i++) {
        f->particle[i].id = (int32_t)i;
        f->particle[i].p = 0;
    }
    f->counter->next_id = f->count;
    return TALUS_OK;
}
