#include "math/factor.h"

#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "math/factor_backend.h"

static const tl_factor_backend *const backends[] = {&tl_factor_cholmod};

struct tl_factor {
    const tl_factor_backend *backend;
    void *state; /* the back end's */
    tl_factor_options options;
    tl_factor_info info;
    bool analysed, computed;
    int64_t *start; /* pattern last analysed, start [n + 1] and col */
    int32_t *col;
};

tl_factor_options tl_factor_options_default(void)
{
    return (tl_factor_options){.kind = TL_FACTOR_LLT, .order = TL_ORDER_METIS};
}

talus_status tl_factor_create(tl_factor **out, const tl_factor_options *options, talus_error *err)
{
    *out = NULL;
    const tl_factor_backend *backend = options->backend ? NULL : backends[0];
    for (size_t i = 0; i < sizeof backends / sizeof backends[0] && !backend; i++)
        if (strcmp(backends[i]->name, options->backend) == 0) backend = backends[i];
    if (!backend)
        return TL_FAIL(err, TALUS_BAD_INPUT, "no factorisation back end is called \"%s\"; there is \"%s\"",
                       options->backend, backends[0]->name);
    if (options->order == TL_ORDER_GIVEN && !options->perm)
        return TL_FAIL(err, TALUS_BAD_INPUT, "the order of the factor is \"given\" but no permutation is");

    tl_factor *f = TL_NEW_ZERO(tl_factor, 1);
    void *state = f ? backend->create(options->kind) : NULL;
    if (!state) {
        tl_free(f);
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a factor object");
    }
    f->backend = backend;
    f->state = state;
    f->options = *options;
    f->info.bad_column = -1;
    *out = f;
    return TALUS_OK;
}

void tl_factor_free(tl_factor *f)
{
    if (!f) return;
    f->backend->free(f->state);
    tl_free(f->start);
    tl_free(f->col);
    tl_free(f);
}

const tl_factor_info *tl_factor_info_of(const tl_factor *f) { return &f->info; }

static talus_status keep_pattern(tl_factor *f, const tl_csr *A, talus_error *err)
{
    int64_t nonzeros = A->start[A->rows];
    size_t start_bytes = sizeof(int64_t) * ((size_t)A->rows + 1), col_bytes = sizeof(int32_t) * (size_t)nonzeros;
    tl_free(f->start);
    tl_free(f->col);
    f->start = tl_alloc(start_bytes);
    f->col = tl_alloc(col_bytes);
    if (!f->start || !f->col)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a pattern of %lld nonzeros", (long long)nonzeros);
    memcpy(f->start, A->start, start_bytes);
    memcpy(f->col, A->col, col_bytes);
    return TALUS_OK;
}

talus_status tl_factor_analyse(tl_factor *f, const tl_csr *A, talus_error *err)
{
    f->analysed = f->computed = false;
    f->info = (tl_factor_info){.n = A->rows, .bad_column = -1};
    if (A->rows != A->cols) return TL_FAIL(err, TALUS_BAD_INPUT, "cannot factorise a %d x %d matrix", A->rows, A->cols);
    if (f->options.order == TL_ORDER_GIVEN) TL_TRY(tl_perm_check(A->rows, f->options.perm, err));
    TL_TRY(keep_pattern(f, A, err));

    const int32_t *perm = f->options.order == TL_ORDER_GIVEN ? f->options.perm : NULL;
    int32_t *own = NULL;
    if (f->options.order == TL_ORDER_RCM || f->options.order == TL_ORDER_NATURAL) {
        own = TL_NEW(int32_t, A->rows);
        if (!own) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to order %d rows", A->rows);
        perm = own;
        talus_status status = tl_perm_order(f->options.order, A, own, err);
        if (status != TALUS_OK) {
            tl_free(own);
            return status;
        }
    }
    talus_status status = f->backend->analyse(f->state, A, f->options.order, perm, &f->info, err);
    tl_free(own);
    f->analysed = status == TALUS_OK;
    return status;
}

bool tl_factor_fits(const tl_factor *f, const tl_csr *A)
{
    if (!f->analysed || A->rows != f->info.n || A->cols != f->info.n) return false;
    return memcmp(f->start, A->start, sizeof(int64_t) * ((size_t)A->rows + 1)) == 0 &&
           memcmp(f->col, A->col, sizeof(int32_t) * (size_t)A->start[A->rows]) == 0;
}

/* Same message for size and pattern: name the first row that differs. */
static talus_status misfit(const tl_factor *f, const tl_csr *A, talus_error *err)
{
    if (!f->analysed) return TL_FAIL(err, TALUS_BAD_INPUT, "no pattern was analysed for this factor");
    if (A->rows != f->info.n || A->cols != f->info.n)
        return TL_FAIL(err, TALUS_BAD_INPUT, "the analysed pattern has %d rows, the matrix is %d x %d", f->info.n,
                       A->rows, A->cols);
    int32_t row = 0;
    for (; row < A->rows - 1; row++) {
        int64_t count = A->start[row + 1] - A->start[row];
        if (count != f->start[row + 1] - f->start[row] ||
            memcmp(A->col + A->start[row], f->col + f->start[row], sizeof(int32_t) * (size_t)count) != 0)
            break;
    }
    return TL_FAIL(err, TALUS_BAD_INPUT, "the pattern changed since the analysis, first in row %d", row);
}

talus_status tl_factor_compute(tl_factor *f, const tl_csr *A, talus_error *err)
{
    f->computed = false;
    f->info.bad_column = -1;
    f->info.negative = 0;
    if (!tl_factor_fits(f, A)) return misfit(f, A, err);
    TL_TRY(f->backend->compute(f->state, A, &f->info, err));
    f->computed = true;
    return TALUS_OK;
}

talus_status tl_factor_update(tl_factor *f, const tl_csr *A, talus_error *err)
{
    if (!tl_factor_fits(f, A)) TL_TRY(tl_factor_analyse(f, A, err));
    return tl_factor_compute(f, A, err);
}

talus_status tl_factor_solve(tl_factor *f, int k, const double *b, double *x, talus_error *err)
{
    if (!f->computed) return TL_FAIL(err, TALUS_BAD_INPUT, "there is no factor to solve with");
    return f->info.n > 0 ? f->backend->solve(f->state, k, b, x, err) : TALUS_OK;
}

talus_status tl_factor_inverse_part(tl_factor *f, int64_t count, const int32_t *index, double *C, talus_error *err)
{
    if (!f->computed || f->options.kind != TL_FACTOR_LLT)
        return TL_FAIL(err, TALUS_BAD_INPUT, "there is no LLT factor to take a part of the inverse from");
    return count > 0 ? f->backend->part(f->state, count, index, C, err) : TALUS_OK;
}

talus_status tl_factor_lower(const tl_factor *f, tl_csr *Lt, double *D, talus_error *err)
{
    *Lt = (tl_csr){0};
    if (!f->computed) return TL_FAIL(err, TALUS_BAD_INPUT, "there is no factor to copy out");
    return f->backend->lower(f->state, Lt, D, err);
}
