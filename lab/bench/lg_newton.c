#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sum.h"
#include "lab/bench/lg.h"
#include "model/lg/solver.h"

#define CG_MAX 400
#define CG_TARGET 1e-8  /* of the residual: the next Newton step is then as good as with a factor */
#define DIFFERENCE 1e-6 /* m: along directions of unit length over all nodes' mean */
#define HALVINGS 40

typedef struct newton {
    tl_sim *sim;
    tl_lg_solver *solver;
    const tl_state *start;
    double h;
    int64_t n; /* 3 nodes */
    tl_vec3 *target;
    double *block, *q, *qtil, *r, *other, *d, *p, *z, *product, *trial, *force;
} newton;

double tl_bench_lg_energy(const tl_sim *sim, const tl_state *start, const double *q, double elastic)
{
    const tl_lg_state *now = tl_lg_state_of(start);
    double inertia = 0, h = tl_lg_round_step(TL_BENCH_LG_DT);
    for (int64_t i = 0; i < 3 * (int64_t)sim->lg.nodes; i++) {
        double d = (q[i] - now->q[i]) / h - now->v[i];
        inertia += 0.5 * sim->lg.mass[i / 3] * d * d;
    }
    return inertia + elastic;
}

static double energy_at(const newton *w, const double *q)
{
    return tl_bench_lg_energy(w->sim, w->start, q,
                              tl_lg_stress(&w->sim->lg, q, NULL) + tl_lg_linear_energy(&w->sim->lg, q, w->target));
}

/* r = -h^2 gradient */
static void residual_at(const newton *w, const double *q, double *r)
{
    tl_lg_stress(&w->sim->lg, q, w->force);
    tl_lg_residual(&w->sim->lg, w->h, q, w->qtil, w->target, w->force, r);
}

/* h^2 Hessian times p, by a central difference. */
static void multiply(const newton *w, const double *p, double *out)
{
    double length = sqrt(tl_dot(w->n, p, p) / (double)w->n), step = length > 0 ? DIFFERENCE / length : 0;
    for (int64_t i = 0; i < w->n; i++) w->trial[i] = w->q[i] + step * p[i];
    residual_at(w, w->trial, out);
    for (int64_t i = 0; i < w->n; i++) w->trial[i] = w->q[i] - step * p[i];
    residual_at(w, w->trial, w->other);
    for (int64_t i = 0; i < w->n; i++) out[i] = step > 0 ? (w->other[i] - out[i]) / (2 * step) : 0;
}

/* d ~ Hessian^-1 r; stops where the Hessian bends down. */
static void direction(const newton *w)
{
    double *r = w->other + w->n; /* residual of the linear system */
    memset(w->d, 0, sizeof(double) * (size_t)w->n);
    memcpy(r, w->r, sizeof(double) * (size_t)w->n);
    tl_lg_solve(w->solver, TL_LG_DOUBLE, r, w->z);
    memcpy(w->p, w->z, sizeof(double) * (size_t)w->n);
    double rz = tl_dot(w->n, r, w->z), first = rz;
    for (int k = 0; k < CG_MAX && rz > CG_TARGET * CG_TARGET * first; k++) {
        multiply(w, w->p, w->product);
        double curvature = tl_dot(w->n, w->p, w->product);
        if (!(curvature > 0)) {
            if (k == 0) memcpy(w->d, w->z, sizeof(double) * (size_t)w->n);
            return;
        }
        double alpha = rz / curvature;
        for (int64_t i = 0; i < w->n; i++) {
            w->d[i] += alpha * w->p[i];
            r[i] -= alpha * w->product[i];
        }
        tl_lg_solve(w->solver, TL_LG_DOUBLE, r, w->z);
        double next = tl_dot(w->n, r, w->z);
        for (int64_t i = 0; i < w->n; i++) w->p[i] = w->z[i] + next / rz * w->p[i];
        rz = next;
    }
}

static void newton_step(const newton *w, double *energy)
{
    residual_at(w, w->q, w->r);
    direction(w);
    double slope = tl_dot(w->n, w->r, w->d) / (w->h * w->h), length = 1;
    for (int k = 0; k < HALVINGS; k++, length *= 0.5) {
        for (int64_t i = 0; i < w->n; i++) w->trial[i] = w->q[i] + length * w->d[i];
        double now = energy_at(w, w->trial);
        if (now > *energy - 1e-4 * length * slope) continue;
        *energy = now;
        memcpy(w->q, w->trial, sizeof(double) * (size_t)w->n);
        return;
    }
}

static talus_status newton_begin(newton *w, talus_error *err)
{
    tl_sim *sim = w->sim;
    const tl_lg *lg = &sim->lg;
    w->n = 3 * (int64_t)lg->nodes;
    w->h = tl_lg_round_step(TL_BENCH_LG_DT);
    w->block = TL_NEW(double, 11 * w->n + lg->force_count);
    w->target = TL_NEW(tl_vec3, lg->anchors + 1);
    tl_pose *handle = TL_NEW(tl_pose, lg->handles + 1);
    talus_status status = w->block && w->target && handle ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory");
    if (status == TALUS_OK) {
        double **const part[] = {&w->q, &w->qtil, &w->r, &w->d, &w->p, &w->z, &w->product, &w->trial};
        for (int k = 0; k < 8; k++) *part[k] = w->block + k * w->n;
        w->other = w->block + 8 * w->n; /* and the residual behind it */
        w->force = w->block + 11 * w->n;
        const tl_lg_state *now = tl_lg_state_of(w->start);
        for (int64_t i = 0; i < w->n; i++) w->q[i] = w->qtil[i] = now->q[i] + w->h * now->v[i];
        status = tl_lg_handle_poses(lg, sim->scene, w->start->t + w->h, handle, err);
    }
    if (status == TALUS_OK) {
        tl_lg_targets(lg, handle, w->target);
        status = tl_lg_solver_create(&w->solver, lg, TL_LG_FACTOR, TL_LG_DOUBLE, err);
    }
    if (status == TALUS_OK) status = tl_lg_solver_update(w->solver, w->h, err);
    tl_free(handle);
    return status;
}

talus_status tl_bench_lg_newton(tl_sim *sim, const tl_state *start, int counts, const int *rounds, double *energy,
                                talus_error *err)
{
    newton w = {.sim = sim, .start = start};
    talus_status status = newton_begin(&w, err);
    if (status == TALUS_OK) {
        double now = energy_at(&w, w.q);
        for (int k = 0, done = 0; k < counts; k++) {
            for (; done < rounds[k] && done < 20; done++) newton_step(&w, &now); /* it has long arrived */
            energy[k] = now;
        }
    }
    tl_lg_solver_free(w.solver);
    tl_free(w.block);
    tl_free(w.target);
    return status;
}
