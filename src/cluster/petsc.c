/* Halos go through PetscSF, parcels of unknown senders are found by PetscCommBuildTwoSided. Sums are made by the
 * receiver, in order: MPI_Allreduce may add in an order that follows where processes run. */
#include <limits.h>
#include <string.h>
#include <time.h>

#include "cluster/inside.h"

#define TAG 1926
#define LARGEST INT_MAX /* of a message; MPI counts in int */

struct tl_halo {
    cluster_thing thing;
    PetscSF sf;
    int64_t entries;
};

typedef struct row_type row_type;
struct row_type {
    row_type *older;
    size_t item; /* bytes */
    MPI_Datatype rows;
};

static struct {
    MPI_Comm world;
    tl_comm comm;
    tl_comm_traffic traffic;
    cluster_thing *things; /* newest first */
    int count;
    row_type *types;
    bool began;
} here;

/* What goes wrong inside of MPI or PETSc ends all processes: the others could only wait. */
void cluster_must(int code)
{
    if (code) MPI_Abort(here.world, 1);
}

MPI_Comm cluster_world(void) { return here.world; }

void cluster_keep(cluster_thing *t, void (*destroy)(cluster_thing *t))
{
    *t = (cluster_thing){here.things, destroy};
    here.things = t;
    here.count++;
}

typedef struct moment {
    double clock, cpu;
} moment;

static moment now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (moment){MPI_Wtime(), (double)t.tv_sec + 1e-9 * (double)t.tv_nsec};
}

static void count_time(const tl_comm *c, moment begin)
{
    const moment end = now();
    c->traffic->seconds += end.clock - begin.clock;
    c->traffic->cpu += end.cpu - begin.cpu;
}

static int length(int64_t bytes)
{
    if (bytes > LARGEST) {
        fprintf(stderr, "talus: a message of %lld bytes between processes: at most %d\n", (long long)bytes, LARGEST);
        MPI_Abort(here.world, 1);
    }
    return (int)bytes;
}

static void cluster_share(const tl_comm *c, size_t bytes, const void *mine, void *all)
{
    const int n = length((int64_t)bytes);
    const moment begin = now();
    cluster_must(MPI_Allgather(mine, n, MPI_BYTE, all, n, MPI_BYTE, here.world));
    count_time(c, begin);
}

static void cluster_gather(const tl_comm *c, const int64_t *bytes, const void *mine, void *all)
{
    int count[TL_COMM_PARTS_MAX], begin[TL_COMM_PARTS_MAX];
    int64_t at = 0;
    for (int32_t p = 0; p < c->parts; p++) {
        count[p] = length(bytes[p]);
        begin[p] = length(at);
        at += bytes[p];
    }
    const moment started = now();
    cluster_must(MPI_Allgatherv(mine, count[c->part], MPI_BYTE, all, count, begin, MPI_BYTE, here.world));
    count_time(c, started);
}

static void cluster_announce(const tl_comm *c, int count, const tl_parcel *out, int64_t *incoming)
{
    PetscMPIInt to[TL_COMM_PARTS_MAX], senders, *from;
    int64_t bytes[TL_COMM_PARTS_MAX], *got;
    for (int k = 0; k < count; k++) {
        to[k] = out[k].part;
        bytes[k] = length(out[k].bytes);
    }
    const moment begin = now();
    cluster_must(PetscCommBuildTwoSided(here.world, 1, MPI_INT64_T, count, to, bytes, &senders, &from, &got));
    memset(incoming, 0, sizeof *incoming * (size_t)c->parts);
    for (int k = 0; k < senders; k++) incoming[from[k]] = got[k];
    cluster_must(PetscFree(from));
    cluster_must(PetscFree(got));
    count_time(c, begin);
}

static void cluster_send(const tl_comm *c, int count, const tl_parcel *out, int arrivals, const tl_parcel *in)
{
    const moment begin = now();
    MPI_Request request[2 * TL_COMM_PARTS_MAX];
    int n = 0;
    for (int k = 0; k < arrivals; k++)
        cluster_must(MPI_Irecv(in[k].data, length(in[k].bytes), MPI_BYTE, in[k].part, TAG, here.world, &request[n++]));
    for (int k = 0; k < count; k++)
        if (out[k].bytes)
            cluster_must(
                MPI_Isend(out[k].data, length(out[k].bytes), MPI_BYTE, out[k].part, TAG, here.world, &request[n++]));
    cluster_must(MPI_Waitall(n, request, MPI_STATUSES_IGNORE));
    count_time(c, begin);
}

static void destroy_plan(cluster_thing *t)
{
    tl_halo *h = (tl_halo *)t;
    cluster_must(PetscSFDestroy(&h->sf));
    cluster_must(PetscFree(h));
}

static tl_halo *cluster_plan(const tl_comm *c, const tl_halo_source *s)
{
    (void)c;
    tl_halo *h;
    PetscSFNode *source;
    cluster_must(PetscNew(&h)); /* a few bytes per entry of what the caller holds already: no memory ends the run */
    cluster_must(PetscMalloc1(s->halo, &source));
    for (int64_t k = 0; k < s->halo; k++) {
        source[k].rank = s->part[k];
        source[k].index = s->index[k];
    }
    h->entries = s->halo;
    cluster_must(PetscSFCreate(here.world, &h->sf));
    cluster_must(PetscSFSetGraph(h->sf, (PetscInt)s->owned, (PetscInt)s->halo, NULL, PETSC_OWN_POINTER, source,
                                 PETSC_OWN_POINTER));
    cluster_must(PetscSFSetUp(h->sf));
    cluster_keep(&h->thing, destroy_plan);
    return h;
}

/* Of the largest unit that fits: PetscSF packs those quickly. It keeps the types that it has seen, by reference. */
static MPI_Datatype rows_of(size_t item)
{
    for (const row_type *t = here.types; t; t = t->older)
        if (t->item == item) return t->rows;
    MPI_Datatype unit = item % sizeof(double) == 0 ? MPI_DOUBLE : item % sizeof(int) == 0 ? MPI_INT : MPI_SIGNED_CHAR;
    const size_t size = unit == MPI_DOUBLE ? sizeof(double) : unit == MPI_INT ? sizeof(int) : 1;
    row_type *t;
    cluster_must(PetscNew(&t));
    *t = (row_type){here.types, item, unit}; /* PetscSF cannot add rows of one double that are a type of their own */
    if (item > size) {
        cluster_must(MPI_Type_contiguous((int)(item / size), unit, &t->rows));
        cluster_must(MPI_Type_commit(&t->rows));
    }
    here.types = t;
    return t->rows;
}

static void cluster_get(const tl_comm *c, tl_halo *h, size_t item, const void *owned, void *halo)
{
    MPI_Datatype rows = rows_of(item);
    const moment begin = now();
    cluster_must(PetscSFBcastBegin(h->sf, rows, owned, halo, MPI_REPLACE));
    cluster_must(PetscSFBcastEnd(h->sf, rows, owned, halo, MPI_REPLACE));
    count_time(c, begin);
    c->traffic->bytes += (int64_t)item * h->entries;
}

static void cluster_add(const tl_comm *c, tl_halo *h, int count, const double *halo, double *owned)
{
    MPI_Datatype rows = rows_of(sizeof(double) * (size_t)count);
    const moment begin = now();
    cluster_must(PetscSFReduceBegin(h->sf, rows, halo, owned, MPI_SUM));
    cluster_must(PetscSFReduceEnd(h->sf, rows, halo, owned, MPI_SUM));
    count_time(c, begin);
    c->traffic->bytes += (int64_t)sizeof(double) * count * h->entries;
}

static int cluster_mark(const tl_comm *c)
{
    (void)c;
    return here.count;
}

static void cluster_release(const tl_comm *c, int mark)
{
    (void)c;
    while (here.count > mark) {
        cluster_thing *t = here.things;
        here.things = t->older;
        here.count--;
        t->destroy(t);
    }
}

static const tl_comm_ops ops = {cluster_share, cluster_gather, cluster_announce, cluster_send,   cluster_plan,
                                cluster_get,   cluster_add,    cluster_mark,     cluster_release};

const char *tl_cluster_begin(const tl_comm **out)
{
    int parts, part, level;
    if (here.began) return "a process joins a cluster once";
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level)) return "MPI could not start";
    if (level < MPI_THREAD_FUNNELED) return "this MPI allows no threads";
    here.world = MPI_COMM_WORLD;
    cluster_must(MPI_Comm_size(here.world, &parts));
    cluster_must(MPI_Comm_rank(here.world, &part));
    if (parts > TL_COMM_PARTS_MAX) return "more processes than talus can count: at most 4096";
    if (PetscInitialize(NULL, NULL, NULL, NULL)) return "PETSc could not start";
    cluster_must(PetscPopSignalHandler()); /* signals are the run's */
    here.comm = (tl_comm){part, parts, &ops, NULL, &here.traffic, &cluster_algebra};
    here.began = true;
    *out = &here.comm;
    return NULL;
}

void tl_cluster_end(void)
{
    cluster_release(&here.comm, 0);
    while (here.types) {
        row_type *t = here.types;
        here.types = t->older;
        if (t->rows != MPI_DOUBLE && t->rows != MPI_INT && t->rows != MPI_SIGNED_CHAR)
            cluster_must(MPI_Type_free(&t->rows));
        cluster_must(PetscFree(t));
    }
    cluster_must(PetscFinalize());
    cluster_must(MPI_Finalize());
}
