/* Factors of the body matrix: the same bits on one thread and on three, with panels large enough to be shared. */
#include "base/parallel.h"
#include "base/random.h"
#include "check.h"

#include <string.h>

#include "solve/contact/body_lu.h"

enum { BODIES = 400, CONTACTS = 1400 };

/* Bodies on a line that touch neighbours and some far away: the last columns fill. */
static void make_pairs(tl_pairs *t, tl_arena *a)
{
    *t = (tl_pairs){.contacts = CONTACTS, .moving = BODIES};
    t->pair = TL_TAKE_ZERO(a, tl_pair, CONTACTS);
    t->mass = TL_TAKE(a, double, BODIES);
    t->inertia = TL_TAKE_ZERO(a, double, 9 * BODIES);
    assert_true(t->pair && t->mass && t->inertia);
    for (int i = 0; i < BODIES; i++) {
        t->mass[i] = 1 + tl_random(3, (uint64_t)i, 0);
        for (int k = 0; k < 3; k++) t->inertia[9 * i + 4 * k] = 0.1 + 0.1 * tl_random(3, (uint64_t)i, 1);
    }
    for (uint64_t c = 0; c < CONTACTS; c++) {
        tl_pair *p = &t->pair[c];
        int i = (int)(BODIES * tl_random(4, c, 0)), far = 1 + (int)(40 * tl_random(4, c, 1));
        p->body[0] = p->place[0] = i;
        p->body[1] = p->place[1] = (i + far) % BODIES;
        for (int s = 0; s < 2; s++)
            for (int k = 0; k < 6; k++)
                for (int r = 0; r < 3; r++) p->J[s][k][r] = tl_random(5 + (uint64_t)s, c, (uint64_t)(3 * k + r)) - 0.5;
    }
}

/* out [2]: by Cholesky, by LU with a matrix that is not symmetric. */
static void solve(int threads, double *out[2])
{
    tl_arena a = {0};
    tl_pairs t;
    tl_body_matrix H;
    tl_body_lu f;
    tl_threads_set(threads);
    make_pairs(&t, &a);
    assert_true(tl_body_matrix_build(&H, &t, &a) && tl_body_lu_build(&f, &H, &a));
    bool shared = false;
    for (int32_t c = 0; c < BODIES; c += TL_PANEL) shared |= tl_body_matrix_panel(&H, c);
    assert_true(shared);
    double *b = TL_TAKE_ZERO(&a, double, tl_pairs_lanes(&t));
    for (int64_t k = 0; k < 8 * BODIES; k++) b[k] = k % 8 < 6 ? tl_random(9, (uint64_t)k, 0) : 0;
    for (int lu = 0; lu < 2; lu++) {
        const double D[9] = {100, 0, 0, lu * 30.0, 100, 0, 0, 0, 100};
        if (lu)
            tl_body_lu_start(&f, &t);
        else
            tl_body_matrix_start(&H, &t);
        for (int32_t c = 0; c < CONTACTS; c++)
            if (lu)
                tl_body_lu_add(&f, &t, c, D);
            else
                tl_body_matrix_add(&H, &t, c, D);
        assert_true(lu ? tl_body_lu_factor(&f) : tl_body_matrix_factor(&H));
        double *x = TL_TAKE_ZERO(&a, double, tl_pairs_lanes(&t));
        if (lu)
            tl_body_lu_solve(&f, b, x);
        else
            tl_body_matrix_solve(&H, b, x);
        memcpy(out[lu], x, sizeof(double) * 8 * BODIES);
    }
    tl_arena_free(&a);
}

static void same_bits(void **state)
{
    (void)state;
    static double one[2][8 * BODIES], three[2][8 * BODIES];
    solve(1, (double *[]){one[0], one[1]});
    solve(3, (double *[]){three[0], three[1]});
    assert_memory_equal(one, three, sizeof one);
    CHECK_LE(1e-6, fabs(one[0][0] - one[1][0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
