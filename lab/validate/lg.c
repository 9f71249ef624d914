/* The local-global engine: V1 to V6, V9, V10 of its spec; numbers from there unless said. Contact is in
 * lg_contact.c, motion between contacts in lg_motion.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "lab/validate/groups.h"
#include "lab/validate/lg_world.h"
#include "math/svd3.h"
#include "model/lg/cells.h"
#include "model/lg/solver.h"

/* Mean displacement along `axis` of nodes whose rest place has x = 1. */
static double tip(const tl_lg_world *w, int axis)
{
    const tl_lg *lg = &w->sim->lg;
    double sum = 0;
    int count = 0;
    for (int64_t i = 0; i < lg->nodes; i++)
        if (lg->rest[3 * i] > 1 - 1e-9) {
            sum += tl_lg_state_of(&w->sim->state)->q[3 * i + axis] - lg->rest[3 * i + axis];
            count++;
        }
    return sum / count;
}

/* ---- V1 ---- */

/* Steps of implicit Euler fall by h^2 g N (N + 1) / 2, those of second order exactly. */
static talus_status falls(tl_case_log *log, talus_error *err)
{
    static const char *const models[] = {"arap", "corotated", "neo_hookean", "neo_hookean"};
    for (int k = 0; k < 4; k++) {
        tl_lg_world w;
        TL_TRY(tl_lg_world_open(
            &w, err,
            "gravity = {0, 0, -9.81}, lg = { iterations = 5, time = '%s' }, bodies = { { shape = box { size = {1, "
            "0.5, 0.5}, center = {0.5, "
            "0.25, 0.25} }, cells = {4, 2, 2}, "
            "material = elastic { density = 1000, young = 1e6, poisson = 0.3, model = '%s' } } }",
            k == 3 ? "euler" : "bdf2", models[k]));
        talus_status status = tl_lg_world_steps(&w, 100, 0.01, false, err);
        const tl_lg *lg = &w.sim->lg;
        double deformed = 0, fell = -9.81 * 0.01 * 0.01 * 100 * (k == 3 ? 101 : 100) / 2;
        for (int64_t i = 0; i < 3 * (int64_t)lg->nodes; i++)
            deformed =
                fmax(deformed, fabs(tl_lg_state_of(&w.sim->state)->q[i] - lg->rest[i] - (i % 3 == 2 ? fell : 0)));
        tl_case_near(log, "height of the centre of mass, m", tl_lg_world_mean(&w, 2), 0.25 + fell, 1e-9);
        tl_case_below(log, "deformation, m", deformed, 1e-9);
        tl_world_close(&w);
        TL_TRY(status);
    }
    return TALUS_OK;
}

/* ---- V3, V4, V5: a bar held at x = 0 ---- */

#define BAR                                                                                                            \
    "bodies = { { shape = box { size = {1, 0.25, 0.25}, center = {0.5, 0.125, 0.125} }, cells = {8, 2, 2}, element = " \
    "'tetrahedra', anchor = "                                                                                          \
    "box { size = {0.01, 1, 1} }, "                                                                                    \
    "anchor_weight = %g, material = elastic { density = 1000, young = 1e6, poisson = 0.3, model = '%s' } } }"

static talus_status rest_bar(double out[3], const char *gravity, const char *local, double weight, const char *model,
                             talus_error *err)
{
    tl_lg_world w;
    TL_TRY(tl_lg_world_open(&w, err, "gravity = %s, dt_max = 0.05, lg = { iterations = 40, local_step = '%s' }, " BAR,
                            gravity, local, weight, model));
    talus_status status = tl_lg_world_steps(&w, 400, 0.05, true, err);
    for (int k = 0; k < 3; k++) out[k] = tip(&w, k);
    tl_world_close(&w);
    return status;
}

static talus_status hangs(tl_case_log *log, talus_error *err)
{
    static const char *const models[] = {"arap", "corotated", "neo_hookean"};
    static const double expected[] = {6.37678e-3, 4.72993e-3, 4.75348e-3};
    for (int k = 0; k < 3; k++) {
        double at[3];
        TL_TRY(rest_bar(at, "{9.81, 0, 0}", "exact", 1e8, models[k], err));
        tl_case_near(log, "mean displacement of the tip, m", at[0], expected[k], 1e-7);
    }
    return TALUS_OK;
}

static talus_status bends(tl_case_log *log, talus_error *err)
{
    static const char *const models[] = {"arap", "corotated", "neo_hookean"};
    static const double expected[] = {-3.60879e-2, -2.580279e-2, -2.584402e-2};
    for (int k = 0; k < 3; k++) {
        double at[3];
        TL_TRY(rest_bar(at, "{0, 0, -1.962}", "exact", 1e8, models[k], err));
        tl_case_near(log, "mean height of the tip, m", at[2], expected[k], 1e-6);
    }
    return TALUS_OK;
}

static talus_status softens(tl_case_log *log, talus_error *err)
{
    double at[3];
    TL_TRY(rest_bar(at, "{9.81, 0, 0}", "prox", 1e8, "neo_hookean", err));
    tl_case_near(log, "tip of the bar that is not Neo-Hookean, m", at[0], 8.4799e-3, 1e-6);
    return TALUS_OK;
}

/* ---- V2: sizes of L and S ---- */

typedef struct sizes {
    const char *name;
    int x, y, z;         /* cells */
    const char *bending; /* NULL: a bar */
    double L, S;         /* nonzeros, millions */
    double paper;        /* MiB of S, expanded, with indices */
} sizes;
static const sizes tables[] = {
    {"bar 5292", 13, 13, 26, NULL, 0.620, 2.676, 125.02},
    {"bar 11340", 17, 17, 34, NULL, 1.860, 9.991, 463.03},
    {"bar 20812", 21, 21, 42, NULL, 4.405, 27.85, 1310.19},
    {"cloth 5101", 50, 50, 1, "none", 0.076, 0.703, 34.80},
    {"cloth 5101 hinge", 50, 50, 1, "hinge", 0.215, 1.309, 62.37},
    {"cloth 5101 ring", 50, 50, 1, "ring", 0.417, 1.876, 87.08},
    {"cloth 20201", 100, 100, 1, "none", 0.371, 5.741, 280.41},
};

static talus_status mesh_of(const sizes *t, tl_lg *lg, talus_error *err)
{
    tl_box3 box = {{0, 0, 0}, {0.05 * t->x, 0.05 * t->y, t->bending ? 0 : 0.05 * t->z}};
    tl_lg_part p = {.name = t->name,
                    .body = -1,
                    .young = 1e6,
                    .poisson = 0.3,
                    .density = 1000,
                    .thickness = 1e-3,
                    .stiffness = 1e-3};
    tl_lg_mesh mesh;
    p.kind = t->bending ? TL_LG_CLOTH : TL_LG_TETS;
    p.bending = !t->bending || t->bending[0] == 'n' ? TL_LG_LIMP : t->bending[0] == 'h' ? TL_LG_HINGE : TL_LG_RING;
    talus_status status = t->bending ? tl_lg_sheet(box, 2, t->x, t->y, &mesh, err)
                                     : tl_lg_bar(box, (const int[3]){t->x, t->y, t->z}, &mesh, err);
    p.vertices = mesh.vertices;
    p.elements = mesh.elements;
    p.vertex = mesh.vertex;
    p.element = mesh.element;
    if (status == TALUS_OK) status = tl_lg_create(lg, 1, &p, 0, err);
    tl_free(mesh.vertex);
    tl_free(mesh.element);
    return status;
}

/* |S^T S b - A^-1 b| over |A^-1 b|, in both precisions. */
static talus_status compare_inverse(tl_case_log *log, const tl_lg *lg, tl_lg_solver *inverse, talus_error *err)
{
    int64_t n = 3 * (int64_t)lg->nodes;
    tl_lg_solver *factor = NULL;
    double *b = TL_NEW(double, n), *x = TL_NEW(double, n), *y = TL_NEW(double, n);
    talus_status status = b && x && y ? tl_lg_solver_create(&factor, lg, TL_LG_FACTOR, TL_LG_DOUBLE, err)
                                      : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a case");
    if (status == TALUS_OK) status = tl_lg_solver_update(factor, 0.01, err);
    for (int way = 0; way < 2 && status == TALUS_OK; way++) {
        double size = 0, off = 0;
        for (int64_t i = 0; i < n; i++) b[i] = tl_random_normal(1, (uint64_t)i, 0);
        tl_lg_solve(factor, TL_LG_DOUBLE, b, x);
        tl_lg_solve(inverse, way ? TL_LG_FLOAT : TL_LG_DOUBLE, b, y);
        for (int64_t i = 0; i < n; i++) {
            size += x[i] * x[i];
            off += (x[i] - y[i]) * (x[i] - y[i]);
        }
        tl_case_below(log, way ? "error of S, float, relative" : "error of S, double, relative", sqrt(off / size),
                      way ? 5e-6 : 1e-12);
    }
    tl_lg_solver_free(factor);
    tl_free(b);
    tl_free(x);
    tl_free(y);
    return status;
}

static talus_status measure_sizes(tl_case_log *log, const sizes *t, talus_error *err)
{
    char quantity[80];
    tl_lg lg;
    tl_lg_solver *s = NULL;
    TL_TRY(mesh_of(t, &lg, err));
    talus_status status = tl_lg_solver_create(&s, &lg, TL_LG_INVERSE, TL_LG_FLOAT | TL_LG_DOUBLE, err);
    if (status == TALUS_OK) status = tl_lg_solver_update(s, 0.01, err);
    if (status == TALUS_OK) {
        tl_lg_solver_info about = tl_lg_solver_about(s);
        double values = (double)about.stored_S / 1048576, indices = (double)about.bytes / 1048576 - 12 * values;
        snprintf(quantity, sizeof quantity, "%s: nonzeros of L, millions", t->name);
        tl_case_relative(log, quantity, 1e-6 * (double)about.nonzeros_L, t->L, 0.1);
        snprintf(quantity, sizeof quantity, "%s: nonzeros of S, millions", t->name);
        tl_case_relative(log, quantity, 1e-6 * (double)about.nonzeros_S, t->S, 0.1);
        snprintf(quantity, sizeof quantity, "%s: MiB of S in double, of the paper's", t->name);
        tl_case_below(log, quantity, (8 * values + indices) / t->paper, 1.0 / 5);
        snprintf(quantity, sizeof quantity, "%s: MiB of S in float, of the paper's", t->name);
        tl_case_below(log, quantity, (4 * values + indices) / t->paper, 1.0 / 10);
        if (lg.nodes < 6000) status = compare_inverse(log, &lg, s, err);
    }
    tl_lg_solver_free(s);
    tl_lg_free(&lg);
    return status;
}

static talus_status sizes_small(tl_case_log *log, talus_error *err)
{
    TL_TRY(measure_sizes(log, &tables[0], err));
    return measure_sizes(log, &tables[4], err);
}
static talus_status sizes_all(tl_case_log *log, talus_error *err)
{
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) TL_TRY(measure_sizes(log, &tables[k], err));
    return TALUS_OK;
}

/* ---- V6: a twisted bar ---- */

/* Step energy after each of 5 rounds is not kept by the engine: the same step is made with 5 and with 2000 rounds. */
static double step_energy(const tl_sim *sim, const double *before, const double *v, double h)
{
    const tl_lg *lg = &sim->lg;
    double inertia = 0;
    for (int64_t i = 0; i < 3 * (int64_t)lg->nodes; i++) {
        double d = tl_lg_state_of(&sim->state)->q[i] - before[i] - h * v[i];
        inertia += 0.5 * lg->mass[i / 3] * d * d / (h * h);
    }
    return inertia + sim->report.elastic;
}

static talus_status twisted(double *first, double *fifth, double *least, talus_error *err)
{
    tl_lg_world w;
    TL_TRY(
        tl_lg_world_open(&w, err,
                         "gravity = {0, 0, 0}, lg = { iterations = 5, precision = 'double', mixing = 'none', time = "
                         "'euler' }, bodies = { { name = 'bar', "
                         "shape = box { size = {0.65, "
                         "0.65, 1.3} }, cells = {13, 13, 26}, element = 'tetrahedra', "
                         "material = elastic { density = 1000, young = 1e9, poisson = 0.45, model = 'arap' } } },\n"
                         "handles = { { body = 'bar', shape = box { size = {9, 9, 0.001}, center = {0, 0, -0.65} }, "
                         "weight = 1e9 / 2.9, motion = "
                         "function(t) return { rotation_rad = {0, 0, t} } end },\n"
                         "{ body = 'bar', shape = box { size = {9, 9, 0.001}, center = {0, 0, 0.65} }, weight = 1e9 / "
                         "2.9, motion = function(t) "
                         "return { rotation_rad = {0, 0, -t} } end } }"));
    talus_status status = tl_lg_world_steps(&w, 149, 0.01, false, err);
    tl_state start = {0};
    if (status == TALUS_OK) status = tl_state_copy(&start, &w.sim->state, err);
    double *const out[] = {first, fifth, least};
    const int rounds[] = {0, 5, 1000};
    for (int k = 0; k < 3 && status == TALUS_OK; k++) {
        tl_scene *scene = w.scene;
        scene->lg.iterations = rounds[k];
        status = tl_state_copy(&w.sim->state, &start, err);
        if (status == TALUS_OK) status = tl_lg_world_steps(&w, 1, 0.01, false, err);
        if (status == TALUS_OK)
            *out[k] = step_energy(w.sim, tl_lg_state_of(&start)->q, tl_lg_state_of(&start)->v, tl_lg_round_step(0.01));
    }
    tl_state_free(&start);
    tl_world_close(&w);
    return status;
}

static talus_status twists(tl_case_log *log, talus_error *err)
{
    double first, fifth, least;
    TL_TRY(twisted(&first, &fifth, &least, err));
    /* the spec's code has 4.0e-4 and another has 3.2e-4 on the same state; ours has gone its own way for 149 frames
     * of 5 rounds */
    tl_case_below(log, "error of the step energy after 5 rounds, of that at the start",
                  (fifth - least) / (first - least), 5e-4);
    tl_case_above(log, "and it is one", (fifth - least) / (first - least), 0);
    return TALUS_OK;
}

/* Multipliers that live over frames: a hanging bar at 5 rounds per frame sags as far as at 200. */
static talus_status remembers(tl_case_log *log, talus_error *err)
{
    double sag[2][2];
    for (int nu = 0; nu < 2; nu++)
        for (int k = 0; k < 2; k++) {
            tl_lg_world w;
            TL_TRY(tl_lg_world_open(
                &w, err,
                "gravity = {9.81, 0, 0}, lg = { iterations = %d }, bodies = { { shape = box { size = {1, 0.25, 0.25}, "
                "center = "
                "{0.5, 0.125, 0.125} }, cells = {8, 2, 2}, element = 'tetrahedra', anchor = box { size = {0.01, 1, 1} "
                "}, anchor_weight = 1e8, "
                "material = elastic { density = 1000, young = 1e6, poisson = %g, model = 'neo_hookean' } } }",
                k ? 200 : 5, nu ? 0.45 : 0.3));
            talus_status status = TALUS_OK;
            sag[nu][k] = 0;
            for (int i = 0; i < 12 && status == TALUS_OK; i++) {
                status = tl_lg_world_steps(&w, 1, 0.01, false, err);
                sag[nu][k] = fmax(sag[nu][k], tip(&w, 0));
            }
            tl_world_close(&w);
            TL_TRY(status);
        }
    tl_case_below(log, "sag at 5 rounds against 200, nu 0.3", fabs(sag[0][0] / sag[0][1] - 1), 0.02);
    tl_case_below(log, "sag at 5 rounds against 200, nu 0.45", fabs(sag[1][0] / sag[1][1] - 1), 0.04);
    return TALUS_OK;
}

/* ---- V9, as far as anchors go ---- */

static talus_status yields(tl_case_log *log, talus_error *err)
{
    double at[3];
    TL_TRY(rest_bar(at, "{9.81, 0, 0}", "exact", 1e5, "corotated", err));
    tl_case_near(log, "tip of a bar on anchors of 1e5 N/m, m", at[0], 5.56119644e-3, 1e-9);
    return TALUS_OK;
}

/* ---- V10 ---- */

static talus_status decomposes(tl_case_log *log, talus_error *err)
{
    (void)err;
    double off = 0, turn = 0;
    for (uint64_t k = 0; k < 1000000; k++) {
        tl_mat3 F, U, V;
        double s[3];
        int sort = (int)(k % 6);
        for (int i = 0; i < 9; i++) F.m[i / 3][i % 3] = tl_random_normal(2, k, (uint64_t)i);
        for (int j = 0; j < 3; j++) {
            if (sort == 1 || sort == 2) F.m[2][j] = F.m[0][j] - 0.5 * F.m[1][j];
            if (sort == 2) F.m[1][j] = -2 * F.m[0][j], F.m[2][j] = 3 * F.m[0][j];
            if (sort == 3) F.m[1][j] *= 1e-7;
        }
        if (sort == 4) F = tl_mat3_scale(tl_mat3_det(F) > 0 ? -1 : 1, F);
        if (k == 5) F = tl_mat3_zero();
        tl_svd3(F, &U, s, &V);
        tl_mat3 back = tl_mat3_mul_t(tl_mat3_mul(U, tl_mat3_diagonal(s[0], s[1], s[2])), V);
        double size = tl_mat3_norm(F);
        off = fmax(off, tl_mat3_norm(tl_mat3_sub(back, F)) / (size > 0 ? size : 1));
        turn = fmax(turn, fmax(fabs(tl_mat3_det(U) - 1), fabs(tl_mat3_det(V) - 1)));
    }
    tl_case_below(log, "|U s V^T - F|, of |F|", off, 1e-13);
    tl_case_below(log, "|det - 1| of U and V", turn, 1e-13);
    return TALUS_OK;
}

static const tl_case cases[] = {
    {"V1", "a bar falls freely and does not deform", true, falls},
    {"V2", "sizes of L and of S, and S^T S against the factor: two meshes", true, sizes_small},
    {"V2a", "the same for all meshes of the paper's tables", false, sizes_all},
    {"V3", "a hanging bar: three materials against an independent Newton solver", true, hangs},
    {"V4", "the same bar as a cantilever", true, bends},
    {"V5", "the local step that is printed is another material", true, softens},
    {"V6", "a bar twisted by 3 rad: energy of a step after 5 rounds", false, twists},
    {"V6a", "multipliers of ADMM are kept over frames", true, remembers},
    {"V7", "a block on a slope at mu* -+ 0.001: 5^3 and 3^3 cells", true, tl_lg_case_slides},
    {"V7a", "the same for other slopes, steps, materials and 8^3 cells", false, tl_lg_case_slides_more},
    {"V7b", "the same by published forms: mass preconditioner, symmetric rows", false, tl_lg_case_slides_published},
    {"V8", "a block comes to rest: weight, sag, penetration", true, tl_lg_case_rests},
    {"V9", "anchors that give way", true, yields},
    {"V9a", "rows without and with compliance", true, tl_lg_case_rows},
    {"V10", "singular values of a million matrices", true, decomposes},
    {"V11", "matrix-free compliance is the explicit one", true, tl_lg_case_matrix_free},
    {"V12", "a ball through a gap between rollers", false, tl_lg_case_ball},
    {"V13", "the printed minimum map holds whatever friction", true, tl_lg_case_printed},
    {"V14", "a cloth of 20k rows on a box", false, tl_lg_case_cloth},
    {"R1", "a free rigid box on a soft block: weight, momentum", true, tl_lg_case_rigid},
    {"static", "bars of V3 and V4 by static steps", true, tl_lg_case_static},
    {"beam", "static tip of a cantilever, 1, 2, 4 cells across, nu 0.3 and 0.49, against Timoshenko", true,
     tl_lg_case_beam},
    {"elastica", "large deflections of a solid bar under a tip load", true, tl_lg_case_elastica},
    {"strip", "a heavy strip of cloth against the elastica: hinge and ring, two meshes", false, tl_lg_case_strip},
    {"plate", "a clamped square plate: hinge and ring, two meshes", true, tl_lg_case_plate},
    {"rings", "a cantilever rings at defaults: period, amplitude", false, tl_lg_case_rings},
    {"damped", "inner friction: what a period leaves of a cantilever's swing", true, tl_lg_case_damped},
    {"joined", "the same bar on joins, E 1e7 and 1e8", true, tl_lg_case_joined},
    {"spin", "a cube that spins freely keeps its angular momentum", true, tl_lg_case_spins},
    {"bounce", "a rubber ball rebounds", false, tl_lg_case_bounces},
    {"hertz", "a ball pressed between plates, two meshes", false, tl_lg_case_hertz},
    {"capstan", "a belt that is pulled over a drum: cloth and solid, soft and stiff", false, tl_lg_case_capstan},
    {"R2", "a soft block on a soft block: weight, threshold of slip", false, tl_lg_case_soft},
    {NULL, NULL, false, NULL},
};
const tl_case_group tl_cases_lg = {"lg", cases};
