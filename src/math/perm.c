#include "math/perm.h"

#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "math/factor_backend.h"

talus_status tl_perm_check(int32_t n, const int32_t *perm, talus_error *err)
{
    unsigned char *seen = TL_NEW_ZERO(unsigned char, n);
    if (!seen) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to check a permutation of %d", n);
    talus_status status = TALUS_OK;
    for (int32_t i = 0; i < n && status == TALUS_OK; i++) {
        if (perm[i] < 0 || perm[i] >= n)
            status = TL_FAIL(err, TALUS_BAD_INPUT, "perm[%d] = %d is outside 0..%d", i, perm[i], n - 1);
        else if (seen[perm[i]]++)
            status = TL_FAIL(err, TALUS_BAD_INPUT, "perm[%d] = %d appears a second time", i, perm[i]);
    }
    tl_free(seen);
    return status;
}

static const char *order_name(tl_order order)
{
    switch (order) {
    case TL_ORDER_AMD: return "amd";
    case TL_ORDER_METIS: return "metis";
    case TL_ORDER_RCM: return "rcm";
    case TL_ORDER_NATURAL: return "natural";
    case TL_ORDER_GIVEN: return "given";
    }
    return "unknown order";
}

static int32_t degree(const tl_csr *A, int32_t i) { return (int32_t)(A->start[i + 1] - A->start[i]); }

/* Nodes reached from root, breadth first, neighbours in rising degree (ties by number); returns how many.
 * Nodes marked below tag count as new and get it. The last level begins at list[*last_begin]. */
static int32_t breadth_first(const tl_csr *A, int32_t root, int32_t tag, int32_t *mark, int32_t *list,
                             int32_t *last_begin)
{
    int32_t count = 0, level_end = 1;
    list[count++] = root;
    mark[root] = tag;
    *last_begin = 0;
    for (int32_t head = 0; head < count; head++) {
        if (head == level_end) {
            *last_begin = head;
            level_end = count;
        }
        int32_t first = count;
        for (int64_t k = A->start[list[head]]; k < A->start[list[head] + 1]; k++) {
            int32_t j = A->col[k];
            if (mark[j] >= tag) continue;
            mark[j] = tag;
            int32_t at = count++;
            for (; at > first && degree(A, list[at - 1]) > degree(A, j); at--) list[at] = list[at - 1];
            list[at] = j;
        }
    }
    return count;
}

/* Reverse Cuthill-McKee: each connected part from a node at its far end, found by two searches (start, then
 * the node of least degree in the last level). [George81 ch. 4] */
static talus_status order_rcm(const tl_csr *A, int32_t *perm, talus_error *err)
{
    int32_t n = A->rows, done = 0, last;
    int32_t *mark = TL_NEW(int32_t, n);
    if (!mark) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to order %d rows", n);
    for (int32_t i = 0; i < n; i++) mark[i] = 0;

    for (int32_t seed = 0; seed < n; seed++) {
        if (mark[seed]) continue;
        int32_t root = seed;
        for (int32_t search = 1; search <= 2; search++) {
            int32_t count = breadth_first(A, root, search, mark, perm + done, &last);
            root = perm[done + last];
            for (int32_t i = last; i < count; i++)
                if (degree(A, perm[done + i]) < degree(A, root)) root = perm[done + i];
        }
        done += breadth_first(A, root, 3, mark, perm + done, &last);
    }
    for (int32_t i = 0; i < n / 2; i++) {
        int32_t swap = perm[i];
        perm[i] = perm[n - 1 - i];
        perm[n - 1 - i] = swap;
    }
    tl_free(mark);
    return TALUS_OK;
}

talus_status tl_perm_order(tl_order order, const tl_csr *A, int32_t *perm, talus_error *err)
{
    if (A->rows != A->cols)
        return TL_FAIL(err, TALUS_BAD_INPUT, "cannot order a %d x %d matrix: not square", A->rows, A->cols);
    switch (order) {
    case TL_ORDER_AMD:
    case TL_ORDER_METIS: return tl_cholmod_order(order, A, perm, err);
    case TL_ORDER_RCM: return order_rcm(A, perm, err);
    case TL_ORDER_NATURAL:
        for (int32_t i = 0; i < A->rows; i++) perm[i] = i;
        return TALUS_OK;
    case TL_ORDER_GIVEN: break;
    }
    return TL_FAIL(err, TALUS_BAD_INPUT, "there is no ordering to compute for \"%s\"", order_name(order));
}
