/* Colours: the sRGB curve, the tone curve, colour maps that stay readable in grey. */
#include <string.h>

#include "check.h"
#include "render/colour.h"

static void srgb_is_the_standard_curve(void **state)
{
    (void)state;
    /* Values of the standard: 18 % grey, the joint of both pieces, the ends. Float powers are good to 1e-6. */
    CHECK_NEAR(tl_srgb_encode(0.18f), 0.46135612950, 1e-6);
    CHECK_NEAR(tl_srgb_encode(0.0031308f), 0.04045, 1e-5);
    CHECK_NEAR(tl_srgb_encode(-1), 0, 0);
    CHECK_NEAR(tl_srgb_encode(NAN), 0, 0);
    CHECK_NEAR(tl_srgb_encode(7), 1, 0);
    for (int i = 0; i <= 255; i++) CHECK_NEAR(tl_srgb_encode(tl_srgb_decode((float)i / 255)), i / 255.0, 1e-6);
    tl_colour c = tl_colour_hex(0xff8000);
    CHECK_NEAR(c.r, 1, 0);
    CHECK_NEAR(c.g, 0.21586050, 1e-6);
    CHECK_NEAR(c.b, 0, 0);
}

static void tone_keeps_mid_tones_and_never_clips(void **state)
{
    (void)state;
    CHECK_NEAR(tl_tone(0.25f), 0.25, 0);
    CHECK_NEAR(tl_tone(TL_TONE_KNEE), TL_TONE_KNEE, 0);
    CHECK_NEAR(tl_tone(1), 0.8, 1e-6); /* t = 1: half of the shoulder */
    CHECK_NEAR(tl_tone(-3), 0, 0);
    CHECK_NEAR(tl_tone(NAN), 0, 0);
    CHECK_NEAR(tl_tone(INFINITY), 1, 0);
    /* Slope 1 on both sides of the knee. */
    float e = 1e-3f;
    CHECK_NEAR((tl_tone(TL_TONE_KNEE + e) - TL_TONE_KNEE) / e, 1, 5e-3);
    for (float x = 0; x < 20; x += 0.01f) assert_true(tl_tone(x + 0.01f) > tl_tone(x));
}

/* L of Oklab, 0 black to 1 white. */
static float lightness(tl_colour c)
{
    float l = cbrtf(0.4122214708f * c.r + 0.5363325363f * c.g + 0.0514459929f * c.b);
    float m = cbrtf(0.2119034982f * c.r + 0.6806995451f * c.g + 0.1073969566f * c.b);
    float s = cbrtf(0.0883024619f * c.r + 0.2817188376f * c.g + 0.6299787005f * c.b);
    return 0.2104542553f * l + 0.7936177850f * m - 0.0040720468f * s;
}

static void maps_rise_in_lightness(void **state)
{
    (void)state;
    for (int i = 0; tl_colour_map_at(i); i++) {
        const tl_colour_map *m = tl_colour_map_at(i);
        int turns = 0, last = 1;
        for (int k = 0; k < 256; k++) {
            float a = lightness(tl_colour_map_eval(m, (float)k / 256));
            float b = lightness(tl_colour_map_eval(m, (float)(k + 1) / 256));
            int way = b > a ? 1 : -1;
            if (way != last) turns++;
            last = way;
        }
        assert_int_equal(turns, strcmp(m->name, "balance") ? 0 : 1);
        tl_colour end = tl_colour_map_eval(m, 5), last_stop = tl_colour_hex(m->stop[m->stops - 1]);
        CHECK_NEAR(end.g, last_stop.g, 1e-5);
        tl_colour odd = tl_colour_map_eval(m, NAN);
        CHECK_NEAR(odd.g, 0, 0);
    }
}

static void palette_tells_neighbours_apart(void **state)
{
    (void)state;
    for (int i = 0; i < TL_PALETTE; i++)
        for (int j = 0; j < i; j++) {
            tl_colour a = tl_colour_palette(i), b = tl_colour_palette(j);
            assert_true(fabsf(a.r - b.r) + fabsf(a.g - b.g) + fabsf(a.b - b.b) > 0.1f);
        }
    tl_colour a = tl_colour_palette(-1), b = tl_colour_palette(TL_PALETTE - 1);
    assert_memory_equal(&a, &b, sizeof a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(srgb_is_the_standard_curve),
        cmocka_unit_test(tone_keeps_mid_tones_and_never_clips),
        cmocka_unit_test(maps_rise_in_lightness),
        cmocka_unit_test(palette_tells_neighbours_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
