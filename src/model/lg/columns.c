#include "model/lg/columns.h"

#include <string.h>

#include "base/alloc.h"

#define BYTES_MAX ((size_t)256 << 20) /* chosen: a surface of 2000 nodes of a body of 16000 */

struct tl_lg_columns {
    const tl_lg *lg;
    double h;
    size_t bytes;
    double **column; /* [nodes] of the node's own body; NULL: not asked for yet */
    uint8_t *used;   /* [nodes] in the step that asks now */
    uint8_t *part;   /* [nodes] of the factor, on the way up from the nodes that are solved for; zero between solves */
};

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the compliance of elastic nodes");
}

talus_status tl_lg_columns_create(tl_lg_columns **out, const tl_lg *lg, talus_error *err)
{
    tl_lg_columns *c = *out = TL_NEW_ZERO(tl_lg_columns, 1);
    if (!c) return no_memory(err);
    c->lg = lg;
    c->column = TL_NEW_ZERO(double *, lg->nodes + 1);
    c->used = TL_NEW_ZERO(uint8_t, lg->nodes + 1);
    c->part = TL_NEW_ZERO(uint8_t, lg->nodes + 1);
    if (c->column && c->used && c->part) return TALUS_OK;
    tl_lg_columns_free(c);
    *out = NULL;
    return no_memory(err);
}

static size_t bytes_of(const tl_lg_columns *c, int32_t node)
{
    return sizeof(double) * (size_t)c->lg->body[c->lg->owner[node]].nodes;
}

static void drop(tl_lg_columns *c, bool all)
{
    for (int32_t i = 0; i < c->lg->nodes && c->column; i++) {
        if (!c->column[i] || (!all && c->used[i])) continue;
        tl_free(c->column[i]);
        c->column[i] = NULL;
        c->bytes -= bytes_of(c, i);
    }
}

void tl_lg_columns_free(tl_lg_columns *c)
{
    if (!c) return;
    drop(c, true);
    tl_free(c->column);
    tl_free(c->used);
    tl_free(c->part);
    tl_free(c);
}

/* Up to three nodes, one per right-hand side. The first half of room is zero before and after. */
static talus_status solve(tl_lg_columns *c, const tl_lg_solver *s, tl_lg_precision p, int count, const int32_t node[3],
                          double *room, talus_error *err)
{
    double *r = room, *x = room + 3 * (int64_t)c->lg->nodes;
    for (int k = 0; k < count; k++) {
        r[3 * (int64_t)node[k] + k] = 1;
        tl_lg_solver_mark(s, node[k], c->part);
    }
    tl_lg_solve_part(s, p, c->part, NULL, r, x);
    for (int k = 0; k < count; k++) {
        r[3 * (int64_t)node[k] + k] = 0;
        tl_lg_solver_unmark(s, node[k], c->part);
    }
    for (int k = 0; k < count; k++) {
        const tl_lg_body *body = &c->lg->body[c->lg->owner[node[k]]];
        double *column = tl_alloc(bytes_of(c, node[k]));
        if (!column) return no_memory(err);
        for (int32_t i = 0; i < body->nodes; i++) column[i] = x[3 * (int64_t)(body->node + i) + k];
        c->column[node[k]] = column;
        c->bytes += bytes_of(c, node[k]);
    }
    return TALUS_OK;
}

talus_status tl_lg_columns_ready(tl_lg_columns *c, const tl_lg_solver *s, tl_lg_precision p, double h, int32_t count,
                                 const int32_t *node, double *room, talus_error *err)
{
    if (c->h != h) drop(c, true);
    c->h = h;
    if (c->bytes > BYTES_MAX) {
        for (int32_t i = 0; i < count; i++) c->used[node[i]] = 1;
        drop(c, false);
        for (int32_t i = 0; i < count; i++) c->used[node[i]] = 0;
    }
    int32_t next[3], waiting = 0;
    for (int32_t i = 0; i < count; i++) {
        if (c->column[node[i]]) continue;
        next[waiting++] = node[i];
        if (waiting < 3) continue;
        TL_TRY(solve(c, s, p, 3, next, room, err));
        waiting = 0;
    }
    return waiting ? solve(c, s, p, waiting, next, room, err) : TALUS_OK;
}

double tl_lg_columns_at(const tl_lg_columns *c, int32_t i, int32_t j)
{
    const int32_t own = c->lg->owner[i];
    return i < j ? c->column[i][j - c->lg->body[own].node] : c->column[j][i - c->lg->body[own].node];
}
