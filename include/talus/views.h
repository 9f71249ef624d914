/* Views: arrays of a simulation, by name. docs/views.md lists all of them with units and shapes; it is made from the
 * table that this interface reads (`talus check --views`).
 *
 *     talus_view v;
 *     talus_sim_view(sim, "particles.position", &v, &err);
 *     for (int64_t i = 0; i < v.count; i++) {
 *         const double *x = talus_view_row(&v, i);
 *         ...
 *     }
 *
 * Where numbers lie in memory as they are shown, a view points at them; others are computed when a view of them is
 * taken, and kept until the state changes. */
#ifndef TALUS_VIEWS_H
#define TALUS_VIEWS_H

#include <stddef.h>
#include <stdint.h>
#include <talus/export.h>
#include <talus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct talus_sim talus_sim;

typedef enum talus_type { TALUS_FLOAT64, TALUS_FLOAT32, TALUS_INT32, TALUS_INT64 } talus_type;

/* An array inside of the simulation: `count` items of `components` numbers, `stride` bytes from item to item. Valid
 * until the next step, setting, restore or free. */
typedef struct talus_view {
    const void *data;
    int64_t count;
    int components;
    talus_type type;
    size_t stride;
} talus_view;

/* What is known about a view without a simulation. Texts live as long as the library. */
typedef struct talus_view_info {
    const char *name; /* "particles.position" */
    const char *unit; /* "m"; "" of whole numbers and shares */
    const char *help;
    const char *engines; /* "all", "grid, sph": where it can have rows */
    const char *frame;   /* the same numbers in frames/: "particles: velocity"; "": not there */
    talus_type type;
    int components;
    int computed; /* 1: made when it is looked at; 0: points into the state */
} talus_view_info;

/* An unknown name is bad input, and the message has the nearest one. A view of what this simulation has none of is
 * there, with no rows. */
TALUS_API talus_status talus_sim_view(talus_sim *sim, const char *name, talus_view *out, talus_error *err);
/* Row i, or NULL when there is none. */
static inline const void *talus_view_row(const talus_view *v, int64_t i)
{
    return v && v->data && i >= 0 && i < v->count ? (const char *)v->data + (size_t)i * v->stride : NULL;
}
/* Goes up whenever views may have become stale. */
TALUS_API uint64_t talus_sim_generation(const talus_sim *sim);

TALUS_API const char *talus_sim_view_name(int i);              /* i = 0, 1, ... until NULL */
TALUS_API int talus_view_info_at(int i, talus_view_info *out); /* the same; 0: no such view */
TALUS_API void talus_view_reference(void (*write)(void *user, const char *text), void *user); /* docs/views.md */

#ifdef __cplusplus
}
#endif
#endif
