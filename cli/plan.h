/* What a sweep runs: axes (a key of the scene and its values), and how variants are made of them: every combination,
 * random samples or a Latin hypercube. A variant is a number; its settings are computed from it alone. */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLI_AXES_MAX 16
#define CLI_VALUES_MAX 256
#define CLI_VARIANTS_MAX 100000
#define CLI_SETTING_ROOM 1024

typedef struct cli_axis {
    char key[128];
    char *text; /* the values of a list, cut apart by zeros; NULL: a range */
    const char *value[CLI_VALUES_MAX];
    int values; /* of a list or of a range with steps; those of a range without: 1 apart, unless it is sampled */
    double from, to, step;
    bool stepped; /* the user gave the step: samples are taken from these values */
} cli_axis;

typedef struct cli_plan {
    cli_axis axis[CLI_AXES_MAX];
    int axes;
    enum { CLI_ALL, CLI_RANDOM, CLI_LATIN } how;
    uint64_t seed;
    int variants;
} cli_plan;

/* texts: "key=1,2,3", "key=1:5", "key=0:1:0.25". sample: "random:20", "latin:20" or NULL. False after a message on
 * stderr; cli_plan_free in any case. */
bool cli_plan_read(cli_plan *plan, int count, const char *const *texts, const char *sample, const char *seed);
void cli_plan_free(cli_plan *plan);

/* The value of an axis in a variant, and "key=value" as --set takes it. */
void cli_plan_value(const cli_plan *plan, int variant, int axis, char *out, size_t room);
void cli_plan_setting(const cli_plan *plan, int variant, int axis, char *out, size_t room);
/* "a=1,b=x", of samples "00007,a=1.3,b=x": for people and folders. What a file's name cannot hold becomes '_'; long
 * ones are "variant-00007". */
void cli_plan_name(const cli_plan *plan, int variant, char *out, size_t room);

#endif
