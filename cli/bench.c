#include "lab/bench.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <talus/program.h>

#include "commands.h"

#define COLUMNS_MAX 32

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

/* Rows are printed as they come, so widths are those of the header or these. */
typedef struct printer {
    int csv, tables, columns;
    bool silent;
    int width[COLUMNS_MAX];
} printer;

static int typical_width(const char *name)
{
    static const struct {
        const char *name;
        int width;
    } wide[] = {{"method", 16},           {"variant", 26},     {"scene", 38},  {"case", 26},
                {"global step", 22},      {"material", 26},    {"kernel", 10}, {"outcome", 17},
                {"energy", 14},           {"certificate", 11}, {"precond", 7}, {"sum of normals", 14},
                {"busy, of 1 thread", 17}};
    int length = (int)strlen(name);
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
        if (!strcmp(name, wide[i].name) && wide[i].width > length) return wide[i].width;
    return length < 8 ? 8 : length;
}

static void print_aligned(printer *p, talus_row_kind kind, int cells, const char *const *cell)
{
    if (kind == TALUS_ROW_HEADER) p->columns = cells;
    if (kind == TALUS_ROW_HEADER)
        for (int i = 0; i < cells && i < COLUMNS_MAX; i++) p->width[i] = typical_width(cell[i]);
    for (int i = 0; i < cells && i < COLUMNS_MAX; i++)
        printf(i == 0 || (i == 1 && p->columns > 9) ? "%-*s" : "%*s", p->width[i], cell[i]),
            printf(i + 1 < cells ? "  " : "\n");
    if (kind != TALUS_ROW_HEADER) return;
    for (int i = 0; i < cells && i < COLUMNS_MAX; i++)
        for (int k = 0; k < p->width[i] + (i + 1 < cells ? 2 : 0); k++) putchar(k < p->width[i] ? '-' : ' ');
    putchar('\n');
}

static void print_csv(int cells, const char *const *cell)
{
    for (int i = 0; i < cells; i++) printf("%s%s", i ? "," : "", cell[i]);
    putchar('\n');
}

static int print_row(void *user, talus_row_kind kind, int cells, const char *const *cell)
{
    printer *p = user;
    if (p->silent) return 0;
    if (kind == TALUS_ROW_TITLE && !p->csv && p->tables++) putchar('\n');
    if (kind == TALUS_ROW_TITLE || kind == TALUS_ROW_NOTE)
        printf("%s%s\n", p->csv ? "# " : "", cell[0]);
    else if (p->csv)
        print_csv(cells, cell);
    else
        print_aligned(p, kind, cells, cell);
    fflush(stdout);
    return interrupted;
}

static void print_help(const cli_option *options)
{
    printf("Usage: talus bench TABLE [options]\n\nTables:\n");
    for (int i = 0; talus_bench_name(i); i++) printf("  %-10s %s\n", talus_bench_name(i), talus_bench_help(i));
    printf("\nOptions:\n");
    cli_print_options(options);
    printf(
        "\nColumns of 'solvers': products counts products with the problem's matrix, outer the multiplier or barrier\n"
        "updates; certificate is computed from the problem alone, outside of the method: the largest entry of the\n"
        "natural map over that of b for box QPs, the duality gap over |E| for cones, the residual for linear systems;\n"
        "violation is the largest distance outside of the bounds. CG ignores the bounds: it is there for its cost.\n"
        "\nExamples:\n"
        "  talus bench solvers --problem wall-separation --size 16\n"
        "  talus bench solvers --method mprgp --tolerance 1e-8\n"
        "  talus bench solvers --problem captured.h5\n"
        "  talus bench kernels --csv > kernels.csv\n"
        "  talus bench rigid --scene cards --all\n");
}

int cli_bench(int argc, char **argv)
{
    const char *size = NULL, *repeats = NULL, *tolerance = NULL, *threads = NULL, *csv = NULL, *table = NULL,
               *all = NULL, *latency = NULL, *overhead = NULL, *bandwidth = NULL;
    char scenes[4096];
    talus_bench_options o = talus_bench_options_default();
    const cli_option options[] = {
        {"--size", "N", "cells per edge (solvers: 32; kernels: 128 and 256)", &size},
        {"--problem", "NAME|FILE", "only problems whose name contains this, or a captured problem (.h5)", &o.problem},
        {"--scene", "NAME", "rigid: only scenes whose name contains this; rabbits run only when named", &o.problem},
        {"--method", "NAME", "only methods whose name contains this", &o.method},
        {"--all", NULL, "rigid: every method, not only the default; sph: the impact, and paper sizes", &all},
        {"--tolerance", "X", "target of the certificate", &tolerance},
        {"--repeats", "N", "timed repetitions of a row", &repeats},
        {"--latency", "US", "cluster: of a message of the modelled network (2)", &latency},
        {"--overhead", "US", "cluster: of each further message at once (0.4)", &overhead},
        {"--bandwidth", "GB/S", "cluster: of a process (1)", &bandwidth},
        {"--capture", "DIR", "also write the problems to DIR, as .h5 (replay) and .mtx (Matrix Market)", &o.capture},
        {"--threads", "N", "threads (all cores); results do not depend on it", &threads},
        {"--csv", NULL, "comma-separated rows", &csv},
        {0},
    };
    bool help = false;
    int status = cli_read_options(argc, argv, options, 1, &table, &help);
    if (status) return status;
    if (help || !table) {
        print_help(options);
        return help ? 0 : 2;
    }
    int count;
    if (size && !cli_integer("--size", size, 1, 1000, &o.size)) return 2;
    if (repeats && !cli_integer("--repeats", repeats, 1, 1000, &o.repeats)) return 2;
    if (tolerance && !cli_number("--tolerance", tolerance, 1e-15, 1, &o.tolerance)) return 2;
    if (latency && !cli_number("--latency", latency, 0, 1e6, &o.latency)) return 2;
    if (overhead && !cli_number("--overhead", overhead, 0, 1e6, &o.overhead)) return 2;
    if (bandwidth && !cli_number("--bandwidth", bandwidth, 1e-6, 1e6, &o.bandwidth)) return 2;
    const char *starter;
    if (cli_ranks(&starter) > 1 && strcmp(table, "cluster")) {
        fprintf(stderr, "talus bench %s: runs in one process; talus bench cluster takes several\n", cli_plain(table));
        return 2;
    }
    if ((status = cli_join_ranks("bench"))) return status;
    if (threads) {
        if (!cli_integer("--threads", threads, 1, 1024, &count)) return 2;
        talus_threads_set(count);
    }
    o.table = table;
    o.all = all != NULL;
    if (cli_scenes_folder("", scenes, sizeof scenes)) o.scenes = scenes;
    signal(SIGINT, on_interrupt);
    printer p = {.csv = csv != NULL, .silent = !cli_is_first()};
    talus_error err = {0};
    talus_status done = talus_bench_run(&o, print_row, &p, &err);
    if (done == TALUS_OK) return 0;
    fprintf(stderr, "talus bench: %s\n", err.message);
    return done == TALUS_INTERRUPTED ? 130 : done == TALUS_BAD_INPUT ? 2 : 1;
}
