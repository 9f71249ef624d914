#include "base/arena.h"

#include <string.h>

#include "base/alloc.h"

/* Chunks form a list; a position in the arena is `begin + used` of the current chunk, so marks
 * are plain numbers that grow along the list. */
struct tl_arena_chunk {
    tl_arena_chunk *next;
    size_t begin; /* position of this chunk's first byte */
    size_t size, used;
    char *bytes;
    int fixed; /* a part of another arena */
};

#define FIRST_CHUNK ((size_t)64 << 10)
#define HEADROOM 8 /* one part in this many, at a reset */

static size_t round_up(size_t bytes) { return (bytes + 63) / 64 * 64; }

static tl_arena_chunk *new_chunk(size_t size)
{
    tl_arena_chunk *c = tl_alloc(sizeof *c);
    if (!c) return NULL;
    c->bytes = tl_alloc(size);
    if (!c->bytes) {
        tl_free(c);
        return NULL;
    }
    c->next = NULL;
    c->begin = c->used = 0;
    c->size = size;
    c->fixed = 0;
    return c;
}

static void free_chunks(tl_arena_chunk *c)
{
    while (c) {
        tl_arena_chunk *next = c->next;
        tl_free(c->bytes);
        tl_free(c);
        c = next;
    }
}

void tl_arena_free(tl_arena *a)
{
    free_chunks(a->first);
    *a = (tl_arena){0};
}

/* Move on to a chunk with room for `bytes`; chunks after the current one hold nothing. */
static int grow(tl_arena *a, size_t bytes)
{
    tl_arena_chunk *c = a->current;
    if (c && c->fixed) return 0;
    if (c && c->next && c->next->size >= bytes) {
        c->next->begin = c->begin + c->used;
        c->next->used = 0;
        a->current = c->next;
        return 1;
    }
    size_t size = c ? 2 * c->size : FIRST_CHUNK;
    tl_arena_chunk *fresh = new_chunk(size > bytes ? size : bytes);
    if (!fresh && size > bytes) fresh = new_chunk(bytes);
    if (!fresh) return 0;
    if (c) {
        free_chunks(c->next);
        c->next = fresh;
        fresh->begin = c->begin + c->used;
    } else {
        a->first = fresh;
    }
    a->current = fresh;
    return 1;
}

void *tl_arena_take(tl_arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX / 4) return NULL;
    bytes = round_up(bytes ? bytes : 1);
    tl_arena_chunk *c = a->current;
    if (!c || c->size - c->used < bytes) {
        if (!grow(a, bytes)) return NULL;
        c = a->current;
    }
    void *out = c->bytes + c->used;
    c->used += bytes;
    if (c->begin + c->used > a->high_water) a->high_water = c->begin + c->used;
    return out;
}

void *tl_arena_take_zero(tl_arena *a, size_t bytes)
{
    void *out = tl_arena_take(a, bytes);
    if (out) memset(out, 0, bytes);
    return out;
}

int tl_arena_part(tl_arena *a, size_t bytes, tl_arena *part)
{
    const size_t head = round_up(sizeof(tl_arena_chunk));
    tl_arena_chunk *c = tl_arena_take(a, head + round_up(bytes));
    *part = (tl_arena){0};
    if (!c) return 0;
    *c = (tl_arena_chunk){.size = round_up(bytes), .bytes = (char *)c + head, .fixed = 1};
    part->first = part->current = c;
    return 1;
}

talus_status tl_arena_reserve(tl_arena *a, size_t bytes, talus_error *err)
{
    tl_arena_chunk *c = a->current;
    if (bytes > SIZE_MAX / 4 || ((!c || c->size - c->used < bytes) && !grow(a, round_up(bytes))))
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a work space of %zu bytes", bytes);
    /* a reset makes room for what was asked for, used or not */
    size_t end = tl_arena_mark(a) + round_up(bytes);
    if (end > a->high_water) a->high_water = end;
    return TALUS_OK;
}

size_t tl_arena_mark(const tl_arena *a) { return a->current ? a->current->begin + a->current->used : 0; }

void tl_arena_release(tl_arena *a, size_t mark)
{
    if (!a->current) return;
    /* the last chunk that begins at or before the mark and was reached by it */
    tl_arena_chunk *c = a->first;
    while (c != a->current && mark > c->begin + c->used) c = c->next;
    TL_ASSERT(mark >= c->begin && mark <= c->begin + c->used);
    c->used = mark - c->begin;
    a->current = c;
}

void tl_arena_reset(tl_arena *a)
{
    if (!a->first) return;
    if (a->first->next) {
        /* some more: what grows a little with every step would else be new memory in every step */
        tl_arena_chunk *merged = new_chunk(round_up(a->high_water + a->high_water / HEADROOM));
        if (merged) {
            free_chunks(a->first);
            a->first = merged;
        }
    }
    a->first->used = 0;
    a->current = a->first;
}
