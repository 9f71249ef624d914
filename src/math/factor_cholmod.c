/* CHOLMOD [Chen2008] behind math/factor.h: supernodal LLT, simplicial LDLT, AMD and METIS. 32-bit indices: matrices and
 * factors of up to 2^31 nonzeros. */
#include <cblas.h>
#include <cholmod.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "math/blas.h"
#include "math/factor_backend.h"

#define K_MAX 8            /* right-hand sides solved at a time */
#define K_MAX_SIMPLICIAL 4 /* CHOLMOD cuts them like this itself, but then allocates */
#define CHUNK 128          /* columns of a part of the inverse that go together */

typedef struct state {
    cholmod_common common;
    tl_factor_kind kind;
    cholmod_factor *L;
    int32_t *start;                             /* [n + 1], as CHOLMOD wants it */
    cholmod_dense *Y[K_MAX + 1], *E[K_MAX + 1]; /* work of solves; per k, because another shape is allocated anew */
    char *room;                                 /* work of parts of the inverse */
    size_t room_size;
    double *panels; /* columns of parts of the inverse */
    size_t panels_size;
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
    tl_free(s->room);
    tl_free(s->panels);
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
    size_t n = s->L->n, count = (size_t)k, max = s->L->maxesize;
    bool ok;
    if (s->L->is_super) {
        ok = cholmod_ensure_dense(Y, n, count, n, CHOLMOD_REAL, c) != NULL;
        ok = ok && cholmod_ensure_dense(E, count, max, count, CHOLMOD_REAL, c);
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
    int max = s->L->is_super ? K_MAX : K_MAX_SIMPLICIAL;
    for (int done = 0; done < k; done += max) {
        int group = k - done < max ? k - done : max;
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

/* ---- a part of the inverse ---- */

/* Columns of the part, in order of elimination. */
typedef struct column {
    int32_t at, number; /* in the factor's order; in the caller's */
} column;

static int by_place(const void *a, const void *b)
{
    const column *p = a, *q = b;
    return (p->at > q->at) - (p->at < q->at);
}

/* Columns of a chunk that reach a supernode, and where its rows are in the chunk's panel. */
typedef struct stretch {
    int16_t from, to; /* of the chunk's columns; to = 0: none */
    int32_t row;
} stretch;

/* Chunks have panels of their own, with rows for what their columns reach alone: a column of one subtree does not
 * meet one of another before a common ancestor, and neither storage nor products know of what lies between. */
typedef struct part {
    const cholmod_factor *L;
    int64_t count, chunks;
    column *column;   /* [count] */
    int32_t *of_row;  /* [n] supernode */
    int32_t *place;   /* [n] old -> new */
    stretch *stretch; /* [chunks][supernodes] */
    int64_t *first;   /* [chunks + 1] row of the chunk's panel among all */
    double *Y;        /* [all rows][CHUNK] */
    double *buffer;   /* [chunks][most rows of a supernode][CHUNK] */
} part;

static size_t align64(size_t bytes) { return (bytes + 63) / 64 * 64; }

/* Supernodes that columns of chunks reach, up to the roots. */
static void reach(part *p)
{
    const int32_t *first = p->L->super, *pi = p->L->pi, *row = p->L->s;
    const size_t supers = p->L->nsuper;
    for (size_t s = 0; s < supers; s++)
        for (int32_t j = first[s]; j < first[s + 1]; j++) p->of_row[j] = (int32_t)s;
    memset(p->stretch, 0, sizeof *p->stretch * (size_t)p->chunks * supers);
    for (int64_t k = 0; k < p->count; k++) {
        stretch *mine = p->stretch + (size_t)(k / CHUNK) * supers;
        int16_t c = (int16_t)(k % CHUNK);
        for (int32_t s = p->of_row[p->column[k].at]; s >= 0;) {
            int32_t width = first[s + 1] - first[s];
            if (mine[s].to == 0) mine[s].from = c;
            mine[s].to = (int16_t)(c + 1);
            s = pi[s + 1] - pi[s] > width ? p->of_row[row[pi[s] + width]] : -1;
        }
    }
    p->first[0] = 0;
    for (int64_t c = 0; c < p->chunks; c++) {
        int32_t rows = 0;
        for (size_t s = 0; s < supers; s++) {
            stretch *mine = &p->stretch[(size_t)c * supers + s];
            mine->row = rows;
            if (mine->to > 0) rows += first[s + 1] - first[s];
        }
        p->first[c + 1] = p->first[c] + rows;
    }
}

/* L Y = unit columns of one chunk. */
static void forward(const part *p, int64_t chunk)
{
    const int32_t *first = p->L->super, *pi = p->L->pi, *px = p->L->px, *row = p->L->s;
    const double *x = p->L->x;
    const stretch *all = p->stretch + (size_t)chunk * p->L->nsuper;
    double *Y = p->Y + p->first[chunk] * CHUNK, *T = p->buffer + chunk * (int64_t)p->L->maxesize * CHUNK;
    memset(Y, 0, sizeof *Y * (size_t)((p->first[chunk + 1] - p->first[chunk]) * CHUNK));
    for (int64_t k = chunk * CHUNK; k < p->count && k < (chunk + 1) * CHUNK; k++) {
        int32_t at = p->column[k].at, s = p->of_row[at];
        Y[(int64_t)(all[s].row + at - first[s]) * CHUNK + k % CHUNK] = 1;
    }
    for (size_t s = 0; s < p->L->nsuper; s++) {
        if (all[s].to == 0) continue;
        int32_t height = pi[s + 1] - pi[s], width = first[s + 1] - first[s], below = height - width;
        int from = all[s].from, count = all[s].to - from;
        const double *L11 = x + px[s];
        double *X = Y + (int64_t)all[s].row * CHUNK + from;
        cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, count, width, 1, L11, height, X,
                    CHUNK);
        if (below == 0) continue;
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, count, below, width, 1, X, CHUNK, L11 + width, height, 0,
                    T, count);
        for (int32_t i = 0; i < below; i++) {
            int32_t r = row[pi[s] + width + i], up = p->of_row[r];
            double *to = Y + (int64_t)(all[up].row + r - first[up]) * CHUNK + from;
            const double *t = T + (int64_t)i * count;
            for (int k = 0; k < count; k++) to[k] -= t[k];
        }
    }
}

/* Adds rows of two panels, those of `rows` unknowns. */
static void add_rows(const part *p, int64_t a, int64_t b, const stretch *A, const stretch *B, int rows, double *tile)
{
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, A->to - A->from, B->to - B->from, rows, 1,
                p->Y + (p->first[a] + A->row) * CHUNK + A->from, CHUNK, p->Y + (p->first[b] + B->row) * CHUNK + B->from,
                CHUNK, 1, tile + A->from * CHUNK + B->from, CHUNK);
}

/* Y^T Y between two chunks, to where the caller has them. Supernodes that the same columns reach go together. */
static void product(const part *p, int64_t a, int64_t b, double *C)
{
    double tile[CHUNK * CHUNK];
    const int32_t *first = p->L->super;
    const stretch *A = p->stretch + (size_t)a * p->L->nsuper, *B = p->stretch + (size_t)b * p->L->nsuper;
    memset(tile, 0, sizeof tile);
    for (size_t s = 0; s < p->L->nsuper;) {
        if (A[s].to == 0 || B[s].to == 0) {
            s++;
            continue;
        }
        int rows = first[s + 1] - first[s];
        size_t next = s + 1;
        while (next < p->L->nsuper) {
            const stretch *u = &A[next], *v = &B[next];
            if (u->to == 0 && v->to == 0) { /* has no rows in either */
                next++;
                continue;
            }
            if (u->from != A[s].from || u->to != A[s].to || v->from != B[s].from || v->to != B[s].to) break;
            rows += first[next + 1] - first[next];
            next++;
        }
        add_rows(p, a, b, &A[s], &B[s], rows, tile);
        s = next;
    }
    for (int64_t i = 0; i < CHUNK && a * CHUNK + i < p->count; i++)
        for (int64_t j = 0; j < CHUNK && b * CHUNK + j < p->count; j++) {
            if (a == b && j > i) continue;
            int64_t r = p->column[a * CHUNK + i].number, c = p->column[b * CHUNK + j].number;
            C[r * p->count + c] = C[c * p->count + r] = tile[i * CHUNK + j];
        }
}

/* Room for columns; some more than asked for, so that contacts that come and go do not reach the heap in every step. */
static double *make_panels(state *s, size_t count)
{
    if (count <= s->panels_size) return s->panels;
    size_t more = count + count / 4;
    tl_free(s->panels);
    s->panels = tl_alloc(sizeof(double) * more + 64);
    s->panels_size = s->panels ? more : 0;
    return s->panels;
}

static talus_status part_room(state *s, part *p, talus_error *err)
{
    size_t n = s->L->n, supers = s->L->nsuper, chunks = (size_t)p->chunks;
    size_t sizes[] = {sizeof(column) * (size_t)p->count, sizeof(int32_t) * n, sizeof(int32_t) * n,
                      sizeof(stretch) * chunks * supers, sizeof(int64_t) * (chunks + 1)};
    size_t total = 0;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) total += align64(sizes[k]);
    if (total > s->room_size) {
        total += total / 4;
        tl_free(s->room);
        s->room = tl_alloc(total);
        s->room_size = s->room ? total : 0;
        if (!s->room) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a part of an inverse");
    }
    char *at = s->room;
    p->column = (column *)at;
    p->of_row = (int32_t *)(at += align64(sizes[0]));
    p->place = (int32_t *)(at += align64(sizes[1]));
    p->stretch = (stretch *)(at += align64(sizes[2]));
    p->first = (int64_t *)(at + align64(sizes[3]));
    return TALUS_OK;
}

static talus_status part_super(state *s, int64_t count, const int32_t *index, double *C, talus_error *err)
{
    part p = {.L = s->L, .count = count, .chunks = (count + CHUNK - 1) / CHUNK};
    TL_TRY(tl_blas_reserve(err));
    int threads = omp_get_max_threads(); /* or this one alone, where memory is short: the bits are the same */
    if (tl_blas_reserve_for(threads, NULL) != TALUS_OK) threads = 1;
    TL_TRY(part_room(s, &p, err));
    const int32_t *perm = s->L->Perm;
    for (int32_t j = 0; j < (int32_t)s->L->n; j++) p.place[perm[j]] = j;
    for (int64_t k = 0; k < count; k++) p.column[k] = (column){p.place[index[k]], (int32_t)k};
    qsort(p.column, (size_t)count, sizeof *p.column, by_place);
    reach(&p);
    size_t rows = align64(sizeof(double) * (size_t)p.first[p.chunks] * CHUNK) / sizeof(double);
    p.Y = make_panels(s, rows + (size_t)p.chunks * s->L->maxesize * CHUNK);
    if (!p.Y)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a part of an inverse of %lld columns", (long long)count);
    p.buffer = p.Y + rows;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t c = 0; c < p.chunks; c++) {
        tl_blas_scope scope = tl_blas_begin();
        forward(&p, c);
        tl_blas_end(scope);
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t t = 0; t < p.chunks * p.chunks; t++) {
        if (t % p.chunks > t / p.chunks) continue;
        tl_blas_scope scope = tl_blas_begin();
        product(&p, t / p.chunks, t % p.chunks, C);
        tl_blas_end(scope);
    }
    return TALUS_OK;
}

/* Small factors are simplicial: by solves. */
static talus_status part_simplicial(state *s, int64_t count, const int32_t *index, double *C, talus_error *err)
{
    int64_t n = (int64_t)s->L->n;
    double *rhs = make_panels(s, K_MAX_SIMPLICIAL * (size_t)n);
    talus_status status = rhs ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a part of an inverse");
    for (int64_t k = 0; k < count && status == TALUS_OK; k += K_MAX_SIMPLICIAL) {
        int group = (int)(count - k < K_MAX_SIMPLICIAL ? count - k : K_MAX_SIMPLICIAL);
        memset(rhs, 0, sizeof *rhs * (size_t)(group * n));
        for (int g = 0; g < group; g++) rhs[g * n + index[k + g]] = 1;
        status = solve(s, group, rhs, rhs, err);
        for (int g = 0; g < group; g++)
            for (int64_t i = 0; i <= k + g; i++) C[i * count + k + g] = C[(k + g) * count + i] = rhs[g * n + index[i]];
    }
    return status;
}

static talus_status part_of_inverse(void *data, int64_t count, const int32_t *index, double *C, talus_error *err)
{
    state *s = data;
    return (s->L->is_super ? part_super : part_simplicial)(s, count, index, C, err);
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

const tl_factor_backend tl_factor_cholmod = {"cholmod", create, destroy,         analyse,
                                             compute,   solve,  part_of_inverse, lower};

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
