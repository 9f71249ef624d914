#include "geom/mesh_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

/* ---- text ---- */

static bool is_end(char c) { return c == '\n' || c == '\r'; }
static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

/* Past one line end at `at`. */
static void step_over(tl_scan *s)
{
    bool crlf = *s->at == '\r' && s->end - s->at > 1 && s->at[1] == '\n';
    s->at += crlf ? 2 : 1;
    s->line++;
}

bool tl_scan_word(tl_scan *s, tl_word *w)
{
    for (; s->at < s->end; s->at++) {
        if (is_blank(*s->at)) continue;
        bool joined = *s->at == '\\' && s->end - s->at > 1 && is_end(s->at[1]);
        if (!joined) break;
        s->at++;
        step_over(s);
        s->at--;
    }
    w->at = s->at;
    while (s->at < s->end && !is_blank(*s->at) && !is_end(*s->at)) {
        if (*s->at == '\\' && s->end - s->at > 1 && is_end(s->at[1])) break;
        s->at++;
    }
    w->length = s->at - w->at;
    return w->length > 0;
}

bool tl_scan_line(tl_scan *s)
{
    while (s->at < s->end && !is_end(*s->at)) s->at++;
    if (s->at == s->end) return false;
    step_over(s);
    return s->at < s->end;
}

bool tl_scan_any(tl_scan *s, tl_word *w)
{
    while (!tl_scan_word(s, w))
        if (!tl_scan_line(s)) return false;
    return true;
}

bool tl_word_is(tl_word w, const char *text)
{
    size_t length = strlen(text);
    return w.length == (int64_t)length && memcmp(w.at, text, length) == 0;
}

bool tl_word_is_like(tl_word w, const char *text)
{
    size_t length = strlen(text);
    return w.length == (int64_t)length && strncasecmp(w.at, text, length) == 0;
}

const char *tl_word_show(tl_word w, char text[TL_WORD_SHOWN])
{
    int64_t n = w.length < TL_WORD_SHOWN - 4 ? w.length : TL_WORD_SHOWN - 4;
    for (int64_t i = 0; i < n; i++) text[i] = (char)(w.at[i] >= 32 && w.at[i] < 127 ? w.at[i] : '?');
    memcpy(text + n, n < w.length ? "..." : "", n < w.length ? 4 : 1);
    return text;
}

const char *tl_place_show(tl_place p, char text[TL_PLACE_SHOWN])
{
    if (p.line > 0)
        snprintf(text, TL_PLACE_SHOWN, "%.256s:%lld", p.name, (long long)p.line);
    else
        snprintf(text, TL_PLACE_SHOWN, "%.256s: byte %lld", p.name, (long long)p.byte);
    return text;
}

talus_status tl_scan_number(const tl_scan *s, tl_word w, const char *what, double *out, talus_error *err)
{
    char text[TL_WORD_SHOWN], number[256], *end = NULL;
    if (w.length > 0 && w.length < (int64_t)sizeof number) {
        memcpy(number, w.at, (size_t)w.length);
        number[w.length] = '\0';
        *out = strtod(number, &end);
    }
    if (!end || end - number != w.length)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s:%lld: %s must be a number, got '%s'", s->name, (long long)s->line,
                       what, tl_word_show(w, text));
    if (!isfinite(*out))
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s:%lld: %s must be finite, got '%s'", s->name, (long long)s->line, what,
                       tl_word_show(w, text));
    return TALUS_OK;
}

talus_status tl_scan_integer(const tl_scan *s, tl_word w, const char *what, int64_t *out, talus_error *err)
{
    char text[TL_WORD_SHOWN];
    bool negative = w.length > 0 && *w.at == '-';
    int64_t i = negative || (w.length > 0 && *w.at == '+'), value = 0, first = i;
    for (; i < w.length && w.at[i] >= '0' && w.at[i] <= '9' && value < INT64_MAX / 16; i++)
        value = 10 * value + (w.at[i] - '0');
    if (i == first || i < w.length)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s:%lld: %s must be an integer, got '%s'", s->name, (long long)s->line,
                       what, tl_word_show(w, text));
    *out = negative ? -value : value;
    return TALUS_OK;
}

/* ---- building ---- */

/* Room for one more item; counts stay below 2^31. */
static talus_status grow(void **items, size_t size, int32_t count, int32_t *room, tl_place where, talus_error *err)
{
    if (count < *room) return TALUS_OK;
    if (count == INT32_MAX)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: a mesh holds at most %d vertices and triangles", TL_AT(where),
                       INT32_MAX);
    int32_t more = *room < 64 ? 64 : *room > INT32_MAX - *room / 2 ? INT32_MAX : *room + *room / 2;
    void *fresh = tl_realloc(*items, size * (size_t)more);
    if (!fresh)
        return TL_FAIL(err, TALUS_NO_MEMORY, "%s: no memory for a mesh of %d vertices or triangles", TL_AT(where),
                       more);
    *items = fresh;
    *room = more;
    return TALUS_OK;
}

talus_status tl_mesh_add_vertex(tl_mesh_builder *b, tl_vec3 x, tl_place where, talus_error *err)
{
    if (!(tl_vec3_max_abs(x) <= TL_MESH_COORDINATE_MAX && isfinite(x.x) && isfinite(x.y) && isfinite(x.z)))
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: coordinates must be finite and at most %g, got (%g, %g, %g)",
                       TL_AT(where), TL_MESH_COORDINATE_MAX, x.x, x.y, x.z);
    void *items = b->mesh.vertex;
    TL_TRY(grow(&items, sizeof *b->mesh.vertex, b->mesh.vertices, &b->vertex_room, where, err));
    b->mesh.vertex = items;
    b->mesh.vertex[b->mesh.vertices++] = x;
    return TALUS_OK;
}

talus_status tl_mesh_add_corner(tl_mesh_builder *b, int64_t vertex, tl_place where, talus_error *err)
{
    if (vertex < 0 || vertex >= b->mesh.vertices)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: a face names vertex %lld (counted from 0), but there are %d",
                       TL_AT(where), (long long)vertex, b->mesh.vertices);
    void *items = b->corner;
    TL_TRY(grow(&items, sizeof *b->corner, b->corners, &b->corner_room, where, err));
    b->corner = items;
    b->corner[b->corners++] = (tl_mesh_corner){.vertex = (int32_t)vertex};
    return TALUS_OK;
}

static talus_status add_triangle(tl_mesh_builder *b, int32_t i, int32_t j, int32_t k, tl_place where, talus_error *err)
{
    void *items = b->mesh.triangle;
    TL_TRY(grow(&items, sizeof *b->mesh.triangle, b->mesh.triangles, &b->triangle_room, where, err));
    b->mesh.triangle = items;
    int32_t *t = b->mesh.triangle[b->mesh.triangles++];
    t[0] = b->corner[i].vertex;
    t[1] = b->corner[j].vertex;
    t[2] = b->corner[k].vertex;
    return TALUS_OK;
}

/* Corners in the plane of the polygon's area vector, counter-clockwise; scaled to size 1. */
static void flatten(tl_mesh_builder *b)
{
    tl_vec3 origin = b->mesh.vertex[b->corner[0].vertex], n = {0, 0, 0}, t1, t2;
    double size = 0;
    for (int32_t i = 1; i < b->corners; i++)
        size = fmax(size, tl_vec3_max_abs(tl_vec3_sub(b->mesh.vertex[b->corner[i].vertex], origin)));
    double scale = size > 0 ? 1 / size : 0;
    for (int32_t i = 2; i < b->corners; i++) {
        tl_vec3 p = tl_vec3_scale(scale, tl_vec3_sub(b->mesh.vertex[b->corner[i - 1].vertex], origin));
        tl_vec3 q = tl_vec3_scale(scale, tl_vec3_sub(b->mesh.vertex[b->corner[i].vertex], origin));
        n = tl_vec3_add(n, tl_vec3_cross(p, q));
    }
    n = tl_vec3_normalize_or(n, tl_vec3_make(0, 0, 1));
    tl_vec3_tangents(n, &t1, &t2);
    for (int32_t i = 0; i < b->corners; i++) {
        tl_mesh_corner *c = &b->corner[i];
        tl_vec3 p = tl_vec3_scale(scale, tl_vec3_sub(b->mesh.vertex[c->vertex], origin));
        c->x = tl_vec3_dot(t1, p);
        c->y = tl_vec3_dot(t2, p);
        c->previous = i > 0 ? i - 1 : b->corners - 1;
        c->next = i + 1 < b->corners ? i + 1 : 0;
    }
}

/* Twice the area of (a, b, c); what is below rounding of unit coordinates is zero. */
static double turn(const tl_mesh_corner *a, const tl_mesh_corner *b, const tl_mesh_corner *c)
{
    double area2 = (b->x - a->x) * (c->y - a->y) - (b->y - a->y) * (c->x - a->x);
    return fabs(area2) > 1e-14 ? area2 : 0;
}

/* All turns to the left, and once around in total (a star polygon goes around twice). */
static bool is_convex(const tl_mesh_builder *b)
{
    int flips = 0;
    for (int32_t i = 0; i < b->corners; i++) {
        const tl_mesh_corner *c = &b->corner[i], *p = &b->corner[c->previous], *q = &b->corner[c->next];
        if (!(turn(p, c, q) > 0)) return false;
        bool up = c->y > p->y || (c->y == p->y && c->x > p->x);
        bool up_next = q->y > c->y || (q->y == c->y && q->x > c->x);
        flips += up != up_next;
    }
    return flips == 2;
}

static bool same_place(const tl_mesh_corner *a, const tl_mesh_corner *b) { return a->x == b->x && a->y == b->y; }

static bool is_ear(const tl_mesh_builder *b, int32_t i)
{
    const tl_mesh_corner *c = &b->corner[i], *p = &b->corner[c->previous], *q = &b->corner[c->next];
    if (!(turn(p, c, q) > 0)) return false;
    for (int32_t k = q->next; k != c->previous; k = b->corner[k].next) {
        const tl_mesh_corner *o = &b->corner[k];
        if (same_place(o, p) || same_place(o, c) || same_place(o, q)) continue;
        if (turn(p, c, o) >= 0 && turn(c, q, o) >= 0 && turn(q, p, o) >= 0) return false;
    }
    return true;
}

/* Clipping an ear changes which corners are ears at its two neighbours only: what blocks another corner is a
 * reflex one, and that is never clipped. Without any ear (a polygon that crosses itself, or flat) cut what comes. */
static talus_status clip_ears(tl_mesh_builder *b, tl_place where, talus_error *err)
{
    for (int32_t k = 0; k < b->corners; k++) b->corner[k].ear = is_ear(b, k);
    int32_t i = 0;
    for (int32_t left = b->corners; left > 3; left--) {
        for (int32_t misses = 0; !b->corner[i].ear && misses < left; misses++) i = b->corner[i].next;
        int32_t previous = b->corner[i].previous, next = b->corner[i].next;
        TL_TRY(add_triangle(b, previous, i, next, where, err));
        b->corner[previous].next = next;
        b->corner[next].previous = previous;
        b->corner[previous].ear = is_ear(b, previous);
        b->corner[next].ear = is_ear(b, next);
        i = next;
    }
    return add_triangle(b, b->corner[i].previous, i, b->corner[i].next, where, err);
}

static talus_status cut(tl_mesh_builder *b, tl_place where, talus_error *err)
{
    if (b->corners < 3)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: a face needs three vertices or more, got %d", TL_AT(where),
                       b->corners);
    if (b->corners == 3) return add_triangle(b, 0, 1, 2, where, err);
    flatten(b);
    if (!is_convex(b)) {
        if (b->corners > TL_MESH_CONCAVE_MAX)
            return TL_FAIL(err, TALUS_BAD_INPUT,
                           "%s: a face of %d vertices is not convex; such faces may have at most %d", TL_AT(where),
                           b->corners, TL_MESH_CONCAVE_MAX);
        return clip_ears(b, where, err);
    }
    for (int32_t i = 2; i < b->corners; i++) TL_TRY(add_triangle(b, 0, i - 1, i, where, err));
    return TALUS_OK;
}

talus_status tl_mesh_end_polygon(tl_mesh_builder *b, tl_place where, talus_error *err)
{
    talus_status status = cut(b, where, err);
    b->corners = 0;
    return status;
}

talus_status tl_mesh_finish(tl_mesh_builder *b, talus_status status, tl_trimesh *out)
{
    tl_free(b->corner);
    if (status != TALUS_OK) tl_trimesh_free(&b->mesh);
    *out = b->mesh;
    *b = (tl_mesh_builder){0};
    return status;
}
