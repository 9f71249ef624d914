#include "io/hdf5_file.h"

#include <errno.h>
#include <hdf5.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/replace.h"
#include "io/seal.h"

/* 512 KiB of doubles: few enough chunks for a cheap index, and two fit HDF5's default chunk cache. */
#define CHUNK_ENTRIES 65536
#define IMAGE_GROWTH ((size_t)1 << 18) /* bytes by which a file in memory grows; small states take one or two */

struct tl_h5 {
    hid_t id;
    tl_replace target; /* when writing */
    void *image;       /* the closed file, when writing */
    bool refused;      /* memory for it */
    const char *path;  /* as the user named it, for messages */
    int64_t bytes;     /* of the file, when reading */
};

/* ---- one caller at a time, and no talk ---- */

typedef struct silence {
    H5E_auto2_t print;
    void *data;
} silence;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static silence enter(void)
{
    silence s = {NULL, NULL};
    pthread_mutex_lock(&lock);
    H5open();
    H5Eget_auto2(H5E_DEFAULT, &s.print, &s.data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5Eclear2(H5E_DEFAULT);
    return s;
}

static void leave(silence s)
{
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, s.print, s.data);
    pthread_mutex_unlock(&lock);
}

/* The first entry of HDF5's error stack: where it went wrong, in its words. */
static herr_t take_reason(unsigned level, const H5E_error2_t *entry, void *text)
{
    if (level == 0 && entry->desc) snprintf(text, 160, "%s", entry->desc);
    return 0;
}

static talus_status fail(const tl_h5 *f, const char *doing, const char *name, talus_error *err)
{
    char reason[160] = "no reason given";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_reason, reason);
    if (f->refused) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to write %s", f->path);
    return TL_FAIL(err, TALUS_IO, "%s: cannot %s %s (%s)", f->path, doing, name, reason);
}

/* ---- a file in memory: HDF5 lets go of it when it closes, and we keep it ---- */

static void *image_malloc(size_t bytes, H5FD_file_image_op_t op, void *user)
{
    tl_h5 *f = user;
    void *block = tl_hook_malloc(bytes);
    (void)op;
    f->refused |= !block;
    return block;
}
static void *image_realloc(void *block, size_t bytes, H5FD_file_image_op_t op, void *user)
{
    tl_h5 *f = user;
    void *grown = tl_hook_realloc(block, bytes);
    (void)op;
    f->refused |= !grown;
    return grown;
}
static void *image_memcpy(void *to, const void *from, size_t bytes, H5FD_file_image_op_t op, void *user)
{
    (void)op, (void)user;
    return memcpy(to, from, bytes);
}
static herr_t image_free(void *block, H5FD_file_image_op_t op, void *user)
{
    tl_h5 *f = user;
    if (op == H5FD_FILE_IMAGE_OP_FILE_CLOSE && !f->image)
        f->image = block;
    else
        tl_hook_free(block);
    return 0;
}
static void *image_user(void *user) { return user; }
static herr_t image_user_free(void *user)
{
    (void)user;
    return 0;
}

/* The end of the file, from its superblock of version 2 or 3 (HDF5 file format specification, II.A). */
static size_t image_bytes(const unsigned char *image)
{
    uint64_t end;
    memcpy(&end, image + TL_SEAL_BYTES + 28, sizeof end);
    return (size_t)end;
}

/* ---- files ---- */

/* Written in the format of HDF5 1.10: its structures have checksums, unlike those of the default format. */
static hid_t access_list(tl_h5 *writing)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    if (writing) {
        H5FD_file_image_callbacks_t image = {.image_malloc = image_malloc,
                                             .image_memcpy = image_memcpy,
                                             .image_realloc = image_realloc,
                                             .image_free = image_free,
                                             .udata_copy = image_user,
                                             .udata_free = image_user_free,
                                             .udata = writing};
        H5Pset_libver_bounds(fapl, H5F_LIBVER_V110, H5F_LIBVER_V110);
        H5Pset_fapl_core(fapl, IMAGE_GROWTH, false);
        H5Pset_file_image_callbacks(fapl, &image);
    }
    H5Pset_fclose_degree(fapl, H5F_CLOSE_STRONG);
    return fapl;
}

talus_status tl_h5_create(tl_h5 **out, const char *path, talus_error *err)
{
    *out = NULL;
    tl_h5 *f = TL_NEW_ZERO(tl_h5, 1);
    if (!f) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to write %s", path);
    talus_status status = tl_replace_begin(&f->target, path, err);
    if (status == TALUS_OK) {
        f->path = f->target.path;
        silence s = enter();
        hid_t fapl = access_list(f), fcpl = H5Pcreate(H5P_FILE_CREATE);
        H5Pset_userblock(fcpl, TL_SEAL_BYTES);
        H5Pset_obj_track_times(fcpl, 0); /* no time stamps: the same content gives the same file */
        f->id = H5Fcreate(f->target.temp, H5F_ACC_TRUNC, fcpl, fapl);
        if (f->id < 0) status = fail(f, "create", "it", err);
        H5Pclose(fcpl);
        H5Pclose(fapl);
        leave(s);
    }
    if (status != TALUS_OK) {
        tl_replace_discard(&f->target);
        tl_hook_free(f->image);
        tl_free(f);
        return status;
    }
    *out = f;
    return TALUS_OK;
}

static talus_status write_image(const tl_h5 *f, talus_error *err)
{
    if (!f->image) return TL_FAIL(err, TALUS_IO, "%s: HDF5 gave nothing to write", f->path);
    size_t bytes = image_bytes(f->image);
    FILE *out = fopen(f->target.temp, "wb");
    if (!out) return TL_FAIL(err, TALUS_IO, "%s: cannot write it: %s", f->path, strerror(errno));
    bool good = fwrite(f->image, 1, bytes, out) == bytes;
    int why = errno;
    if (fclose(out) != 0 && good) good = false, why = errno;
    return good ? TALUS_OK : TL_FAIL(err, TALUS_IO, "%s: cannot write it: %s", f->path, strerror(why));
}

talus_status tl_h5_commit(tl_h5 *f, talus_error *err)
{
    silence s = enter();
    talus_status status = H5Fclose(f->id) < 0 ? fail(f, "close", "it", err) : TALUS_OK;
    leave(s);
    if (status == TALUS_OK) status = write_image(f, err);
    tl_hook_free(f->image);

    if (status == TALUS_OK) status = tl_seal_write(f->target.temp, f->path, err);
    if (status == TALUS_OK)
        status = tl_replace_commit(&f->target, err);
    else
        tl_replace_discard(&f->target);
    tl_free(f);
    return status;
}

void tl_h5_discard(tl_h5 *f)
{
    if (!f) return;
    silence s = enter();
    H5Fclose(f->id);
    leave(s);
    tl_hook_free(f->image);
    tl_replace_discard(&f->target);
    tl_free(f);
}

talus_status tl_h5_open(tl_h5 **out, const char *path, talus_error *err)
{
    *out = NULL;
    struct stat info;
    if (stat(path, &info) != 0) return TL_FAIL(err, TALUS_IO, "%s: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode)) return TL_FAIL(err, TALUS_IO, "%s: not a regular file", path);
    TL_TRY(tl_seal_check(path, err));
    size_t length = strlen(path);
    tl_h5 *f = tl_alloc_zero(sizeof *f + length + 1); /* the path sits behind the struct */
    if (!f) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to read %s", path);
    f->path = memcpy(f + 1, path, length + 1);
    f->bytes = (int64_t)info.st_size;

    silence s = enter();
    hid_t fapl = access_list(NULL);
    f->id = H5Fopen(path, H5F_ACC_RDONLY, fapl);
    talus_status status = f->id < 0 ? fail(f, "open", "it as HDF5", err) : TALUS_OK;
    H5Pclose(fapl);
    leave(s);
    if (status != TALUS_OK) {
        tl_free(f);
        return status;
    }
    *out = f;
    return TALUS_OK;
}

void tl_h5_close(tl_h5 *f)
{
    if (!f) return;
    silence s = enter();
    H5Fclose(f->id);
    leave(s);
    tl_free(f);
}

/* ---- types ---- */

static hid_t file_type(tl_h5_type t)
{
    switch (t) {
    case TL_H5_DOUBLE: return H5T_IEEE_F64LE;
    case TL_H5_FLOAT: return H5T_IEEE_F32LE;
    case TL_H5_INT32: return H5T_STD_I32LE;
    case TL_H5_INT64: return H5T_STD_I64LE;
    }
    return H5I_INVALID_HID;
}
static hid_t memory_type(tl_h5_type t)
{
    switch (t) {
    case TL_H5_DOUBLE: return H5T_NATIVE_DOUBLE;
    case TL_H5_FLOAT: return H5T_NATIVE_FLOAT;
    case TL_H5_INT32: return H5T_NATIVE_INT32;
    case TL_H5_INT64: return H5T_NATIVE_INT64;
    }
    return H5I_INVALID_HID;
}
static int64_t entry_bytes(tl_h5_type t) { return t == TL_H5_INT32 || t == TL_H5_FLOAT ? 4 : 8; }
static const char *type_name(tl_h5_type t)
{
    static const char *const names[] = {[TL_H5_DOUBLE] = "64-bit floats",
                                        [TL_H5_FLOAT] = "32-bit floats",
                                        [TL_H5_INT32] = "32-bit integers",
                                        [TL_H5_INT64] = "64-bit integers"};
    return names[t];
}

/* ---- attributes ---- */

/* One value: write and read mirror each other. */
static talus_status put_attribute(tl_h5 *f, const char *name, hid_t in_file, hid_t in_memory, const void *value,
                                  talus_error *err)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t a = H5Acreate2(f->id, name, in_file, space, H5P_DEFAULT, H5P_DEFAULT);
    talus_status status = TALUS_OK;
    if (a < 0 || H5Awrite(a, in_memory, value) < 0) status = fail(f, "write attribute", name, err);
    if (a >= 0) H5Aclose(a);
    H5Sclose(space);
    return status;
}

talus_status tl_h5_put_text(tl_h5 *f, const char *name, const char *text, talus_error *err)
{
    silence s = enter();
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(text));
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    H5Tset_cset(type, H5T_CSET_UTF8);
    talus_status status = put_attribute(f, name, type, type, text, err);
    H5Tclose(type);
    leave(s);
    return status;
}

talus_status tl_h5_put_int(tl_h5 *f, const char *name, int64_t value, talus_error *err)
{
    silence s = enter();
    talus_status status = put_attribute(f, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value, err);
    leave(s);
    return status;
}

talus_status tl_h5_put_number(tl_h5 *f, const char *name, double value, talus_error *err)
{
    silence s = enter();
    talus_status status = put_attribute(f, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value, err);
    leave(s);
    return status;
}

static talus_status get_scalar(tl_h5 *f, const char *name, H5T_class_t wanted, hid_t in_memory, void *value,
                               talus_error *err)
{
    hid_t a = H5Aopen(f->id, name, H5P_DEFAULT);
    if (a < 0) return fail(f, "read attribute", name, err);
    hid_t type = H5Aget_type(a), space = H5Aget_space(a);
    talus_status status = TALUS_OK;
    if (type < 0 || H5Tget_class(type) != wanted || H5Tget_size(type) != 8 || H5Sget_simple_extent_npoints(space) != 1)
        status = TL_FAIL(err, TALUS_BAD_INPUT, "%s: attribute %s must be one 64-bit %s", f->path, name,
                         wanted == H5T_FLOAT ? "float" : "integer");
    else if (H5Aread(a, in_memory, value) < 0)
        status = fail(f, "read attribute", name, err);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    H5Aclose(a);
    return status;
}

static talus_status get_text(tl_h5 *f, const char *name, char *text, size_t size, talus_error *err)
{
    hid_t a = H5Aopen(f->id, name, H5P_DEFAULT);
    if (a < 0) return fail(f, "read attribute", name, err);
    hid_t type = H5Aget_type(a), space = H5Aget_space(a);
    talus_status status = TALUS_OK;
    if (type < 0 || H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 ||
        H5Sget_simple_extent_npoints(space) != 1)
        status = TL_FAIL(err, TALUS_BAD_INPUT, "%s: attribute %s must be one string of fixed length", f->path, name);
    else if (H5Tget_size(type) >= size)
        status = TL_FAIL(err, TALUS_BAD_INPUT, "%s: attribute %s has %zu bytes, at most %zu are read", f->path, name,
                         H5Tget_size(type), size - 1);
    else {
        memset(text, 0, size);
        if (H5Aread(a, type, text) < 0) status = fail(f, "read attribute", name, err);
    }
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    H5Aclose(a);
    return status;
}

talus_status tl_h5_get_text(tl_h5 *f, const char *name, char *text, size_t size, talus_error *err)
{
    silence s = enter();
    talus_status status = get_text(f, name, text, size, err);
    leave(s);
    return status;
}

talus_status tl_h5_get_int(tl_h5 *f, const char *name, int64_t *value, talus_error *err)
{
    silence s = enter();
    talus_status status = get_scalar(f, name, H5T_INTEGER, H5T_NATIVE_INT64, value, err);
    leave(s);
    return status;
}

talus_status tl_h5_get_number(tl_h5 *f, const char *name, double *value, talus_error *err)
{
    silence s = enter();
    talus_status status = get_scalar(f, name, H5T_FLOAT, H5T_NATIVE_DOUBLE, value, err);
    leave(s);
    return status;
}

bool tl_h5_has_value(tl_h5 *f, const char *name)
{
    silence s = enter();
    bool has = H5Aexists(f->id, name) != 0;
    leave(s);
    return has;
}

/* ---- arrays ---- */

/* The group of "A/col", when it is not there yet. */
static talus_status need_group(tl_h5 *f, const char *name, talus_error *err)
{
    const char *slash = strchr(name, '/');
    if (!slash) return TALUS_OK;
    char group[64];
    snprintf(group, sizeof group, "%.*s", (int)(slash - name), name);
    if (H5Lexists(f->id, group, H5P_DEFAULT) > 0) return TALUS_OK;
    hid_t gcpl = H5Pcreate(H5P_GROUP_CREATE);
    H5Pset_obj_track_times(gcpl, 0);
    hid_t g = H5Gcreate2(f->id, group, H5P_DEFAULT, gcpl, H5P_DEFAULT);
    talus_status status = g < 0 ? fail(f, "create group", group, err) : TALUS_OK;
    if (g >= 0) H5Gclose(g);
    H5Pclose(gcpl);
    return status;
}

static talus_status put_array(tl_h5 *f, const char *name, tl_h5_type type, int64_t count, const void *data,
                              talus_error *err)
{
    TL_TRY(need_group(f, name, err));
    hsize_t dims = (hsize_t)count, chunk = count < CHUNK_ENTRIES ? (hsize_t)count : CHUNK_ENTRIES;
    hid_t space = H5Screate_simple(1, &dims, NULL), dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(dcpl, 0);
    if (count > 0) {
        H5Pset_chunk(dcpl, 1, &chunk);
        H5Pset_shuffle(dcpl);
        H5Pset_fletcher32(dcpl);
    }
    hid_t d = H5Dcreate2(f->id, name, file_type(type), space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    talus_status status = TALUS_OK;
    if (d < 0 || (count > 0 && H5Dwrite(d, memory_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0))
        status = fail(f, "write array", name, err);
    if (d >= 0 && H5Dclose(d) < 0 && status == TALUS_OK) status = fail(f, "write array", name, err);
    H5Pclose(dcpl);
    H5Sclose(space);
    return status;
}

talus_status tl_h5_put_array(tl_h5 *f, const char *name, tl_h5_type type, int64_t count, const void *data,
                             talus_error *err)
{
    silence s = enter();
    talus_status status = put_array(f, name, type, count, data, err);
    leave(s);
    return status;
}

/* 1 or 0, negative when the file cannot be read there. Each link of a path such as "A/col" must
 * exist before the next is asked for. */
static int has_link(hid_t id, const char *name)
{
    char step[64];
    for (const char *slash = strchr(name, '/');; slash = strchr(slash + 1, '/')) {
        size_t length = slash ? (size_t)(slash - name) : strlen(name);
        if (length >= sizeof step) return 0;
        memcpy(step, name, length);
        step[length] = '\0';
        int found = (int)H5Lexists(id, step, H5P_DEFAULT);
        if (found <= 0 || !slash) return found;
    }
}

bool tl_h5_has_array(tl_h5 *f, const char *name)
{
    silence s = enter();
    bool has = has_link(f->id, name) != 0;
    leave(s);
    return has;
}

static talus_status check_array(tl_h5 *f, hid_t d, const char *name, tl_h5_type type, int64_t *count, talus_error *err)
{
    hid_t in_file = H5Dget_type(d), space = H5Dget_space(d);
    talus_status status = TALUS_OK;
    hsize_t dims = 0;
    if (in_file < 0 || space < 0)
        status = fail(f, "read array", name, err);
    else if (H5Tequal(in_file, file_type(type)) <= 0)
        status =
            TL_FAIL(err, TALUS_BAD_INPUT, "%s: array %s must hold little-endian %s", f->path, name, type_name(type));
    else if (H5Sget_simple_extent_ndims(space) != 1 || H5Sget_simple_extent_dims(space, &dims, NULL) != 1)
        status = TL_FAIL(err, TALUS_BAD_INPUT, "%s: array %s must have one dimension", f->path, name);
    else if (dims > (hsize_t)(f->bytes / entry_bytes(type)) ||
             H5Dget_storage_size(d) < dims * (hsize_t)entry_bytes(type))
        status = TL_FAIL(err, TALUS_BAD_INPUT, "%s: array %s claims %llu entries, more than the file holds", f->path,
                         name, (unsigned long long)dims);
    else
        *count = (int64_t)dims;
    if (space >= 0) H5Sclose(space);
    if (in_file >= 0) H5Tclose(in_file);
    return status;
}

static talus_status open_array(tl_h5 *f, const char *name, tl_h5_type type, hid_t *d, int64_t *count, talus_error *err)
{
    int found = has_link(f->id, name);
    if (found < 0) return fail(f, "read array", name, err);
    if (found == 0) return TL_FAIL(err, TALUS_BAD_INPUT, "%s: array %s is missing", f->path, name);
    *d = H5Dopen2(f->id, name, H5P_DEFAULT);
    if (*d < 0) return fail(f, "read array", name, err);
    talus_status status = check_array(f, *d, name, type, count, err);
    if (status != TALUS_OK) H5Dclose(*d);
    return status;
}

talus_status tl_h5_count(tl_h5 *f, const char *name, tl_h5_type type, int64_t *count, talus_error *err)
{
    hid_t d = H5I_INVALID_HID;
    silence s = enter();
    talus_status status = open_array(f, name, type, &d, count, err);
    if (status == TALUS_OK) H5Dclose(d);
    leave(s);
    return status;
}

static talus_status get_array(tl_h5 *f, const char *name, tl_h5_type type, int64_t count, void *data, talus_error *err)
{
    hid_t d = H5I_INVALID_HID;
    int64_t found = 0;
    TL_TRY(open_array(f, name, type, &d, &found, err));
    talus_status status = TALUS_OK;
    if (found != count)
        status = TL_FAIL(err, TALUS_BAD_INPUT, "%s: array %s has %lld entries, expected %lld", f->path, name,
                         (long long)found, (long long)count);
    else if (count > 0 && H5Dread(d, memory_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
        status = fail(f, "read array", name, err);
    H5Dclose(d);
    return status;
}

talus_status tl_h5_get_array(tl_h5 *f, const char *name, tl_h5_type type, int64_t count, void *data, talus_error *err)
{
    silence s = enter();
    talus_status status = get_array(f, name, type, count, data, err);
    leave(s);
    return status;
}
