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

/* A particle of any engine. */
typedef struct point {
    tl_vec3 x, v;
    double pressure, spacing;
    int32_t id, material;
} point;

static int by_material_and_id(const void *a, const void *b)
{
    const point *p = a, *q = b;
    return p->material != q->material ? (p->material > q->material) - (p->material < q->material)
                                      : (p->id > q->id) - (p->id < q->id);
}

/* Particles of the state in order, and one cloud per material. */
static talus_status add_matter(tl_clouds *c, const tl_sim *sim, talus_error *err)
{
    const tl_particles *g = &sim->state.grid.particles;
    const tl_sph_state *s = &sim->state.sph;
    int64_t n = 0;
    point *list = tl_alloc(sizeof *list * (size_t)(g->count + s->count + 1));
    if (!list)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to sort %lld particles", (long long)(g->count + s->count));
    for (int64_t i = 0; i < g->count; i++) {
        const tl_particle *p = &g->particle[i];
        list[n++] = (point){p->x, p->v, 0, cbrt(p->volume), p->id, p->material};
    }
    for (int64_t i = 0; i < s->count; i++) {
        const tl_sph_particle *p = &s->particle[i];
        list[n++] = (point){p->x, p->v, p->p, sim->sph.h, p->id, p->material};
    }
    qsort(list, (size_t)n, sizeof *list, by_material_and_id);
    for (int64_t i = 0; i < n; i++) {
        if (i == 0 || list[i].material != list[i - 1].material)
            c->cloud[c->clouds++] =
                (tl_scene_cloud){.at = c->at + i, .material = list[i].material, .spacing = list[i].spacing};
        add(c, list[i].x, list[i].v, list[i].pressure, list[i].id, list[i].material);
        c->cloud[c->clouds - 1].count++;
    }
    tl_free(list);
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

static void colour(tl_clouds *c, const tl_scene *s)
{
    tl_colour_by by = s->render.colour_by;
    if (by != TL_COLOUR_SPEED && by != TL_COLOUR_PRESSURE && by != TL_COLOUR_DENSITY) return;
    for (int64_t i = 0; i < c->count; i++)
        c->value[i] = by == TL_COLOUR_PRESSURE ? c->pressure[i]
                      : by == TL_COLOUR_DENSITY
                          ? (float)s->materials[c->material[i]].density
                          : hypotf(hypotf(c->velocity[i][0], c->velocity[i][1]), c->velocity[i][2]);
    for (int k = 0; k < c->clouds; k++) c->cloud[k].value = c->value + (c->cloud[k].at - c->at);
}

talus_status tl_clouds_gather(tl_clouds *out, const tl_sim *sim, bool surfaces, talus_error *err)
{
    int64_t most = sim->state.grid.particles.count + sim->state.sph.count +
                   (surfaces ? sim->sph.free_count + sim->sph.kinematic_count : 0);
    TL_TRY(make(out, most, sim->scene->material_count, err));
    talus_status status = add_matter(out, sim, err);
    if (status != TALUS_OK) {
        tl_clouds_free(out);
        return status;
    }
    colour(out, sim->scene);
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
