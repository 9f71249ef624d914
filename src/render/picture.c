#include "render/picture.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

tl_look tl_look_matte(tl_colour colour) { return (tl_look){colour, 1, 1}; }
tl_look tl_look_glossy(tl_colour colour, float roughness) { return (tl_look){colour, roughness, 1}; }
tl_look tl_look_glass(void) { return (tl_look){tl_colour_make(0.96f, 0.985f, 0.98f), 1, 0.015f}; }

void tl_picture_begin(tl_picture *p)
{
    *p = (tl_picture){
        .ground = {.present = true, .colour = tl_colour_hex(0xd8d6d2), .line = tl_colour_hex(0xc6c4c0)},
        .light = {.sun = {-0.55, 1.0, 0.62},
                  .sun_irradiance = {2.05f, 1.92f, 1.70f},
                  .sun_radius_deg = 3,
                  .zenith = {0.46f, 0.52f, 0.62f},
                  .horizon = {0.66f, 0.66f, 0.66f},
                  .nadir = {0.30f, 0.29f, 0.28f}},
        .camera = {.automatic = true, .view = {0.55, 0.42, 1}, .up = {0, 1, 0}, .fov_deg = 28, .zoom = 1},
        .top = tl_colour_hex(0xb4bcc6),
        .bottom = tl_colour_hex(0xe6e6e4),
        .bottom_is_ground = true,
        .subject = {{1, 1, 1}, {-1, -1, -1}},
    };
}

void tl_picture_clear_clouds(tl_picture *p)
{
    for (int i = 0; i < p->clouds; i++) {
        tl_free((void *)p->cloud[i].at);
        tl_free((void *)p->cloud[i].colour);
        tl_free((void *)p->cloud[i].value);
    }
    p->clouds = 0;
}

void tl_picture_free(tl_picture *p)
{
    for (int i = 0; i < p->meshes; i++) {
        tl_free(p->mesh[i].vertex);
        tl_free(p->mesh[i].normal);
        tl_free(p->mesh[i].triangle);
        tl_free(p->mesh[i].value);
        for (int k = 0; k < p->mesh[i].paints; k++) tl_free(p->mesh[i].paint[k].distance);
    }
    tl_picture_clear_clouds(p);
    tl_free(p->mesh);
    tl_free(p->instance);
    tl_free(p->cloud);
    *p = (tl_picture){0};
}

/* Room for one more item in an array that doubles; false when memory is refused. */
static bool grow(void **array, int count, size_t item)
{
    if (count & (count - 1)) return true; /* between powers of two there is room */
    void *larger = tl_realloc(*array, item * (size_t)(count ? 2 * count : 1));
    if (larger) *array = larger;
    return larger != NULL;
}

static bool finite3(tl_vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

static tl_picture_mesh mesh_room(int32_t vertices, int32_t triangles, bool normals)
{
    tl_picture_mesh m = {.vertices = vertices,
                         .triangles = triangles,
                         .owner = -1,
                         .vertex = TL_NEW(tl_vec3, vertices),
                         .triangle = tl_alloc(sizeof(int32_t[3]) * (size_t)triangles)};
    if (normals) m.normal = TL_NEW(tl_vec3, vertices);
    if (m.vertex && m.triangle && (m.normal || !normals)) return m;
    tl_free(m.vertex);
    tl_free(m.normal);
    tl_free(m.triangle);
    return (tl_picture_mesh){0};
}

static int no_memory(talus_error *err, const char *what)
{
    tl_fail(err, TALUS_NO_MEMORY, "no memory for %s of a picture", what);
    return -1;
}

static bool triangles_good(int32_t vertices, const tl_vec3 *vertex, int32_t triangles, const int32_t (*triangle)[3],
                           talus_error *err)
{
    if (vertices < 3 || triangles < 1) {
        tl_fail(err, TALUS_BAD_INPUT, "a picture's mesh needs a triangle, got %d vertices and %d triangles", vertices,
                triangles);
        return false;
    }
    for (int32_t i = 0; i < vertices; i++)
        if (!finite3(vertex[i])) {
            tl_fail(err, TALUS_BAD_INPUT, "vertex %d of a picture's mesh is not finite", i);
            return false;
        }
    for (int32_t i = 0; i < triangles; i++)
        for (int k = 0; k < 3; k++)
            if (triangle[i][k] < 0 || triangle[i][k] >= vertices) {
                tl_fail(err, TALUS_BAD_INPUT, "triangle %d of a picture's mesh names vertex %d of %d", i,
                        triangle[i][k], vertices);
                return false;
            }
    return true;
}

int tl_picture_add_triangles(tl_picture *p, int32_t vertices, const tl_vec3 *vertex, const tl_vec3 *normal,
                             int32_t triangles, const int32_t (*triangle)[3], talus_error *err)
{
    if (!triangles_good(vertices, vertex, triangles, triangle, err)) return -1;
    if (!grow((void **)&p->mesh, p->meshes, sizeof *p->mesh)) return no_memory(err, "a mesh");
    tl_picture_mesh m = mesh_room(vertices, triangles, normal != NULL);
    if (!m.vertex) return no_memory(err, "a mesh");
    memcpy(m.vertex, vertex, sizeof *vertex * (size_t)vertices);
    if (normal)
        for (int32_t i = 0; i < vertices; i++) m.normal[i] = tl_vec3_normalize_or(normal[i], (tl_vec3){0, 1, 0});
    memcpy(m.triangle, triangle, sizeof(int32_t[3]) * (size_t)triangles);
    p->mesh[p->meshes] = m;
    return p->meshes++;
}

/* ---- vertex normals that stop at creases ---- */

static tl_vec3 face_normal(const tl_trimesh *m, int32_t t) /* twice the area long */
{
    const int32_t *v = m->triangle[t];
    return tl_vec3_cross(tl_vec3_sub(m->vertex[v[1]], m->vertex[v[0]]), tl_vec3_sub(m->vertex[v[2]], m->vertex[v[0]]));
}

/* Triangles around each vertex: start [vertices + 1], around [3 triangles]. */
static void incident(const tl_trimesh *m, int32_t *start, int32_t *around)
{
    memset(start, 0, sizeof(int32_t) * ((size_t)m->vertices + 1));
    for (int32_t t = 0; t < m->triangles; t++)
        for (int k = 0; k < 3; k++) start[m->triangle[t][k] + 1]++;
    for (int32_t v = 0; v < m->vertices; v++) start[v + 1] += start[v];
    for (int32_t t = 0; t < m->triangles; t++)
        for (int k = 0; k < 3; k++) around[start[m->triangle[t][k]]++] = t;
    for (int32_t v = m->vertices; v > 0; v--) start[v] = start[v - 1];
    start[0] = 0;
}

/* One output vertex per vertex and distinct normal. Returns how many; corner [3 triangles] gets their numbers. */
static int32_t split_corners(const tl_trimesh *m, double cosine, const int32_t *start, const int32_t *around,
                             int32_t (*corner)[3], tl_vec3 *at, tl_vec3 *normal)
{
    int32_t made = 0;
    for (int32_t v = 0; v < m->vertices; v++) {
        int32_t first = made;
        for (int32_t i = start[v]; i < start[v + 1]; i++) {
            int32_t t = around[i];
            tl_vec3 own = tl_vec3_normalize(face_normal(m, t)), sum = {0, 0, 0};
            for (int32_t j = start[v]; j < start[v + 1]; j++) {
                tl_vec3 n = face_normal(m, around[j]);
                if (around[j] == t || tl_vec3_dot(own, n) >= cosine * tl_vec3_norm(n)) sum = tl_vec3_add(sum, n);
            }
            sum = tl_vec3_normalize_or(sum, (tl_vec3){0, 1, 0});
            int32_t k = first;
            while (k < made && memcmp(&normal[k], &sum, sizeof sum) != 0) k++;
            if (k == made) {
                at[made] = m->vertex[v];
                normal[made++] = sum;
            }
            for (int c = 0; c < 3; c++)
                if (m->triangle[t][c] == v) corner[t][c] = k;
        }
    }
    return made;
}

int tl_picture_add_mesh(tl_picture *p, const tl_trimesh *m, double smooth_deg, talus_error *err)
{
    const int32_t(*triangle)[3] = (const int32_t(*)[3])m->triangle;
    if (!(smooth_deg > 0))
        return tl_picture_add_triangles(p, m->vertices, m->vertex, NULL, m->triangles, triangle, err);
    if (!triangles_good(m->vertices, m->vertex, m->triangles, triangle, err)) return -1;
    if (m->triangles > INT32_MAX / 3) return no_memory(err, "a mesh");
    size_t corners = 3 * (size_t)m->triangles;
    int32_t *start = TL_NEW(int32_t, (size_t)m->vertices + 1), *around = TL_NEW(int32_t, corners);
    int32_t(*corner)[3] = tl_alloc(sizeof(int32_t) * corners);
    tl_vec3 *at = TL_NEW(tl_vec3, corners), *normal = TL_NEW(tl_vec3, corners);
    int made = -1;
    if (start && around && corner && at && normal) {
        incident(m, start, around);
        int32_t vertices = split_corners(m, cos(smooth_deg * 0.017453292519943295), start, around, corner, at, normal);
        made = tl_picture_add_triangles(p, vertices, at, normal, m->triangles, (const int32_t(*)[3])corner, err);
    } else {
        no_memory(err, "the normals");
    }
    tl_free(start);
    tl_free(around);
    tl_free(corner);
    tl_free(at);
    tl_free(normal);
    return made;
}

/* ---- instances, particles, tank ---- */

static bool look_good(tl_look l)
{
    const float c[] = {l.colour.r, l.colour.g, l.colour.b, l.roughness, l.opacity};
    for (int i = 0; i < 5; i++)
        if (!(c[i] >= 0 && c[i] <= 1)) return false;
    return l.roughness > 0;
}

talus_status tl_picture_add_paint(tl_picture *p, int mesh, const float *distance, tl_colour colour, float roughness,
                                  talus_error *err)
{
    tl_picture_mesh *m = &p->mesh[mesh];
    if (m->paints == TL_PAINTS_MAX)
        return TL_FAIL(err, TALUS_BAD_INPUT, "a mesh takes %d paints at most", TL_PAINTS_MAX);
    if (!look_good((tl_look){colour, roughness, 1}))
        return TL_FAIL(err, TALUS_BAD_INPUT, "paint %d: colour and roughness must be in [0, 1], roughness > 0",
                       m->paints);
    float *copy = TL_NEW(float, m->vertices);
    if (!copy) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to paint %d vertices", m->vertices);
    memcpy(copy, distance, sizeof(float) * (size_t)m->vertices);
    m->paint[m->paints++] = (tl_picture_paint){copy, colour, roughness};
    return TALUS_OK;
}

talus_status tl_picture_add_instance(tl_picture *p, int mesh, tl_mat3 linear, tl_vec3 at, tl_look look,
                                     talus_error *err)
{
    if (mesh < 0 || mesh >= p->meshes)
        return TL_FAIL(err, TALUS_BAD_INPUT, "an instance shows mesh %d of a picture with %d", mesh, p->meshes);
    tl_mat3 inverse;
    if (!tl_mat3_inverse(linear, &inverse) || !finite3(at))
        return TL_FAIL(err, TALUS_BAD_INPUT, "instance %d: its placement is not finite or flattens it", p->instances);
    if (!look_good(look))
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "instance %d: colour, roughness and opacity must be in [0, 1], roughness > 0", p->instances);
    if (!grow((void **)&p->instance, p->instances, sizeof *p->instance))
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d instances", p->instances + 1);
    p->instance[p->instances++] = (tl_picture_instance){mesh, linear, at, look, -1, false, false};
    return TALUS_OK;
}

talus_status tl_picture_add_spheres(tl_picture *p, const tl_picture_spheres *s, talus_error *err)
{
    const int32_t count = s->count;
    if (count < 0 || !(s->radius > 0) || !(s->radius < 1e18) || !look_good(s->look))
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "%d particles of radius %g m: both must be positive, and their look in [0, 1]", count,
                       s->radius);
    for (int32_t i = 0; i < count; i++)
        if (!finite3(s->at[i])) return TL_FAIL(err, TALUS_BAD_INPUT, "particle %d is not at a finite place", i);
    if (count == 0) return TALUS_OK;
    tl_vec3 *at = TL_NEW(tl_vec3, count);
    tl_colour *colour = s->colour ? TL_NEW(tl_colour, count) : NULL;
    float *value = s->value ? TL_NEW(float, count) : NULL;
    if (!at || (s->colour && !colour) || (s->value && !value) ||
        !grow((void **)&p->cloud, p->clouds, sizeof *p->cloud)) {
        tl_free(at);
        tl_free(colour);
        tl_free(value);
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to show %d particles", count);
    }
    memcpy(at, s->at, sizeof *at * (size_t)count);
    if (colour) memcpy(colour, s->colour, sizeof *colour * (size_t)count);
    if (value) memcpy(value, s->value, sizeof *value * (size_t)count);
    tl_picture_spheres *own = &p->cloud[p->clouds++];
    *own = *s;
    own->at = at;
    own->colour = colour;
    own->value = value;
    if (!own->map) own->map = tl_colour_map_at(0);
    return TALUS_OK;
}

/* An axis-aligned box as 12 flat triangles, or its four upright sides as 8. */
static int add_block(tl_picture *p, tl_vec3 lo, tl_vec3 hi, bool sides_only, talus_error *err)
{
    tl_vec3 v[8];
    for (int i = 0; i < 8; i++) v[i] = (tl_vec3){i & 1 ? hi.x : lo.x, i & 2 ? hi.y : lo.y, i & 4 ? hi.z : lo.z};
    static const int32_t t[12][3] = {{0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}, {0, 2, 3}, {0, 3, 1},
                                     {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4}, {2, 6, 7}, {2, 7, 3}};
    return tl_picture_add_triangles(p, 8, v, NULL, sides_only ? 8 : 12, t, err);
}

/* A beam from a to b along one axis, of square section. */
static talus_status add_beam(tl_picture *p, tl_vec3 a, tl_vec3 b, double half, tl_look look, talus_error *err)
{
    tl_vec3 h = {half, half, half};
    int m = add_block(p, tl_vec3_sub(tl_vec3_min(a, b), h), tl_vec3_add(tl_vec3_max(a, b), h), false, err);
    if (m < 0) return err ? err->status : TALUS_NO_MEMORY;
    return tl_picture_add_instance(p, m, tl_mat3_identity(), (tl_vec3){0, 0, 0}, look, err);
}

int tl_picture_add_box(tl_picture *p, tl_box3 box, talus_error *err)
{
    return add_block(p, box.lo, box.hi, false, err);
}

talus_status tl_picture_add_tank(tl_picture *p, tl_box3 in, bool glass, talus_error *err)
{
    talus_error own = {0};
    if (!err) err = &own;
    tl_vec3 d = tl_vec3_sub(in.hi, in.lo);
    double longest = tl_vec3_max_abs(d);
    if (!(d.x > 0 && d.y > 0 && d.z > 0) || !finite3(in.lo) || !finite3(in.hi))
        return TL_FAIL(err, TALUS_BAD_INPUT, "a tank of %g x %g x %g m has no inside", d.x, d.y, d.z);
    double gap = 0.002 * longest,
           half = 0.0016 * longest; /* chosen: about two pixels of beam when the tank fills the frame */
    tl_vec3 lo = tl_vec3_sub(in.lo, (tl_vec3){gap, 0, gap}), hi = tl_vec3_add(in.hi, (tl_vec3){gap, 0, gap});
    if (glass) {
        int m = add_block(p, lo, hi, true, err);
        if (m < 0) return err->status;
        TL_TRY(tl_picture_add_instance(p, m, tl_mat3_identity(), (tl_vec3){0, 0, 0}, tl_look_glass(), err));
    }
    tl_look steel = tl_look_glossy(tl_colour_hex(0x6f7a7c), 0.4f);
    for (int i = 0; i < 4; i++) {
        double x = i & 1 ? hi.x : lo.x, z = i & 2 ? hi.z : lo.z;
        TL_TRY(add_beam(p, (tl_vec3){x, lo.y, z}, (tl_vec3){x, hi.y, z}, half, steel, err));
    }
    for (int top = 0; top < 2; top++)
        for (int i = 0; i < 2; i++) {
            double y = top ? hi.y : lo.y + half, x = i ? hi.x : lo.x, z = i ? hi.z : lo.z;
            TL_TRY(add_beam(p, (tl_vec3){lo.x, y, z}, (tl_vec3){hi.x, y, z}, half, steel, err));
            TL_TRY(add_beam(p, (tl_vec3){x, y, lo.z}, (tl_vec3){x, y, hi.z}, half, steel, err));
        }
    return TALUS_OK;
}

/* ---- bounds and camera ---- */

static const tl_box3 empty_box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static void include(tl_box3 *b, tl_vec3 p, double radius)
{
    tl_vec3 r = {radius, radius, radius};
    b->lo = tl_vec3_min(b->lo, tl_vec3_sub(p, r));
    b->hi = tl_vec3_max(b->hi, tl_vec3_add(p, r));
}

static tl_box3 bounds(const tl_picture *p, bool framed)
{
    tl_box3 b = empty_box;
    for (int i = 0; i < p->instances; i++) {
        const tl_picture_instance *in = &p->instance[i];
        if (in->hidden || (framed && in->aside)) continue;
        const tl_picture_mesh *m = &p->mesh[in->mesh];
        for (int32_t k = 0; k < m->vertices; k++)
            include(&b, tl_vec3_add(tl_mat3_mul_vec(in->linear, m->vertex[k]), in->at), 0);
    }
    for (int i = 0; i < p->clouds; i++)
        for (int32_t k = 0; k < p->cloud[i].count; k++) include(&b, p->cloud[i].at[k], p->cloud[i].radius);
    return b;
}

tl_box3 tl_picture_bounds(const tl_picture *p) { return bounds(p, false); }

tl_box3 tl_picture_subject(const tl_picture *p)
{
    tl_box3 b = p->subject;
    if (!(b.lo.x <= b.hi.x)) b = bounds(p, true);
    if (!(b.lo.x <= b.hi.x)) b = (tl_box3){{-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}};
    return b;
}

/* Half the frame that the subject may fill: the rest is margin. */
#define FILL 0.78
#define FRAME_POINTS 4096

static bool is_framed(const tl_picture_instance *in) { return !in->hidden && !in->aside; }

/* Up to FRAME_POINTS points that stand for the subject: the corners of its box when it has one, else evenly picked
 * vertices and particles. Returns how many. */
static int frame_points(const tl_picture *p, tl_vec3 *out)
{
    tl_box3 b = p->subject;
    int64_t total = 0, k = 0;
    int count = 0;
    for (int i = 0; i < p->instances; i++)
        if (is_framed(&p->instance[i])) total += p->mesh[p->instance[i].mesh].vertices;
    for (int i = 0; i < p->clouds; i++) total += p->cloud[i].count;
    if (total == 0) b = tl_picture_subject(p);
    if (b.lo.x <= b.hi.x) {
        for (int i = 0; i < 8; i++)
            out[i] = (tl_vec3){i & 1 ? b.hi.x : b.lo.x, i & 2 ? b.hi.y : b.lo.y, i & 4 ? b.hi.z : b.lo.z};
        return 8;
    }
    int64_t stride = (total + FRAME_POINTS - 1) / FRAME_POINTS;
    for (int i = 0; i < p->instances; i++) {
        const tl_picture_instance *in = &p->instance[i];
        const tl_picture_mesh *m = &p->mesh[in->mesh];
        for (int32_t v = 0; v < m->vertices && is_framed(in); v++)
            if (k++ % stride == 0) out[count++] = tl_vec3_add(tl_mat3_mul_vec(in->linear, m->vertex[v]), in->at);
    }
    for (int i = 0; i < p->clouds; i++)
        for (int32_t v = 0; v < p->cloud[i].count; v++)
            if (k++ % stride == 0) out[count++] = p->cloud[i].at[v];
    return count;
}

/* Nearest eye along -forward from a centre that keeps every point inside the frame, then moved sideways so that
 * their extent is in the middle; a few rounds settle both. */
static tl_vec3 frame(const tl_lens *c, int count, const tl_vec3 *point, double zoom)
{
    tl_box3 b = empty_box;
    for (int i = 0; i < count; i++) include(&b, point[i], 0);
    tl_vec3 center = tl_vec3_scale(0.5, tl_vec3_add(b.lo, b.hi)), eye = center;
    double kx = c->half_height * c->aspect * FILL * zoom, ky = c->half_height * FILL * zoom;
    for (int round = 0; round < 8; round++) {
        double back = 0;
        for (int i = 0; i < count; i++) {
            tl_vec3 d = tl_vec3_sub(point[i], center);
            double depth = tl_vec3_dot(d, c->forward);
            back = fmax(back, fmax(fabs(tl_vec3_dot(d, c->right)) / kx, fabs(tl_vec3_dot(d, c->up)) / ky) - depth);
        }
        eye = tl_vec3_add_scaled(center, -back, c->forward);
        double lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};
        for (int i = 0; i < count; i++) {
            tl_vec3 d = tl_vec3_sub(point[i], eye);
            double depth = fmax(tl_vec3_dot(d, c->forward), 1e-9);
            double s[2] = {tl_vec3_dot(d, c->right) / depth, tl_vec3_dot(d, c->up) / depth};
            for (int k = 0; k < 2; k++) lo[k] = fmin(lo[k], s[k]), hi[k] = fmax(hi[k], s[k]);
        }
        center = tl_vec3_add_scaled(center, 0.5 * (lo[0] + hi[0]) * back, c->right);
        center = tl_vec3_add_scaled(center, 0.5 * (lo[1] + hi[1]) * back, c->up);
    }
    return eye;
}

tl_lens tl_lens_of(const tl_picture *p, int width, int height)
{
    const tl_picture_camera *k = &p->camera;
    tl_lens c = {.half_height = tan(0.5 * k->fov_deg * 0.017453292519943295), .aspect = (double)width / height};
    tl_vec3 back = k->automatic ? k->view : tl_vec3_sub(k->eye, k->target);
    c.forward = tl_vec3_normalize_or(tl_vec3_neg(back), (tl_vec3){0, 0, -1});
    tl_vec3 right = tl_vec3_cross(c.forward, k->up), t2;
    if (tl_vec3_norm(right) > 1e-6 * tl_vec3_norm(k->up))
        c.right = tl_vec3_normalize(right);
    else if (fabs(c.forward.y) > 0.5) /* straight down or up: x to the right */
        c.right = (tl_vec3){1, 0, 0}, c.right = tl_vec3_normalize(tl_vec3_add_scaled(c.right, -c.forward.x, c.forward));
    else
        tl_vec3_tangents(c.forward, &c.right, &t2);
    c.up = tl_vec3_cross(c.right, c.forward);
    c.eye = k->eye;
    if (k->automatic) {
        tl_vec3 point[FRAME_POINTS];
        c.eye = frame(&c, frame_points(p, point), point, k->zoom > 0 ? k->zoom : 1);
    }
    return c;
}

tl_vec3 tl_lens_ray(const tl_lens *c, double x, double y)
{
    tl_vec3 d = tl_vec3_add_scaled(c->forward, (2 * x - 1) * c->half_height * c->aspect, c->right);
    return tl_vec3_normalize(tl_vec3_add_scaled(d, (1 - 2 * y) * c->half_height, c->up));
}
