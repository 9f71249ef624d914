/* The only place that calls malloc. Counts every call, so that tests can ask for zero heap use
 * in a settled scene, and can be told to fail the k-th call, so that tests reach every error path.
 *
 * Blocks are 64-byte aligned; blocks of 4 MiB and more ask for huge pages (the loops over them
 * are bandwidth bound and otherwise spend a tenth of their time on page-table walks). */
#ifndef TL_BASE_ALLOC_H
#define TL_BASE_ALLOC_H

#include <stddef.h>
#include <stdint.h>

void *tl_alloc(size_t bytes);                /* uninitialised; NULL when refused */
void *tl_alloc_zero(size_t bytes);           /* all bits zero; NULL when refused */
void *tl_realloc(void *block, size_t bytes); /* keeps the old block when refused */
void tl_free(void *block);                   /* NULL is fine */

#define TL_NEW(type, count) ((type *)tl_alloc(sizeof(type) * (size_t)(count)))
#define TL_NEW_ZERO(type, count) ((type *)tl_alloc_zero(sizeof(type) * (size_t)(count)))

/* For libraries that take our allocator through hooks (CHOLMOD): counted and failed like the above, but the
 * blocks are the C library's own. Such hooks are often global to the process, so a block may have been
 * allocated by someone else before they were set, or be freed by someone else after. */
void *tl_hook_malloc(size_t bytes);
void *tl_hook_calloc(size_t count, size_t bytes);
void *tl_hook_realloc(void *block, size_t bytes);
void tl_hook_free(void *block);

typedef struct tl_alloc_stats {
    int64_t calls; /* allocations since the program started */
    int64_t live_blocks;
    int64_t live_bytes;
    int64_t peak_bytes;
} tl_alloc_stats;

tl_alloc_stats tl_alloc_read(void);

/* Tests only: the k-th allocation from now returns NULL (k = 1 is the next one), once. 0 turns it off. */
void tl_alloc_fail_at(int64_t k);
int tl_alloc_fail_happened(void); /* 1 when the planned failure was delivered; clears the mark */

#endif
