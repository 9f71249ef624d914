/* What detection of elastic contacts looks at, for tests: a scene, displacements of nodes, poses of obstacles. */
#ifndef TL_TESTS_LG_VIEW_H
#define TL_TESTS_LG_VIEW_H

#include "model/lg/contact.h"
#include "rigid.h"

typedef struct lg_look {
    rigid_case c;
    tl_lg_view view;
    double *to; /* [3 nodes] */
    tl_pose *before, *after;
    tl_motion *body;
    double *friction;
    tl_arena arena;
    tl_lg_contacts found;
} lg_look;

/* Nodes stay, obstacles stay, friction of each as the scene has it. Fails the test on any error. */
lg_look lg_look_open(const char *lua, const char *text);
void lg_look_move(lg_look *l, tl_vec3 by); /* all nodes */
void lg_look_at(lg_look *l);               /* detect; fills found */
void lg_look_close(lg_look *l);

/* normal.a - offset (or - b), at positions q, obstacles at the end of the step. */
double lg_look_gap(const tl_lg_contact *c, const double *q);
tl_vec3 lg_look_place(const tl_lg_point *p, const double *q);

#endif
