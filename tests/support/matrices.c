#include "matrices.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/random.h"

typedef struct triplets {
    int64_t count, capacity;
    int32_t *row, *col;
    double *val;
} triplets;

static void add(triplets *t, int32_t row, int32_t col, double val)
{
    if (t->count == t->capacity) {
        t->capacity = t->capacity ? 2 * t->capacity : 1024;
        t->row = tl_realloc(t->row, sizeof(int32_t) * (size_t)t->capacity);
        t->col = tl_realloc(t->col, sizeof(int32_t) * (size_t)t->capacity);
        t->val = tl_realloc(t->val, sizeof(double) * (size_t)t->capacity);
        if (!t->row || !t->col || !t->val) abort();
    }
    t->row[t->count] = row;
    t->col[t->count] = col;
    t->val[t->count++] = val;
}

static tl_csr finish(triplets *t, int32_t n)
{
    tl_csr A;
    if (tl_csr_from_triplets(&A, n, n, t->count, t->row, t->col, t->val, NULL) != TALUS_OK) abort();
    tl_free(t->row);
    tl_free(t->col);
    tl_free(t->val);
    return A;
}

tl_csr matrix_poisson(int32_t nx, int32_t ny, int32_t nz, double shift)
{
    triplets t = {0};
    for (int32_t z = 0; z < nz; z++)
        for (int32_t y = 0; y < ny; y++)
            for (int32_t x = 0; x < nx; x++) {
                int32_t i = (z * ny + y) * nx + x;
                add(&t, i, i, 6 + shift);
                if (x > 0) add(&t, i, i - 1, -1);
                if (x < nx - 1) add(&t, i, i + 1, -1);
                if (y > 0) add(&t, i, i - nx, -1);
                if (y < ny - 1) add(&t, i, i + nx, -1);
                if (z > 0) add(&t, i, i - nx * ny, -1);
                if (z < nz - 1) add(&t, i, i + nx * ny, -1);
            }
    return finish(&t, nx * ny * nz);
}

tl_csr matrix_permuted(const tl_csr *A, const int32_t *perm)
{
    triplets t = {0};
    int32_t *inverse = TL_NEW(int32_t, A->rows);
    for (int32_t i = 0; i < A->rows; i++) inverse[perm[i]] = i;
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) add(&t, inverse[i], inverse[A->col[k]], A->val[k]);
    tl_free(inverse);
    return finish(&t, A->rows);
}

static void add_spd(triplets *t, int32_t n, int per_row, uint64_t seed)
{
    for (int32_t i = 0; i < n; i++) {
        add(t, i, i, 0.1);
        for (int k = 0; k < per_row / 2; k++) {
            int32_t j = (int32_t)(tl_random_bits(seed, (uint64_t)i, (uint64_t)k) % (uint64_t)n);
            double v = tl_random_normal(seed + 1, (uint64_t)i, (uint64_t)k);
            if (j == i) continue;
            add(t, i, j, v);
            add(t, j, i, v);
            add(t, i, i, fabs(v));
            add(t, j, j, fabs(v));
        }
    }
}

tl_csr matrix_spd(int32_t n, int per_row, uint64_t seed)
{
    triplets t = {0};
    add_spd(&t, n, per_row, seed);
    return finish(&t, n);
}

tl_csr matrix_kkt(int32_t n, int32_t m, uint64_t seed)
{
    triplets t = {0};
    add_spd(&t, n, 4, seed);
    for (int32_t i = 0; i < m; i++) {
        add(&t, n + i, n + i, -1e-2);
        for (int k = 0; k < 3; k++) {
            int32_t j = (int32_t)(tl_random_bits(seed + 2, (uint64_t)i, (uint64_t)k) % (uint64_t)n);
            double v = tl_random_normal(seed + 3, (uint64_t)i, (uint64_t)k);
            add(&t, n + i, j, v);
            add(&t, j, n + i, v);
        }
    }
    return finish(&t, n + m);
}

double *matrix_dense(const tl_csr *A)
{
    double *D = TL_NEW_ZERO(double, (int64_t)A->rows * A->cols);
    if (!D) abort();
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) D[(int64_t)i * A->cols + A->col[k]] = A->val[k];
    return D;
}
