#include <math.h>
#include <stddef.h>

#include "lab/validate/groups.h"

static const tl_case_group *const groups[] = {&tl_cases_grid,   &tl_cases_sph,    &tl_cases_lg,
                                              &tl_cases_elasto, &tl_cases_joints, NULL};

/* The i-th case over all groups, and its group. */
static const tl_case *find(int i, const tl_case_group **group)
{
    for (const tl_case_group *const *g = groups; *g && i >= 0; g++)
        for (const tl_case *c = (*g)->cases; c->name; c++)
            if (i-- == 0) {
                *group = *g;
                return c;
            }
    return NULL;
}

const char *talus_validate_group(int i)
{
    const tl_case_group *g;
    return find(i, &g) ? g->name : NULL;
}
const char *talus_validate_name(int i)
{
    const tl_case_group *g;
    const tl_case *c = find(i, &g);
    return c ? c->name : NULL;
}
const char *talus_validate_about(int i)
{
    const tl_case_group *g;
    const tl_case *c = find(i, &g);
    return c ? c->about : NULL;
}
int talus_validate_quick(int i)
{
    const tl_case_group *g;
    const tl_case *c = find(i, &g);
    return c && c->quick;
}

talus_status talus_validate_run(int i, talus_check_fn row, void *user, int *failed, talus_error *err)
{
    const tl_case_group *g = NULL;
    const tl_case *c = find(i, &g);
    if (!c) return TL_FAIL(err, TALUS_BAD_INPUT, "no case number %d", i);
    int ignored;
    if (!row) return TL_FAIL(err, TALUS_BAD_INPUT, "a case needs a function for its rows, got NULL");
    if (!failed) failed = &ignored;
    tl_case_log log = {.group = g->name, .name = c->name, .row = row, .user = user};
    talus_status status = c->run(&log, err);
    *failed = log.failed;
    TL_TRY(status);
    if (log.stopped) return TL_FAIL(err, TALUS_INTERRUPTED, "stopped");
    return log.rows ? TALUS_OK : TL_FAIL(err, TALUS_UNSUPPORTED, "case %s %s measured nothing", g->name, c->name);
}

static void add(tl_case_log *log, const char *quantity, double measured, double expected, double tolerance, bool passed)
{
    talus_check_row r = {log->group, log->name, quantity, measured, expected, tolerance, passed};
    log->rows++;
    log->failed += !passed;
    if (log->row && log->row(log->user, &r)) log->stopped = true;
}

void tl_case_near(tl_case_log *log, const char *quantity, double measured, double expected, double tolerance)
{
    add(log, quantity, measured, expected, tolerance, fabs(measured - expected) <= tolerance);
}

void tl_case_relative(tl_case_log *log, const char *quantity, double measured, double expected, double relative)
{
    tl_case_near(log, quantity, measured, expected, relative * fabs(expected));
}

void tl_case_below(tl_case_log *log, const char *quantity, double measured, double limit)
{
    add(log, quantity, measured, -INFINITY, limit, measured <= limit);
}

void tl_case_above(tl_case_log *log, const char *quantity, double measured, double limit)
{
    add(log, quantity, measured, INFINITY, limit, measured >= limit);
}
