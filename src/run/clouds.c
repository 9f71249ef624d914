#include "run/clouds.h"

#include "base/alloc.h"
#include "io/vtk.h"

bool tl_clouds_present(const tl_scene *s) { return s->fill_count + s->emitter_count > 0; }

void tl_clouds_free(tl_clouds *c)
{
    tl_free(c->cloud);
    tl_free(c->at);
    tl_free(c->velocity);
    tl_free(c->value);
    tl_free(c->id);
    tl_free(c->material);
    *c = (tl_clouds){0};
}

static talus_status make_room(tl_clouds *c, const tl_scene *s, int64_t points, talus_error *err)
{
    size_t n = (size_t)points + 1;
    c->points = points;
    c->cloud = TL_NEW_ZERO(tl_scene_cloud, s->material_count + 1);
    c->at = TL_NEW(tl_vec3, n);
    c->velocity = tl_alloc(sizeof *c->velocity * n);
    c->id = TL_NEW(int32_t, n);
    c->material = TL_NEW(int32_t, n);
    bool field = s->render.colour_by == TL_COLOUR_SPEED || s->render.colour_by == TL_COLOUR_DENSITY;
    if (field) c->value = TL_NEW(float, n);
    if (c->cloud && c->at && c->velocity && c->id && c->material && (c->value || !field)) return TALUS_OK;
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to show %lld particles", (long long)points);
}

static double spacing_of(const tl_particle *p) { return cbrt(p->volume); }

static void add_material(tl_clouds *c, const tl_scene *s, const tl_particles *p, int material, int64_t *at)
{
    int64_t begin = *at;
    double spacing = 0;
    for (int64_t i = 0; i < p->count; i++) {
        const tl_particle *q = &p->particle[i];
        if (q->material != material) continue;
        c->at[*at] = q->x;
        c->velocity[*at][0] = (float)q->v.x;
        c->velocity[*at][1] = (float)q->v.y;
        c->velocity[*at][2] = (float)q->v.z;
        c->id[*at] = q->id;
        c->material[*at] = material;
        if (c->value)
            c->value[*at] =
                (float)(s->render.colour_by == TL_COLOUR_SPEED ? tl_vec3_norm(q->v) : s->materials[material].density);
        if (*at == begin) spacing = spacing_of(q);
        (*at)++;
    }
    if (*at > begin)
        c->cloud[c->count++] = (tl_scene_cloud){(int32_t)(*at - begin), c->at + begin,
                                                c->value ? c->value + begin : NULL, material, spacing};
}

talus_status tl_clouds_of(tl_clouds *out, const tl_sim *sim, talus_error *err)
{
    const tl_particles *p = &sim->state.grid.particles;
    *out = (tl_clouds){0};
    talus_status status = make_room(out, sim->scene, p->count, err);
    int64_t at = 0;
    for (int m = 0; m < sim->scene->material_count && status == TALUS_OK; m++) add_material(out, sim->scene, p, m, &at);
    if (status != TALUS_OK) tl_clouds_free(out);
    return status;
}

talus_status tl_clouds_write_vtk(const char *path, const tl_sim *sim, talus_error *err)
{
    tl_clouds c;
    TL_TRY(tl_clouds_of(&c, sim, err));
    float *at = TL_NEW(float, 3 * (size_t)c.points + 1);
    talus_status status =
        at ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory to write %lld particles", (long long)c.points);
    if (at) {
        for (int64_t i = 0; i < c.points; i++) {
            at[3 * i] = (float)c.at[i].x;
            at[3 * i + 1] = (float)c.at[i].y;
            at[3 * i + 2] = (float)c.at[i].z;
        }
        tl_vtk_poly p = {.t = sim->state.t,
                         .points = c.points,
                         .type = TL_NUMBER_F32,
                         .at = at,
                         .point_arrays = 3,
                         .point = {{"velocity", TL_NUMBER_F32, 3, c.velocity},
                                   {"id", TL_NUMBER_I32, 1, c.id},
                                   {"material", TL_NUMBER_I32, 1, c.material}}};
        status = tl_vtk_write(path, &p, err);
    }
    tl_free(at);
    tl_clouds_free(&c);
    return status;
}
