#include "run/clouds.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "io/vtk.h"

static talus_status make(tl_clouds *c, int64_t most, int materials, talus_error *err)
{
    size_t n = (size_t)most + 1;
    *c = (tl_clouds){.at = tl_alloc(sizeof *c->at * n),
                     .velocity = tl_alloc(sizeof *c->velocity * n),
                     .pressure = tl_alloc(sizeof *c->pressure * n),
                     .id = tl_alloc(sizeof *c->id * n),
                     .material = tl_alloc(sizeof *c->material * n),
                     .cloud = tl_alloc(sizeof *c->cloud * (size_t)(materials + 1)),
                     .value = tl_alloc(sizeof *c->value * n)};
    if (c->at && c->velocity && c->pressure && c->id && c->material && c->cloud && c->value) return TALUS_OK;
    tl_clouds_free(c);
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a frame of %lld particles", (long long)most);
}

void tl_clouds_free(tl_clouds *c)
{
    tl_free(c->at);
    tl_free(c->velocity);
    tl_free(c->pressure);
    tl_free(c->id);
    tl_free(c->material);
    tl_free(c->cloud);
    tl_free(c->value);
    *c = (tl_clouds){0};
}

static void add(tl_clouds *c, tl_vec3 at, tl_vec3 v, double pressure, int32_t id, int32_t material)
{
    int64_t i = c->count++;
    c->at[i] = at;
    c->velocity[i][0] = (float)v.x, c->velocity[i][1] = (float)v.y, c->velocity[i][2] = (float)v.z;
    c->pressure[i] = (float)pressure;
    c->id[i] = id;
    c->material[i] = material;
}

static int by_material_and_id(const void *a, const void *b)
{
    const tl_sph_particle *p = *(const tl_sph_particle *const *)a, *q = *(const tl_sph_particle *const *)b;
    return p->material != q->material ? (p->material > q->material) - (p->material < q->material)
                                      : (p->id > q->id) - (p->id < q->id);
}

static talus_status add_liquid(tl_clouds *c, const tl_sph_state *s, talus_error *err)
{
    const tl_sph_particle **order = tl_alloc(sizeof *order * (size_t)(s->count + 1));
    if (!order) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to sort %lld particles", (long long)s->count);
    for (int64_t i = 0; i < s->count; i++) order[i] = &s->particle[i];
    qsort(order, (size_t)s->count, sizeof *order, by_material_and_id);
    for (int64_t i = 0; i < s->count; i++)
        add(c, order[i]->x, order[i]->v, order[i]->p, order[i]->id, order[i]->material);
    tl_free(order);
    return TALUS_OK;
}

static void add_surfaces(tl_clouds *c, const tl_sim *sim)
{
    const tl_sph *sph = &sim->sph;
    for (int32_t b = 0; b < sim->rigid.scene_count; b++) {
        if (sim->rigid.body[b].kind == TL_BODY_STATIC) continue;
        const tl_motion *m = &sim->state.rigid.body[b];
        const tl_sph_surface *f = &sph->surface[sph->body[b].surface];
        tl_pose pose = tl_rigid_pose(&sim->rigid.body[b], m);
        for (int32_t i = 0; i < f->count; i++) {
            tl_vec3 at = tl_pose_apply(&pose, f->at[i]);
            tl_vec3 v = tl_vec3_add(m->v, tl_vec3_cross(m->w, tl_vec3_sub(at, m->x)));
            add(c, at, v, 0, sph->body[b].first + i, -1 - b);
        }
    }
}

/* Runs of one material, and what they are coloured by. */
static void group(tl_clouds *c, const tl_sim *sim)
{
    tl_colour_by by = sim->scene->render.colour_by;
    bool valued = by == TL_COLOUR_SPEED || by == TL_COLOUR_PRESSURE;
    for (int64_t i = 0; i < c->count; i++)
        c->value[i] = by == TL_COLOUR_PRESSURE
                          ? c->pressure[i]
                          : hypotf(hypotf(c->velocity[i][0], c->velocity[i][1]), c->velocity[i][2]);
    for (int64_t i = 0; i < c->count;) {
        int64_t begin = i;
        while (i < c->count && c->material[i] == c->material[begin]) i++;
        c->cloud[c->clouds++] = (tl_scene_cloud){.count = (int32_t)(i - begin),
                                                 .at = c->at + begin,
                                                 .value = valued ? c->value + begin : NULL,
                                                 .material = c->material[begin],
                                                 .spacing = sim->sph.h};
    }
}

talus_status tl_clouds_gather(tl_clouds *out, const tl_sim *sim, bool surfaces, talus_error *err)
{
    int64_t most = sim->state.sph.count + (surfaces ? sim->sph.free_count + sim->sph.kinematic_count : 0);
    TL_TRY(make(out, most, sim->scene->material_count, err));
    talus_status status = add_liquid(out, &sim->state.sph, err);
    if (status != TALUS_OK) {
        tl_clouds_free(out);
        return status;
    }
    group(out, sim);
    if (surfaces) add_surfaces(out, sim);
    return TALUS_OK;
}

talus_status tl_clouds_write(const char *path, const tl_clouds *c, double t, talus_error *err)
{
    tl_vtk_poly p = {.t = t,
                     .points = c->count,
                     .type = TL_NUMBER_F64,
                     .at = c->at,
                     .point_arrays = 4,
                     .point = {{"velocity", TL_NUMBER_F32, 3, c->velocity},
                               {"pressure", TL_NUMBER_F32, 1, c->pressure},
                               {"id", TL_NUMBER_I32, 1, c->id},
                               {"material", TL_NUMBER_I32, 1, c->material}}};
    return tl_vtk_write(path, &p, err);
}
