#include "lg.h"

#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "check.h"
#include "math/svd3.h"
#include "model/lg/cells.h"

static talus_error err;

lg_body lg_body_make(const int cells[3], tl_vec3 size, double thickness, tl_lg_model model, tl_lg_scheme scheme,
                     double young, double poisson)
{
    lg_body b = {.part = {.name = "test",
                          .body = -1,
                          .kind = thickness > 0 ? TL_LG_CLOTH : TL_LG_TETS,
                          .model = model,
                          .scheme = scheme,
                          .young = young,
                          .poisson = poisson,
                          .density = 1000,
                          .thickness = thickness,
                          .bending = TL_LG_HINGE,
                          .stiffness = thickness > 0 ? 1e-3 * young * thickness : 0}};
    tl_box3 box = {{0, 0, 0}, size};
    tl_lg_part *p = &b.part;
    tl_lg_mesh mesh;
    if (thickness > 0)
        CHECK_OK(tl_lg_sheet(box, 2, cells[0], cells[1], &mesh, &err));
    else
        CHECK_OK(tl_lg_bar(box, cells, &mesh, &err));
    p->vertices = mesh.vertices;
    p->elements = mesh.elements;
    b.vertex = mesh.vertex;
    b.element = mesh.element;
    b.anchor = TL_NEW(tl_lg_anchor, p->vertices);
    assert_non_null(b.anchor);
    for (int32_t v = 0; v < p->vertices; v++)
        if (b.vertex[v].x == 0) b.anchor[p->anchors++] = (tl_lg_anchor){v, 0, young * size.x, b.vertex[v]};
    p->vertex = b.vertex;
    p->element = b.element;
    p->anchor = b.anchor;
    return b;
}

void lg_body_roll(lg_body *b, double radius)
{
    for (int32_t v = 0; v < b->part.vertices; v++) {
        tl_vec3 x = b->vertex[v];
        b->vertex[v] = (tl_vec3){radius * sin(x.x / radius), x.y, x.z + radius * (1 - cos(x.x / radius))};
    }
    for (int32_t k = 0; k < b->part.anchors; k++) b->anchor[k].local = b->vertex[b->anchor[k].vertex];
}

void lg_body_free(lg_body *b)
{
    tl_free(b->vertex);
    tl_free(b->element);
    tl_free(b->anchor);
}

void lg_problem_make(lg_problem *p, const lg_body *b, double h, double size, tl_lg_method method, int precisions)
{
    *p = (lg_problem){.h = h};
    CHECK_OK(tl_lg_create(&p->lg, 1, &b->part, 1, &err));
    CHECK_OK(tl_lg_solver_create(&p->solver, &p->lg, method, precisions, &err));
    CHECK_OK(tl_lg_solver_update(p->solver, h, &err));
    int64_t n = 3 * (int64_t)p->lg.nodes;
    p->q = TL_NEW(double, n);
    p->qtil = TL_NEW(double, n);
    p->r = TL_NEW(double, n);
    p->step = TL_NEW(double, n);
    p->u = TL_NEW_ZERO(double, 8 * p->lg.dual_rows + 1);
    p->force = TL_NEW(double, p->lg.force_count);
    p->target = TL_NEW(tl_vec3, p->lg.anchors + 1);
    tl_lg_targets(&p->lg, &(tl_pose){{0, 0, 0}, {1, 0, 0, 0}}, p->target);
    for (int64_t i = 0; i < n; i++) {
        double x = p->lg.rest[3 * (i / 3)];
        double bent = i % 3 == 2 ? x * x : i % 3 == 1 ? -0.5 * x * x : 0.2 * x;
        p->q[i] = p->qtil[i] = p->lg.rest[i] + size * (bent + 0.1 * (tl_random(9, (uint64_t)i, 0) - 0.5));
    }
}

void lg_problem_free(lg_problem *p)
{
    tl_lg_solver_free(p->solver);
    tl_lg_free(&p->lg);
    tl_free(p->q);
    tl_free(p->qtil);
    tl_free(p->r);
    tl_free(p->step);
    tl_free(p->u);
    tl_free(p->force);
    tl_free(p->target);
}

void lg_rounds(lg_problem *p, int count, tl_lg_precision precision)
{
    for (int k = 0; k < count; k++) {
        tl_lg_local(&p->lg, p->q, p->u, p->force);
        tl_lg_residual(&p->lg, p->h, p->q, p->qtil, p->target, p->force, p->r);
        tl_lg_solve(p->solver, precision, p->r, p->step);
        for (int64_t i = 0; i < 3 * (int64_t)p->lg.nodes; i++) p->q[i] += p->step[i];
    }
}

/* ---- the reference ---- */

/* psi(F) and dpsi/dF of a 3x3 F; of cloth, whose third column is zero, the two singular values that are not. */
static double element(const tl_lg_part *p, tl_mat3 F, tl_mat3 *P)
{
    int d = p->kind == TL_LG_CLOTH ? 2 : 3;
    double E = p->young, nu = p->poisson, mu = E / (2 * (1 + nu)), s[3], ds[3] = {0, 0, 0}, psi = 0, sum = 0, J = 1;
    double la = d == 2 ? E * nu / (1 - nu * nu) : E * nu / ((1 + nu) * (1 - 2 * nu));
    tl_mat3 U, V;
    tl_svd3(F, &U, s, &V);
    for (int i = 0; i < d; i++) sum += s[i], J *= s[i];
    for (int i = 0; i < d; i++) {
        if (p->model == TL_LG_NEO_HOOKEAN) {
            psi += 0.5 * mu * (s[i] * s[i] - 1);
            ds[i] = mu * s[i] - (mu - la * log(J)) / s[i];
        } else {
            psi += mu * (s[i] - 1) * (s[i] - 1);
            ds[i] = 2 * mu * (s[i] - 1) + (p->model == TL_LG_COROTATED ? la * (sum - d) : 0);
        }
    }
    if (p->model == TL_LG_NEO_HOOKEAN) psi += -mu * log(J) + 0.5 * la * log(J) * log(J);
    if (p->model == TL_LG_COROTATED) psi += 0.5 * la * (sum - d) * (sum - d);
    *P = tl_mat3_mul_t(tl_mat3_mul(U, tl_mat3_diagonal(ds[0], ds[1], ds[2])), V);
    return psi;
}

static tl_vec3 at(const lg_problem *p, const double *q, int32_t vertex)
{
    return tl_vec3_load(q + 3 * (int64_t)p->lg.node_of[vertex]);
}
static void push(const lg_problem *p, double *gradient, int32_t vertex, double s, tl_vec3 f)
{
    if (!gradient) return;
    double *g = gradient + 3 * (int64_t)p->lg.node_of[vertex];
    g[0] += s * f.x, g[1] += s * f.y, g[2] += s * f.z;
}

static double elements(const lg_body *b, const lg_problem *p, const double *q, double *gradient)
{
    const tl_lg_part *part = &b->part;
    int c = part->kind == TL_LG_CLOTH ? 3 : 4;
    double energy = 0;
    for (int32_t e = 0; e < part->elements; e++) {
        const int32_t *v = b->element + c * e;
        tl_vec3 X[4], x[4];
        for (int a = 0; a < c; a++) X[a] = b->vertex[v[a]], x[a] = at(p, q, v[a]);
        tl_vec3 d1 = tl_vec3_sub(X[1], X[0]), d2 = tl_vec3_sub(X[2], X[0]),
                normal = tl_vec3_normalize(tl_vec3_cross(d1, d2));
        tl_mat3 D = tl_mat3_from_columns(d1, d2, c == 4 ? tl_vec3_sub(X[3], X[0]) : normal), B;
        assert_true(tl_mat3_inverse(D, &B));
        double V = c == 4 ? tl_mat3_det(D) / 6 : 0.5 * tl_mat3_det(D) * part->thickness;
        tl_mat3 F = tl_mat3_mul(tl_mat3_from_columns(tl_vec3_sub(x[1], x[0]), tl_vec3_sub(x[2], x[0]),
                                                     c == 4 ? tl_vec3_sub(x[3], x[0]) : (tl_vec3){0, 0, 0}),
                                B),
                P;
        energy += V * element(part, F, &P);
        for (int a = 1; a < c; a++) {
            tl_vec3 f = tl_mat3_mul_vec(P, tl_mat3_row(B, a - 1));
            push(p, gradient, v[a], V, f);
            push(p, gradient, v[0], -V, f);
        }
    }
    return energy;
}

static double cot(tl_vec3 apex, tl_vec3 a, tl_vec3 b)
{
    tl_vec3 x = tl_vec3_sub(a, apex), y = tl_vec3_sub(b, apex);
    return tl_vec3_dot(x, y) / tl_vec3_norm(tl_vec3_cross(x, y));
}

static tl_mat3 cross_matrix(tl_vec3 a) { return (tl_mat3){{{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}}; }

static tl_mat3 normalizer(tl_vec3 a) /* derivative of a / |a| */
{
    tl_vec3 n = tl_vec3_normalize(a);
    tl_mat3 P = tl_mat3_identity();
    const double m[3] = {n.x, n.y, n.z};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) P.m[i][j] = (P.m[i][j] - m[i] * m[j]) / tl_vec3_norm(a);
    return P;
}

/* Mean normal of the triangles x0 x1 x2 and x1 x0 x3, and its derivatives. */
static tl_vec3 mean_normal(const tl_vec3 x[4], tl_mat3 D[4])
{
    tl_vec3 e = tl_vec3_sub(x[1], x[0]), a = tl_vec3_sub(x[2], x[0]), b = tl_vec3_sub(x[3], x[0]);
    tl_vec3 A = tl_vec3_cross(e, a), B = tl_vec3_cross(b, e),
            sum = tl_vec3_add(tl_vec3_normalize(A), tl_vec3_normalize(B));
    tl_mat3 N = normalizer(sum), NA = tl_mat3_mul(N, normalizer(A)), NB = tl_mat3_mul(N, normalizer(B));
    D[1] = tl_mat3_add(tl_mat3_mul(NA, tl_mat3_scale(-1, cross_matrix(a))), tl_mat3_mul(NB, cross_matrix(b)));
    D[2] = tl_mat3_mul(NA, cross_matrix(e));
    D[3] = tl_mat3_mul(NB, tl_mat3_scale(-1, cross_matrix(e)));
    D[0] = tl_mat3_scale(-1, tl_mat3_add(D[1], tl_mat3_add(D[2], D[3])));
    return tl_vec3_normalize(sum);
}

/* Quadratic bending by cotangents: k / (2 (A1 + A2)) |c.x|^2 per inner edge, c.x less its rest value along the mean
 * normal; on squares of four triangles edges of squares count 2/3 and diagonals 4/3 (model/lg/bending.h). Vertices
 * behind the lattice's are the middles. */
static double hinges(const lg_body *b, const lg_problem *p, const double *q, double *gradient)
{
    const tl_lg_part *part = &b->part;
    double energy = 0;
    for (int32_t s = 0; s < part->elements && part->kind == TL_LG_CLOTH; s++)
        for (int32_t t = 0; t < s; t++) {
            const int32_t *u = b->element + 3 * s, *w = b->element + 3 * t;
            int32_t shared[3], own = -1, other = -1;
            int count = 0;
            for (int i = 0; i < 3; i++) {
                bool both = u[i] == w[0] || u[i] == w[1] || u[i] == w[2];
                if (both)
                    shared[count++] = u[i];
                else
                    own = u[i];
                if (w[i] != u[0] && w[i] != u[1] && w[i] != u[2]) other = w[i];
            }
            if (count != 2) continue;
            tl_vec3 x0 = b->vertex[shared[0]], x1 = b->vertex[shared[1]], x2 = b->vertex[own], x3 = b->vertex[other];
            double c01 = cot(x0, x1, x2), c02 = cot(x0, x1, x3), c03 = cot(x1, x0, x2), c04 = cot(x1, x0, x3);
            const int32_t v[4] = {shared[0], shared[1], own, other};
            const double c[4] = {c03 + c04, c01 + c02, -c01 - c03, -c02 - c04};
            tl_vec3 e = tl_vec3_sub(x1, x0), sum = {0, 0, 0};
            double areas = 0.5 * (tl_vec3_norm(tl_vec3_cross(e, tl_vec3_sub(x2, x0))) +
                                  tl_vec3_norm(tl_vec3_cross(e, tl_vec3_sub(x3, x0))));
            const int32_t lattice = part->vertices - part->elements / 4;
            double factor = shared[0] >= lattice || shared[1] >= lattice ? 4.0 / 3 : 2.0 / 3;
            double k = 1.05 * factor * part->stiffness / areas;
            const tl_vec3 rest[4] = {x0, x1, x2, x3},
                          now[4] = {at(p, q, v[0]), at(p, q, v[1]), at(p, q, v[2]), at(p, q, v[3])};
            tl_mat3 D[4];
            double beta = 0;
            tl_vec3 n = mean_normal(rest, D);
            for (int i = 0; i < 4; i++) beta += c[i] * tl_vec3_dot(n, rest[i]);
            for (int i = 0; i < 4; i++) sum = tl_vec3_add_scaled(sum, c[i], now[i]);
            sum = tl_vec3_add_scaled(sum, -beta, mean_normal(now, D));
            energy += 0.5 * k * tl_vec3_norm2(sum);
            for (int i = 0; i < 4; i++) {
                push(p, gradient, v[i], k * c[i], sum);
                push(p, gradient, v[i], -k * beta, tl_mat3_tmul_vec(D[i], sum));
            }
        }
    return energy;
}

double lg_reference(const lg_body *b, const lg_problem *p, const double *q, double *gradient)
{
    int64_t n = 3 * (int64_t)p->lg.nodes;
    if (gradient) memset(gradient, 0, sizeof *gradient * (size_t)n);
    double energy = elements(b, p, q, gradient) + hinges(b, p, q, gradient);
    for (int32_t k = 0; k < b->part.anchors; k++) {
        const tl_lg_anchor *a = &b->anchor[k];
        tl_vec3 d = tl_vec3_sub(at(p, q, a->vertex), a->local);
        energy += 0.5 * a->weight * tl_vec3_norm2(d);
        push(p, gradient, a->vertex, a->weight, d);
    }
    for (int64_t i = 0; i < n; i++) {
        double m = p->lg.mass[i / 3] / (p->h * p->h), d = q[i] - p->qtil[i];
        energy += 0.5 * m * d * d;
        if (gradient) gradient[i] += m * d;
    }
    return energy;
}

/* A x = b by Cholesky, A [n][n] is lost; false when a pivot is not positive. */
static bool solve_dense(int64_t n, double *A, double *x)
{
    for (int64_t j = 0; j < n; j++) {
        for (int64_t k = 0; k < j; k++) A[j * n + j] -= A[j * n + k] * A[j * n + k];
        if (!(A[j * n + j] > 0)) return false;
        A[j * n + j] = sqrt(A[j * n + j]);
        for (int64_t i = j + 1; i < n; i++) {
            double s = A[i * n + j];
            for (int64_t k = 0; k < j; k++) s -= A[i * n + k] * A[j * n + k];
            A[i * n + j] = s / A[j * n + j];
        }
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < i; k++) x[i] -= A[i * n + k] * x[k];
        x[i] /= A[i * n + i];
    }
    for (int64_t i = n; i-- > 0;) {
        for (int64_t k = i + 1; k < n; k++) x[i] -= A[k * n + i] * x[k];
        x[i] /= A[i * n + i];
    }
    return true;
}

#define DIFFERENCE 1e-6 /* m: the matrix need not be exact, the gradient is */

void lg_newton(const lg_body *b, const lg_problem *p, double *q)
{
    int64_t n = 3 * (int64_t)p->lg.nodes;
    double *H = TL_NEW(double, n *n), *A = TL_NEW(double, n *n), *g = TL_NEW(double, n), *up = TL_NEW(double, n),
           *down = TL_NEW(double, n), *trial = TL_NEW(double, n);
    for (int it = 0; it < 60; it++) {
        double now = lg_reference(b, p, q, g), before = 0, shift = 0;
        for (int64_t j = 0; j < n; j++) {
            double kept = q[j];
            q[j] = kept + DIFFERENCE;
            (void)lg_reference(b, p, q, up);
            q[j] = kept - DIFFERENCE;
            (void)lg_reference(b, p, q, down);
            q[j] = kept;
            for (int64_t i = 0; i < n; i++) H[i * n + j] = (up[i] - down[i]) / (2 * DIFFERENCE);
        }
        double *x = up;
        for (;; shift = shift > 0 ? 4 * shift : 1e-6 * H[0]) {
            for (int64_t i = 0; i < n * n; i++)
                A[i] = 0.5 * (H[i] + H[(i % n) * n + i / n]) + (i % n == i / n ? shift : 0);
            for (int64_t i = 0; i < n; i++) x[i] = -g[i];
            if (solve_dense(n, A, x)) break;
        }
        double length = 1, moved = 0;
        for (int k = 0; k < 40; k++, length *= 0.5) {
            for (int64_t i = 0; i < n; i++) trial[i] = q[i] + length * x[i];
            before = lg_reference(b, p, trial, NULL);
            if (before <= now + 1e-14 * fabs(now)) break;
        }
        for (int64_t i = 0; i < n; i++) moved = fmax(moved, fabs(trial[i] - q[i]));
        memcpy(q, trial, sizeof *q * (size_t)n);
        if (moved < 1e-15) break;
    }
    tl_free(H);
    tl_free(A);
    tl_free(g);
    tl_free(up);
    tl_free(down);
    tl_free(trial);
}
