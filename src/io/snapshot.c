#include "io/snapshot.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "io/checkpoint.h"
#include "talus_version.h"

#define MAGIC "talus state 1  " /* 15 letters and a zero */
#define NAME "a saved state"

/* In front of the arrays, each of which begins with its count. */
typedef struct header {
    char magic[16];
    uint64_t build, scene, state; /* hashes: of version and compiler; of the scene; of all that follows here */
    double t, dt_next;
    int64_t step, frame, parts;
} header;

/* Bytes in, an offset that never passes their end. */
typedef struct reader {
    const char *data;
    size_t bytes, at;
} reader;

static size_t number_bytes(tl_number n) { return n == TL_NUMBER_F64 || n == TL_NUMBER_I64 ? 8 : 4; }
static size_t row_bytes(const tl_state_part *p) { return (size_t)p->width * number_bytes(p->type); }
static size_t padded(size_t bytes) { return (bytes + 7) / 8 * 8; }

static uint64_t build_hash(void)
{
    static const char text[] = TALUS_VERSION_STRING " " TALUS_COMPILER_STRING;
    return tl_hash(TL_HASH_START, text, sizeof text);
}

size_t tl_snapshot_bytes(const tl_state *s)
{
    tl_state view = *s; /* the list wants places that may be written */
    tl_state_part part[TL_STATE_PARTS_MAX];
    const int parts = tl_state_parts(&view, part);
    size_t bytes = sizeof(header);
    for (int k = 0; k < parts; k++) bytes += 8 + padded(row_bytes(&part[k]) * (size_t)*part[k].count);
    return bytes;
}

void tl_snapshot_write(const tl_state *s, const tl_scene *scene, void *out)
{
    tl_state view = *s;
    tl_state_part part[TL_STATE_PARTS_MAX];
    const int parts = tl_state_parts(&view, part);
    header h = {.build = build_hash(),
                .scene = scene->hash,
                .state = tl_state_hash(s),
                .t = s->t,
                .dt_next = s->dt_next,
                .step = s->step,
                .frame = s->frame,
                .parts = parts};
    char *to = out;
    memcpy(h.magic, MAGIC, sizeof h.magic);
    memcpy(to, &h, sizeof h);
    to += sizeof h;
    for (int k = 0; k < parts; k++) {
        const tl_state_part *p = &part[k];
        const size_t row = row_bytes(p), count = (size_t)*p->count;
        memcpy(to, p->count, 8);
        to += 8;
        for (size_t i = 0; i < count; i++)
            memcpy(to + i * row, (const char *)*p->data + i * p->stride + p->offset, row);
        memset(to + row * count, 0, padded(row * count) - row * count);
        to += padded(row * count);
    }
}

/* ---- reading ---- */

static talus_status cut_short(talus_error *err) { return TL_FAIL(err, TALUS_BAD_INPUT, NAME " is cut short"); }

static talus_status read_header(reader *r, const tl_scene *scene, header *out, talus_error *err)
{
    if (r->bytes < sizeof *out) return cut_short(err);
    memcpy(out, r->data, sizeof *out);
    r->at = sizeof *out;
    if (memcmp(out->magic, MAGIC, sizeof out->magic)) return TL_FAIL(err, TALUS_BAD_INPUT, "these bytes are not " NAME);
    if (out->build != build_hash())
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       NAME " of another version or build of talus; talus_sim_save makes files "
                            "that last");
    if (out->scene != scene->hash)
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       NAME " of another scene (hash %016" PRIx64 ", this one has %016" PRIx64 ")", out->scene,
                       scene->hash);
    return TALUS_OK;
}

/* Begin of the rows of the next part, and how many there are. */
static talus_status next_part(reader *r, const tl_state_part *p, int64_t *count, const char **rows, talus_error *err)
{
    if (r->bytes - r->at < 8) return cut_short(err);
    memcpy(count, r->data + r->at, 8);
    const size_t left = r->bytes - r->at - 8, row = row_bytes(p);
    if (*count < 0 || (size_t)*count > left / row || padded(row * (size_t)*count) > left) return cut_short(err);
    *rows = r->data + r->at + 8;
    r->at += 8 + padded(row * (size_t)*count);
    return TALUS_OK;
}

static talus_status take_rows(const tl_state_part *part, int k, const char *rows, talus_error *err)
{
    const tl_state_part *p = &part[k];
    const size_t row = row_bytes(p), count = (size_t)*p->count;
    if (tl_state_part_is_first(part, k)) {
        *p->data = tl_alloc_zero(p->stride * count + 1);
        if (!*p->data) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %s, %zu items", p->name, count);
        if (p->room) *p->room = *p->count;
    }
    for (size_t i = 0; i < count; i++) memcpy((char *)*p->data + i * p->stride + p->offset, rows + i * row, row);
    for (size_t i = 0; p->type == TL_NUMBER_F64 && i < count * (size_t)p->width; i++) {
        double x;
        memcpy(&x, rows + 8 * i, sizeof x);
        if (!isfinite(x)) return TL_FAIL(err, TALUS_BAD_INPUT, NAME ": %s has a number that is %g", p->name, x);
    }
    return TALUS_OK;
}

static talus_status read_part(reader *r, const tl_state_part *part, int k, talus_error *err)
{
    const tl_state_part *p = &part[k];
    const char *rows = NULL;
    int64_t count = 0;
    TL_TRY(next_part(r, p, &count, &rows, err));
    bool known = !p->room;
    for (int j = 0; j < k; j++) known |= part[j].count == p->count;
    if (known && count != *p->count)
        return TL_FAIL(err, TALUS_BAD_INPUT, NAME ": %s has %" PRId64 " items, expected %" PRId64, p->name, count,
                       *p->count);
    *p->count = count;
    return take_rows(part, k, rows, err);
}

static talus_status read_all(reader *r, tl_state *staged, const tl_scene *scene, int32_t bodies, talus_error *err)
{
    header h;
    tl_state_part part[TL_STATE_PARTS_MAX];
    const int parts = tl_state_parts(staged, part);
    TL_TRY(read_header(r, scene, &h, err));
    if (h.parts != parts) return TL_FAIL(err, TALUS_BAD_INPUT, NAME " has %" PRId64 " arrays, not %d", h.parts, parts);
    for (int k = 0; k < parts; k++) TL_TRY(read_part(r, part, k, err));
    staged->t = h.t, staged->dt_next = h.dt_next, staged->step = h.step, staged->frame = h.frame;
    TL_TRY(tl_checkpoint_check(staged, scene, bodies, NAME, err));
    if (tl_state_hash(staged) != h.state) return TL_FAIL(err, TALUS_BAD_INPUT, NAME " was changed");
    return TALUS_OK;
}

talus_status tl_snapshot_read(const void *data, size_t bytes, tl_state *s, const tl_scene *scene, int32_t bodies,
                              talus_error *err)
{
    reader r = {data, bytes, 0};
    tl_state staged;
    TL_TRY(tl_state_like(&staged, s, err));
    talus_status status = read_all(&r, &staged, scene, bodies, err);
    if (status != TALUS_OK) {
        tl_state_free(&staged);
        return status;
    }
    tl_state_free(s);
    *s = staged;
    return TALUS_OK;
}

/* The section of what is driven comes first of all sections, after the parts of rigid bodies. */
talus_status tl_snapshot_driven(const void *data, size_t bytes, const tl_scene *scene, tl_driven *out, talus_error *err)
{
    reader r = {data, bytes, 0};
    header h;
    tl_state none = {0};
    tl_state_part part[TL_STATE_PARTS_MAX];
    *out = (tl_driven){0};
    TL_TRY(read_header(&r, scene, &h, err));
    const int before = tl_state_parts(&none, part), all = before + tl_driven_kind.parts(out, part + before);
    for (int k = 0; k < all; k++) {
        const char *rows = NULL;
        int64_t count = 0;
        TL_TRY(next_part(&r, &part[k], &count, &rows, err));
        if (k < before) continue;
        if (!tl_state_part_is_first(part + before, k - before) && count != *part[k].count) return cut_short(err);
        *part[k].count = count;
        TL_TRY(take_rows(part + before, k - before, rows, err));
    }
    return TALUS_OK;
}
