#include <string.h>

#include "base/alloc.h"
#include "math/perm.h"
#include "model/elastic/material.h"
#include "model/lg/holds.h"
#include "model/lg/whole.h"
#include "phase/elastic/elastic.h"
#include "solve/flex/route.h"

#define NOISE 1e-14 /* of volume times modulus: rounding of an element's energy */

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for elastic bodies");
}

static bool is_elastic(const tl_scene *s, int body)
{
    return s->bodies[body].material >= 0 && s->materials[s->bodies[body].material].kind == TL_MATERIAL_ELASTIC;
}

bool tl_scene_bends(const tl_scene *s)
{
    for (int i = 0; i < s->body_count; i++)
        if (is_elastic(s, i)) return true;
    return false;
}

/* Anchors of bodies and handles that have a weight are springs; the others hold their nodes. */
static talus_status find_soft(const tl_lg *lg, const tl_scene *s, bool **out, talus_error *err)
{
    bool *soft = *out = TL_NEW_ZERO(bool, lg->anchors + 1);
    if (!soft) return no_memory(err);
    for (int32_t k = 0; k < lg->anchors; k++) {
        int handle = lg->anchor[k].handle;
        soft[k] = handle < lg->bodies ? s->bodies[lg->body[handle].body].anchor_weight > 0
                                      : s->handles[handle - lg->bodies].weight > 0;
    }
    return TALUS_OK;
}

static talus_status make_elements(tl_elastic_data *k, tl_sim *sim, tl_fem_part *part, talus_error *err)
{
    const tl_scene *s = sim->scene;
    for (int b = 0; b < sim->lg.bodies; b++) {
        const tl_material *m = &s->materials[s->bodies[sim->lg.body[b].body].material];
        tl_stable_form form = m->model == TL_ELASTIC_STABLE_NEO_HOOKEAN_NOLOG ? TL_STABLE_NOLOG : TL_STABLE_LOG;
        const tl_body *asked = &s->bodies[sim->lg.body[b].body];
        bool cells = asked->cells[0] > 0;
        part[b] = (tl_fem_part){.law = tl_stable_make(form, m->young, m->poisson),
                                .young = m->young,
                                .poisson = m->poisson,
                                .damping = m->damping};
        k->damps |= m->damping > 0;
        part[b].kind = s->fem.elements == TL_ELEMENTS_TETS ? TL_FEM_TETS : TL_FEM_SMOOTHED;
        if (cells && s->fem.elements == TL_ELEMENTS_AUTO) part[b].kind = TL_FEM_HEX;
        memcpy(part[b].cells, asked->cells, sizeof part[b].cells);
        if (part[b].kind == TL_FEM_HEX) tl_fem_lump(&sim->lg, b, asked->cells);
        k->noise += NOISE * sim->lg.body[b].volume * (part[b].law.mu + part[b].law.lam);
    }
    bool *soft = NULL;
    talus_status status = find_soft(&sim->lg, s, &soft, err);
    if (status == TALUS_OK) status = tl_fem_create(&k->fem, &sim->lg, part, soft, err);
    tl_free(soft);
    return status;
}

static talus_status number_unknowns(tl_elastic_data *k, const tl_lg *lg, talus_error *err)
{
    k->first = TL_NEW_ZERO(int64_t, k->fem.bodies + 1);
    if (!k->first) return no_memory(err);
    for (int b = 0; b < k->fem.bodies; b++) k->first[b + 1] = k->first[b] + 3 * (int64_t)k->fem.body[b].unknown;
    k->mass = TL_NEW(double, k->first[k->fem.bodies] + 1);
    k->roots = TL_NEW_ZERO(tl_csr, k->fem.bodies + 1);
    if (!k->mass || !k->roots) return no_memory(err);
    for (int32_t i = 0; i < lg->nodes; i++)
        for (int c = 0; c < 3 && k->fem.place[i] >= 0; c++)
            k->mass[k->first[lg->owner[i]] + 3 * (int64_t)k->fem.place[i] + c] = lg->mass[i];
    return TALUS_OK;
}

static talus_status analyse(tl_elastic_data *k, const tl_scene *s, talus_error *err)
{
    const char *asked = s->solver.elastic.method;
    k->route = tl_flex_route_find(asked && asked[0] ? asked : "schur");
    TL_ASSERT(k->route);
    if ((k->route->needs & TL_FLEX_ROOTS) && k->damps)
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "solver.elastic = \"%s\" has no roots for damping; leave damping out or take another",
                       k->route->name);
    k->schur = k->route == tl_flex_route_find("schur") || (k->route->needs & TL_FLEX_LAST);
    bool last = k->route->needs & TL_FLEX_LAST;
    TL_TRY(tl_flex_data_create(&k->flex, err));
    k->factor = TL_NEW_ZERO(tl_factor *, k->fem.bodies + 1);
    if (!k->factor) return no_memory(err);
    if (last) {
        k->order = TL_NEW(int32_t, k->first[k->fem.bodies] + 1);
        k->perm = TL_NEW(int32_t, k->first[k->fem.bodies] + 1);
        if (!k->order || !k->perm) return no_memory(err);
    }
    for (int b = 0; b < k->fem.bodies; b++) {
        tl_factor_options options = tl_factor_options_default();
        if (last) {
            TL_TRY(tl_perm_order(TL_ORDER_METIS, &k->fem.body[b].A, k->order + k->first[b], err));
            memcpy(k->perm + k->first[b], k->order + k->first[b],
                   sizeof *k->perm * (size_t)(k->first[b + 1] - k->first[b]));
            options.order = TL_ORDER_GIVEN;
            options.perm = k->perm + k->first[b];
        }
        TL_TRY(tl_factor_create(&k->factor[b], &options, err));
        if (k->route->needs & TL_FLEX_FACTOR) TL_TRY(tl_factor_analyse(k->factor[b], &k->fem.body[b].A, err));
    }
    return TALUS_OK;
}

static talus_status begin(tl_elastic_data *k, tl_sim *sim, talus_error *err)
{
    TL_TRY(tl_lg_from_scene(&sim->lg, sim->scene, &sim->log, err));
    tl_lg_state *nodes = tl_state_add(&sim->state, &tl_lg_state_kind);
    if (!nodes) return no_memory(err);
    TL_TRY(tl_lg_state_begin(nodes, &sim->lg, err));
    TL_TRY(tl_lg_holds_begin(nodes, &sim->lg, sim->scene, err));
    tl_fem_part *part = TL_NEW(tl_fem_part, sim->lg.bodies);
    talus_status status = part ? make_elements(k, sim, part, err) : no_memory(err);
    tl_free(part);
    if (status != TALUS_OK) return status;
    TL_TRY(tl_lg_give_centres(&sim->lg, sim->scene, &sim->rigid, &sim->state.rigid, err));
    k->midpoint = sim->scene->fem.integrator == 1;
    TL_TRY(number_unknowns(k, &sim->lg, err));
    return analyse(k, sim->scene, err);
}

talus_status tl_elastic_begin(tl_sim *sim, tl_elastic_data **out, talus_error *err)
{
    tl_elastic_data *k = *out = TL_NEW_ZERO(tl_elastic_data, 1);
    if (!k) return no_memory(err);
    talus_status status = begin(k, sim, err);
    if (status == TALUS_OK) return TALUS_OK;
    tl_elastic_end(k);
    *out = NULL;
    return status;
}

void tl_elastic_end(tl_elastic_data *k)
{
    if (!k) return;
    for (int b = 0; b < k->fem.bodies && k->factor; b++) tl_factor_free(k->factor[b]);
    for (int b = 0; b < k->fem.bodies && k->drag; b++) tl_factor_free(k->drag[b]);
    for (int b = 0; b < k->fem.bodies && k->roots; b++) tl_csr_free(&k->roots[b]);
    void *const blocks[] = {k->factor, k->drag, k->first, k->mass, k->roots, k->order, k->perm};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) tl_free(blocks[i]);
    tl_flex_data_free(k->flex);
    tl_fem_free(&k->fem);
    tl_free(k);
}
