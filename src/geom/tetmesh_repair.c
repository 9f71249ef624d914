#include "geom/tetmesh_repair.h"

#include <string.h>

#include "base/alloc.h"

/* What one round knows. A side is one edge of a boundary triangle: side 3 f + k runs between corners k and k + 1 of
 * triangle f. */
typedef struct work {
    int32_t (*neighbour)[4]; /* [tets] */
    int32_t triangles;
    int32_t (*triangle)[3]; /* [triangles] */
    int32_t (*ends)[2];     /* [3 triangles] of a side, ascending */
    int32_t *order, *spare; /* [3 triangles] */
    int32_t *mate;          /* [3 triangles] the side's other side; -1 where there is not exactly one */
    int32_t *fan;           /* [vertices] boundary triangles at a vertex */
    int32_t *corner;        /* [vertices] one side that starts there */
    uint8_t *bad;           /* [vertices] */
    int64_t *start;         /* [vertices + 1] */
    int32_t *at;            /* tets at bad vertices, by vertex, then by tet */
    int32_t *group;         /* beside `at`: the group of the tet */
    uint8_t *gone;          /* [tets] */
} work;

static void free_work(work *w)
{
    void *all[] = {w->neighbour, w->triangle, w->ends,  w->order, w->spare, w->mate, w->fan,
                   w->corner,    w->bad,      w->start, w->at,    w->group, w->gone};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) tl_free(all[i]);
    *w = (work){0};
}

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to check the boundary of a tetrahedral mesh");
}

static talus_status find_boundary(const tl_tetmesh *m, work *w, talus_error *err)
{
    w->neighbour = tl_alloc(sizeof *w->neighbour * (size_t)m->tets);
    if (!w->neighbour) return no_memory(err);
    TL_TRY(tl_tetmesh_neighbours(m, w->neighbour, err));
    int64_t triangles = 0;
    for (int32_t t = 0; t < m->tets; t++)
        for (int i = 0; i < 4; i++) triangles += w->neighbour[t][i] < 0;
    if (triangles > INT32_MAX / 3)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "the boundary has more than %d triangles", INT32_MAX / 3);
    w->triangle = tl_alloc(sizeof *w->triangle * (size_t)triangles);
    w->ends = tl_alloc(sizeof *w->ends * (size_t)triangles * 3);
    w->order = TL_NEW(int32_t, 3 * triangles);
    w->spare = TL_NEW(int32_t, 3 * triangles);
    w->mate = TL_NEW(int32_t, 3 * triangles);
    w->fan = TL_NEW_ZERO(int32_t, m->vertices);
    w->corner = TL_NEW(int32_t, m->vertices);
    w->bad = TL_NEW_ZERO(uint8_t, m->vertices);
    w->start = TL_NEW(int64_t, m->vertices + 1);
    if (!w->triangle || !w->ends || !w->order || !w->spare || !w->mate || !w->fan || !w->corner || !w->bad || !w->start)
        return no_memory(err);
    for (int32_t t = 0; t < m->tets; t++)
        for (int i = 0; i < 4; i++)
            if (w->neighbour[t][i] < 0) {
                for (int k = 0; k < 3; k++) {
                    int32_t v = m->tet[t][tl_tet_face[i][k]];
                    w->triangle[w->triangles][k] = v;
                    w->fan[v]++;
                    w->corner[v] = 3 * w->triangles + k;
                }
                w->triangles++;
            }
    return TALUS_OK;
}

/* Sides with the same ends become mates; more than two make both ends bad. Returns the number of such edges. */
static int32_t pair_sides(const tl_tetmesh *m, work *w)
{
    int32_t sides = 3 * w->triangles, wrong = 0;
    for (int32_t s = 0; s < sides; s++) {
        int32_t a = w->triangle[s / 3][s % 3], b = w->triangle[s / 3][(s % 3 + 1) % 3];
        w->ends[s][0] = a < b ? a : b;
        w->ends[s][1] = a < b ? b : a;
        w->order[s] = s;
        w->mate[s] = -1;
    }
    tl_sort_by_key(sides, w->order, w->spare, &w->ends[0][1], 2, m->vertices, w->start);
    tl_sort_by_key(sides, w->spare, w->order, &w->ends[0][0], 2, m->vertices, w->start);
    for (int32_t i = 0, end; i < sides; i = end) {
        const int32_t *e = w->ends[w->order[i]];
        for (end = i + 1; end < sides && !memcmp(e, w->ends[w->order[end]], sizeof *w->ends); end++) continue;
        if (end - i == 2) {
            w->mate[w->order[i]] = w->order[i + 1];
            w->mate[w->order[i + 1]] = w->order[i];
        } else {
            w->bad[e[0]] = w->bad[e[1]] = 1;
            wrong++;
        }
    }
    return wrong;
}

/* Walk around each vertex from triangle to triangle: all of its triangles must come by. Returns the number of bad
 * vertices. */
static int32_t walk_fans(const tl_tetmesh *m, work *w)
{
    int32_t wrong = 0;
    for (int32_t v = 0; v < m->vertices; v++) {
        if (w->fan[v] > 0 && !w->bad[v]) {
            int32_t side = w->corner[v], seen = 0;
            /* Cross the side that starts at v. In the next triangle it ends at v, and the one after it starts there. */
            do {
                int32_t over = w->mate[side];
                side = over / 3 * 3 + (over % 3 + 1) % 3;
                seen++;
            } while (side != w->corner[v] && seen <= w->fan[v]);
            if (seen != w->fan[v]) w->bad[v] = 1;
        }
        wrong += w->bad[v];
    }
    return wrong;
}

/* Tets at bad vertices: start, at. */
static talus_status list_tets(const tl_tetmesh *m, work *w, talus_error *err)
{
    memset(w->start, 0, sizeof(int64_t) * ((size_t)m->vertices + 1));
    for (int32_t t = 0; t < m->tets; t++)
        for (int i = 0; i < 4; i++)
            if (w->bad[m->tet[t][i]]) w->start[m->tet[t][i] + 1]++;
    for (int32_t v = 0; v < m->vertices; v++) w->start[v + 1] += w->start[v];
    int64_t count = w->start[m->vertices];
    w->at = TL_NEW(int32_t, count);
    w->group = TL_NEW(int32_t, count);
    w->gone = TL_NEW_ZERO(uint8_t, m->tets);
    if (!w->at || !w->group || !w->gone) return no_memory(err);
    for (int32_t t = 0; t < m->tets; t++)
        for (int i = 0; i < 4; i++)
            if (w->bad[m->tet[t][i]]) w->at[w->start[m->tet[t][i]]++] = t;
    for (int32_t v = m->vertices; v > 0; v--) w->start[v] = w->start[v - 1];
    w->start[0] = 0;
    return TALUS_OK;
}

static bool share_face(const work *w, int32_t p, int32_t q)
{
    const int32_t *n = w->neighbour[p];
    return n[0] == q || n[1] == q || n[2] == q || n[3] == q;
}

/* Groups of the tets in at[begin, end), all at one vertex, that hang together by faces. Returns how many. */
static int32_t group_tets(work *w, int64_t begin, int64_t end)
{
    int32_t groups = 0;
    for (int64_t i = begin; i < end; i++) w->group[i] = -1;
    for (int64_t seed = begin; seed < end; seed++) {
        if (w->group[seed] >= 0) continue;
        w->group[seed] = groups;
        for (bool grew = true; grew;) {
            grew = false;
            for (int64_t i = begin; i < end; i++)
                for (int64_t k = begin; k < end && w->group[i] == groups; k++)
                    if (w->group[k] < 0 && share_face(w, w->at[i], w->at[k])) w->group[k] = groups, grew = true;
        }
        groups++;
    }
    return groups;
}

/* Each group of tets at a bad vertex but the first gets a copy of the vertex. */
static talus_status split_vertices(tl_tetmesh *m, work *w, int32_t *copies, talus_error *err)
{
    int32_t room = 0, old = m->vertices;
    *copies = 0;
    for (int32_t v = 0; v < old; v++)
        if (w->bad[v]) room += group_tets(w, w->start[v], w->start[v + 1]) - 1;
    if (room == 0) return TALUS_OK;
    tl_vec3 *more = tl_realloc(m->vertex, sizeof *more * ((size_t)old + (size_t)room));
    if (!more) return no_memory(err);
    m->vertex = more;
    for (int32_t v = 0; v < old; v++) {
        int32_t last = 0;
        for (int64_t i = w->start[v]; i < w->start[v + 1]; i++) {
            if (w->group[i] > last) last = w->group[i];
            for (int k = 0; k < 4 && w->group[i] > 0; k++)
                if (m->tet[w->at[i]][k] == v) m->tet[w->at[i]][k] = m->vertices + w->group[i] - 1;
        }
        for (int32_t g = 0; g < last; g++) m->vertex[m->vertices + g] = m->vertex[v];
        m->vertices += last;
    }
    *copies = m->vertices - old;
    return TALUS_OK;
}

/* Tets around bad edges go; when all edges are good, tets around bad vertices. */
static int32_t remove_tets(tl_tetmesh *m, work *w, int32_t wrong_edges)
{
    int32_t kept = 0, sides = 3 * w->triangles, before = m->tets;
    for (int32_t s = 0; s < sides && wrong_edges; s++)
        for (int64_t i = w->start[w->ends[s][0]]; i < w->start[w->ends[s][0] + 1] && w->mate[s] < 0; i++) {
            const int32_t *t = m->tet[w->at[i]];
            for (int k = 0; k < 4; k++)
                if (t[k] == w->ends[s][1]) w->gone[w->at[i]] = 1;
        }
    for (int32_t t = 0; t < m->tets && !wrong_edges; t++)
        for (int k = 0; k < 4; k++) w->gone[t] |= w->bad[m->tet[t][k]];
    for (int32_t t = 0; t < m->tets; t++)
        if (!w->gone[t]) memmove(m->tet[kept++], m->tet[t], sizeof *m->tet);
    m->tets = kept;
    return before - kept;
}

static talus_status drop_unused(tl_tetmesh *m, talus_error *err)
{
    int32_t *number = TL_NEW_ZERO(int32_t, m->vertices), kept = 0;
    if (!number) return no_memory(err);
    for (int32_t t = 0; t < m->tets; t++)
        for (int k = 0; k < 4; k++) number[m->tet[t][k]] = 1;
    for (int32_t v = 0; v < m->vertices; v++)
        if (number[v]) {
            m->vertex[kept] = m->vertex[v];
            number[v] = kept++;
        }
    m->vertices = kept;
    for (int32_t t = 0; t < m->tets; t++)
        for (int k = 0; k < 4; k++) m->tet[t][k] = number[m->tet[t][k]];
    tl_free(number);
    return TALUS_OK;
}

/* One look at the boundary, and one repair. */
static talus_status repair(tl_tetmesh *m, work *w, int32_t *split, int32_t *removed, bool *good, talus_error *err)
{
    TL_TRY(find_boundary(m, w, err));
    int32_t wrong_edges = pair_sides(m, w), copies;
    *good = walk_fans(m, w) == 0;
    if (*good) return TALUS_OK;
    TL_TRY(list_tets(m, w, err));
    TL_TRY(split_vertices(m, w, &copies, err));
    *split += copies;
    if (copies == 0) *removed += remove_tets(m, w, wrong_edges);
    return TALUS_OK;
}

talus_status tl_tetmesh_make_manifold(tl_tetmesh *m, int32_t *split_vertices_out, int32_t *removed_tets,
                                      talus_error *err)
{
    bool good = false;
    *split_vertices_out = *removed_tets = 0;
    /* Ends: each round removes a tet or makes a copy, of which there are at most as many as corners of tets. */
    while (!good) {
        work w = {0};
        talus_status status = repair(m, &w, split_vertices_out, removed_tets, &good, err);
        free_work(&w);
        TL_TRY(status);
        if (m->tets == 0)
            return TL_FAIL(
                err, TALUS_BAD_INPUT,
                "the shape is too thin for the lattice: no part of it has a clean boundary; use a smaller edge");
    }
    return *removed_tets > 0 ? drop_unused(m, err) : TALUS_OK;
}
