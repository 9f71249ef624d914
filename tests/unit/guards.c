/* Validators that checked builds run where one phase hands a list to the next: good lists pass, spoilt ones are
 * told. */
#include "check.h"

#include <string.h>

#include "model/grid/grid.h"
#include "model/rigid/contacts.h"

static talus_error err;

static void contact_lists(void **state)
{
    (void)state;
    tl_rigid_point good[3] = {{.a = 0, .b = 1}, {.a = 0, .b = 2}, {.a = 1, .b = 2}}, p[3];
    for (int k = 0; k < 3; k++) good[k].normal = (tl_vec3){0, 1, 0};
    tl_rigid_contacts c = {3, good};
    CHECK_OK(tl_rigid_contacts_check(&c, 3, &err));
    assert_int_equal(tl_rigid_contacts_check(&c, 2, &err), TALUS_BAD_INPUT);
    for (int spoilt = 0; spoilt < 6; spoilt++) {
        memcpy(p, good, sizeof p);
        c.point = p;
        if (spoilt == 0) p[1].a = -1;
        if (spoilt == 1) p[1].b = 0;
        if (spoilt == 2) p[2].a = 0, p[2].b = 1;
        if (spoilt == 3) p[0].normal.x = 0.1;
        if (spoilt == 4) p[0].at.z = NAN;
        if (spoilt == 5) p[2].gap = INFINITY;
        assert_int_equal(tl_rigid_contacts_check(&c, 3, &err), TALUS_BAD_INPUT);
    }
}

static void grids(void **state)
{
    (void)state;
    tl_scene scene = {.grid = {.cells = {12, 12, 12}, .cell = 0.1}};
    const tl_grid_frame f = tl_grid_frame_of(&scene);
    tl_arena a = {0};
    tl_grid g;
    const uint64_t key[2] = {tl_grid_key(&f, (const int32_t[3]){2, 3, 4}),
                             tl_grid_key(&f, (const int32_t[3]){9, 9, 9})};
    CHECK_OK(tl_grid_build(&g, &f, 2, key, &a, &err));
    CHECK_OK(tl_grid_check(&g, &err));
    assert_true(g.blocks > 2);
    int32_t was = g.near[0][14];
    g.near[0][14] = g.blocks + 1;
    assert_int_equal(tl_grid_check(&g, &err), TALUS_BAD_INPUT);
    g.near[0][14] = was == 0 ? 1 : 0;
    assert_int_equal(tl_grid_check(&g, &err), TALUS_BAD_INPUT);
    g.near[0][14] = was;
    g.key[1] = g.key[0];
    assert_int_equal(tl_grid_check(&g, &err), TALUS_BAD_INPUT);
    tl_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(contact_lists), cmocka_unit_test(grids)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
