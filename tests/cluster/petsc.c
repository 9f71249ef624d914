/* C5: PETSc's preconditioners and its method for variational inequalities find what ours does, with free bodies too. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/algebra.h"
#include "base/alloc.h"
#include "cases.h"
#include "pressure_part.h"
#include "solve/pressure/method.h"

static char why[200];

static const char *solve(const char *method, tl_pressure_part *q, double tolerance, const tl_pressure_options *o,
                         double *x, tl_pressure_report *r)
{
    tl_arena a = {0};
    talus_error err = {TALUS_OK, ""};
    memset(x, 0, sizeof *x * (size_t)(q->p.n + 1));
    talus_status status =
        tl_pressure_solve(tl_pressure_method_find(method), &q->p, o, &(tl_stop){tolerance, 400, 0}, x, &a, r, &err);
    tl_arena_free(&a);
    if (status) return snprintf(why, sizeof why, "%s: %s", method, err.message), why;
    if (r->outcome.result == TL_CONVERGED && r->certificate.optimality <= tolerance) return NULL;
    return snprintf(why, sizeof why, "%s: %s at %g", method, tl_result_name(r->outcome.result),
                    r->certificate.optimality),
           why;
}

static const char *compare(const char *method, const tl_pressure_part *q, const double *x, const double *y)
{
    double most = 0, off = 0;
    for (int32_t i = 0; i < q->p.n; i++) most = fmax(most, fabs(y[i]));
    most = tl_comm_max(q->space.comm, most);
    for (int32_t i = 0; i < q->p.n; i++) {
        off = fmax(off, fabs(x[i] - y[i]));
        if ((x[i] > 0) != (y[i] > 0) && fmax(x[i], y[i]) > 1e-6 * most) off = INFINITY;
    }
    off = tl_comm_max(q->space.comm, off);
    if (off <= 1e-6 * most) return NULL;
    return snprintf(why, sizeof why, "%s: off by %g of %g", method, off, most), why;
}

static const char *methods(const tl_comm *c, tl_pressure_scene scene, double density, int count)
{
    static const char *const names[] = {"petsc-hypre", "petsc-gamg", "petsc-vi"};
    tl_pressure_case whole;
    tl_pressure_part q = {0};
    talus_error err;
    tl_pressure_options o = tl_pressure_options_default();
    tl_pressure_report r;
    if (tl_gen_pressure(&whole, scene, 32, 0, density, &err)) return "no problem";
    const int mark = tl_comm_mark(c);
    const char *wrong = tl_pressure_part_make(&q, &whole, (tl_pressure_cut){.together = 3}, c);
    double *x = TL_NEW(double, q.p.n + 1), *y = TL_NEW(double, q.p.n + 1);
    if (!wrong) wrong = solve("multigrid", &q, 1e-10, &o, y, &r);
    const int ours = r.outcome.iterations;
    for (int m = 0; m < count && !wrong; m++) {
        wrong = solve(names[m], &q, 1e-9, &o, x, &r);
        if (!wrong) wrong = compare(names[m], &q, x, y);
        if (c->part == 0)
            printf("# %s, %d parts: %s %d iterations (multigrid %d), %d set-ups, %d linear\n",
                   tl_pressure_scene_name(scene), c->parts, names[m], r.outcome.iterations, ours,
                   (int)r.work.factorizations, (int)r.work.preconds);
    }
    o.rebuild = false; /* one set-up, masked */
    if (!wrong && count == 3) wrong = solve(names[0], &q, 1e-9, &o, x, &r);
    if (!wrong && count == 3) wrong = compare("petsc-hypre of all cells", &q, x, y);
    if (!wrong && count == 3 && r.work.factorizations != 1) wrong = "a masked preconditioner was made again";
    tl_free(x);
    tl_free(y);
    tl_pressure_part_free(&q);
    tl_pressure_case_free(&whole);
    tl_comm_release(c, mark);
    return wrong;
}

static const char *sphere(const tl_comm *c) { return methods(c, TL_SCENE_SPHERE, 0, 3); }
static const char *dam(const tl_comm *c) { return methods(c, TL_SCENE_DAM, 0, 3); }
static const char *bodies(const tl_comm *c) { return methods(c, TL_SCENE_TANK, 1, 2); }

/* Settings of PETSc reach its solvers. */
static const char *options(const tl_comm *c)
{
    tl_pressure_case whole;
    tl_pressure_part q = {0};
    talus_error err;
    const tl_pressure_options o = tl_pressure_options_default();
    tl_pressure_report plain, other;
    if (tl_gen_pressure(&whole, TL_SCENE_DAM, 24, 0, 0, &err)) return "no problem";
    const int mark = tl_comm_mark(c);
    const char *wrong = tl_pressure_part_make(&q, &whole, (tl_pressure_cut){.together = 3}, c);
    double *x = TL_NEW(double, q.p.n + 1);
    if (!wrong) wrong = solve("petsc-hypre", &q, 1e-9, &o, x, &plain);
    if (!c->algebra->options("-pc_hypre_boomeramg_strong_threshold 0.9 -pc_hypre_boomeramg_coarsen_type HMIS"))
        return "no options";
    if (!wrong) wrong = solve("petsc-hypre", &q, 1e-9, &o, x, &other);
    if (!wrong && plain.outcome.iterations == other.outcome.iterations) wrong = "another threshold changes nothing";
    tl_free(x);
    tl_pressure_part_free(&q);
    tl_pressure_case_free(&whole);
    tl_comm_release(c, mark);
    return wrong;
}

int main(void)
{
    const tl_comm *c = cluster_start(4);
    if (!c) return 1;
    int failed = cluster_run(c, 1, "sphere", sphere);
    failed += cluster_run(c, 2, "dam", dam);
    failed += cluster_run(c, 3, "tank with bodies", bodies);
    failed += cluster_run(c, 4, "options of PETSc", options);
    tl_cluster_end();
    return failed > 0;
}
