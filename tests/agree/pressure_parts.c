/* Pressure solves in parts that are threads (tests/support/pressure_cases.h). */
#include <stdio.h>

#include "check.h"
#include "pressure_cases.h"
#include "split.h"

typedef struct job {
    tl_split *split;
    char wrong[16][200];
    const tl_pressure_parts_case *now;
} job;

static int run_part(int part, void *user)
{
    job *j = user;
    const char *wrong = j->now->run(tl_split_comm(j->split, part));
    snprintf(j->wrong[part], sizeof j->wrong[part], "%s", wrong ? wrong : "");
    return wrong != NULL;
}

static void run_case(const tl_pressure_parts_case *now, int parts)
{
    job j = {.split = tl_split_create(NULL, parts, 1), .now = now};
    assert_non_null(j.split);
    if (tl_split_run(j.split, run_part, &j))
        for (int p = 0; p < parts; p++)
            if (j.wrong[p][0]) fail_msg("%s: part %d of %d: %s", now->name, p, parts, j.wrong[p]);
    tl_split_free(j.split);
}

static void run_cases(void **state)
{
    static const int parts[] = {1, 2, 3, 4, 8};
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) run_case(*state, parts[k]);
}

static int free_problems(void **state)
{
    (void)state;
    tl_pressure_parts_free();
    return 0;
}

int main(void)
{
    tl_pressure_parts_cells = 40;
    struct CMUnitTest tests[16];
    for (int k = 0; k < tl_pressure_parts_case_count; k++)
        tests[k] = (struct CMUnitTest){.name = tl_pressure_parts_cases[k].name,
                                       .test_func = run_cases,
                                       .initial_state = (void *)&tl_pressure_parts_cases[k]};
    return _cmocka_run_group_tests("pressure in parts", tests, (size_t)tl_pressure_parts_case_count, NULL,
                                   free_problems);
}
