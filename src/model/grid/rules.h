/* Rules of what flows on the grid that are not in its equations, as a table: what each is for, when it acts, which key
 * of the scene turns it off, and the test that misses it. Rules that act inside of an operator are where that is
 * (`at`); those with a phase of their own in the step are here.
 *
 * Numbers of liquids that are chosen, which no scene changes, are tl_liquid_rules (flow.h). */
#ifndef TL_MODEL_GRID_RULES_H
#define TL_MODEL_GRID_RULES_H

#include "model/grid/flow.h"
#include "model/grid/grains.h"

typedef struct tl_grid_rule {
    const char *name;
    const char *at;     /* phase of the step, and file */
    const char *reason; /* what goes wrong without */
    const char *key;    /* of the scene, and the value that turns it off */
    const char *test;   /* file in tests/, and case */
} tl_grid_rule;

int tl_grid_rule_count(void);
const tl_grid_rule *tl_grid_rule_at(int i);

/* Single grains, and drops that touch free bodies, where no stress and no pressure acts: points in contact
 * (grains.h). Free bodies get their part in f->v_free. */
talus_status tl_rule_single_grains(tl_flow *f, double *load, tl_grain_account *got, talus_error *err);

/* Riders (grains.h) go where the elastic problem says: after tl_flow_store. */
talus_status tl_rule_land_riders(tl_flow *f, talus_error *err);

/* Faces that go with others hand their mass and momentum over (carry.h). */
talus_status tl_rule_hand_over(tl_flow *f, talus_error *err);

/* Crowds part: the displacement that takes a share of what is more than full out of each cell and through what flows
 * to its surface, or the other way where cells are hollow; solids stay where they are. A pressure-like problem whose
 * answer x [cells of the system] is a potential. [Kugelstadt2019] */
typedef struct tl_crowds {
    bool any; /* false: nothing crowds, and the problem is empty */
    tl_pressure problem;
    double *x;      /* [tl_coupling_length] 0 in, answer out */
    double *way[3]; /* [3][cells] m, out of tl_rule_part_crowds */
} tl_crowds;
talus_status tl_rule_find_crowds(const tl_flow *f, tl_crowds *out, talus_error *err);
talus_status tl_rule_part_crowds(const tl_flow *f, tl_crowds *c, talus_error *err);
/* What carries particles, and not what they carry: the velocities of faces plus `part` of that displacement over dt. */
talus_status tl_rule_carry(tl_flow *f, const tl_crowds *c, double part, talus_error *err);

/* Static bodies share one weight per face with the walls; a face's force goes to the nearest of them, with the
 * face's centre as lever. Changes nothing that moves. Uses c.y; load [6 bodies] N, N m, added to. Of several parts the sum of
 * all. */
talus_status tl_rule_load_static_bodies(const tl_flow *f, double *load, talus_error *err);

#endif
