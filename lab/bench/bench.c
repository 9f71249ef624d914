#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/text.h"
#include "lab/bench/table.h"
#include "math/blas.h"
#include "talus_version.h"

extern const tl_bench tl_bench_solvers, tl_bench_kernels, tl_bench_rigid, tl_bench_pressure, tl_bench_frame,
    tl_bench_steps, tl_bench_growth, tl_bench_table1, tl_bench_table6, tl_bench_sph, tl_bench_sph_kernels, tl_bench_lg,
    tl_bench_em_table1, tl_bench_em_table2, tl_bench_table2, tl_bench_table3, tl_bench_table4, tl_bench_table5,
    tl_bench_table7, tl_bench_sand_flat, tl_bench_stress, tl_bench_stress_steps, tl_bench_collapse, tl_bench_peers,
    tl_bench_profile, tl_bench_viscous, tl_bench_em_table3, tl_bench_em_table4, tl_bench_em_table5, tl_bench_cluster;

static const tl_bench *const benches[] = {
    &tl_bench_solvers,     &tl_bench_kernels,      &tl_bench_rigid,     &tl_bench_pressure,  &tl_bench_frame,
    &tl_bench_steps,       &tl_bench_growth,       &tl_bench_table1,    &tl_bench_table6,    &tl_bench_sph,
    &tl_bench_sph_kernels, &tl_bench_lg,           &tl_bench_em_table1, &tl_bench_em_table2, &tl_bench_table2,
    &tl_bench_table3,      &tl_bench_table4,       &tl_bench_table5,    &tl_bench_table7,    &tl_bench_sand_flat,
    &tl_bench_stress,      &tl_bench_stress_steps, &tl_bench_collapse,  &tl_bench_peers,     &tl_bench_profile,
    &tl_bench_viscous,     &tl_bench_em_table3,    &tl_bench_em_table4, &tl_bench_em_table5, &tl_bench_cluster};
#define BENCHES ((int)(sizeof benches / sizeof benches[0]))

talus_bench_options talus_bench_options_default(void) { return (talus_bench_options){0}; }
const char *talus_bench_name(int i) { return i >= 0 && i < BENCHES ? benches[i]->name : NULL; }
const char *talus_bench_help(int i) { return i >= 0 && i < BENCHES ? benches[i]->help : NULL; }

/* What the numbers below were made by. */
static void machine_line(tl_table *t)
{
    char line[256], cpu[128] = "unknown CPU";
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f)) {
        char *value = strncmp(line, "model name", 10) ? NULL : strchr(line, ':');
        if (!value) continue;
        value[strcspn(value, "\n")] = 0;
        snprintf(cpu, sizeof cpu, "%.120s", value + 2);
        break;
    }
    if (f) fclose(f);
    tl_table_line(t, TALUS_ROW_NOTE, "talus %s, %s, %s, %d threads, BLAS kernels %s", TALUS_VERSION_STRING,
                  TALUS_COMPILER_STRING, cpu, tl_threads(), tl_blas_core());
}

static talus_status nothing_measured(const talus_bench_options *o, talus_error *err)
{
    const char *asked = o->problem ? o->problem : o->method ? o->method : "";
    return TL_FAIL(err, TALUS_BAD_INPUT,
                   "table '%.40s' has nothing called '%.100s'; without options it shows all it has", o->table, asked);
}

talus_status talus_bench_run(const talus_bench_options *o, talus_row_fn row, void *user, talus_error *err)
{
    if (!o || !o->table) return TL_FAIL(err, TALUS_BAD_INPUT, "no benchmark named");
    if (!row) return TL_FAIL(err, TALUS_BAD_INPUT, "a benchmark needs a function for its rows, got NULL");
    if (o->size < 0 || o->repeats < 0 || o->repeats > 1000 || !(o->tolerance >= 0))
        return TL_FAIL(err, TALUS_BAD_INPUT, "size %d, repeats %d (0 to 1000) and tolerance %g must not be negative",
                       o->size, o->repeats, o->tolerance);
    tl_table t = {.row = row, .user = user};
    const char *names[BENCHES + 1] = {0};
    for (int i = 0; i < BENCHES; i++) {
        if (!strcmp(benches[i]->name, o->table)) {
            machine_line(&t);
            TL_TRY(benches[i]->run(o, &t, err));
            if (t.stopped) return TL_FAIL(err, TALUS_INTERRUPTED, "benchmark stopped");
            return t.rows ? TALUS_OK : nothing_measured(o, err);
        }
        names[i] = benches[i]->name;
    }
    const char *near = tl_text_nearest(o->table, names);
    return TL_FAIL(err, TALUS_BAD_INPUT, "no benchmark '%s'%s%s%s", o->table, near ? "; did you mean '" : "",
                   near ? near : "", near ? "'?" : "");
}

static void cell_text(tl_table *t, const char *format, va_list args)
{
    if (t->cells == TL_TABLE_CELLS) return;
    vsnprintf(t->text[t->cells++], sizeof t->text[0], format, args);
}

void tl_table_cell(tl_table *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cell_text(t, format, args);
    va_end(args);
}

void tl_table_send(tl_table *t, talus_row_kind kind)
{
    const char *cells[TL_TABLE_CELLS];
    for (int i = 0; i < t->cells; i++) cells[i] = t->text[i];
    if (!t->stopped && t->row(t->user, kind, t->cells, cells)) t->stopped = true;
    t->rows += kind == TALUS_ROW_DATA;
    t->cells = 0;
}

void tl_table_line(tl_table *t, talus_row_kind kind, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    const char *cell = line;
    if (!t->stopped && t->row(t->user, kind, 1, &cell)) t->stopped = true;
}

void tl_table_header(tl_table *t, const char *const *names)
{
    for (; *names; names++) tl_table_cell(t, "%s", *names);
    tl_table_send(t, TALUS_ROW_HEADER);
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

tl_timing tl_timing_of(int count, double *seconds)
{
    qsort(seconds, (size_t)count, sizeof *seconds, rising);
    return (tl_timing){seconds[0], seconds[count / 2]};
}
