#include "model/lg/pressure.h"
#include "base/alloc.h"

/* Twice the area of a triangle, along its normal. */
static tl_vec3 area2(const tl_vec3 x[3]) { return tl_vec3_cross(tl_vec3_sub(x[1], x[0]), tl_vec3_sub(x[2], x[0])); }

static void corners(const int32_t *node, const double *q, tl_vec3 x[3])
{
    for (int k = 0; k < 3; k++) x[k] = tl_vec3_load(q + 3 * (int64_t)node[k]);
}

double tl_lg_loaded_with(const tl_lg_body *b, double pressure)
{
    return (b->inside_out ? -pressure : pressure) * (b->kind == TL_LG_HEXES ? 0.5 : 1);
}

void tl_lg_press(const tl_lg *lg, const double *pressure, double scale, const double *q, double *r)
{
    for (int b = 0; pressure && b < lg->bodies; b++) {
        const tl_lg_body *body = &lg->body[b];
        const double by = scale * tl_lg_loaded_with(body, pressure[b]) / 6;
        for (int32_t t = body->load; t < body->load + body->loads && by != 0; t++) {
            tl_vec3 x[3];
            corners(lg->loaded[t], q, x);
            const tl_vec3 f = tl_vec3_scale(by, area2(x));
            for (int k = 0; k < 3; k++) {
                double *to = r + 3 * (int64_t)lg->loaded[t][k];
                tl_vec3_store(tl_vec3_add(tl_vec3_load(to), f), to);
            }
        }
    }
}

/* Forces are of second order in the way, so Simpson's rule is exact. */
double tl_lg_press_work(const tl_lg *lg, const double *pressure, const double *from, const double *to)
{
    double work = 0;
    for (int b = 0; pressure && b < lg->bodies; b++) {
        const tl_lg_body *body = &lg->body[b];
        const double by = tl_lg_loaded_with(body, pressure[b]) / 6;
        for (int32_t t = body->load; t < body->load + body->loads && by != 0; t++) {
            tl_vec3 x[3], y[3], half[3], way = {0, 0, 0};
            corners(lg->loaded[t], from, x);
            corners(lg->loaded[t], to, y);
            for (int k = 0; k < 3; k++) {
                half[k] = tl_vec3_scale(0.5, tl_vec3_add(x[k], y[k]));
                way = tl_vec3_add(way, tl_vec3_sub(y[k], x[k]));
            }
            const tl_vec3 mean = tl_vec3_add_scaled(tl_vec3_add(area2(x), area2(y)), 4, area2(half));
            work += by / 6 * tl_vec3_dot(way, mean);
        }
    }
    return work;
}

/* Corner of triangle t of a hexahedron's face that is across the face's diagonal: its longest edge at rest. */
static int right_corner(const tl_lg *lg, int32_t t)
{
    const int32_t *node = lg->surface[t];
    double longest = 0;
    int at = 0;
    for (int k = 0; k < 3; k++) {
        const double *x = lg->rest + 3 * (int64_t)node[(k + 1) % 3], *y = lg->rest + 3 * (int64_t)node[(k + 2) % 3];
        const double length = tl_vec3_norm(tl_vec3_sub(tl_vec3_load(x), tl_vec3_load(y)));
        if (length > longest) longest = length, at = k;
    }
    return at;
}

/* The other half of that face. */
static int32_t other_half(const tl_lg *lg, int32_t t)
{
    const int32_t *side = lg->skin.sides[lg->skin.corner_edge[t][right_corner(lg, t)]];
    return side[0] == t ? side[1] : side[0];
}

static bool is_loaded(const tl_lg *lg, const tl_lg_body *b, int32_t t, const bool *pressed)
{
    const int32_t *one = lg->surface[t], *two = b->kind == TL_LG_HEXES ? lg->surface[other_half(lg, t)] : one;
    for (int k = 0; k < 3; k++)
        if (!pressed[one[k]] || !pressed[two[k]]) return false;
    return true;
}

/* Every edge of what is loaded is passed once each way. */
static bool has_rim(const tl_lg *lg, const tl_lg_body *b, const bool *pressed, int32_t *passed)
{
    bool rim = false;
    for (int32_t t = b->triangle; t < b->triangle + b->triangles; t++)
        for (int k = 0; k < 3 && is_loaded(lg, b, t, pressed); k++) {
            const int32_t edge = lg->skin.corner_edge[t][k], first = lg->surface[t][(k + 1) % 3];
            passed[edge] += first == lg->skin.edge[edge][0] ? 1 : -1;
        }
    for (int32_t t = b->triangle; t < b->triangle + b->triangles; t++)
        for (int k = 0; k < 3; k++) rim |= passed[lg->skin.corner_edge[t][k]] != 0;
    return rim;
}

static void load(tl_lg *lg, tl_lg_body *b, int32_t x, int32_t y, int32_t z)
{
    int32_t *to = lg->loaded[b->load + b->loads++];
    to[0] = x, to[1] = y, to[2] = z;
}

/* The face of a hexahedron that triangle t is half of, cut along its other diagonal: once, by the first of its
 * halves. */
static void load_across(tl_lg *lg, tl_lg_body *b, int32_t t)
{
    const int at = right_corner(lg, t);
    const int32_t other = other_half(lg, t), *node = lg->surface[t], x = node[(at + 1) % 3], y = node[(at + 2) % 3];
    for (int k = 0; k < 3 && other > t; k++) {
        const int32_t far = lg->surface[other][k];
        if (far == x || far == y) continue;
        load(lg, b, node[at], x, far);
        load(lg, b, node[at], far, y);
    }
}

talus_status tl_lg_press_begin(tl_lg *lg, int parts, const tl_lg_part *part, talus_error *err)
{
    int32_t *passed = TL_NEW_ZERO(int32_t, lg->skin.edges + 1), loads = 0;
    bool *pressed = TL_NEW_ZERO(bool, lg->nodes + 1);
    lg->loaded = tl_alloc_zero(sizeof *lg->loaded * 2 * ((size_t)lg->surface_triangles + 1));
    const bool ok = passed && lg->loaded && pressed;
    const tl_lg_part *none = NULL;
    for (int i = 0; i < parts && ok; i++) {
        tl_lg_body *b = &lg->body[i];
        double volume6 = 0;
        b->load = loads;
        for (int32_t v = 0; v < b->nodes; v++)
            pressed[lg->node_of[b->node + v]] = !part[i].pressed || part[i].pressed[v];
        for (int32_t t = b->triangle; t < b->triangle + b->triangles; t++) {
            const int32_t *node = lg->surface[t];
            tl_vec3 x[3], from = tl_vec3_load(lg->rest + 3 * (int64_t)b->node);
            corners(node, lg->rest, x);
            volume6 += tl_vec3_dot(tl_vec3_sub(x[0], from), area2(x));
            if (!is_loaded(lg, b, t, pressed)) continue;
            load(lg, b, node[0], node[1], node[2]);
            if (b->kind == TL_LG_HEXES) load_across(lg, b, t);
        }
        loads += b->loads;
        if (!b->loads) none = &part[i];
        b->sealed = !has_rim(lg, b, pressed, passed);
        b->inside_out = b->kind == TL_LG_CLOTH && b->sealed && !part[i].pressed && volume6 < 0;
    }
    tl_free(passed);
    tl_free(pressed);
    if (!ok) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for surfaces under pressure");
    if (!none) return TALUS_OK;
    return TL_FAIL(
        err, TALUS_BAD_INPUT,
        "body \"%.60s\": its pressure_in holds no triangle of its surface; the shape is in the body's own frame",
        none->name);
}
