#include "plan.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/sample.h>

#include "commands.h"

#define NAME_MAX_LENGTH 200 /* of a variant's folder: file systems allow 255 */

/* ---- reading ---- */

static bool complain(const char *text, const char *why)
{
    fprintf(stderr, "talus run: --sweep %s: %s\n", cli_plain(text), why);
    return false;
}

/* FROM:TO or FROM:TO:STEP, all numbers; anything else is a list. */
static bool is_range(cli_axis *a, const char *text)
{
    char *end;
    a->step = 1;
    a->from = strtod(text, &end);
    if (end == text || *end != ':') return false;
    const char *second = end + 1;
    a->to = strtod(second, &end);
    if (end == second || (*end && *end != ':')) return false;
    a->stepped = *end == ':';
    if (!a->stepped) return true;
    const char *third = end + 1;
    a->step = strtod(third, &end);
    return end != third && !*end;
}

static bool read_range(cli_axis *a, const char *text)
{
    if (!isfinite(a->from) || !isfinite(a->to) || !isfinite(a->step) || a->from == a->to)
        return complain(text, "a range is FROM:TO or FROM:TO:STEP with two different ends");
    if (!a->stepped && a->to < a->from) a->step = -1;
    double steps = (a->to - a->from) / a->step;
    if (!(steps > 0)) return complain(text, "steps do not lead from one end to the other");
    if (steps >= CLI_VARIANTS_MAX) return complain(text, "too many values");
    a->values = (int)floor(steps + 1e-9) + 1; /* 0:1:0.1 ends at 1 whatever 0.1 is rounded to */
    return true;
}

/* Cuts a text at commas that are not inside of brackets and quotes. */
static bool cut_values(cli_axis *a, const char *text)
{
    int depth = 0;
    char quote = 0;
    a->value[a->values++] = a->text;
    for (char *p = a->text; *p; p++) {
        if (quote)
            quote = *p == quote ? 0 : quote;
        else if (*p == '"' || *p == '\'')
            quote = *p;
        depth += !quote && strchr("{[(", *p) ? 1 : !quote && strchr("}])", *p) ? -1 : 0;
        if (*p != ',' || depth > 0 || quote) continue;
        if (a->values == CLI_VALUES_MAX) return complain(text, "too many values");
        *p = '\0';
        a->value[a->values++] = p + 1;
    }
    return true;
}

static bool check_values(const cli_axis *a, const char *text)
{
    char why[64];
    for (int i = 0; i < a->values; i++)
        for (int k = 0; k <= i; k++)
            if (!*a->value[i] || (k < i && !strcmp(a->value[i], a->value[k]))) {
                snprintf(why, sizeof why, "value %d is %s", i + 1, *a->value[i] ? "there twice" : "empty");
                return complain(text, why);
            }
    return true;
}

static bool read_axis(cli_plan *plan, const char *text)
{
    if (plan->axes == CLI_AXES_MAX) return complain(text, "too many keys");
    cli_axis *a = &plan->axis[plan->axes++];
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof a->key || !equals[1])
        return complain(text, "must be KEY=VALUE,VALUE,... or KEY=FROM:TO");
    snprintf(a->key, sizeof a->key, "%.*s", (int)(equals - text), text);
    for (int i = 0; i + 1 < plan->axes; i++)
        if (!strcmp(a->key, plan->axis[i].key)) return complain(text, "this key is swept already");
    if (is_range(a, equals + 1)) return read_range(a, text);
    a->text = strdup(equals + 1);
    return a->text && cut_values(a, text) && check_values(a, text);
}

static bool read_sample(cli_plan *plan, const char *text)
{
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : 0;
    if (length == 6 && !strncmp(text, "random", length))
        plan->how = CLI_RANDOM;
    else if (length == 5 && !strncmp(text, "latin", length))
        plan->how = CLI_LATIN;
    else {
        fprintf(stderr, "talus run: --sample must be random:N or latin:N, got '%s'\n", cli_plain(text));
        return false;
    }
    return cli_integer("--sample", colon + 1, 1, CLI_VARIANTS_MAX, &plan->variants);
}

static bool read_seed(cli_plan *plan, const char *text)
{
    char *end;
    errno = 0;
    plan->seed = strtoull(text, &end, 10);
    if (*text && *text != '-' && !*end && !errno) return true;
    fprintf(stderr, "talus run: --seed must be a whole number from 0 on, got '%s'\n", cli_plain(text));
    return false;
}

bool cli_plan_read(cli_plan *plan, int count, const char *const *texts, const char *sample, const char *seed)
{
    *plan = (cli_plan){.seed = 1, .variants = 1};
    for (int i = 0; i < count; i++)
        if (!read_axis(plan, texts[i])) return false;
    if (seed && !read_seed(plan, seed)) return false;
    if (sample) return read_sample(plan, sample);
    for (int i = 0; i < plan->axes; i++) {
        if (plan->axis[i].values > CLI_VARIANTS_MAX / plan->variants) {
            fprintf(stderr, "talus run: the sweep has more than %d variants\n", CLI_VARIANTS_MAX);
            return false;
        }
        plan->variants *= plan->axis[i].values;
    }
    return true;
}

void cli_plan_free(cli_plan *plan)
{
    for (int i = 0; i < plan->axes; i++) free(plan->axis[i].text);
}

/* ---- variants ---- */

static void print_value(const cli_axis *a, int i, char *out, size_t room)
{
    if (a->text)
        snprintf(out, room, "%s", a->value[i]);
    else
        snprintf(out, room, "%.12g", a->from + i * a->step + 0.0); /* + 0.0: no "-0" */
}

/* The last axis changes fastest. */
static int combination(const cli_plan *plan, int variant, int axis)
{
    for (int i = plan->axes - 1; i > axis; i--) variant /= plan->axis[i].values;
    return variant % plan->axis[axis].values;
}

void cli_plan_value(const cli_plan *plan, int variant, int axis, char *out, size_t room)
{
    const cli_axis *a = &plan->axis[axis];
    if (plan->how == CLI_ALL) {
        print_value(a, combination(plan, variant, axis), out, room);
        return;
    }
    double u = plan->how == CLI_RANDOM ? talus_sample_random(plan->seed, axis, variant)
                                       : talus_sample_latin(plan->seed, axis, variant, plan->variants);
    if (a->text || a->stepped)
        print_value(a, (int)(u * a->values), out, room);
    else
        snprintf(out, room, "%.9g", a->from + u * (a->to - a->from));
}

void cli_plan_setting(const cli_plan *plan, int variant, int axis, char *out, size_t room)
{
    int n = snprintf(out, room, "%s=", plan->axis[axis].key);
    cli_plan_value(plan, variant, axis, out + n, room - (size_t)n);
}

void cli_plan_name(const cli_plan *plan, int variant, char *out, size_t room)
{
    char all[CLI_AXES_MAX * CLI_SETTING_ROOM];
    size_t n = 0;
    if (plan->how != CLI_ALL) n = (size_t)snprintf(all, sizeof all, "%05d,", variant + 1); /* samples may be equal */
    for (int i = 0; i < plan->axes; i++) {
        if (i) all[n++] = ',';
        cli_plan_setting(plan, variant, i, all + n, CLI_SETTING_ROOM - 8);
        n += strlen(all + n);
    }
    if (n > NAME_MAX_LENGTH) n = (size_t)snprintf(all, sizeof all, "variant-%05d", variant + 1);
    for (char *p = all; *p; p++)
        if (strchr("/ \t\n\"'\\", *p)) *p = '_';
    snprintf(out, room, "%.*s", (int)n, all);
}
