/* Preconditioners and a solver of PETSc as base/algebra.h has them. One matrix serves all values: entries that are 0 keep
 * their places. */
#include <petscsnes.h>
#include <string.h>

#include "cluster/inside.h"

#define LINEAR_LEFT 1e-5 /* of the residual, by the linear solves inside of a Newton step */

struct tl_algebra {
    cluster_thing thing;
    Mat A;
    PC pc;
    SNES snes; /* "vi" alone */
    Vec r, z;
    const double *b; /* while bounded runs */
};

static void destroy(cluster_thing *t)
{
    tl_algebra *s = (tl_algebra *)t;
    cluster_must(MatDestroy(&s->A));
    cluster_must(PCDestroy(&s->pc));
    cluster_must(SNESDestroy(&s->snes));
    cluster_must(VecDestroy(&s->r));
    cluster_must(VecDestroy(&s->z));
    cluster_must(PetscFree(s));
}

static void make_matrix(tl_algebra *s, const tl_algebra_pattern *p)
{
    PetscInt *row, *col;
    cluster_must(PetscMalloc2(p->entries, &row, p->entries, &col));
    for (int64_t k = 0; k < p->entries; k++) {
        row[k] = (PetscInt)p->row[k];
        col[k] = (PetscInt)p->col[k];
    }
    cluster_must(MatCreate(cluster_world(), &s->A));
    cluster_must(MatSetSizes(s->A, (PetscInt)p->rows, (PetscInt)p->rows, PETSC_DETERMINE, PETSC_DETERMINE));
    cluster_must(MatSetType(s->A, MATAIJ));
    cluster_must(MatSetPreallocationCOO(s->A, p->entries, row, col));
    cluster_must(MatSetOption(s->A, MAT_SPD, PETSC_TRUE));
    cluster_must(PetscFree2(row, col));
    cluster_must(MatCreateVecs(s->A, &s->z, &s->r));
}

static void set_up(PC pc, const char *solver)
{
    const bool gamg = !strcmp(solver, "gamg");
    cluster_must(PCSetType(pc, gamg ? PCGAMG : PCHYPRE));
    if (!gamg) cluster_must(PCHYPRESetType(pc, "boomeramg"));
    cluster_must(PCSetFromOptions(pc));
}

/* F = A x - b */
static PetscErrorCode residual(SNES snes, Vec x, Vec f, void *ctx)
{
    tl_algebra *s = ctx;
    PetscScalar *v;
    PetscInt n;
    (void)snes;
    PetscCall(MatMult(s->A, x, f));
    PetscCall(VecGetLocalSize(f, &n));
    PetscCall(VecGetArray(f, &v));
    for (PetscInt i = 0; i < n; i++) v[i] -= s->b[i];
    return VecRestoreArray(f, &v);
}

static PetscErrorCode jacobian(SNES snes, Vec x, Mat A, Mat P, void *ctx)
{
    (void)snes, (void)x, (void)A, (void)P, (void)ctx;
    return 0; /* the matrix itself */
}

static void make_snes(tl_algebra *s)
{
    KSP ksp;
    PC pc;
    cluster_must(SNESCreate(cluster_world(), &s->snes));
    cluster_must(SNESSetType(s->snes, SNESVINEWTONRSLS));
    cluster_must(SNESSetFunction(s->snes, s->r, residual, s)); /* it needs its vector given */
    cluster_must(SNESSetJacobian(s->snes, s->A, s->A, jacobian, s));
    cluster_must(SNESGetKSP(s->snes, &ksp));
    cluster_must(KSPSetType(ksp, KSPCG));
    cluster_must(KSPSetTolerances(ksp, LINEAR_LEFT, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    cluster_must(KSPGetPC(ksp, &pc));
    set_up(pc, "hypre");
    cluster_must(SNESSetFromOptions(s->snes));
}

static tl_algebra *algebra_make(const tl_comm *c, const char *solver, const tl_algebra_pattern *p)
{
    tl_algebra *s;
    (void)c;
    cluster_must(PetscNew(&s));
    make_matrix(s, p);
    if (!strcmp(solver, "vi")) {
        make_snes(s);
    } else {
        cluster_must(PCCreate(cluster_world(), &s->pc));
        set_up(s->pc, solver);
    }
    cluster_keep(&s->thing, destroy);
    return s;
}

static void algebra_set(tl_algebra *s, const double *values)
{
    cluster_must(MatSetValuesCOO(s->A, values, INSERT_VALUES));
    if (!s->pc) return;
    cluster_must(PCSetOperators(s->pc, s->A, s->A));
    cluster_must(PCSetUp(s->pc));
}

static void algebra_apply(tl_algebra *s, const double *r, double *z)
{
    cluster_must(VecPlaceArray(s->r, r));
    cluster_must(VecPlaceArray(s->z, z));
    cluster_must(PCApply(s->pc, s->r, s->z));
    cluster_must(VecResetArray(s->r));
    cluster_must(VecResetArray(s->z));
}

static tl_algebra_told algebra_bounded(tl_algebra *s, const double *b, double lo, double target, int max_iterations,
                                       double *x)
{
    Vec low, high;
    SNESConvergedReason why;
    PetscInt outer, inner;
    PetscReal left;
    s->b = b;
    cluster_must(VecPlaceArray(s->z, x));
    cluster_must(VecDuplicate(s->z, &low));
    cluster_must(VecDuplicate(s->z, &high));
    cluster_must(VecSet(low, lo));
    cluster_must(VecSet(high, PETSC_INFINITY));
    cluster_must(SNESVISetVariableBounds(s->snes, low, high));
    cluster_must(SNESSetTolerances(s->snes, target, 0, 0, max_iterations, PETSC_DEFAULT));
    cluster_must(SNESSolve(s->snes, NULL, s->z));
    cluster_must(SNESGetConvergedReason(s->snes, &why));
    cluster_must(SNESGetIterationNumber(s->snes, &outer));
    cluster_must(SNESGetLinearSolveIterations(s->snes, &inner));
    cluster_must(SNESGetFunctionNorm(s->snes, &left));
    cluster_must(VecDestroy(&low));
    cluster_must(VecDestroy(&high));
    cluster_must(VecResetArray(s->z));
    return (tl_algebra_told){why > 0, (int)outer, (int)inner, left};
}

static bool algebra_options(const char *text) { return !PetscOptionsInsertString(NULL, text); }

static const char *algebra_version(void)
{
    static char text[256];
    if (!*text) cluster_must(PetscGetVersion(text, sizeof text));
    return text;
}

const tl_algebra_ops cluster_algebra = {algebra_make,    algebra_set,     algebra_apply,
                                        algebra_bounded, algebra_options, algebra_version};
