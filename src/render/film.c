#include "render/film.h"

#include <string.h>

#include "base/alloc.h"

talus_status tl_film_create(tl_film *f, int width, int height, talus_error *err)
{
    *f = (tl_film){0};
    if (width < 1 || height < 1 || width > TL_IMAGE_SIDE_MAX || height > TL_IMAGE_SIDE_MAX)
        return TL_FAIL(err, TALUS_BAD_INPUT, "an image of %d x %d pixels: each side must be from 1 to %d", width,
                       height, TL_IMAGE_SIDE_MAX);
    size_t n = (size_t)width * (size_t)height;
    float *m = tl_alloc_zero(sizeof(float) * 14 * n);
    if (!m) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for an image of %d x %d pixels", width, height);
    *f = (tl_film){.width = width,
                   .height = height,
                   .radiance = (tl_colour *)m,
                   .over = (tl_colour *)(m + 3 * n),
                   .albedo = (tl_colour *)(m + 6 * n),
                   .normal = (float(*)[3])(m + 9 * n),
                   .depth = m + 12 * n,
                   .variance = m + 13 * n,
                   .memory = m};
    return TALUS_OK;
}

void tl_film_free(tl_film *f)
{
    tl_free(f->memory);
    *f = (tl_film){0};
}

/* ---- denoising ---- */

#define LEVELS 5
#define ALBEDO_LEAST 0.02f /* colours darker than this are divided by it: a black eye must not blow up */

static const float kernel[3] = {3.f / 8, 1.f / 4, 1.f / 16}; /* cubic B-spline */

static float least(float a) { return a > ALBEDO_LEAST ? a : ALBEDO_LEAST; }
static tl_colour divide(tl_colour c, tl_colour a)
{
    return (tl_colour){c.r / least(a.r), c.g / least(a.g), c.b / least(a.b)};
}
static tl_colour multiply(tl_colour c, tl_colour a)
{
    return (tl_colour){c.r * least(a.r), c.g * least(a.g), c.b * least(a.b)};
}

typedef struct pass {
    const tl_film *f;
    const tl_colour *in;
    const float *variance_in;
    tl_colour *out;
    float *variance_out;
    int step;
} pass;

/* Share of a pixel that is not one smooth surface: means of unit normals are shorter where samples disagree. */
static float mixed(const float *n) { return 1 - (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]); }
#define OUTLINE 0.015f /* from here on a pixel counts as two surfaces; a ball of 5 pixels' radius is just below */

/* Variance smoothed over 3x3: single pixels estimate it poorly. Outlines vary for another reason than noise. */
static float variance_around(const pass *p, int x, int y)
{
    const tl_film *f = p->f;
    float sum = 0, weight = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            int xx = x + dx, yy = y + dy;
            if (xx < 0 || yy < 0 || xx >= f->width || yy >= f->height) continue;
            size_t j = (size_t)yy * (size_t)f->width + (size_t)xx;
            if ((dx || dy) && mixed(f->normal[j]) > OUTLINE) continue;
            float w = (dx ? 0.5f : 1) * (dy ? 0.5f : 1);
            sum += w * p->variance_in[j];
            weight += w;
        }
    return sum / weight;
}

/* How depth changes from pixel to pixel on the surface at i, from its neighbours; the smaller of both sides. */
static float depth_slope(const tl_film *f, int x, int y)
{
    size_t w = (size_t)f->width, i = (size_t)y * w + (size_t)x;
    float z = f->depth[i];
    float l = x > 0 ? fabsf(z - f->depth[i - 1]) : INFINITY,
          r = x + 1 < f->width ? fabsf(z - f->depth[i + 1]) : INFINITY;
    float u = y > 0 ? fabsf(z - f->depth[i - w]) : INFINITY,
          d = y + 1 < f->height ? fabsf(z - f->depth[i + w]) : INFINITY;
    float h = fminf(l, r), v = fminf(u, d), s = fmaxf(h < INFINITY ? h : 0, v < INFINITY ? v : 0);
    return s + 1e-4f * z + 1e-20f; /* background: z and s are 0 */
}

static void filter_pixel(const pass *p, int x, int y)
{
    const tl_film *f = p->f;
    size_t w = (size_t)f->width, i = (size_t)y * w + (size_t)x;
    const float *n = f->normal[i];
    if (mixed(n) >
        OUTLINE) { /* an outline: neighbours belong to one side or the other, so it keeps what its samples say */
        p->out[i] = p->in[i];
        p->variance_out[i] = p->variance_in[i];
        return;
    }
    tl_colour a = f->albedo[i];
    float light = tl_colour_luminance(p->in[i]);
    float per_light =
        1 / (3.f * sqrtf(variance_around(p, x, y)) + 1e-4f); /* [Schied2017] uses 4; 3 keeps contact shadows crisper */
    float per_depth = 1 / (depth_slope(f, x, y) * (float)p->step);
    tl_colour sum = {0, 0, 0};
    float weight = 0, variance = 0;
    for (int dy = -2; dy <= 2; dy++) {
        int yy = y + dy * p->step;
        if (yy < 0 || yy >= f->height) continue;
        for (int dx = -2; dx <= 2; dx++) {
            int xx = x + dx * p->step;
            if (xx < 0 || xx >= f->width) continue;
            size_t j = (size_t)yy * w + (size_t)xx;
            const float *m = f->normal[j];
            tl_colour b = f->albedo[j];
            float turn = (n[0] - m[0]) * (n[0] - m[0]) + (n[1] - m[1]) * (n[1] - m[1]) + (n[2] - m[2]) * (n[2] - m[2]);
            float hue = fabsf(a.r - b.r) + fabsf(a.g - b.g) + fabsf(a.b - b.b);
            float away = fabsf(f->depth[i] - f->depth[j]) * per_depth * (1.f / 3);
            float bright = fabsf(light - tl_colour_luminance(p->in[j])) * per_light;
            float k = kernel[dx < 0 ? -dx : dx] * kernel[dy < 0 ? -dy : dy] *
                      expf(-(40 * turn + 12 * hue + 200 * mixed(m) + away + bright));
            sum = tl_colour_add_scaled(sum, k, p->in[j]);
            variance += k * k * p->variance_in[j];
            weight += k;
        }
    }
    p->out[i] = tl_colour_scale(1 / weight, sum); /* the pixel itself always counts: weight > 0 */
    p->variance_out[i] = variance / (weight * weight);
}

talus_status tl_film_denoise(tl_film *f, talus_error *err)
{
    size_t n = (size_t)f->width * (size_t)f->height;
    tl_colour *a = TL_NEW(tl_colour, n), *b = TL_NEW(tl_colour, n);
    float *va = TL_NEW(float, n), *vb = TL_NEW(float, n);
    talus_status status = TALUS_OK;
    if (a && b && va && vb) {
        for (size_t i = 0; i < n; i++) a[i] = divide(f->radiance[i], f->albedo[i]);
        memcpy(va, f->variance, sizeof(float) * n);
        for (int level = 0; level < LEVELS; level++) {
            pass p = {f, a, va, b, vb, 1 << level};
#pragma omp parallel for schedule(dynamic, 8)
            for (int y = 0; y < f->height; y++)
                for (int x = 0; x < f->width; x++) filter_pixel(&p, x, y);
            tl_colour *c = a;
            float *vc = va;
            a = b, b = c, va = vb, vb = vc;
        }
        for (size_t i = 0; i < n; i++) f->radiance[i] = multiply(a[i], f->albedo[i]);
    } else {
        status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory to denoise an image of %d x %d pixels", f->width, f->height);
    }
    tl_free(a);
    tl_free(b);
    tl_free(va);
    tl_free(vb);
    return status;
}

/* ---- developing ---- */

/* Bayer's 8x8 order: bits of x ^ y and y, interleaved from the top. In (0, 1). */
static float dither(int x, int y)
{
    unsigned v = 0, a = (unsigned)(x ^ y), b = (unsigned)y;
    for (int k = 0; k < 3; k++) v = v << 2 | (a >> k & 1) << 1 | (b >> k & 1);
    return ((float)v + 0.5f) / 64;
}

talus_status tl_film_develop(const tl_film *f, float exposure, tl_image *out, talus_error *err)
{
    TL_TRY(tl_image_create(out, f->width, f->height, 0, err));
#pragma omp parallel for schedule(static)
    for (int y = 0; y < f->height; y++)
        for (int x = 0; x < f->width; x++) {
            size_t i = (size_t)y * (size_t)f->width + (size_t)x;
            tl_colour c = tl_colour_scale(exposure, tl_colour_add(f->radiance[i], f->over[i]));
            const float v[3] = {c.r, c.g, c.b};
            for (int k = 0; k < 3; k++) out->rgb[i][k] = (uint8_t)(255 * tl_srgb_encode(tl_tone(v[k])) + dither(x, y));
        }
    return TALUS_OK;
}
