#include "check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_scene.h"

static talus_error err;

static const char small_scene[] =
    "local p = params { n = 2 }\n"
    "local sand = granular { name = 'sand', density = 1600, friction_angle_deg = 30 }\n"
    "local shape = smooth_union { box { size = {0.1, 0.2, 0.1}, round = 0.01 }, sphere { radius = 0.1 }:move {0.1, 0, "
    "0}, blend = 0.02 }\n"
    "return scene { talus = 1, engine = 'grid', duration = 1, title = 'x', grid = { cells = {8, 8, 8}, cell = 0.125 "
    "},\n"
    "  fill = { { material = sand, shape = revolve { profile = { {0, 0}, {0.4, 0}, {0, 0.4} }, center = {0.5, 0, 0.5} "
    "} } },\n"
    "  bodies = grid_of { count = {p.n, 1, 1}, spacing = 0.3, at = {0.3, 0.7, 0.5}, body = { name = 'b', shape = "
    "shape, density = 500, force = function(t) return {t, 0, 0} end } },\n"
    "  contacts = { { between = {'b 1', 'walls'}, friction = 0.1 } } }\n";

/* The k-th allocation fails, for every k: no memory is reported or the failure passes unseen (Lua collects garbage
 * and asks again), and nothing is left behind. Also with a scene that has problems, whose messages take memory too. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char broken[] = "return scene { talus = 1, engine = 'lg', duration = -1, bodies = { { shape = box { "
                                 "size = 0 }, densty = 1 } } }";
    const char *const set[] = {"n=3", "fill[1].material.density=1500"};
    for (int kind = 0; kind < 2; kind++) {
        const char *text = kind ? broken : small_scene;
        tl_load_options o = {.no_files = true, .setting_count = kind ? 0 : 2, .setting = set};
        tl_alloc_stats before = tl_alloc_read();
        int failures = 0, delivered = 1;
        for (int64_t k = 1; delivered; k += k < 400 ? 1 : 7) { /* the first ones set up, the rest repeat themselves */
            tl_scene *s;
            tl_alloc_fail_at(k);
            talus_status status = tl_scene_load_text(&s, "small.lua", text, strlen(text), &o, &err);
            double v[3];
            if (status == TALUS_OK && s->function_count) status = tl_scene_evaluate(s, 0, 0.5, v, 3, &err);
            delivered = tl_alloc_fail_happened();
            tl_alloc_fail_at(0);
            if (status == TALUS_NO_MEMORY) {
                assert_true(delivered);
                failures++;
            } else {
                assert_int_equal(status, kind ? TALUS_BAD_INPUT : TALUS_OK);
            }
            tl_scene_free(s);
            assert_int_equal(tl_alloc_read().live_blocks, before.live_blocks);
            assert_int_equal(tl_alloc_read().live_bytes, before.live_bytes);
        }
        assert_true(failures > 10);
    }
}

/* The scene cut off at every byte, and with one byte changed: problems with messages, never a crash. */
static void cut_and_changed_texts(void **state)
{
    (void)state;
    size_t n = strlen(small_scene);
    uint8_t *text = malloc(n + 1);
    assert_non_null(text);
    text[0] = '0'; /* nothing is put around it */
    for (size_t cut = 0; cut <= n; cut += 3) {
        memcpy(text + 1, small_scene, cut);
        fuzz_scene(text, cut + 1);
    }
    for (size_t i = 0; i < n; i += 2) {
        memcpy(text + 1, small_scene, n);
        text[1 + i] = (uint8_t)(" {}(),='\"0a\n[\\-"[i % 15]);
        fuzz_scene(text, n + 1);
    }
    free(text);
}

/* What the fuzzer has found, and what it started from. */
static void corpus_is_harmless(void **state)
{
    (void)state;
    DIR *dir = opendir(TL_SOURCE_DIR "/tests/fuzz/corpus/scene");
    assert_non_null(dir);
    int files = 0;
    for (struct dirent *d; (d = readdir(dir));) {
        if (d->d_name[0] == '.') continue;
        char path[4096];
        static uint8_t data[1 << 16];
        snprintf(path, sizeof path, "%s/%.200s", TL_SOURCE_DIR "/tests/fuzz/corpus/scene", d->d_name);
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        size_t n = fread(data, 1, sizeof data, f);
        fclose(f);
        fuzz_scene(data, n);
        files++;
    }
    closedir(dir);
    assert_true(files >= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(cut_and_changed_texts),
        cmocka_unit_test(corpus_is_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
