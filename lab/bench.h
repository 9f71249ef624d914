/* Benchmarks: tables of the papers, comparisons of solver methods, kernel speeds.
 *
 * One entry point returns rows of text through a callback as they are measured; the caller decides
 * how to print or keep them. */
#ifndef TALUS_BENCH_H
#define TALUS_BENCH_H

#include <talus/export.h>
#include <talus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum talus_row_kind {
    TALUS_ROW_TITLE,  /* one cell: what the table below shows */
    TALUS_ROW_HEADER, /* names of the columns */
    TALUS_ROW_DATA,
    TALUS_ROW_NOTE /* one cell: a remark on the table above */
} talus_row_kind;

/* Return 0 to go on, anything else to stop the benchmark (it then ends with TALUS_INTERRUPTED). */
typedef int (*talus_row_fn)(void *user, talus_row_kind kind, int cells, const char *const *cell);

typedef struct talus_bench_options {
    const char *table;   /* name of the table, see talus_bench_name */
    const char *method;  /* only methods whose name contains this; NULL = all, in 'rigid' the default one */
    int all;             /* rigid: 1 = every method; sph: the impact of the dam break, and paper sizes */
    const char *problem; /* only problems or scenes whose name contains this, or a captured file (.h5); NULL = all */
    const char *scenes;  /* rigid: the folder of the scenes that come with talus */
    const char *capture; /* solvers: write the problems to this folder as .h5 and .mtx files; NULL = do not */
    int size;            /* cells per edge or number of unknowns, as the table says; 0 = its default */
    int repeats;         /* timed repetitions of each row; 0 = the table's default */
    double tolerance;    /* relative; 0 = the table's default */
    double latency, overhead,
        bandwidth; /* cluster: of the modelled network, us, us, GB/s of a process; 0 = a good one */
} talus_bench_options;

TALUS_API talus_bench_options talus_bench_options_default(void);

/* The tables that exist: i = 0, 1, ... until NULL. */
TALUS_API const char *talus_bench_name(int i);
TALUS_API const char *talus_bench_help(int i);

TALUS_API talus_status talus_bench_run(const talus_bench_options *options, talus_row_fn row, void *user,
                                       talus_error *err);

#ifdef __cplusplus
}
#endif
#endif
