#include "render/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "render/font.h"

talus_status tl_image_create(tl_image *m, int width, int height, uint32_t colour, talus_error *err)
{
    *m = (tl_image){0};
    if (width < 1 || height < 1 || width > TL_IMAGE_SIDE_MAX || height > TL_IMAGE_SIDE_MAX)
        return TL_FAIL(err, TALUS_BAD_INPUT, "an image of %d x %d pixels: each side must be from 1 to %d", width,
                       height, TL_IMAGE_SIDE_MAX);
    size_t n = (size_t)width * (size_t)height;
    m->rgb = tl_alloc(3 * n);
    if (!m->rgb) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for an image of %d x %d pixels", width, height);
    m->width = width;
    m->height = height;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) m->rgb[i][k] = (uint8_t)(colour >> (16 - 8 * k));
    return TALUS_OK;
}

void tl_image_free(tl_image *m)
{
    tl_free(m->rgb);
    *m = (tl_image){0};
}

/* Mixed as encoded: that is how text is expected to look on a screen. */
static void blend(tl_image *m, int x, int y, uint32_t colour, double opacity)
{
    uint8_t *p = m->rgb[(size_t)y * (size_t)m->width + (size_t)x];
    for (int k = 0; k < 3; k++)
        p[k] = (uint8_t)lround(p[k] + opacity * ((double)(colour >> (16 - 8 * k) & 255) - p[k]));
}

static int clamp(double v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : (int)v; }

/* ---- strokes: one coverage mask per text, so that joints are not painted twice ---- */

typedef struct mask {
    int x0, y0, x1, y1; /* pixels, half open */
    float *cover;
} mask;

static bool mask_begin(mask *k, const tl_image *m, double x0, double y0, double x1, double y1)
{
    *k = (mask){clamp(floor(x0), 0, m->width), clamp(floor(y0), 0, m->height), clamp(ceil(x1), 0, m->width),
                clamp(ceil(y1), 0, m->height), NULL};
    if (k->x0 >= k->x1 || k->y0 >= k->y1) return false;
    k->cover = tl_alloc_zero(sizeof(float) * (size_t)(k->x1 - k->x0) * (size_t)(k->y1 - k->y0));
    return k->cover != NULL;
}

static void mask_segment(mask *k, double ax, double ay, double bx, double by, double half)
{
    double reach = half + 1, dx = bx - ax, dy = by - ay, l2 = dx * dx + dy * dy;
    int x0 = clamp(floor(fmin(ax, bx) - reach), k->x0, k->x1), x1 = clamp(ceil(fmax(ax, bx) + reach), k->x0, k->x1);
    int y0 = clamp(floor(fmin(ay, by) - reach), k->y0, k->y1), y1 = clamp(ceil(fmax(ay, by) + reach), k->y0, k->y1);
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) {
            double px = x + 0.5 - ax, py = y + 0.5 - ay;
            double s = l2 > 0 ? fmin(fmax((px * dx + py * dy) / l2, 0), 1) : 0;
            double c = fmin(fmax(half + 0.5 - hypot(px - s * dx, py - s * dy), 0), 1);
            float *f = &k->cover[(size_t)(y - k->y0) * (size_t)(k->x1 - k->x0) + (size_t)(x - k->x0)];
            if (*f < c) *f = (float)c;
        }
}

static void mask_paint(mask *k, tl_image *m, uint32_t colour)
{
    for (int y = k->y0; y < k->y1; y++)
        for (int x = k->x0; x < k->x1; x++) {
            float c = k->cover[(size_t)(y - k->y0) * (size_t)(k->x1 - k->x0) + (size_t)(x - k->x0)];
            if (c > 0) blend(m, x, y, colour, c);
        }
    tl_free(k->cover);
}

#define STROKE_POINTS 24

/* Points of the next stroke, in units; returns where the text goes on, or NULL after the last. */
static const char *read_stroke(const char *s, int *count, double (*point)[2], bool *smooth)
{
    if (!*s) return NULL;
    *count = 0;
    *smooth = *s == '~';
    if (*smooth) s++;
    while (*s && *s != '|') {
        char *end;
        long x = strtol(s, &end, 10), y = strtol(end + 1, &end, 10);
        if (*count < STROKE_POINTS) point[*count][0] = (double)x, point[*count][1] = (double)y, ++*count;
        s = *end == ' ' ? end + 1 : end;
    }
    return *s ? s + 1 : s;
}

/* Catmull-Rom through the points, in pixels. */
static void draw_stroke(mask *k, int n, double (*p)[2], bool smooth, double half)
{
    bool closed = smooth && p[0][0] == p[n - 1][0] && p[0][1] == p[n - 1][1];
    for (int i = 0; i + 1 < n; i++) {
        const double *b = p[i], *c = p[i + 1];
        const double *a = i > 0 ? p[i - 1] : closed ? p[n - 2] : b, *d = i + 2 < n ? p[i + 2] : closed ? p[1] : c;
        int parts = smooth ? 6 : 1;
        double last[2] = {b[0], b[1]};
        for (int j = 1; j <= parts; j++) {
            double t = (double)j / parts, q[2];
            for (int e = 0; e < 2; e++)
                q[e] = smooth ? 0.5 * (2 * b[e] + (c[e] - a[e]) * t + (2 * a[e] - 5 * b[e] + 4 * c[e] - d[e]) * t * t +
                                       (3 * b[e] - a[e] - 3 * c[e] + d[e]) * t * t * t)
                              : c[e];
            mask_segment(k, last[0], last[1], q[0], q[1], half);
            last[0] = q[0], last[1] = q[1];
        }
    }
}

double tl_image_text_width(double size, const char *text)
{
    int units = 0, advance;
    for (; *text; text++) {
        (void)tl_font_glyph((unsigned char)*text, &advance);
        units += advance;
    }
    return size / TL_FONT_CAP * units;
}

double tl_image_text(tl_image *m, double x, double y, double size, uint32_t colour, const char *text)
{
    double unit = size / TL_FONT_CAP, width = tl_image_text_width(size, text), half = fmax(0.055 * size, 0.55);
    mask k;
    if (!mask_begin(&k, m, x - half - 1, y - 1.2 * size, x + width + half + 1, y + 0.4 * size)) return width;
    double pen = x;
    for (; *text; text++) {
        int advance, n;
        const char *s = tl_font_glyph((unsigned char)*text, &advance);
        double p[STROKE_POINTS][2];
        bool smooth;
        while ((s = read_stroke(s, &n, p, &smooth))) {
            for (int i = 0; i < n; i++) p[i][0] = pen + unit * p[i][0], p[i][1] = y - unit * p[i][1];
            if (n > 0) draw_stroke(&k, n, p, smooth, half);
        }
        pen += unit * advance;
    }
    mask_paint(&k, m, colour);
    return width;
}

/* Soft-edged. */
static void line(tl_image *m, double x0, double y0, double x1, double y1, double width, uint32_t colour)
{
    mask k;
    double r = 0.5 * width + 2;
    if (!mask_begin(&k, m, fmin(x0, x1) - r, fmin(y0, y1) - r, fmax(x0, x1) + r, fmax(y0, y1) + r)) return;
    mask_segment(&k, x0, y0, x1, y1, 0.5 * width);
    mask_paint(&k, m, colour);
}

static void rectangle(tl_image *m, int x0, int y0, int x1, int y1, uint32_t colour, float opacity)
{
    for (int y = y0 < 0 ? 0 : y0; y < y1 && y < m->height; y++)
        for (int x = x0 < 0 ? 0 : x0; x < x1 && x < m->width; x++) blend(m, x, y, colour, opacity);
}

/* ---- legend and caption ---- */

#define INK 0x2b2f33

static uint32_t encode(tl_colour c)
{
    const float v[3] = {c.r, c.g, c.b};
    uint32_t out = 0;
    for (int k = 0; k < 3; k++) out = out << 8 | (uint32_t)lroundf(255 * tl_srgb_encode(v[k]));
    return out;
}

void tl_image_legend(tl_image *m, const tl_colour_map *map, const char *title, double lo, double hi)
{
    double size = fmax(m->height / 52.0, 7); /* capitals: 14 pixels of 720 */
    int w = (int)(1.5 * size), h = (int)(0.42 * m->height), ticks = 5;
    char number[5][32];
    double widest = tl_image_text_width(size, title) - w - 0.6 * size;
    for (int i = 0; i < ticks; i++) {
        snprintf(number[i], sizeof number[i], "%.3g", lo + (hi - lo) * i / (ticks - 1));
        widest = fmax(widest, tl_image_text_width(size, number[i]));
    }
    int x = (int)(m->width - 1.6 * size - widest - 0.6 * size - w), y = (m->height - h) / 2;
    for (int k = 0; k < h; k++) {
        uint32_t c = encode(tl_colour_map_eval(map, 1 - ((float)k + 0.5f) / (float)h));
        rectangle(m, x, y + k, x + w, y + k + 1, c, 1);
    }
    for (int i = 0; i < ticks; i++) {
        double at = y + h - (double)h * i / (ticks - 1);
        line(m, x + w, at, x + w + 0.3 * size, at, 1.2, INK);
        tl_image_text(m, x + w + 0.6 * size, at + 0.5 * size, size, INK, number[i]);
    }
    tl_image_text(m, x, y - 1.3 * size, size, INK, title);
}

void tl_image_caption(tl_image *m, const char *text)
{
    double size = fmax(m->height / 48.0, 7);
    tl_image_text(m, 1.6 * size, m->height - 1.6 * size, size, INK, text);
}

/* ---- thumbnails ---- */

talus_status tl_image_shrink(const tl_image *m, int width, int height, tl_image *out, talus_error *err)
{
    TL_TRY(tl_image_create(out, width, height, 0, err));
    float linear[256];
    for (int i = 0; i < 256; i++) linear[i] = tl_srgb_decode((float)i / 255);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int x0 = (int)((int64_t)x * m->width / width), x1 = (int)((int64_t)(x + 1) * m->width / width);
            int y0 = (int)((int64_t)y * m->height / height), y1 = (int)((int64_t)(y + 1) * m->height / height);
            if (x1 == x0) x1++;
            if (y1 == y0) y1++;
            float sum[3] = {0};
            for (int v = y0; v < y1; v++)
                for (int u = x0; u < x1; u++)
                    for (int k = 0; k < 3; k++) sum[k] += linear[m->rgb[(size_t)v * (size_t)m->width + (size_t)u][k]];
            float n = (float)((x1 - x0) * (y1 - y0));
            uint8_t *o = out->rgb[(size_t)y * (size_t)width + (size_t)x];
            for (int k = 0; k < 3; k++) o[k] = (uint8_t)lroundf(255 * tl_srgb_encode(sum[k] / n));
        }
    return TALUS_OK;
}

static void paste(tl_image *m, const tl_image *from, int x, int y)
{
    for (int v = 0; v < from->height && y + v < m->height; v++)
        memcpy(m->rgb[(size_t)(y + v) * (size_t)m->width + (size_t)x], from->rgb[(size_t)v * (size_t)from->width],
               3 * (size_t)from->width);
}

talus_status tl_image_contact_sheet(int count, const tl_image *images, const char *const *labels, int columns,
                                    int thumb_width, tl_image *out, talus_error *err)
{
    *out = (tl_image){0};
    if (count < 1) return TL_FAIL(err, TALUS_BAD_INPUT, "a contact sheet needs an image");
    if (thumb_width < 16 || thumb_width > 4096)
        return TL_FAIL(err, TALUS_BAD_INPUT, "thumbnails must be 16 to 4096 pixels wide, got %d", thumb_width);
    if (columns < 1) columns = (int)ceil(sqrt((double)count));
    if (columns > count) columns = count;
    int rows = (count + columns - 1) / columns, gap = thumb_width / 24 + 2, tallest = 1;
    double size = thumb_width / 22.0;
    int room = labels ? (int)(2.2 * size) : 0;
    for (int i = 0; i < count; i++) {
        int h = (int)lround((double)images[i].height * thumb_width / images[i].width);
        tallest = h > tallest ? h : tallest;
    }
    int64_t width = (int64_t)columns * (thumb_width + gap) + gap, height = (int64_t)rows * (tallest + room + gap) + gap;
    if (width > TL_IMAGE_SIDE_MAX || height > TL_IMAGE_SIDE_MAX)
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "a contact sheet of %d images of %d pixels is too large; the limit is %d per side", count,
                       thumb_width, TL_IMAGE_SIDE_MAX);
    TL_TRY(tl_image_create(out, (int)width, (int)height, 0xffffff, err));
    for (int i = 0; i < count; i++) {
        int x = gap + i % columns * (thumb_width + gap), y = gap + i / columns * (tallest + room + gap);
        int h = (int)lround((double)images[i].height * thumb_width / images[i].width);
        tl_image thumb;
        talus_status status = tl_image_shrink(&images[i], thumb_width, h < 1 ? 1 : h, &thumb, err);
        if (status != TALUS_OK) {
            tl_image_free(out);
            return status;
        }
        paste(out, &thumb, x, y);
        tl_image_free(&thumb);
        if (labels) tl_image_text(out, x, y + tallest + 1.6 * size, size, INK, labels[i]);
    }
    return TALUS_OK;
}
