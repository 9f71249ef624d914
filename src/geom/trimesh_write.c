#include "geom/trimesh.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/replace.h"
#include "base/text.h"

/* Numbers little endian, whatever the machine. */
static char *put32(char *to, uint32_t bits)
{
    for (int i = 0; i < 4; i++) *to++ = (char)(bits >> (8 * i) & 0xff);
    return to;
}
static char *put_float(char *to, double x)
{
    float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return put32(to, bits);
}
static char *put_double(char *to, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return put32(put32(to, (uint32_t)bits), (uint32_t)(bits >> 32));
}

static void write_obj(const tl_trimesh *m, FILE *f)
{
    for (int32_t i = 0; i < m->vertices; i++)
        fprintf(f, "v %.17g %.17g %.17g\n", m->vertex[i].x, m->vertex[i].y, m->vertex[i].z);
    for (int32_t t = 0; t < m->triangles; t++) {
        const int32_t *v = m->triangle[t];
        fprintf(f, "f %lld %lld %lld\n", v[0] + 1LL, v[1] + 1LL, v[2] + 1LL);
    }
}

static void write_ply(const tl_trimesh *m, FILE *f)
{
    fprintf(f,
            "ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty double x\nproperty double y\nproperty "
            "double z\n"
            "element face %d\nproperty list uchar int vertex_indices\nend_header\n",
            m->vertices, m->triangles);
    for (int32_t i = 0; i < m->vertices; i++) {
        char item[24];
        put_double(put_double(put_double(item, m->vertex[i].x), m->vertex[i].y), m->vertex[i].z);
        fwrite(item, sizeof item, 1, f);
    }
    for (int32_t t = 0; t < m->triangles; t++) {
        char item[13] = {3}, *to = item + 1;
        for (int k = 0; k < 3; k++) to = put32(to, (uint32_t)m->triangle[t][k]);
        fwrite(item, sizeof item, 1, f);
    }
}

static void write_stl(const tl_trimesh *m, FILE *f)
{
    char header[84] = "talus binary STL";
    put32(header + 80, (uint32_t)m->triangles);
    fwrite(header, sizeof header, 1, f);
    for (int32_t t = 0; t < m->triangles; t++) {
        tl_vec3 v[4];
        for (int k = 0; k < 3; k++) v[k + 1] = m->vertex[m->triangle[t][k]];
        v[0] = tl_vec3_normalize(tl_vec3_cross(tl_vec3_sub(v[2], v[1]), tl_vec3_sub(v[3], v[1])));
        char item[50] = {0}, *to = item;
        for (int k = 0; k < 4; k++) to = put_float(put_float(put_float(to, v[k].x), v[k].y), v[k].z);
        fwrite(item, sizeof item, 1, f);
    }
}

typedef struct writer {
    const char *ending;
    void (*write)(const tl_trimesh *, FILE *);
} writer;
static const writer writers[] = {{".obj", write_obj}, {".ply", write_ply}, {".stl", write_stl}};

static talus_status write_to(const tl_trimesh *m, const char *path, const char *temp, const writer *w, talus_error *err)
{
    FILE *f = fopen(temp, "wb");
    if (!f) return TL_FAIL(err, TALUS_IO, "%s: cannot write it: %s", path, strerror(errno));
    errno = 0;
    w->write(m, f);
    bool failed = ferror(f);
    int why = errno;
    if (fclose(f) != 0) {
        failed = true;
        why = errno;
    }
    return failed ? TL_FAIL(err, TALUS_IO, "%s: cannot write it: %s", path, strerror(why)) : TALUS_OK;
}

talus_status tl_trimesh_write(const tl_trimesh *m, const char *path, talus_error *err)
{
    const char *ending = strrchr(path, '.');
    const writer *w = NULL;
    for (size_t i = 0; ending && i < sizeof writers / sizeof writers[0]; i++)
        if (strcasecmp(ending, writers[i].ending) == 0) w = &writers[i];
    if (!w) return TL_FAIL(err, TALUS_BAD_INPUT, "%s: the name of a mesh file must end with .obj, .ply or .stl", path);

    tl_replace r;
    TL_TRY(tl_replace_begin(&r, path, err));
    tl_c_numbers numbers = tl_c_numbers_begin();
    talus_status status = write_to(m, path, r.temp, w, err);
    tl_c_numbers_end(numbers);
    if (status == TALUS_OK) return tl_replace_commit(&r, err);
    tl_replace_discard(&r);
    return status;
}
