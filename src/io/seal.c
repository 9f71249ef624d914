#include "io/seal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"

#define BLOCK ((size_t)1 << 18) /* bytes per read; a multiple of a stride */
#define STRIDE 32               /* four lanes of eight bytes: one lane alone waits for its multiplications */

static const char magic[] = "talus sealed HDF5 file\n";

typedef struct digest {
    uint64_t lane[4];
    int64_t bytes;
} digest;

/* FNV-1a steps [Fowler1991] on words: each step is a bijection of the lane, so no single change of a
 * word goes unnoticed. The last words are filled up with zeros; the length is part of the seal. */
static void absorb(digest *d, unsigned char *data, size_t bytes)
{
    size_t padded = (bytes + STRIDE - 1) / STRIDE * STRIDE;
    memset(data + bytes, 0, padded - bytes);
    for (size_t at = 0; at < padded; at += STRIDE)
        for (int k = 0; k < 4; k++) {
            uint64_t word = 0;
            memcpy(&word, data + at + 8 * k, 8);
            d->lane[k] = (d->lane[k] ^ word) * 0x100000001b3u;
            d->lane[k] ^= d->lane[k] >> 29; /* high bits come back down */
        }
    d->bytes += (int64_t)bytes;
}

/* All bytes behind the user block. */
static talus_status digest_file(FILE *f, const char *name, digest *d, talus_error *err)
{
    *d = (digest){.lane = {1, 2, 3, 4}};
    unsigned char *data = TL_NEW(unsigned char, BLOCK);
    if (!data) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to check %s", name);
    fseek(f, TL_SEAL_BYTES, SEEK_SET);
    for (size_t got; (got = fread(data, 1, BLOCK, f)) > 0;) absorb(d, data, got);
    int bad = ferror(f);
    tl_free(data);
    return bad ? TL_FAIL(err, TALUS_IO, "%s: cannot read it: %s", name, strerror(errno)) : TALUS_OK;
}

static void print_seal(char text[TL_SEAL_BYTES], const digest *d)
{
    memset(text, 0, TL_SEAL_BYTES);
    snprintf(text, TL_SEAL_BYTES, "%s%lld bytes follow this block\n%016llx%016llx%016llx%016llx\n", magic,
             (long long)d->bytes, (unsigned long long)d->lane[0], (unsigned long long)d->lane[1],
             (unsigned long long)d->lane[2], (unsigned long long)d->lane[3]);
}

talus_status tl_seal_write(const char *path, const char *name, talus_error *err)
{
    FILE *f = fopen(path, "r+b");
    if (!f) return TL_FAIL(err, TALUS_IO, "%s: cannot write it: %s", name, strerror(errno));
    digest d;
    char text[TL_SEAL_BYTES];
    talus_status status = digest_file(f, name, &d, err);
    if (status == TALUS_OK) {
        print_seal(text, &d);
        rewind(f);
        if (fwrite(text, 1, sizeof text, f) != sizeof text) status = TALUS_IO;
    }
    if (fclose(f) != 0 && status == TALUS_OK) status = TALUS_IO;
    if (status == TALUS_IO) return TL_FAIL(err, TALUS_IO, "%s: cannot write its seal: %s", name, strerror(errno));
    return status;
}

talus_status tl_seal_check(const char *path, talus_error *err)
{
    static const char signature[8] = "\x89HDF\r\n\x1a\n";
    FILE *f = tl_file_reader(path);
    if (!f) return TL_FAIL(err, TALUS_IO, "%s: %s", path, tl_file_reason());
    char found[TL_SEAL_BYTES] = {0}, expected[TL_SEAL_BYTES];
    size_t got = fread(found, 1, sizeof found, f);
    talus_status status = TALUS_OK;
    if (got < sizeof signature || memcmp(found, signature, sizeof signature) != 0) {
        digest d;
        status = digest_file(f, path, &d, err);
        print_seal(expected, &d);
        if (status == TALUS_OK && strncmp(found, magic, sizeof magic - 1) != 0)
            status = TL_FAIL(err, TALUS_IO, "%s: not an HDF5 file", path);
        else if (status == TALUS_OK && memcmp(found, expected, sizeof found) != 0)
            status = TL_FAIL(err, TALUS_IO, "%s: damaged or cut short: its seal does not match its %lld bytes", path,
                             (long long)d.bytes);
    }
    fclose(f);
    return status;
}
