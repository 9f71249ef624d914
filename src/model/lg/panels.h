/* Dense blocks in panels of 8 rows, times three vectors. Included twice by solver.c, with REAL = double and float.
 *
 * A panel holds 8 rows of w columns, column after column: [w][8]. Vectors are planar: three arrays. Rows beyond the
 * block's are zero. */
#define PANEL_CAT_(a, b) a##b
#define PANEL_CAT(a, b) PANEL_CAT_(a, b)
#define NAME(x) PANEL_CAT(PANEL_CAT(x, _), REAL)
#define VEC NAME(vec)

typedef REAL VEC __attribute__((vector_size(8 * sizeof(REAL))));

static inline __attribute__((always_inline)) VEC NAME(load)(const REAL *p)
{
    VEC v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline __attribute__((always_inline)) REAL NAME(total)(VEC v)
{
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

/* y[3][8] = P x for one panel; x [3][stride]. */
static inline __attribute__((always_inline)) void NAME(mul)(const REAL *P, int w, const REAL *x, int stride, VEC y[3])
{
    VEC a0 = {0}, a1 = {0}, a2 = {0}, b0 = {0}, b1 = {0}, b2 = {0};
    int j = 0;
    for (; j + 1 < w; j += 2) {
        VEC p = NAME(load)(P + 8 * j), q = NAME(load)(P + 8 * j + 8);
        a0 += p * x[j], a1 += p * x[stride + j], a2 += p * x[2 * stride + j];
        b0 += q * x[j + 1], b1 += q * x[stride + j + 1], b2 += q * x[2 * stride + j + 1];
    }
    if (j < w) {
        VEC p = NAME(load)(P + 8 * j);
        a0 += p * x[j], a1 += p * x[stride + j], a2 += p * x[2 * stride + j];
    }
    y[0] = a0 + b0, y[1] = a1 + b1, y[2] = a2 + b2;
}

/* z[3][stride] += P^T y over `panels` panels of w columns y [panels][3][8]. */
static inline __attribute__((always_inline)) void NAME(tmul)(const REAL *P, int panels, int w, const REAL *y, REAL *z,
                                                             int stride)
{
    int j = 0;
    for (; j + 3 < w; j += 4) {
        VEC a[4][3] = {{{0}}};
        for (int p = 0; p < panels; p++) {
            const REAL *from = P + (size_t)8 * w * p + 8 * j;
            VEC y0 = NAME(load)(y + 24 * p), y1 = NAME(load)(y + 24 * p + 8), y2 = NAME(load)(y + 24 * p + 16);
            for (int k = 0; k < 4; k++) {
                VEC l = NAME(load)(from + 8 * k);
                a[k][0] += l * y0, a[k][1] += l * y1, a[k][2] += l * y2;
            }
        }
        for (int k = 0; k < 4; k++)
            for (int c = 0; c < 3; c++) z[c * stride + j + k] += NAME(total)(a[k][c]);
    }
    for (; j < w; j++) {
        VEC a[3] = {{0}};
        for (int p = 0; p < panels; p++) {
            VEC l = NAME(load)(P + (size_t)8 * w * p + 8 * j);
            for (int c = 0; c < 3; c++) a[c] += l * NAME(load)(y + 24 * p + 8 * c);
        }
        for (int c = 0; c < 3; c++) z[c * stride + j] += NAME(total)(a[c]);
    }
}

/* Diagonal block: panel p has the columns up to its last row only. y = T x, or z = T^T y; both [3][WIDTH]. */
static void NAME(tri_mul)(const REAL *T, int w, const REAL *x, REAL *y)
{
    for (int p = 0; 8 * p < w; p++) {
        int columns = 8 * p + 8 < w ? 8 * p + 8 : w;
        VEC r[3];
        NAME(mul)(T, columns, x, WIDTH, r);
        for (int c = 0; c < 3; c++) memcpy(y + c * WIDTH + 8 * p, &r[c], sizeof r[c]);
        T += 8 * columns;
    }
}
static void NAME(tri_tmul)(const REAL *T, int w, const REAL *y, REAL *z)
{
    memset(z, 0, 3 * WIDTH * sizeof *z);
    for (int p = 0; 8 * p < w; p++) {
        int columns = 8 * p + 8 < w ? 8 * p + 8 : w;
        REAL part[24];
        for (int c = 0; c < 3; c++) memcpy(part + 8 * c, y + c * WIDTH + 8 * p, 8 * sizeof *part);
        NAME(tmul)(T, 1, columns, part, z, WIDTH);
        T += 8 * columns;
    }
}

/* Vectors of the forest, [3] planar arrays: from x to y (of a factor the same arrays). `top`: a subtree's own sums
 * for rows above all subtrees; NULL: the block itself is above. */
typedef struct NAME(vectors) {
    REAL *x[3], *y[3], *top[3];
    REAL *buffer; /* [panels of the largest block][3][8] */
} NAME(vectors);

typedef struct NAME(values) {
    const REAL *tri, *panel;
} NAME(values);

static void NAME(scatter)(const layer *f, const block *b, REAL sign, const NAME(vectors) * v)
{
    int32_t k = 0;
    for (const run *at = f->run + b->run, *end = at + b->runs; at < end; at++) {
        bool above = v->top[0] && at->first >= f->first_top;
        for (int c = 0; c < 3; c++) {
            REAL *to = above ? v->top[c] + (at->first - f->first_top) : v->y[c] + at->first;
            for (int32_t i = 0; i < at->count; i++) to[i] += sign * v->buffer[24 * ((k + i) / 8) + 8 * c + (k + i) % 8];
        }
        k += at->count;
    }
}

/* Factor: x_J = T x_J, x_R -= P x_J. Inverse: y_J += T x_J, y_R += P x_J. */
static void NAME(forward)(const layer *f, const block *b, const NAME(values) * a, const NAME(vectors) * v)
{
    int w = b->width;
    REAL x[3 * WIDTH], y[3 * WIDTH];
    for (int c = 0; c < 3; c++) memcpy(x + c * WIDTH, v->x[c] + b->first, sizeof(REAL) * (size_t)w);
    NAME(tri_mul)(a->tri + b->tri, w, x, y);
    for (int c = 0; c < 3; c++)
        for (int j = 0; j < w; j++) {
            REAL *to = v->y[c] + b->first + j;
            *to = y[c * WIDTH + j] + (f->inverse ? *to : 0);
        }
    const REAL *P = a->panel + b->panel;
    REAL *out = v->buffer;
    for (int p = 0; 8 * p < b->rows; p++, P += 8 * w, out += 24) {
        VEC r[3];
        NAME(mul)(P, w, f->inverse ? x : y, WIDTH, r);
        memcpy(out, r, sizeof r);
    }
    NAME(scatter)(f, b, f->inverse ? 1 : -1, v);
}

/* Factor: x_J = T^T (x_J - P^T x_R). Inverse: x_J = T^T y_J + P^T y_R. */
static void NAME(backward)(const layer *f, const block *b, const NAME(values) * a, const NAME(vectors) * v)
{
    int w = b->width, panels = (b->rows + 7) / 8;
    REAL y[3 * WIDTH], z[3 * WIDTH] = {0}, x[3 * WIDTH];
    int32_t k = 0;
    if (panels) memset(v->buffer + 24 * (panels - 1), 0, 24 * sizeof *v->buffer);
    for (const run *at = f->run + b->run, *end = at + b->runs; at < end; at++) {
        for (int c = 0; c < 3; c++)
            for (int32_t i = 0; i < at->count; i++)
                v->buffer[24 * ((k + i) / 8) + 8 * c + (k + i) % 8] = v->y[c][at->first + i];
        k += at->count;
    }
    NAME(tmul)(a->panel + b->panel, panels, w, v->buffer, z, WIDTH);
    for (int c = 0; c < 3; c++) {
        for (int j = 0; j < w; j++) y[c * WIDTH + j] = v->y[c][b->first + j] - (f->inverse ? 0 : z[c * WIDTH + j]);
        for (int j = w; j < (w + 7) / 8 * 8; j++) y[c * WIDTH + j] = 0;
    }
    NAME(tri_tmul)(a->tri + b->tri, w, y, x);
    for (int c = 0; c < 3; c++)
        for (int j = 0; j < w; j++) v->x[c][b->first + j] = x[c * WIDTH + j] + (f->inverse ? z[c * WIDTH + j] : 0);
}

/* x = A^-1 r. The subtrees of all bodies on all cores, then what is above them, and back. from, to: see
 * tl_lg_solve_part. */
static void NAME(solve)(const layer *f, const NAME(values) * a, REAL *work, const uint8_t *from, const uint8_t *to,
                        const double *r, double *x)
{
    int32_t n = f->n, tops = n - f->first_top;
    size_t pitch = ROUND(n), top_pitch = ROUND(tops);
    NAME(vectors) v = {.buffer = NULL};
    for (int c = 0; c < 3; c++) {
        v.x[c] = work + (size_t)c * pitch;
        v.y[c] = f->inverse ? work + (size_t)(3 + c) * pitch : v.x[c];
    }
    REAL *top = work + (f->inverse ? 6 : 3) * pitch, *buffers = top + 3 * top_pitch * (size_t)f->bins;
#pragma omp parallel if (n > 500)
    {
#pragma omp for schedule(static)
        for (int32_t i = 0; i < n; i++)
            for (int c = 0; c < 3; c++) {
                v.x[c][f->place[i]] = (REAL)r[3 * (int64_t)i + c];
                if (f->inverse) v.y[c][f->place[i]] = 0;
            }
#pragma omp for schedule(dynamic, 1)
        for (int32_t t = 0; t < f->bins; t++) {
            NAME(vectors) mine = v;
            for (int c = 0; c < 3; c++) mine.top[c] = top + top_pitch * (3 * (size_t)t + (size_t)c);
            memset(mine.top[0], 0, 3 * top_pitch * sizeof(REAL));
            mine.buffer = buffers + f->buffer * (size_t)t;
            for (int32_t k = f->bin[t]; k < f->bin[t + 1]; k++)
                if (!from || from[k]) NAME(forward)(f, &f->block[k], a, &mine);
        }
#pragma omp for schedule(static)
        for (int32_t i = 0; i < tops; i++)
            for (int32_t t = 0; t < f->bins; t++)
                for (int c = 0; c < 3; c++)
                    v.y[c][f->first_top + i] += top[top_pitch * (3 * (size_t)t + (size_t)c) + (size_t)i];
#pragma omp for schedule(dynamic, 1)
        for (int32_t t = 0; t < f->crowns; t++) {
            NAME(vectors) mine = v;
            mine.buffer = buffers + f->buffer * (size_t)(f->bins + t);
            for (int32_t k = f->crown[t]; k < f->crown[t + 1]; k++)
                if (!from || from[k]) NAME(forward)(f, &f->block[k], a, &mine);
            for (int32_t k = f->crown[t + 1]; k-- > f->crown[t];)
                if (!to || to[k]) NAME(backward)(f, &f->block[k], a, &mine);
        }
#pragma omp for schedule(dynamic, 1)
        for (int32_t t = 0; t < f->bins; t++) {
            NAME(vectors) mine = v;
            mine.buffer = buffers + f->buffer * (size_t)t;
            for (int32_t k = f->bin[t + 1]; k-- > f->bin[t];)
                if (!to || to[k]) NAME(backward)(f, &f->block[k], a, &mine);
        }
#pragma omp for schedule(static)
        for (int32_t i = 0; i < n; i++)
            for (int c = 0; c < 3; c++) x[3 * (int64_t)i + c] = (double)v.x[c][f->place[i]];
    }
}

#undef NAME
#undef VEC
#undef PANEL_CAT
#undef PANEL_CAT_
