/* The table of rules that are not in the equations (model/grid/rules.h): every switch is a key of the scene, every
 * test is there, and docs/grid.md names both. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/grid/rules.h"
#include "scene/schema.h"

static char *text_of(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("no file %s", path);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    long size = ftell(f);
    assert_true(size > 0);
    rewind(f);
    char *text = calloc((size_t)size + 1, 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, f), (size_t)size);
    fclose(f);
    return text;
}

/* Last name of "a.b.c = value", in any context of the schema. */
static bool is_key(const char *key)
{
    char name[80];
    snprintf(name, sizeof name, "%s", key);
    *strchr(name, ' ') = 0;
    const char *last = strrchr(name, '.') ? strrchr(name, '.') + 1 : name;
    for (int i = 0; tl_schema_at(i); i++)
        if (tl_schema_key(tl_schema_at(i), last)) return true;
    return false;
}

static void rules_have_a_switch_and_a_test(void **state)
{
    (void)state;
    char *page = text_of(TL_SOURCE_DIR "/docs/grid.md");
    for (int i = 0; i < tl_grid_rule_count(); i++) {
        const tl_grid_rule *r = tl_grid_rule_at(i);
        char path[200];
        if (!is_key(r->key)) fail_msg("rule \"%s\": no key %s", r->name, r->key);
        const char *name = strchr(r->test, ' ') + 1;
        snprintf(path, sizeof path, TL_SOURCE_DIR "/tests/%.*s", (int)(name - 1 - r->test), r->test);
        char *code = text_of(path);
        if (!strstr(code, name)) fail_msg("rule \"%s\": no test %s", r->name, r->test);
        if (!strstr(page, name)) fail_msg("rule \"%s\": docs/grid.md does not name %s", r->name, name);
        free(code);
    }
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rules_have_a_switch_and_a_test)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
