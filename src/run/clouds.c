#include "run/clouds.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/replace.h"
#include "base/text.h"
#include "io/vtk.h"
#include "model/grid/emit.h"

static talus_status make(tl_clouds *c, int64_t max, int materials, talus_error *err)
{
    size_t n = (size_t)max + 1;
    *c = (tl_clouds){.at = tl_alloc(sizeof *c->at * n),
                     .velocity = tl_alloc(sizeof *c->velocity * n),
                     .pressure = tl_alloc(sizeof *c->pressure * n),
                     .volume = tl_alloc(sizeof *c->volume * n),
                     .id = tl_alloc(sizeof *c->id * n),
                     .material = tl_alloc(sizeof *c->material * n),
                     .cloud = tl_alloc(sizeof *c->cloud * (size_t)(materials + 1)),
                     .value = tl_alloc(sizeof *c->value * n)};
    if (c->at && c->velocity && c->pressure && c->volume && c->id && c->material && c->cloud && c->value)
        return TALUS_OK;
    tl_clouds_free(c);
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a frame of %lld particles", (long long)max);
}

void tl_clouds_free(tl_clouds *c)
{
    tl_free(c->at);
    tl_free(c->velocity);
    tl_free(c->pressure);
    tl_free(c->volume);
    tl_free(c->id);
    tl_free(c->material);
    tl_free(c->cloud);
    tl_free(c->value);
    *c = (tl_clouds){0};
}

static void add(tl_clouds *c, tl_vec3 at, tl_vec3 v, double pressure, double volume, int32_t id, int32_t material)
{
    int64_t i = c->count++;
    c->at[i] = at;
    c->velocity[i][0] = (float)v.x, c->velocity[i][1] = (float)v.y, c->velocity[i][2] = (float)v.z;
    c->pressure[i] = (float)pressure;
    c->volume[i] = (float)volume;
    c->id[i] = id;
    c->material[i] = material;
}

/* Of the particles of a material, as the scene asks for it: the same for a state and for a frame that is read back. */
static double spacing_of(const tl_scene *s, int material)
{
    if (s->engine == TL_ENGINE_SPH) return s->sph.spacing;
    for (int i = 0; i < s->fill_count; i++)
        if (s->fills[i].material == material) return tl_spacing_of(s, s->fills[i].spacing);
    for (int i = 0; i < s->emitter_count; i++)
        if (s->emitters[i].material == material) return tl_spacing_of(s, s->emitters[i].spacing);
    return 0;
}

bool tl_clouds_expected(const tl_scene *s)
{
    return s->engine == TL_ENGINE_SPH || s->fill_count + s->emitter_count > 0;
}

/* A particle of any engine. */
typedef struct point {
    tl_vec3 x, v;
    double pressure, volume;
    int32_t id, material;
} point;

static int by_material_and_id(const void *a, const void *b)
{
    const point *p = a, *q = b;
    return p->material != q->material ? (p->material > q->material) - (p->material < q->material)
                                      : (p->id > q->id) - (p->id < q->id);
}

/* A number of row i of a view; 0: there is no such view. */
static double number_of(tl_rows r, int64_t i)
{
    return r.data ? *(const double *)((const char *)r.data + (size_t)i * r.stride) : 0;
}
static tl_vec3 vector_of(tl_rows r, int64_t i)
{
    return tl_vec3_load((const double *)((const char *)r.data + (size_t)i * r.stride));
}
static int32_t whole_of(tl_rows r, int64_t i)
{
    return *(const int32_t *)((const char *)r.data + (size_t)i * r.stride);
}

/* Pressures of all particles on the heap; *out NULL: the engine has none. */
static talus_status gather_pressures(const tl_sim *sim, double **out, talus_error *err)
{
    const tl_view *v = tl_sim_view(sim, "particles.pressure");
    *out = v ? tl_sim_pack(sim, v) : NULL;
    return v && !*out ? TL_FAIL(err, TALUS_NO_MEMORY, "no memory for pressures of particles") : TALUS_OK;
}

/* Particles of this process, on the heap. */
static talus_status list_points(const tl_sim *sim, point **out, int64_t *count, talus_error *err)
{
    tl_rows at = tl_sim_rows(sim, "particles.position"), v = tl_sim_rows(sim, "particles.velocity"),
            volume = tl_sim_rows(sim, "particles.volume"), id = tl_sim_rows(sim, "particles.id"),
            material = tl_sim_rows(sim, "particles.material");
    double *pressure;
    *out = NULL;
    *count = at.count;
    TL_TRY(gather_pressures(sim, &pressure, err));
    point *list = tl_alloc(sizeof *list * (size_t)(at.count + 1));
    if (!list) {
        tl_free(pressure);
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to sort %lld particles", (long long)at.count);
    }
    for (int64_t i = 0; i < at.count; i++)
        list[i] = (point){vector_of(at, i),     vector_of(v, i), pressure ? pressure[i] : 0,
                          number_of(volume, i), whole_of(id, i), whole_of(material, i)};
    tl_free(pressure);
    *out = list;
    return TALUS_OK;
}

/* Of all processes, on the first; the others keep none. */
static talus_status collect_points(const tl_comm *c, point **list, int64_t *count, talus_error *err)
{
    int64_t bytes[TL_COMM_PARTS_MAX], total = 0;
    const int64_t own = *count * (int64_t)sizeof **list;
    if (tl_comm_alone(c)) return TALUS_OK;
    tl_comm_share(c, sizeof own, &own, bytes);
    for (int32_t p = 0; p < c->parts; p++) total += bytes[p] / (int64_t)sizeof **list;
    if (c->part != 0) total = 0;
    point *all = tl_alloc(sizeof *all * (size_t)(total + 1));
    talus_status status =
        all ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a frame of %lld particles", (long long)total);
    status = tl_comm_agree(c, status, err);
    if (status != TALUS_OK) {
        tl_free(all);
        return status;
    }
    tl_comm_collect(c, bytes, *list, all);
    tl_free(*list);
    *list = all;
    *count = total;
    return TALUS_OK;
}

/* By material and id, and one cloud per material. */
static void add_matter(tl_clouds *c, const tl_scene *s, point *list, int64_t count)
{
    qsort(list, (size_t)count, sizeof *list, by_material_and_id);
    for (int64_t i = 0; i < count; i++) {
        if (i == 0 || list[i].material != list[i - 1].material)
            c->cloud[c->clouds++] = (tl_scene_cloud){
                .at = c->at + i, .material = list[i].material, .spacing = spacing_of(s, list[i].material)};
        add(c, list[i].x, list[i].v, list[i].pressure, list[i].volume, list[i].id, list[i].material);
        c->cloud[c->clouds - 1].count++;
    }
}

static talus_status add_samples(tl_clouds *c, const tl_sim *sim, int64_t count, talus_error *err)
{
    tl_sample *list = tl_alloc(sizeof *list * (size_t)(count + 1));
    if (!list) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld samples", (long long)count);
    if (count) sim->engine->samples(sim, list);
    for (int64_t i = 0; i < count; i++) add(c, list[i].at, list[i].v, 0, 0, list[i].id, -1 - list[i].body);
    tl_free(list);
    return TALUS_OK;
}

static void colour(tl_clouds *c, const tl_scene *s)
{
    tl_colour_by by = s->render.colour_by;
    if (by != TL_COLOUR_SPEED && by != TL_COLOUR_PRESSURE && by != TL_COLOUR_DENSITY) return;
    for (int64_t i = 0; i < c->count; i++)
        c->value[i] = by == TL_COLOUR_PRESSURE ? c->pressure[i]
                      : by == TL_COLOUR_DENSITY
                          ? (c->material[i] < 0 ? 0 : (float)s->materials[c->material[i]].density)
                          : hypotf(hypotf(c->velocity[i][0], c->velocity[i][1]), c->velocity[i][2]);
    for (int k = 0; k < c->clouds; k++) c->cloud[k].value = c->value + (c->cloud[k].at - c->at);
}

static talus_status fill_clouds(tl_clouds *out, const tl_sim *sim, int64_t samples, point *list, int64_t count,
                                talus_error *err)
{
    TL_TRY(make(out, count + samples, sim->scene->material_count, err));
    add_matter(out, sim->scene, list, count);
    colour(out, sim->scene);
    return add_samples(out, sim, samples, err);
}

talus_status tl_clouds_gather(tl_clouds *out, const tl_sim *sim, bool surfaces, talus_error *err)
{
    const tl_comm *c = sim->comm;
    const int64_t samples = surfaces && sim->engine->samples ? sim->engine->samples(sim, NULL) : 0;
    point *list;
    int64_t count;
    *out = (tl_clouds){0};
    talus_status status = tl_comm_agree(c, list_points(sim, &list, &count, err), err);
    if (status == TALUS_OK) status = collect_points(c, &list, &count, err);
    if (status == TALUS_OK) {
        if (tl_sim_tells(sim)) status = fill_clouds(out, sim, samples, list, count, err);
        status = tl_comm_agree(c, status, err);
    }
    tl_free(list);
    if (status != TALUS_OK) tl_clouds_free(out);
    return status;
}

talus_status tl_clouds_write(const char *path, const tl_clouds *c, double t, talus_error *err)
{
    tl_vtk_poly p = {.t = t,
                     .points = c->count,
                     .type = TL_NUMBER_F64,
                     .at = c->at,
                     .point_arrays = 5,
                     .point = {{"velocity", TL_NUMBER_F32, 3, c->velocity},
                               {"pressure", TL_NUMBER_F32, 1, c->pressure},
                               {"volume", TL_NUMBER_F32, 1, c->volume},
                               {"id", TL_NUMBER_I32, 1, c->id},
                               {"material", TL_NUMBER_I32, 1, c->material}}};
    return tl_vtk_write(path, &p, err);
}

/* ---- reading what was written above ---- */

#define HEADER 8192 /* bytes: the text before the numbers is below 2000 */

/* Numbers of the appended block of one array. */
static bool read_block(FILE *f, const char *header, long data, const char *name, uint64_t bytes, void *out)
{
    char key[64];
    uint64_t offset, there;
    snprintf(key, sizeof key, "Name=\"%s\" NumberOfComponents=", name);
    const char *at = strstr(header, key);
    at = at ? strstr(at, "offset=\"") : NULL;
    return at && sscanf(at + strlen("offset=\""), "%" SCNu64, &offset) == 1 &&
           fseek(f, data + (long)offset, SEEK_SET) == 0 && fread(&there, sizeof there, 1, f) == 1 && there == bytes &&
           (bytes == 0 || fread(out, bytes, 1, f) == 1);
}

/* They are sorted by material; samples on bodies come last. */
static bool find_clouds(tl_clouds *c, const tl_scene *s)
{
    for (int64_t i = 0; i < c->count && c->material[i] >= 0; i++) {
        if (c->material[i] >= s->material_count) return false;
        if (i > 0 && c->material[i] < c->material[i - 1]) return false;
        if (i == 0 || c->material[i] != c->material[i - 1])
            c->cloud[c->clouds++] =
                (tl_scene_cloud){.at = c->at + i, .material = c->material[i], .spacing = spacing_of(s, c->material[i])};
        c->cloud[c->clouds - 1].count++;
    }
    return true;
}

static talus_status read_file(tl_clouds *out, FILE *f, const char *path, const tl_scene *s, talus_error *err)
{
    static const char begin[] = "<AppendedData encoding=\"raw\">\n_", count[] = "NumberOfPoints=\"";
    char header[HEADER + 1];
    size_t n = fread(header, 1, HEADER, f);
    for (size_t i = 0; i < n; i++)
        if (!header[i]) header[i] = ' '; /* numbers behind the text */
    header[n] = 0;
    const char *data = strstr(header, begin), *points = strstr(header, count);
    int64_t total = -1;
    if (!data || !points || sscanf(points + strlen(count), "%" SCNd64, &total) != 1 || total < 0 || total > INT32_MAX)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%.300s is not a file of particles", path);
    long start = (long)(data - header + (ptrdiff_t)strlen(begin));
    TL_TRY(make(out, total, s->material_count, err));
    out->count = total;
    uint64_t k = (uint64_t)total;
    if (read_block(f, header, start, "points", 24 * k, out->at) &&
        read_block(f, header, start, "velocity", 12 * k, out->velocity) &&
        read_block(f, header, start, "pressure", 4 * k, out->pressure) &&
        read_block(f, header, start, "id", 4 * k, out->id) &&
        read_block(f, header, start, "material", 4 * k, out->material) && find_clouds(out, s)) {
        if (!read_block(f, header, start, "volume", 4 * k, out->volume)) /* earlier versions did not write it */
            memset(out->volume, 0, sizeof *out->volume * (size_t)total);
        colour(out, s);
        return TALUS_OK;
    }
    tl_clouds_free(out);
    return TL_FAIL(err, TALUS_BAD_INPUT, "%.300s does not hold the particles of this scene", path);
}

talus_status tl_clouds_read(tl_clouds *out, const char *path, const tl_scene *s, talus_error *err)
{
    *out = (tl_clouds){0};
    FILE *f = tl_file_reader(path);
    if (!f && errno == ENOENT) return TALUS_OK;
    if (!f) return TL_FAIL(err, TALUS_IO, "cannot read %.300s: %s", path, tl_file_reason());
    talus_status status = read_file(out, f, path, s, err);
    fclose(f);
    return status;
}

/* ---- for other programs ---- */

static void put_ply(const tl_clouds *c, FILE *f)
{
    fprintf(f,
            "ply\nformat binary_little_endian 1.0\nelement vertex %" PRId64
            "\nproperty double x\nproperty double y\nproperty double z\nproperty float vx\nproperty float vy\nproperty "
            "float vz\nproperty int id\nproperty int material\nend_header\n",
            c->count);
    for (int64_t i = 0; i < c->count; i++) {
        fwrite(&c->at[i], sizeof c->at[i], 1, f);
        fwrite(c->velocity[i], sizeof c->velocity[i], 1, f);
        fwrite(&c->id[i], sizeof c->id[i], 1, f);
        fwrite(&c->material[i], sizeof c->material[i], 1, f);
    }
}

static void put_obj(const tl_clouds *c, FILE *f)
{
    tl_c_numbers numbers = tl_c_numbers_begin();
    for (int64_t i = 0; i < c->count; i++) fprintf(f, "v %.9g %.9g %.9g\n", c->at[i].x, c->at[i].y, c->at[i].z);
    for (int64_t i = 0; i < c->count; i++) fprintf(f, "p %" PRId64 "\n", i + 1);
    tl_c_numbers_end(numbers);
}

static talus_status write_points(const char *path, const tl_clouds *c, void (*put)(const tl_clouds *, FILE *),
                                 talus_error *err)
{
    tl_replace r;
    TL_TRY(tl_replace_begin(&r, path, err));
    FILE *f = fopen(r.temp, "wb");
    bool good = f != NULL;
    if (f) {
        put(c, f);
        good = fflush(f) == 0 && !ferror(f);
        good &= fclose(f) == 0;
    }
    if (good) return tl_replace_commit(&r, err);
    talus_status status = TL_FAIL(err, TALUS_IO, "%.300s: cannot write it: %s", path, strerror(errno));
    tl_replace_discard(&r);
    return status;
}

talus_status tl_clouds_write_ply(const char *path, const tl_clouds *c, talus_error *err)
{
    return write_points(path, c, put_ply, err);
}

talus_status tl_clouds_write_obj(const char *path, const tl_clouds *c, talus_error *err)
{
    return write_points(path, c, put_obj, err);
}
