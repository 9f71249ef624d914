#include "io/checkpoint.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "io/hdf5_file.h"
#include "math/blas.h"
#include "talus_version.h"

#define FORMAT "talus checkpoint"
#define FORMAT_VERSION 2
#define UNIT_SLACK 1e-6 /* of a rotation's length: steps normalise to 1e-15 */
#define SETTINGS_MAX 4096
#define TIME_MAX 1e12                /* s, and */
#define COUNT_MAX ((int64_t)1 << 53) /* steps and frames: more than any run has */

static tl_h5_type file_type(tl_number n)
{
    static const tl_h5_type types[] = {[TL_NUMBER_F64] = TL_H5_DOUBLE,
                                       [TL_NUMBER_F32] = TL_H5_FLOAT,
                                       [TL_NUMBER_I32] = TL_H5_INT32,
                                       [TL_NUMBER_I64] = TL_H5_INT64};
    return types[n];
}
static size_t bytes_of(tl_number n) { return n == TL_NUMBER_F64 || n == TL_NUMBER_I64 ? 8 : 4; }
static size_t row_bytes(const tl_state_part *p) { return (size_t)p->width * bytes_of(p->type); }

/* ---- saving ---- */

static talus_status put_hash(tl_h5 *f, const char *name, uint64_t hash, talus_error *err)
{
    char text[24];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    return tl_h5_put_text(f, name, text, err);
}

static talus_status put_part(tl_h5 *f, const tl_state_part *p, talus_error *err)
{
    int64_t count = *p->count;
    size_t row = row_bytes(p);
    char *rows = TL_NEW(char, row *(size_t)count + 1);
    if (!rows) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to save %s", p->name);
    for (int64_t i = 0; i < count; i++)
        memcpy(rows + (size_t)i * row, (const char *)*p->data + (size_t)i * p->stride + p->offset, row);
    talus_status status = tl_h5_put_array(f, p->name, file_type(p->type), count * p->width, rows, err);
    tl_free(rows);
    return status;
}

static talus_status put_cut(tl_h5 *f, const tl_checkpoint_cut *cut, talus_error *err)
{
    if (!cut || cut->parts < 2) return TALUS_OK;
    TL_TRY(tl_h5_put_int(f, "processes", cut->parts, err));
    return tl_h5_put_array(f, "processes/cut", TL_H5_INT64, cut->count, cut->number, err);
}

static talus_status put_all(tl_h5 *f, const tl_state *s, const tl_scene *scene, const char *settings, talus_error *err)
{
    TL_TRY(tl_h5_put_text(f, "format", FORMAT, err));
    TL_TRY(tl_h5_put_int(f, "version", FORMAT_VERSION, err));
    TL_TRY(tl_h5_put_text(f, "talus", TALUS_VERSION_STRING, err));
    TL_TRY(tl_h5_put_text(f, "compiler", TALUS_COMPILER_STRING, err));
    TL_TRY(tl_h5_put_text(f, "blas_core", tl_blas_core(), err));
    if (scene->file && *scene->file) TL_TRY(tl_h5_put_text(f, "scene_file", scene->file, err));
    TL_TRY(put_hash(f, "scene_hash", scene->hash, err));
    if (settings && *settings && strlen(settings) < SETTINGS_MAX) TL_TRY(tl_h5_put_text(f, "settings", settings, err));
    TL_TRY(tl_h5_put_number(f, "t", s->t, err));
    TL_TRY(tl_h5_put_int(f, "step", s->step, err));
    TL_TRY(tl_h5_put_int(f, "frame", s->frame, err));
    TL_TRY(tl_h5_put_number(f, "dt_next", s->dt_next, err));
    TL_TRY(put_hash(f, "state_hash", tl_state_hash(s), err));
    tl_state view = *s; /* the list wants places that may be written */
    tl_state_part part[TL_STATE_PARTS_MAX];
    int parts = tl_state_parts(&view, part);
    for (int k = 0; k < parts; k++) TL_TRY(put_part(f, &part[k], err));
    return TALUS_OK;
}

talus_status tl_checkpoint_save(const char *path, const tl_state *s, const tl_scene *scene, const char *settings,
                                talus_error *err)
{
    return tl_checkpoint_save_cut(path, s, scene, settings, NULL, err);
}

talus_status tl_checkpoint_save_cut(const char *path, const tl_state *s, const tl_scene *scene, const char *settings,
                                    const tl_checkpoint_cut *cut, talus_error *err)
{
    tl_h5 *f;
    TL_TRY(tl_h5_create(&f, path, err));
    talus_status status = put_all(f, s, scene, settings, err);
    if (status == TALUS_OK) status = put_cut(f, cut, err);
    if (status == TALUS_OK) return tl_h5_commit(f, err);
    tl_h5_discard(f);
    return status;
}

/* ---- loading ---- */

/* A second state beside the one in use: same counts of what is fixed, memory of its own. */
typedef struct loading {
    tl_h5 *file;
    const char *path;
    tl_state staged;
    tl_state_part part[TL_STATE_PARTS_MAX];
    int parts;
} loading;

static talus_status check_scene(const loading *l, const tl_scene *scene, const tl_log *log, talus_error *err)
{
    char text[64], want[24], settings[SETTINGS_MAX] = "", file[1024] = "?";
    int64_t version;
    TL_TRY(tl_h5_get_text(l->file, "format", text, sizeof text, err));
    if (strcmp(text, FORMAT)) return TL_FAIL(err, TALUS_BAD_INPUT, "%s: a %.60s, not a checkpoint", l->path, text);
    TL_TRY(tl_h5_get_int(l->file, "version", &version, err));
    if (version != FORMAT_VERSION)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: checkpoint of version %" PRId64 ", this program reads %d", l->path,
                       version, FORMAT_VERSION);
    TL_TRY(tl_h5_get_text(l->file, "scene_hash", text, sizeof text, err));
    snprintf(want, sizeof want, "%016" PRIx64, scene->hash);
    if (strcmp(text, want)) {
        if (tl_h5_has_value(l->file, "settings"))
            TL_TRY(tl_h5_get_text(l->file, "settings", settings, sizeof settings, err));
        if (tl_h5_has_value(l->file, "scene_file"))
            TL_TRY(tl_h5_get_text(l->file, "scene_file", file, sizeof file, err));
        return TL_FAIL(
            err, TALUS_BAD_INPUT,
            "%.120s is a checkpoint of another scene, or its files or settings have changed: it was made from "
            "%.120s%s%.160s (hash %s, now %s)",
            l->path, file, *settings ? " with " : "", settings, text, want);
    }
    TL_TRY(tl_h5_get_text(l->file, "blas_core", text, sizeof text, err));
    if (log && strcmp(text, tl_blas_core()))
        tl_log_write(log, 0, "%s was made with BLAS kernels %s, these are %s: last bits may differ from the run's",
                     l->path, text, tl_blas_core());
    TL_TRY(tl_h5_get_text(l->file, "compiler", text, sizeof text, err));
    if (log && strcmp(text, TALUS_COMPILER_STRING))
        tl_log_write(log, 0, "%s was made by a build with %s, this one is %s: last bits may differ from the run's",
                     l->path, text, TALUS_COMPILER_STRING);
    return TALUS_OK;
}

static talus_status read_times(loading *l, talus_error *err)
{
    tl_state *s = &l->staged;
    TL_TRY(tl_h5_get_number(l->file, "t", &s->t, err));
    TL_TRY(tl_h5_get_int(l->file, "step", &s->step, err));
    TL_TRY(tl_h5_get_int(l->file, "frame", &s->frame, err));
    TL_TRY(tl_h5_get_number(l->file, "dt_next", &s->dt_next, err));
    return TALUS_OK;
}

/* The count that the file has for a part, checked against what is fixed or known from an earlier part. */
static talus_status read_count(const loading *l, int k, talus_error *err)
{
    const tl_state_part *p = &l->part[k];
    int64_t numbers;
    TL_TRY(tl_h5_count(l->file, p->name, file_type(p->type), &numbers, err));
    int64_t count = numbers / p->width;
    if (numbers % p->width)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: %s has %" PRId64 " numbers, not a multiple of %d", l->path, p->name,
                       numbers, p->width);
    bool known = !p->room;
    for (int j = 0; j < k; j++) known |= l->part[j].count == p->count;
    if (known && count != *p->count)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: %s has %" PRId64 " items, expected %" PRId64, l->path, p->name, count,
                       *p->count);
    *p->count = count;
    return TALUS_OK;
}

static talus_status check_finite(const loading *l, const tl_state_part *p, const void *rows, talus_error *err)
{
    if (p->type != TL_NUMBER_F64 && p->type != TL_NUMBER_F32) return TALUS_OK;
    for (int64_t i = 0; i < *p->count * p->width; i++) {
        double x = p->type == TL_NUMBER_F64 ? ((const double *)rows)[i] : (double)((const float *)rows)[i];
        if (!isfinite(x))
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: %s[%" PRId64 "] is %g, must be finite", l->path, p->name,
                           i / p->width, x);
    }
    return TALUS_OK;
}

static talus_status read_part(loading *l, int k, talus_error *err)
{
    const tl_state_part *p = &l->part[k];
    size_t row = row_bytes(p), count = (size_t)*p->count;
    if (tl_state_part_is_first(l->part, k)) {
        *p->data = tl_alloc_zero(p->stride * count + 1);
        if (!*p->data) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %s, %zu items", p->name, count);
        if (p->room) *p->room = *p->count;
    }
    char *rows = TL_NEW(char, row *count + 1);
    if (!rows) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to read %s", p->name);
    talus_status status = tl_h5_get_array(l->file, p->name, file_type(p->type), *p->count * p->width, rows, err);
    if (status == TALUS_OK) status = check_finite(l, p, rows, err);
    for (size_t i = 0; i < count && status == TALUS_OK; i++)
        memcpy((char *)*p->data + i * p->stride + p->offset, rows + i * row, row);
    tl_free(rows);
    return status;
}

talus_status tl_checkpoint_check(const tl_state *s, const tl_scene *scene, int32_t bodies, const char *path,
                                 talus_error *err)
{
    const tl_rigid_state *r = &s->rigid;
    if (!(s->t >= 0 && s->t < TIME_MAX && s->dt_next >= 0 && s->dt_next < TIME_MAX) || s->step < 0 ||
        s->step > COUNT_MAX || s->frame < 0 || s->frame > COUNT_MAX)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: t %g, dt_next %g, step %" PRId64 ", frame %" PRId64 " cannot be",
                       path, s->t, s->dt_next, s->step, s->frame);
    for (int64_t i = 0; i < r->count; i++)
        if (!(fabs(tl_quat_norm2(r->body[i].q) - 1) < UNIT_SLACK))
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: the rotation of body %" PRId64 " has length %g, must be 1", path,
                           i, sqrt(tl_quat_norm2(r->body[i].q)));
    for (int64_t i = 0; i < r->contacts + r->impacts; i++) {
        const tl_rigid_memory *c = i < r->contacts ? &r->contact[i] : &r->impact[i - r->contacts];
        if (c->a < 0 || c->a >= r->count || c->b <= c->a || c->b >= bodies)
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: contact %" PRId64 " is between bodies %d and %d of %d", path, i,
                           (int)c->a, (int)c->b, (int)bodies);
    }
    for (int k = 0; k < s->sections; k++)
        TL_TRY(s->section[k].kind->check(s->section[k].data, scene, bodies, path, err));
    return TALUS_OK;
}

static talus_status check_hash(const loading *l, talus_error *err)
{
    char text[64], now[24];
    TL_TRY(tl_h5_get_text(l->file, "state_hash", text, sizeof text, err));
    snprintf(now, sizeof now, "%016" PRIx64, tl_state_hash(&l->staged));
    if (!strcmp(text, now)) return TALUS_OK;
    return TL_FAIL(err, TALUS_BAD_INPUT, "%s: the state in it has hash %s, it was saved with %.40s", l->path, now,
                   text);
}

static talus_status read_all(loading *l, const tl_scene *scene, int32_t bodies, const tl_log *log, talus_error *err)
{
    TL_TRY(check_scene(l, scene, log, err));
    TL_TRY(read_times(l, err));
    for (int k = 0; k < l->parts; k++) {
        TL_TRY(read_count(l, k, err));
        TL_TRY(read_part(l, k, err));
    }
    /* What a seal cannot promise: a file that was made to be read has the right hash as well, so every index is held
     * against its bounds. */
    TL_TRY(tl_checkpoint_check(&l->staged, scene, bodies, l->path, err));
    return check_hash(l, err);
}

talus_status tl_checkpoint_load(const char *path, tl_state *s, const tl_scene *scene, int32_t bodies, const tl_log *log,
                                talus_error *err)
{
    loading l = {.path = path};
    TL_TRY(tl_h5_open(&l.file, path, err));
    talus_status status = tl_state_like(&l.staged, s, err);
    if (status == TALUS_OK) {
        l.parts = tl_state_parts(&l.staged, l.part);
        status = read_all(&l, scene, bodies, log, err);
    }
    tl_h5_close(l.file);
    if (status != TALUS_OK) {
        tl_state_free(&l.staged);
        return status;
    }
    tl_state_free(s);
    *s = l.staged;
    return TALUS_OK;
}

static talus_status get_cut(tl_h5 *f, int64_t room, tl_checkpoint_cut *out, talus_error *err)
{
    if (!tl_h5_has_value(f, "processes")) return TALUS_OK;
    TL_TRY(tl_h5_get_int(f, "processes", &out->parts, err));
    TL_TRY(tl_h5_count(f, "processes/cut", TL_H5_INT64, &out->count, err));
    return out->count <= room ? tl_h5_get_array(f, "processes/cut", TL_H5_INT64, out->count, out->number, err)
                              : TALUS_OK;
}

talus_status tl_checkpoint_read_cut(const char *path, int64_t room, tl_checkpoint_cut *out, talus_error *err)
{
    tl_h5 *f;
    out->parts = 1;
    out->count = 0;
    TL_TRY(tl_h5_open(&f, path, err));
    talus_status status = get_cut(f, room, out, err);
    tl_h5_close(f);
    return status;
}

talus_status tl_checkpoint_driven(const char *path, const tl_scene *scene, tl_driven *out, talus_error *err)
{
    loading l = {.path = path};
    *out = (tl_driven){0};
    TL_TRY(tl_h5_open(&l.file, path, err));
    l.parts = tl_driven_kind.parts(out, l.part);
    talus_status status = check_scene(&l, scene, NULL, err);
    for (int k = 0; k < l.parts && status == TALUS_OK; k++) {
        int64_t room, *fixed = l.part[k].room;
        if (!fixed) l.part[k].room = &room; /* the count is what is asked for */
        status = read_count(&l, k, err);
        if (status == TALUS_OK) status = read_part(&l, k, err);
        l.part[k].room = fixed;
    }
    tl_h5_close(l.file);
    return status;
}
