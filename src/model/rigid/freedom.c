#include "model/rigid/freedom.h"

#include <math.h>
#include <string.h>

#include "model/rigid/joints.h"

#define INDEPENDENT 1e-7 /* of a row's length: what has to be left of it once all others are taken out */

static talus_status no_memory(talus_error *err) { return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for mechanisms"); }

typedef struct search {
    const tl_scene *scene;
    tl_rigid rigid; /* bodies of mass and moments of inertia 1 about their frames' origins */
    tl_rigid_state state;
    tl_joints joints;
    int32_t *root;   /* [bodies] */
    int32_t *column; /* [bodies] of the mechanism at work */
    double *basis;   /* [6 bodies][6 bodies] rows that are independent, of length 1 */
    double *row;     /* [6 bodies] */
} search;

static int32_t root_of(int32_t *root, int32_t i)
{
    for (; root[i] != i; i = root[i]) root[i] = root[root[i]];
    return i;
}

static bool is_free(const search *f, int32_t i) { return i >= 0 && f->scene->bodies[i].kind == TL_BODY_FREE; }

/* The mechanism of a joint, by a body. */
static int32_t mechanism_of(const search *f, const tl_joint *j)
{
    return root_of(f->root, is_free(f, j->a) ? j->a : j->b);
}

static void place_bodies(search *f)
{
    for (int i = 0; i < f->scene->body_count; i++) {
        const tl_body *b = &f->scene->bodies[i];
        f->rigid.body[i] = (tl_rigid_body){.kind = b->kind, .mass = 1, .inertia = tl_mat3_identity()};
        f->state.body[i] = (tl_motion){.x = b->at, .q = tl_quat_normalize(b->rotation)};
        f->root[i] = i;
    }
}

/* What of a row is left without those of the basis; false: nothing. Twice, for rounding. */
static bool add_to_basis(search *f, int32_t columns, int32_t rank)
{
    double before = 0, after = 0;
    for (int32_t k = 0; k < columns; k++) before += f->row[k] * f->row[k];
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < rank; i++) {
            const double *b = f->basis + (int64_t)i * columns;
            double dot = 0;
            for (int32_t k = 0; k < columns; k++) dot += b[k] * f->row[k];
            for (int32_t k = 0; k < columns; k++) f->row[k] -= dot * b[k];
        }
    for (int32_t k = 0; k < columns; k++) after += f->row[k] * f->row[k];
    if (!(after > INDEPENDENT * INDEPENDENT * before)) return false;
    for (int32_t k = 0; k < columns; k++) f->basis[(int64_t)rank * columns + k] = f->row[k] / sqrt(after);
    return true;
}

static void put(search *f, int32_t body, tl_vec3 push, tl_vec3 turn)
{
    if (!is_free(f, body)) return;
    tl_vec3_store(push, f->row + 6 * (int64_t)f->column[body]);
    tl_vec3_store(turn, f->row + 6 * (int64_t)f->column[body] + 3);
}

static void count_joint(search *f, int32_t k, int32_t columns, tl_mechanism *m, int32_t *rank)
{
    static const tl_joint_memory start;
    const tl_joint *j = &f->joints.joint[k];
    tl_joint_row row[TL_JOINT_ROWS];
    double turn[2];
    m->joints++;
    tl_joint_measure(j, f->state.body, &start, row, turn);
    for (int r = 0; r < j->rows; r++) {
        if (j->law[r] != TL_ROW_HOLD) continue;
        memset(f->row, 0, sizeof *f->row * (size_t)columns);
        put(f, j->a, row[r].push_a, row[r].turn_a);
        put(f, j->b, row[r].push_b, row[r].turn_b);
        m->rows++;
        if (add_to_basis(f, columns, *rank)) {
            ++*rank;
            continue;
        }
        m->over++;
        if (m->by < 0) m->by = k;
    }
}

static talus_status count_mechanism(search *f, int32_t first, tl_mechanism *m, tl_arena *a, talus_error *err)
{
    const int32_t root = mechanism_of(f, &f->joints.joint[first]);
    int32_t rank = 0;
    *m = (tl_mechanism){.joint = first, .by = -1};
    for (int i = 0; i < f->scene->body_count; i++)
        if (is_free(f, i) && root_of(f->root, i) == root) f->column[i] = m->bodies++;
    const int64_t columns = 6 * (int64_t)m->bodies;
    m->free = -1;
    if (m->bodies > TL_MECHANISM_MAX) return TALUS_OK;
    TL_TRY(tl_arena_reserve(a, TL_ARENA_ROOM(double, columns *columns), err));
    const size_t mark = tl_arena_mark(a);
    f->basis = TL_TAKE(a, double, columns *columns);
    for (int32_t k = first; k < f->joints.count; k++)
        if (mechanism_of(f, &f->joints.joint[k]) == root) count_joint(f, k, 6 * m->bodies, m, &rank);
    m->free = 6 * m->bodies - rank;
    tl_arena_release(a, mark);
    return TALUS_OK;
}

talus_status tl_mechanisms_find(const tl_scene *s, tl_mechanism **out, int32_t *count, tl_arena *a, talus_error *err)
{
    const int64_t n = s->body_count;
    search f = {.scene = s,
                .rigid = {.count = (int32_t)n, .scene_count = (int32_t)n, .body = TL_TAKE(a, tl_rigid_body, n)}};
    f.state.body = TL_TAKE(a, tl_motion, n);
    f.root = TL_TAKE(a, int32_t, n);
    f.column = TL_TAKE(a, int32_t, n);
    f.row = TL_TAKE(a, double, 6 * n);
    *out = TL_TAKE(a, tl_mechanism, s->joint_count);
    *count = 0;
    if (!f.rigid.body || !f.state.body || !f.root || !f.column || !f.row || !*out) return no_memory(err);
    place_bodies(&f);
    TL_TRY(tl_joints_create(&f.joints, s, &f.rigid, &f.state, NULL, err));
    for (int32_t k = 0; k < f.joints.count; k++) {
        const tl_joint *j = &f.joints.joint[k];
        if (!is_free(&f, j->a) || !is_free(&f, j->b)) continue;
        const int32_t x = root_of(f.root, j->a), y = root_of(f.root, j->b);
        f.root[x < y ? y : x] = x < y ? x : y;
    }
    talus_status status = TALUS_OK;
    for (int32_t k = 0; k < f.joints.count && status == TALUS_OK; k++) {
        int32_t i = 0;
        while (i < *count && mechanism_of(&f, &f.joints.joint[(*out)[i].joint]) != mechanism_of(&f, &f.joints.joint[k]))
            i++;
        if (i == *count) status = count_mechanism(&f, k, &(*out)[(*count)++], a, err);
    }
    tl_joints_free(&f.joints);
    return status;
}
