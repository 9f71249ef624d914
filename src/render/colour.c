#include "render/colour.h"

#include <stddef.h>
#include <string.h>

float tl_srgb_encode(float x)
{
    if (!(x > 0)) return 0;
    if (x >= 1) return 1;
    return x <= 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1 / 2.4f) - 0.055f;
}

float tl_srgb_decode(float x)
{
    if (!(x > 0)) return 0;
    if (x >= 1) return 1;
    return x <= 0.04045f ? x / 12.92f : powf((x + 0.055f) / 1.055f, 2.4f);
}

tl_colour tl_colour_hex(uint32_t rgb)
{
    return (tl_colour){tl_srgb_decode((float)(rgb >> 16 & 255) / 255), tl_srgb_decode((float)(rgb >> 8 & 255) / 255),
                       tl_srgb_decode((float)(rgb & 255) / 255)};
}

typedef struct oklab {
    float L, a, b;
} oklab;

/* [Ottosson2020] */
static oklab to_oklab(tl_colour c)
{
    float l = cbrtf(0.4122214708f * c.r + 0.5363325363f * c.g + 0.0514459929f * c.b);
    float m = cbrtf(0.2119034982f * c.r + 0.6806995451f * c.g + 0.1073969566f * c.b);
    float s = cbrtf(0.0883024619f * c.r + 0.2817188376f * c.g + 0.6299787005f * c.b);
    return (oklab){0.2104542553f * l + 0.7936177850f * m - 0.0040720468f * s,
                   1.9779984951f * l - 2.4285922050f * m + 0.4505937099f * s,
                   0.0259040371f * l + 0.7827717662f * m - 0.8086757660f * s};
}

static tl_colour from_oklab(oklab o)
{
    float l = o.L + 0.3963377774f * o.a + 0.2158037573f * o.b;
    float m = o.L - 0.1055613458f * o.a - 0.0638541728f * o.b;
    float s = o.L - 0.0894841775f * o.a - 1.2914855480f * o.b;
    l = l * l * l, m = m * m * m, s = s * s * s;
    tl_colour c = {4.0767416621f * l - 3.3077115913f * m + 0.2309699292f * s,
                   -1.2684380046f * l + 2.6097574011f * m - 0.3413193965f * s,
                   -0.0041960863f * l - 0.7034186147f * m + 1.7076147010f * s};
    return (tl_colour){fminf(fmaxf(c.r, 0), 1), fminf(fmaxf(c.g, 0), 1), fminf(fmaxf(c.b, 0), 1)};
}

/* Lightness rises (or, in "balance", rises and falls) along each map, so that prints in grey still read. */
static const tl_colour_map maps[] = {
    {"ember",
     "dark violet over red to pale yellow: magnitudes",
     7,
     {0x3b2069, 0x6b2a7d, 0xa13778, 0xd04c60, 0xec7a45, 0xf8b252, 0xfcf0a8}},
    {"lagoon",
     "deep blue over green to pale sand: magnitudes",
     7,
     {0x233b84, 0x245c97, 0x257d9a, 0x379e91, 0x6dbd80, 0xb5d97d, 0xf7f3b0}},
    {"balance",
     "blue over pale grey to red: signed values",
     7,
     {0x1f3f8a, 0x4d7fc4, 0xa3c1e2, 0xf0efeb, 0xeab49b, 0xcf6650, 0x8c1c2c}},
    {"grey", "black to white", 2, {0x101010, 0xf4f4f4}},
};
#define MAPS ((int)(sizeof maps / sizeof maps[0]))

const tl_colour_map *tl_colour_map_at(int i) { return i >= 0 && i < MAPS ? &maps[i] : NULL; }

tl_colour tl_colour_map_eval(const tl_colour_map *m, float t)
{
    if (t != t) return (tl_colour){1, 0, 1};
    t = fminf(fmaxf(t, 0), 1) * (float)(m->stops - 1);
    int i = (int)t;
    if (i > m->stops - 2) i = m->stops - 2;
    t -= (float)i;
    oklab a = to_oklab(tl_colour_hex(m->stop[i])), b = to_oklab(tl_colour_hex(m->stop[i + 1]));
    return from_oklab((oklab){a.L + t * (b.L - a.L), a.a + t * (b.a - a.a), a.b + t * (b.b - a.b)});
}

tl_colour tl_colour_palette(int i)
{
    /* terracotta, slate blue, moss, ochre, plum, teal, rose, bark, steel, linen */
    static const uint32_t palette[TL_PALETTE] = {0xd9713c, 0x3f7fb0, 0x8aa84b, 0xe0b13f, 0x7d5a9b,
                                                 0x3a9c92, 0xc4556b, 0x8c7761, 0x5f6f8c, 0xd7c2a0};
    return tl_colour_hex(palette[(i % TL_PALETTE + TL_PALETTE) % TL_PALETTE]);
}
