#include "lab/bench/gen_cone.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"

#define PI 3.14159265358979323846
#define GRAVITY 9.81

void tl_gen_cone_free(tl_gen_cone *g)
{
    tl_csr_free(&g->A);
    tl_free(g->b);
    tl_free(g->radius);
    *g = (tl_gen_cone){.kinetic = 0};
}

/* Fill the problem around g->A; b and radius are zero. */
static talus_status frame(tl_gen_cone *g, int32_t size, talus_error *err)
{
    int32_t n = g->A.rows;
    g->b = TL_NEW_ZERO(double, n);
    g->radius = TL_NEW_ZERO(double, n / size);
    if (!g->b || !g->radius) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a cone problem of %d unknowns", n);
    g->space = tl_space_local(n);
    g->problem = (tl_cone){.space = &g->space, .A = tl_linop_csr(&g->A), .b = g->b, .radius = g->radius, .size = size};
    if (size == 5)
        tl_cone_stress_form(g->problem.Q);
    else
        tl_cone_identity(size, g->problem.Q);
    return TALUS_OK;
}

/* ---- random ---- */

/* A = U diag(d) U' with U a product of n random reflections; v [n] and Av [n] are scratch. */
static void random_spectrum(const tl_gen_cone_spec *spec, int32_t n, double *A, double *v, double *Av)
{
    memset(A, 0, sizeof *A * (size_t)n * (size_t)n);
    for (int32_t i = 0; i < n; i++) {
        /* zeros sit at evenly spread places, so that groups differ */
        int32_t rank = n - spec->null_modes;
        bool null = spec->null_modes > 0 && i % ((n + spec->null_modes - 1) / spec->null_modes) == 0;
        A[i * (int64_t)n + i] = null ? 0 : pow(spec->condition, rank > 1 ? tl_random(spec->seed, (uint64_t)i, 1) : 0.0);
    }
    for (int32_t k = 0; k < n; k++) {
        double norm = 0, vAv = 0;
        for (int32_t i = 0; i < n; i++) {
            v[i] = tl_random_normal(spec->seed + 1, (uint64_t)i, (uint64_t)k);
            norm += v[i] * v[i];
        }
        for (int32_t i = 0; i < n; i++) v[i] /= sqrt(norm);
        for (int32_t i = 0; i < n; i++) {
            Av[i] = 0;
            for (int32_t j = 0; j < n; j++) Av[i] += A[i * (int64_t)n + j] * v[j];
            vAv += v[i] * Av[i];
        }
        /* (I - 2vv') A (I - 2vv') = A - 2 v (Av)' - 2 (Av) v' + 4 vAv vv', written symmetrically */
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j <= i; j++) {
                double a = A[i * (int64_t)n + j] - 2 * (v[i] * Av[j] + Av[i] * v[j]) + 4 * vAv * (v[i] * v[j]);
                A[i * (int64_t)n + j] = A[j * (int64_t)n + i] = a;
            }
    }
}

static double length_of(const tl_cone *p, const double *x)
{
    double s = 0;
    for (int i = 0; i < p->size; i++)
        for (int j = 0; j < p->size; j++) s += x[i] * p->Q[i * p->size + j] * x[j];
    return sqrt(s);
}

static talus_status random_into(tl_gen_cone *g, const tl_gen_cone_spec *spec, talus_error *err)
{
    int32_t n = spec->groups * spec->size;
    TL_TRY(tl_csr_create(&g->A, n, n, (int64_t)n * n, err));
    for (int32_t i = 0; i <= n; i++) g->A.start[i] = (int64_t)i * n;
    for (int64_t k = 0; k < (int64_t)n * n; k++) g->A.col[k] = (int32_t)(k % n);
    TL_TRY(frame(g, spec->size, err));
    double *x = TL_NEW(double, n);
    if (!x) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a cone problem of %d unknowns", n);
    random_spectrum(spec, n, g->A.val, x, g->b);

    /* b = A x for a random x, so that x is where E is lowest without cones */
    for (int32_t i = 0; i < n; i++) x[i] = tl_random_normal(spec->seed + 2, (uint64_t)i, 0);
    tl_csr_mul(&g->A, x, g->b);
    for (int32_t i = 0; i < n && spec->null_modes > 0; i++) g->b[i] += tl_random_normal(spec->seed + 3, (uint64_t)i, 0);
    for (int32_t k = 0; k < spec->groups; k++) {
        double length = length_of(&g->problem, x + k * spec->size);
        g->radius[k] = spec->tightness * length * (0.5 + tl_random(spec->seed + 4, (uint64_t)k, 0));
        if (spec->huge && k % spec->huge == spec->huge - 1) g->radius[k] = 1000 * length;
        if (spec->pinned && k % spec->pinned == spec->pinned - 1) g->radius[k] = 0;
    }
    tl_free(x);
    return TALUS_OK;
}

talus_status tl_gen_cone_random(tl_gen_cone *g, const tl_gen_cone_spec *spec, talus_error *err)
{
    *g = (tl_gen_cone){.kinetic = 0};
    if (spec->size < 1 || spec->size > TL_CONE_MAX || spec->groups < 1 || (int64_t)spec->size * spec->groups > 4000)
        return TL_FAIL(err, TALUS_BAD_INPUT, "random cone problem: %d groups of %d is not 1 to 4000 unknowns",
                       spec->groups, spec->size);
    if (!(spec->condition >= 1) || spec->null_modes < 0 || spec->null_modes >= spec->size * spec->groups)
        return TL_FAIL(err, TALUS_BAD_INPUT, "random cone problem: condition %g must be >= 1, null modes %d below %d",
                       spec->condition, spec->null_modes, spec->size * spec->groups);
    talus_status status = random_into(g, spec, err);
    if (status != TALUS_OK) tl_gen_cone_free(g);
    return status;
}

/* ---- triplets of a sparse matrix while it is built ---- */

typedef struct triplets {
    int64_t count, capacity;
    int32_t *row, *col;
    double *val;
} triplets;

static talus_status triplets_create(triplets *t, int64_t capacity, talus_error *err)
{
    *t = (triplets){0, capacity, TL_NEW(int32_t, capacity), TL_NEW(int32_t, capacity), TL_NEW(double, capacity)};
    if (t->row && t->col && t->val) return TALUS_OK;
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld matrix entries", (long long)capacity);
}

static void triplets_free(triplets *t)
{
    tl_free(t->row);
    tl_free(t->col);
    tl_free(t->val);
}

static void put(triplets *t, int32_t row, int64_t col, double val)
{
    TL_ASSERT(t->count < t->capacity);
    t->row[t->count] = row;
    t->col[t->count] = (int32_t)col;
    t->val[t->count++] = val;
}

/* ---- stress ---- */

typedef struct sand {
    int32_t n[3]; /* cells along x, y, z */
    double dx;
    triplets K;
    double *H, *u; /* [faces] dt over density, velocity before the solve */
} sand;

static bool in_box(const sand *s, const int32_t c[3])
{
    for (int a = 0; a < 3; a++)
        if (c[a] < 0 || c[a] >= s->n[a]) return false;
    return true;
}

static int64_t cell_at(const sand *s, const int32_t c[3]) { return ((int64_t)c[0] * s->n[1] + c[1]) * s->n[2] + c[2]; }

enum { XX, XY, XZ, YZ, ZZ }; /* order of a group */
static const int shear[3][3] = {{-1, XY, XZ}, {XY, -1, YZ}, {XZ, YZ, -1}};

/* Add weight times the mean of a shear component over the four cells around an edge, to the row of a
 * face. `corner` is the cell on the low side of the edge along axes a and d. Edges at the free
 * surface carry nothing; cells behind a wall count as zero. */
static void put_edge(sand *s, int32_t row, const int32_t corner[3], int a, int d, double weight)
{
    int32_t c[3];
    for (int k = 0; k < 4; k++) {
        memcpy(c, corner, sizeof c);
        c[a] += k & 1, c[d] += k >> 1;
        if (c[1] >= s->n[1]) return;
    }
    for (int k = 0; k < 4; k++) {
        memcpy(c, corner, sizeof c);
        c[a] += k & 1, c[d] += k >> 1;
        if (in_box(s, c)) put(&s->K, row, 5 * cell_at(s, c) + shear[a][d], 0.25 * weight);
    }
}

/* One row of K = -div: the face on the low side of cell c along axis a. */
static void put_face(sand *s, int32_t row, const int32_t c[3], int a)
{
    for (int side = 0; side < 2; side++) { /* low cell, then high cell */
        int32_t at[3] = {c[0], c[1], c[2]};
        at[a] -= 1 - side;
        double sign = (side ? 1 : -1) / s->dx;
        if (!in_box(s, at)) continue;
        int64_t k = 5 * cell_at(s, at);
        if (a == 0) put(&s->K, row, k + XX, -sign);
        if (a == 1) put(&s->K, row, k + XX, sign), put(&s->K, row, k + ZZ, sign); /* yy = -xx - zz */
        if (a == 2) put(&s->K, row, k + ZZ, -sign);
    }
    for (int d = 0; d < 3; d++) {
        if (d == a) continue;
        int32_t corner[3] = {c[0], c[1], c[2]};
        corner[a] -= 1;
        put_edge(s, row, corner, a, d, -1 / s->dx);
        corner[d] -= 1;
        put_edge(s, row, corner, a, d, 1 / s->dx);
    }
}

static const double density = 1600, dt = 5e-3, alpha = 0.70710678118654752; /* dry sand, theta = 30 degrees */

/* All faces that can move: inside the box and on its top. */
static int32_t put_faces(sand *s, uint64_t seed)
{
    int32_t row = 0, c[3];
    for (int a = 0; a < 3; a++)
        for (c[0] = a == 0; c[0] < s->n[0]; c[0]++)
            for (c[1] = a == 1; c[1] < s->n[1] + (a == 1); c[1]++)
                for (c[2] = a == 2; c[2] < s->n[2]; c[2]++) {
                    bool top = c[1] == s->n[1];
                    double noise = tl_random(seed, (uint64_t)row, 1);
                    put_face(s, row, c, a);
                    s->H[row] = dt / (density * (top ? 0.05 + 0.5 * noise : 0.8 + 0.4 * noise));
                    /* collapse: falls, and spreads from the middle */
                    s->u[row] = a == 1 ? -GRAVITY * dt : (c[a] / (double)s->n[a] - 0.5);
                    s->u[row] += 0.2 * (tl_random(seed, (uint64_t)row, 2) - 0.5);
                    row++;
                }
    return row;
}

static talus_status stress_into(tl_gen_cone *g, sand *s, uint64_t seed, talus_error *err)
{
    int64_t cells = (int64_t)s->n[0] * s->n[1] * s->n[2];
    int64_t max = 3 * cells + (int64_t)s->n[0] * s->n[2];
    TL_TRY(triplets_create(&s->K, 20 * max, err));
    s->H = TL_NEW(double, max);
    s->u = TL_NEW(double, max);
    if (!s->H || !s->u) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld faces", (long long)max);
    int32_t faces = put_faces(s, seed);

    tl_csr K = {0}, T = {0};
    talus_status status =
        tl_csr_from_triplets(&K, faces, (int32_t)(5 * cells), s->K.count, s->K.row, s->K.col, s->K.val, err);
    if (status == TALUS_OK) status = tl_csr_gram(&g->A, &K, s->H, err);
    if (status == TALUS_OK) status = frame(g, 5, err);
    if (status == TALUS_OK) status = tl_csr_transpose(&T, &K, err);
    if (status == TALUS_OK) {
        tl_csr_mul(&T, s->u, g->b);
        int32_t c[3];
        for (c[0] = 0; c[0] < s->n[0]; c[0]++)
            for (c[1] = 0; c[1] < s->n[1]; c[1]++)
                for (c[2] = 0; c[2] < s->n[2]; c[2]++)
                    g->radius[cell_at(s, c)] = alpha * density * GRAVITY * s->dx * (s->n[1] - c[1] - 0.5);
    }
    tl_csr_free(&K);
    tl_csr_free(&T);
    return status;
}

talus_status tl_gen_cone_stress(tl_gen_cone *g, int32_t nx, int32_t ny, int32_t nz, uint64_t seed, talus_error *err)
{
    *g = (tl_gen_cone){.kinetic = 0};
    if (nx < 1 || ny < 1 || nz < 1 || (double)nx * ny * nz > 1e7)
        return TL_FAIL(err, TALUS_BAD_INPUT, "sand box: %d x %d x %d is not 1 to 1e7 cells", nx, ny, nz);
    sand s = {.n = {nx, ny, nz}, .dx = 1.0 / 32};
    talus_status status = stress_into(g, &s, seed, err);
    triplets_free(&s.K);
    tl_free(s.H);
    tl_free(s.u);
    if (status != TALUS_OK) tl_gen_cone_free(g);
    return status;
}

/* ---- blocks ---- */

#define EDGE 0.2  /* m */
#define STEP 0.01 /* s */

typedef struct pile {
    const tl_gen_cone_blocks_spec *spec;
    int32_t bodies;
    double *mass;     /* [bodies], index column * levels + level; plane normal is y, columns along x */
    double *inverse;  /* [6 bodies] dt over mass, dt over inertia */
    double *velocity; /* [6 bodies] linear, angular; before friction */
    triplets B;       /* rows: body coordinates, columns: 2 per contact */
    double *normal;   /* [contacts] frozen normal force, N */
    int32_t contacts;
} pile;

/* A force f at `arm` from the centre, on one body's rows of a column of B, or on its velocity. */
static void act(pile *s, int32_t body, const double arm[3], const double f[3], int64_t column, double scale)
{
    double row[6] = {
        f[0], f[1], f[2], arm[1] * f[2] - arm[2] * f[1], arm[2] * f[0] - arm[0] * f[2], arm[0] * f[1] - arm[1] * f[0]};
    for (int i = 0; i < 6; i++) {
        if (column >= 0 && row[i] != 0) put(&s->B, 6 * body + i, column, scale * row[i]);
        if (column < 0) s->velocity[6 * body + i] += scale * s->inverse[6 * body + i] * row[i];
    }
}

/* Contact of body a (the normal points into it) with body b (-1: fixed), at arms from their centres. */
static void add_contact(pile *s, int32_t a, int32_t b, int axis, const double arm_a[3], double force)
{
    static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double arm_b[3] = {arm_a[0], arm_a[1], arm_a[2]};
    arm_b[axis] = -arm_a[axis];
    for (int k = 0; k < 2; k++) {
        const double *tangent = unit[axis == 0 ? 1 + k : 2 * k];
        act(s, a, arm_a, tangent, 2 * s->contacts + k, 1);
        if (b >= 0) act(s, b, arm_b, tangent, 2 * s->contacts + k, -1);
    }
    double n[3] = {unit[axis][0], unit[axis][1], unit[axis][2]};
    double toward = arm_a[axis] < 0 ? 1 : -1; /* into body a */
    act(s, a, arm_a, n, -1, toward * force);
    if (b >= 0) act(s, b, arm_b, n, -1, -toward * force);
    s->normal[s->contacts++] = force;
}

/* Four corners of the face below or beside a body. */
static void add_face(pile *s, int32_t a, int32_t b, int axis, double side, double force, const double tilt[3])
{
    for (int k = 0; k < 4; k++) {
        double u = (k & 1 ? 0.5 : -0.5) * EDGE, v = (k & 2 ? 0.5 : -0.5) * EDGE;
        double arm[3] = {u, u, v};
        arm[axis] = side * 0.5 * EDGE;
        if (axis == 1) arm[0] = u;
        double here = force / 4 + (tilt ? tilt[0] * arm[0] + tilt[2] * arm[2] : 0);
        add_contact(s, a, b, axis, arm, fmax(here, 0));
    }
}

static void add_column(pile *s, int32_t column)
{
    const tl_gen_cone_blocks_spec *spec = s->spec;
    double tilt = spec->tilt_deg * PI / 180, azimuth = spec->azimuth_deg * PI / 180;
    double above = 0, moment = 0; /* mass on top of the interface, and times its height over it */
    for (int32_t level = spec->levels - 1; level >= 0; level--) {
        int32_t a = column * spec->levels + level;
        moment += above * EDGE + s->mass[a] * 0.5 * EDGE;
        above += s->mass[a];
        double normal = above * GRAVITY * cos(tilt);
        double pull = fmin(above * GRAVITY * sin(tilt), spec->friction * normal);
        /* friction below the centre tips the stack downhill: the front corners carry more */
        double lean = pull * (moment / above) / (EDGE * EDGE);
        add_face(s, a, level > 0 ? a - 1 : -1, 1, -1, normal, (double[]){lean * cos(azimuth), 0, lean * sin(azimuth)});
        if (spec->side_press > 0) {
            double press = spec->side_press * s->mass[column * spec->levels] * GRAVITY;
            add_face(s, a, column > 0 ? a - spec->levels : -1, 0, -1, press, NULL);
            if (column == spec->columns - 1) add_face(s, a, -1, 0, 1, press, NULL);
        }
    }
}

static talus_status blocks_into(tl_gen_cone *g, pile *s, talus_error *err)
{
    const tl_gen_cone_blocks_spec *spec = s->spec;
    int32_t max = 4 * (2 * s->bodies + spec->levels);
    s->mass = TL_NEW(double, s->bodies);
    s->inverse = TL_NEW(double, 6 * s->bodies);
    s->velocity = TL_NEW_ZERO(double, 6 * s->bodies);
    s->normal = TL_NEW(double, max);
    TL_TRY(triplets_create(&s->B, (int64_t)max * 2 * 2 * 3, err));
    if (!s->mass || !s->inverse || !s->velocity || !s->normal)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d blocks", s->bodies);

    double tilt = spec->tilt_deg * PI / 180, azimuth = spec->azimuth_deg * PI / 180;
    for (int32_t i = 0; i < s->bodies; i++) {
        s->mass[i] = 8 * (1 + spec->mass_spread * tl_random(spec->seed, (uint64_t)i, 0));
        for (int k = 0; k < 3; k++) {
            s->inverse[6 * i + k] = STEP / s->mass[i];
            s->inverse[6 * i + 3 + k] = STEP / (s->mass[i] * EDGE * EDGE / 6);
        }
        s->velocity[6 * i + 0] = STEP * GRAVITY * sin(tilt) * cos(azimuth);
        s->velocity[6 * i + 1] = -STEP * GRAVITY * cos(tilt);
        s->velocity[6 * i + 2] = STEP * GRAVITY * sin(tilt) * sin(azimuth);
    }
    for (int32_t c = 0; c < spec->columns; c++) add_column(s, c);

    tl_csr B = {0}, T = {0};
    talus_status status =
        tl_csr_from_triplets(&B, 6 * s->bodies, 2 * s->contacts, s->B.count, s->B.row, s->B.col, s->B.val, err);
    if (status == TALUS_OK) status = tl_csr_gram(&g->A, &B, s->inverse, err);
    if (status == TALUS_OK) status = frame(g, 2, err);
    if (status == TALUS_OK) status = tl_csr_transpose(&T, &B, err);
    if (status == TALUS_OK) {
        tl_csr_mul(&T, s->velocity, g->b);
        for (int32_t i = 0; i < g->A.rows; i++) g->b[i] = -g->b[i];
        for (int32_t k = 0; k < s->contacts; k++) g->radius[k] = spec->friction * s->normal[k];
        for (int32_t i = 0; i < 6 * s->bodies; i++) g->kinetic += 0.5 * s->velocity[i] * s->velocity[i] / s->inverse[i];
    }
    tl_csr_free(&B);
    tl_csr_free(&T);
    return status;
}

talus_status tl_gen_cone_blocks(tl_gen_cone *g, const tl_gen_cone_blocks_spec *spec, talus_error *err)
{
    *g = (tl_gen_cone){.kinetic = 0};
    if (spec->columns < 1 || spec->levels < 1 || (double)spec->columns * spec->levels > 1e6)
        return TL_FAIL(err, TALUS_BAD_INPUT, "blocks: %d columns of %d is not 1 to 1e6 blocks", spec->columns,
                       spec->levels);
    if (!(spec->friction >= 0) || !(spec->tilt_deg >= 0 && spec->tilt_deg < 90))
        return TL_FAIL(err, TALUS_BAD_INPUT, "blocks: friction %g must be >= 0 and tilt %g in [0, 90) degrees",
                       spec->friction, spec->tilt_deg);
    pile s = {.spec = spec, .bodies = spec->columns * spec->levels};
    talus_status status = blocks_into(g, &s, err);
    tl_free(s.mass);
    tl_free(s.inverse);
    tl_free(s.velocity);
    tl_free(s.normal);
    triplets_free(&s.B);
    if (status != TALUS_OK) tl_gen_cone_free(g);
    return status;
}
