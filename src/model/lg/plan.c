#include "model/lg/plan.h"

#include <math.h>

#include "geom/tetmesh.h"

#define NODES 1500.0    /* of all bodies that do not say: a third of a second per step */
#define NODES_LEAST 250 /* of one of them */
#define PER_EDGE 2.8    /* nodes in a cube of the edge: 2.6 to 3.2 measured for 2000 to 300 nodes */
#define ACROSS 2.5      /* edges across the smallest extent of the shape's box */

static bool is_elastic(const tl_scene *s, const tl_body *b)
{
    return b->material >= 0 && s->materials[b->material].kind == TL_MATERIAL_ELASTIC;
}

static bool says(const tl_body *b) { return b->edge > 0 || b->cells[0] || b->cells[1] || b->cells[2]; }

static double volume_of(const tl_scene *s, const tl_body *b)
{
    tl_mass mass;
    return tl_shape_mass(s->shapes, b->shape, 96, &mass, NULL) == TALUS_OK ? mass.volume : 0;
}

double tl_lg_default_edge(const tl_scene *s, const tl_body *b)
{
    double fine = tl_tetmesh_suggested_edge(s->shapes, b->shape), volume = volume_of(s, b);
    int silent = 0;
    if (s->engine != TL_ENGINE_GRID || !(volume > 0)) return fine;
    for (int i = 0; i < s->body_count; i++) silent += is_elastic(s, &s->bodies[i]) && !says(&s->bodies[i]);
    tl_box3 box = tl_shape_bounds(s->shapes, b->shape);
    double thin = fmin(box.hi.x - box.lo.x, fmin(box.hi.y - box.lo.y, box.hi.z - box.lo.z));
    double coarse = cbrt(PER_EDGE * volume / fmax(NODES_LEAST, NODES / fmax(1, silent)));
    return fmax(fine, fmin(coarse, thin / ACROSS));
}

double tl_lg_expected_nodes(const tl_scene *s, const tl_body *b)
{
    if (!is_elastic(s, b)) return 0;
    if (b->cells[0] || b->cells[1] || b->cells[2])
        return (b->cells[0] + 1.0) * (b->cells[1] + 1.0) * (b->cells[2] + 1.0);
    tl_tetmesh mesh = {0};
    bool found = false;
    if (!(b->edge > 0) && tl_shape_tets(s->shapes, b->shape, &mesh, &found, NULL) == TALUS_OK && found) {
        double there = mesh.vertices;
        tl_tetmesh_free(&mesh);
        return there;
    }
    double edge = b->edge > 0 ? b->edge : tl_lg_default_edge(s, b), nodes = PER_EDGE * volume_of(s, b) / pow(edge, 3);
    return isfinite(nodes) ? nodes : 0;
}

double tl_lg_expected_seconds(const tl_scene *s)
{
    double sum = 0;
    for (int i = 0; i < s->body_count; i++) sum += 0.1 * pow(tl_lg_expected_nodes(s, &s->bodies[i]) / 1000, 1.5);
    return sum;
}
