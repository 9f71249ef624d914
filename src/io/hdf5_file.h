/* HDF5 files: attributes of the root and one-dimensional arrays by name ("b", or "A/col" in a group).
 * What the names mean is the caller's; this is the only place that calls HDF5.
 *
 * Written files are complete or absent. HDF5 makes them in memory (a full disk inside of HDF5 leaves files that it can
 * neither write nor close), and tl_h5_commit writes them to a temporary name beside the target, seals (io/seal.h),
 * syncs and renames. Arrays are chunked, shuffled and carry a checksum (fletcher32); HDF5's own structures carry
 * checksums too (format of HDF5 1.10), so damage is found also where there is no seal. Nothing is compressed: an array
 * may claim no more bytes than the file has, which bounds what a wrong size can make us allocate. No time stamps: same
 * content, same bytes.
 *
 * HDF5 is not thread-safe and prints by itself: every call here takes one process-wide lock and
 * silences HDF5 for its duration only. */
#ifndef TL_IO_HDF5_FILE_H
#define TL_IO_HDF5_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct tl_h5 tl_h5;

typedef enum tl_h5_type {
    TL_H5_DOUBLE,
    TL_H5_FLOAT,
    TL_H5_INT32,
    TL_H5_INT64
} tl_h5_type; /* little endian in the file */

/* ---- writing ---- */

talus_status tl_h5_create(tl_h5 **f, const char *path, talus_error *err);
talus_status tl_h5_put_text(tl_h5 *f, const char *name, const char *text, talus_error *err); /* not empty */
talus_status tl_h5_put_int(tl_h5 *f, const char *name, int64_t value, talus_error *err);
talus_status tl_h5_put_number(tl_h5 *f, const char *name, double value, talus_error *err);
talus_status tl_h5_put_array(tl_h5 *f, const char *name, tl_h5_type type, int64_t count, const void *data,
                             talus_error *err);

/* Close, sync, rename to the path given at create. f is gone in any case; on failure there is no new
 * file and an old one of that name is as it was. */
talus_status tl_h5_commit(tl_h5 *f, talus_error *err);
void tl_h5_discard(tl_h5 *f); /* give up: the temporary file is removed; NULL is fine */

/* ---- reading ---- */

talus_status tl_h5_open(tl_h5 **f, const char *path, talus_error *err);
void tl_h5_close(tl_h5 *f); /* NULL is fine */

/* Whether there is an attribute or an array of that name, of any type. True as well when the file
 * cannot be read there: getting it then says why. */
bool tl_h5_has_value(tl_h5 *f, const char *name);
bool tl_h5_has_array(tl_h5 *f, const char *name);

/* Fixed-length strings only; longer than size - 1 bytes is an error. */
talus_status tl_h5_get_text(tl_h5 *f, const char *name, char *text, size_t size, talus_error *err);
talus_status tl_h5_get_int(tl_h5 *f, const char *name, int64_t *value, talus_error *err);
talus_status tl_h5_get_number(tl_h5 *f, const char *name, double *value, talus_error *err);

/* Entries of a one-dimensional array of exactly this type; never more than the file has bytes for. */
talus_status tl_h5_count(tl_h5 *f, const char *name, tl_h5_type type, int64_t *count, talus_error *err);
/* Exactly `count` entries, or an error that names both counts. */
talus_status tl_h5_get_array(tl_h5 *f, const char *name, tl_h5_type type, int64_t count, void *data, talus_error *err);

#endif
