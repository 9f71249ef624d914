/* The contact certificate against hand-made answers, closed forms and a slow reference solver. */
#include "base/random.h"
#include "check.h"
#include "lab/bench/gen_contact.h"
#include "solve/contact/body_matrix.h"
#include "solve/contact/islands.h"
#include "solve/contact/method.h"
#include "solve/vecops.h"
#include "split.h"

#define G_DT (9.81 * 0.01) /* m/s gained in the generators' time step */

static tl_arena arena;
static talus_error err;

/* ---- one contact of a point of 2 kg, mu 0.5: u = lam / 2 + q ---- */

static tl_contact_certificate certify_point(const double q[3], const double lam_in[3])
{
    int64_t start[] = {0, 1, 2, 3};
    int32_t col[] = {0, 1, 2};
    double val[] = {0.5, 0.5, 0.5}, block[9] = {0.5, 0, 0, 0, 0.5, 0, 0, 0, 0.5}, mu = 0.5;
    double lam[3] = {lam_in[0], lam_in[1], lam_in[2]};
    tl_csr W = {3, 3, start, col, val};
    tl_space space = tl_space_local(3);
    tl_contact p = {.space = &space, .W = tl_linop_csr(&W), .blocks = block, .q = q, .mu = &mu};
    tl_contact_certificate c;
    CHECK_OK(tl_contact_check(&p, &err));
    CHECK_OK(tl_contact_certify(&p, lam, &c, &arena, &err));
    return c;
}

static void right_answers_of_one_contact(void **state)
{
    (void)state;
    const double stick[2][3] = {{-1, 0.3, 0}, {2, -0.6, 0}};
    const double slide[2][3] = {{-1, 3, 4}, {2, -0.6, -0.8}};
    const double open[2][3] = {{0.5, 1, 0}, {0, 0, 0}};
    const double touching[2][3] = {{0, 0, 0}, {0, 0, 0}};
    const double(*cases[])[3] = {stick, slide, open, touching};
    for (int k = 0; k < 4; k++) {
        tl_contact_certificate c = certify_point(cases[k][0], cases[k][1]);
        CHECK_LE(c.residual, 1e-15);
        CHECK_LE(c.cone_violation, 1e-15);
        CHECK_NEAR(c.normal_sum, cases[k][1][0], 0);
        assert_true(isnan(c.balance));
    }
}

static void wrong_answers_of_one_contact(void **state)
{
    (void)state;
    /* no push at all: approaches at 1 m/s */
    tl_contact_certificate c = certify_point((double[]){-1, 0, 0}, (double[]){0, 0, 0});
    CHECK_NEAR(c.normal, 1, 1e-15);
    CHECK_NEAR(c.residual, 1, 1e-15);

    /* a push across a gap that opens: the impulse must vanish, 3 N s on 2 kg */
    c = certify_point((double[]){1, 0, 0}, (double[]){3, 0, 0});
    CHECK_NEAR(c.normal, 1.5, 1e-15);

    /* full friction at a right angle to the slip: u_t = (2.6, 4.3), projected answer (-0.6, -0.8) */
    c = certify_point((double[]){-1, 3, 4}, (double[]){2, -0.8, 0.6});
    CHECK_NEAR(c.normal, 0, 1e-15);
    CHECK_NEAR(c.tangent, hypot(0.2, 1.4) / 2, 1e-15);

    /* friction along the slip, too weak by half of the disc */
    c = certify_point((double[]){-1, 3, 4}, (double[]){2, -0.3, -0.4});
    CHECK_NEAR(c.tangent, 0.25, 1e-15);

    /* outside of the cone, by the disc and by a pull */
    c = certify_point((double[]){-1, 3, 0}, (double[]){2, -1.5, 0});
    CHECK_NEAR(c.cone_violation, 0.5, 1e-15);
    c = certify_point((double[]){-1, 0, 0}, (double[]){-0.25, 0, 0});
    CHECK_NEAR(c.cone_violation, 0.25, 1e-15);

    /* nothing wrong passes as right because of a NaN */
    assert_true(isnan(certify_point((double[]){-1, 0, 0}, (double[]){NAN, 0, 0}).residual));
    assert_true(isnan(certify_point((double[]){-1, 0, 0}, (double[]){2, 0, NAN}).residual));
}

static void scales_of_a_block(void **state)
{
    (void)state;
    const double block[9] = {4, 9, 9, 9, 3, 1, 9, 1, 3}; /* tangent eigenvalues 2 and 4 */
    double w_n, w_t;
    tl_contact_scales(block, &w_n, &w_t);
    CHECK_NEAR(w_n, 0.25, 1e-16);
    CHECK_NEAR(w_t, 0.25, 1e-16);
}

/* ---- a cube of 8 kg on an incline: normals (cos +- sin) / 4 when it sticks ---- */

static void check_incline(double angle_deg, double mu)
{
    double angle = angle_deg * acos(-1) / 180, weight = 8 * G_DT;
    const double gravity[3] = {9.81 * sin(angle), -9.81 * cos(angle), 0};
    tl_gen_box cube = {{0, 0.1, 0}, {0.2, 0.2, 0.2}, 8};
    tl_gen_contact g;
    CHECK_OK(tl_gen_contact_boxes(&g, 1, &cube, mu, gravity, 0.01, &err));
    assert_int_equal(g.space.n, 12);

    double use = fmin(mu, tan(angle)); /* fraction of the normal that friction takes */
    double lam[12];
    for (int c = 0; c < 4; c++) {
        double side = c & 1 ? 1 : -1; /* +x is downhill */
        lam[3 * c] = weight * cos(angle) * (1 + side * use) / 4;
        lam[3 * c + 1] = 0;
        lam[3 * c + 2] = -use * lam[3 * c];
    }
    tl_contact_certificate c;
    CHECK_OK(tl_contact_certify(&g.problem, lam, &c, &arena, &err));
    CHECK_LE(c.residual, 1e-15); /* rounding of velocities of 0.1 m/s */
    CHECK_LE(c.cone_violation, 1e-15);
    CHECK_REL(c.normal_sum, weight * cos(angle), 1e-15);
    CHECK_NEAR(c.balance, sin(angle) - use * cos(angle), 1e-14);

    /* one per mille less friction lets that much of the stopped speed through */
    for (int k = 0; k < 4; k++) lam[3 * k + 2] *= 0.999;
    CHECK_OK(tl_contact_certify(&g.problem, lam, &c, &arena, &err));
    assert_true(c.tangent >= 1e-4 * use * G_DT);
    tl_gen_contact_free(&g);
}

static void block_on_an_incline(void **state)
{
    (void)state;
    check_incline(25, 0.6); /* tan 25 = 0.466: sticks */
    check_incline(25, 0.3); /* slides */
    check_incline(10, 1e6);
}

/* ---- 1000 kg on 1 kg: an upper force that is 20 % short ---- */

static void wrong_force_under_a_mass_ratio(void **state)
{
    (void)state;
    const double mass[2] = {1, 1000};
    tl_gen_contact g;
    CHECK_OK(tl_gen_contact_stack(&g, 2, mass, 0.5, &err));
    double lam[24] = {0}, scale = 0;
    tl_contact_certificate c;

    for (int wrong = 0; wrong < 2; wrong++) {
        double upper = (wrong ? 0.8 : 1) * 1000 * G_DT;  /* carries the heavy box, or 4/5 of it */
        double lower = upper + (wrong ? 0.8 : 1) * G_DT; /* both boxes sink together, at 0.2 g dt when wrong */
        for (int k = 0; k < 4; k++) {
            lam[3 * k] = lower / 4;
            lam[12 + 3 * k] = upper / 4;
        }
        scale = lower / 4;
        CHECK_OK(tl_contact_certify(&g.problem, lam, &c, &arena, &err));
        if (!wrong) {
            CHECK_LE(c.residual, 1e-13);
            CHECK_LE(c.balance, 1e-12);
        }
    }
    double w_n, w_t;
    tl_contact_scales(g.data.blocks, &w_n, &w_t);
    CHECK_LE(c.residual * w_n / scale, 3e-4);  /* an impulse residual relative to |lam| would pass */
    CHECK_NEAR(c.residual, 0.2 * G_DT, 1e-12); /* in m/s it is plain */
    CHECK_NEAR(c.balance, 0.2, 1e-12);
    tl_gen_contact_free(&g);
}

/* ---- closed forms of stacks: every interface carries what is above it ---- */

static void check_stack(int count, const double *mass, double sum)
{
    tl_gen_contact g;
    CHECK_OK(tl_gen_contact_stack(&g, count, mass, 0.5, &err));
    CHECK_OK(tl_contact_check(&g.problem, &err));
    CHECK_OK(tl_csr_check(&g.data.W, &err));
    assert_int_equal(g.space.n, 12 * count);
    double *lam = TL_TAKE(&arena, double, 12 * count), above = 0, heaviest = 0;
    for (int i = count - 1; i >= 0; i--) {
        above += mass[i];
        heaviest = fmax(heaviest, mass[i]);
        for (int k = 0; k < 4; k++) {
            double *l = lam + 12 * i + 3 * k;
            l[0] = above * G_DT / 4;
            l[1] = l[2] = 0;
        }
    }
    tl_contact_certificate c;
    CHECK_OK(tl_contact_certify(&g.problem, lam, &c, &arena, &err));
    CHECK_LE(c.residual, 1e-14 * above / mass[0]); /* impulses of the top rounded on the lightest box */
    CHECK_LE(c.balance, 1e-12);
    CHECK_NEAR(c.normal_sum, sum, 5e-7 * sum);
    tl_gen_contact_free(&g);
    tl_arena_reset(&arena);
}

static void stacks_with_known_sums(void **state)
{
    (void)state;
    double mass[30];
    for (int i = 0; i < 30; i++) mass[i] = 8;
    check_stack(30, mass, 364.932);
    check_stack(10, mass, 43.1640);
    const double tower[5] = {1, 10, 100, 1e3, 1e4};
    check_stack(5, tower, 5328.890);
}

/* ---- projected Gauss-Seidel on explicit rows: slow and safe ---- */

static size_t pgs_bytes(const tl_contact *p, const tl_options *o)
{
    (void)o;
    return TL_ARENA_ROOM(double, p->space->n) + TL_ARENA_ROOM(double, p->space->n / 3) + 64;
}

static double row_times(const tl_csr *A, int64_t i, const double *x)
{
    double sum = 0;
    for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) sum += A->val[k] * x[A->col[k]];
    return sum;
}

/* Runs all sweeps it is given and claims to have converged; the certificate is the judge. */
static tl_outcome pgs_run(const tl_contact *p, const tl_pairs *t, const tl_options *o, const tl_stop *stop, double *lam,
                          tl_arena *a, tl_work *w)
{
    (void)o, (void)a, (void)t;
    tl_outcome out = {.result = TL_CONVERGED};
    for (; out.iterations < stop->max_iterations; out.iterations++) {
        for (int64_t c = 0; c < p->space->n / 3; c++) {
            double w_n, w_t, *l = lam + 3 * c;
            tl_contact_scales(p->blocks + 9 * c, &w_n, &w_t);
            l[0] = fmax(0, l[0] - w_n * (row_times(p->W.csr, 3 * c, lam) + p->q[3 * c]));
            double x = l[1] - w_t * (row_times(p->W.csr, 3 * c + 1, lam) + p->q[3 * c + 1]);
            double y = l[2] - w_t * (row_times(p->W.csr, 3 * c + 2, lam) + p->q[3 * c + 2]);
            double length = hypot(x, y), radius = p->mu[c] * l[0];
            double scale = length > radius ? radius / length : 1;
            l[1] = scale * x;
            l[2] = scale * y;
        }
        w->products++;
    }
    return out;
}

static const tl_contact_method pgs = {
    .name = "pgs", .help = "test only", .true_coulomb = true, .bytes = pgs_bytes, .run = pgs_run};

static tl_contact_report solve(const tl_gen_contact *g, double *lam, int sweeps, double tolerance)
{
    tl_options o = tl_options_default();
    tl_stop stop = {.tolerance = tolerance, .max_iterations = sweeps};
    tl_contact_report report;
    tl_vec_fill(g->space.n, 0, lam);
    CHECK_OK(tl_contact_solve(&pgs, &g->problem, &o, &stop, lam, &arena, &report, &err));
    return report;
}

static void certificate_vanishes_at_the_solution(void **state)
{
    (void)state;
    const double mass[5] = {8, 8, 8, 8, 8};
    tl_gen_contact g;
    double lam[60];
    CHECK_OK(tl_gen_contact_stack(&g, 5, mass, 0.5, &err));
    tl_contact_report r = solve(&g, lam, 8000, 1e-12);
    CHECK_LE(r.certificate.residual, 1e-12);
    CHECK_LE(r.certificate.balance, 1e-10);
    CHECK_REL(r.certificate.normal_sum, 15 * 8 * G_DT, 1e-11); /* 5 + 4 + 3 + 2 + 1 cubes */
    assert_int_equal(r.outcome.result, TL_CONVERGED);
    assert_int_equal(r.outcome.iterations, 8000);
    tl_gen_contact_free(&g);
}

static void wall_has_the_known_sum(void **state)
{
    (void)state;
    tl_gen_contact g;
    CHECK_OK(tl_gen_contact_wall(&g, 5, 4, 1, 0.6, &err));
    assert_int_equal(g.space.n, 3 * (4 * 4 + 4 * 4 * 7)); /* 4 bricks on the ground, 7 overlaps between rows */
    double *lam = TL_TAKE(&arena, double, g.space.n);
    tl_contact_report r = solve(&g, lam, 3000, 1e-8);
    CHECK_LE(r.certificate.residual, 1e-8);
    CHECK_REL(r.certificate.normal_sum, 23.5440, 1e-6);
    CHECK_LE(r.certificate.balance, 1e-6);

    /* a claim that the certificate does not confirm is taken back */
    r = solve(&g, lam, 50, 1e-8);
    assert_true(r.certificate.residual > 1e-7);
    assert_int_equal(r.outcome.result, TL_STALLED);
    tl_gen_contact_free(&g);
    tl_arena_reset(&arena);
}

/* ---- assembly against J M^-1 J^T applied ---- */

static void assembly_matches_its_factors(void **state)
{
    (void)state;
    tl_gen_contact g;
    CHECK_OK(tl_gen_contact_wall(&g, 3, 3, 10, 0.6, &err));
    /* full inertia tensors, and one fixed brick in the middle */
    for (int i = 0; i < g.bodies.count; i++) {
        double B[9], *I = g.inv_inertia + 9 * i;
        for (int k = 0; k < 9; k++) B[k] = tl_random_normal(3, (uint64_t)i, (uint64_t)k);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                I[3 * r + c] =
                    i == 4 ? 0 : B[3 * r] * B[3 * c] + B[3 * r + 1] * B[3 * c + 1] + B[3 * r + 2] * B[3 * c + 2];
    }
    g.inv_mass[4] = 0;
    int64_t n = g.space.n;
    double *bias = TL_TAKE(&arena, double, n), *x = TL_TAKE(&arena, double, n), *Wx = TL_TAKE(&arena, double, n);
    double *v = TL_TAKE(&arena, double, 6 * g.bodies.count), *u = TL_TAKE(&arena, double, n);
    for (int64_t i = 0; i < n; i++) {
        bias[i] = tl_random_normal(4, (uint64_t)i, 0);
        x[i] = tl_random_normal(5, (uint64_t)i, 0);
    }
    tl_contact_assembled d;
    CHECK_OK(tl_contact_assemble(&d, &g.bodies, bias, &err));
    CHECK_OK(tl_csr_check(&d.W, &err));

    /* J (v_free + M^-1 J^T x) + bias = W x + q */
    tl_contact_velocities(&g.bodies, x, v);
    tl_csr_mul(&g.J, v, u);
    tl_csr_mul(&d.W, x, Wx);
    double largest = tl_space_max_abs(&g.space, u);
    for (int64_t i = 0; i < n; i++) CHECK_NEAR(Wx[i] + d.q[i], u[i] + bias[i], 1e-14 * largest);

    /* exactly symmetric, blocks are the diagonal ones */
    for (int32_t i = 0; i < n; i++)
        for (int64_t k = d.W.start[i]; k < d.W.start[i + 1]; k++) {
            int32_t j = d.W.col[k];
            int64_t t = d.W.start[j];
            while (t < d.W.start[j + 1] && d.W.col[t] != i) t++;
            assert_true(t < d.W.start[j + 1] && d.W.val[t] == d.W.val[k]);
            if (i / 3 == j / 3) assert_true(d.blocks[9 * (i / 3) + 3 * (i % 3) + j % 3] == d.W.val[k]);
        }

    /* the operator that never writes W out does the same */
    tl_contact_operator op = {&g.bodies, TL_TAKE(&arena, double, 6 * g.bodies.count)};
    tl_linop W = tl_contact_operator_linop(&op);
    double *q = TL_TAKE(&arena, double, n);
    tl_linop_apply(&W, &g.space, x, u, NULL);
    tl_contact_free_velocity(&g.bodies, bias, q);
    largest = tl_space_max_abs(&g.space, Wx);
    for (int64_t i = 0; i < n; i++) {
        CHECK_NEAR(u[i], Wx[i], 1e-14 * largest);
        CHECK_NEAR(q[i], d.q[i], 0);
    }
    tl_contact_assembled_free(&d);
    tl_gen_contact_free(&g);
    tl_arena_reset(&arena);
}

/* ---- what the methods work with ---- */

static tl_pairs pairs_of(const tl_contact *p)
{
    tl_pairs t;
    CHECK_OK(tl_arena_reserve(&arena, tl_pairs_bytes(p), &err));
    assert_true(tl_pairs_build(p, &t, &arena));
    return t;
}

/* (M + J^T D J) (H^-1 b) = b, with D of each contact random, symmetric and definite. */
static void block_factor_solves(void **state)
{
    (void)state;
    tl_gen_contact g;
    CHECK_OK(tl_gen_contact_wall(&g, 7, 6, 10, 0.6, &err));
    tl_pairs t = pairs_of(&g.problem);
    tl_body_matrix H;
    assert_true(tl_body_matrix_build(&H, &t, &arena));
    int64_t lanes = tl_pairs_lanes(&t);
    double *D = TL_TAKE_ZERO(&arena, double, 9 * (int64_t)t.contacts), *b = TL_TAKE_ZERO(&arena, double, lanes);
    double *x = TL_TAKE_ZERO(&arena, double, lanes), *y = TL_TAKE_ZERO(&arena, double, lanes);
    tl_body_matrix_start(&H, &t);
    for (int32_t c = 0; c < t.contacts; c++) {
        double v[3], *d = D + 9 * c;
        for (int k = 0; k < 3; k++) v[k] = tl_random_normal(7, (uint64_t)c, (uint64_t)k);
        for (int k = 0; k < 9; k++) d[k] = 100 * (v[k / 3] * v[k % 3] + (k % 4 ? 0 : 1));
        tl_body_matrix_add(&H, &t, c, d);
    }
    for (int32_t i = 0; i < t.moving; i++)
        for (int k = 0; k < 6; k++) b[TL_BODY_LANES * i + k] = tl_random_normal(8, (uint64_t)i, (uint64_t)k);
    assert_true(tl_body_matrix_factor(&H));
    tl_body_matrix_solve(&H, b, x);

    for (int32_t i = 0; i < t.moving; i++)
        for (int k = 0; k < 3; k++) {
            const double *v = x + TL_BODY_LANES * i, *I = t.inertia + 9 * i + 3 * k;
            y[TL_BODY_LANES * i + k] = t.mass[i] * v[k];
            y[TL_BODY_LANES * i + 3 + k] = I[0] * v[3] + I[1] * v[4] + I[2] * v[5];
        }
    for (int32_t c = 0; c < t.contacts; c++) {
        tl_lanes4 u = tl_pair_change(&t.pair[c], x);
        for (int s = 0; s < 2; s++)
            for (int k = 0; k < 6 && t.pair[c].body[s] >= 0; k++)
                for (int r = 0; r < 3; r++)
                    y[TL_BODY_LANES * t.pair[c].body[s] + k] +=
                        t.pair[c].J[s][k][r] *
                        (D[9 * c + 3 * r] * u[0] + D[9 * c + 3 * r + 1] * u[1] + D[9 * c + 3 * r + 2] * u[2]);
    }
    for (int64_t k = 0; k < lanes; k++) CHECK_NEAR(y[k], b[k], 1e-10); /* condition 1e4 */

    /* a contact that pulls: not definite */
    tl_body_matrix_start(&H, &t);
    tl_body_matrix_add(&H, &t, 0, (double[]){-1e6, 0, 0, 0, 0, 0, 0, 0, 0});
    assert_false(tl_body_matrix_factor(&H));
    tl_gen_contact_free(&g);
    tl_arena_reset(&arena);
}

/* Two towers far from each other, and a box in the air. */
static void islands_of_two_towers(void **state)
{
    (void)state;
    tl_gen_box box[6];
    for (int i = 0; i < 6; i++)
        box[i] = (tl_gen_box){{i % 2 ? 5 : 0, 0.1 + 0.2 * (i / 2), 0}, {0.2, 0.2, 0.2}, i % 2 ? 8 : 2};
    box[4].center[1] = 3;
    tl_gen_contact g;
    CHECK_OK(tl_gen_contact_boxes(&g, 6, box, 0.5, (double[]){0, -9.81, 0}, 0.01, &err));
    tl_pairs t = pairs_of(&g.problem);
    tl_islands all;
    CHECK_OK(tl_arena_reserve(&arena, tl_islands_bytes(&g.problem), &err));
    tl_islands_build(&t, &all, &arena);
    assert_int_equal(all.count, 2);
    assert_int_equal(all.first[2], t.contacts);
    for (int k = 0; k < 2; k++) {
        const tl_pairs *s = &all.island[k];
        int odd = s->of_moving[0] % 2;
        assert_int_equal(s->moving, odd ? 3 : 2);
        assert_int_equal(s->contacts, 4 * s->moving);
        for (int i = 0; i < s->moving; i++) CHECK_NEAR(s->mass[i], odd ? 8 : 2, 1e-12);
        for (int c = 0; c < s->contacts; c++)
            for (int side = 0; side < 2; side++) {
                int32_t own = s->pair[c].body[side], whole = t.pair[all.contact[all.first[k] + c]].body[side];
                assert_int_equal(own < 0 ? -1 : s->of_moving[own], whole < 0 ? -1 : t.of_moving[whole]);
                assert_int_equal(s->pair[c].place[side], own < 0 ? s->moving : own);
            }
    }
    /* solved apart, they carry what they carry */
    double *lam = TL_TAKE_ZERO(&arena, double, g.space.n);
    tl_options o = tl_options_default();
    tl_contact_report r;
    CHECK_OK(tl_contact_solve(tl_contact_method_find("newton-shift"), &g.problem, &o, &(tl_stop){1e-10, 0, 0}, lam,
                              &arena, &r, &err));
    assert_int_equal(r.outcome.result, TL_CONVERGED);
    CHECK_REL(r.certificate.normal_sum, (6 * 8 + 3 * 2) * G_DT, 1e-8);
    tl_gen_contact_free(&g);
    tl_arena_reset(&arena);
}

/* No switch: at the mantle a switch makes contacts flip for ever. */
static void shift_is_continuous(void **state)
{
    (void)state;
    tl_pair c = {.mu = 0.5};
    const double u[3] = {0, 3, 4};
    CHECK_NEAR(tl_pair_shift(&c, u, (double[]){0, 0, 0}), 2.5, 1e-15);       /* open */
    CHECK_NEAR(tl_pair_shift(&c, u, (double[]){2, -0.6, -0.8}), 2.5, 1e-15); /* slides */
    CHECK_NEAR(tl_pair_shift(&c, u, (double[]){2, 0.89, 0}), 0, 0);          /* sticks */
    CHECK_NEAR(tl_pair_shift(&c, u, (double[]){2, 0, 0.95}), 1.25, 1e-14);
    c.mu = 0;
    CHECK_NEAR(tl_pair_shift(&c, u, (double[]){2, 0, 0}), 0, 0);
}

/* The same answer, bit for bit, with W written out and without. */
static void works_without_assembled_matrix(void **state)
{
    (void)state;
    tl_gen_contact g;
    CHECK_OK(tl_gen_contact_wall(&g, 5, 4, 1, 0.6, &err));
    tl_contact_operator op = {&g.bodies, TL_TAKE(&arena, double, 6 * g.bodies.count)};
    tl_contact bare = g.problem;
    bare.W = tl_contact_operator_linop(&op);
    double *x[2] = {TL_TAKE(&arena, double, g.space.n), TL_TAKE(&arena, double, g.space.n)};
    tl_options o = tl_options_default();
    for (int i = 0; i < tl_contact_method_count(); i++) {
        tl_contact_report r[2];
        for (int k = 0; k < 2; k++) {
            tl_vec_fill(g.space.n, 0, x[k]);
            CHECK_OK(tl_contact_solve(tl_contact_method_at(i), k ? &bare : &g.problem, &o, &(tl_stop){1e-8, 40, 0},
                                      x[k], &arena, &r[k], &err));
        }
        assert_memory_equal(x[0], x[1], sizeof(double) * (size_t)g.space.n);
        CHECK_NEAR(r[0].certificate.residual, r[1].certificate.residual, 1e-14);
    }
    tl_gen_contact_free(&g);
    tl_arena_reset(&arena);
}

/* ---- split in parts ---- */

typedef struct job {
    tl_split *split;
    const tl_gen_contact *g;
    const double *lam;
    tl_contact_certificate seen[3];
} job;

static int certify_part(int part, void *user)
{
    job *j = user;
    const tl_space *s = tl_split_space(j->split, part);
    int64_t first = tl_split_begin(j->split, part);
    tl_contact p = {.space = s,
                    .W = tl_linop_csr(tl_split_csr(j->split, part)),
                    .blocks = j->g->data.blocks + 3 * first,
                    .q = j->g->data.q + first,
                    .mu = j->g->mu + first / 3};
    tl_arena a = {0};
    double *lam = tl_space_take(s, &a);
    tl_split_scatter(j->split, j->lam, part, lam);
    for (int64_t k = s->n; k < s->n + s->halo; k++) lam[k] = NAN;
    int status = (int)tl_contact_certify(&p, lam, &j->seen[part], &a, NULL);
    tl_arena_free(&a);
    return status;
}

static void same_certificate_on_parts(void **state)
{
    (void)state;
    tl_gen_contact g;
    CHECK_OK(tl_gen_contact_wall(&g, 5, 4, 1, 0.6, &err));
    double *lam = TL_TAKE(&arena, double, g.space.n);
    for (int64_t i = 0; i < g.space.n; i++) lam[i] = tl_random_normal(6, (uint64_t)i, 0);
    tl_contact_certificate whole;
    CHECK_OK(tl_contact_certify(&g.problem, lam, &whole, &arena, &err));
    for (int parts = 2; parts <= 3; parts++) {
        job j = {.split = tl_split_create(&g.data.W, parts, 3), .g = &g, .lam = lam};
        assert_non_null(j.split);
        assert_int_equal(tl_split_run(j.split, certify_part, &j), 0);
        for (int p = 0; p < parts; p++) {
            CHECK_REL(j.seen[p].normal, whole.normal, 1e-13); /* rows summed in another order */
            CHECK_REL(j.seen[p].tangent, whole.tangent, 1e-13);
            CHECK_NEAR(j.seen[p].cone_violation, whole.cone_violation, 0);
            CHECK_NEAR(j.seen[p].normal_sum, whole.normal_sum, 1e-12);
        }
        tl_split_free(j.split);
    }
    tl_gen_contact_free(&g);
    tl_arena_reset(&arena);
}

/* ---- refusals ---- */

static void bad_problems_are_named(void **state)
{
    (void)state;
    const double mass[2] = {8, 8};
    tl_gen_contact g;
    CHECK_OK(tl_gen_contact_stack(&g, 2, mass, 0.5, &err));
    g.mu[3] = -0.1;
    assert_int_equal(tl_contact_check(&g.problem, &err), TALUS_BAD_INPUT);
    assert_string_equal(err.message, "contact 3: mu must be >= 0 and finite, got -0.1");
    g.mu[3] = 0.1;
    g.data.q[7] = NAN;
    assert_int_equal(tl_contact_check(&g.problem, &err), TALUS_BAD_INPUT);
    g.data.q[7] = 0;
    g.data.blocks[9] = 0;
    assert_int_equal(tl_contact_check(&g.problem, &err), TALUS_BAD_INPUT);
    g.data.blocks[9] = 1;
    CHECK_OK(tl_contact_check(&g.problem, &err));
    g.data.blocks[9 + 1] += 0.5;
    assert_int_equal(tl_contact_check(&g.problem, &err), TALUS_BAD_INPUT);
    tl_contact_bodies wrong = g.bodies;
    wrong.count = 3;
    tl_contact_assembled d;
    assert_int_equal(tl_contact_assemble(&d, &wrong, NULL, &err), TALUS_BAD_INPUT);
    tl_gen_contact_free(&g);
}

static void table_lookups(void **state)
{
    (void)state;
    for (int i = 0; i < tl_contact_method_count(); i++) {
        const tl_contact_method *m = tl_contact_method_at(i);
        assert_ptr_equal(tl_contact_method_find(m->name), m);
    }
    assert_null(tl_contact_method_at(tl_contact_method_count()));
    assert_null(tl_contact_method_find("no such method"));
}

static int give_back(void **state)
{
    (void)state;
    tl_arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_answers_of_one_contact),
        cmocka_unit_test(wrong_answers_of_one_contact),
        cmocka_unit_test(scales_of_a_block),
        cmocka_unit_test(block_on_an_incline),
        cmocka_unit_test(wrong_force_under_a_mass_ratio),
        cmocka_unit_test(stacks_with_known_sums),
        cmocka_unit_test(certificate_vanishes_at_the_solution),
        cmocka_unit_test(wall_has_the_known_sum),
        cmocka_unit_test(assembly_matches_its_factors),
        cmocka_unit_test(block_factor_solves),
        cmocka_unit_test(islands_of_two_towers),
        cmocka_unit_test(shift_is_continuous),
        cmocka_unit_test(works_without_assembled_matrix),
        cmocka_unit_test(same_certificate_on_parts),
        cmocka_unit_test(bad_problems_are_named),
        cmocka_unit_test(table_lookups),
    };
    return cmocka_run_group_tests(tests, NULL, give_back);
}
