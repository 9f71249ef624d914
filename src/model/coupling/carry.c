#include "model/coupling/carry.h"

#include <string.h>

#include "base/comm.h"
#include "base/parallel.h"

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for faces that go with others");
}

typedef struct finder {
    const tl_grid *g;
    const tl_faces *faces;
    const tl_fractions *fractions;
    const tl_coupling *c;
    int32_t *const *of;
    const tl_pieces *pieces; /* NULL: sand */
} finder;

/* Stress reaches some faces of the lists that no pressure holds: what a solve would leave there is noise. */
static bool has_pressure(const finder *d, int32_t f)
{
    return d->c->low[f] != d->c->cells || d->c->high[f] != d->c->cells;
}

/* Beside a face of the lists, across corners too: grains there touch what has a pressure. */
static bool is_beside(const finder *d, int axis, int32_t id)
{
    const int32_t *of = d->of[axis];
    for (int x = -1; x <= 1; x++) {
        int32_t at_x = x ? tl_grid_step(d->g, id, 0, x) : id;
        for (int y = -1; y <= 1; y++) {
            int32_t at = y ? tl_grid_step(d->g, at_x, 1, y) : at_x;
            if (of[at] >= 0 || of[tl_grid_step(d->g, at, 2, -1)] >= 0 || of[tl_grid_step(d->g, at, 2, 1)] >= 0)
                return true;
        }
    }
    return false;
}

static bool stands_alone(const finder *d, int axis, int32_t id)
{
    if (d->pieces)
        return (d->faces->mass[axis][id] > 0 || d->of[axis][id] >= 0) &&
               (d->fractions->open[axis][id] > 0 || !tl_face_is_free(d->pieces, d->g, axis, id));
    if (!(d->fractions->open[axis][id] > 0)) return false;
    if (d->of[axis][id] >= 0) return has_pressure(d, d->of[axis][id]);
    return d->faces->mass[axis][id] > 0 && !is_beside(d, axis, id);
}

static void clear_halo(const tl_grid *g, double *x)
{
    const int64_t own = tl_grid_owned_cells(g), exist = (int64_t)g->blocks * g->f.size;
    memset(x + own, 0, sizeof *x * (size_t)(exist - own));
}

/* Neighbours whose mean a face of a layer takes. */
static int sources_of(const tl_grid *g, const uint8_t *known, int32_t id, int32_t out[6])
{
    int count = 0;
    for (int k = 0; k < 6; k++) {
        int32_t at = tl_grid_step(g, id, k / 2, k & 1 ? 1 : -1);
        if (known[at] && known[at] < known[id]) out[count++] = at;
    }
    return count;
}

#define FURTHEST (TL_EXTRAPOLATE_LAYERS + 1)

/* What faces of later layers hold goes to earlier ones, furthest first. In several parts what goes to faces of others
 * is with these before the next layer; value is then 0 in the halo, and is so again. */
static void hand_over(const tl_carry *c, const tl_grid *g, int axis, double *value)
{
    for (int layer = FURTHEST; layer > 1; layer--) {
        for (int32_t k = c->begin[axis][layer]; k < c->begin[axis][layer - 1]; k++) {
            int32_t id = c->face[axis][k], from[6];
            int count = sources_of(g, c->known[axis], id, from);
            double part = value[id] / count;
            for (int j = 0; j < count; j++) value[from[j]] += part;
            value[id] = 0;
        }
        tl_grid_add_halo(g, value);
        clear_halo(g, value);
    }
}

/* Layer by layer, every face that may have to hand something over: those of one layer pass on what the next gave
 * them. */
static talus_status list_faces(tl_carry *out, const tl_grid *g, int axis, tl_arena *a, talus_error *err)
{
    const int32_t own = tl_grid_owned_cells(g);
    const uint8_t *known = out->known[axis];
    int32_t of_layer[FURTHEST + 1] = {0}, at[FURTHEST + 1], total = 0;
    for (int32_t i = 0; i < own; i++) of_layer[known[i]]++;
    for (int k = FURTHEST; k > 1; k--) {
        out->begin[axis][k] = at[k] = total;
        total += of_layer[k];
    }
    out->begin[axis][1] = total;
    out->face[axis] = TL_TAKE(a, int32_t, total);
    TL_TRY(tl_comm_agree(g->comm, out->face[axis] ? TALUS_OK : no_memory(err), err));
    for (int32_t i = 0; i < own; i++)
        if (known[i] > 1) out->face[axis][at[known[i]]++] = i;
    return TALUS_OK;
}

/* Those with nothing on them have nothing to hand over. used [cells]: 0, what hands something to them counts there. */
static void drop_empty(tl_carry *out, int axis, const double *mass, const tl_grid *g, double *used)
{
    int32_t kept = 0;
    for (int layer = FURTHEST; layer > 1; layer--) {
        const int32_t first = out->begin[axis][layer], end = out->begin[axis][layer - 1];
        out->begin[axis][layer] = kept;
        for (int32_t k = first; k < end; k++) {
            int32_t id = out->face[axis][k], from[6];
            if (!(mass[id] > 0) && !(used[id] > 0)) continue;
            int count = sources_of(g, out->known[axis], id, from);
            for (int j = 0; j < count; j++) used[from[j]] = 1;
            out->face[axis][kept++] = id;
        }
        tl_grid_add_halo(g, used);
        clear_halo(g, used);
    }
    out->begin[axis][1] = kept;
}

/* Matter that no layer reaches. */
static bool is_left(const finder *d, const tl_carry *c, int axis, int32_t id)
{
    return !c->known[axis][id] && d->faces->mass[axis][id] > 0;
}

/* A face beside the pile that no layer reaches stands alone after all, and so does one of a grain of which solids
 * cover all faces: what it has would be nobody's. */
static talus_status find_layers(const finder *d, int32_t own, tl_carry *out, tl_arena *a, talus_error *err)
{
    for (bool again = true; again;) {
        TL_TRY(tl_extrapolate(d->g, TL_EXTRAPOLATE_LAYERS, NULL, out->known, a, err));
        again = false;
        for (int axis = 0; axis < 3; axis++)
            for (int32_t i = 0; i < own; i++) again |= is_left(d, out, axis, i);
        again = tl_comm_max(d->g->comm, again) > 0;
        if (!again) break;
        for (int axis = 0; axis < 3; axis++) {
            for (int32_t i = 0; i < own; i++) {
                uint8_t *k = &out->known[axis][i];
                *k = *k == 1 || is_left(d, out, axis, i);
            }
            tl_grid_refresh(d->g, sizeof(uint8_t), out->known[axis]);
        }
    }
    return TALUS_OK;
}

talus_status tl_carry_find(tl_carry *out, const tl_grid *g, const tl_faces *faces, const tl_fractions *fractions,
                           const tl_face_lists *lists, const tl_pieces *pieces, tl_arena *a, talus_error *err)
{
    const finder d = {g, faces, fractions, lists->c, lists->of, pieces};
    const int32_t own = tl_grid_owned_cells(g);
    *out = (tl_carry){0};
    bool good = true;
    for (int axis = 0; axis < 3; axis++) {
        good &= (out->known[axis] = TL_TAKE_ZERO(a, uint8_t, g->cells)) != NULL;
        good &= (out->mass[axis] = TL_TAKE(a, double, g->cells)) != NULL;
    }
    TL_TRY(tl_comm_agree(g->comm, good ? TALUS_OK : no_memory(err), err));
    for (int axis = 0; axis < 3; axis++) {
        uint8_t *known = out->known[axis];
#pragma omp parallel for schedule(static) if (own >= TL_PARALLEL_MIN / 8)
        for (int32_t i = 0; i < own; i++) known[i] = stands_alone(&d, axis, i);
        tl_grid_refresh(g, sizeof *known, known);
    }
    TL_TRY(find_layers(&d, own, out, a, err));
    for (int axis = 0; axis < 3; axis++) {
        const double *mass = faces->mass[axis];
        memcpy(out->mass[axis], mass, sizeof *mass * (size_t)g->cells);
        clear_halo(g, out->mass[axis]);
        TL_TRY(list_faces(out, g, axis, a, err));
        size_t mark = tl_arena_mark(a);
        double *used = TL_TAKE_ZERO(a, double, g->cells);
        TL_TRY(tl_comm_agree(g->comm, used ? TALUS_OK : no_memory(err), err));
        drop_empty(out, axis, mass, g, used);
        tl_arena_release(a, mark);
        hand_over(out, g, axis, out->mass[axis]);
        tl_grid_refresh(g, sizeof *mass, out->mass[axis]);
    }
    return TALUS_OK;
}

talus_status tl_carry_velocities(const tl_carry *c, const tl_grid *g, tl_faces *faces, tl_arena *a, talus_error *err)
{
    size_t mark = tl_arena_mark(a);
    double *momentum = TL_TAKE(a, double, g->cells);
    TL_TRY(tl_comm_agree(g->comm, momentum ? TALUS_OK : no_memory(err), err));
    const int64_t own = tl_grid_owned_cells(g);
    for (int axis = 0; axis < 3; axis++) {
        const double *mass = faces->mass[axis], *all = c->mass[axis];
        const uint8_t *known = c->known[axis];
        double *u = faces->u[axis];
        for (int64_t i = 0; i < g->cells; i++) momentum[i] = mass[i] * u[i];
        clear_halo(g, momentum);
        hand_over(c, g, axis, momentum);
        for (int64_t i = 0; i < own; i++)
            if (known[i] == 1 && all[i] > mass[i]) u[i] = momentum[i] / all[i];
        tl_grid_refresh(g, sizeof *u, u);
    }
    tl_arena_release(a, mark);
    return TALUS_OK;
}

void tl_carry_follow(const tl_carry *c, const tl_grid *g, double *const u[3])
{
    for (int axis = 0; axis < 3; axis++)
        for (int layer = 2; layer <= FURTHEST; layer++) {
            for (int32_t k = c->begin[axis][layer - 1] - 1; k >= c->begin[axis][layer]; k--) {
                int32_t id = c->face[axis][k], from[6];
                int count = sources_of(g, c->known[axis], id, from);
                double sum = 0;
                for (int j = 0; j < count; j++) sum += u[axis][from[j]];
                u[axis][id] = sum / count;
            }
            tl_grid_refresh(g, sizeof(double), u[axis]);
        }
}

void tl_carry_impulses(const tl_carry *c, const tl_grid *g, tl_faces *faces, double *const impulse[3])
{
    const int64_t own = tl_grid_owned_cells(g);
    for (int axis = 0; axis < 3; axis++) {
        const double *all = c->known[0] ? c->mass[axis] : faces->mass[axis];
        tl_grid_add_halo(g, impulse[axis]);
        clear_halo(g, impulse[axis]);
        if (c->known[0]) hand_over(c, g, axis, impulse[axis]);
        for (int64_t i = 0; i < own; i++)
            if (impulse[axis][i] != 0 && all[i] > 0) faces->u[axis][i] += impulse[axis][i] / all[i];
        tl_grid_refresh(g, sizeof(double), faces->u[axis]);
    }
}
