#include "solve/precond/precond.h"

#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "solve/vecops.h"

extern const tl_precond_kind tl_precond_ssor, tl_precond_ic, tl_precond_mic;

static talus_status none_create(tl_precond *P, const tl_csr *A, talus_error *err)
{
    (void)P, (void)A, (void)err;
    return TALUS_OK;
}
static void none_update(tl_precond *P, const double *add_diag) { (void)P, (void)add_diag; }
static void none_apply(const tl_precond *P, const double *r, double *z) { tl_vec_copy(P->A->rows, r, z); }
static void none_free(tl_precond *P) { (void)P; }

static void jacobi_update(tl_precond *P, const double *add_diag)
{
    double *inverse = P->data;
    tl_csr_diagonal(P->A, inverse);
#pragma omp parallel for schedule(static) if (P->A->rows >= TL_PARALLEL_MIN)
    for (int32_t i = 0; i < P->A->rows; i++) {
        double d = inverse[i] + (add_diag ? add_diag[i] : 0);
        inverse[i] = d > 0 ? 1 / d : 1;
    }
}

static talus_status jacobi_create(tl_precond *P, const tl_csr *A, talus_error *err)
{
    P->data = TL_NEW(double, A->rows);
    if (!P->data) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a diagonal of %d entries", A->rows);
    jacobi_update(P, NULL);
    return TALUS_OK;
}

static void jacobi_apply(const tl_precond *P, const double *r, double *z)
{
    const double *inverse = P->data;
#pragma omp parallel for schedule(static) if (P->A->rows >= TL_PARALLEL_MIN)
    for (int32_t i = 0; i < P->A->rows; i++) z[i] = inverse[i] * r[i];
}

static void jacobi_free(tl_precond *P) { tl_free(P->data); }

static const tl_precond_kind none = {"none", "no preconditioner", none_create, none_update, none_apply, none_free};
static const tl_precond_kind jacobi = {
    "jacobi", "inverse of the diagonal", jacobi_create, jacobi_update, jacobi_apply, jacobi_free};

static const tl_precond_kind *const kinds[] = {&none, &jacobi, &tl_precond_ssor, &tl_precond_ic, &tl_precond_mic};

int tl_precond_count(void) { return (int)(sizeof kinds / sizeof kinds[0]); }
const tl_precond_kind *tl_precond_at(int i) { return kinds[i]; }

const tl_precond_kind *tl_precond_find(const char *name)
{
    for (int i = 0; i < tl_precond_count(); i++)
        if (!strcmp(kinds[i]->name, name)) return kinds[i];
    return NULL;
}

talus_status tl_precond_create(tl_precond **P, const tl_precond_kind *kind, const tl_csr *A, talus_error *err)
{
    *P = TL_NEW_ZERO(tl_precond, 1);
    if (!*P) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a preconditioner");
    (*P)->kind = kind;
    (*P)->A = A;
    talus_status status = kind->create(*P, A, err);
    if (status != TALUS_OK) {
        tl_free(*P);
        *P = NULL;
    }
    return status;
}

void tl_precond_update(tl_precond *P, const double *add_diag, tl_work *w)
{
    if (!P) return;
    P->kind->update(P, add_diag);
    if (w) w->factorizations++;
}

void tl_precond_apply(const tl_precond *P, int64_t n, const double *r, double *z, tl_work *w)
{
    if (!P) {
        tl_vec_copy(n, r, z);
        return;
    }
    P->kind->apply(P, r, z);
    if (w) w->preconds++;
}

void tl_precond_free(tl_precond *P)
{
    if (!P) return;
    P->kind->free(P);
    tl_free(P);
}
