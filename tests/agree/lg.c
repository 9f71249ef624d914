/* Local-global rounds and an independent Newton solver reach the same end of a step; all global methods do. */
#include "check.h"

#include "base/alloc.h"
#include "lg.h"
#include "model/lg/bending.h"

static talus_error err;

static double apart(const lg_problem *p, const double *other)
{
    double far = 0;
    for (int64_t i = 0; i < 3 * (int64_t)p->lg.nodes; i++) far = fmax(far, fabs(p->q[i] - other[i]));
    return far;
}

static const int bar_cells[3] = {3, 1, 2}, sheet_cells[3] = {3, 2, 1};
static const tl_vec3 bar_size = {0.3, 0.1, 0.2}, sheet_size = {0.3, 0.2, 0};

enum { TETS, MEMBRANE, HINGES, ROLLED, KINDS };

/* Tetrahedra; cloth without bending, with hinges as stiff as the membrane, and with hinges on a rest shape that is a
 * part of a cylinder. */
static lg_body body_of(int kind, tl_lg_model model, tl_lg_scheme scheme)
{
    bool cloth = kind != TETS;
    lg_body b = lg_body_make(cloth ? sheet_cells : bar_cells, cloth ? sheet_size : bar_size, cloth ? 0.01 : 0, model,
                             scheme, 2e5, 0.35);
    if (kind == MEMBRANE) b.part.stiffness = 0;
    if (kind == HINGES) b.part.stiffness *= 5;
    if (kind == ROLLED) lg_body_roll(&b, 0.25);
    return b;
}

static void newton_agrees(void **state)
{
    (void)state;
    static const struct {
        tl_lg_model model;
        tl_lg_scheme scheme;
        int rounds;
        double limit;                                         /* m, of bodies of 0.3 m */
    } cases[] = {{TL_LG_ARAP, TL_LG_PROJECTIVE, 3000, 3e-13}, /* 1e-12 of the size */
                 {TL_LG_COROTATED, TL_LG_ADMM, 3000, 3e-7},
                 {TL_LG_NEO_HOOKEAN, TL_LG_ADMM, 3000, 3e-7}};
    for (int kind = 0; kind < KINDS; kind++)
        for (int k = 0; k < 3; k++) {
            lg_body b = body_of(kind, cases[k].model, cases[k].scheme);
            lg_problem p;
            lg_problem_make(&p, &b, 0.01, 0.8, TL_LG_FACTOR, TL_LG_FLOAT | TL_LG_DOUBLE);
            int64_t n = 3 * (int64_t)p.lg.nodes;
            lg_rounds(&p, cases[k].rounds, TL_LG_DOUBLE);
            double *q = TL_NEW(double, n);
            for (int64_t i = 0; i < n; i++) q[i] = p.q[i] + 1e-3 * sin((double)(7 * i)); /* not from where we are */
            lg_newton(&b, &p, q);
            CHECK_LE(apart(&p, q), cases[k].limit);
            double moved = 0;
            for (int64_t i = 0; i < n; i++) moved = fmax(moved, fabs(q[i] - p.qtil[i]));
            assert_true(moved > 1e-3); /* there was something to do */
            tl_free(q);
            lg_problem_free(&p);
            lg_body_free(&b);
        }
}

/* The residual is -h^2 times the gradient of g, which is the difference quotient of g. */
static void gradients(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int model = 0; model < 3; model++) {
            lg_body b = body_of(kind, (tl_lg_model)model, TL_LG_NEWTON);
            lg_problem p;
            lg_problem_make(&p, &b, 0.01, 0.2, TL_LG_FACTOR,
                            TL_LG_DOUBLE); /* nothing compressed to 5 %: the energies differ there */
            int64_t n = 3 * (int64_t)p.lg.nodes;
            double *g = TL_NEW(double, n), largest = 0;
            for (int64_t i = 0; i < n; i++) p.q[i] += 0.002 * cos((double)(3 * i));
            double energy = tl_lg_stress(&p.lg, p.q, p.force) + tl_lg_linear_energy(&p.lg, p.q, p.target);
            tl_lg_residual(&p.lg, p.h, p.q, p.qtil, p.target, p.force, p.r);
            double whole = lg_reference(&b, &p, p.q, g);
            for (int64_t i = 0; i < n; i++) {
                energy += 0.5 * p.lg.mass[i / 3] * pow((p.q[i] - p.qtil[i]) / p.h, 2);
                largest = fmax(largest, fabs(g[i]));
            }
            CHECK_REL(energy, whole, 1e-12);
            for (int64_t i = 0; i < n; i++) CHECK_NEAR(-p.r[i] / (p.h * p.h), g[i], 1e-10 * largest);
            for (int64_t i = 0; i < n; i += 5) { /* and the reference is a gradient */
                double kept = p.q[i], e = 1e-6;
                p.q[i] = kept + e;
                double up = lg_reference(&b, &p, p.q, NULL);
                p.q[i] = kept - e;
                double down = lg_reference(&b, &p, p.q, NULL);
                p.q[i] = kept;
                CHECK_NEAR((up - down) / (2 * e), g[i],
                           1e-5 * largest); /* e^2 of the third derivative over 1 cm elements */
            }
            tl_free(g);
            lg_problem_free(&p);
            lg_body_free(&b);
        }
}

/* A rolled rest shape is at rest; held flat it has the energy of flat cloth that is rolled up, the angle of each
 * hinge being the same; and its forces turn nothing. */
static void rolled_cloth(void **state)
{
    (void)state;
    const double radius = 0.5;
    lg_body rolled = lg_body_make((const int[3]){12, 3, 1}, (tl_vec3){0.6, 0.15, 0}, 0.01, TL_LG_ARAP, TL_LG_PROJECTIVE,
                                  1e5, 0.3),
            flat = lg_body_make((const int[3]){12, 3, 1}, (tl_vec3){0.6, 0.15, 0}, 0.01, TL_LG_ARAP, TL_LG_PROJECTIVE,
                                1e5, 0.3);
    lg_body_roll(&rolled, radius);
    rolled.part.anchors = flat.part.anchors = 0;
    lg_problem p, o;
    lg_problem_make(&p, &rolled, 0.01, 0, TL_LG_FACTOR, TL_LG_DOUBLE);
    lg_problem_make(&o, &flat, 0.01, 0, TL_LG_FACTOR, TL_LG_DOUBLE);
    double k = flat.part.stiffness, whole = 0.5 * k * 0.6 * 0.15 / (radius * radius);
    /* rounding: terms of K and of the turned rest vectors cancel */
    CHECK_LE(fabs(tl_lg_stress(&p.lg, p.q, p.force) + tl_lg_linear_energy(&p.lg, p.q, p.target)), 1e-11 * whole);
    tl_lg_residual(&p.lg, p.h, p.q, p.qtil, p.target, p.force, p.r);
    for (int64_t i = 0; i < 3 * (int64_t)p.lg.nodes; i++) CHECK_LE(fabs(p.r[i]), 1e-11 * p.h * p.h * whole / 0.05);

    /* bending alone: what the same shapes have without it is taken away */
    double bent[2];
    for (int way = 0; way < 2; way++) {
        lg_problem *a = way ? &o : &p;
        const lg_problem *b = way ? &p : &o;
        for (int32_t v = 0; v < flat.part.vertices; v++)
            for (int c = 0; c < 3; c++)
                a->q[3 * (int64_t)a->lg.node_of[v] + c] = b->lg.rest[3 * (int64_t)b->lg.node_of[v] + c];
        lg_body limp = way ? flat : rolled;
        limp.part.stiffness = 0;
        tl_lg without;
        CHECK_OK(tl_lg_create(&without, 1, &limp.part, 1, &err));
        double *q = TL_NEW(double, 3 * (int64_t)without.nodes);
        for (int32_t v = 0; v < flat.part.vertices; v++)
            for (int c = 0; c < 3; c++)
                q[3 * (int64_t)without.node_of[v] + c] = a->q[3 * (int64_t)a->lg.node_of[v] + c];
        bent[way] = tl_lg_stress(&a->lg, a->q, a->force) + tl_lg_linear_energy(&a->lg, a->q, a->target) -
                    tl_lg_stress(&without, q, NULL) - tl_lg_linear_energy(&without, q, a->target);
        tl_free(q);
        tl_lg_free(&without);
    }
    CHECK_REL(bent[0], bent[1], 0.01); /* chords for arcs: (edge / radius)^2 */
    /* Of k/2 curvature^2, with nodes exactly on the cylinder: 1/3 from the edges across, 1/3 from those along and
     * 2/3 from the diagonals of squares of four triangles, times 1.05; 11 of 12 and 2 of 3 lines of edges are
     * inside. Where middles find their own place, the sum is 1. */
    CHECK_REL(bent[0], 1.05 * whole * (1.0 / 3 * 11 / 12 + 1.0 / 3 * 2 / 3 + 2.0 / 3), 0.01);

    tl_vec3 turn = {0, 0, 0}, push = {0, 0, 0};
    double size = 0;
    for (int64_t i = 0; i < 3 * (int64_t)p.lg.nodes; i++) p.q[i] = p.lg.rest[i] + 0.01 * sin((double)(i * i));
    (void)tl_lg_stress(&p.lg, p.q, p.force);
    tl_lg_residual(&p.lg, p.h, p.q, p.q, p.target, p.force, p.r);
    for (int32_t i = 0; i < p.lg.nodes; i++) {
        tl_vec3 x = tl_vec3_load(p.q + 3 * (int64_t)i), f = tl_vec3_load(p.r + 3 * (int64_t)i);
        push = tl_vec3_add(push, f);
        turn = tl_vec3_add(turn, tl_vec3_cross(x, f));
        size += tl_vec3_norm(f);
    }
    CHECK_LE(tl_vec3_norm(push), 1e-12 * size);
    CHECK_LE(tl_vec3_norm(turn), 1e-12 * size);
    lg_problem_free(&p);
    lg_problem_free(&o);
    lg_body_free(&rolled);
    lg_body_free(&flat);
}

/* Factor and inverse, float and double: one answer. */
static void global_methods_agree(void **state)
{
    (void)state;
    lg_body b =
        lg_body_make((const int[3]){9, 5, 4}, (tl_vec3){0.9, 0.5, 0.4}, 0, TL_LG_ARAP, TL_LG_PROJECTIVE, 1e6, 0.3);
    lg_problem p;
    lg_problem_make(&p, &b, 0.01, 0.1, TL_LG_FACTOR, TL_LG_FLOAT | TL_LG_DOUBLE);
    tl_lg_solver *inverse;
    CHECK_OK(tl_lg_solver_create(&inverse, &p.lg, TL_LG_INVERSE, TL_LG_FLOAT | TL_LG_DOUBLE, &err));
    CHECK_OK(tl_lg_solver_update(inverse, p.h, &err));
    int64_t n = 3 * (int64_t)p.lg.nodes;
    double *x = TL_NEW(double, n), *back = TL_NEW(double, n), size = 0;
    for (int64_t i = 0; i < n; i++) p.r[i] = sin((double)(i * i));
    const struct {
        const tl_lg_solver *s;
        tl_lg_precision p;
        double limit;
    } ways[] = {{p.solver, TL_LG_DOUBLE, 1e-13},
                {p.solver, TL_LG_FLOAT, 5e-6},
                {inverse, TL_LG_DOUBLE, 1e-12},
                {inverse, TL_LG_FLOAT, 5e-6}};
    tl_lg_solve(p.solver, TL_LG_DOUBLE, p.r, x);
    for (int64_t i = 0; i < n; i++) size = fmax(size, fabs(x[i]));
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        tl_lg_solve(ways[k].s, ways[k].p, p.r, back);
        for (int64_t i = 0; i < n; i++) CHECK_NEAR(back[i], x[i], ways[k].limit * size);
    }
    /* A x = r, A as it is written in the header */
    const tl_csr *E = &p.lg.pattern[0];
    for (int32_t i = 0; i < E->rows; i++)
        for (int c = 0; c < 3; c++) {
            back[3 * i + c] = 0;
            for (int64_t q = E->start[i]; q < E->start[i + 1]; q++) back[3 * i + c] += E->val[q] * x[3 * E->col[q] + c];
        }
    for (int64_t i = 0; i < n; i++) CHECK_NEAR(p.lg.mass[i / 3] * x[i] + p.h * p.h * back[i], p.r[i], 1e-10);
    tl_free(x);
    tl_free(back);
    tl_lg_solver_free(inverse);
    lg_problem_free(&p);
    lg_body_free(&b);
}

/* diag(A^-1) and C A^-1 C^T against solves. */
static void compliances_agree(void **state)
{
    (void)state;
    lg_body b =
        lg_body_make((const int[3]){9, 5, 4}, (tl_vec3){0.9, 0.5, 0.4}, 0, TL_LG_ARAP, TL_LG_PROJECTIVE, 1e6, 0.3);
    lg_problem p;
    lg_problem_make(&p, &b, 0.01, 0.1, TL_LG_FACTOR, TL_LG_DOUBLE);
    int64_t n = 3 * (int64_t)p.lg.nodes;
    enum { POINTS = 40 };
    tl_lg_point point[POINTS];
    double B[POINTS][POINTS], *x = TL_NEW(double, n);
    const double *diagonal;
    tl_arena a = {0};
    CHECK_OK(tl_lg_solver_diagonal(p.solver, &diagonal, &err));
    for (int k = 0; k < POINTS; k++) {
        for (int c = 0; c < 4; c++) {
            point[k].node[c] = (37 * k + 11 * c * c + c) % p.lg.nodes;
            point[k].weight[c] = 0.1 + 0.2 * c;
        }
        if (k % 3 == 0) point[k].node[1] = -1, point[k].weight[0] = 1;
    }
    CHECK_OK(tl_lg_compliance(p.solver, POINTS, point, B[0], &a, &err));
    for (int k = 0; k < POINTS; k++) {
        for (int64_t i = 0; i < n; i++) p.r[i] = 0;
        for (int c = 0; c < 4 && point[k].node[c] >= 0; c++) p.r[3 * point[k].node[c]] += point[k].weight[c];
        p.r[3 * point[k].node[0] + 1] = 1;
        tl_lg_solve(p.solver, TL_LG_DOUBLE, p.r, x);
        CHECK_REL(diagonal[point[k].node[0]], x[3 * point[k].node[0] + 1], 1e-11);
        for (int j = 0; j < POINTS; j++) {
            double sum = 0;
            for (int c = 0; c < 4 && point[j].node[c] >= 0; c++) sum += point[j].weight[c] * x[3 * point[j].node[c]];
            CHECK_NEAR(B[k][j], sum, 1e-12 * B[k][k]);
            assert_true(B[k][j] == B[j][k]);
        }
    }
    tl_arena_free(&a);
    tl_free(x);
    lg_problem_free(&p);
    lg_body_free(&b);
}

/* Without a stiffness of its own a sheet is a plate: young thickness^3 / (12 (1 - poisson^2)). */
static void sheets_bend_as_plates(void **state)
{
    (void)state;
    static const double poissons[] = {0, 0.3, 0.45};
    static const tl_lg_bending how[] = {TL_LG_HINGE, TL_LG_RING};
    for (int w = 0; w < 2; w++)
        for (int k = 0; k < 3; k++) {
            lg_body b = lg_body_make(sheet_cells, sheet_size, 0.01, TL_LG_ARAP, TL_LG_PROJECTIVE, 2e5, poissons[k]);
            tl_bending own, given;
            b.part.bending = how[w];
            b.part.stiffness = -1;
            CHECK_OK(tl_bending_make(&own, &b.part, &err));
            b.part.stiffness = 2e5 * 1e-6 / 12 / (1 - poissons[k] * poissons[k]);
            CHECK_OK(tl_bending_make(&given, &b.part, &err));
            assert_true(own.count > 0 && own.count == given.count);
            for (int32_t i = 0; i < own.count; i++) CHECK_REL(own.weight[i], given.weight[i], 1e-12);
            tl_bending_free(&own);
            tl_bending_free(&given);
            lg_body_free(&b);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newton_agrees),         cmocka_unit_test(gradients),
        cmocka_unit_test(rolled_cloth),          cmocka_unit_test(global_methods_agree),
        cmocka_unit_test(sheets_bend_as_plates), cmocka_unit_test(compliances_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
