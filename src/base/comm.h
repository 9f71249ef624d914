/* Parts of one run that work together: processes of a cluster (src/cluster), threads in tests (tests/support/split.h),
 * or one alone. The rest of the tree knows parts by this header only.
 *
 * Everything here is collective: all parts make the same calls in the same order, outside of parallel loops. With one
 * part (c = NULL, or parts = 1) nothing is sent. Sums and arrivals are in the order of parts' numbers, so that a rerun
 * with as many parts has the same bits; every part gets the same bits.
 *
 *     TL_TRY(tl_comm_agree(c, work(err), err));    // a failure on one part alone would leave the others waiting
 *
 * A halo plan says which entries of other parts this part keeps copies of. Plans live until tl_comm_release to a mark
 * that was taken before them, as what comes from an arena does. */
#ifndef TL_BASE_COMM_H
#define TL_BASE_COMM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

typedef enum tl_reduce { TL_REDUCE_SUM, TL_REDUCE_MAX, TL_REDUCE_MIN } tl_reduce;

typedef struct tl_comm tl_comm;
typedef struct tl_halo tl_halo;
struct tl_algebra_ops;

/* Something for another part, or from one. */
typedef struct tl_parcel {
    int32_t part;
    int64_t bytes;
    void *data;
} tl_parcel;

/* Who owns the entries that a part has copies of. */
typedef struct tl_halo_source {
    int64_t owned, halo;
    const int32_t *part, *index; /* [halo]: entry h is number index[h] of those that part[h] owns */
} tl_halo_source;

/* What an implementation does: never fails but for plan, whose NULL is no memory. Called with two parts or more. */
typedef struct tl_comm_ops {
    void (*share)(const tl_comm *c, size_t bytes, const void *mine, void *all); /* all [parts][bytes] */
    void (*gather)(const tl_comm *c, const int64_t *bytes, const void *mine, void *all);
    void (*announce)(const tl_comm *c, int count, const tl_parcel *out, int64_t *incoming); /* [parts] bytes */
    void (*send)(const tl_comm *c, int count, const tl_parcel *out, int arrivals, const tl_parcel *in);
    tl_halo *(*plan)(const tl_comm *c, const tl_halo_source *s);
    void (*get)(const tl_comm *c, tl_halo *h, size_t item, const void *owned, void *halo);
    void (*add)(const tl_comm *c, tl_halo *h, int count, const double *halo, double *owned);
    int (*mark)(const tl_comm *c);
    void (*release)(const tl_comm *c, int mark);
} tl_comm_ops;

typedef struct tl_comm_traffic {
    int64_t gets, adds, reduces, gathers, sends;
    int64_t bytes;       /* brought to this part; of adds: to their owners */
    double seconds, cpu; /* in messages: on their way, and waiting for the others; by the clock, of the processor */
} tl_comm_traffic;

struct tl_comm {
    int32_t part, parts;
    const tl_comm_ops *ops;
    void *ctx;
    tl_comm_traffic *traffic;             /* what was asked for so far */
    const struct tl_algebra_ops *algebra; /* base/algebra.h; NULL: none */
};

/* The processes that this one has joined for good, for whoever starts runs; NULL: none. */
void tl_comm_join(const tl_comm *c);
const tl_comm *tl_comm_joined(void);

static inline bool tl_comm_alone(const tl_comm *c) { return !c || c->parts == 1; }

/* values [count] of all parts in one; op: one for each value. NaN wins a maximum or minimum. Up to 64 parts are added
 * one after the other, more in groups of 64. */
#define TL_COMM_VALUES_MAX 64
#define TL_COMM_PARTS_MAX 4096
void tl_comm_reduce_each(const tl_comm *c, int count, const tl_reduce *op, double *values);
void tl_comm_reduce(const tl_comm *c, tl_reduce op, int count, double *values);
/* Any number of values. */
void tl_comm_sums(const tl_comm *c, int64_t count, double *values);
static inline double tl_comm_sum(const tl_comm *c, double value)
{
    if (!tl_comm_alone(c)) tl_comm_reduce(c, TL_REDUCE_SUM, 1, &value);
    return value;
}
static inline double tl_comm_max(const tl_comm *c, double value)
{
    if (!tl_comm_alone(c)) tl_comm_reduce(c, TL_REDUCE_MAX, 1, &value);
    return value;
}

/* The status and the message of the lowest part that failed, on every part. */
talus_status tl_comm_agree(const tl_comm *c, talus_status mine, talus_error *err);
/* tl_arena_reserve that fails everywhere when one part has no memory. */
talus_status tl_comm_reserve(const tl_comm *c, tl_arena *a, size_t bytes, talus_error *err);

/* flag [count] is 1 where any part has it so. */
talus_status tl_comm_any(const tl_comm *c, int64_t count, uint8_t *flag, tl_arena *a, talus_error *err);

/* The same number of bytes of every part: all [parts][bytes]. */
void tl_comm_share(const tl_comm *c, size_t bytes, const void *mine, void *all);
/* As many as each has, bytes [parts]: all, one part after the other. */
void tl_comm_gather(const tl_comm *c, const int64_t *bytes, const void *mine, void *all);

/* Long arrays, in pieces, without memory of their own. To part 0: those of all parts, one after the other, bytes
 * [parts]; from part 0, the other way; and the same for all. `all` is looked at on part 0 only. */
void tl_comm_collect(const tl_comm *c, const int64_t *bytes, const void *mine, void *all);
void tl_comm_deal(const tl_comm *c, const int64_t *bytes, const void *all, void *mine);
void tl_comm_tell(const tl_comm *c, int64_t bytes, void *data);

/* Parcels to whom they may concern, one at most to each part; what comes is in the order of the senders, in the
 * arena. */
talus_status tl_comm_send(const tl_comm *c, int count, const tl_parcel *out, int *arrivals, tl_parcel **in, tl_arena *a,
                          talus_error *err);

/* Rows for other parts, and those from others: in the order of the senders, and of each in its own order. */
typedef struct tl_comm_rows {
    int64_t count;
    size_t bytes; /* of a row */
    void *row;
    int32_t *part; /* [count] whom they are for, or who sent them */
} tl_comm_rows;
talus_status tl_comm_send_rows(const tl_comm *c, const tl_comm_rows *out, tl_comm_rows *in, tl_arena *a,
                               talus_error *err);

/* NULL in *out where there is only one part, which may have no halo. */
talus_status tl_comm_plan(const tl_comm *c, const tl_halo_source *s, tl_halo **out, talus_error *err);
/* halo [halo] = the owners' entries; items of `item` bytes. */
void tl_comm_get(const tl_comm *c, tl_halo *h, size_t item, const void *owned, void *halo);
/* Owners' entries += the copies, own ones first, then by the number of the part: items of `count` doubles. */
void tl_comm_add(const tl_comm *c, tl_halo *h, int count, const double *halo, double *owned);
int tl_comm_mark(const tl_comm *c);
void tl_comm_release(const tl_comm *c, int mark);

#endif
