#include "geom/trimesh.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/random.h"
#include "geom/mesh_reader.h"

talus_status tl_trimesh_create(tl_trimesh *m, int32_t vertices, int32_t triangles, talus_error *err)
{
    *m = (tl_trimesh){0};
    if (vertices < 0 || triangles < 0)
        return TL_FAIL(err, TALUS_BAD_INPUT, "a mesh cannot have %d vertices and %d triangles", vertices, triangles);
    m->vertex = tl_alloc(sizeof *m->vertex * (size_t)vertices);
    m->triangle = tl_alloc(sizeof *m->triangle * (size_t)triangles);
    if (!m->vertex || !m->triangle) {
        tl_trimesh_free(m);
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a mesh of %d vertices and %d triangles", vertices,
                       triangles);
    }
    m->vertices = vertices;
    m->triangles = triangles;
    return TALUS_OK;
}

void tl_trimesh_free(tl_trimesh *m)
{
    tl_free(m->vertex);
    tl_free(m->triangle);
    *m = (tl_trimesh){0};
}

talus_status tl_trimesh_copy(tl_trimesh *m, const tl_trimesh *from, talus_error *err)
{
    TL_TRY(tl_trimesh_create(m, from->vertices, from->triangles, err));
    if (from->vertices > 0) memcpy(m->vertex, from->vertex, sizeof *m->vertex * (size_t)m->vertices);
    if (from->triangles > 0) memcpy(m->triangle, from->triangle, sizeof *m->triangle * (size_t)m->triangles);
    return TALUS_OK;
}

talus_status tl_trimesh_drop_unused(tl_trimesh *m, talus_error *err)
{
    int32_t kept = 0, *number = TL_NEW_ZERO(int32_t, m->vertices + 1);
    if (!number) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to number %d vertices", m->vertices);
    for (int64_t k = 0; k < 3 * (int64_t)m->triangles; k++) number[m->triangle[k / 3][k % 3]] = 1;
    for (int32_t v = 0; v < m->vertices; v++)
        if (number[v]) {
            m->vertex[kept] = m->vertex[v];
            number[v] = kept++;
        }
    for (int64_t k = 0; k < 3 * (int64_t)m->triangles; k++) {
        int32_t *v = &m->triangle[k / 3][k % 3];
        *v = number[*v];
    }
    m->vertices = kept;
    tl_free(number);
    return TALUS_OK;
}

tl_box3 tl_trimesh_bounds(const tl_trimesh *m)
{
    tl_box3 box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int32_t i = 0; i < m->vertices; i++) {
        box.lo = tl_vec3_min(box.lo, m->vertex[i]);
        box.hi = tl_vec3_max(box.hi, m->vertex[i]);
    }
    return box;
}

/* ---- files ---- */

talus_status tl_mesh_load(const char *path, char **data, size_t *bytes, talus_error *err)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe without a writer does not wait */
    if (fd < 0) return TL_FAIL(err, TALUS_IO, "%s: cannot open it: %s", path, strerror(errno));
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        close(fd);
        return TL_FAIL(err, TALUS_IO, "%s: not a file", path);
    }
    talus_status status = TALUS_OK;
    size_t room = (size_t)info.st_size, done = 0;
    char *text = tl_alloc(room);
    if (!text) status = TL_FAIL(err, TALUS_NO_MEMORY, "%s: no memory for its %zu bytes", path, room);
    while (text && done < room) {
        ssize_t got = read(fd, text + done, room - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) status = TL_FAIL(err, TALUS_IO, "%s: cannot read it: %s", path, strerror(errno));
        if (got <= 0) break;
        done += (size_t)got;
    }
    close(fd);
    if (status != TALUS_OK) {
        tl_free(text);
        return status;
    }
    *data = text;
    *bytes = done;
    return TALUS_OK;
}

typedef talus_status (*reader)(tl_trimesh *, const char *, const char *, size_t, talus_error *);

static bool starts(const char *data, size_t bytes, const char *with)
{
    return bytes >= strlen(with) && memcmp(data, with, strlen(with)) == 0;
}

static reader reader_of(const char *path, const char *data, size_t bytes)
{
    const char *ending = strrchr(path, '.');
    if (ending && strcasecmp(ending, ".obj") == 0) return tl_trimesh_read_obj;
    if (ending && strcasecmp(ending, ".ply") == 0) return tl_trimesh_read_ply;
    if (ending && strcasecmp(ending, ".stl") == 0) return tl_trimesh_read_stl;
    if (starts(data, bytes, "ply\n") || starts(data, bytes, "ply\r")) return tl_trimesh_read_ply;
    if (starts(data, bytes, "solid") || memchr(data, 0, bytes)) return tl_trimesh_read_stl;
    return tl_trimesh_read_obj;
}

talus_status tl_trimesh_read(tl_trimesh *m, const char *path, talus_error *err)
{
    char *data = NULL;
    size_t bytes = 0;
    *m = (tl_trimesh){0};
    TL_TRY(tl_mesh_load(path, &data, &bytes, err));
    talus_status status = reader_of(path, data, bytes)(m, path, data, bytes, err);
    tl_free(data);
    return status;
}

/* ---- welding ---- */

typedef struct weld {
    tl_vec3 *vertex;       /* kept ones are moved to the front */
    int32_t *first, *next; /* chains of kept vertices by bucket */
    uint64_t buckets;      /* power of two */
    double distance;
    int32_t kept;
} weld;

static uint64_t bucket_of(const weld *w, tl_vec3 cell)
{
    double c[3] = {cell.x + 0.0, cell.y + 0.0, cell.z + 0.0}; /* -0 becomes 0 */
    return tl_mix64(tl_hash(TL_HASH_START, c, sizeof c)) & (w->buckets - 1);
}

static tl_vec3 cell_of(const weld *w, tl_vec3 x)
{
    if (!(w->distance > 0)) return x;
    return tl_vec3_make(floor(x.x / w->distance), floor(x.y / w->distance), floor(x.z / w->distance));
}

/* The first kept vertex near x in this cell, or -1. */
static int32_t find(const weld *w, tl_vec3 cell, tl_vec3 x)
{
    int32_t found = -1;
    for (int32_t k = w->first[bucket_of(w, cell)]; k >= 0; k = w->next[k]) {
        tl_vec3 d = tl_vec3_sub(w->vertex[k], x);
        bool near = w->distance > 0 ? tl_vec3_norm2(d) <= w->distance * w->distance : d.x == 0 && d.y == 0 && d.z == 0;
        if (near && (found < 0 || k < found)) found = k;
    }
    return found;
}

static int32_t merge(weld *w, tl_vec3 x)
{
    int reach = w->distance > 0 ? 1 : 0;
    tl_vec3 cell = cell_of(w, x);
    int32_t found = -1;
    for (int i = -reach; i <= reach; i++)
        for (int j = -reach; j <= reach; j++)
            for (int k = -reach; k <= reach; k++) {
                int32_t other = find(w, tl_vec3_add(cell, tl_vec3_make(i, j, k)), x);
                if (other >= 0 && (found < 0 || other < found)) found = other;
            }
    if (found >= 0) return found;
    uint64_t b = bucket_of(w, cell);
    w->vertex[w->kept] = x;
    w->next[w->kept] = w->first[b];
    w->first[b] = w->kept;
    return w->kept++;
}

talus_status tl_trimesh_weld(tl_trimesh *m, double distance, talus_error *err)
{
    if (!(distance >= 0)) return TL_FAIL(err, TALUS_BAD_INPUT, "the welding distance must be >= 0, got %g", distance);
    weld w = {.vertex = m->vertex, .distance = distance, .buckets = 64};
    while (w.buckets < (uint64_t)m->vertices) w.buckets *= 2;
    w.first = TL_NEW(int32_t, w.buckets);
    w.next = TL_NEW(int32_t, m->vertices);
    int32_t *to = TL_NEW(int32_t, m->vertices);
    if (!w.first || !w.next || !to) {
        tl_free(w.first);
        tl_free(w.next);
        tl_free(to);
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to weld %d vertices", m->vertices);
    }
    memset(w.first, 0xff, sizeof *w.first * (size_t)w.buckets); /* -1 */
    for (int32_t i = 0; i < m->vertices; i++) to[i] = merge(&w, m->vertex[i]);
    m->vertices = w.kept;

    int32_t triangles = 0;
    for (int32_t t = 0; t < m->triangles; t++) {
        int32_t a = to[m->triangle[t][0]], b = to[m->triangle[t][1]], c = to[m->triangle[t][2]];
        if (a == b || b == c || c == a) continue;
        int32_t *out = m->triangle[triangles++];
        out[0] = a;
        out[1] = b;
        out[2] = c;
    }
    m->triangles = triangles;
    tl_free(w.first);
    tl_free(w.next);
    tl_free(to);
    return TALUS_OK;
}

/* ---- mass ---- */

/* Sum over tetrahedra (o, a, b, c), o in the middle of the mesh. For one with corners 0, a, b, c and v = det/6:
 * integral of x = v (a+b+c)/4, of x x^T = v/20 (a a^T + b b^T + c c^T + s s^T), s = a+b+c. */
tl_mass tl_trimesh_mass(const tl_trimesh *m)
{
    tl_mass mass = {0};
    if (m->vertices == 0) return mass;
    tl_box3 box = tl_trimesh_bounds(m);
    tl_vec3 o = tl_vec3_scale(0.5, tl_vec3_add(box.lo, box.hi)), first = {0, 0, 0};
    tl_mat3 second = tl_mat3_zero();
    for (int32_t t = 0; t < m->triangles; t++) {
        tl_vec3 a = tl_vec3_sub(m->vertex[m->triangle[t][0]], o), b = tl_vec3_sub(m->vertex[m->triangle[t][1]], o);
        tl_vec3 c = tl_vec3_sub(m->vertex[m->triangle[t][2]], o), s = tl_vec3_add(a, tl_vec3_add(b, c));
        double v = tl_vec3_dot(a, tl_vec3_cross(b, c)) / 6;
        mass.volume += v;
        first = tl_vec3_add_scaled(first, v / 4, s);
        second = tl_mat3_add_scaled(second, v / 20,
                                    tl_mat3_add(tl_mat3_add(tl_mat3_outer(a, a), tl_mat3_outer(b, b)),
                                                tl_mat3_add(tl_mat3_outer(c, c), tl_mat3_outer(s, s))));
    }
    tl_vec3 d = mass.volume != 0 ? tl_vec3_scale(1 / mass.volume, first) : tl_vec3_make(0, 0, 0);
    mass.center = tl_vec3_add(o, d);
    second = tl_mat3_add_scaled(second, -mass.volume, tl_mat3_outer(d, d));
    mass.inertia = tl_mat3_sub(tl_mat3_scale(tl_mat3_trace(second), tl_mat3_identity()), second);
    return mass;
}
