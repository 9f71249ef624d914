#include "model/rigid/contacts.h"

#include <float.h>
#include <string.h>

#define STILL 2e-2  /* of the smaller extent: margin of bodies at rest; 1e-5 to 0.1 makes no difference to them */
#define MATCH 0.125 /* of the smaller extent: how far a point may have moved and still be the same */
#define MATCHES_MAX (4 * TL_TOUCHES_MAX) /* points of a pair, those of second looks included; of more, the first */
#define BEND_MAX 16.0                    /* of the gap: what a mark may bend off, should its gap be a little wrong */
#define TOUCH 1e-2 /* of the smaller extent: up to here an overlap tells the way out; a deeper one is followed back */
#define AGAIN 0.05 /* of the slop: by how much an overlap may grow within a step; the stabiliser takes more */
#define TOUCH_TRIES 8      /* halvings to find that moment */
#define SAME_MARK 1e-3     /* of the smaller extent: a mark stays where it is on its body; gaps move it a little */
#define PARALLEL_WORK 2000 /* primitive pairs, about 1 ms, that are worth a second thread */
#define PARALLEL_PAIRS 200 /* pairs of a second look that are worth a second thread */
#define SAMPLES_WORK 10    /* surface samples that cost as much as a primitive pair */

/* ---- which pairs are near ---- */

static double still(const tl_rigid_view *v, int32_t i, int32_t j)
{
    return STILL * fmin(v->rigid->body[i].extent, v->rigid->body[j].extent);
}

/* Velocity of body i where j is, and how fast its surface turns there: of an unbounded one, the part near j. */
static tl_vec3 velocity_near(const tl_rigid_view *v, int32_t i, int32_t j, double *turn)
{
    const tl_motion *m = &v->body[i];
    bool bounded = v->rigid->body[i].reach < INFINITY;
    double spin = tl_rigid_turn(&v->rigid->body[i], m);
    *turn = spin > 0 ? spin * v->rigid->body[bounded ? i : j].reach : 0;
    return bounded ? m->v : tl_vec3_add(m->v, tl_vec3_cross(m->w, tl_vec3_sub(v->body[j].x, m->x)));
}

/* How far two surfaces may come towards each other within dt. Bodies that fall side by side do not. */
static double approach(const tl_rigid_view *v, int32_t i, int32_t j, double dt)
{
    double turn_i, turn_j;
    tl_vec3 apart = tl_vec3_sub(velocity_near(v, i, j, &turn_i), velocity_near(v, j, i, &turn_j));
    return dt * (tl_vec3_norm(apart) + turn_i + turn_j);
}

/* What boxes are grown in: bodies that move together then stay as far apart as they are. */
static tl_vec3 mean_velocity(const tl_rigid_view *v)
{
    tl_vec3 sum = {0, 0, 0};
    double count = 0;
    for (int32_t i = 0; i < v->rigid->scene_count; i++) {
        if (v->rigid->body[i].kind != TL_BODY_FREE) continue;
        sum = tl_vec3_add(sum, v->body[i].v);
        count++;
    }
    return count > 0 ? tl_vec3_scale(1 / count, sum) : sum;
}

/* Pairs without an absent body, and without those that joints hold; the number that stays. */
static int64_t present(const tl_rigid_view *v, tl_near_pair *pair, int64_t pairs)
{
    const bool held = v->joints && v->joints->count;
    if (!v->absent && !held) return pairs;
    int64_t kept = 0;
    for (int64_t k = 0; k < pairs; k++) {
        const int32_t a = pair[k].a, b = pair[k].b;
        if (v->absent && (v->absent[a] || v->absent[b])) continue;
        if (!held || !tl_joints_part(v->joints, a, b)) pair[kept++] = pair[k];
    }
    return kept;
}

talus_status tl_rigid_near(const tl_rigid_view *v, double dt, tl_arena *a, tl_near_pair **pair, int64_t *pairs,
                           talus_error *err)
{
    int32_t n = v->rigid->count;
    tl_box3 *box = TL_TAKE(a, tl_box3, n);
    bool *moves = TL_TAKE(a, bool, n);
    if (!box || !moves) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the boxes of %d bodies", (int)n);
    tl_vec3 mean = mean_velocity(v);
    for (int32_t i = 0; i < n; i++) {
        const tl_rigid_body *b = &v->rigid->body[i];
        box[i] = tl_collider_bounds(b->collider, &v->pose[i]);
        moves[i] = b->kind == TL_BODY_FREE;
        if (!(b->reach < INFINITY)) continue;
        double turn, speed = tl_vec3_norm(tl_vec3_sub(velocity_near(v, i, i, &turn), mean));
        double grow = 0.5 * STILL * b->extent + dt * (speed + turn);
        box[i].lo = tl_vec3_sub(box[i].lo, (tl_vec3){grow, grow, grow});
        box[i].hi = tl_vec3_add(box[i].hi, (tl_vec3){grow, grow, grow});
    }
    TL_TRY(tl_broad_pairs(n, box, moves, a, pair, pairs, err));
    *pairs = present(v, *pair, *pairs);
    return TALUS_OK;
}

/* ---- points ---- */

static int64_t first_of_pair(const tl_rigid_memory *m, int64_t count, int32_t a, int32_t b)
{
    int64_t lo = 0, hi = count;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (m[mid].a < a || (m[mid].a == a && m[mid].b < b))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static bool is_pair(const tl_rigid_state *past, int64_t k, int32_t a, int32_t b)
{
    return k < past->contacts && past->contact[k].a == a && past->contact[k].b == b;
}

static void set_friction(const tl_rigid_view *v, tl_rigid_point *p)
{
    int32_t scene = v->rigid->scene_count;
    double own[2] = {v->friction[p->a], v->friction[p->b]};
    int a = p->a < scene ? p->a : -1, b = p->b < scene ? p->b : -1;
    tl_scene_pair(v->scene, a, b, own, &p->friction, &p->restitution);
    tl_scene_pair_turning(v->scene, a, b, &p->rolling, &p->spinning);
}

static void copy_friction(const tl_rigid_point *from, tl_rigid_point *p)
{
    p->friction = from->friction;
    p->restitution = from->restitution;
    p->rolling = from->rolling;
    p->spinning = from->spinning;
}

static void set_arms(const tl_motion *body, tl_rigid_point *p)
{
    p->arm_a = tl_vec3_sub(p->at, body[p->a].x);
    p->arm_b = tl_vec3_sub(p->at, body[p->b].x);
}

static tl_rigid_point make_point(const tl_rigid_view *v, const tl_near_pair *pair, int32_t axis, const tl_touch *t)
{
    tl_rigid_point p = {.a = pair->a,
                        .b = pair->b,
                        .axis = axis,
                        .at = t->at,
                        .normal = t->normal,
                        .gap = t->gap,
                        .carried = t->carried};
    tl_vec3_tangents(p.normal, &p.t1, &p.t2);
    p.at_a = tl_pose_to_local(&v->pose[p.a], p.at);
    p.at_b = tl_pose_to_local(&v->pose[p.b], p.at);
    set_arms(v->body, &p);
    return p;
}

/* A mark on a body that turns approaches along a curve: over the step it stays behind its tangent by dt^2/2 of its
 * centripetal acceleration. Without this the marks just ahead of the lowest place would stop a body that rolls. */
static double bend(const tl_rigid_view *v, const tl_rigid_point *p, double dt)
{
    const tl_motion *a = &v->body[p->a], *b = &v->body[p->b];
    double off = tl_vec3_dot(p->normal, tl_vec3_sub(tl_vec3_cross(a->w, tl_vec3_cross(a->w, p->arm_a)),
                                                    tl_vec3_cross(b->w, tl_vec3_cross(b->w, p->arm_b))));
    return fmin(fmax(0, 0.5 * dt * dt * off), BEND_MAX * p->gap);
}

typedef struct found {
    int32_t axis, count;
    int64_t kept;  /* first of its points in the last step's, which are these; -1: found now */
    double margin; /* 0: of a pair that keeps nothing */
    tl_touch touch[TL_TOUCHES_MAX];
} found;

/* Three of the points are far from lying on a line: bodies stand on each other and cannot roll. */
static bool is_wide(int count, const tl_touch *t, double least)
{
    double far = 0, wide = 0;
    int end = 0;
    for (int i = 1; i < count; i++) {
        double d = tl_vec3_norm(tl_vec3_sub(t[i].at, t[0].at));
        if (d > far) far = d, end = i;
    }
    for (int i = 1; i < count && far > 0; i++) {
        tl_vec3 across = tl_vec3_cross(tl_vec3_sub(t[end].at, t[0].at), tl_vec3_sub(t[i].at, t[0].at));
        wide = fmax(wide, tl_vec3_norm(across) / far);
    }
    return wide >= least;
}

/* Points that the pair keeps, from `old` on in the last step's; 0: it has to be looked at. */
static int keep_points(const tl_rigid_view *v, const tl_rigid_state *past, int64_t old, int32_t i, int32_t j,
                       double approach_now, tl_touch *out)
{
    const tl_rigid_memory *m = &past->contact[old];
    const tl_pose *a = &v->pose[i], *b = &v->pose[j];
    if (!(v->keep > 0) || !is_pair(past, old, i, j)) return 0;
    const tl_quat turn = tl_quat_mul(tl_quat_conjugate(b->rotation), a->rotation);
    const double lever = fmin(v->rigid->body[i].reach, v->rigid->body[j].reach),
                 turned = lever * tl_vec3_norm(tl_quat_difference(m->found.turn, turn));
    int count = 0;
    for (; is_pair(past, old + count, i, j); count++, m++) {
        if (count == TL_TOUCHES_MAX || !(m->found.margin >= approach_now + v->keep)) return 0;
        tl_vec3 on_a = tl_pose_apply(a, m->at_a), on_b = tl_pose_apply(b, m->at_b), moved = tl_vec3_sub(on_a, on_b);
        if (!(tl_vec3_norm(moved) + turned <= v->keep)) return 0;
        tl_vec3 normal = tl_quat_rotate(b->rotation, m->found.normal);
        out[count] = (tl_touch){tl_vec3_scale(0.5, tl_vec3_add(on_a, on_b)), normal,
                                m->found.gap + tl_vec3_dot(normal, moved), m->found.carried > 0};
    }
    return count;
}

static void find_points(const tl_rigid_view *v, const tl_near_pair *pair, double dt, const tl_rigid_state *past,
                        found *f)
{
    int32_t i = pair->a, j = pair->b;
    const tl_rigid_body *a = &v->rigid->body[i], *b = &v->rigid->body[j];
    int64_t old = first_of_pair(past->contact, past->contacts, i, j);
    double nearer = approach(v, i, j, dt);
    f->axis = is_pair(past, old, i, j) ? past->contact[old].axis : 0;
    f->count = keep_points(v, past, old, i, j, nearer, f->touch);
    f->kept = f->count ? old : -1;
    if (f->count) return;
    f->margin = still(v, i, j) + nearer;
    f->count = tl_collide(a->collider, &v->pose[i], b->collider, &v->pose[j], f->margin, &f->axis, f->touch);
    bool may_roll = !(tl_collider_flat(a->collider) && tl_collider_flat(b->collider));
    if (may_roll && !is_wide(f->count, f->touch, MATCH * fmin(a->extent, b->extent))) f->margin = 0;
}

/* A point of detection, as it was found or as it was kept. */
static tl_rigid_point point_of(const tl_rigid_view *v, const tl_near_pair *pair, const tl_rigid_state *past,
                               const found *f, int i)
{
    tl_rigid_point p = make_point(v, pair, f->axis, &f->touch[i]);
    const tl_quat to_b = tl_quat_conjugate(v->pose[pair->b].rotation);
    if (f->kept >= 0) {
        const tl_rigid_memory *m = &past->contact[f->kept + i];
        p.at_a = m->at_a;
        p.at_b = m->at_b;
        p.found = m->found;
    } else {
        p.found = (tl_rigid_found){f->margin, p.gap, p.carried, tl_quat_rotate(to_b, p.normal),
                                   tl_quat_mul(to_b, v->pose[pair->a].rotation)};
    }
    return p;
}

static int64_t work_of(const tl_rigid *r, const tl_near_pair *pair, int64_t pairs)
{
    int64_t work = pairs;
    for (int64_t k = 0; k < pairs; k++)
        work += (tl_collider_samples(r->body[pair[k].a].collider) + tl_collider_samples(r->body[pair[k].b].collider)) /
                SAMPLES_WORK;
    return work;
}

talus_status tl_rigid_detect(const tl_rigid_view *v, double dt, const tl_rigid_state *past, tl_arena *a,
                             tl_rigid_contacts *out, talus_error *err)
{
    tl_near_pair *pair;
    int64_t pairs;
    TL_TRY(tl_rigid_near(v, dt, a, &pair, &pairs, err));
    found *f = TL_TAKE(a, found, pairs);
    if (!f) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the contacts of %lld pairs", (long long)pairs);
    bool share = work_of(v->rigid, pair, pairs) > PARALLEL_WORK;
#pragma omp parallel for schedule(dynamic, 4) if (share)
    for (int64_t k = 0; k < pairs; k++) find_points(v, &pair[k], dt, past, &f[k]);
    int64_t count = 0;
    for (int64_t k = 0; k < pairs; k++) count += f[k].count;
    if (count > INT32_MAX / 3)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "%lld contact points are too many", (long long)count);
    *out = (tl_rigid_contacts){.point = TL_TAKE(a, tl_rigid_point, count)};
    if (!out->point) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld contact points", (long long)count);
    for (int64_t k = 0; k < pairs; k++)
        for (int i = 0; i < f[k].count; i++) {
            tl_rigid_point *p = &out->point[out->count++];
            *p = point_of(v, &pair[k], past, &f[k], i);
            if (f[k].touch[i].carried && p->gap > 0) p->bend = bend(v, p, dt);
            if (i == 0)
                set_friction(v, p);
            else
                copy_friction(&p[-1], p);
        }
    return TALUS_OK;
}

tl_vec3 tl_rigid_point_velocity(const tl_rigid_point *p, const double *v)
{
    const double *va = v + 6 * (int64_t)p->a, *vb = v + 6 * (int64_t)p->b;
    tl_vec3 ua = tl_vec3_add(tl_vec3_load(va), tl_vec3_cross(tl_vec3_load(va + 3), p->arm_a));
    tl_vec3 ub = tl_vec3_add(tl_vec3_load(vb), tl_vec3_cross(tl_vec3_load(vb + 3), p->arm_b));
    return tl_vec3_sub(ua, ub);
}

double tl_rigid_point_speed(const tl_rigid_point *p, const double *v)
{
    return tl_vec3_dot(p->normal, tl_rigid_point_velocity(p, v));
}

/* ---- what the first look missed ---- */

/* Points of `now` that belong to a pair: [*begin, *end). They are walked through in step with the pairs. */
static void points_of_pair(const tl_rigid_contacts *now, const tl_near_pair *pair, int32_t *begin, int32_t *end)
{
    int32_t k = *begin;
    while (k < now->count && (now->point[k].a < pair->a || (now->point[k].a == pair->a && now->point[k].b < pair->b)))
        k++;
    *begin = k;
    while (k < now->count && now->point[k].a == pair->a && now->point[k].b == pair->b) k++;
    *end = k;
}

static void carry_over(const tl_rigid_contacts *now, int32_t begin, int32_t end, tl_rigid_contacts *out, int32_t *from)
{
    for (int32_t k = begin; k < end; k++) {
        from[out->count] = k;
        out->point[out->count++] = now->point[k];
    }
}

/* Pose of body i a share `when` of the way from start to end. */
static tl_pose pose_between(const tl_rigid_view *start, const tl_pose *end, int32_t i, double when)
{
    tl_quat a = start->pose[i].rotation, b = end[i].rotation;
    double side = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z < 0 ? -when : when, rest = 1 - when;
    tl_quat q = tl_quat_normalize((tl_quat){.w = rest * a.w + side * b.w,
                                            .x = rest * a.x + side * b.x,
                                            .y = rest * a.y + side * b.y,
                                            .z = rest * a.z + side * b.z});
    tl_vec3 centre = start->rigid->body[i].centre, from = tl_pose_apply(&start->pose[i], centre),
            to = tl_pose_apply(&end[i], centre), x = tl_vec3_add_scaled(tl_vec3_scale(rest, from), when, to);
    return (tl_pose){tl_vec3_sub(x, tl_quat_rotate(q, centre)), q};
}

/* How far bodies have come from their start: the centre of mass, and at most how far turning has moved any place of
 * the surface. */
typedef struct way {
    tl_vec3 centre;
    double turn;
} way;

static way way_of(const tl_rigid_body *b, const tl_pose *from, const tl_pose *to)
{
    tl_vec3 c = tl_vec3_sub(tl_pose_apply(to, b->centre), tl_pose_apply(from, b->centre));
    if (b->round == TL_ROUND_BALL) return (way){c, 0};
    double angle =
        b->round == TL_ROUND_AXIS
            ? tl_vec3_norm(tl_vec3_sub(tl_quat_rotate(to->rotation, b->axis), tl_quat_rotate(from->rotation, b->axis)))
            : tl_vec3_norm(tl_quat_difference(from->rotation, to->rotation));
    return (way){c, angle > 0 ? angle * b->reach : 0};
}

/* A pair that the second look is at. */
typedef struct look {
    tl_near_pair pair;
    int32_t known, known_end; /* its points of the first look */
    int32_t axis;             /* of them */
    double deepest;           /* m: their least gap, or 0 */
    double limit;             /* m: gaps below it are too deep */
    double last;              /* m: least gap of the end */
    /* when it first was too deep */
    double when; /* of the step */
    tl_pose place[2];
    int32_t count;   /* 0: it is not */
    tl_touch *touch; /* [TL_TOUCHES_MAX] */
} look;

/* Points of the pair where it is too deep for the first time on its way, as far as halving finds it: deep inside, the
 * nearest way out is not the one it came (a shallow overlap is taken at the end). */
static void first_overlap(const tl_rigid_way *w, look *l)
{
    const int32_t i = l->pair.a, j = l->pair.b;
    const tl_rigid_body *a = &w->start->rigid->body[i], *b = &w->start->rigid->body[j];
    double open = 0, enough = l->limit - TOUCH * fmin(a->extent, b->extent);
    l->count = 0;
    l->when = 1;
    for (int tries = 0; tries < TOUCH_TRIES; tries++) {
        tl_touch here[TL_TOUCHES_MAX];
        double share = tries ? 0.5 * (open + l->when) : 1, least = INFINITY;
        int32_t along = l->axis;
        tl_pose x[2] = {pose_between(w->start, w->end, i, share), pose_between(w->start, w->end, j, share)};
        int count = tl_collide(a->collider, &x[0], b->collider, &x[1], still(w->start, i, j), &along, here);
        for (int k = 0; k < count; k++) least = fmin(least, here[k].gap);
        if (!tries) l->last = least;
        if (least < l->limit) {
            l->when = share;
            l->count = count;
            memcpy(l->touch, here, sizeof *here * (size_t)count);
            memcpy(l->place, x, sizeof x);
            if (least > enough) break;
        } else if (tries)
            open = share;
        else
            break;
    }
}

/* The pair was at least so far apart at the start (`apart` where the first look found nothing), and cannot have come
 * as deep as the limit: exact. */
static bool stays_apart(const tl_rigid_contacts *now, const way *ways, double apart, const look *l)
{
    int32_t i = l->pair.a, j = l->pair.b;
    double gap = apart, nearer; /* where the first look found nothing */
    for (int32_t p = l->known; p < l->known_end; p++) gap = fmin(gap, now->point[p].gap);
    nearer = tl_vec3_norm(tl_vec3_sub(ways[i].centre, ways[j].centre)) + ways[i].turn + ways[j].turn;
    return gap - nearer >= l->limit;
}

/* Pairs of the second look, in the order of all pairs, that may have gone too deep. Takes `list` [pairs] for that. */
static int64_t choose_pairs(const tl_rigid_way *w, const tl_near_pair *pair, int64_t pairs, const way *ways, look *list,
                            bool *maybe)
{
    const tl_rigid *r = w->start->rigid;
    const tl_rigid_contacts *now = w->now;
    int64_t count = 0, chosen = 0;
    int32_t known = 0;
    for (int64_t k = 0; k < pairs; k++) {
        look l = {.pair = pair[k], .known = known, .when = 1};
        if (r->body[pair[k].a].kind != TL_BODY_FREE && r->body[pair[k].b].kind != TL_BODY_FREE) continue;
        points_of_pair(now, &pair[k], &l.known, &l.known_end);
        known = l.known;
        for (int32_t p = l.known; p < l.known_end; p++) l.deepest = fmin(l.deepest, now->point[p].gap);
        l.axis = l.known < l.known_end ? now->point[l.known].axis : 0;
        l.limit = fmin(-w->slop, l.deepest - AGAIN * w->slop);
        if (!stays_apart(now, ways, still(w->start, l.pair.a, l.pair.b), &l)) list[count++] = l;
    }
#pragma omp parallel for schedule(dynamic, 16) if (count > PARALLEL_PAIRS)
    for (int64_t k = 0; k < count; k++) {
        int32_t i = list[k].pair.a, j = list[k].pair.b;
        maybe[k] =
            tl_collide_may_overlap(r->body[i].collider, &w->end[i], r->body[j].collider, &w->end[j], -list[k].limit);
    }
    for (int64_t k = 0; k < count; k++)
        if (maybe[k]) list[chosen++] = list[k];
    return chosen;
}

/* Points of pairs that are deeper in each other than they may be, of the moment when they began to be: list
 * [*overlaps]. */
static talus_status find_overlaps(const tl_rigid_way *w, tl_arena *a, look **out, int64_t *overlaps, talus_error *err)
{
    const tl_rigid *r = w->start->rigid;
    tl_box3 *box = TL_TAKE(a, tl_box3, r->count);
    way *ways = TL_TAKE(a, way, r->count);
    tl_near_pair *pair;
    int64_t pairs;
    if (!box || !ways) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the boxes of %d bodies", (int)r->count);
    for (int32_t i = 0; i < r->count; i++) {
        box[i] = tl_collider_bounds(r->body[i].collider, &w->end[i]);
        ways[i] = way_of(&r->body[i], &w->start->pose[i], &w->end[i]);
    }
    TL_TRY(tl_broad_pairs(r->count, box, w->fast, a, &pair, &pairs, err));
    pairs = present(w->start, pair, pairs);
    look *list = TL_TAKE(a, look, pairs);
    bool *maybe = TL_TAKE(a, bool, pairs);
    if (!list || !maybe)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the contacts of %lld pairs", (long long)pairs);
    int64_t count = choose_pairs(w, pair, pairs, ways, list, maybe);
    tl_touch *touch = TL_TAKE(a, tl_touch, TL_TOUCHES_MAX * count);
    if (!touch) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the contacts of %lld pairs", (long long)count);
#pragma omp parallel for schedule(dynamic, 4) if (count > PARALLEL_PAIRS / 4)
    for (int64_t k = 0; k < count; k++) {
        list[k].touch = touch + TL_TOUCHES_MAX * k;
        first_overlap(w, &list[k]);
    }
    *overlaps = 0;
    for (int64_t k = 0; k < count; k++)
        if (list[k].count) list[(*overlaps)++] = list[k];
    *out = list;
    return TALUS_OK;
}

/* ---- how deep bodies end up in each other ---- */

/* A pair at the end, with the most that it can be deep there. */
typedef struct deep {
    tl_near_pair pair;
    int32_t axis;
    double bound; /* m: gap of the start, less the ways of both surfaces; INFINITY: not known */
} deep;

static double depth_of(const tl_rigid *r, const tl_pose *end, const deep *d)
{
    const int32_t i = d->pair.a, j = d->pair.b;
    int32_t axis = d->axis;
    tl_touch touch[TL_TOUCHES_MAX];
    double depth = 0;
    int count = tl_collide(r->body[i].collider, &end[i], r->body[j].collider, &end[j], 0, &axis, touch);
    for (int k = 0; k < count; k++) depth = fmax(depth, -touch[k].gap);
    return depth;
}

static deep deep_of(const tl_rigid_view *start, const way *ways, const tl_rigid_contacts *now, const tl_near_pair *pair,
                    int32_t *known)
{
    deep d = {*pair, 0, INFINITY};
    int32_t last;
    if (!now) return d;
    points_of_pair(now, pair, known, &last);
    double gap = still(start, pair->a, pair->b);
    for (int32_t p = *known; p < last; p++) gap = fmin(gap, now->point[p].gap), d.axis = now->point[*known].axis;
    d.bound = tl_vec3_norm(tl_vec3_sub(ways[pair->a].centre, ways[pair->b].centre)) + ways[pair->a].turn +
              ways[pair->b].turn - gap;
    return d;
}

talus_status tl_rigid_depth(const tl_rigid_view *start, const tl_pose *end, const tl_rigid_contacts *now, tl_arena *a,
                            double *depth, talus_error *err)
{
    const tl_rigid *r = start->rigid;
    tl_box3 *box = TL_TAKE(a, tl_box3, r->count);
    way *ways = TL_TAKE(a, way, r->count);
    bool *moves = TL_TAKE(a, bool, r->count);
    tl_near_pair *pair;
    int64_t all, pairs = 0, count = 0, first = 0;
    int32_t known = 0;
    *depth = 0;
    if (!box || !ways || !moves)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the boxes of %d bodies", (int)r->count);
    for (int32_t i = 0; i < r->count; i++) {
        box[i] = tl_collider_bounds(r->body[i].collider, &end[i]);
        ways[i] = way_of(&r->body[i], &start->pose[i], &end[i]);
        moves[i] = r->body[i].kind == TL_BODY_FREE && !r->body[i].elastic;
    }
    TL_TRY(tl_broad_pairs(r->count, box, moves, a, &pair, &all, err));
    all = present(start, pair, all);
    for (int64_t k = 0; k < all; k++) /* shapes of elastic bodies stay where they began */
        if (!r->body[pair[k].a].elastic && !r->body[pair[k].b].elastic) pair[pairs++] = pair[k];
    deep *list = TL_TAKE(a, deep, pairs);
    if (!list) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the depths of %lld pairs", (long long)pairs);
    for (int64_t k = 0; k < pairs; k++) {
        list[k] = deep_of(start, ways, now, &pair[k], &known);
        if (list[k].bound > list[first].bound) first = k;
    }
    if (!pairs) return TALUS_OK;
    double most = depth_of(r, end, &list[first]);
    for (int64_t k = 0; k < pairs; k++)
        if (k != first && list[k].bound > most) list[count++] = list[k]; /* the others are not as deep */
#pragma omp parallel for schedule(dynamic, 4) reduction(max : most) if (count > PARALLEL_PAIRS / 4)
    for (int64_t k = 0; k < count; k++) most = fmax(most, depth_of(r, end, &list[k]));
    *depth = most;
    return TALUS_OK;
}

talus_status tl_rigid_detect_again(const tl_rigid_way *w, tl_arena *a, tl_rigid_contacts *out, int32_t **from,
                                   double *deeper, talus_error *err)
{
    const tl_rigid_view *start = w->start;
    const tl_rigid *r = start->rigid;
    const tl_rigid_contacts *now = w->now;
    look *list = NULL;
    int64_t overlaps = 0;
    TL_TRY(find_overlaps(w, a, &list, &overlaps, err));
    int64_t max = now->count;
    for (int64_t k = 0; k < overlaps; k++) max += list[k].count;
    *out = (tl_rigid_contacts){.point = TL_TAKE(a, tl_rigid_point, max)};
    *from = TL_TAKE(a, int32_t, max);
    if (!out->point || !*from)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld contact points", (long long)max);

    int32_t copied = 0;
    *deeper = 0;
    for (int64_t k = 0; k < overlaps; k++) {
        const look *l = &list[k];
        const tl_touch *touch = l->touch;
        int32_t i = l->pair.a, j = l->pair.b;
        *deeper = fmax(*deeper, (l->deepest - l->last) / fmin(r->body[i].extent, r->body[j].extent));
        carry_over(now, copied, l->known_end, out, *from);
        copied = l->known_end;
        for (int t = 0; t < l->count; t++) {
            if (!(touch[t].gap < l->limit)) continue;
            tl_rigid_point p = make_point(start, &l->pair, l->axis, &touch[t]);
            p.at_a = tl_pose_to_local(&l->place[0], touch[t].at);
            p.at_b = tl_pose_to_local(&l->place[1], touch[t].at);
            tl_vec3 on_a = tl_pose_apply(&start->pose[i], p.at_a), on_b = tl_pose_apply(&start->pose[j], p.at_b);
            p.at = tl_vec3_scale(0.5, tl_vec3_add(on_a, on_b));
            set_arms(start->body, &p);
            /* no deeper than the pair is: two points of a curved way are not nearest to each other at its start */
            p.gap = fmax(l->deepest, touch[t].gap + tl_vec3_dot(p.normal, tl_vec3_sub(on_a, on_b)));
            p.bend = touch[t].gap - l->when * w->dt * tl_rigid_point_speed(&p, w->v) - p.gap;
            set_friction(start, &p);
            (*from)[out->count] = -1;
            out->point[out->count++] = p;
        }
    }
    carry_over(now, copied, now->count, out, *from);
    return TALUS_OK;
}

/* ---- half-way ---- */

/* Squared distance of two points of a pair, in the body's frame where it is less; a mark is only itself. */
static double apart2(const tl_rigid_point *p, const tl_rigid_point *q, double mark)
{
    double d = fmin(tl_vec3_norm2(tl_vec3_sub(q->at_a, p->at_a)), tl_vec3_norm2(tl_vec3_sub(q->at_b, p->at_b)));
    return p->carried == q->carried && (!p->carried || d < mark * mark) ? d : INFINITY;
}

/* Which points of the start, begin to end, those of half-way are: pairs of both, nearest first, each once. was
 * [count]: -1 for those that are left. */
static void find_again(const tl_rigid_contacts *start, int32_t begin, int32_t end, double mark, int count,
                       const tl_rigid_point *p, int32_t *was)
{
    uint64_t taken = 0;
    for (int round = 0; round < count && round < end - begin; round++) {
        double least = INFINITY;
        int to = -1;
        int32_t old = -1;
        for (int t = 0; t < count; t++)
            for (int32_t k = begin; k < end && was[t] < 0; k++) {
                double d =
                    k - begin < 64 && taken >> (k - begin) & 1 ? INFINITY : apart2(&p[t], &start->point[k], mark);
                if (d < least) least = d, to = t, old = k;
            }
        if (to < 0) return;
        was[to] = old;
        if (old - begin < 64) taken |= (uint64_t)1 << (old - begin);
    }
}

/* Points of one pair half-way through the step, and which of the start's they are. Returns how many. */
static int points_half(const tl_rigid_view *v, double dt, const tl_rigid_contacts *start, int32_t begin, int32_t end,
                       tl_rigid_point *p, int32_t *was)
{
    const tl_rigid_point *first = &start->point[begin];
    tl_near_pair pair = {first->a, first->b};
    tl_touch touch[TL_TOUCHES_MAX];
    int32_t axis = first->axis;
    int count = tl_collide(v->rigid->body[pair.a].collider, &v->pose[pair.a], v->rigid->body[pair.b].collider,
                           &v->pose[pair.b], still(v, pair.a, pair.b) + approach(v, pair.a, pair.b, dt), &axis, touch);
    for (int t = 0; t < count; t++) {
        p[t] = make_point(v, &pair, axis, &touch[t]);
        copy_friction(first, &p[t]);
        p[t].half = true;
        was[t] = -1;
    }
    double extent = fmin(v->rigid->body[pair.a].extent, v->rigid->body[pair.b].extent);
    find_again(start, begin, end, SAME_MARK * extent, count, p, was);
    return count;
}

talus_status tl_rigid_detect_half(const tl_rigid_view *v, double dt, const bool *half, const tl_rigid_contacts *start,
                                  tl_arena *a, tl_rigid_contacts *out, int32_t **from, talus_error *err)
{
    int32_t pairs = 0, turning = 0, *begin = TL_TAKE(a, int32_t, start->count + 1),
            *slot = TL_TAKE(a, int32_t, start->count + 1);
    if (!begin || !slot) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d contact points", (int)start->count);
    for (int32_t k = 0; k < start->count; k++) {
        const tl_rigid_point *p = &start->point[k];
        if (k && p->a == p[-1].a && p->b == p[-1].b) continue;
        slot[pairs] = half[p->a] || half[p->b] ? turning++ : -1;
        begin[pairs++] = k;
    }
    begin[pairs] = start->count;
    int64_t max = start->count + TL_TOUCHES_MAX * (int64_t)turning;
    *out = (tl_rigid_contacts){.point = TL_TAKE(a, tl_rigid_point, max)};
    *from = TL_TAKE(a, int32_t, max);
    tl_rigid_point *point = TL_TAKE(a, tl_rigid_point, TL_TOUCHES_MAX * (int64_t)turning);
    int32_t *was = TL_TAKE(a, int32_t, TL_TOUCHES_MAX * (int64_t)turning), *count = TL_TAKE(a, int32_t, pairs);
    if (!out->point || !*from || !point || !was || !count)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the contacts of %d pairs", (int)pairs);
#pragma omp parallel for schedule(dynamic, 4) if (turning > PARALLEL_PAIRS)
    for (int32_t k = 0; k < pairs; k++)
        if (slot[k] >= 0)
            count[k] = points_half(v, dt, start, begin[k], begin[k + 1], point + TL_TOUCHES_MAX * (int64_t)slot[k],
                                   was + TL_TOUCHES_MAX * (int64_t)slot[k]);
    for (int32_t k = 0; k < pairs; k++) {
        if (slot[k] < 0) {
            carry_over(start, begin[k], begin[k + 1], out, *from);
            continue;
        }
        for (int32_t t = 0; t < count[k]; t++) {
            (*from)[out->count] = was[TL_TOUCHES_MAX * (int64_t)slot[k] + t];
            out->point[out->count++] = point[TL_TOUCHES_MAX * (int64_t)slot[k] + t];
        }
    }
    return TALUS_OK;
}

/* ---- from step to step ---- */

static double match_limit(const tl_rigid *r, int32_t a, int32_t b)
{
    return MATCH * fmin(r->body[a].extent, r->body[b].extent);
}

/* Squared distance of a point to an old one of its pair, in the body's frame where it is less. */
static double moved2(const tl_rigid_point *p, const tl_rigid_memory *m)
{
    return fmin(tl_vec3_norm2(tl_vec3_sub(m->at_a, p->at_a)), tl_vec3_norm2(tl_vec3_sub(m->at_b, p->at_b)));
}

/* Every old force goes to a point, and none goes to two: pairs of a new and an old point, nearest first, then old
 * points that are left to the nearest new one. force [news] comes back, N. */
static void hand_over(int news, const tl_rigid_point *p, int olds, const tl_rigid_memory *m, double limit,
                      tl_vec3 *force)
{
    bool has[MATCHES_MAX] = {false}, given[MATCHES_MAX] = {false};
    for (int i = 0; i < news; i++) force[i] = (tl_vec3){0, 0, 0};
    for (int round = 0; round < 2 * olds; round++) {
        double least = limit * limit;
        int from = -1, to = -1;
        for (int k = 0; k < olds; k++)
            for (int i = 0; i < news && !given[k]; i++) {
                if (has[i] && round < olds) continue;
                double d = moved2(&p[i], &m[k]);
                if (d < least) least = d, from = k, to = i;
            }
        if (to < 0 && round >= olds) break;
        if (to < 0) {
            round = olds - 1;
            continue;
        }
        force[to] = tl_vec3_add(force[to], m[from].force);
        has[to] = given[from] = true;
    }
    /* what rolls has come to touch elsewhere on both: as many points as before are the same, in their order */
    bool any = false;
    for (int k = 0; k < olds; k++) any |= given[k];
    for (int k = 0; k < olds && olds == news && !any; k++) force[k] = m[k].force;
}

/* In the point's frame, within its cone. */
static void write_impulse(const tl_rigid_point *p, tl_vec3 f, double l[3])
{
    double n = tl_vec3_dot(f, p->normal);
    if (!(n > 0)) return;
    l[0] = n;
    l[1] = tl_vec3_dot(f, p->t1);
    l[2] = tl_vec3_dot(f, p->t2);
    double slip = hypot(l[1], l[2]), share = slip > 0 ? fmin(1, p->friction * n / slip) : 0;
    l[1] *= share;
    l[2] *= share;
}

void tl_rigid_match(const tl_rigid *r, const tl_rigid_contacts *c, const tl_rigid_state *past, double dt, double *lam)
{
    memset(lam, 0, 3 * sizeof *lam * (size_t)c->count);
    for (int32_t k = 0; k < c->count;) {
        const tl_rigid_point *p = &c->point[k];
        tl_vec3 force[MATCHES_MAX];
        int news = 0, olds = 0;
        int64_t begin = first_of_pair(past->contact, past->contacts, p->a, p->b);
        while (k + news < c->count && p[news].a == p->a && p[news].b == p->b) news++;
        while (olds < MATCHES_MAX && is_pair(past, begin + olds, p->a, p->b)) olds++;
        int max = news < MATCHES_MAX ? news : MATCHES_MAX;
        hand_over(max, p, olds, olds ? past->contact + begin : NULL, match_limit(r, p->a, p->b), force);
        for (int i = 0; i < max; i++) write_impulse(&p[i], tl_vec3_scale(dt, force[i]), lam + 3 * (int64_t)(k + i));
        k += news;
    }
}

/* ---- the problem ---- */

/* block += D M^-1 D^T of one body: rows d_i of the point, lever r. */
static void add_block(double inv_mass, const double *inv_inertia, const tl_rigid_point *p, tl_vec3 r, double *block)
{
    if (!(inv_mass > 0)) return;
    const tl_vec3 d[3] = {p->normal, p->t1, p->t2};
    tl_mat3 I;
    memcpy(I.m, inv_inertia, sizeof I.m);
    tl_vec3 turn[3], push[3];
    for (int i = 0; i < 3; i++) {
        turn[i] = tl_vec3_cross(r, d[i]);
        push[i] = tl_mat3_mul_vec(I, turn[i]);
    }
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            double both = tl_vec3_dot(turn[i], push[j]) + (i == j ? inv_mass : 0);
            block[3 * i + j] += both;
            if (i != j) block[3 * j + i] += both;
        }
}

static void put_row(tl_csr *J, int64_t row, const tl_rigid_point *p, tl_vec3 d, tl_vec3 ra, tl_vec3 rb)
{
    double *val = J->val + 12 * row;
    int32_t *col = J->col + 12 * row;
    tl_vec3_store(d, val);
    tl_vec3_store(tl_vec3_cross(ra, d), val + 3);
    tl_vec3_store(tl_vec3_neg(d), val + 6);
    tl_vec3_store(tl_vec3_cross(d, rb), val + 9);
    for (int k = 0; k < 6; k++) {
        col[k] = 6 * p->a + k;
        col[6 + k] = 6 * p->b + k;
    }
    J->start[row + 1] = 12 * (row + 1);
}

/* ---- rolling and spinning ---- */

talus_status tl_rigid_find_resist(const tl_rigid *r, const tl_rigid_contacts *c, tl_arena *a, tl_rigid_resist *out,
                                  talus_error *err)
{
    int64_t count = 0;
    for (int32_t k = 0; k < c->count; k++) count += (c->point[k].rolling > 0) + (c->point[k].spinning > 0);
    *out = (tl_rigid_resist){.point = TL_TAKE(a, int32_t, count),
                             .spins = TL_TAKE(a, bool, count),
                             .length = TL_TAKE(a, double, count),
                             .radius = TL_TAKE_ZERO(a, double, count)};
    if (!out->point || !out->spins || !out->length || !out->radius || c->count + count > INT32_MAX / 3)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the rolling friction of %d contacts", (int)c->count);
    for (int32_t k = 0; k < c->count; k++) {
        const tl_rigid_point *p = &c->point[k];
        for (int spins = 0; spins < 2; spins++) {
            if (!((spins ? p->spinning : p->rolling) > 0)) continue;
            out->point[out->count] = k;
            out->spins[out->count] = spins;
            out->length[out->count++] = 0.5 * fmin(r->body[p->a].extent, r->body[p->b].extent);
        }
    }
    return TALUS_OK;
}

double tl_rigid_set_resist(tl_rigid_resist *s, const tl_rigid_contacts *c, const double *lam,
                           const tl_rigid_problem *problem)
{
    double max = 0;
    for (int32_t k = 0; k < s->count; k++) {
        const tl_rigid_point *p = &c->point[s->point[k]];
        double force = (s->spins[k] ? p->spinning : p->rolling) * fmax(0, lam[3 * (int64_t)s->point[k]]),
               fresh = force / s->length[k];
        if (problem) {
            const double *block = problem->problem.blocks + 9 * ((int64_t)c->count + k);
            max = fmax(max, fabs(fresh - s->radius[k]) * fmax(block[4], block[8]));
        }
        s->radius[k] = fresh;
    }
    return max;
}

/* Rows 1 and 2 of a block, as directions of the torque on a. */
static void resist_rows(const tl_rigid_resist *s, const tl_rigid_contacts *c, int32_t k, tl_vec3 d[2])
{
    const tl_rigid_point *p = &c->point[s->point[k]];
    if (s->spins[k])
        d[0] = d[1] = tl_vec3_scale(s->length[k] * sqrt(0.5), p->normal);
    else {
        d[0] = tl_vec3_scale(s->length[k], p->t1);
        d[1] = tl_vec3_scale(s->length[k], p->t2);
    }
}

tl_vec3 tl_rigid_resist_torque(const tl_rigid_resist *s, const tl_rigid_contacts *c, int32_t k, const double lam[3])
{
    tl_vec3 d[2];
    resist_rows(s, c, k, d);
    return tl_vec3_add_scaled(tl_vec3_scale(lam[1], d[0]), lam[2], d[1]);
}

/* The first row is not used, and has to be there: the second once more. */
static void put_resist(tl_rigid_problem *out, int64_t at, const tl_rigid_point *p, const tl_vec3 d[2],
                       const double *inv_mass, const double *inv_inertia, double *block)
{
    const tl_vec3 row[3] = {d[0], d[0], d[1]}, zero = {0, 0, 0};
    const int32_t body[2] = {p->a, p->b};
    for (int i = 0; i < 3; i++) {
        put_row(&out->J, 3 * at + i, p, zero, zero, zero);
        double *val = out->J.val + 12 * (3 * at + i);
        tl_vec3_store(row[i], val + 3);
        tl_vec3_store(tl_vec3_neg(row[i]), val + 9);
    }
    for (int side = 0; side < 2; side++) {
        if (!(inv_mass[body[side]] > 0)) continue;
        tl_mat3 I;
        memcpy(I.m, inv_inertia + 9 * (int64_t)body[side], sizeof I.m);
        for (int i = 0; i < 3; i++)
            for (int j = i; j < 3; j++) {
                double both = tl_vec3_dot(row[i], tl_mat3_mul_vec(I, row[j]));
                block[3 * i + j] += both;
                if (i != j) block[3 * j + i] += both;
            }
    }
}

/* One side of a joint's row. */
static int64_t put_side(tl_csr *J, int64_t at, int32_t body, tl_vec3 push, tl_vec3 turn)
{
    tl_vec3_store(push, J->val + at);
    tl_vec3_store(turn, J->val + at + 3);
    for (int k = 0; k < 6; k++) J->col[at + k] = 6 * body + k;
    return at + 6;
}

/* Rows of a joint; one that is not used has a block of its own, and no body. */
static void put_joint(tl_rigid_problem *out, int64_t at, const tl_joint_blocks *joints, int32_t k,
                      const double *inv_mass, const double *inv_inertia, double *block)
{
    tl_csr *J = &out->J;
    const tl_joint_row *row = joints->row + 3 * (int64_t)k;
    const int32_t a = joints->body[k][0], b = joints->body[k][1];
    for (int i = 0; i < 3; i++) {
        int64_t to = J->start[3 * at + i];
        if (b >= 0 && b < a) to = put_side(J, to, b, row[i].push_b, row[i].turn_b);
        to = put_side(J, to, a, row[i].push_a, row[i].turn_a);
        if (b > a) to = put_side(J, to, b, row[i].push_b, row[i].turn_b);
        J->start[3 * at + i + 1] = to;
        out->bias[3 * at + i] = joints->bias[3 * (int64_t)k + i];
    }
    for (int side = 0; side < 2; side++) {
        const int32_t body = side ? b : a;
        if (body < 0 || !(inv_mass[body] > 0)) continue;
        tl_mat3 I;
        memcpy(I.m, inv_inertia + 9 * (int64_t)body, sizeof I.m);
        for (int i = 0; i < 3; i++)
            for (int j = i; j < 3; j++) {
                const tl_vec3 pi = side ? row[i].push_b : row[i].push_a, pj = side ? row[j].push_b : row[j].push_a;
                const tl_vec3 ti = side ? row[i].turn_b : row[i].turn_a, tj = side ? row[j].turn_b : row[j].turn_a;
                double both = inv_mass[body] * tl_vec3_dot(pi, pj) + tl_vec3_dot(ti, tl_mat3_mul_vec(I, tj));
                block[3 * i + j] += both;
                if (i != j) block[3 * j + i] += both;
            }
    }
    for (int i = 0; i < 3; i++)
        if (!(block[4 * i] > 0)) block[4 * i] = 1;
}

talus_status tl_rigid_contacts_check(const tl_rigid_contacts *c, int32_t bodies, talus_error *err)
{
    for (int32_t k = 0; k < c->count; k++) {
        const tl_rigid_point *p = &c->point[k], *last = k ? p - 1 : p;
        if (p->a < 0 || p->b >= bodies || p->a >= p->b)
            return TL_FAIL(err, TALUS_BAD_INPUT, "contact %d is between bodies %d and %d of %d", k, p->a, p->b, bodies);
        if (p->a < last->a || (p->a == last->a && p->b < last->b))
            return TL_FAIL(err, TALUS_BAD_INPUT, "contact %d of bodies %d and %d comes after one of %d and %d", k, p->a,
                           p->b, last->a, last->b);
        if (!(fabs(tl_vec3_norm2(p->normal) - 1) < 1e-6) || !isfinite(tl_vec3_norm2(p->at)) || !isfinite(p->gap))
            return TL_FAIL(err, TALUS_BAD_INPUT, "contact %d: normal (%g, %g, %g), place (%g, %g, %g), gap %g", k,
                           p->normal.x, p->normal.y, p->normal.z, p->at.x, p->at.y, p->at.z, p->gap);
    }
    return TALUS_OK;
}

talus_status tl_rigid_problem_build(tl_rigid_problem *out, const tl_contact_bodies *bodies, const tl_rigid_contacts *c,
                                    const tl_rigid_resist *resist, const tl_joint_blocks *joints, double dt,
                                    tl_arena *a, talus_error *err)
{
    const double *inv_mass = bodies->inv_mass, *inv_inertia = bodies->inv_inertia;
    int64_t points = c->count, plain = points + (resist ? resist->count : 0), m = plain + (joints ? joints->count : 0),
            rows = 3 * m;
    TL_VALIDATE(tl_rigid_contacts_check(c, bodies->count, err));
    *out = (tl_rigid_problem){.space = tl_space_local(rows)};
    out->J = (tl_csr){(int32_t)rows, 6 * bodies->count, TL_TAKE(a, int64_t, rows + 1), TL_TAKE(a, int32_t, 12 * rows),
                      TL_TAKE(a, double, 12 * rows)};
    out->q = TL_TAKE(a, double, rows);
    out->bias = TL_TAKE_ZERO(a, double, rows);
    double *blocks = TL_TAKE_ZERO(a, double, 9 * m), *mu = TL_TAKE(a, double, m);
    out->W = (tl_contact_operator){&out->bodies, TL_TAKE(a, double, 6 * (int64_t)bodies->count)};
    if (!out->J.start || !out->J.col || !out->J.val || !out->q || !out->bias || !blocks || !mu || !out->W.v)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a problem of %lld contacts", (long long)m);
    out->J.start[0] = 0;
    for (int64_t k = 0; k < points; k++) {
        const tl_rigid_point *p = &c->point[k];
        tl_vec3 ra = p->arm_a, rb = p->arm_b;
        put_row(&out->J, 3 * k, p, p->normal, ra, rb);
        put_row(&out->J, 3 * k + 1, p, p->t1, ra, rb);
        put_row(&out->J, 3 * k + 2, p, p->t2, ra, rb);
        add_block(inv_mass[p->a], inv_inertia + 9 * (int64_t)p->a, p, ra, blocks + 9 * k);
        add_block(inv_mass[p->b], inv_inertia + 9 * (int64_t)p->b, p, rb, blocks + 9 * k);
        out->bias[3 * k] = (p->half ? 2 : 1) * tl_rigid_point_room(p) / dt;
        for (int i = 0; i < 3; i++) out->bias[3 * k + i] += p->early[i];
        mu[k] = p->friction;
    }
    for (int32_t k = 0; resist && k < resist->count; k++) {
        tl_vec3 d[2];
        resist_rows(resist, c, k, d);
        put_resist(out, points + k, &c->point[resist->point[k]], d, inv_mass, inv_inertia, blocks + 9 * (points + k));
        mu[points + k] = -fmax(resist->radius[k], DBL_MIN);
    }
    for (int32_t k = 0; joints && k < joints->count; k++) {
        put_joint(out, plain + k, joints, k, inv_mass, inv_inertia, blocks + 9 * (plain + k));
        mu[plain + k] = -DBL_MIN;
    }
    out->bodies = *bodies;
    out->bodies.J = &out->J;
    tl_contact_free_velocity(&out->bodies, out->bias, out->q);
    out->mu = mu;
    out->problem = (tl_contact){
        .space = &out->space,
        .W = tl_contact_operator_linop(&out->W),
        .blocks = blocks,
        .q = out->q,
        .mu = mu,
        .bodies = &out->bodies,
        .resists = m > points,
        .box = joints ? joints->box : NULL,
        .boxes = m - plain,
    };
    return TALUS_OK;
}
