/* How benchmarks hand out their rows: printf-style cells, collected and sent through the callback. */
#ifndef TL_BENCH_TABLE_H
#define TL_BENCH_TABLE_H

#include "lab/bench.h"
#include <stdbool.h>

#include "base/status.h"

#define TL_TABLE_CELLS 32

typedef struct tl_table {
    talus_row_fn row;
    void *user;
    bool stopped; /* the receiver asked to stop */
    int rows;     /* of data, so far */
    int cells;
    char text[TL_TABLE_CELLS][96];
} tl_table;

void tl_table_cell(tl_table *t, const char *format, ...) TL_PRINTF(2, 3); /* next cell of the row */
void tl_table_send(tl_table *t, talus_row_kind kind);                     /* row done */
void tl_table_line(tl_table *t, talus_row_kind kind, const char *format, ...) TL_PRINTF(3, 4); /* one-cell row */
void tl_table_header(tl_table *t, const char *const *names);                                   /* names ended by NULL */

/* One benchmark table: a line in the list of bench.c. */
typedef struct tl_bench {
    const char *name, *help;
    talus_status (*run)(const talus_bench_options *o, tl_table *t, talus_error *err);
} tl_bench;

/* Seconds of k repetitions, best and median. */
typedef struct tl_timing {
    double best, median;
} tl_timing;
tl_timing tl_timing_of(int count, double *seconds); /* sorts them */

#endif
