#include "geom/collide/general.h"
#include "geom/minmax.h"

#define CANDIDATES 512
#define SEEDS 16
#define CLUSTER_COS 0.9 /* 26 degrees: normals of one side of a hollow */
#define FACING 0.3      /* cosine between the own normal and the contact's from which a point looks away */
#define FACING_FLAT 0.7 /* the same for a point on a face, opposite */
#define TIE 1e-3        /* of the spacing: gaps that differ less are equal, points of lower number win */
#define SAME                                                                                                           \
    1e-6 /* of the spacing: a place between samples that gains less is the sample; the force of a body that rolls acts there */
#define OPPOSED 0.7 /* cosine between both normals from which a place is one where the bodies face each other */
#define REFINE_STEPS 24
#define HALFWAY 0.02 /* of the spacing: how far from the middle between both surfaces the gap is read */
#define APART 0.3    /* of the spacing: points that span less do not add support */
#define CLOSE 0.5 /* of the spacing: gaps from which on a place between samples and the last digits do not matter yet */
#define HAIR 0.05 /* of the spacing: what a corner may hang over an edge and still stand on the face, twice */
#define SAG 0.12  /* of the spacing: a surface of radius 1.5 spacings bulges this far between samples */
#define OPEN 0.25 /* of the spacing: from this gap on, the nearest point of a leaf speaks for it */
#define WALK_STEPS 64 /* a stretch by ten closes 0.9^64 of its gap */
#define TURN_MIN 0.01 /* radians: what a body may turn in a step, at least */

/* One of the two bodies, placed. */
typedef struct solid {
    const tl_collider *c;
    tl_mat3 R;
    tl_vec3 at;
    double spacing; /* of its samples and field; 0: a primitive */
} solid;

typedef struct candidate {
    tl_vec3 at;     /* on the surface of its owner, world */
    tl_vec3 normal; /* first the owner's own; then of the contact, out of B into A */
    double gap;
    double away; /* distance of the other body, as far as its field knows */
    int owner;   /* 0: A, 1: B, 2: both, the place is halfway */
    bool flat;   /* on a face of its owner */
    bool curved; /* on a smooth curved part of its owner */
    bool lowest; /* the nearest place of all around it */
} candidate;

typedef struct pair {
    solid s[2];
    double margin, spacing;
    double turn;          /* radians that close a point of the margin */
    uint64_t standing[2]; /* rims of each whose lowest place is known: their samples do not matter */
    bool complete;        /* rims, tubes, edges and corners are all that may touch: no samples */
    int count;
    candidate list[CANDIDATES];
} pair;

static solid solid_of(const tl_collider *c, const tl_pose *x)
{
    return (solid){c, tl_quat_to_mat3(x->rotation), x->at, c->field ? c->field->spacing : 0};
}
static tl_vec3 to_world(const solid *s, tl_vec3 p) { return tl_vec3_add(s->at, tl_mat3_mul_vec(s->R, p)); }
static tl_vec3 to_local(const solid *s, tl_vec3 p) { return tl_mat3_tmul_vec(s->R, tl_vec3_sub(p, s->at)); }

/* ---- distances ---- */

static double box_distance(const tl_collider *c, tl_vec3 p, tl_vec3 *gradient)
{
    tl_vec3 x = tl_mat3_tmul_vec(c->axes, tl_vec3_sub(p, c->centre)),
            q = {fabs(x.x) - c->half.x, fabs(x.y) - c->half.y, fabs(x.z) - c->half.z};
    tl_vec3 o = tl_vec3_max(q, (tl_vec3){0, 0, 0});
    double out = tl_vec3_norm(o), in = tl_min(tl_max(q.x, tl_max(q.y, q.z)), 0);
    if (gradient) {
        tl_vec3 d =
            out > 0 ? tl_vec3_scale(1 / out, o) : (tl_vec3){q.x == in, q.x != in && q.y == in, q.x != in && q.y != in};
        *gradient = tl_mat3_mul_vec(c->axes, (tl_vec3){copysign(d.x, x.x), copysign(d.y, x.y), copysign(d.z, x.z)});
    }
    return out + in;
}

static double local_distance(const tl_collider *c, tl_vec3 p, tl_vec3 *gradient)
{
    tl_vec3 d = tl_vec3_sub(p, c->centre);
    switch (c->kind) {
    case TL_COLLIDER_SPHERE:
        if (gradient) *gradient = tl_vec3_normalize_or(d, (tl_vec3){0, 1, 0});
        return tl_vec3_norm(d) - c->radius;
    case TL_COLLIDER_BOX: return box_distance(c, p, gradient);
    case TL_COLLIDER_HALF_SPACE:
        if (gradient) *gradient = tl_mat3_column(c->axes, 0);
        return tl_vec3_dot(tl_mat3_column(c->axes, 0), d);
    case TL_COLLIDER_GENERAL: break;
    }
    return tl_field_at(&c->field->field, p, gradient);
}

/* No point of the ball is nearer than the margin. */
static bool ball_is_far(const tl_collider *c, tl_vec3 p, double radius, double margin)
{
    if (c->kind != TL_COLLIDER_GENERAL) return local_distance(c, p, NULL) > radius + margin;
    const tl_field *f = &c->field->field;
    if (tl_field_is_far(f, p, radius + margin)) return true;
    /* what the rough answer leaves open; a spline's slope may exceed 1 a little */
    return f->value && 16 * f->cell > radius + margin && tl_field_at(f, p, NULL) > 1.1 * radius + margin;
}

/* Distance at a world point; the normal is a unit vector in the world. */
static double distance(const solid *s, tl_vec3 p, tl_vec3 *normal)
{
    double d = local_distance(s->c, to_local(s, p), normal);
    if (normal) *normal = tl_mat3_mul_vec(s->R, tl_vec3_normalize_or(*normal, (tl_vec3){0, 1, 0}));
    return d;
}

/* How far away the surface is along -n, for a point whose distance is d: lower bounds, as at the mouth of a pipe
 * that was cut out of a cylinder, are walked down. Infinite beyond `max`. */
static double walk(const solid *s, tl_vec3 from, tl_vec3 n, double d, double max)
{
    if (s->spacing == 0 || s->c->field->field.tight || !(d > OPEN * s->spacing)) return d;
    for (int step = 0; step < WALK_STEPS && d <= max; step++) {
        double more = distance(s, tl_vec3_add_scaled(from, -d, n), NULL);
        d += more;
        if (more < TIE * s->spacing) return d;
    }
    return INFINITY;
}

/* ---- candidates ---- */

static double middle_gap(const pair *p)
{
    double lo = INFINITY, hi = -INFINITY; /* by halves: the order of the list must stay */
    for (int i = 0; i < p->count; i++) {
        lo = tl_min(lo, p->list[i].gap);
        hi = tl_max(hi, p->list[i].gap);
    }
    for (int k = 0; k < 50; k++) {
        double at = 0.5 * (lo + hi);
        int below = 0;
        for (int i = 0; i < p->count; i++) below += p->list[i].gap <= at;
        if (below > p->count / 2)
            hi = at;
        else
            lo = at;
    }
    return lo;
}

/* Of too many, the deeper half stays. */
static void add(pair *p, candidate c)
{
    if (p->count == CANDIDATES) {
        double gap = middle_gap(p);
        int kept = 0;
        for (int i = 0; i < CANDIDATES; i++)
            if (p->list[i].gap <= gap) p->list[kept++] = p->list[i];
        p->count = kept < CANDIDATES ? kept : CANDIDATES / 2; /* all the same: the first ones */
        if (c.gap > gap) return;
    }
    p->list[p->count++] = c;
}

/* Samples of one body whose distance to the other is at most the margin. */
static void add_samples(pair *p, int owner)
{
    const solid *a = &p->s[owner], *b = &p->s[1 - owner];
    const struct tl_general *g = a->c->field;
    const double margin = p->margin + SAG * a->spacing, open = tl_min(margin, OPEN * a->spacing);
    tl_mat3 R = tl_mat3_mul(tl_mat3_transpose(b->R), a->R); /* from a's frame to b's */
    tl_vec3 shift = to_local(b, a->at);
    bool bounded = b->c->field && b->c->field->field.value; /* without an evaluation */
    for (int32_t k = 0; k < g->balls;) {
        const tl_ball *ball = &g->ball[k];
        if (ball_is_far(b->c, tl_vec3_add(shift, tl_mat3_mul_vec(R, ball->centre)), ball->radius, margin)) {
            k = ball->next;
            continue;
        }
        double gap[TL_BALL_LEAF];
        int32_t least = 0, face = -1; /* nearest of all, nearest of the flat ones */
        for (int32_t i = 0; i < ball->count; i++) {
            int32_t q = ball->first + i;
            tl_vec3 at = tl_vec3_add(shift, tl_mat3_mul_vec(R, g->at[q]));
            gap[i] = INFINITY;
            if (g->on_rim[q] && p->standing[owner] >> (g->on_rim[q] - 1) & 1) continue;
            gap[i] =
                bounded && tl_field_is_far(&b->c->field->field, at, margin) ? INFINITY : local_distance(b->c, at, NULL);
            if (gap[i] < gap[least] - TIE * a->spacing) least = i;
            if (g->flat[q] == TL_FLAT_LEAF && (face < 0 || gap[i] < gap[face] - TIE * a->spacing)) face = i;
        }
        for (int32_t i = 0; i < ball->count; i++) {
            int32_t q = ball->first + i;
            bool kept = i == least ? gap[i] <= margin : gap[i] <= open && (g->flat[q] != TL_FLAT_LEAF || i == face);
            if (kept)
                add(p, (candidate){.at = to_world(a, g->at[q]),
                                   .normal = tl_mat3_mul_vec(a->R, g->normal[q]),
                                   .gap = gap[i],
                                   .away = gap[i],
                                   .owner = owner,
                                   .flat = g->flat[q] == TL_FLAT || g->flat[q] == TL_FLAT_LEAF,
                                   .curved = g->flat[q] == TL_CURVED});
        }
        k++;
    }
}

/* A rim, placed. */
typedef struct ring {
    const solid *other;
    tl_vec3 centre, u, v, axis;
    double radius, tube, outward;
} ring;

static tl_vec3 ring_out(const ring *r, double angle)
{
    return tl_vec3_add_scaled(tl_vec3_scale(cos(angle), r->u), sin(angle), r->v);
}
static tl_vec3 ring_place(const ring *r, double angle)
{
    return tl_vec3_add_scaled(r->centre, r->radius, ring_out(r, angle));
}

/* Slope of the other body's distance along the ring. */
static double ring_slope(const ring *r, double angle)
{
    tl_vec3 n, along = tl_vec3_add_scaled(tl_vec3_scale(-sin(angle), r->u), cos(angle), r->v);
    distance(r->other, ring_place(r, angle), &n);
    return tl_vec3_dot(n, along);
}

/* One place of a ring as a candidate, lowest or not: it is a function of the pose either way. */
static void add_ring_place(pair *p, int owner, const ring *r, double angle)
{
    tl_vec3 at = ring_place(r, angle), n;
    double d = distance(r->other, at, &n);
    if (d - r->tube > p->margin) return;
    tl_vec3 look = tl_vec3_scale(0.7071067811865476, tl_vec3_add_scaled(r->axis, r->outward, ring_out(r, angle)));
    if (r->tube > 0) { /* its ball touches along the other body's normal */
        look = tl_vec3_neg(n);
        at = tl_vec3_add_scaled(at, -r->tube, n);
        d = distance(r->other, at, NULL);
    }
    add(p, (candidate){.at = at, .normal = look, .gap = d, .away = d, .owner = owner, .lowest = true});
}

/* Deepest place between lo and hi, where the slope changes sign: regula falsi that halves the weight of an end that
 * stays. */
static bool ring_lowest(const ring *r, double lo, double hi, double *angle)
{
    double slope_lo = ring_slope(r, lo), slope_hi = ring_slope(r, hi);
    if (!(slope_lo < 0 && slope_hi > 0)) return false;
    for (int step = 0; step < 12 && hi - lo > 1e-10; step++) {
        *angle = lo - slope_lo * (hi - lo) / (slope_hi - slope_lo);
        double slope = ring_slope(r, *angle);
        if (fabs(slope) < 1e-12) break;
        if (slope < 0) {
            lo = *angle;
            slope_lo = slope;
            slope_hi *= 0.5;
        } else {
            hi = *angle;
            slope_hi = slope;
            slope_lo *= 0.5;
        }
    }
    return true;
}

/* A rim that lies in a plane, as its samples would tell it, with the flat end inside of it. */
static void add_flat_end(pair *p, int owner, const ring *r)
{
    enum { MARKS = 32 };
    const double turn = 6.283185307179586 / MARKS;
    for (int k = 0; k < MARKS; k++) {
        tl_vec3 out = ring_out(r, turn * k);
        tl_vec3 at = tl_vec3_add_scaled(ring_place(r, turn * k), r->tube, r->axis);
        double d = distance(r->other, at, NULL);
        if (d <= p->margin)
            add(p, (candidate){.at = at,
                               .normal =
                                   r->tube > 0 ? r->axis : tl_vec3_scale(0.7071067811865476, tl_vec3_add(r->axis, out)),
                               .gap = d,
                               .away = d,
                               .owner = owner});
    }
    for (int k = 0; k < 9; k++) {
        tl_vec3 at = tl_vec3_add_scaled(r->centre, r->tube, r->axis);
        at = tl_vec3_add_scaled(at, (k ? 0.9 : 0) * r->radius, ring_out(r, 4 * turn * k));
        double d = distance(r->other, at, NULL);
        if (d <= p->margin)
            add(p, (candidate){.at = at, .normal = r->axis, .gap = d, .away = d, .owner = owner, .flat = true});
    }
}

/* Deepest places of a rim, and those a quarter and half a turn further: what carries a disc that is nearly flat. A
 * rim that lies in a plane has no deepest place: its samples speak for it. */
static void add_rim(pair *p, int owner, int number)
{
    enum { STARTS = 16 };
    const solid *a = &p->s[owner], *b = &p->s[1 - owner];
    const tl_rim *rim = &a->c->field->rim[number];
    ring r = {.other = b,
              .centre = to_world(a, rim->centre),
              .axis = tl_mat3_mul_vec(a->R, rim->axis),
              .radius = rim->radius,
              .tube = rim->tube,
              .outward = rim->outward};
    if (ball_is_far(b->c, to_local(b, r.centre), rim->radius + rim->tube, p->margin)) return;
    tl_vec3_tangents(rim->axis, &r.u, &r.v);
    r.u = tl_mat3_mul_vec(a->R, r.u);
    r.v = tl_mat3_mul_vec(a->R, r.v);
    if (rim->radius == 0) {
        add_ring_place(p, owner, &r, 0);
        return;
    }
    double gap[STARTS], nearest = INFINITY;
    const double sector = 6.283185307179586 / STARTS;
    for (int k = 0; k < STARTS; k++) {
        gap[k] = distance(b, ring_place(&r, sector * k), NULL);
        nearest = tl_min(nearest, gap[k]);
    }
    if (nearest - rim->tube > p->margin + 0.1 * rim->radius) return;
    for (int k = 0; k < STARTS; k++) {
        double before = gap[(k + STARTS - 1) % STARTS], after = gap[(k + 1) % STARTS], angle = sector * k;
        bool least = gap[k] <= before && gap[k] < after;
        if (!least || tl_max(before, after) - gap[k] < TIE * p->spacing ||
            gap[k] - rim->tube > p->margin + 0.1 * rim->radius)
            continue;
        if (!ring_lowest(&r, angle - sector, angle + sector, &angle)) continue;
        p->standing[owner] |= (uint64_t)1 << number;
        for (int quarter = 0; quarter < 4; quarter++) add_ring_place(p, owner, &r, angle + quarter * (4 * sector));
    }
    if (p->complete && !(p->standing[owner] >> number & 1)) add_flat_end(p, owner, &r);
}

/* The nearest place of a tube, where that is between its ends; what is convex has one. */
static void add_tube(pair *p, int owner)
{
    const solid *a = &p->s[owner], *b = &p->s[1 - owner];
    const tl_tube *tube = &a->c->field->tube;
    tl_vec3 from = to_world(a, tube->from), along = tl_mat3_mul_vec(a->R, tube->along), n;
    tl_vec3 middle = tl_vec3_add_scaled(from, 0.5 * tube->length, along);
    if (ball_is_far(b->c, to_local(b, middle), 0.5 * tube->length + tube->radius, p->margin)) return;
    double lo = 0, hi = tube->length, t = 0, d_lo, d_hi, d, slope_lo, slope_hi, slope;
    d_lo = distance(b, from, &n);
    slope_lo = tl_vec3_dot(n, along);
    d_hi = distance(b, tl_vec3_add_scaled(from, hi, along), &n);
    slope_hi = tl_vec3_dot(n, along);
    if (!(slope_lo < 0 && slope_hi > 0)) return;
    for (int step = 0; step < 24 && hi - lo > 1e-9 * tube->length; step++) {
        t = lo - slope_lo * (hi - lo) / (slope_hi - slope_lo);
        distance(b, tl_vec3_add_scaled(from, t, along), &n);
        slope = tl_vec3_dot(n, along);
        if (fabs(slope) < 1e-12) break;
        if (slope < 0) {
            lo = t;
            slope_lo = slope;
            slope_hi *= 0.5;
        } else {
            hi = t;
            slope_hi = slope;
            slope_lo *= 0.5;
        }
    }
    d = distance(b, tl_vec3_add_scaled(from, t, along), &n);
    if (d - tube->radius > p->margin || tl_min(d_lo, d_hi) - d < TIE * p->spacing) return;
    tl_vec3 at = tl_vec3_add_scaled(tl_vec3_add_scaled(from, t, along), -tube->radius, n);
    double gap = distance(b, at, NULL);
    add(p, (candidate){.at = at, .normal = tl_vec3_neg(n), .gap = gap, .away = gap, .owner = owner, .lowest = true});
}

/* Corners and edges of a box against the general body: halved until a piece is far away or as short as a sample's
 * spacing. */
static void add_edge(pair *p, tl_vec3 from, tl_vec3 to, tl_vec3 normal, int depth)
{
    tl_vec3 middle = tl_vec3_scale(0.5, tl_vec3_add(from, to));
    double length = tl_vec3_norm(tl_vec3_sub(to, from));
    const solid *g = &p->s[0];
    if (ball_is_far(g->c, to_local(g, middle), 0.5 * length, p->margin)) return;
    if (length > g->spacing && depth < 12) {
        add_edge(p, from, middle, normal, depth + 1);
        add_edge(p, middle, to, normal, depth + 1);
        return;
    }
    double d = distance(g, middle, NULL);
    if (d <= p->margin) add(p, (candidate){.at = middle, .normal = normal, .gap = d, .away = d, .owner = 1});
}

static void add_box(pair *p)
{
    const solid *b = &p->s[1];
    tl_vec3 corner[8], sign[8];
    tl_mat3 R = tl_mat3_mul(b->R, b->c->axes);
    for (int k = 0; k < 8; k++) {
        sign[k] = (tl_vec3){k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1};
        corner[k] = tl_vec3_add(to_world(b, b->c->centre), tl_mat3_mul_vec(R, tl_vec3_mul(sign[k], b->c->half)));
        double d = distance(&p->s[0], corner[k], NULL);
        if (d <= p->margin)
            add(p, (candidate){.at = corner[k],
                               .normal = tl_mat3_mul_vec(R, tl_vec3_scale(0.5773502691896258, sign[k])),
                               .gap = d,
                               .away = d,
                               .owner = 1});
    }
    for (int k = 0; k < 8; k++)
        for (int axis = 1; axis < 8; axis *= 2)
            if (!(k & axis)) {
                tl_vec3 n = tl_vec3_scale(0.5, tl_vec3_add(sign[k], sign[k | axis]));
                add_edge(p, corner[k], corner[k | axis], tl_mat3_mul_vec(R, tl_vec3_scale(0.7071067811865476, n)), 0);
            }
}

/* Distances of the other body that need no lattice: the gap may be measured along the normal. */
static bool is_exact(const solid *s) { return s->spacing == 0 || s->c->field->field.exact; }

/* The normal of the other body is read outside of it; of an exact one a little way into the own body. From there the
 * gap is that to its face, also for a corner that hangs over the face's edge by a hair: flush corners then do not
 * come and go. */
static void find_normals(pair *p)
{
    int kept = 0;
    for (int i = 0; i < p->count; i++) {
        candidate c = p->list[i];
        const solid *other = &p->s[1 - c.owner];
        double blur = is_exact(other) ? HAIR * p->spacing : 0;
        tl_vec3 own = c.normal, step = tl_vec3_scale(-(blur + tl_max(0, -c.gap)), own), n;
        double d = distance(other, tl_vec3_add(c.at, step), &n);
        if (tl_vec3_dot(n, own) > (c.flat ? -FACING_FLAT : FACING)) continue;
        double max = p->margin + SAG * p->s[c.owner].spacing;
        if (is_exact(other))
            c.gap = walk(other, tl_vec3_add(c.at, step), n, d, max + tl_vec3_norm(step)) - tl_vec3_dot(n, step);
        else
            c.gap = walk(other, c.at, n, c.gap, max);
        if (c.gap == INFINITY) continue;
        if (c.flat && other->c->kind != TL_COLLIDER_HALF_SPACE)
            n = tl_vec3_neg(own); /* whatever touches a face pushes square to it */
        c.normal = c.owner == 0 ? n : tl_vec3_neg(n);
        p->list[kept++] = c;
    }
    p->count = kept;
}

/* Points of edges that lie in the plane of a face in contact push as the face does, or, where they are beside the
 * other body, not at all: read beside an edge, normals lean. */
static void straighten(pair *p)
{
    enum { PLANES = 16 };
    tl_vec3 at[PLANES], normal[PLANES];
    int planes = 0, kept = 0;
    for (int i = 0; i < p->count && planes < PLANES; i++) {
        const candidate *c = &p->list[i];
        bool known = !c->flat;
        for (int k = 0; k < planes && !known; k++)
            known = tl_vec3_dot(normal[k], c->normal) > 1 - 1e-9 &&
                    fabs(tl_vec3_dot(normal[k], tl_vec3_sub(at[k], c->at))) < TIE * p->spacing;
        if (known) continue;
        at[planes] = c->at;
        normal[planes++] = c->normal;
    }
    for (int i = 0; i < p->count; i++) {
        candidate c = p->list[i];
        bool beside = false;
        for (int k = 0; k < planes && !c.flat; k++) {
            double same = tl_vec3_dot(normal[k], c.normal);
            if (same < FACING_FLAT || fabs(tl_vec3_dot(normal[k], tl_vec3_sub(at[k], c.at))) > HAIR * p->spacing)
                continue;
            beside = same < 1 - 1e-9 && c.away > HAIR * p->spacing;
            c.normal = normal[k];
            break;
        }
        if (!beside) p->list[kept++] = c;
    }
    p->count = kept;
}

/* A sphere's own deepest point. */
static void add_sphere(pair *p)
{
    const solid *b = &p->s[1];
    tl_vec3 centre = to_world(b, b->c->centre), n;
    double d = distance(&p->s[0], centre, &n);
    d = walk(&p->s[0], centre, n, d, b->c->radius + p->margin) - b->c->radius;
    if (d <= p->margin && p->count < CANDIDATES)
        p->list[p->count++] = (candidate){.at = tl_vec3_add_scaled(centre, -(b->c->radius + 0.5 * d), n),
                                          .normal = tl_vec3_neg(n),
                                          .gap = d,
                                          .away = d,
                                          .owner = 2,
                                          .lowest = true};
}

/* ---- between the samples ---- */

/* Sum of both distances at x; along the line between nearest points it is the gap, across it grows. `slope`: its
 * gradient across. */
static double sum_at(const pair *p, tl_vec3 x, double d[2], tl_vec3 n[2], tl_vec3 *slope)
{
    for (int k = 0; k < 2; k++) d[k] = distance(&p->s[k], x, &n[k]);
    tl_vec3 axis = tl_vec3_normalize_or(tl_vec3_sub(n[1], n[0]), n[1]);
    *slope = tl_vec3_add(n[0], n[1]);
    *slope = tl_vec3_add_scaled(*slope, -tl_vec3_dot(*slope, axis), axis);
    return d[0] + d[1];
}

/* Steps down the slope with lengths from the last two gradients (Barzilai and Borwein), shortened where the sum
 * rises or the bodies no longer face each other; each also halfway between the surfaces, for inside of one body
 * alone the sum is no gap. True when the gap there is smaller than the seed's, and no more than two spacings away:
 * what lies further is another seed's, and a place on the way there would hold up a body that rolls. */
static bool refine(const pair *p, const candidate *seed, candidate *out)
{
    const double h = p->spacing;
    double d[2], best = INFINITY, best_d[2] = {0, 0}, rate = 2 * h, last_sum = 0;
    bool lowest = false;
    tl_vec3 n[2], x = seed->at, at = x, out_of = seed->normal, slope, last_slope = {0, 0, 0}, last = x;
    for (int step = 0; step < REFINE_STEPS; step++) {
        double sum = sum_at(p, x, d, n, &slope), off = 0.5 * (d[0] - d[1]), facing = -tl_vec3_dot(n[0], n[1]);
        tl_vec3 axis = tl_vec3_normalize_or(tl_vec3_sub(n[1], n[0]), n[1]);
        if (!step && facing < 0) break;
        if (sum < best && facing >= OPPOSED && fabs(off) < HALFWAY * h) {
            best = sum;
            best_d[0] = d[0], best_d[1] = d[1];
            at = x;
            out_of = p->s[1].c->kind == TL_COLLIDER_HALF_SPACE ? n[1] : axis;
        }
        if (step && (facing < OPPOSED || sum > last_sum + SAME * h)) {
            rate *= 0.25;
            if (rate * tl_vec3_norm(last_slope) < 1e-4 * h) break;
        } else {
            if (step) {
                tl_vec3 s = tl_vec3_sub(x, last), y = tl_vec3_sub(slope, last_slope);
                double sy = tl_vec3_dot(s, y);
                rate = sy > 0 ? tl_vec3_norm2(s) / sy : 2 * rate;
            }
            double length = rate * tl_vec3_norm(slope);
            if (length < 1e-4 * h && fabs(off) < HALFWAY * h) {
                lowest = true;
                break;
            }
            if (length > 0.7 * h) rate *= 0.7 * h / length;
            last = tl_vec3_add_scaled(x, off, axis);
            last_slope = slope;
            last_sum = sum;
        }
        x = tl_vec3_add_scaled(last, -rate, last_slope);
        if (tl_vec3_norm(tl_vec3_sub(x, seed->at)) > 2 * h) return false;
    }
    if (!(best < seed->gap - SAME * h)) return false;
    double a = walk(&p->s[0], at, tl_vec3_neg(out_of), best_d[0], p->margin + h);
    double b = walk(&p->s[1], at, out_of, best_d[1], p->margin + h);
    *out = (candidate){.at = tl_vec3_add_scaled(at, 0.5 * (a - b), out_of),
                       .normal = out_of,
                       .gap = a + b,
                       .away = a + b,
                       .owner = 2,
                       .lowest = lowest};
    return a + b < seed->gap - SAME * h;
}

/* The deepest candidate not near an earlier seed, up to SEEDS of them; refined ones join the list. */
static void refine_deepest(pair *p)
{
    bool covered[CANDIDATES] = {false};
    int count = p->count;
    for (int s = 0; s < SEEDS; s++) {
        int seed = -1;
        for (int i = 0; i < count; i++)
            if (!covered[i] && (seed < 0 || p->list[i].gap < p->list[seed].gap)) seed = i;
        if (seed < 0 || (p->list[seed].gap > CLOSE * p->spacing && !p->list[seed].curved)) return;
        const candidate *c = &p->list[seed];
        candidate better;
        bool found = c->owner != 2 && !c->lowest && p->count < CANDIDATES && refine(p, c, &better);
        for (int i = 0; i < count; i++)
            covered[i] |= tl_vec3_dot(p->list[i].normal, c->normal) > CLUSTER_COS &&
                          tl_vec3_norm(tl_vec3_sub(p->list[i].at, c->at)) < 3 * p->spacing;
        covered[seed] = true;
        for (int i = count; found && i < p->count; i++)
            if (tl_vec3_norm(tl_vec3_sub(p->list[i].at, better.at)) < APART * p->spacing &&
                tl_vec3_dot(p->list[i].normal, better.normal) > CLUSTER_COS)
                found = false;
        if (found) p->list[p->count++] = better;
    }
}

/* Marks on smooth curved parts go, where the bodies have a place that is nearest of all around it, an edge or a face
 * as deep: as the bodies turn, the touching place moves on along the surface, and a mark ahead of it would hold them
 * up with a lever that the contact never has. */
static void drop_marks(pair *p)
{
    int kept = 0;
    bool drop[CANDIDATES];
    for (int i = 0; i < p->count; i++) {
        const candidate *c = &p->list[i];
        drop[i] = false;
        for (int k = 0; k < p->count && c->curved && !drop[i]; k++) {
            const candidate *o = &p->list[k];
            drop[i] = (!o->curved || o->lowest) && o->gap <= c->gap + TIE * p->spacing &&
                      tl_vec3_dot(o->normal, c->normal) > CLUSTER_COS;
        }
    }
    for (int i = 0; i < p->count; i++)
        if (!drop[i]) p->list[kept++] = p->list[i];
    p->count = kept;
}

/* ---- reduction ---- */

/* The member of largest `span`, an open one counting less; ties go to the lower number. -1: none spans more than
 * `least`. */
typedef struct choice {
    int best;
    double score;
} choice;
static void consider(const pair *p, choice *c, int i, double span, double deepest)
{
    double score = span - (p->list[i].gap - deepest) / p->turn;
    if (score > c->score + 0.01 * p->spacing) *c = (choice){i, score};
}

/* Up to four members of `side` that span the most; the deepest is represented. */
static int reduce(const pair *p, const int8_t *side, int8_t mine, int max, int chosen[5])
{
    tl_vec3 middle = {0, 0, 0}, n = {0, 0, 0};
    double deepest = INFINITY, near = 0, least = APART * p->spacing;
    int bottom = -1, count = 0;
    for (int i = 0; i < p->count; i++)
        if (side[i] == mine && p->list[i].gap < deepest - (bottom >= 0 ? TIE * p->spacing : 0)) {
            deepest = p->list[i].gap;
            bottom = i;
        }
    if (max < 2) {
        chosen[0] = bottom;
        return 1;
    }
    for (int i = 0; i < p->count; i++) {
        if (side[i] != mine) continue;
        if (p->list[i].gap > deepest + TIE * p->spacing) continue;
        middle = tl_vec3_add(middle, p->list[i].at);
        n = tl_vec3_add(n, p->list[i].normal);
        near++;
    }
    middle = tl_vec3_scale(1 / near, middle);
    n = tl_vec3_normalize_or(n, p->list[bottom].normal);

    /* two that are far apart, then one on each side of the line between them */
    choice first = {bottom, tl_vec3_norm(tl_vec3_sub(p->list[bottom].at, middle))}, second = {-1, least},
           right = {-1, least}, left = {-1, least};
    for (int i = 0; i < p->count; i++)
        if (side[i] == mine) consider(p, &first, i, tl_vec3_norm(tl_vec3_sub(p->list[i].at, middle)), deepest);
    tl_vec3 from = p->list[first.best].at;
    for (int i = 0; i < p->count; i++)
        if (side[i] == mine) consider(p, &second, i, tl_vec3_norm(tl_vec3_sub(p->list[i].at, from)), deepest);
    chosen[count++] = first.best;
    if (second.best >= 0) {
        chosen[count++] = second.best;
        tl_vec3 across = tl_vec3_normalize(tl_vec3_cross(n, tl_vec3_sub(p->list[second.best].at, from)));
        for (int i = 0; i < p->count && max > 2; i++) {
            if (side[i] != mine) continue;
            double span = tl_vec3_dot(across, tl_vec3_sub(p->list[i].at, from));
            consider(p, &right, i, span, deepest);
            consider(p, &left, i, -span, deepest);
        }
        if (count + 2 > max && right.best >= 0 && left.best >= 0) /* room for one */
            *(left.score > right.score ? &right : &left) = (choice){-1, least};
        if (right.best >= 0) chosen[count++] = right.best;
        if (left.best >= 0) chosen[count++] = left.best;
    }
    for (int i = 0; i < count; i++)
        if (p->list[chosen[i]].gap <= deepest + TIE * p->spacing) return count;
    if (count == max) count--;
    chosen[count++] = bottom;
    return count;
}

static tl_touch touch_of(const pair *p, const candidate *c)
{
    candidate better;
    bool close = c->owner != 2 && !c->lowest && c->gap <= CLOSE * p->spacing;
    if (close && refine(p, c, &better) && tl_vec3_dot(better.normal, c->normal) > CLUSTER_COS) c = &better;
    double half = c->owner == 0 ? -0.5 : c->owner == 1 ? 0.5 : 0;
    return (tl_touch){tl_vec3_add_scaled(c->at, half * c->gap, c->normal), c->normal, c->gap, !c->lowest};
}

/* Refined points may have met: those of one side, then the deeper one stays, or of two. Returns how many were added,
 * 0 or 1. */
static int keep(const pair *p, tl_touch *out, int count, int side_begin, tl_touch t)
{
    if (t.gap > p->margin) return 0;
    for (int i = 0; i < count; i++) {
        bool same_side = i >= side_begin;
        if (tl_vec3_norm(tl_vec3_sub(out[i].at, t.at)) >= APART * p->spacing) continue;
        if (!same_side && tl_vec3_dot(out[i].normal, t.normal) <= CLUSTER_COS) continue;
        if (same_side && t.gap < out[i].gap - SAME * p->spacing) out[i] = t;
        return 0;
    }
    out[count] = t;
    return 1;
}

/* Sides by normal, from the deepest candidate on; each keeps its share of the room. */
static int select_touches(const pair *p, tl_touch *out)
{
    int8_t side[CANDIDATES];
    int sides = 0, count = 0;
    for (int i = 0; i < p->count; i++) side[i] = -1;
    for (; sides < TL_TOUCHES_MAX; sides++) {
        int seed = -1;
        for (int i = 0; i < p->count; i++)
            if (side[i] < 0 && (seed < 0 || p->list[i].gap < p->list[seed].gap - TIE * p->spacing)) seed = i;
        if (seed < 0) break;
        for (int i = 0; i < p->count; i++)
            if (side[i] < 0 && tl_vec3_dot(p->list[i].normal, p->list[seed].normal) > CLUSTER_COS)
                side[i] = (int8_t)sides;
        side[seed] = (int8_t)sides;
    }
    int max = sides * 4 <= TL_TOUCHES_MAX ? 4 : TL_TOUCHES_MAX / sides;
    for (int k = 0; k < sides; k++) {
        int chosen[5], n = reduce(p, side, (int8_t)k, max, chosen);
        int first = count;
        for (int i = 0; i < n; i++) count += keep(p, out, count, first, touch_of(p, &p->list[chosen[i]]));
    }
    return count;
}

static double size_of(const tl_collider *c)
{
    if (c->kind == TL_COLLIDER_HALF_SPACE) return INFINITY;
    return 0.5 * tl_vec3_norm(tl_vec3_sub(c->bounds.hi, c->bounds.lo));
}

/* All places of both surfaces that are as near as the margin. */
static void find_candidates(pair *p, const tl_collider *A, const tl_pose *a, const tl_collider *B, const tl_pose *b,
                            double margin)
{
    p->count = 0;
    p->standing[0] = p->standing[1] = 0;
    p->margin = margin;
    p->s[0] = solid_of(A, a);
    p->s[1] = solid_of(B, b);
    p->spacing = p->s[1].spacing > 0 ? tl_min(p->s[0].spacing, p->s[1].spacing) : p->s[0].spacing;
    p->complete = A->field->complete && (!B->field || B->field->complete);
    for (int k = 0; k < 2; k++) {
        if (!p->s[k].c->field) continue;
        for (int r = 0; r < p->s[k].c->field->rims; r++) add_rim(p, k, r);
        if (p->complete) add_tube(p, k);
    }
    if (B->kind == TL_COLLIDER_BOX) add_box(p);
    for (int k = 0; k < 2 && !p->complete; k++)
        if (p->s[k].c->field) add_samples(p, k);
}

/* What is found between samples is at most SAG of a spacing deeper than they are, and a corner beside an edge by
 * HAIR. */
bool tl_general_may_overlap(const tl_collider *A, const tl_pose *a, const tl_collider *B, const tl_pose *b,
                            double depth)
{
    pair p;
    double spacing = B->field ? tl_max(A->field->spacing, B->field->spacing) : A->field->spacing;
    find_candidates(&p, A, a, B, b, (SAG + HAIR) * spacing - depth);
    if (p.count || B->kind != TL_COLLIDER_SPHERE) return p.count;
    return !(distance(&p.s[0], to_world(&p.s[1], B->centre), NULL) > B->radius + p.margin);
}

int tl_general_touches(const tl_collider *A, const tl_pose *a, const tl_collider *B, const tl_pose *b, double margin,
                       tl_touch out[TL_TOUCHES_MAX])
{
    pair p;
    find_candidates(&p, A, a, B, b, margin);
    p.turn = tl_max(TURN_MIN, margin / tl_min(size_of(A), size_of(B)));
    find_normals(&p);
    straighten(&p);
    if (B->kind == TL_COLLIDER_SPHERE) add_sphere(&p);
    refine_deepest(&p);
    drop_marks(&p);
    return select_touches(&p, out);
}
