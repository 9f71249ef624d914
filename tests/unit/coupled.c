/* Bodies in the Hessian of a coupled problem: what pushes them does to the field and to contacts what these do to
 * them. A wrong term would only make solves slower, so it is looked for here. */
#include "check.h"

#include <stdlib.h>

#include "base/random.h"
#include "phase/grid/grid.h"
#include "rigid.h"
#include "solve/coupled/work.h"

typedef struct seen {
    int steps;                   /* with contacts and water at bodies */
    double symmetry, root, size; /* largest differences, of the largest entry */
} seen;

static void fill(int64_t n, uint64_t stream, double *x)
{
    for (int64_t i = 0; i < n; i++) x[i] = 2 * tl_random(stream, (uint64_t)i, 0) - 1;
}

static talus_status look_at(void *user, const tl_shown *shown, talus_error *err)
{
    (void)err;
    seen *out = user;
    if (shown->kind != TL_SHOWN_STEP) return TALUS_OK;
    const tl_coupled *c = ((const tl_grid_view *)shown->problem)->coupled;
    const tl_coupled_work *w = c->work;
    if (!w || !w->m || !c->wet.rows) return TALUS_OK;
    const int64_t n = (int64_t)w->n + w->m, six = 6 * (int64_t)w->bodies;
    double *v = calloc((size_t)(5 * n + six), sizeof *v), *x = v, *y = x + n, *Ex = y + n, *Ey = Ex + n, *Ux = Ey + n,
           *r = Ux + n, a = 0, b = 0;
    fill(n, 1, x);
    fill(n, 2, y);
    tl_coupled_add_with_normals(c, x, Ex);
    tl_coupled_add_with_normals(c, y, Ey);
    tl_coupled_gather(c, x, r);
    tl_coupled_scatter(c, r, Ux);
    for (int64_t i = 0; i < n; i++) {
        a += y[i] * Ex[i];
        b += x[i] * Ey[i];
        out->size = fmax(out->size, fabs(Ex[i]));
        out->root = fmax(out->root, fabs(Ex[i] - Ux[i]));
    }
    out->symmetry = fmax(out->symmetry, fabs(a - b) / (fabs(a) + fabs(b)));
    out->steps++;
    free(v);
    return TALUS_OK;
}

static void hessian_of_bodies_is_symmetric(void **state)
{
    (void)state;
    seen out = {0};
    rigid_case c = rigid_open(
        NULL,
        "grid = { cells = {10, 12, 10}, cell = 0.05 }, fill = { { material = liquid { density = 1000 }, shape = box { "
        "size = {0.5, 0.3, 0.5}, center = {0.25, 0.15, 0.25} } } }, bodies = { { shape = box { size = 0.2 }, at = "
        "{0.25, 0.28, 0.25}, density = 400 }, { shape = box { size = 0.1 }, at = {0.27, 0.43, 0.25}, density = 700 } "
        "}");
    c.sim->look = look_at;
    c.sim->look_user = &out;
    for (int i = 0; i < 5; i++) rigid_step(&c, 0.01);
    assert_true(out.steps >= 3 && out.size > 0);
    CHECK_LE(out.symmetry, 1e-10);
    CHECK_LE(out.root, 1e-10 * out.size);
    rigid_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hessian_of_bodies_is_symmetric)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
