/* The SPH system in numbers: kernel sums, momentum, diagonals, symmetry, volumes. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "sph.h"

#include "base/random.h"

/* Two boxes, a ball and a static slab, touching each other and the water between them; walls around. */
static const char crowd[] =
    "gravity = {0, -9.81, 0}, sph = { spacing = 0.02 },"
    "domain = { min = {0, 0, 0}, max = {0.4, 0.4, 0.4} },"
    "fill = { { material = preset 'water', shape = box { size = {0.4, 0.08, 0.4}, center = {0.2, 0.05, 0.2} } } },"
    "bodies = {"
    " { shape = box { size = 0.12 }, at = {0.12, 0.15, 0.2}, density = 700, friction = 0.4 },"
    " { shape = box { size = {0.1, 0.12, 0.14} }, at = {0.25, 0.155, 0.2}, rotation_deg = {10, 20, 5}, density = 2000, "
    "friction = 0.6 },"
    " { shape = sphere { radius = 0.06 }, at = {0.18, 0.28, 0.2}, density = 1500, friction = 0.3 },"
    " { kind = 'static', shape = box { size = {0.1, 0.1, 0.1} }, at = {0.12, 0.05, 0.2}, friction = 0.5 } }";

static void open_crowd(sph_case *c)
{
    tl_sph_options o = {0.7, 0.1, TL_SPH_LATTICE};
    *c = sph_open(NULL, crowd, &o);
    sph_shake(c, 7, 0.004, 0.5);
    sph_step(c, 1e-3);
    assert_true(c->step.contacts > 100);
    assert_true(c->step.edges > 100);
    int64_t bodies = 0, wet = 0;
    for (int64_t t = 0; t < c->step.touch_start[c->step.contacts]; t++) bodies += c->step.touch[t].other >= 0;
    for (int32_t e = 0; e < c->step.edges; e++) wet += c->step.edge_start[2 * e + 1] - c->step.edge_start[2 * e];
    assert_true(bodies > 100 && wet > 500);
}

static void kernel_sums(void **state)
{
    (void)state;
    double h = 0.02, volume = 0, plane = 0;
    tl_sph_kernel k = tl_sph_kernel_of(h);
    CHECK_REL(tl_sph_w(k, 0) * h * h * h, 1 / TL_SPH_PI, 1e-12);
    for (int i = -2; i <= 2; i++)
        for (int j = -2; j <= 2; j++) {
            plane += tl_sph_w(k, h * sqrt(i * i + j * j)) * h * h * h;
            for (int l = -2; l <= 2; l++) volume += tl_sph_w(k, h * sqrt(i * i + j * j + l * l)) * h * h * h;
        }
    CHECK_NEAR(volume, 1, 1e-4); /* the spline sums to 1.00002 here */
    CHECK_NEAR(plane, 0.70060, 1e-5);
    for (double r = 0.1 * h; r < 2.2 * h; r += 0.0737 * h) {
        double d = 1e-6 * h, slope = (tl_sph_w(k, r + d) - tl_sph_w(k, r - d)) / (2 * d);
        CHECK_NEAR(tl_sph_slope(k, r) * r, slope, 1e-7 / (h * h * h * h)); /* differences: 1e-12 of W's curvature */
    }
    assert_true(tl_sph_w(k, 2 * h) == 0 && tl_sph_slope(k, 2 * h) == 0 && tl_sph_slope(k, 0) == 0);
}

/* Internal forces of random pressures and friction sum to nothing, and so do their moments; with walls and static
 * bodies counted, too. */
static void momentum(void **state)
{
    (void)state;
    sph_case c;
    open_crowd(&c);
    tl_sph_step *s = &c.step;
    sph_random_x(&c, 3, 1000, 5);
    tl_sph_finish(s, c.x);
    tl_vec3 force = {0, 0, 0}, moment = {0, 0, 0}, listed = {0, 0, 0};
    double size = 0, arm = 0;
    for (int32_t i = 0; i < s->fluid; i++) {
        tl_vec3 f = tl_vec3_scale(c.scene->materials[s->particle[i].material].density * c.sph.V0 / s->dt, s->dv[i]);
        force = tl_vec3_add(force, f);
        moment = tl_vec3_add(moment, tl_vec3_cross(s->particle[i].x, f));
        size += tl_vec3_norm(f);
        arm += tl_vec3_norm(tl_vec3_cross(s->particle[i].x, f));
    }
    for (int32_t b = 0; b < c.rigid.count; b++) {
        tl_vec3 f = tl_vec3_add(s->contact_force[b].force, s->fluid_force[b].force);
        tl_vec3 t = tl_vec3_add(s->contact_force[b].torque, s->fluid_force[b].torque);
        force = tl_vec3_add(force, f);
        moment = tl_vec3_add(moment, tl_vec3_add(t, tl_vec3_cross(c.body[b].x, f)));
        size += tl_vec3_norm(f);
        if (c.inv_mass[b] > 0) { /* velocities agree with the listed forces */
            tl_vec3 dv = tl_vec3_scale(s->dt * c.inv_mass[b], f);
            listed = tl_vec3_sub(dv, s->add_v[b]);
            CHECK_LE(tl_vec3_norm(listed), 1e-12 * tl_vec3_norm(dv));
        }
    }
    CHECK_LE(tl_vec3_norm(force), 1e-14 * size);
    CHECK_LE(tl_vec3_norm(moment), 1e-14 * arm);
    sph_close(&c);
}

static double *residual_of(sph_case *c, double *out)
{
    tl_sph_residual(&c->step, c->x, out);
    return out;
}

/* Verr and slip are linear in x: differences are exact. Fluid rows, contact rows, and the tangent mean of friction
 * rows. */
static void diagonals(void **state)
{
    (void)state;
    sph_case c;
    open_crowd(&c);
    tl_sph_step *s = &c.step;
    int64_t n = c.problem.space->n;
    double *base = malloc(sizeof *base * (size_t)n), *moved = malloc(sizeof *moved * (size_t)n);
    residual_of(&c, base);
    int floored = 0, looked = 0;
    for (int32_t i = 0; i < s->fluid; i += 17) {
        c.x[i] = 1e6;
        residual_of(&c, moved);
        double D = (moved[i] - base[i]) / 1e6;
        c.x[i] = 0;
        floored += D < 0.99 * s->D[i];
        looked++;
        if (D >= 0.99 * s->D[i]) CHECK_REL(s->D[i], D, 2e-6); /* sums of gradients are kept in float */
    }
    assert_true(floored < looked / 2);
    for (int32_t k = 0; k < s->contacts; k += 3) {
        int64_t at = s->fluid + k, lam = s->fluid + s->contacts + 3 * (int64_t)k;
        const tl_sph_contact *r = &s->contact[k];
        if (!(r->D > 0)) continue;
        c.x[at] = 1e6;
        residual_of(&c, moved);
        CHECK_REL(r->D, (moved[at] - base[at]) / 1e6, 1e-8);
        c.x[at] = 0;
        if (!(r->Dl > 0)) continue;
        double trace = 0;
        for (int d = 0; d < 3; d++) {
            c.x[lam + d] = 100;
            residual_of(&c, moved);
            trace += (moved[lam + d] - base[lam + d]) / 100; /* rows are projected: trace of (1 - nn^T) S */
            c.x[lam + d] = 0;
        }
        CHECK_REL(r->Dl, trace / 3, 1e-8);
    }
    free(base);
    free(moved);
    sph_close(&c);
}

/* d Verr_i / d y_j = d Verr_j / d y_i for y = V0 p, over fluid and contacts alike. */
static double asymmetry(sph_case *c, bool mirrored)
{
    tl_sph_step *s = &c->step;
    int64_t n = c->problem.space->n, pressures = s->fluid + s->contacts;
    double *zero = malloc(sizeof *zero * (size_t)n), *a = malloc(sizeof *a * (size_t)n),
           *b = malloc(sizeof *b * (size_t)n), *y[2], left = 0, right = 0;
    y[0] = malloc(sizeof *a * (size_t)n);
    y[1] = malloc(sizeof *a * (size_t)n);
    memset(c->x, 0, sizeof *c->x * (size_t)n);
    residual_of(c, zero);
    for (int t = 0; t < 2; t++) {
        for (int64_t i = 0; i < n; i++) {
            double V0 = i < s->fluid ? c->sph.V0 : i < pressures ? s->contact[i - s->fluid].V0 : 1;
            y[t][i] = i < pressures ? tl_random(11 + (uint64_t)t, (uint64_t)i, 0) : 0;
            c->x[i] = y[t][i] / V0;
        }
        residual_of(c, t ? b : a);
        if (!mirrored) continue;
        /* the negative control: p of static and kinematic neighbours as if it were the particle's own */
        double scale = -s->dt * s->sph->h * s->sph->h, rate = s->dt / s->sph->h;
        for (int32_t e = 0; e < s->edges; e++) {
            int32_t i = s->edge[e];
            tl_vec3 sum = {0, 0, 0}, all = {(double)s->sum_g[i][0], (double)s->sum_g[i][1], (double)s->sum_g[i][2]};
            for (int64_t k = s->edge_start[2 * e + 1]; k < s->edge_start[2 * e + 2]; k++)
                sum = tl_vec3_add(sum, tl_sph_pair_g(&s->edge_pair[k]));
            tl_vec3 dv = tl_vec3_scale(scale * c->x[i] * (double)s->inv_m[i], sum);
            (t ? b : a)[i] -= rate * tl_vec3_dot(dv, all);
            for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
                (t ? b : a)[s->neighbour[k]] -= rate * tl_vec3_dot(dv, tl_sph_link_g(s, k));
        }
    }
    for (int64_t i = 0; i < pressures; i++) {
        left += y[1][i] * (a[i] - zero[i]);
        right += y[0][i] * (b[i] - zero[i]);
    }
    free(zero);
    free(a);
    free(b);
    free(y[0]);
    free(y[1]);
    return fabs(left - right) / fmax(fabs(left), fabs(right));
}

static void symmetry(void **state)
{
    (void)state;
    sph_case c;
    open_crowd(&c);
    CHECK_LE(asymmetry(&c, false), 1e-11);
    assert_true(asymmetry(&c, true) > 1e-3);
    sph_close(&c);
}

/* Forces of friction act where slips are measured, so its block is symmetric as well: no friction gives energy. */
static void symmetric_friction(void **state)
{
    (void)state;
    sph_case c;
    open_crowd(&c);
    tl_sph_step *s = &c.step;
    int64_t n = c.problem.space->n, first = s->fluid + s->contacts;
    double *a = malloc(sizeof *a * (size_t)n), *b = malloc(sizeof *b * (size_t)n),
           *zero = malloc(sizeof *a * (size_t)n);
    double product[2] = {0, 0}, size = 0, *r[2] = {a, b};
    memset(c.x, 0, sizeof *c.x * (size_t)n);
    residual_of(&c, zero);
    for (int t = 0; t < 2; t++) {
        for (int32_t k = 0; k < s->contacts; k++) { /* forces in the tangent plane */
            tl_vec3 l = {tl_random(5, (uint64_t)k, (uint64_t)(3 * t)) - 0.5,
                         tl_random(5, (uint64_t)k, (uint64_t)(3 * t + 1)) - 0.5,
                         tl_random(5, (uint64_t)k, (uint64_t)(3 * t + 2)) - 0.5};
            tl_vec3 normal = s->contact[k].normal;
            tl_vec3_store(tl_vec3_add_scaled(l, -tl_vec3_dot(l, normal), normal), c.x + first + 3 * (int64_t)k);
        }
        residual_of(&c, r[t]);
    }
    for (int32_t k = 0; k < s->contacts; k++) {
        tl_vec3 normal = s->contact[k].normal;
        for (int t = 0; t < 2; t++) {
            tl_vec3 l = {tl_random(5, (uint64_t)k, (uint64_t)(3 * (1 - t))) - 0.5,
                         tl_random(5, (uint64_t)k, (uint64_t)(3 * (1 - t) + 1)) - 0.5,
                         tl_random(5, (uint64_t)k, (uint64_t)(3 * (1 - t) + 2)) - 0.5};
            l = tl_vec3_add_scaled(l, -tl_vec3_dot(l, normal), normal);
            const double *v = r[t] + first + 3 * (int64_t)k, *v0 = zero + first + 3 * (int64_t)k;
            double q = tl_vec3_dot(l, tl_vec3_sub(tl_vec3_load(v), tl_vec3_load(v0)));
            product[t] += q;
            size += fabs(q);
        }
    }
    double off = fabs(product[0] - product[1]) / size;
    CHECK_LE(off, 1e-13);
    free(a);
    free(b);
    free(zero);
    sph_close(&c);
}

/* A solve is judged by the largest of its means, and by the largest error of one particle over `sph.worst`. */
static void judged_by_the_worst(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        sph_case c;
        open_crowd(&c);
        c.scene->sph.worst = k ? 0 : 20;
        memset(c.x, 0, sizeof *c.x * (size_t)c.problem.space->n);
        double *r = c.r;
        c.problem.evaluate(c.problem.ctx, c.x, r);
        double all = c.problem.measure(c.problem.ctx, c.x, r), mean = 0, worst = 0;
        for (int q = 0; q < 3; q++) mean = fmax(mean, c.step.error[q]), worst = fmax(worst, c.step.worst[q]);
        double high = 0;
        for (int32_t i = 0; i < c.step.fluid; i++) high = fmax(high, -2 * r[i]); /* without pressure: |r| - r */
        CHECK_REL(c.step.worst[0], high, 1e-12);
        assert_true(worst > mean);
        CHECK_REL(all, k ? mean : fmax(mean, worst / 20), 1e-15);
        c.step.strict = 1e3; /* liquid's mean alone */
        CHECK_REL(c.problem.measure(c.problem.ctx, c.x, r), 1e3 * c.step.error[0], 1e-15);
        sph_close(&c);
    }
}

/* 1/Vt = 1/V - gamma/V0, in double. */
static void contact_volumes(void **state)
{
    (void)state;
    sph_case c;
    open_crowd(&c);
    int compared = 0;
    for (int32_t k = 0; k < c.step.contacts; k++) {
        const tl_sph_contact *r = &c.step.contact[k];
        if (!(r->Vt > 0) || 1 / r->Vt < 1e-3 / r->V0) continue; /* the difference has no digits left */
        CHECK_REL(1 / (1 / r->V - c.sph.options.gamma / r->V0), r->Vt, 1e-7);
        compared++;
    }
    assert_true(compared > 100);
    sph_close(&c);
}

/* Far contacts are left out, are given back when a solve would press one of them, and only then. */
static void far_contacts(void **state)
{
    (void)state;
    sph_case c;
    open_crowd(&c);
    tl_sph_step *s = &c.step;
    int64_t n = c.problem.space->n;
    int32_t left_out = 0, hard = -1;
    tl_sph_leave_far(s);
    for (int32_t k = 0; k < s->contacts; k++) {
        if (!s->contact[k].far)
            hard = hard < 0 || s->contact[k].force > s->contact[hard].force ? k : hard;
        else
            left_out++;
    }
    assert_true(left_out > s->contacts / 10 && hard >= 0);
    memset(c.x, 0, sizeof *c.x * (size_t)n);
    c.problem.evaluate(c.problem.ctx, c.x, c.r);
    assert_false(tl_sph_call_back(s, 1e-4)); /* as predicted, none of them touches */
    for (int32_t k = 0; k < s->contacts; k++) c.x[s->fluid + k] = 1000;
    c.problem.clamp(c.problem.ctx, c.x);
    for (int32_t k = 0; k < s->contacts; k++) assert_true(!s->contact[k].far || c.x[s->fluid + k] == 0);
    memset(c.x, 0, sizeof *c.x * (size_t)n);
    c.x[s->fluid + hard] = 1e9; /* a blow that throws its body into everything */
    c.problem.evaluate(c.problem.ctx, c.x, c.r);
    assert_true(tl_sph_call_back(s, 1e-4));
    for (int32_t k = 0; k < s->contacts; k++) assert_false(s->contact[k].far);
    sph_close(&c);
}

/* The sweeps in float against those in double. */
static void float_agrees(void **state)
{
    (void)state;
    sph_case c;
    open_crowd(&c);
    int64_t n = c.problem.space->n;
    double *exact = malloc(sizeof *exact * (size_t)n), max = 0;
    sph_random_x(&c, 3, 1000, 5);
    residual_of(&c, exact);
    c.problem.evaluate(c.problem.ctx, c.x, c.r);
    for (int64_t i = 0; i < n; i++) max = fmax(max, fabs(exact[i]));
    for (int64_t i = 0; i < n; i++) CHECK_NEAR(c.r[i], exact[i], 1e-6 * max);
    free(exact);
    sph_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_sums),     cmocka_unit_test(judged_by_the_worst),
        cmocka_unit_test(momentum),        cmocka_unit_test(diagonals),
        cmocka_unit_test(symmetry),        cmocka_unit_test(symmetric_friction),
        cmocka_unit_test(contact_volumes), cmocka_unit_test(float_agrees),
        cmocka_unit_test(far_contacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
