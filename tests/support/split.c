#include "split.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"

#define VALUES_MAX 64 /* values in one reduction; the methods combine a handful */

/* Beside the tl_reduce operations, what a part may ask for. */
enum { EXCHANGE = -1, SHARE = -2, GATHER = -3, ANNOUNCE = -4, SEND = -5, PLAN = -6, GET = -7, ADD = -8, RELEASE = -9 };

typedef struct part {
    tl_split *split;
    tl_space space;
    tl_csr csr;
    int32_t begin;        /* global index of the first owned entry */
    int32_t *halo_global; /* [halo] rising */
    int32_t *halo_owner;  /* [halo] */
    /* what this part brought to the present meeting */
    int operation, count;
    double values[VALUES_MAX];
    const double *x;
    const void *data;
    const int64_t *bytes;
    const tl_parcel *parcels;
    const tl_halo *halo;
    /* as a part of a tl_comm */
    tl_comm comm;
    tl_comm_traffic traffic;
    tl_halo *plans; /* newest first */
    int plan_count;
} part;

struct tl_halo {
    tl_halo *older;
    tl_halo_source s;
};

struct tl_split {
    int parts;
    part *part;
    pthread_mutex_t lock;
    pthread_cond_t all_here;
    int waiting, left; /* parts at the barrier, parts whose function has returned */
    int64_t meeting;   /* counts completed barriers */
    int (*fn)(int part, void *user);
    void *user;
    int *answer; /* [parts] */
};

/* ---- building the parts ---- */

static int owner_of(const tl_split *s, int32_t row)
{
    int p = 0;
    while (p + 1 < s->parts && row >= s->part[p + 1].begin) p++;
    return p;
}

/* Rows [begin, end) of A with owned columns first; `local` [A->cols] is scratch filled with -1. */
static int build_part(tl_split *s, int p, const tl_csr *A, int32_t end, int32_t *local)
{
    part *q = &s->part[p];
    int32_t begin = q->begin, n = end - begin, halo = 0;
    int64_t first = A->start[begin], nonzeros = A->start[end] - first;

    for (int64_t k = first; k < first + nonzeros; k++) {
        int32_t c = A->col[k];
        if ((c < begin || c >= end) && local[c] < 0) {
            local[c] = 0;
            halo++;
        }
    }
    q->csr = (tl_csr){.rows = n,
                      .cols = n + halo,
                      .start = TL_NEW(int64_t, n + 1),
                      .col = TL_NEW(int32_t, nonzeros),
                      .val = TL_NEW(double, nonzeros)};
    q->halo_global = TL_NEW(int32_t, halo);
    q->halo_owner = TL_NEW(int32_t, halo);
    if (!q->csr.start || !q->csr.col || !q->csr.val || !q->halo_global || !q->halo_owner) return 0;

    /* number the halo in rising global order */
    halo = 0;
    for (int32_t c = 0; c < A->cols; c++)
        if (local[c] == 0) {
            q->halo_global[halo] = c;
            q->halo_owner[halo] = owner_of(s, c);
            local[c] = n + halo++;
        }
    q->space.n = n;
    q->space.halo = halo;

    /* owned columns, then halo columns: both rise, so the row does */
    int64_t at = 0;
    q->csr.start[0] = 0;
    for (int32_t i = begin; i < end; i++) {
        for (int in_halo = 0; in_halo < 2; in_halo++)
            for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
                int32_t c = A->col[k];
                if ((c < begin || c >= end) != in_halo) continue;
                q->csr.col[at] = in_halo ? local[c] : c - begin;
                q->csr.val[at++] = A->val[k];
            }
        q->csr.start[i - begin + 1] = at;
    }
    for (int32_t k = 0; k < halo; k++) local[q->halo_global[k]] = -1;
    return 1;
}

/* ---- meeting the other parts ---- */

static void stop(const tl_split *s, const char *why)
{
    fprintf(stderr, "split space: %s:", why);
    for (int p = 0; p < s->parts; p++)
        fprintf(stderr, " part %d operation %d count %d;", p, s->part[p].operation, s->part[p].count);
    fprintf(stderr, " operations: sum %d, max %d, exchange %d, of a tl_comm %d to %d\n", TL_REDUCE_SUM, TL_REDUCE_MAX,
            EXCHANGE, RELEASE, SHARE);
    abort();
}

/* Caller holds the lock. */
static void check_nobody_left(const tl_split *s)
{
    if (s->left > 0 && s->waiting > 0 && s->left + s->waiting == s->parts)
        stop(s, "a part returned while others wait in a reduction or an exchange");
}

static void meet(tl_split *s)
{
    pthread_mutex_lock(&s->lock);
    int64_t meeting = s->meeting;
    if (++s->waiting == s->parts) {
        s->waiting = 0;
        s->meeting++;
        pthread_cond_broadcast(&s->all_here);
    } else {
        check_nobody_left(s);
        while (s->meeting == meeting) pthread_cond_wait(&s->all_here, &s->lock);
    }
    pthread_mutex_unlock(&s->lock);
}

static void check_same_request(const tl_split *s)
{
    for (int p = 1; p < s->parts; p++)
        if (s->part[p].operation != s->part[0].operation || s->part[p].count != s->part[0].count)
            stop(s, "parts ask for different things");
}

static double combine(tl_reduce op, double a, double b)
{
    if (op == TL_REDUCE_SUM) return a + b;
    return b > a || b != b ? b : a; /* NaN wins */
}

static void reduce(const tl_space *space, tl_reduce op, int count, double *values)
{
    part *q = space->ctx;
    tl_split *s = q->split;
    if (count > VALUES_MAX) stop(s, "too many values in one reduction");
    q->operation = (int)op;
    q->count = count;
    memcpy(q->values, values, sizeof(double) * (size_t)count);

    meet(s);
    check_same_request(s);
    memcpy(values, s->part[0].values, sizeof(double) * (size_t)count);
    for (int p = 1; p < s->parts; p++)
        for (int k = 0; k < count; k++) values[k] = combine(op, values[k], s->part[p].values[k]);
    meet(s); /* everyone has read */
}

static void exchange(const tl_space *space, double *x)
{
    part *q = space->ctx;
    tl_split *s = q->split;
    q->operation = EXCHANGE;
    q->count = 0;
    q->x = x;

    meet(s);
    check_same_request(s);
    for (int64_t k = 0; k < space->halo; k++) {
        const part *owner = &s->part[q->halo_owner[k]];
        x[space->n + k] = owner->x[q->halo_global[k] - owner->begin];
    }
    meet(s);
}

/* ---- as a tl_comm ---- */

static part *ask(const tl_comm *c, int operation, int64_t count)
{
    part *q = c->ctx;
    q->operation = operation;
    q->count = (int)count;
    return q;
}

static void met(const part *q)
{
    meet(q->split);
    check_same_request(q->split);
}

static void comm_share(const tl_comm *c, size_t bytes, const void *mine, void *all)
{
    part *q = ask(c, SHARE, (int64_t)bytes);
    q->data = mine;
    met(q);
    for (int p = 0; p < c->parts; p++) memcpy((char *)all + bytes * (size_t)p, q->split->part[p].data, bytes);
    meet(q->split);
}

static void comm_gather(const tl_comm *c, const int64_t *bytes, const void *mine, void *all)
{
    part *q = ask(c, GATHER, 0);
    q->data = mine;
    q->bytes = bytes;
    met(q);
    char *out = all;
    for (int p = 0; p < c->parts; p++) {
        if (q->split->part[p].bytes[p] != bytes[p]) stop(q->split, "a part brings another number of bytes than told");
        if (bytes[p]) memcpy(out, q->split->part[p].data, (size_t)bytes[p]);
        out += bytes[p];
    }
    meet(q->split);
}

static const tl_parcel *parcel_for(const part *from, int32_t to)
{
    for (int k = 0; k < from->count; k++)
        if (from->parcels[k].part == to) return &from->parcels[k];
    return NULL;
}

/* Numbers of parcels differ between parts. */
static void bring(const tl_comm *c, int operation, int count, const tl_parcel *out)
{
    part *q = ask(c, operation, count);
    q->parcels = out;
    meet(q->split);
    for (int p = 0; p < c->parts; p++)
        if (q->split->part[p].operation != operation) stop(q->split, "parts ask for different things");
}

static void comm_announce(const tl_comm *c, int count, const tl_parcel *out, int64_t *incoming)
{
    bring(c, ANNOUNCE, count, out);
    const part *q = c->ctx;
    for (int p = 0; p < c->parts; p++) {
        const tl_parcel *got = parcel_for(&q->split->part[p], c->part);
        incoming[p] = got ? got->bytes : 0;
    }
    meet(q->split);
}

static void comm_send(const tl_comm *c, int count, const tl_parcel *out, int arrivals, const tl_parcel *in)
{
    bring(c, SEND, count, out);
    const part *q = c->ctx;
    for (int k = 0; k < arrivals; k++)
        memcpy(in[k].data, parcel_for(&q->split->part[in[k].part], c->part)->data, (size_t)in[k].bytes);
    meet(q->split);
}

static tl_halo *comm_plan(const tl_comm *c, const tl_halo_source *s)
{
    part *q = ask(c, PLAN, 0);
    tl_halo *h = TL_NEW(tl_halo, 1);
    int32_t *owner = TL_NEW(int32_t, s->halo), *index = TL_NEW(int32_t, s->halo);
    met(q);
    meet(q->split);
    if (h && owner && index) {
        if (s->halo) memcpy(owner, s->part, sizeof *owner * (size_t)s->halo);
        if (s->halo) memcpy(index, s->index, sizeof *index * (size_t)s->halo);
        *h = (tl_halo){q->plans, {s->owned, s->halo, owner, index}};
        q->plans = h;
        q->plan_count++;
        return h;
    }
    tl_free(h);
    tl_free(owner);
    tl_free(index);
    return NULL;
}

static void comm_get(const tl_comm *c, tl_halo *h, size_t item, const void *owned, void *halo)
{
    part *q = ask(c, GET, (int64_t)item);
    q->data = owned;
    q->halo = h;
    met(q);
    for (int64_t k = 0; k < h->s.halo; k++) {
        const part *from = &q->split->part[h->s.part[k]];
        if (h->s.index[k] < 0 || h->s.index[k] >= from->halo->s.owned) stop(q->split, "a halo entry that nobody owns");
        memcpy((char *)halo + item * (size_t)k, (const char *)from->data + item * (size_t)h->s.index[k], item);
    }
    meet(q->split);
}

static void add_from(const part *from, int32_t to, int count, double *owned)
{
    const tl_halo_source *s = &from->halo->s;
    const double *x = from->data;
    for (int64_t k = 0; k < s->halo; k++)
        for (int i = 0; s->part[k] == to && i < count; i++) owned[(int64_t)s->index[k] * count + i] += x[k * count + i];
}

static void comm_add(const tl_comm *c, tl_halo *h, int count, const double *halo, double *owned)
{
    part *q = ask(c, ADD, count);
    q->data = halo;
    q->halo = h;
    met(q);
    add_from(q, c->part, count, owned);
    for (int p = 0; p < c->parts; p++)
        if (p != c->part) add_from(&q->split->part[p], c->part, count, owned);
    meet(q->split);
}

static int comm_mark(const tl_comm *c) { return ((const part *)c->ctx)->plan_count; }

static void comm_release(const tl_comm *c, int mark)
{
    part *q = ask(c, RELEASE, mark);
    met(q); /* nobody still reads a plan */
    while (q->plan_count > mark) {
        tl_halo *h = q->plans;
        q->plans = h->older;
        q->plan_count--;
        tl_free((int32_t *)h->s.part);
        tl_free((int32_t *)h->s.index);
        tl_free(h);
    }
    meet(q->split);
}

static const tl_comm_ops comm_ops = {comm_share, comm_gather, comm_announce, comm_send,   comm_plan,
                                     comm_get,   comm_add,    comm_mark,     comm_release};

/* ---- the interface ---- */

tl_split *tl_split_create(const tl_csr *A, int parts, int group)
{
    static const int64_t none = 0;
    static const tl_csr nothing = {.start = (int64_t *)&none};
    if (!A) A = &nothing;
    if (parts < 1 || group < 1 || A->rows != A->cols || A->rows % group != 0) return NULL;
    tl_split *s = TL_NEW_ZERO(tl_split, 1);
    if (!s) return NULL;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->all_here, NULL);
    s->part = TL_NEW_ZERO(part, parts);
    s->answer = TL_NEW_ZERO(int, parts);
    int32_t *local = TL_NEW(int32_t, A->cols);
    int good = s->part && s->answer && local;

    if (good) {
        s->parts = parts;
        int64_t groups = A->rows / group;
        for (int p = 0; p < parts; p++) s->part[p].begin = (int32_t)(groups * p / parts * group);
        for (int32_t c = 0; c < A->cols; c++) local[c] = -1;
    }
    for (int p = 0; good && p < parts; p++) {
        part *q = &s->part[p];
        q->split = s;
        q->space = (tl_space){.part = p, .parts = parts, .ctx = q};
        q->comm = (tl_comm){p, parts, &comm_ops, q, &q->traffic, NULL};
        if (parts > 1) {
            q->space.reduce = reduce;
            q->space.exchange = exchange;
        }
        good = build_part(s, p, A, p + 1 < parts ? s->part[p + 1].begin : A->rows, local);
    }
    tl_free(local);
    if (!good) {
        tl_split_free(s);
        return NULL;
    }
    return s;
}

void tl_split_free(tl_split *s)
{
    if (!s) return;
    for (int p = 0; p < s->parts; p++) {
        part *q = &s->part[p];
        tl_free(q->csr.start);
        tl_free(q->csr.col);
        tl_free(q->csr.val);
        tl_free(q->halo_global);
        tl_free(q->halo_owner);
    }
    tl_free(s->part);
    tl_free(s->answer);
    pthread_cond_destroy(&s->all_here);
    pthread_mutex_destroy(&s->lock);
    tl_free(s);
}

int tl_split_parts(const tl_split *s) { return s->parts; }
const tl_space *tl_split_space(const tl_split *s, int p) { return &s->part[p].space; }
const tl_comm *tl_split_comm(const tl_split *s, int p) { return &s->part[p].comm; }
const tl_csr *tl_split_csr(const tl_split *s, int p) { return &s->part[p].csr; }
int64_t tl_split_begin(const tl_split *s, int p) { return s->part[p].begin; }

void tl_split_scatter(const tl_split *s, const double *global, int p, double *local)
{
    const part *q = &s->part[p];
    if (q->space.n) memcpy(local, global + q->begin, sizeof(double) * (size_t)q->space.n);
    for (int64_t k = 0; k < q->space.halo; k++) local[q->space.n + k] = global[q->halo_global[k]];
}

void tl_split_gather(const tl_split *s, const double *local, int p, double *global)
{
    const part *q = &s->part[p];
    if (q->space.n) memcpy(global + q->begin, local, sizeof(double) * (size_t)q->space.n);
}

static void *run_part(void *arg)
{
    part *q = arg;
    tl_split *s = q->split;
    tl_threads_set(1);
    s->answer[q->space.part] = s->fn(q->space.part, s->user);

    pthread_mutex_lock(&s->lock);
    s->left++;
    check_nobody_left(s);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

int tl_split_run(tl_split *s, int (*fn)(int part, void *user), void *user)
{
    pthread_t *thread = TL_NEW(pthread_t, s->parts);
    if (!thread) return -1;
    s->fn = fn;
    s->user = user;
    s->left = s->waiting = 0;

    int started = 0;
    while (started < s->parts && pthread_create(&thread[started], NULL, run_part, &s->part[started]) == 0) started++;
    if (started < s->parts) {
        pthread_mutex_lock(&s->lock);
        s->left += s->parts - started; /* those that never came: a waiting part stops the program */
        check_nobody_left(s);
        pthread_mutex_unlock(&s->lock);
    }
    for (int p = 0; p < started; p++) pthread_join(thread[p], NULL);
    tl_free(thread);

    if (started < s->parts) return -1;
    for (int p = 0; p < s->parts; p++)
        if (s->answer[p]) return s->answer[p];
    return 0;
}

#define SAID 300

typedef struct one_case {
    tl_split *split;
    const char *(*run)(const tl_comm *c);
    char (*wrong)[SAID]; /* [parts] copies: a thread's own text goes with it */
} one_case;

static int run_part_of_case(int p, void *user)
{
    one_case *j = user;
    const char *wrong = j->run(tl_split_comm(j->split, p));
    if (wrong) snprintf(j->wrong[p], SAID, "%s", wrong);
    return wrong != NULL;
}

const char *tl_split_case(int parts, const char *(*run)(const tl_comm *c), int *which)
{
    static char said[SAID];
    one_case j = {tl_split_create(NULL, parts, 1), run, tl_alloc_zero(SAID * (size_t)parts)};
    snprintf(said, SAID, "no memory");
    const bool ran = j.split && j.wrong && tl_split_run(j.split, run_part_of_case, &j) >= 0;
    if (ran) said[0] = 0;
    for (int p = parts - 1; p >= 0 && ran; p--)
        if (j.wrong[p][0]) snprintf(said, SAID, "%s", j.wrong[p]), *which = p;
    tl_split_free(j.split);
    tl_free(j.wrong);
    return said[0] ? said : NULL;
}
