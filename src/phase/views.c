#include <string.h>

#include "base/alloc.h"
#include "phase/grid/grid.h"
#include "phase/sim.h"

static tl_rows nodes_of(const tl_sim *sim, const double *data)
{
    return (tl_rows){data, sizeof(tl_vec3), sim->lg.nodes};
}
static tl_rows node_places(const tl_sim *sim)
{
    const tl_lg_state *s = tl_lg_state_of(&sim->state);
    return nodes_of(sim, s ? s->q : NULL);
}
static tl_rows node_velocities(const tl_sim *sim)
{
    const tl_lg_state *s = tl_lg_state_of(&sim->state);
    return nodes_of(sim, s ? s->v : NULL);
}
static tl_rows node_pushes(const tl_sim *sim)
{
    const tl_lg_state *s = tl_lg_state_of(&sim->state);
    return nodes_of(sim, s ? s->push : NULL);
}
static tl_rows node_masses(const tl_sim *sim) { return (tl_rows){sim->lg.mass, sizeof(double), sim->lg.nodes}; }
static tl_rows node_bodies(const tl_sim *sim) { return (tl_rows){sim->lg.owner, sizeof(int32_t), sim->lg.nodes}; }
static tl_rows holds(const tl_sim *sim)
{
    const tl_lg_state *s = tl_lg_state_of(&sim->state);
    return (tl_rows){s ? s->hold : NULL, sizeof *s->hold, s ? s->holds : 0};
}

static tl_rows handles(const tl_sim *sim)
{
    const tl_lg_state *s = tl_lg_state_of(&sim->state);
    const int64_t own = sim->lg.bodies, count = s && s->handles > own ? s->handles - own : 0;
    return (tl_rows){count ? s->led + 14 * own + 7 : NULL, 14 * sizeof(double), count};
}
static tl_rows cables(const tl_sim *sim)
{
    const tl_lg_state *s = tl_lg_state_of(&sim->state);
    return (tl_rows){s ? s->length : NULL, sizeof(double), s ? s->cables : 0};
}
static tl_rows surface(const tl_sim *sim)
{
    return (tl_rows){sim->lg.surface, sizeof *sim->lg.surface, sim->lg.surface_triangles};
}
static tl_rows counted_surface(const tl_sim *sim) { return (tl_rows){NULL, 0, sim->lg.surface_triangles}; }
static tl_rows counted_nodes(const tl_sim *sim) { return (tl_rows){NULL, 0, sim->lg.nodes}; }

static void fill_surface_bodies(const tl_sim *sim, void *out)
{
    for (int b = 0; b < sim->lg.bodies; b++) {
        const tl_lg_body *body = &sim->lg.body[b];
        for (int32_t k = 0; k < body->triangles; k++) ((int32_t *)out)[body->triangle + k] = body->body;
    }
}
static void fill_node_ids(const tl_sim *sim, void *out)
{
    for (int32_t i = 0; i < sim->lg.nodes; i++) ((int32_t *)out)[i] = i;
}
static void fill_node_scene_bodies(const tl_sim *sim, void *out)
{
    for (int32_t i = 0; i < sim->lg.nodes; i++) ((int32_t *)out)[i] = sim->lg.body[sim->lg.owner[i]].body;
}

static void fill_node_momenta(const tl_sim *sim, void *out)
{
    const tl_lg_state *s = tl_lg_state_of(&sim->state);
    for (int64_t k = 0; k < 3 * (int64_t)sim->lg.nodes; k++)
        ((double *)out)[k] = sim->lg.mass[k / 3] * tl_lg_state_momentum(s, k);
}

/* ---- elements ---- */

static tl_rows elements(const tl_sim *sim)
{
    return (tl_rows){NULL, 0, tl_lg_state_of(&sim->state) ? tl_lg_element_count(&sim->lg) : 0};
}

typedef enum of_element { OF_NODES, OF_BODY, OF_VOLUME, OF_GRADIENT, OF_STRAIN, OF_STRESS } of_element;
typedef struct looked_at {
    const tl_sim *sim;
    const tl_elastic_data *fem; /* NULL: laws are those of lg */
    of_element what;
    void *out;
} looked_at;

static void store_symmetric(tl_mat3 A, double *out)
{
    const double list[6] = {A.m[0][0], A.m[1][1], A.m[2][2], A.m[0][1], A.m[1][2], A.m[2][0]};
    memcpy(out, list, sizeof list);
}

/* Force over area of now, world frame: P F^T / J. */
static tl_mat3 cauchy(const looked_at *l, const tl_lg_element *e)
{
    const tl_mat3 P = l->fem ? tl_mat3_scale(e->stiffer, tl_stable_stress(&l->fem->fem.body[e->body].law, e->F)) : e->P;
    const double J = tl_mat3_det(e->F);
    return tl_mat3_scale(J != 0 ? 1 / J : 0, tl_mat3_symmetric(tl_mat3_mul_t(P, e->F)));
}

static void look_at(void *user, int64_t i, const tl_lg_element *e)
{
    const looked_at *l = user;
    double *out = l->out;
    switch (l->what) {
    case OF_NODES: memcpy((int32_t *)l->out + 8 * i, e->node, sizeof e->node); break;
    case OF_BODY: ((int32_t *)l->out)[i] = l->sim->lg.body[e->body].body; break;
    case OF_VOLUME: out[i] = e->volume; break;
    case OF_GRADIENT: memcpy(out + 9 * i, e->F.m, sizeof e->F.m); break;
    case OF_STRAIN: /* Green's: (F^T F - 1) / 2 */
        store_symmetric(tl_mat3_scale(0.5, tl_mat3_sub(tl_mat3_tmul(e->F, e->F), tl_mat3_identity())), out + 6 * i);
        break;
    case OF_STRESS: store_symmetric(cauchy(l, e), out + 6 * i); break;
    }
}

static void fill_elements(const tl_sim *sim, of_element what, void *out)
{
    const bool grid = sim->scene->engine == TL_ENGINE_GRID;
    looked_at l = {sim, grid ? ((const tl_grid_data *)sim->engine_data)->elastic : NULL, what, out};
    tl_lg_each_element(&sim->lg, tl_lg_state_of(&sim->state)->q, look_at, &l);
}
static void fill_element_nodes(const tl_sim *sim, void *out) { fill_elements(sim, OF_NODES, out); }
static void fill_element_bodies(const tl_sim *sim, void *out) { fill_elements(sim, OF_BODY, out); }
static void fill_element_volumes(const tl_sim *sim, void *out) { fill_elements(sim, OF_VOLUME, out); }
static void fill_element_gradients(const tl_sim *sim, void *out) { fill_elements(sim, OF_GRADIENT, out); }
static void fill_element_strains(const tl_sim *sim, void *out) { fill_elements(sim, OF_STRAIN, out); }
static void fill_element_stresses(const tl_sim *sim, void *out) { fill_elements(sim, OF_STRESS, out); }

const tl_view tl_elastic_views[] = {
    {"nodes.position", TL_NUMBER_F64, 3, 0, node_places, NULL},
    {"nodes.velocity", TL_NUMBER_F64, 3, 0, node_velocities, NULL},
    {"nodes.momentum", TL_NUMBER_F64, 3, 0, counted_nodes, fill_node_momenta},
    {"nodes.mass", TL_NUMBER_F64, 1, 0, node_masses, NULL},
    {"nodes.push", TL_NUMBER_F64, 3, 0, node_pushes, NULL},
    {"nodes.body", TL_NUMBER_I32, 1, 0, node_bodies, NULL},
    {"nodes.scene_body", TL_NUMBER_I32, 1, 0, counted_nodes, fill_node_scene_bodies},
    {"nodes.id", TL_NUMBER_I32, 1, 0, counted_nodes, fill_node_ids},
    {"node_surface.triangle", TL_NUMBER_I32, 3, 0, surface, NULL},
    {"node_surface.body", TL_NUMBER_I32, 1, 0, counted_surface, fill_surface_bodies},
    {"elements.nodes", TL_NUMBER_I32, 8, 0, elements, fill_element_nodes},
    {"elements.body", TL_NUMBER_I32, 1, 0, elements, fill_element_bodies},
    {"elements.volume", TL_NUMBER_F64, 1, 0, elements, fill_element_volumes},
    {"elements.gradient", TL_NUMBER_F64, 9, 0, elements, fill_element_gradients},
    {"elements.strain", TL_NUMBER_F64, 6, 0, elements, fill_element_strains},
    {"elements.stress", TL_NUMBER_F64, 6, 0, elements, fill_element_stresses},
    {"holds.kind", TL_NUMBER_I32, 1, offsetof(tl_lg_hold, kind), holds, NULL},
    {"holds.number", TL_NUMBER_I32, 1, offsetof(tl_lg_hold, number), holds, NULL},
    {"holds.position", TL_NUMBER_F64, 3, offsetof(tl_lg_hold, at), holds, NULL},
    {"holds.force", TL_NUMBER_F64, 3, offsetof(tl_lg_hold, force), holds, NULL},
    {"holds.torque", TL_NUMBER_F64, 3, offsetof(tl_lg_hold, torque), holds, NULL},
    {"holds.tension", TL_NUMBER_F64, 1, offsetof(tl_lg_hold, tension), holds, NULL},
    {"handles.position", TL_NUMBER_F64, 3, 0, handles, NULL},
    {"handles.rotation", TL_NUMBER_F64, 4, 3 * sizeof(double), handles, NULL},
    {"cables.length", TL_NUMBER_F64, 1, 0, cables, NULL},
};
const int tl_elastic_view_count = (int)(sizeof tl_elastic_views / sizeof tl_elastic_views[0]);

/* ---- any view ---- */

static const tl_view *find_view(const tl_view *list, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(list[i].name, name)) return &list[i];
    return NULL;
}

const tl_view *tl_sim_view(const tl_sim *sim, const char *name)
{
    const tl_view *own = find_view(sim->engine->views, sim->engine->view_count, name);
    return own ? own : find_view(tl_elastic_views, tl_elastic_view_count, name);
}

tl_rows tl_sim_rows(const tl_sim *sim, const char *name)
{
    const tl_view *v = tl_sim_view(sim, name);
    if (!v) return (tl_rows){0};
    tl_rows r = v->rows(sim);
    if (r.data) r.data = (const char *)r.data + v->offset;
    return r;
}

size_t tl_view_row(const tl_view *v)
{
    const bool wide = v->type == TL_NUMBER_F64 || v->type == TL_NUMBER_I64;
    return (size_t)v->width * (wide ? 8 : 4);
}

void *tl_sim_pack(const tl_sim *sim, const tl_view *v)
{
    const tl_rows r = v->rows(sim);
    const size_t row = tl_view_row(v);
    char *out = tl_alloc(row * (size_t)r.count + 1);
    if (out && v->fill && r.count) v->fill(sim, out);
    for (int64_t i = 0; out && !v->fill && i < r.count; i++)
        memcpy(out + row * (size_t)i, (const char *)r.data + r.stride * (size_t)i + v->offset, row);
    return out;
}

/* ---- contacts ---- */

/* Of elastic contacts those that push: the search looks far ahead. */
static bool carries(const tl_lg_memory *c)
{
    const tl_vec3 f = tl_vec3_add(tl_vec3_load(c->force), tl_vec3_load(c->landed));
    return c->obstacle != TL_LG_MEMORY_ROW && (f.x != 0 || f.y != 0 || f.z != 0);
}

int64_t tl_sim_contacts(const tl_sim *sim, tl_contact_row *out)
{
    const tl_rigid_state *r = &sim->state.rigid;
    const tl_lg_state *nodes = tl_lg_state_of(&sim->state);
    int64_t n = r->contacts + r->impacts;
    for (int64_t i = 0; out && i < n; i++) {
        const tl_rigid_memory *c = i < r->contacts ? &r->contact[i] : &r->impact[i - r->contacts];
        tl_pose a = tl_rigid_pose(&sim->rigid.body[c->a], &r->body[c->a]); /* a < b: never a wall */
        out[i] = (tl_contact_row){tl_pose_apply(&a, c->at_a), c->normal, c->force, c->gap, {c->a, c->b}};
    }
    for (int64_t i = 0; nodes && i < nodes->contacts; i++) {
        const tl_lg_memory *c = &nodes->contact[i];
        if (!carries(c)) continue;
        if (out)
            out[n] = (tl_contact_row){tl_vec3_load(c->at),
                                      tl_vec3_load(c->normal),
                                      tl_vec3_add(tl_vec3_load(c->force), tl_vec3_load(c->landed)),
                                      c->gap,
                                      {c->body, c->other}};
        n++;
    }
    return n;
}
