/* CHOLMOD [Chen2008] behind math/factor.h: supernodal LLT, simplicial LDLT, AMD and METIS. 32-bit indices: matrices and
 * factors of up to 2^31 nonzeros. */
#include <cholmod.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "math/blas.h"
#include "math/factor_backend.h"

#define K_MAX 8            /* right-hand sides solved at a time */
#define K_MAX_SIMPLICIAL 4 /* CHOLMOD cuts them like this itself, but then allocates */

typedef struct state {
    cholmod_common common;
    tl_factor_kind kind;
    cholmod_factor *L;
    int32_t *start;                             /* [n + 1], as CHOLMOD wants it */
    cholmod_dense *Y[K_MAX + 1], *E[K_MAX + 1]; /* work of solves; per k, because another shape is allocated anew */
} state;

static pthread_once_t hooks_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t metis_lock = PTHREAD_MUTEX_INITIALIZER; /* METIS draws from rand() */

/* The hooks are global to the process; ours hand out plain C library blocks, so blocks of other users
 * of CHOLMOD may cross over. */
static void set_hooks(void)
{
    SuiteSparse_config.malloc_func = tl_hook_malloc;
    SuiteSparse_config.calloc_func = tl_hook_calloc;
    SuiteSparse_config.realloc_func = tl_hook_realloc;
    SuiteSparse_config.free_func = tl_hook_free;
}

static void start_common(cholmod_common *c)
{
    pthread_once(&hooks_once, set_hooks);
    cholmod_start(c);
    c->print = 0;
    c->error_handler = NULL;
    c->useGPU = 0;
    c->quick_return_if_not_posdef = 1;
    c->grow0 = c->grow1 = 0; /* columns of L exactly as long as they are: no updates later */
    c->grow2 = 0;
}

/* CHOLMOD's status as ours. Call right after the call in question: the next one resets it. */
static talus_status verdict(const cholmod_common *c, const char *what, talus_error *err)
{
    switch (c->status) {
    case CHOLMOD_OUT_OF_MEMORY: return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to %s", what);
    case CHOLMOD_TOO_LARGE:
        return TL_FAIL(err, TALUS_UNSUPPORTED, "too large to %s: the factor exceeds 32-bit indices", what);
    case CHOLMOD_NOT_INSTALLED:
        return TL_FAIL(err, TALUS_UNSUPPORTED, "CHOLMOD was built without what is needed to %s", what);
    default: break;
    }
    if (c->status < 0)
        return TL_FAIL(err, TALUS_BAD_INPUT, "CHOLMOD refused to %s (its status is %d)", what, c->status);
    return TALUS_OK;
}

/* 32-bit copy of the row offsets; NULL with err set. */
static talus_status narrow_start(const tl_csr *A, int32_t **start, talus_error *err)
{
    int64_t nonzeros = A->start[A->rows];
    *start = NULL;
    if (nonzeros >= INT32_MAX || A->rows >= INT32_MAX - 2)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "%d rows with %lld nonzeros exceed CHOLMOD's 32-bit indices", A->rows,
                       (long long)nonzeros);
    *start = TL_NEW(int32_t, (int64_t)A->rows + 1);
    if (!*start) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the offsets of %d rows", A->rows);
    for (int32_t i = 0; i <= A->rows; i++) (*start)[i] = (int32_t)A->start[i];
    return TALUS_OK;
}

/* A as CHOLMOD sees it, nothing copied: rows of a symmetric matrix are its columns; the lower part
 * is stored as well and ignored. */
static cholmod_sparse view(const tl_csr *A, int32_t *start, int xtype)
{
    return (cholmod_sparse){.nrow = (size_t)A->rows,
                            .ncol = (size_t)A->rows,
                            .nzmax = (size_t)A->start[A->rows],
                            .p = start,
                            .i = A->col,
                            .x = xtype == CHOLMOD_REAL ? A->val : NULL,
                            .stype = 1,
                            .itype = CHOLMOD_INT,
                            .xtype = xtype,
                            .dtype = CHOLMOD_DOUBLE,
                            .sorted = 1,
                            .packed = 1};
}

static void drop(state *s)
{
    cholmod_free_factor(&s->L, &s->common);
    for (int k = 0; k <= K_MAX; k++) {
        cholmod_free_dense(&s->Y[k], &s->common);
        cholmod_free_dense(&s->E[k], &s->common);
    }
    tl_free(s->start);
    s->start = NULL;
}

static void *create(tl_factor_kind kind)
{
    state *s = TL_NEW_ZERO(state, 1);
    if (!s) return NULL;
    start_common(&s->common);
    s->kind = kind;
    s->common.supernodal = kind == TL_FACTOR_LLT ? CHOLMOD_SUPERNODAL : CHOLMOD_SIMPLICIAL;
    return s;
}

static void destroy(void *data)
{
    state *s = data;
    drop(s);
    cholmod_finish(&s->common);
    tl_free(s);
}

static talus_status analyse(void *data, const tl_csr *A, tl_order order, const int32_t *perm, tl_factor_info *info,
                            talus_error *err)
{
    state *s = data;
    cholmod_common *c = &s->common;
    drop(s);
    TL_TRY(narrow_start(A, &s->start, err));

    cholmod_sparse M = view(A, s->start, CHOLMOD_PATTERN);
    c->nmethods = 1; /* the order asked for, no trials */
    c->method[0].ordering = perm ? CHOLMOD_GIVEN : order == TL_ORDER_METIS ? CHOLMOD_METIS : CHOLMOD_AMD;
    c->postorder = !perm;
    int32_t *given = (int32_t *)(uintptr_t)perm; /* not written to */
    if (order == TL_ORDER_METIS) pthread_mutex_lock(&metis_lock);
    s->L = cholmod_analyze_p(&M, given, NULL, 0, c);
    if (order == TL_ORDER_METIS) pthread_mutex_unlock(&metis_lock);
    TL_TRY(verdict(c, "analyse the matrix", err));
    info->perm = s->L->Perm;
    info->nonzeros = (int64_t)c->lnz;
    info->flops = c->fl;
    return TALUS_OK;
}

/* Diagonal of L (LLT) or D (LDLT), entry j. */
static double pivot(const cholmod_factor *L, int32_t super, int32_t j)
{
    const double *x = L->x;
    if (!L->is_super) return x[((const int32_t *)L->p)[j]];
    const int32_t *first = L->super, *pi = L->pi, *px = L->px;
    int64_t rows = pi[super + 1] - pi[super], within = j - first[super];
    return x[px[super] + within * rows + within];
}

/* CHOLMOD lets NaN through, and in LDLT also what it should not: look at every pivot. */
static talus_status check_pivots(const state *s, tl_factor_info *info, talus_error *err)
{
    const cholmod_factor *L = s->L;
    const int32_t *perm = L->Perm, *first = L->super;
    int32_t n = (int32_t)L->n, super = 0;
    for (int32_t j = 0; j < n; j++) {
        if (L->is_super && j == first[super + 1]) super++;
        double d = pivot(L, super, j);
        if (d > 0 && isfinite(d)) continue;
        info->negative += d < 0;
        if (d < 0 && s->kind == TL_FACTOR_LDLT && isfinite(d)) continue;
        info->bad_column = perm[j];
        if (d == 0) return TL_FAIL(err, TALUS_NOT_DEFINITE, "the pivot of column %d is zero", perm[j]);
        return TL_FAIL(err, TALUS_BAD_INPUT, "the pivot of column %d is not finite", perm[j]);
    }
    return TALUS_OK;
}

static talus_status compute(void *data, const tl_csr *A, tl_factor_info *info, talus_error *err)
{
    state *s = data;
    cholmod_sparse M = view(A, s->start, CHOLMOD_REAL);
    TL_TRY(tl_blas_reserve(err));
    tl_blas_scope scope = tl_blas_begin();
    cholmod_factorize(&M, s->L, &s->common);
    tl_blas_end(scope);
    TL_TRY(verdict(&s->common, "factorise the matrix", err));
    if (s->L->minor < s->L->n) {
        info->bad_column = ((const int32_t *)s->L->Perm)[s->L->minor];
        return TL_FAIL(err, TALUS_NOT_DEFINITE,
                       s->kind == TL_FACTOR_LLT ? "not positive definite: the pivot of column %d is not positive"
                                                : "the pivot of column %d is zero",
                       info->bad_column);
    }
    return check_pivots(s, info, err);
}

static cholmod_dense columns(int64_t n, int k, const double *x)
{
    return (cholmod_dense){.nrow = (size_t)n,
                           .ncol = (size_t)k,
                           .nzmax = (size_t)(n * k),
                           .d = (size_t)n,
                           .x = (double *)(uintptr_t)x,
                           .xtype = CHOLMOD_REAL,
                           .dtype = CHOLMOD_DOUBLE};
}

/* The work that cholmod_solve2 wants, in its shapes, so that it finds it and allocates nothing: short of memory
 * for one of the two it would go on with a null pointer. */
static talus_status work_for_solve(state *s, int k, cholmod_dense **Y, cholmod_dense **E, talus_error *err)
{
    cholmod_common *c = &s->common;
    size_t n = s->L->n, count = (size_t)k, most = s->L->maxesize;
    bool ok;
    if (s->L->is_super) {
        ok = cholmod_ensure_dense(Y, n, count, n, CHOLMOD_REAL, c) != NULL;
        ok = ok && cholmod_ensure_dense(E, count, most, count, CHOLMOD_REAL, c);
    } else {
        if (*Y) { /* the last solve left it narrower */
            (*Y)->nrow = (*Y)->d = K_MAX_SIMPLICIAL;
            (*Y)->ncol = n;
        }
        ok = cholmod_ensure_dense(Y, K_MAX_SIMPLICIAL, n, K_MAX_SIMPLICIAL, CHOLMOD_REAL, c) != NULL;
    }
    return ok ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d right-hand sides of %zu", k, n);
}

static talus_status solve(void *data, int k, const double *b, double *x, talus_error *err)
{
    state *s = data;
    int64_t n = (int64_t)s->L->n;
    int most = s->L->is_super ? K_MAX : K_MAX_SIMPLICIAL;
    for (int done = 0; done < k; done += most) {
        int group = k - done < most ? k - done : most;
        cholmod_dense B = columns(n, group, b + done * n), X = columns(n, group, x + done * n), *result = &X;
        int slot = s->L->is_super ? group : 0;
        TL_TRY(work_for_solve(s, group, &s->Y[slot], &s->E[slot], err));
        TL_TRY(tl_blas_reserve(err));
        /* a result of the right shape is filled in place */
        tl_blas_scope scope = tl_blas_begin();
        cholmod_solve2(CHOLMOD_A, s->L, &B, NULL, &result, NULL, &s->Y[slot], &s->E[slot], &s->common);
        tl_blas_end(scope);
        TL_TRY(verdict(&s->common, "solve", err));
    }
    return TALUS_OK;
}

static void copy_simplicial(const cholmod_factor *L, tl_csr *Lt, double *D)
{
    const int32_t *p = L->p, *row = L->i, *nz = L->nz;
    const double *x = L->x;
    for (int32_t j = 0; j < Lt->rows; j++) {
        int64_t to = Lt->start[j];
        memcpy(Lt->col + to, row + p[j], sizeof(int32_t) * (size_t)nz[j]);
        memcpy(Lt->val + to, x + p[j], sizeof(double) * (size_t)nz[j]);
        Lt->val[to] = 1; /* D sits where the unit diagonal would be */
        if (D) D[j] = x[p[j]];
    }
}

static void copy_supernodal(const cholmod_factor *L, tl_csr *Lt, double *D)
{
    const int32_t *first = L->super, *pi = L->pi, *px = L->px, *row = L->s;
    const double *x = L->x;
    for (size_t super = 0; super < L->nsuper; super++)
        for (int32_t j = first[super]; j < first[super + 1]; j++) {
            int32_t rows = pi[super + 1] - pi[super], within = j - first[super], count = rows - within;
            memcpy(Lt->col + Lt->start[j], row + pi[super] + within, sizeof(int32_t) * (size_t)count);
            memcpy(Lt->val + Lt->start[j], x + px[super] + (int64_t)within * rows + within,
                   sizeof(double) * (size_t)count);
            if (D) D[j] = 1;
        }
}

static talus_status lower(const void *data, tl_csr *Lt, double *D, talus_error *err)
{
    const cholmod_factor *L = ((const state *)data)->L;
    int32_t n = (int32_t)L->n;
    const int32_t *nz = L->nz, *first = L->super, *pi = L->pi;
    int64_t total = 0;
    if (L->is_super)
        for (size_t s = 0; s < L->nsuper; s++) {
            int64_t rows = pi[s + 1] - pi[s], width = first[s + 1] - first[s];
            total += rows * width - width * (width - 1) / 2;
        }
    else
        for (int32_t j = 0; j < n; j++) total += nz[j];
    TL_TRY(tl_csr_create(Lt, n, n, total, err));

    if (L->is_super)
        for (size_t s = 0; s < L->nsuper; s++)
            for (int32_t j = first[s]; j < first[s + 1]; j++)
                Lt->start[j + 1] = Lt->start[j] + (pi[s + 1] - pi[s]) - (j - first[s]);
    else
        for (int32_t j = 0; j < n; j++) Lt->start[j + 1] = Lt->start[j] + nz[j];
    (L->is_super ? copy_supernodal : copy_simplicial)(L, Lt, D);
    return TALUS_OK;
}

const tl_factor_backend tl_factor_cholmod = {"cholmod", create, destroy, analyse, compute, solve, lower};

talus_status tl_cholmod_order(tl_order order, const tl_csr *A, int32_t *perm, talus_error *err)
{
    if (A->rows == 0) return TALUS_OK;
    int32_t *start;
    TL_TRY(narrow_start(A, &start, err));
    cholmod_common c;
    start_common(&c);
    cholmod_sparse M = view(A, start, CHOLMOD_PATTERN);
    if (order == TL_ORDER_METIS) {
        pthread_mutex_lock(&metis_lock);
        cholmod_metis(&M, NULL, 0, 1, perm, &c);
        pthread_mutex_unlock(&metis_lock);
    } else {
        cholmod_amd(&M, NULL, 0, perm, &c);
    }
    talus_status status = verdict(&c, "order the matrix", err);
    cholmod_finish(&c);
    tl_free(start);
    return status;
}
