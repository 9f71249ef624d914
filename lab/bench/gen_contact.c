#include "lab/bench/gen_contact.h"

#include <math.h>

#include "base/alloc.h"

#define TOUCH 1e-9 /* m; faces nearer than this touch, overlaps thinner than this do not count */

/* The rectangle in which box b rests on box a (a NULL: the ground): lo and hi in x and z. */
static int rests_on(const tl_gen_box *b, const tl_gen_box *a, double lo[2], double hi[2])
{
    double floor = a ? a->center[1] + 0.5 * a->size[1] : 0;
    if (fabs(b->center[1] - 0.5 * b->size[1] - floor) > TOUCH) return 0;
    for (int k = 0; k < 2; k++) {
        int axis = 2 * k;
        lo[k] = b->center[axis] - 0.5 * b->size[axis];
        hi[k] = b->center[axis] + 0.5 * b->size[axis];
        if (a) {
            lo[k] = fmax(lo[k], a->center[axis] - 0.5 * a->size[axis]);
            hi[k] = fmin(hi[k], a->center[axis] + 0.5 * a->size[axis]);
        }
        if (hi[k] - lo[k] <= TOUCH) return 0;
    }
    return 1;
}

/* Six entries of a row of J: sign * (d, arm x d). */
static int64_t put_row(tl_csr *J, int64_t at, int32_t body, double sign, const double d[3], const double point[3],
                       const double center[3])
{
    double arm[3] = {point[0] - center[0], point[1] - center[1], point[2] - center[2]};
    double row[6] = {
        d[0], d[1], d[2], arm[1] * d[2] - arm[2] * d[1], arm[2] * d[0] - arm[0] * d[2], arm[0] * d[1] - arm[1] * d[0]};
    for (int k = 0; k < 6; k++) {
        J->col[at] = 6 * body + k;
        J->val[at++] = sign * row[k];
    }
    return at;
}

/* Four contacts of box b on box a (a < 0: the ground); the normal is up, towards b. */
static void put_contacts(tl_csr *J, int32_t *rows, const tl_gen_box *box, int32_t b, int32_t a, const double lo[2],
                         const double hi[2])
{
    static const double frame[3][3] = {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}; /* n, t1, t2: right-handed */
    for (int corner = 0; corner < 4; corner++) {
        double point[3] = {corner & 1 ? hi[0] : lo[0], box[b].center[1] - 0.5 * box[b].size[1],
                           corner & 2 ? hi[1] : lo[1]};
        for (int r = 0; r < 3; r++) {
            int64_t at = J->start[*rows];
            if (a >= 0 && a < b) at = put_row(J, at, a, -1, frame[r], point, box[a].center);
            at = put_row(J, at, b, 1, frame[r], point, box[b].center);
            if (a > b) at = put_row(J, at, a, -1, frame[r], point, box[a].center);
            J->start[++*rows] = at;
        }
    }
}

static talus_status find_contacts(tl_csr *J, int32_t count, const tl_gen_box *box, talus_error *err)
{
    double lo[2], hi[2];
    int64_t faces = 0, on_ground = 0;
    for (int32_t b = 0; b < count; b++)
        for (int32_t a = -1; a < count; a++)
            if (a != b && rests_on(&box[b], a < 0 ? NULL : &box[a], lo, hi)) {
                faces++;
                if (a < 0) on_ground++;
            }
    if (12 * faces > INT32_MAX || 6 * (int64_t)count > INT32_MAX)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%d boxes touch on %lld faces: too many", (int)count, (long long)faces);
    TL_TRY(tl_csr_create(J, (int32_t)(12 * faces), 6 * count, 12 * (12 * faces - 6 * on_ground), err));
    int32_t rows = 0;
    for (int32_t b = 0; b < count; b++)
        for (int32_t a = -1; a < count; a++)
            if (a != b && rests_on(&box[b], a < 0 ? NULL : &box[a], lo, hi)) put_contacts(J, &rows, box, b, a, lo, hi);
    return TALUS_OK;
}

static void set_body(tl_gen_contact *g, int32_t i, const tl_gen_box *b, const double gravity[3], double dt)
{
    double *inertia = g->inv_inertia + 9 * (int64_t)i, *v = g->v_free + 6 * (int64_t)i;
    if (b->mass == 0) return;
    g->inv_mass[i] = 1 / b->mass;
    for (int k = 0; k < 3; k++) {
        double p = b->size[(k + 1) % 3], q = b->size[(k + 2) % 3];
        inertia[4 * k] = 12 / (b->mass * (p * p + q * q));
        v[k] = dt * gravity[k];
    }
}

static talus_status generate(tl_gen_contact *g, int32_t count, const tl_gen_box *box, double mu,
                             const double gravity[3], double dt, talus_error *err)
{
    TL_TRY(find_contacts(&g->J, count, box, err));
    int32_t m = g->J.rows / 3;
    g->inv_mass = TL_NEW_ZERO(double, count);
    g->inv_inertia = TL_NEW_ZERO(double, 9 * (int64_t)count);
    g->v_free = TL_NEW_ZERO(double, 6 * (int64_t)count);
    g->mu = TL_NEW(double, m);
    if (!g->inv_mass || !g->inv_inertia || !g->v_free || !g->mu)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d boxes", (int)count);
    for (int32_t i = 0; i < count; i++) set_body(g, i, &box[i], gravity, dt);
    for (int32_t c = 0; c < m; c++) g->mu[c] = mu;

    g->bodies = (tl_contact_bodies){count, g->inv_mass, g->inv_inertia, &g->J, g->v_free};
    TL_TRY(tl_contact_assemble(&g->data, &g->bodies, NULL, err));
    g->space = tl_space_local(3 * (int64_t)m);
    g->problem = (tl_contact){.space = &g->space,
                              .W = tl_linop_csr(&g->data.W),
                              .blocks = g->data.blocks,
                              .q = g->data.q,
                              .mu = g->mu,
                              .bodies = &g->bodies};
    return TALUS_OK;
}

talus_status tl_gen_contact_boxes(tl_gen_contact *g, int32_t count, const tl_gen_box *box, double mu,
                                  const double gravity[3], double dt, talus_error *err)
{
    *g = (tl_gen_contact){0};
    for (int32_t i = 0; i < count; i++)
        if (!(box[i].mass >= 0) || !(box[i].size[0] > 0) || !(box[i].size[1] > 0) || !(box[i].size[2] > 0))
            return TL_FAIL(err, TALUS_BAD_INPUT,
                           "box %d: mass must be >= 0 and edges > 0, got %g kg and (%g, %g, %g) m", (int)i, box[i].mass,
                           box[i].size[0], box[i].size[1], box[i].size[2]);
    talus_status status = generate(g, count, box, mu, gravity, dt, err);
    if (status != TALUS_OK) tl_gen_contact_free(g);
    return status;
}

static const double down[3] = {0, -9.81, 0};
#define DT 0.01

talus_status tl_gen_contact_stack(tl_gen_contact *g, int32_t count, const double *mass, double mu, talus_error *err)
{
    *g = (tl_gen_contact){0};
    tl_gen_box *box = TL_NEW(tl_gen_box, count);
    if (!box) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d boxes", (int)count);
    for (int32_t i = 0; i < count; i++) box[i] = (tl_gen_box){{0, 0.2 * i + 0.1, 0}, {0.2, 0.2, 0.2}, mass[i]};
    talus_status status = tl_gen_contact_boxes(g, count, box, mu, down, DT, err);
    tl_free(box);
    return status;
}

talus_status tl_gen_contact_wall(tl_gen_contact *g, int32_t rows, int32_t bricks, double top_scale, double mu,
                                 talus_error *err)
{
    *g = (tl_gen_contact){0};
    if (rows < 1 || bricks < 1 || (int64_t)rows * bricks > INT32_MAX / 6)
        return TL_FAIL(err, TALUS_BAD_INPUT, "a wall needs at least one brick, got %d rows of %d", (int)rows,
                       (int)bricks);
    tl_gen_box *box = TL_NEW(tl_gen_box, (int64_t)rows * bricks);
    if (!box) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d rows of %d bricks", (int)rows, (int)bricks);
    for (int32_t r = 0; r < rows; r++)
        for (int32_t k = 0; k < bricks; k++)
            box[r * bricks + k] = (tl_gen_box){
                {0.2 * k + (r % 2 ? 0.1 : 0), 0.1 * r + 0.05, 0}, {0.2, 0.1, 0.1}, r == rows - 1 ? 4 * top_scale : 4};
    talus_status status = tl_gen_contact_boxes(g, rows * bricks, box, mu, down, DT, err);
    tl_free(box);
    return status;
}

void tl_gen_contact_free(tl_gen_contact *g)
{
    tl_contact_assembled_free(&g->data);
    tl_csr_free(&g->J);
    tl_free(g->inv_mass);
    tl_free(g->inv_inertia);
    tl_free(g->v_free);
    tl_free(g->mu);
    *g = (tl_gen_contact){0};
}
