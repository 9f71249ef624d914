/* The particles of a state as plain arrays, for frames and pictures: whatever engine moves them. */
#ifndef TL_RUN_CLOUDS_H
#define TL_RUN_CLOUDS_H

#include "phase/sim.h"
#include "render/scene_picture.h"

typedef struct tl_clouds {
    int64_t count;
    tl_vec3 *at; /* [count] sorted by material, then by id */
    float (*velocity)[3];
    float *pressure; /* Pa; of surface samples 0 */
    float *volume;   /* m^3; of surface samples 0 */
    int32_t *id;
    int32_t *material; /* the scene's; of surface samples -1 - body */
    int clouds;        /* of liquid, one per material that is there */
    tl_scene_cloud *cloud;
    float *value; /* [count] of what render.colour_by names */
} tl_clouds;

/* Whether frames of this scene have particles, be it none of them yet. */
bool tl_clouds_expected(const tl_scene *s);
/* surfaces: also the samples on bodies that move. Of several parts all particles on the first, none on the others:
 * collective, and a failure is everybody's. */
talus_status tl_clouds_gather(tl_clouds *out, const tl_sim *sim, bool surfaces, talus_error *err);
void tl_clouds_free(tl_clouds *c); /* leaves {0} */

/* frames/particles-NNNN.vtp: points with velocity, pressure, volume, id, material. */
talus_status tl_clouds_write(const char *path, const tl_clouds *c, double t, talus_error *err);
/* The same file read back, by name; clouds are those of the scene's materials, and samples on bodies are in none of
 * them. A file that is not there has no particles. */
talus_status tl_clouds_read(tl_clouds *out, const char *path, const tl_scene *s, talus_error *err);
/* Binary PLY for other programs: x y z (double), vx vy vz (float), id and material (int). */
talus_status tl_clouds_write_ply(const char *path, const tl_clouds *c, talus_error *err);
/* Points of a Wavefront file: places alone, the format has no room for more. */
talus_status tl_clouds_write_obj(const char *path, const tl_clouds *c, talus_error *err);

#endif
