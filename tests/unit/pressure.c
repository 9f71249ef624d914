/* The pressure kind piece by piece: order and neighbours of cells, what a problem must be, coarse levels and their
 * coefficients, the cycle as a symmetric operator, a hydrostatic column, and problems with next to nothing in them. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "base/sum.h"
#include "check.h"
#include "lattice.h"
#include "math/small_chol.h"
#include "solve/pressure/cycle.h"
#include "solve/pressure/method.h"

static talus_error err;

/* ---- order, neighbours, validity ---- */

static void order(void **state)
{
    (void)state;
    const int32_t ijk[5][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 0, 0}, {0, -2, 0}, {0, 0, -1}};
    const int32_t sorted[5] = {3, 2, 1, 4, 0}; /* (0,-2,0) (0,0,0) | (-1,0,0) (0,0,-1) (1,0,0) */
    int32_t got[5], red;
    tl_arena a = {0};
    CHECK_OK(tl_pressure_order(5, ijk, got, &red, &a, &err));
    assert_int_equal(red, 2);
    assert_memory_equal(got, sorted, sizeof got);

    int32_t nb_room[6][5], *nb[6], in_order[5][3];
    const int32_t none[3] = {0, 0, 0};
    for (int k = 0; k < 6; k++) nb[k] = nb_room[k];
    for (int i = 0; i < 5; i++) memcpy(in_order[i], ijk[sorted[i]], sizeof in_order[i]);
    CHECK_OK(tl_pressure_neighbours(5, 2, (const int32_t(*)[3])in_order, none, nb, &err));
    const int32_t of_origin[6] = {2, 4, 5, 5, 3, 5};
    for (int k = 0; k < 6; k++) {
        assert_int_equal(nb[k][1], of_origin[k]);
        assert_int_equal(nb[k][0], 5); /* (0,-2,0) is alone */
        if (of_origin[k] < 5) assert_int_equal(nb[k ^ 1][of_origin[k]], 1);
    }

    /* wrong order, and a cell twice */
    assert_int_equal(tl_pressure_neighbours(5, 2, ijk, none, nb, &err), TALUS_BAD_INPUT);
    const int32_t twice[2][3] = {{1, 2, 3}, {1, 2, 3}};
    assert_int_equal(tl_pressure_order(2, twice, got, &red, &a, &err), TALUS_BAD_INPUT);
    const int32_t far[1][3] = {{1 << 19, 0, 0}};
    assert_int_equal(tl_pressure_order(1, far, got, &red, &a, &err), TALUS_BAD_INPUT);
    tl_arena_free(&a);
}

static void periodic(void **state)
{
    (void)state;
    const int32_t period[3] = {4, 0, 1};
    tl_pressure_case c;
    tl_lattice_make(&c, &(tl_lattice){.size = {4, 3, 1}, .period = period, .surface = true});
    CHECK_OK(tl_pressure_check(&c.p, &err));
    for (int32_t i = 0; i < c.p.n; i++) {
        int32_t left = c.p.nb[0][i];
        assert_int_equal(c.ijk[left][0], (c.ijk[i][0] + 3) % 4);
        assert_int_equal(c.p.nb[4][i], c.p.n); /* nothing along an axis of one cell */
    }
    tl_pressure_case_free(&c);
}

static void refused(tl_pressure_case *c, const char *says)
{
    assert_int_equal(tl_pressure_check(&c->p, &err), TALUS_BAD_INPUT);
    if (!strstr(err.message, says)) fail_msg("'%s' does not say '%s'", err.message, says);
}

static void validity(void **state)
{
    (void)state;
    tl_pressure_case c;
    tl_lattice_make(&c, &(tl_lattice){.size = {3, 3, 3}, .surface = true});
    CHECK_OK(tl_pressure_check(&c.p, &err));
    int32_t i = 5, k = 0;
    while (c.c[k][i] == 0) k++;
    c.c[k][i] = 0.5f;
    refused(&c, "do not see each other alike");
    c.c[k][i] = -1;
    refused(&c, "coupling");
    c.c[k][i] = 1;
    c.d[i] *= 1.001;
    refused(&c, "diagonal");
    c.d[i] /= 1.001;
    c.b[i] = NAN;
    refused(&c, "right-hand side");
    c.b[i] = 0;
    c.ijk[i][0]++;
    refused(&c, "colour");
    c.ijk[i][0]--;
    c.p.extras = 1;
    refused(&c, "appended");
    tl_pressure_case_free(&c);
}

/* ---- levels ---- */

/* What must hold between any two levels. */
static void check_levels(const tl_levels *l)
{
    for (int k = 1; k < l->count; k++) {
        const tl_level *f = &l->level[k - 1], *c = &l->level[k];
        int32_t children = 0;
        for (int32_t i = 0; i < f->n; i++) {
            if (f->parent[i] == c->n) continue;
            children++;
            for (int a = 0; a < 3; a++)
                assert_int_equal(c->ijk[f->parent[i]][a], (f->ijk[i][a] - (f->ijk[i][a] & 1)) / 2);
        }
        assert_int_equal(children, c->start[c->n]);
        for (int32_t I = 0; I < c->n; I++) {
            assert_int_equal(I >= c->red, (c->ijk[I][0] + c->ijk[I][1] + c->ijk[I][2]) & 1);
            assert_true(c->start[I + 1] > c->start[I]);
            for (int32_t s = c->start[I]; s < c->start[I + 1]; s++) {
                assert_int_equal(f->parent[c->child[s]], I);
                assert_true(s == c->start[I] || c->child[s] > c->child[s - 1]);
            }
            for (int side = 0; side < 6; side++) {
                int32_t J = c->nb[side][I];
                if (J < c->n) assert_int_equal(c->nb[side ^ 1][J], I);
            }
        }
    }
}

typedef struct hierarchy {
    tl_arena arena;
    tl_levels levels;
    tl_cycle *cycle;
    const tl_cycle_kind *kind;
} hierarchy;

static void build(hierarchy *h, const tl_pressure *p, const tl_cycle_kind *kind, bool split)
{
    *h = (hierarchy){.kind = kind};
    double *scratch = TL_TAKE(&h->arena, double, 3 * (int64_t)p->n + 1);
    CHECK_OK(tl_levels_build(&h->levels, p, (tl_levels_how){.split = split}, scratch, &h->arena, &err));
    h->cycle = kind->take(&h->levels, &h->arena);
    assert_non_null(h->cycle);
    kind->attach(h->cycle, p);
    kind->reset(h->cycle, 0, NULL, true);
}

/* P2: away from boundaries every coarse face has area over distance = 2^level, and a row sums to its Dirichlet part. */
static void coarse_faces(void **state)
{
    (void)state;
    tl_pressure_case c;
    hierarchy h;
    tl_lattice_make(&c, &(tl_lattice){.size = {32, 32, 32}, .surface = true});
    build(&h, &c.p, &tl_cycle_float, true);
    check_levels(&h.levels);
    assert_int_equal(h.levels.count, 4); /* 32, 16, 8, 4 cells per edge */
    for (int k = 0; k < h.levels.count; k++) {
        const tl_level *l = &h.levels.level[k];
        const tl_coarse *v = h.kind->coarse(h.cycle, k);
        int32_t edge = 32 >> k;
        assert_int_equal(l->n, edge * edge * edge);
        for (int32_t i = 0; i < l->n; i++) {
            double sum = v->d[i];
            for (int side = 0; side < 6; side++) {
                int32_t at = l->ijk[i][side / 2];
                bool outside = side & 1 ? at == edge - 1 : at == 0;
                CHECK_NEAR(v->c[side][i], outside ? 0 : 1 << k, 0);
                sum -= v->c[side][i];
            }
            /* a surface h/2 beyond the topmost centre: 4^k faces over 2^k/2 cells */
            CHECK_NEAR(sum, l->ijk[i][1] == edge - 1 ? (double)(1 << (2 * k)) / (0.5 * (1 << k)) : 0, 1e-5);
        }
    }
    tl_arena_free(&h.arena);
    tl_pressure_case_free(&c);
}

/* Coefficients after a change of the free set are those of a hierarchy made for it at once. */
static void incremental(void **state)
{
    (void)state;
    tl_pressure_case c;
    hierarchy one, two;
    CHECK_OK(tl_gen_pressure(&c, TL_SCENE_DAM, 24, 3, 0, &err));
    double *x = TL_NEW(double, c.p.n);
    build(&one, &c.p, &tl_cycle_float, true);
    build(&two, &c.p, &tl_cycle_float, true);
    check_levels(&one.levels);
    tl_pressure_precond P = one.kind->precond(one.cycle);
    for (uint64_t round = 0; round < 4; round++) {
        for (int32_t i = 0; i < c.p.n; i++) x[i] = tl_random(5, (uint64_t)i, round) < 0.7 + 0.1 * (double)round ? 1 : 0;
        tl_pressure_free f = {.x = x, .g = x, .lo = 0, .limit = -INFINITY};
        assert_true(P.fit(P.ctx, &f));
        assert_false(P.fit(P.ctx, &f));
        if (round == 2) one.kind->reset(one.cycle, 0, NULL, true); /* all free, then the shortcut from there */
        if (round == 2) one.kind->reset(one.cycle, 0, &f, true);
        two.kind->attach(two.cycle, &c.p);
        two.kind->reset(two.cycle, 0, &f, true);
        for (int k = 1; k < one.levels.count; k++) {
            const tl_coarse *a = one.kind->coarse(one.cycle, k), *b = two.kind->coarse(two.cycle, k);
            size_t n = (size_t)one.levels.level[k].n;
            assert_memory_equal(a->d, b->d, sizeof *a->d * n);
            assert_memory_equal(a->dir, b->dir, sizeof *a->dir * n);
            for (int side = 0; side < 6; side++) assert_memory_equal(a->c[side], b->c[side], sizeof *a->c[side] * n);
        }
    }
    tl_free(x);
    tl_arena_free(&one.arena);
    tl_arena_free(&two.arena);
    tl_pressure_case_free(&c);
}

/* A wall without thickness at x = 5 | 6 with a hole at its upper end. */
static bool through_wall(const int32_t a[3], const int32_t b[3])
{
    int32_t low = a[0] < b[0] ? a[0] : b[0];
    return a[0] == b[0] || low != 5 || a[1] >= 12;
}

static void thin_walls(void **state)
{
    (void)state;
    tl_pressure_case c;
    hierarchy h;
    tl_lattice_make(&c, &(tl_lattice){.size = {12, 16, 12}, .surface = true, .open = through_wall});
    CHECK_OK(tl_pressure_check(&c.p, &err));

    build(&h, &c.p, &tl_cycle_float, true);
    check_levels(&h.levels);
    /* 5 | 6 is a block border at level 1; at level 2 the block 4 .. 7 is cut below the hole: a coarse cell for each
     * side */
    assert_int_equal(h.levels.level[1].n, 6 * 8 * 6);
    assert_int_equal(h.levels.level[2].n, 3 * 4 * 3 + 3 * 3);
    for (int32_t I = 0; I < h.levels.level[2].n; I++) {
        const tl_level *l = &h.levels.level[2];
        bool left = false, right = false;
        for (int32_t s = l->start[I]; s < l->start[I + 1]; s++)
            *(h.levels.level[1].ijk[l->child[s]][0] <= 2 ? &left : &right) = true;
        if (l->ijk[I][1] < 3) assert_false(left && right);
    }
    tl_arena_free(&h.arena);
    build(&h, &c.p, &tl_cycle_float, false);
    check_levels(&h.levels);
    assert_int_equal(h.levels.level[2].n, 3 * 4 * 3);
    tl_arena_free(&h.arena);
    tl_pressure_case_free(&c);
}

/* ---- the cycle ---- */

static void apply(const tl_pressure_precond *P, int32_t n, const double *g, double *z)
{
    double zg = P->apply(P->ctx, g, tl_max_abs(n, g));
    P->direction(P->ctx, 0, z);
    CHECK_REL(zg, tl_dot(n, z, g), 1e-12);
}

/* P1: symmetric, positive, zero outside of the free set. */
static void symmetry(const tl_cycle_kind *kind, double tolerance)
{
    tl_pressure_case c;
    hierarchy h;
    CHECK_OK(tl_gen_pressure(&c, TL_SCENE_SPHERE, 40, 1, 0, &err));
    int32_t n = c.p.n;
    double *x = TL_NEW(double, n), *u = TL_NEW(double, n), *v = TL_NEW(double, n), *Mu = TL_NEW(double, n),
           *Mv = TL_NEW(double, n);
    build(&h, &c.p, kind, true);
    tl_pressure_precond P = kind->precond(h.cycle);
    for (uint64_t round = 0; round < 3; round++) {
        for (int32_t i = 0; i < n; i++) {
            x[i] = tl_random(9, (uint64_t)i, round) < 0.8 ? 1 : 0;
            u[i] = tl_random_normal(10, (uint64_t)i, round) * 1e30; /* far outside of what floats can square */
            v[i] = tl_random_normal(11, (uint64_t)i, round) * 1e-30;
        }
        tl_pressure_free f = {.x = x, .g = x, .lo = 0, .limit = -INFINITY};
        P.fit(P.ctx, &f);
        apply(&P, n, u, Mu);
        apply(&P, n, v, Mv);
        double uMv = tl_dot(n, u, Mv), vMu = tl_dot(n, v, Mu);
        CHECK_LE(fabs(uMv - vMu), tolerance * sqrt(tl_dot(n, u, u)) * sqrt(tl_dot(n, Mv, Mv)));
        assert_true(tl_dot(n, u, Mu) > 0 && tl_dot(n, v, Mv) > 0);
        for (int32_t i = 0; i < n; i++)
            if (x[i] == 0 && Mu[i] != 0) fail_msg("cell %d is at its bound and moves by %g", i, Mu[i]);
    }
    tl_free(x);
    tl_free(u);
    tl_free(v);
    tl_free(Mu);
    tl_free(Mv);
    tl_arena_free(&h.arena);
    tl_pressure_case_free(&c);
}

static void symmetry_float(void **state)
{
    (void)state;
    symmetry(&tl_cycle_float, 1e-7);
}

static void symmetry_double(void **state)
{
    (void)state;
    symmetry(&tl_cycle_double, 1e-14);
}

/* Faces at random: a part of them closed, others open by anything from a millionth to all. */
static void open_at_random(tl_pressure_case *c, uint64_t seed, double closed, bool near)
{
    for (int32_t i = 0; i < c->p.n; i++) /* surfaces a hundredth of a cell away and more */
        if (near && c->dir[i] > 0) c->dir[i] = c->ar[i] / (float)fmax(0.01, tl_random(seed, (uint64_t)i, 5));
    for (int32_t i = 0; i < c->p.n; i++)
        for (int k = 1; k < 6; k += 2) {
            const int32_t j = c->nb[k][i];
            if (j == c->p.n) continue;
            const double way = tl_random(seed, (uint64_t)(6 * i + k), 0),
                         part = tl_random(seed, (uint64_t)(6 * i + k), 1);
            c->c[k][i] = c->c[k ^ 1][j] = way < closed ? 0 : (float)(way < 0.5 * (1 + closed) ? 1 : pow(10, -6 * part));
        }
    for (int32_t i = 0; i < c->p.n; i++) {
        c->d[i] = c->dir[i];
        for (int k = 0; k < 6; k++) c->d[i] += c->c[k][i];
        if (c->d[i] > 0) continue;
        c->dir[i] = c->ar[i] = 1; /* alone */
        c->d[i] = 1;
    }
}

/* What solids add, from nothing to a hundred times the rest, where there is next to no surface as well. */
static void add_solids(tl_pressure_case *c, uint64_t seed, float *own)
{
    for (int32_t i = 0; i < c->p.n; i++) {
        own[i] = tl_random(seed, (uint64_t)i, 2) < 0.3 ? (float)pow(10, 4 * tl_random(seed, (uint64_t)i, 3) - 2) : 0;
        if (tl_random(seed, (uint64_t)i, 4) < 0.1) c->dir[i] += 1e-3f, c->ar[i] += 1e-3f, c->d[i] += (double)1e-3f;
        const float with = c->dir[i] + own[i];
        own[i] = with - c->dir[i];
        c->d[i] += (double)with - (double)c->dir[i];
        c->dir[i] = with;
    }
    c->p.own = own;
}

/* The cycle as a matrix, which must have a factor. */
static bool definite(const hierarchy *h, int32_t n)
{
    double *M = TL_NEW(double, (int64_t)n *n), *e = TL_NEW_ZERO(double, n);
    const tl_pressure_precond P = h->kind->precond(h->cycle);
    for (int32_t i = 0; i < n; i++) {
        e[i] = 1;
        P.apply(P.ctx, e, 1);
        P.direction(P.ctx, 0, M + (int64_t)i * n);
        e[i] = 0;
    }
    const bool good = tl_small_chol(n, M);
    tl_free(M);
    tl_free(e);
    return good;
}

static bool ragged(const int32_t at[3])
{
    return tl_random(77, (uint64_t)(at[0] + 100 * at[1] + 10000 * at[2]), 0) < 0.8;
}

/* A box of thin walls in a tank, with a hole of one face in one of them. */
static bool bottle(const int32_t a[3], const int32_t b[3])
{
    bool in_a = true, in_b = true;
    for (int k = 0; k < 3; k++) {
        in_a &= a[k] >= 3 && a[k] < 8;
        in_b &= b[k] >= 3 && b[k] < 8;
    }
    return in_a == in_b || (a[1] == 5 && b[1] == 5 && a[2] == 5 && b[2] == 5 && (a[0] == 8 || b[0] == 8));
}

/* Positive whatever is closed, half open, or moved by solids. Coarse cells that lost their couplings go thousands of
 * times too far, and a second visit of their level turns that around: six of these were not definite. */
static void cycles_are_definite(void **state)
{
    (void)state;
    static const double closed[] = {0, 0.2, 0.4, 0.6};
    for (uint64_t seed = 0; seed < 16; seed++) {
        tl_pressure_case c;
        hierarchy h;
        tl_lattice_make(&c, &(tl_lattice){.size = {9, 8 + (int32_t)(seed % 3), 10},
                                          .surface = true,
                                          .keep = seed & 1 ? ragged : NULL,
                                          .open = seed & 8 ? bottle : NULL});
        float *own = TL_NEW_ZERO(float, c.p.n);
        open_at_random(&c, seed, closed[seed % 4], seed >= 6);
        if (seed & 2) add_solids(&c, seed, own);
        CHECK_OK(tl_pressure_check(&c.p, &err));
        build(&h, &c.p, &tl_cycle_double, true);
        if (!definite(&h, c.p.n)) fail_msg("seed %d: the cycle is not positive", (int)seed);
        tl_free(own);
        tl_arena_free(&h.arena);
        tl_pressure_case_free(&c);
    }
}

/* ---- solves ---- */

/* Falling liquid that a floor stops: pressure rises linearly with depth, 1 per cell, 0 at the surface. */
static void hydrostatic(void **state)
{
    (void)state;
    tl_pressure_case c;
    tl_arena a = {0};
    tl_lattice_make(&c, &(tl_lattice){.size = {6, 20, 6}, .surface = true});
    for (int32_t i = 0; i < c.p.n; i++)
        c.b[i] = c.ijk[i][1] == 0 ? 1 : 0; /* outflow through the bottom face is missing */
    double *x = TL_NEW(double, c.p.n);
    for (int k = 0; k < tl_pressure_method_count(); k++)
        for (int warm = 0; warm < 2; warm++) {
            tl_pressure_options o = tl_pressure_options_default();
            tl_pressure_report r;
            o.mic_below = 0;
            o.start = warm ? TL_PRESSURE_WARM : TL_PRESSURE_NESTED;
            for (int32_t i = 0; i < c.p.n; i++) x[i] = i % 3 - 1.0;
            CHECK_OK(tl_pressure_solve(tl_pressure_method_at(k), &c.p, &o, &(tl_stop){1e-11, 500, 0}, x, &a, &r, &err));
            assert_int_equal(r.outcome.result, TL_CONVERGED);
            CHECK_LE(r.certificate.optimality, 1e-11);
            for (int32_t i = 0; i < c.p.n; i++) CHECK_NEAR(x[i], 19.5 - c.ijk[i][1], 1e-8); /* error <= |A^-1| 1e-11 */
        }
    tl_free(x);
    tl_arena_free(&a);
    tl_pressure_case_free(&c);
}

static bool one_cell(const int32_t at[3]) { return at[0] == 1 && at[1] == 1; }

/* P14: next to nothing to solve. */
static void degenerate(void **state)
{
    (void)state;
    tl_arena a = {0};
    tl_pressure_case empty, single, cube;
    tl_lattice_make(&empty, &(tl_lattice){.size = {0, 0, 0}});
    tl_lattice_make(&single, &(tl_lattice){.size = {2, 2, 1}, .surface = true, .keep = one_cell});
    tl_lattice_make(&cube, &(tl_lattice){.size = {12, 12, 12}, .surface = true});
    double x[1728];
    for (int k = 0; k < tl_pressure_method_count(); k++) {
        const tl_pressure_method *m = tl_pressure_method_at(k);
        tl_pressure_options o = tl_pressure_options_default();
        tl_pressure_report r;
        tl_stop stop = {1e-8, 100, 0};
        o.mic_below = 0;
        CHECK_OK(tl_pressure_solve(m, &empty.p, &o, &stop, x, &a, &r, &err));
        assert_int_equal(r.outcome.result, TL_CONVERGED);

        for (int tiny = 0; tiny < 2; tiny++)
            for (int sign = -1; sign < 2; sign++) {
                single.dir[0] = tiny ? 1e-6f : 2;
                single.ar[0] = tiny ? 1e-6f : 1;
                single.d[0] = single.dir[0];
                single.b[0] = sign;
                CHECK_OK(tl_pressure_solve(m, &single.p, &o, &stop, x, &a, &r, &err));
                assert_int_equal(r.outcome.result, TL_CONVERGED);
                CHECK_LE(r.outcome.iterations, 2);
                bool at_bound = sign < 0 && tl_pressure_method_bounded(m);
                CHECK_NEAR(x[0], at_bound ? 0 : sign / single.d[0], 1e-7 / single.d[0]);
            }

        /* everything pulls away: all cells at their bound */
        for (int32_t i = 0; i < cube.p.n; i++) cube.b[i] = -1 - i % 7;
        if (tl_pressure_method_bounded(m)) {
            CHECK_OK(tl_pressure_solve(m, &cube.p, &o, &stop, x, &a, &r, &err));
            assert_int_equal(r.outcome.result, TL_CONVERGED);
            CHECK_LE(r.outcome.iterations, 2);
            for (int32_t i = 0; i < cube.p.n; i++) CHECK_NEAR(x[i], 0, 0);
        }
        for (int32_t i = 0; i < cube.p.n; i++) cube.b[i] = 0;
        CHECK_OK(tl_pressure_solve(m, &cube.p, &o, &stop, x, &a, &r, &err));
        assert_int_equal(r.outcome.result, TL_CONVERGED);
        for (int32_t i = 0; i < cube.p.n; i++) CHECK_NEAR(x[i], 0, 1e-7);
    }
    tl_pressure_case_free(&empty);
    tl_pressure_case_free(&single);
    tl_pressure_case_free(&cube);
    tl_arena_free(&a);
}

/* A periodic tank whose coarse levels have an odd length around. */
static void periodic_solve(void **state)
{
    (void)state;
    const int32_t period[3] = {12, 0, 20};
    tl_pressure_case c;
    tl_arena a = {0};
    tl_lattice_make(&c, &(tl_lattice){.size = {12, 14, 20}, .period = period, .surface = true});
    for (int32_t i = 0; i < c.p.n; i++) c.b[i] = tl_random_normal(3, (uint64_t)i, 0);
    double *x = TL_NEW(double, c.p.n), *y = TL_NEW(double, c.p.n);
    tl_pressure_options o = tl_pressure_options_default();
    tl_pressure_report r;
    o.mic_below = 0;
    CHECK_OK(
        tl_pressure_solve(tl_pressure_method_find("multigrid"), &c.p, &o, &(tl_stop){1e-9, 60, 0}, x, &a, &r, &err));
    assert_int_equal(r.outcome.result, TL_CONVERGED);
    assert_string_equal(r.method, "multigrid");
    CHECK_LE(r.outcome.iterations, 20);
    CHECK_OK(tl_pressure_solve(tl_pressure_method_find("mic"), &c.p, &o, &(tl_stop){1e-9, 200, 0}, y, &a, &r, &err));
    assert_int_equal(r.outcome.result, TL_CONVERGED);
    for (int32_t i = 0; i < c.p.n; i++) CHECK_NEAR(x[i], y[i], 1e-6);
    tl_free(x);
    tl_free(y);
    tl_arena_free(&a);
    tl_pressure_case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order),          cmocka_unit_test(periodic),        cmocka_unit_test(validity),
        cmocka_unit_test(coarse_faces),   cmocka_unit_test(incremental),     cmocka_unit_test(thin_walls),
        cmocka_unit_test(symmetry_float), cmocka_unit_test(symmetry_double), cmocka_unit_test(hydrostatic),
        cmocka_unit_test(degenerate),     cmocka_unit_test(periodic_solve),  cmocka_unit_test(cycles_are_definite),
    };
    return cmocka_run_group_tests_name("pressure", tests, NULL, NULL);
}
