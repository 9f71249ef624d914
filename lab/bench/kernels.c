/* Kernel speeds against the machine: dots and sparse products beside a triad a = b + 3c that streams
 * the same number of bytes, in the same run, on one thread and on all. Bytes are counted as each
 * vector moving once (a triad element: 24; a 7-point row: 7 x 12 for the matrix, 24 for start, x, y). */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/sum.h"
#include "base/timer.h"
#include "lab/bench/table.h"
#include "math/csr.h"

#define REPEATS_DEFAULT 9

typedef struct triad {
    int64_t n;
    double *a, *b, *c;
} triad;

static talus_status triad_create(triad *t, double bytes, talus_error *err)
{
    t->n = (int64_t)(bytes / 24);
    t->a = TL_NEW(double, t->n);
    t->b = TL_NEW(double, t->n);
    t->c = TL_NEW(double, t->n);
    if (!t->a || !t->b || !t->c) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for vectors of %.0f MB", bytes * 1e-6);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < t->n; i++) {
        t->a[i] = 0;
        t->b[i] = 1;
        t->c[i] = 2;
    }
    return TALUS_OK;
}

static void triad_free(triad *t)
{
    tl_free(t->a);
    tl_free(t->b);
    tl_free(t->c);
    *t = (triad){0};
}

static double triad_seconds(triad *t)
{
    double began = tl_seconds();
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < t->n; i++) t->a[i] = t->b[i] + 3 * t->c[i];
    return tl_seconds() - began;
}

static void send_row(tl_table *t, const char *kernel, int threads, double bytes, double best, double triad_best,
                     double one_thread)
{
    tl_table_cell(t, "%s", kernel);
    tl_table_cell(t, "%d", threads);
    tl_table_cell(t, "%.0f", bytes * 1e-6);
    tl_table_cell(t, "%.2f", best * 1e3);
    tl_table_cell(t, "%.1f", bytes / best * 1e-9);
    tl_table_cell(t, "%.1f", bytes / triad_best * 1e-9);
    tl_table_cell(t, "%.0f %%", 100 * triad_best / best);
    tl_table_cell(t, "%.2f", one_thread / best);
    tl_table_send(t, TALUS_ROW_DATA);
}

static double smaller(double a, double b) { return a < b ? a : b; }

static talus_status bench_dot(tl_table *t, double megabytes, int repeats, talus_error *err)
{
    double bytes = megabytes * 1e6;
    triad tr = {0};
    talus_status status = triad_create(&tr, bytes, err);
    int64_t n = (int64_t)(bytes / 16);
    double *x = TL_NEW(double, n), *y = TL_NEW(double, n), one = 0, sink = 0;
    if (status == TALUS_OK && (!x || !y))
        status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory for dots of %.0f MB", megabytes);
    if (status == TALUS_OK) {
        int max = tl_threads();
        for (int64_t i = 0; i < n; i++) x[i] = y[i] = 1e-3;
        for (int threads = 1; threads <= max; threads = threads < max ? max : max + 1) {
            tl_threads_set(threads);
            double best = 1e30, best_triad = 1e30;
            for (int r = 0; r < repeats; r++) {
                double began = tl_seconds();
                sink += tl_dot(n, x, y);
                best = smaller(best, tl_seconds() - began);
                best_triad = smaller(best_triad, triad_seconds(&tr));
            }
            if (threads == 1) one = best;
            send_row(t, "dot", threads, bytes, best, best_triad, one);
        }
        tl_threads_set(max);
        if (!(sink > 0)) status = TL_FAIL(err, TALUS_BAD_INPUT, "a dot of positive vectors came out as %g", sink);
    }
    triad_free(&tr);
    tl_free(x);
    tl_free(y);
    return status;
}

/* 7-point Laplacian on n^3 cells, Dirichlet outside. */
static talus_status laplacian(tl_csr *A, int n, talus_error *err)
{
    int64_t rows = (int64_t)n * n * n;
    TL_TRY(tl_csr_create(A, (int32_t)rows, (int32_t)rows, 7 * rows - 6 * (int64_t)n * n, err));
    int64_t at = 0;
    for (int64_t i = 0; i < rows; i++) {
        int64_t z = i % n, y = i / n % n, x = i / n / n;
        const int64_t step[7] = {-(int64_t)n * n, -n, -1, 0, 1, n, (int64_t)n * n};
        const int inside[7] = {x > 0, y > 0, z > 0, 1, z < n - 1, y < n - 1, x < n - 1};
        for (int k = 0; k < 7; k++) {
            if (!inside[k]) continue;
            A->col[at] = (int32_t)(i + step[k]);
            A->val[at++] = k == 3 ? 6 : -1;
        }
        A->start[i + 1] = at;
    }
    return TALUS_OK;
}

static talus_status bench_spmv(tl_table *t, int n, int repeats, talus_error *err)
{
    tl_csr A = {0};
    triad tr = {0};
    TL_TRY(laplacian(&A, n, err));
    double bytes = 12.0 * (double)A.start[A.rows] + 24.0 * A.rows, one = 0;
    double *x = TL_NEW(double, A.rows), *y = TL_NEW(double, A.rows);
    talus_status status = triad_create(&tr, bytes, err);
    if (status == TALUS_OK && (!x || !y)) status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d^3 vectors", n);
    if (status == TALUS_OK) {
        int max = tl_threads();
        for (int32_t i = 0; i < A.rows; i++) x[i] = i % 7, y[i] = 0;
        char name[32];
        snprintf(name, sizeof name, "spmv %d^3", n);
        for (int threads = 1; threads <= max; threads = threads < max ? max : max + 1) {
            tl_threads_set(threads);
            double best = 1e30, best_triad = 1e30;
            for (int r = 0; r < repeats; r++) {
                double began = tl_seconds();
                tl_csr_mul(&A, x, y);
                best = smaller(best, tl_seconds() - began);
                best_triad = smaller(best_triad, triad_seconds(&tr));
            }
            if (threads == 1) one = best;
            send_row(t, name, threads, bytes, best, best_triad, one);
        }
        tl_threads_set(max);
    }
    triad_free(&tr);
    tl_csr_free(&A);
    tl_free(x);
    tl_free(y);
    return status;
}

/* ---- a busy neighbour ---- */

static void *spin(void *stop)
{
    while (!atomic_load_explicit((atomic_int *)stop, memory_order_relaxed)) {
    }
    return NULL;
}

/* Many short parallel loops, as in a solver: products and dots of a 64^3 grid. */
static double many_loops(const tl_csr *A, const double *x, double *y, double *sink)
{
    double began = tl_seconds();
    for (int k = 0; k < 100; k++) {
        tl_csr_mul(A, x, y);
        *sink += tl_dot(A->rows, x, y);
    }
    return tl_seconds() - began;
}

/* One core is taken by a thread that never sleeps. Waiting threads that spin would fight it for the rest of every time
 * slice; ours sleep, so all threads together should lose little against one. */
static talus_status bench_neighbour(tl_table *t, int repeats, talus_error *err)
{
    static const char *const names[] = {"kernel", "threads", "quiet ms", "busy ms", "busy, of 1 thread", NULL};
    tl_csr A = {0};
    TL_TRY(laplacian(&A, 64, err));
    double *x = TL_NEW(double, A.rows), *y = TL_NEW(double, A.rows), best[2][2], sink = 0;
    talus_status status = x && y ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for 64^3 vectors");
    if (status == TALUS_OK) {
        int max = tl_threads();
        for (int32_t i = 0; i < A.rows; i++) x[i] = i % 7;
        for (int busy = 0; busy < 2; busy++) {
            atomic_int stop = 0;
            pthread_t neighbour;
            bool started = busy && pthread_create(&neighbour, NULL, spin, &stop) == 0;
            for (int all = 0; all < 2; all++) {
                tl_threads_set(all ? max : 1);
                best[busy][all] = 1e30;
                for (int r = 0; r < repeats; r++)
                    best[busy][all] = smaller(best[busy][all], many_loops(&A, x, y, &sink));
            }
            atomic_store(&stop, 1);
            if (started) pthread_join(neighbour, NULL);
        }
        tl_threads_set(max);
        tl_table_line(t, TALUS_ROW_TITLE,
                      "100 products and dots at 64^3 while another thread keeps a core busy, best of %d", repeats);
        tl_table_header(t, names);
        for (int all = 0; all < 2; all++) {
            tl_table_cell(t, "spmv + dot");
            tl_table_cell(t, "%d", all ? max : 1);
            tl_table_cell(t, "%.1f", best[0][all] * 1e3);
            tl_table_cell(t, "%.1f", best[1][all] * 1e3);
            tl_table_cell(t, "%.2f", best[1][all] / best[1][0]);
            tl_table_send(t, TALUS_ROW_DATA);
        }
    }
    tl_csr_free(&A);
    tl_free(x);
    tl_free(y);
    return status;
}

static talus_status run(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    int repeats = o->repeats ? o->repeats : REPEATS_DEFAULT;
    if (o->size > 400)
        return TL_FAIL(err, TALUS_BAD_INPUT, "kernels: size %d cells per edge, allowed up to 400", o->size);
    tl_table_line(t, TALUS_ROW_TITLE, "Kernels beside a triad of the same bytes, best of %d", repeats);
    static const char *const names[] = {"kernel",     "threads",  "MB",       "ms", "GB/s",
                                        "triad GB/s", "of triad", "speed-up", NULL};
    tl_table_header(t, names);
    const double megabytes[] = {34, 512};
    const int sizes[] = {o->size ? o->size : 128, 256};
    for (int i = 0; i < 2 && !t->stopped; i++) TL_TRY(bench_dot(t, megabytes[i], repeats, err));
    for (int i = 0; i < (o->size ? 1 : 2) && !t->stopped; i++) TL_TRY(bench_spmv(t, sizes[i], repeats, err));
    return t->stopped ? TALUS_OK : bench_neighbour(t, repeats, err);
}

const tl_bench tl_bench_kernels = {
    "kernels", "dots and sparse products beside a triad of the same bytes, on 1 and on all threads", run};
