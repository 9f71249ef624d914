#include "base/alloc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <malloc.h>
#include <sys/mman.h>
#endif

#define HEADER ((size_t)64) /* keeps the user's part 64-byte aligned; holds the size */
#define HUGE_PAGE ((size_t)2 << 20)
#define HUGE_MIN ((size_t)4 << 20)

static _Atomic int64_t calls, live_blocks, live_bytes, peak_bytes, fail_countdown;
static _Atomic int fail_delivered;

static int planned_failure(void)
{
    if (atomic_load_explicit(&fail_countdown, memory_order_relaxed) <= 0) return 0;
    if (atomic_fetch_sub(&fail_countdown, 1) != 1) return 0;
    atomic_store(&fail_delivered, 1);
    return 1;
}

static void count(int64_t blocks, int64_t bytes)
{
    atomic_fetch_add(&live_blocks, blocks);
    int64_t now = atomic_fetch_add(&live_bytes, bytes) + bytes;
    int64_t peak = atomic_load(&peak_bytes);
    while (now > peak && !atomic_compare_exchange_weak(&peak_bytes, &peak, now)) {
    }
}

void *tl_alloc(size_t bytes)
{
    atomic_fetch_add(&calls, 1);
    if (planned_failure() || bytes > SIZE_MAX / 2) return NULL;

    size_t align = bytes >= HUGE_MIN ? HUGE_PAGE : HEADER;
    size_t total = (bytes + HEADER + align - 1) / align * align;
    char *raw = aligned_alloc(align, total);
    if (!raw) return NULL;
#ifdef __linux__
    if (align == HUGE_PAGE) (void)madvise(raw, total, MADV_HUGEPAGE);
#endif
    memcpy(raw, &bytes, sizeof bytes);
    count(1, (int64_t)bytes);
    return raw + HEADER;
}

void *tl_alloc_zero(size_t bytes)
{
    void *block = tl_alloc(bytes);
    if (block) memset(block, 0, bytes);
    return block;
}

void *tl_realloc(void *block, size_t bytes)
{
    if (!block) return tl_alloc(bytes);
    size_t old;
    memcpy(&old, (char *)block - HEADER, sizeof old);
    void *fresh = tl_alloc(bytes);
    if (!fresh) return NULL;
    memcpy(fresh, block, old < bytes ? old : bytes);
    tl_free(block);
    return fresh;
}

void tl_free(void *block)
{
    if (!block) return;
    char *raw = (char *)block - HEADER;
    size_t bytes;
    memcpy(&bytes, raw, sizeof bytes);
    count(-1, -(int64_t)bytes);
    free(raw);
}

/* What a block of the C library's holds; not known everywhere, and then only blocks are counted. */
static int64_t plain_bytes(void *block)
{
#ifdef __linux__
    return (int64_t)malloc_usable_size(block);
#else
    (void)block;
    return 0;
#endif
}

void *tl_hook_malloc(size_t bytes)
{
    atomic_fetch_add(&calls, 1);
    void *block = planned_failure() ? NULL : malloc(bytes);
    if (block) count(1, plain_bytes(block));
    return block;
}

void *tl_hook_calloc(size_t items, size_t bytes)
{
    atomic_fetch_add(&calls, 1);
    void *block = planned_failure() ? NULL : calloc(items, bytes);
    if (block) count(1, plain_bytes(block));
    return block;
}

void *tl_hook_realloc(void *block, size_t bytes)
{
    if (!block) return tl_hook_malloc(bytes);
    atomic_fetch_add(&calls, 1);
    if (planned_failure()) return NULL;
    int64_t old = plain_bytes(block);
    void *fresh = realloc(block, bytes);
    if (fresh) count(0, plain_bytes(fresh) - old);
    return fresh;
}

void tl_hook_free(void *block)
{
    if (!block) return;
    count(-1, -plain_bytes(block));
    free(block);
}

tl_alloc_stats tl_alloc_read(void)
{
    return (tl_alloc_stats){atomic_load(&calls), atomic_load(&live_blocks), atomic_load(&live_bytes),
                            atomic_load(&peak_bytes)};
}

void tl_alloc_fail_at(int64_t k)
{
    atomic_store(&fail_delivered, 0);
    atomic_store(&fail_countdown, k);
}

int tl_alloc_fail_happened(void) { return atomic_exchange(&fail_delivered, 0); }
