/* 64-bit hash of bytes, for "same bits" tests, scene hashes and cache keys. Not for security. */
#ifndef TL_BASE_HASH_H
#define TL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define TL_HASH_START 0xcbf29ce484222325u

/* Fold `bytes` bytes into `hash`; start with TL_HASH_START. FNV-1a [Fowler1991]. */
static inline uint64_t tl_hash(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ p[i]) * 0x100000001b3u;
    return hash;
}

#endif
