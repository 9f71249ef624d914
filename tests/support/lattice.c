#include "lattice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static void check(talus_status status, const talus_error *err)
{
    if (status == TALUS_OK) return;
    fprintf(stderr, "lattice: %s\n", err->message);
    abort();
}

void tl_lattice_make(tl_pressure_case *c, const tl_lattice *l)
{
    talus_error err;
    tl_arena a = {0};
    const int32_t none[3] = {0, 0, 0};
    int32_t n = 0, red = 0, max = l->size[0] * l->size[1] * l->size[2];
    *c = (tl_pressure_case){0};
    int32_t(*any)[3] = tl_alloc(sizeof *any * (size_t)(max + 1)), *order = TL_NEW(int32_t, max + 1);
    c->ijk = tl_alloc(sizeof *c->ijk * (size_t)(max + 1));
    for (int32_t x = 0; x < l->size[0]; x++)
        for (int32_t y = 0; y < l->size[1]; y++)
            for (int32_t z = 0; z < l->size[2]; z++) {
                int32_t at[3] = {x, y, z};
                if (!l->keep || l->keep(at)) memcpy(any[n++], at, sizeof at);
            }
    check(tl_pressure_order(n, (const int32_t(*)[3])any, order, &red, &a, &err), &err);
    for (int32_t i = 0; i < n; i++) memcpy(c->ijk[i], any[order[i]], sizeof *any);
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
        c->nb[k] = TL_NEW(int32_t, n + 1);
        c->c[k] = TL_NEW_ZERO(float, n + 1);
    }
    c->dir = TL_NEW_ZERO(float, n + 1);
    c->ar = TL_NEW_ZERO(float, n + 1);
    c->d = TL_NEW_ZERO(double, n + 1);
    c->b = TL_NEW_ZERO(double, n + 1);
    check(tl_pressure_neighbours(n, red, (const int32_t(*)[3])c->ijk, l->period ? l->period : none, c->nb, &err), &err);
    for (int32_t i = 0; i < n; i++) {
        for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
            int32_t j = c->nb[k][i];
            if (j < n && (!l->open || l->open(c->ijk[i], c->ijk[j]))) c->c[k][i] = 1;
            c->d[i] += c->c[k][i];
        }
        if (!l->surface || c->ijk[i][1] != l->size[1] - 1) continue;
        c->dir[i] = 2;
        c->ar[i] = 1;
        c->d[i] += 2;
    }
    c->p = (tl_pressure){.n = n,
                         .none = n,
                         .red = red,
                         .ijk = (const int32_t(*)[3])c->ijk,
                         .dir = c->dir,
                         .ar = c->ar,
                         .d = c->d,
                         .b = c->b};
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
        c->p.nb[k] = c->nb[k];
        c->p.c[k] = c->c[k];
    }
    c->p.unilateral = true;
    tl_free(any);
    tl_free(order);
    tl_arena_free(&a);
}
