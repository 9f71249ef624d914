/* Colours: linear RGB with Rec. 709 primaries, the curve to the screen, colour maps for fields. */
#ifndef TL_RENDER_COLOUR_H
#define TL_RENDER_COLOUR_H

#include <math.h>
#include <stdint.h>

typedef struct tl_colour {
    float r, g, b; /* linear; 1 is white */
} tl_colour;

static inline tl_colour tl_colour_make(float r, float g, float b) { return (tl_colour){r, g, b}; }
static inline tl_colour tl_colour_grey(float v) { return (tl_colour){v, v, v}; }
static inline tl_colour tl_colour_add(tl_colour a, tl_colour b) { return (tl_colour){a.r + b.r, a.g + b.g, a.b + b.b}; }
static inline tl_colour tl_colour_mul(tl_colour a, tl_colour b) { return (tl_colour){a.r * b.r, a.g * b.g, a.b * b.b}; }
static inline tl_colour tl_colour_scale(float s, tl_colour a) { return (tl_colour){s * a.r, s * a.g, s * a.b}; }
static inline tl_colour tl_colour_add_scaled(tl_colour a, float s, tl_colour b)
{
    return (tl_colour){a.r + s * b.r, a.g + s * b.g, a.b + s * b.b};
}
static inline tl_colour tl_colour_mix(tl_colour a, tl_colour b, float t)
{
    return (tl_colour){a.r + t * (b.r - a.r), a.g + t * (b.g - a.g), a.b + t * (b.b - a.b)};
}
static inline float tl_colour_luminance(tl_colour a) { return 0.2126f * a.r + 0.7152f * a.g + 0.0722f * a.b; }

/* The sRGB curve [IEC61966]: linear [0,1] <-> encoded [0,1]. Arguments outside are clamped, NaN becomes 0. */
float tl_srgb_encode(float linear);
float tl_srgb_decode(float encoded);
tl_colour tl_colour_hex(uint32_t rgb); /* 0xrrggbb as on the screen -> linear */

/* Scene radiance to [0,1): identity below the knee, then a shoulder x/(1+x) that meets it with
 * equal slope, so that mid tones keep their colour and highlights never clip. */
#define TL_TONE_KNEE 0.6f
static inline float tl_tone(float x)
{
    if (!(x > 0)) return 0;
    if (x <= TL_TONE_KNEE) return x;
    float t = (x - TL_TONE_KNEE) / (1 - TL_TONE_KNEE);
    return t < 1e6f ? TL_TONE_KNEE + (1 - TL_TONE_KNEE) * t / (1 + t) : 1;
}

/* A colour map is a few colours, joined by lines in Oklab [Ottosson2020]. */
#define TL_COLOUR_MAP_STOPS 9
typedef struct tl_colour_map {
    const char *name, *help;
    int stops;
    uint32_t stop[TL_COLOUR_MAP_STOPS]; /* 0xrrggbb, evenly spaced */
} tl_colour_map;

const tl_colour_map *tl_colour_map_at(int i);                  /* i = 0, 1, ... until NULL; 0 is the default */
tl_colour tl_colour_map_eval(const tl_colour_map *m, float t); /* t clamped to [0,1]; NaN gives magenta */

/* Colours that tell bodies apart; repeats after TL_PALETTE entries. */
#define TL_PALETTE 10
tl_colour tl_colour_palette(int i);

#endif
