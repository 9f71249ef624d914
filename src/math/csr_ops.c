#include <omp.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "math/csr.h"
#include "math/perm.h"

/* Every output row is made by one thread from inputs in their order: same bits for any thread count. */

static int parts_for(int64_t items) { return items < TL_PARALLEL_MIN ? 1 : tl_threads(); }

/* First row of part `part` when rows are dealt out by equal shares of nonzeros. */
static int32_t part_begin(const tl_csr *A, int part, int parts)
{
    if (part >= parts) return A->rows;
    int64_t target = (int64_t)((double)A->start[A->rows] * part / parts);
    int32_t lo = 0, hi = A->rows;
    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        if (A->start[mid] < target)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

talus_status tl_csr_transpose(tl_csr *T, const tl_csr *A, talus_error *err)
{
    int64_t nonzeros = A->start[A->rows];
    int32_t cols = A->cols;
    int parts = parts_for(nonzeros);
    TL_TRY(tl_csr_create(T, cols, A->rows, nonzeros, err));
    int64_t *place = TL_NEW_ZERO(int64_t, (int64_t)parts * cols); /* [part][col]: counts, then next free slots */
    if (!place) {
        tl_csr_free(T);
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to transpose a %d x %d matrix", A->rows, cols);
    }

#pragma omp parallel for schedule(static, 1) num_threads(parts)
    for (int part = 0; part < parts; part++) {
        int64_t *count = place + (int64_t)part * cols;
        int64_t end = A->start[part_begin(A, part + 1, parts)];
        for (int64_t k = A->start[part_begin(A, part, parts)]; k < end; k++) count[A->col[k]]++;
    }

    /* slots of a column go to the parts in order, so rows stay sorted */
    int64_t next = 0;
    for (int32_t j = 0; j < cols; j++) {
        T->start[j] = next;
        for (int part = 0; part < parts; part++) {
            int64_t *slot = &place[(int64_t)part * cols + j], count = *slot;
            *slot = next;
            next += count;
        }
    }
    T->start[cols] = next;

#pragma omp parallel for schedule(static, 1) num_threads(parts)
    for (int part = 0; part < parts; part++) {
        int64_t *slot = place + (int64_t)part * cols;
        int32_t end = part_begin(A, part + 1, parts);
        for (int32_t i = part_begin(A, part, parts); i < end; i++)
            for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
                int64_t at = slot[A->col[k]]++;
                T->col[at] = i;
                T->val[at] = A->val[k];
            }
    }
    tl_free(place);
    return TALUS_OK;
}

static void sift_down(int64_t root, int64_t count, int32_t *col, double *val)
{
    int32_t c = col[root];
    double v = val[root];
    for (int64_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && col[child + 1] > col[child]) child++;
        if (col[child] <= c) break;
        col[root] = col[child];
        val[root] = val[child];
    }
    col[root] = c;
    val[root] = v;
}

/* By column; columns differ. Insertion for the usual short rows, heap sort for long ones. */
static void sort_row(int64_t count, int32_t *col, double *val)
{
    if (count > 64) {
        for (int64_t i = count / 2 - 1; i >= 0; i--) sift_down(i, count, col, val);
        for (int64_t i = count - 1; i > 0; i--) {
            int32_t c = col[i];
            double v = val[i];
            col[i] = col[0];
            val[i] = val[0];
            col[0] = c;
            val[0] = v;
            sift_down(0, i, col, val);
        }
        return;
    }
    for (int64_t i = 1; i < count; i++) {
        int32_t c = col[i];
        double v = val[i];
        int64_t j = i;
        for (; j > 0 && col[j - 1] > c; j--) {
            col[j] = col[j - 1];
            val[j] = val[j - 1];
        }
        col[j] = c;
        val[j] = v;
    }
}

/* Columns of row i of A B; seen[j] = i marks column j as met. */
static int64_t count_row(const tl_csr *A, const tl_csr *B, int32_t i, int64_t *seen)
{
    int64_t count = 0;
    for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
        for (int64_t l = B->start[A->col[k]]; l < B->start[A->col[k] + 1]; l++)
            if (seen[B->col[l]] != i) {
                seen[B->col[l]] = i;
                count++;
            }
    return count;
}

/* Row i of A diag(d) B. (a b) d, not (a d) b: then B = A^T gives exactly symmetric results. seen[j] is the place
 * of column j in C; a place outside of this row is left over from another one. */
static void fill_row(tl_csr *C, const tl_csr *A, const double *d, const tl_csr *B, int32_t i, int64_t *seen)
{
    int64_t begin = C->start[i], end = begin;
    for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
        double a = A->val[k], weight = d ? d[A->col[k]] : 1;
        for (int64_t l = B->start[A->col[k]]; l < B->start[A->col[k] + 1]; l++) {
            int32_t j = B->col[l];
            if (seen[j] < begin || seen[j] >= end) {
                seen[j] = end;
                C->col[end] = j;
                C->val[end++] = 0;
            }
            C->val[seen[j]] += a * B->val[l] * weight;
        }
    }
    sort_row(end - begin, C->col + begin, C->val + begin);
}

/* C = A diag(d) B, row by row [Gustavson78]: count, allocate, fill. */
static talus_status weighted_product(tl_csr *C, const tl_csr *A, const double *d, const tl_csr *B, talus_error *err)
{
    *C = (tl_csr){0};
    int parts = parts_for(A->start[A->rows] + B->start[B->rows]);
    int64_t *start = TL_NEW(int64_t, (int64_t)A->rows + 1), *seen = TL_NEW(int64_t, (int64_t)parts * B->cols);
    talus_status status = TALUS_OK;
    if (!start || !seen) {
        status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the product of a %d x %d and a %d x %d matrix", A->rows,
                         A->cols, B->rows, B->cols);
        goto done;
    }

    /* Rows differ in work, so they are dealt out in small batches; who does a row does not matter. */
#pragma omp parallel num_threads(parts)
    {
        int64_t *mine = seen + (int64_t)omp_get_thread_num() * B->cols;
        for (int32_t j = 0; j < B->cols; j++) mine[j] = -1;
#pragma omp for schedule(dynamic, 64)
        for (int32_t i = 0; i < A->rows; i++) start[i + 1] = count_row(A, B, i, mine);
    }
    start[0] = 0;
    for (int32_t i = 0; i < A->rows; i++) start[i + 1] += start[i];

    status = tl_csr_create(C, A->rows, B->cols, start[A->rows], err);
    if (status != TALUS_OK) goto done;
    memcpy(C->start, start, sizeof(int64_t) * ((size_t)A->rows + 1));
#pragma omp parallel num_threads(parts)
    {
        int64_t *mine = seen + (int64_t)omp_get_thread_num() * B->cols;
        for (int32_t j = 0; j < B->cols; j++) mine[j] = -1;
#pragma omp for schedule(dynamic, 64)
        for (int32_t i = 0; i < A->rows; i++) fill_row(C, A, d, B, i, mine);
    }
done:
    tl_free(start);
    tl_free(seen);
    return status;
}

talus_status tl_csr_gram(tl_csr *C, const tl_csr *A, const double *d, talus_error *err)
{
    *C = (tl_csr){0};
    tl_csr T;
    TL_TRY(tl_csr_transpose(&T, A, err));
    talus_status status = weighted_product(C, &T, d, A, err);
    tl_csr_free(&T);
    return status;
}
