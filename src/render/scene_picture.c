#include "render/scene_picture.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "geom/surface.h"
#include "render/liquid_surface.h"

#define STEEPEST 0.5   /* upward part of the normal of a floor: 60 degrees */
#define EDGE_PIXELS 4  /* edge of marched triangles; at 4 a circle of 12 pixels' radius is off by a sixth of a pixel */
#define CELLS_LEAST 24 /* along a shape, however small on screen */
#define CELLS_MAX 240
#define CREASE_DEG 35 /* chosen: sharper edges than this show as edges */
#define PARTICLES_MAX 4000000

static const struct {
    const char *name;
    tl_vec3 towards_eye;
} views[] = {
    {"corner", {0.55, 0.42, 1}}, {"front", {0, 0.12, 1}}, {"back", {0, 0.12, -1}}, {"right", {1, 0.12, 0}},
    {"left", {-1, 0.12, 0}},     {"side", {1, 0.12, 0}},  {"top", {0, 1, 0}},      {"above", {0.25, 1, 0.7}},
};
#define VIEWS ((int)(sizeof views / sizeof views[0]))

const char *tl_view_name(int i) { return i >= 0 && i < VIEWS ? views[i].name : NULL; }

bool tl_view_direction(const char *name, tl_vec3 *towards_eye)
{
    for (int i = 0; i < VIEWS; i++)
        if (!strcmp(name, views[i].name)) {
            *towards_eye = views[i].towards_eye;
            return true;
        }
    return false;
}

/* ---- surfaces ---- */

static const tl_box3 nothing = {{1, 1, 1}, {-1, -1, -1}};

static tl_vec3 corner(tl_box3 b, int i)
{
    return (tl_vec3){i & 1 ? b.hi.x : b.lo.x, i & 2 ? b.hi.y : b.lo.y, i & 4 ? b.hi.z : b.lo.z};
}

/* A sharp box that is not turned: its corners lie on its surface. */
static bool is_plain_box(const tl_shape_tree *t, int node, tl_box3 b)
{
    if (tl_shape_kind_of(t, node) != TL_SHAPE_BOX) return false;
    double small = 1e-9 * tl_vec3_max_abs(tl_vec3_sub(b.hi, b.lo));
    for (int i = 0; i < 8; i++)
        if (fabs(tl_shape_distance(t, node, corner(b, i))) > small) return false;
    return true;
}

/* Normals of the distance where they agree with the triangles, the triangles' own at creases. Differences over
 * a triangle's size: the many small facets of a profile are then one smooth curve. */
static void refine_normals(const tl_shape_tree *t, int node, double edge, tl_picture_mesh *m)
{
    double h = 0.75 * edge;
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < m->vertices; i++) {
        tl_vec3 q = m->vertex[i], g;
        g.x = tl_shape_distance(t, node, (tl_vec3){q.x + h, q.y, q.z}) -
              tl_shape_distance(t, node, (tl_vec3){q.x - h, q.y, q.z});
        g.y = tl_shape_distance(t, node, (tl_vec3){q.x, q.y + h, q.z}) -
              tl_shape_distance(t, node, (tl_vec3){q.x, q.y - h, q.z});
        g.z = tl_shape_distance(t, node, (tl_vec3){q.x, q.y, q.z + h}) -
              tl_shape_distance(t, node, (tl_vec3){q.x, q.y, q.z - h});
        g = tl_vec3_normalize(g);
        if (tl_vec3_dot(g, m->normal[i]) > 0.94) m->normal[i] = g; /* within 20 degrees */
    }
}

/* What of a shape's surface goes where: one mesh of what is solid, one of what is glass. -1: none. */
typedef struct skin {
    int solid, clear;
    tl_look glass;
} skin;

static float roughness_of(double gloss) { return gloss > 0 ? (float)fmax(1 - 0.95 * gloss, 0.05) : 1; }

static tl_colour linear(tl_vec3 srgb)
{
    return (tl_colour){tl_srgb_decode((float)srgb.x), tl_srgb_decode((float)srgb.y), tl_srgb_decode((float)srgb.z)};
}

/* Scenes say 0.2 for glass; a clear sheet keeps a third of that, and of its colour only a tint. */
static tl_look glass_look(tl_colour colour, double opacity)
{
    return (tl_look){tl_colour_mix(tl_colour_grey(1), colour, 0.15f), 1, (float)(0.3 * opacity)};
}

/* A point counts as inside a region from this far outside: a region may be the very part that made the surface. */
static double slack_of(tl_box3 b) { return 1e-3 * tl_vec3_max_abs(tl_vec3_sub(b.hi, b.lo)); }

static bool covers(const tl_scene *s, const tl_paint *paint, tl_vec3 q, double slack)
{
    return paint->region < 0 || tl_shape_distance(s->shapes, paint->region, q) < slack;
}

static talus_status paint_mesh(tl_picture *p, int mesh, const tl_scene *s, const tl_paint *paint, double slack,
                               talus_error *err)
{
    const tl_picture_mesh *m = &p->mesh[mesh];
    float *d = TL_NEW(float, m->vertices);
    if (!d) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to paint %d vertices", m->vertices);
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < m->vertices; i++)
        d[i] = paint->region < 0 ? -1 : (float)(tl_shape_distance(s->shapes, paint->region, m->vertex[i]) - slack);
    talus_status status = tl_picture_add_paint(p, mesh, d, linear(paint->colour), roughness_of(paint->gloss), err);
    tl_free(d);
    return status;
}

/* Glass triangles to the front; how many there are. */
static int32_t part_glass(tl_trimesh *m, const tl_scene *s, int node, double slack, skin *out)
{
    int32_t clear = 0;
    for (int32_t i = 0; i < m->triangles; i++) {
        const int32_t *k = m->triangle[i];
        tl_vec3 q = tl_vec3_scale(1.0 / 3, tl_vec3_add(tl_vec3_add(m->vertex[k[0]], m->vertex[k[1]]), m->vertex[k[2]]));
        const tl_paint *top = NULL;
        for (int j = 0; j < s->paint_count; j++)
            if (s->paints[j].node == node && covers(s, &s->paints[j], q, slack)) top = &s->paints[j];
        if (!top || top->opacity >= 1) continue;
        int32_t swap[3];
        memcpy(swap, m->triangle[clear], sizeof swap);
        memcpy(m->triangle[clear], m->triangle[i], sizeof swap);
        memcpy(m->triangle[i], swap, sizeof swap);
        out->glass = glass_look(linear(top->colour), top->opacity);
        clear++;
    }
    return clear;
}

static talus_status add_surface(tl_picture *p, const tl_scene *s, int node, double edge, const tl_trimesh *m, int *mesh,
                                talus_error *err)
{
    *mesh = -1;
    if (m->triangles == 0) return TALUS_OK;
    *mesh = tl_picture_add_mesh(p, m, CREASE_DEG, err);
    if (*mesh < 0) return err->status;
    refine_normals(s->shapes, node, edge, &p->mesh[*mesh]);
    return TALUS_OK;
}

/* The surface of a bounded shape, with its paint. */
static talus_status add_shape(tl_picture *p, const tl_scene *s, int node, double edge, bool own_colour, skin *out,
                              talus_error *err)
{
    tl_box3 b = tl_shape_bounds(s->shapes, node);
    double slack = slack_of(b);
    bool painted = false, has_glass = false;
    for (int j = 0; j < s->paint_count; j++)
        if (s->paints[j].node == node) painted = true, has_glass |= s->paints[j].opacity < 1;
    *out = (skin){-1, -1, tl_look_glass()};
    if (!painted && is_plain_box(s->shapes, node, b)) {
        out->solid = tl_picture_add_box(p, b, err);
        return out->solid < 0 ? err->status : TALUS_OK;
    }
    tl_trimesh m;
    TL_TRY(tl_surface_march(s->shapes, node, edge, &m, err));
    int32_t clear = has_glass ? part_glass(&m, s, node, slack, out) : 0;
    tl_trimesh glass = {m.vertices, clear, m.vertex, m.triangle},
               solid = {m.vertices, m.triangles - clear, m.vertex, m.triangle + clear};
    talus_status status = add_surface(p, s, node, edge, &solid, &out->solid, err);
    if (status == TALUS_OK) status = add_surface(p, s, node, edge, &glass, &out->clear, err);
    tl_trimesh_free(&m);
    for (int j = 0; j < s->paint_count && status == TALUS_OK && out->solid >= 0; j++)
        if (s->paints[j].node == node && !(own_colour && s->paints[j].region < 0))
            status = paint_mesh(p, out->solid, s, &s->paints[j], slack, err);
    return status;
}

static talus_status show(tl_picture *p, const skin *k, tl_mat3 linear_part, tl_vec3 at, tl_look look, talus_error *err)
{
    if (k->solid >= 0) TL_TRY(tl_picture_add_instance(p, k->solid, linear_part, at, look, err));
    return k->clear >= 0 ? tl_picture_add_instance(p, k->clear, linear_part, at, k->glass, err) : TALUS_OK;
}

/* As fine as pixels and walls ask for: a wall thinner than two edges would tear. */
static double edge_for(const tl_shape_tree *t, int node, double pixel)
{
    tl_box3 b = tl_shape_bounds(t, node);
    double longest = tl_vec3_max_abs(tl_vec3_sub(b.hi, b.lo)), feature = tl_shape_feature_size(t, node);
    double edge = fmin(EDGE_PIXELS * pixel, longest / CELLS_LEAST);
    if (feature > 0) edge = fmin(edge, feature / 2.5);
    return fmax(edge, longest / CELLS_MAX);
}

/* Edge of a pixel at a place, m. */
static double pixel_at(const tl_lens *c, tl_vec3 at, int height)
{
    return 2 * c->half_height * fmax(tl_vec3_norm(tl_vec3_sub(at, c->eye)), 1e-9) / height;
}

/* ---- a shape ---- */

static talus_status set_view(tl_picture *p, const char *view, talus_error *err)
{
    if (!view) return TALUS_OK;
    p->camera.automatic = true;
    if (tl_view_direction(view, &p->camera.view)) return TALUS_OK;
    return TL_FAIL(err, TALUS_BAD_INPUT, "no view '%s'; there are corner, front, back, right, left, side, top, above",
                   view);
}

static bool finite_box(tl_box3 b)
{
    return isfinite(b.lo.x) && isfinite(b.lo.y) && isfinite(b.lo.z) && isfinite(b.hi.x) && isfinite(b.hi.y) &&
           isfinite(b.hi.z) && b.lo.x <= b.hi.x;
}

talus_status tl_picture_of_shape(tl_picture *p, const tl_scene *s, int node, const tl_scene_picture_options *o,
                                 talus_error *err)
{
    talus_error own = {0};
    if (!err) err = &own;
    tl_picture_begin(p);
    tl_box3 b = tl_shape_bounds(s->shapes, node);
    if (!finite_box(b))
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "a shape without bounds (plane, half_space) has no portrait; intersect it with a box");
    TL_TRY(set_view(p, o->view, err));
    p->subject = b;
    p->ground.height = b.lo.y;
    tl_lens c = tl_lens_of(p, o->width, o->height);
    double pixel = pixel_at(&c, tl_vec3_scale(0.5, tl_vec3_add(b.lo, b.hi)), o->height);
    skin k;
    TL_TRY(add_shape(p, s, node, edge_for(s->shapes, node, pixel), false, &k, err));
    TL_TRY(show(p, &k, tl_mat3_identity(), (tl_vec3){0, 0, 0}, tl_look_glossy(tl_colour_palette(0), 0.45f), err));
    p->subject = nothing; /* from here on framed by the surface, tighter than the tree's box */
    p->ground.height = tl_picture_bounds(p).lo.y;
    return TALUS_OK;
}

/* ---- a scene ---- */

static void include(tl_box3 *b, tl_box3 add)
{
    if (!finite_box(add)) return;
    b->lo = tl_vec3_min(b->lo, add.lo);
    b->hi = tl_vec3_max(b->hi, add.hi);
}

static tl_box3 turned(tl_box3 b, const tl_pose *pose)
{
    tl_box3 out = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    if (!finite_box(b)) return out;
    for (int i = 0; i < 8; i++) {
        tl_vec3 q = tl_pose_apply(pose, corner(b, i));
        include(&out, (tl_box3){q, q});
    }
    return out;
}

static tl_pose pose_of(const tl_scene *s, const tl_pose *poses, int i)
{
    return poses ? poses[i] : (tl_pose){s->bodies[i].at, s->bodies[i].rotation};
}

static tl_box3 box_of_body(const tl_scene *s, const tl_pose *poses, int i)
{
    tl_pose pose = pose_of(s, poses, i);
    return turned(tl_shape_bounds(s->shapes, s->bodies[i].shape), &pose);
}

static bool overlap(tl_box3 a, tl_box3 b)
{
    return a.lo.x <= b.hi.x && b.lo.x <= a.hi.x && a.lo.y <= b.hi.y && b.lo.y <= a.hi.y && a.lo.z <= b.hi.z &&
           b.lo.z <= a.hi.z;
}

static tl_box3 grown(tl_box3 b, double by)
{
    tl_vec3 d = {by, by, by};
    return (tl_box3){tl_vec3_sub(b.lo, d), tl_vec3_add(b.hi, d)};
}

static double longest_side(tl_box3 b) { return tl_vec3_max_abs(tl_vec3_sub(b.hi, b.lo)); }

/* Is a body one that the camera frames: seen, bounded, in the domain, and near where the scene began. */
static bool counts(const tl_scene *s, int i, tl_box3 box, const tl_box3 *near)
{
    return s->bodies[i].opacity > 0 && finite_box(box) && (!s->domain.bounded || overlap(box, s->domain.box)) &&
           (!near || overlap(box, *near));
}

static tl_box3 bodies_box(const tl_scene *s, const tl_pose *poses, const tl_box3 *near)
{
    tl_box3 b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int i = 0; i < s->body_count; i++) {
        tl_box3 box = box_of_body(s, poses, i);
        if (counts(s, i, box, near)) include(&b, box);
    }
    return b;
}

/* What the camera should hold at the start: bodies, fills, and the walls when they are drawn. Emitters may be
 * anywhere. */
static tl_box3 start_box(const tl_scene *s)
{
    tl_box3 b = bodies_box(s, NULL, NULL);
    for (int i = 0; i < s->fill_count; i++) include(&b, tl_shape_bounds(s->shapes, s->fills[i].shape));
    if (s->domain.bounded && (s->render.walls != TL_LOOK_NONE || !finite_box(b))) include(&b, s->domain.box);
    if (!finite_box(b)) b = (tl_box3){{-0.5, 0, -0.5}, {0.5, 1, 0.5}};
    return b;
}

/* Bodies that went further than this from the start's box are not framed: a stray one would shrink all others. */
static tl_box3 near_box(const tl_scene *s)
{
    tl_box3 b = start_box(s);
    return grown(b, 1.5 * longest_side(b));
}

static tl_box3 subject_of(const tl_scene *s, const tl_pose *poses)
{
    if (!poses) return start_box(s);
    tl_box3 near = near_box(s), b = bodies_box(s, poses, &near);
    if (s->domain.bounded && s->render.walls != TL_LOOK_NONE) include(&b, s->domain.box);
    return finite_box(b) ? b : start_box(s);
}

void tl_scene_frame_add(tl_box3 *frame, const tl_scene *s, const tl_pose *poses)
{
    tl_box3 b = subject_of(s, poses);
    if (!finite_box(*frame)) *frame = b;
    include(frame, b);
}

#define FAR 100 /* sizes of the subject: beyond, a body is a dot at best, and costs the others their digits */

/* ---- joints ---- */

#define JOINT_OWNER (-1000) /* of the instance that is joint 0; the next ones count down */
#define JOINT_PART 0.006    /* of the start's size: half the thickness of what is drawn of a joint */
#define JOINT_BAR 4.0       /* times that: half the length of a bar along an axis */

static tl_vec3 anchor_of(const tl_scene *s, const tl_pose *poses, int body, tl_vec3 local)
{
    if (body < 0) return local;
    const tl_pose pose = pose_of(s, poses, body);
    return tl_pose_apply(&pose, local);
}

/* The axis as it is now: it goes with b, and with a where b is the world. */
static tl_vec3 axis_of(const tl_scene *s, const tl_pose *poses, const tl_joint_spec *j)
{
    const int body = j->body[1] >= 0 ? j->body[1] : j->body[0];
    const tl_pose now = pose_of(s, poses, body), start = pose_of(s, NULL, body);
    return tl_quat_rotate(now.rotation, tl_quat_rotate(tl_quat_conjugate(tl_quat_normalize(start.rotation)), j->axis));
}

/* A box of edge 2 becomes a line between two ends, a bar along the axis, or a cube. */
static void pose_joint(tl_picture_instance *in, const tl_scene *s, const tl_pose *poses, int k)
{
    const tl_joint_spec *j = &s->joints[k];
    const double thick = JOINT_PART * longest_side(start_box(s));
    const tl_vec3 a = anchor_of(s, poses, j->body[0], j->at_a), b = anchor_of(s, poses, j->body[1], j->at_b);
    const bool line = j->kind == TL_JOINT_DISTANCE || j->kind == TL_JOINT_ROPE || j->kind == TL_JOINT_SPRING;
    const tl_vec3 d = tl_vec3_sub(a, b), axis = axis_of(s, poses, j), up = {0, 1, 0};
    const double half = line ? 0.5 * tl_vec3_norm(d) : tl_vec3_norm2(j->axis) > 0 ? JOINT_BAR * thick : 1.5 * thick;
    const double wide = line ? 0.5 * thick : half > 2 * thick ? thick : half;
    const tl_vec3 along = tl_vec3_normalize_or(line ? d : axis, up);
    tl_vec3 first, second;
    tl_vec3_tangents(along, &first, &second);
    const tl_vec3 column[3] = {tl_vec3_scale(wide, first), tl_vec3_scale(half, along), tl_vec3_scale(wide, second)};
    for (int c = 0; c < 3; c++) {
        in->linear.m[0][c] = column[c].x;
        in->linear.m[1][c] = column[c].y;
        in->linear.m[2][c] = column[c].z;
    }
    in->at = line ? tl_vec3_scale(0.5, tl_vec3_add(a, b)) : a;
}

static talus_status add_joints(tl_picture *p, const tl_scene *s, const tl_scene_picture_options *o, talus_error *err)
{
    if (!s->render.joints || !s->joint_count) return TALUS_OK;
    const int mesh = tl_picture_add_box(p, (tl_box3){{-1, -1, -1}, {1, 1, 1}}, err);
    if (mesh < 0) return err->status;
    for (int k = 0; k < s->joint_count; k++) {
        if (s->joints[k].kind == TL_JOINT_GEAR || (o->broken && o->broken[k])) continue; /* a gear has no place */
        TL_TRY(tl_picture_add_instance(p, mesh, tl_mat3_identity(), (tl_vec3){0, 0, 0},
                                       tl_look_glossy(tl_colour_hex(0x303438), 0.4f), err));
        p->instance[p->instances - 1].owner = JOINT_OWNER - k;
        pose_joint(&p->instance[p->instances - 1], s, o->poses, k);
    }
    return TALUS_OK;
}

void tl_picture_show_joints(tl_picture *p, const bool *broken)
{
    for (int k = 0; k < p->instances; k++)
        if (p->instance[k].owner <= JOINT_OWNER) p->instance[k].hidden = broken[JOINT_OWNER - p->instance[k].owner];
}

void tl_picture_pose_bodies(tl_picture *p, const tl_scene *s, const tl_pose *poses)
{
    tl_box3 near = near_box(s), subject = finite_box(p->subject) ? p->subject : subject_of(s, poses);
    tl_box3 seen = grown(subject, FAR * longest_side(subject));
    for (int k = 0; k < p->instances; k++) {
        tl_picture_instance *in = &p->instance[k];
        if (in->owner <= JOINT_OWNER) pose_joint(in, s, poses, JOINT_OWNER - in->owner);
        if (in->owner < 0) continue;
        tl_pose pose = pose_of(s, poses, in->owner);
        tl_box3 box = box_of_body(s, poses, in->owner);
        in->hidden = !finite_box(box) || !overlap(box, seen);
        in->aside = !counts(s, in->owner, box, poses ? &near : NULL);
        if (in->hidden) continue;
        in->linear = tl_quat_to_mat3(pose.rotation);
        in->at = pose.at;
    }
}

/* The schema's colour of a body that states none. */
static bool is_plain(tl_vec3 colour)
{
    return fabs(colour.x - 0x9a / 255.0) < 1e-6 && fabs(colour.y - 0xa0 / 255.0) < 1e-6 &&
           fabs(colour.z - 0xa6 / 255.0) < 1e-6;
}

/* Bodies of one shape and material share a hue; their lightness differs a little, so that a heap of them reads. */
static tl_look look_of_body(const tl_scene *s, int i)
{
    const tl_body *b = &s->bodies[i];
    tl_colour colour = linear(b->colour);
    if (is_plain(b->colour)) {
        int first = 0, kinds = 0;
        while (s->bodies[first].shape != b->shape || s->bodies[first].material != b->material) {
            bool new_kind = true;
            for (int k = 0; k < first && new_kind; k++)
                new_kind =
                    s->bodies[k].shape != s->bodies[first].shape || s->bodies[k].material != s->bodies[first].material;
            kinds += new_kind;
            if (++first > 64) break; /* many kinds: the palette has come round long ago */
        }
        float shade = 0.88f + 0.12f * (float)((uint32_t)i * 2654435761u >> 24) / 255;
        colour = tl_colour_scale(shade, tl_colour_palette(kinds));
    }
    if (b->opacity < 1) return glass_look(colour, b->opacity);
    return tl_look_glossy(colour, 0.45f);
}

typedef struct known {
    int shape;
    bool own_colour;
    double edge;
    skin skin;
} known;

/* Meshes of shapes met so far, as fine as a camera sees them: 600 blocks are marched once. */
typedef struct album {
    const tl_lens *lens;
    int height; /* of the picture, pixels */
    known *seen;
    int count;
} album;

/* A floor, level or slanted, becomes the ground; steeper half spaces are walls that nobody wants to look at from
 * inside. */
static void lay_ground(tl_picture *p, const tl_scene *s, int shape, const tl_pose *pose)
{
    const tl_vec3 origin = {0, 0, 0};
    if (tl_shape_kind_of(s->shapes, shape) != TL_SHAPE_HALF_SPACE) return;
    tl_vec3 normal = tl_shape_gradient(s->shapes, shape, origin), up = tl_quat_rotate(pose->rotation, normal);
    tl_vec3 on = tl_pose_apply(pose, tl_vec3_scale(-tl_shape_distance(s->shapes, shape, origin), normal));
    if (up.y < STEEPEST) return;
    p->ground.present = true;
    p->ground.normal = up;
    p->ground.height = tl_vec3_dot(up, on) / up.y;
}

static talus_status add_body(tl_picture *p, const tl_scene *s, int i, const tl_pose *poses, album *known_shapes,
                             talus_error *err)
{
    const tl_body *b = &s->bodies[i];
    tl_pose pose = pose_of(s, poses, i);
    tl_box3 box = tl_shape_bounds(s->shapes, b->shape);
    if (!(b->opacity > 0)) return TALUS_OK;
    if (!finite_box(box)) {
        lay_ground(p, s, b->shape, &pose);
        return TALUS_OK;
    }
    double edge = edge_for(s->shapes, b->shape, pixel_at(known_shapes->lens, pose.at, known_shapes->height));
    bool own_colour = !is_plain(b->colour);
    known *seen = known_shapes->seen, *end = seen + known_shapes->count;
    while (seen < end && (seen->shape != b->shape || seen->own_colour != own_colour || seen->edge > 2 * edge)) seen++;
    if (seen == end) {
        *seen = (known){.shape = b->shape, .own_colour = own_colour, .edge = edge};
        TL_TRY(add_shape(p, s, b->shape, edge, own_colour, &seen->skin, err));
        known_shapes->count++;
    }
    int first = p->instances;
    TL_TRY(show(p, &seen->skin, tl_mat3_identity(), (tl_vec3){0, 0, 0}, look_of_body(s, i), err));
    for (int j = first; j < p->instances; j++) p->instance[j].owner = i;
    return TALUS_OK;
}

/* The legend's end is the largest value that meshes show. */
static void follow_meshes(tl_picture *p)
{
    if (!p->legend.present || !p->legend.follows) return;
    float max = 0;
    for (int m = 0; m < p->meshes; m++)
        for (int32_t i = 0; i < p->mesh[m].vertices && p->mesh[m].value; i++) max = fmaxf(max, p->mesh[m].value[i]);
    p->legend.hi = max > 0 ? max : 1;
}

static talus_status paint_soft(tl_picture *p, int mesh, const tl_scene *s, const tl_paint *paint,
                               const tl_scene_soft *f, double slack, talus_error *err)
{
    float *d = TL_NEW(float, f->vertices);
    if (!d) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to paint %d vertices", f->vertices);
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < f->vertices; i++)
        d[i] = paint->region < 0 ? -1 : (float)(tl_shape_distance(s->shapes, paint->region, f->rest[i]) - slack);
    talus_status status = tl_picture_add_paint(p, mesh, d, linear(paint->colour), roughness_of(paint->gloss), err);
    tl_free(d);
    return status;
}

static talus_status add_soft(tl_picture *p, const tl_scene *s, const tl_scene_soft *f, talus_error *err)
{
    const tl_body *b = &s->bodies[f->body];
    bool own_colour = !is_plain(b->colour);
    double slack = slack_of(tl_shape_bounds(s->shapes, b->shape));
    if (!(b->opacity > 0)) return TALUS_OK;
    int mesh = tl_picture_add_triangles(p, f->vertices, f->at, f->normal, f->triangles, f->triangle, err);
    if (mesh < 0) return err->status;
    p->mesh[mesh].owner = f->body;
    if (f->value) {
        float *value = p->mesh[mesh].value = TL_NEW(float, f->vertices);
        if (!value) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to colour %d vertices", f->vertices);
        memcpy(value, f->value, sizeof *value * (size_t)f->vertices);
    }
    for (int j = 0; j < s->paint_count && !f->value; j++)
        if (s->paints[j].node == b->shape && !(own_colour && s->paints[j].region < 0))
            TL_TRY(paint_soft(p, mesh, s, &s->paints[j], f, slack, err));
    return tl_picture_add_instance(p, mesh, tl_mat3_identity(), (tl_vec3){0, 0, 0}, look_of_body(s, f->body), err);
}

void tl_picture_pose_softs(tl_picture *p, int softs, const tl_scene_soft *soft)
{
    for (int m = 0; m < p->meshes; m++)
        for (int k = 0; k < softs; k++) {
            if (p->mesh[m].owner != soft[k].body) continue;
            memcpy(p->mesh[m].vertex, soft[k].at, sizeof *soft[k].at * (size_t)soft[k].vertices);
            memcpy(p->mesh[m].normal, soft[k].normal, sizeof *soft[k].normal * (size_t)soft[k].vertices);
            if (p->mesh[m].value && soft[k].value)
                memcpy(p->mesh[m].value, soft[k].value, sizeof *soft[k].value * (size_t)soft[k].vertices);
        }
    follow_meshes(p);
}

static const tl_scene_soft *soft_of(const tl_scene_picture_options *o, int body)
{
    for (int k = 0; k < o->softs; k++)
        if (o->soft[k].body == body) return &o->soft[k];
    return NULL;
}

static talus_status add_bodies(tl_picture *p, const tl_scene *s, const tl_scene_picture_options *o, const tl_lens *c,
                               talus_error *err)
{
    const tl_pose *poses = o->poses;
    album known_shapes = {.lens = c, .height = o->height, .seen = TL_NEW(known, s->body_count + 1)};
    if (!known_shapes.seen) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to draw %d bodies", s->body_count);
    talus_status status = TALUS_OK;
    for (int i = 0; i < s->body_count && status == TALUS_OK; i++) {
        talus_error why = {0};
        const tl_scene_soft *soft = soft_of(o, i);
        status = soft ? add_soft(p, s, soft, &why) : add_body(p, s, i, poses, &known_shapes, &why);
        if (status != TALUS_OK)
            TL_FAIL(err, status, "%s:%d: bodies[%d] (%.60s): %s", s->bodies[i].where.file, s->bodies[i].where.line,
                    i + 1, s->bodies[i].name, why.message);
    }
    tl_free(known_shapes.seen);
    if (status == TALUS_OK) tl_picture_pose_bodies(p, s, poses);
    return status;
}

static double spacing_of(const tl_scene *s, const tl_fill *f)
{
    if (f->spacing > 0) return f->spacing;
    return s->engine == TL_ENGINE_GRID ? 0.5 * s->grid.cell : s->sph.spacing;
}

static bool within(tl_box3 b, tl_vec3 q)
{
    return q.x >= b.lo.x && q.y >= b.lo.y && q.z >= b.lo.z && q.x <= b.hi.x && q.y <= b.hi.y && q.z <= b.hi.z;
}

/* Is q part of a fill: inside the walls, outside of every body. box: of each body's shape. */
static bool belongs(const tl_scene *s, const tl_box3 *box, tl_vec3 q)
{
    if (s->domain.bounded && !within(s->domain.box, q)) return false;
    for (int k = 0; k < s->body_count; k++) {
        const tl_body *b = &s->bodies[k];
        tl_vec3 r = tl_quat_rotate(tl_quat_conjugate(b->rotation), tl_vec3_sub(q, b->at));
        if (within(box[k], r) && tl_shape_distance(s->shapes, b->shape, r) <= 0) return false;
    }
    return true;
}

static talus_status cut_out(const tl_scene *s, tl_points *points, talus_error *err)
{
    bool *keep = TL_NEW(bool, points->count + 1);
    tl_box3 *box = TL_NEW(tl_box3, s->body_count + 1);
    talus_status status =
        keep && box ? TALUS_OK
                    : TL_FAIL(err, TALUS_NO_MEMORY, "no memory to cut bodies out of %d particles", points->count);
    if (status == TALUS_OK) {
        for (int k = 0; k < s->body_count; k++) box[k] = tl_shape_bounds(s->shapes, s->bodies[k].shape);
#pragma omp parallel for schedule(dynamic, 4096)
        for (int32_t i = 0; i < points->count; i++) keep[i] = belongs(s, box, points->at[i]);
        int32_t kept = 0;
        for (int32_t i = 0; i < points->count; i++)
            if (keep[i]) points->at[kept++] = points->at[i];
        points->count = kept;
    }
    tl_free(keep);
    tl_free(box);
    return status;
}

/* The field's value of a whole fill, at rest. */
static double value_of(const tl_scene *s, const tl_fill *f)
{
    if (s->render.colour_by == TL_COLOUR_SPEED) return tl_vec3_norm(f->velocity);
    return s->render.colour_by == TL_COLOUR_DENSITY ? s->materials[f->material].density : 0;
}

#define LIQUID_OWNER (-2) /* of instances that are a liquid's surface */

/* Two sheets of tinted glass, one where light goes in and one where it comes out. */
static tl_look liquid_look(const tl_material *m)
{
    return (tl_look){tl_colour_mix(tl_colour_grey(1), linear(m->colour), 0.6f), 1, (float)(0.2 * m->opacity)};
}

tl_box3 tl_scene_cloud_box(const tl_scene *s, const tl_scene_cloud *c)
{
    if (s->domain.bounded) return s->domain.box;
    const tl_vec3 far = {1e3 * cbrt(c->count + 1.0) * c->spacing, 1e3 * cbrt(c->count + 1.0) * c->spacing,
                         1e3 * cbrt(c->count + 1.0) * c->spacing};
    return (tl_box3){tl_vec3_sub(c->at[0], far), tl_vec3_add(c->at[0], far)};
}

static talus_status show_surface(tl_picture *p, const tl_scene *s, const tl_scene_cloud *c, talus_error *err)
{
    static const tl_mat3 same = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    tl_trimesh mesh;
    TL_TRY(tl_liquid_surface(c->count, c->at, c->spacing, tl_scene_cloud_box(s, c), &mesh, err));
    int number = mesh.triangles > 0 ? tl_picture_add_mesh(p, &mesh, 180, err) : -1;
    bool empty = mesh.triangles == 0;
    tl_trimesh_free(&mesh);
    if (empty) return TALUS_OK;
    if (number < 0) return err->status;
    TL_TRY(tl_picture_add_instance(p, number, same, (tl_vec3){0, 0, 0}, liquid_look(&s->materials[c->material]), err));
    p->instance[p->instances - 1].owner = LIQUID_OWNER;
    return TALUS_OK;
}

static bool shown_as_surface(const tl_picture *p, const tl_scene *s, const tl_scene_cloud *c)
{
    tl_material_kind kind = s->materials[c->material].kind;
    return (kind == TL_MATERIAL_LIQUID || kind == TL_MATERIAL_VISCOUS) && !p->legend.present && c->count > 0 &&
           s->render.liquid == TL_LIQUID_SURFACE && !(s->render.particle_radius > 0);
}

static talus_status show_cloud(tl_picture *p, const tl_scene *s, const tl_scene_cloud *c, talus_error *err)
{
    const tl_material *m = &s->materials[c->material];
    if (shown_as_surface(p, s, c)) return show_surface(p, s, c, err);
    double radius = s->render.particle_radius > 0 ? s->render.particle_radius : 0.5 * c->spacing;
    tl_look look =
        m->kind == TL_MATERIAL_GRANULAR ? tl_look_matte(linear(m->colour)) : tl_look_glossy(linear(m->colour), 0.25f);
    const float *value = p->legend.present ? c->value : NULL;
    tl_colour *colour = value ? NULL : TL_NEW(tl_colour, c->count + 1);
    if (!value && !colour) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to colour %d particles", c->count);
    for (int32_t i = 0; i < c->count && colour; i++) {
        /* Grains differ a little in lightness. */
        float grain = 0.82f + 0.18f * (float)((uint32_t)i * 2654435761u >> 24) / 255;
        colour[i] = tl_colour_scale(m->kind == TL_MATERIAL_GRANULAR ? grain : 1, look.colour);
    }
    const tl_picture_spheres spheres = {.count = c->count,
                                        .at = c->at,
                                        .radius = radius,
                                        .colour = colour,
                                        .value = value,
                                        .map = p->legend.map,
                                        .lo = (float)p->legend.lo,
                                        .hi = (float)p->legend.hi,
                                        .look = look};
    talus_status status = tl_picture_add_spheres(p, &spheres, err);
    tl_free(colour);
    return status;
}

/* A fill's particles: one value for all of them, when a field is shown. */
static talus_status show_points(tl_picture *p, const tl_scene *s, const tl_fill *f, const tl_points *points,
                                double spacing, talus_error *err)
{
    float *value = p->legend.present ? TL_NEW(float, points->count + 1) : NULL;
    if (p->legend.present && !value)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to colour %d particles", points->count);
    for (int32_t i = 0; i < points->count && value; i++) value[i] = (float)value_of(s, f);
    tl_scene_cloud c = {points->count, points->at, value, f->material, spacing};
    talus_status status = show_cloud(p, s, &c, err);
    tl_free(value);
    return status;
}

talus_status tl_picture_set_clouds(tl_picture *p, const tl_scene *s, int clouds, const tl_scene_cloud *cloud,
                                   talus_error *err)
{
    tl_picture_clear_clouds(p);
    for (int i = 0; i < p->instances; i++) p->instance[i].hidden |= p->instance[i].owner == LIQUID_OWNER;
    for (int i = 0; i < clouds; i++) TL_TRY(show_cloud(p, s, &cloud[i], err));
    return TALUS_OK;
}

static talus_status add_fill(tl_picture *p, const tl_scene *s, int i, int32_t max, talus_error *err)
{
    const tl_fill *f = &s->fills[i];
    tl_box3 b = tl_shape_bounds(s->shapes, f->shape);
    double spacing = spacing_of(s, f);
    if (!finite_box(b) || !(spacing > 0)) return TALUS_OK; /* talus check refuses such fills */
    tl_vec3 d = tl_vec3_sub(b.hi, b.lo);
    double count = d.x * d.y * d.z / (spacing * spacing * spacing);
    if (count > max) spacing *= cbrt(count / max);
    static const tl_filling how[] = {[TL_SCENE_LATTICE] = TL_FILL_LATTICE,
                                     [TL_SCENE_JITTER] = TL_FILL_JITTER,
                                     [TL_SCENE_BLUE_NOISE] = TL_FILL_BLUE_NOISE};
    tl_points points = {0};
    TL_TRY(tl_sample_volume(s->shapes, f->shape, spacing, 0, how[f->sampling], (uint64_t)s->seed + (uint64_t)i, &points,
                            err));
    talus_status status = cut_out(s, &points, err);
    if (status == TALUS_OK) status = show_points(p, s, f, &points, spacing, err);
    tl_points_free(&points);
    return status;
}

static void set_legend(tl_picture *p, const tl_scene *s)
{
    tl_colour_by by = s->render.colour_by;
    if (by != TL_COLOUR_SPEED && by != TL_COLOUR_DENSITY && by != TL_COLOUR_PRESSURE && by != TL_COLOUR_STRAIN) return;
    tl_picture_legend *l = &p->legend;
    *l = (tl_picture_legend){
        .present = true, .map = tl_colour_map_at(0), .lo = s->render.range[0], .hi = s->render.range[1]};
    snprintf(l->title, sizeof l->title, "%s",
             by == TL_COLOUR_SPEED     ? "speed (m/s)"
             : by == TL_COLOUR_DENSITY ? "density (kg/m^3)"
             : by == TL_COLOUR_STRAIN  ? "strain"
                                       : "pressure (Pa)");
    if (l->lo < l->hi) return;
    if (by == TL_COLOUR_STRAIN) {
        l->follows = true;
        l->lo = 0;
        follow_meshes(p);
        return;
    }
    for (int i = 0; i < s->fill_count; i++) {
        double v = value_of(s, &s->fills[i]);
        l->lo = i ? fmin(l->lo, v) : v;
        l->hi = i ? fmax(l->hi, v) : v;
    }
    if (!(l->lo < l->hi)) l->hi = l->lo + (l->lo > 0 ? l->lo : 1);
}

static void set_stage(tl_picture *p, const tl_scene *s)
{
    const tl_render_spec *r = &s->render;
    p->ground.present = r->ground;
    p->ground.height = r->ground_height;
    if (s->domain.bounded &&
        s->domain.wall[2] == TL_WALL_CLOSED) /* what stands on the floor must not be under ground */
        p->ground.height = fmin(p->ground.height, s->domain.box.lo.y);
    p->ground.colour = linear(r->ground_colour);
    p->bottom = linear(r->background);
    p->top = tl_colour_mix(p->top, p->bottom, 0.25f);
    if (tl_vec3_norm(r->light) > 0) p->light.sun = r->light;
    if (s->camera.given) {
        p->camera.automatic = false;
        p->camera.eye = s->camera.eye;
        p->camera.target = s->camera.target;
        p->camera.up = s->camera.up;
        p->camera.fov_deg = s->camera.fov_deg;
    }
}

/* What hangs must not be under ground: where no floor says where that is, it is below all free bodies that count; in a
 * film of a scene with joints, below all that the film shows. */
static void lower_ground(tl_picture *p, const tl_scene *s, const tl_scene_picture_options *o)
{
    const tl_box3 near = near_box(s);
    if (o->frame && s->joint_count) p->ground.height = fmin(p->ground.height, o->frame->lo.y);
    for (int i = 0; i < s->body_count; i++) {
        const tl_box3 box = box_of_body(s, o->poses, i);
        if (s->bodies[i].kind == TL_BODY_FREE && counts(s, i, box, &near))
            p->ground.height = fmin(p->ground.height, box.lo.y);
    }
}

talus_status tl_picture_of_scene(tl_picture *p, const tl_scene *s, const tl_scene_picture_options *o, talus_error *err)
{
    talus_error own = {0};
    if (!err) err = &own;
    tl_picture_begin(p);
    set_stage(p, s);
    TL_TRY(set_view(p, o->view, err));
    p->subject = o->frame ? *o->frame : subject_of(s, o->poses);
    tl_lens c = tl_lens_of(p, o->width, o->height);
    set_legend(p, s);
    lower_ground(p, s, o);
    TL_TRY(add_bodies(p, s, o, &c, err));
    TL_TRY(add_joints(p, s, o, err));
    follow_meshes(p);
    if (o->poses) TL_TRY(tl_picture_set_clouds(p, s, o->clouds, o->cloud, err));
    for (int i = 0; i < s->fill_count && !o->poses; i++)
        TL_TRY(add_fill(p, s, i, o->particles_most > 0 ? o->particles_most : PARTICLES_MAX, err));
    if (s->domain.bounded && s->render.walls != TL_LOOK_NONE)
        TL_TRY(tl_picture_add_tank(p, s->domain.box, s->render.walls == TL_LOOK_GLASS, err));
    bool something = p->clouds > 0;
    for (int i = 0; i < p->instances; i++) something |= !p->instance[i].aside && !p->instance[i].hidden;
    if (something && !o->frame) p->subject = nothing; /* framed by what is there, tighter than boxes */
    return TALUS_OK;
}
