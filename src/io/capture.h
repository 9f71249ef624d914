/* Captured problems: what a solver was asked, as a file that anyone can replay. Bug reports and
 * benchmarks use the same files. Format: docs/capture-format.md.
 *
 * Problems that are data can be captured: linear, boxqp, cone, contact, flex, pressure, and fixedpoint as far as it is
 * written down (tl_projected; callbacks cannot be). A problem on a split space is refused: gather it first. Operators
 * without explicit rows are written out by applying them to unit vectors, up to TL_CAPTURE_PROBE_MAX
 * unknowns. What is written is checked by the rules that reading applies, so a file that could not be
 * read is never made; what is read has the bits that were written. */
#ifndef TL_IO_CAPTURE_H
#define TL_IO_CAPTURE_H

#include "solve/boxqp/problem.h"
#include "solve/cone/problem.h"
#include "solve/contact/problem.h"
#include "solve/fixedpoint/problem.h"
#include "solve/flex/problem.h"
#include "solve/linear/problem.h"
#include "solve/pressure/problem.h"

/* n products of n rows: 20000 takes seconds for cheap operators and a few GB for full ones. */
#define TL_CAPTURE_PROBE_MAX 20000

#define TL_CAPTURE_NOTE_MAX 4095 /* bytes */

/* What goes with a problem; all optional. */
typedef struct tl_capture_info {
    const char *note;       /* free text: scene, step, what was odd */
    double tolerance;       /* the solve's target; NAN = not known */
    double certificate;     /* of the solution, as the run told it; 0 or NAN = not known */
    const double *x0;       /* [n] start vector */
    const double *solution; /* [n] */
} tl_capture_info;

/* info may be NULL. */
talus_status tl_capture_linear(const char *path, const tl_linear *p, const tl_capture_info *info, talus_error *err);
talus_status tl_capture_boxqp(const char *path, const tl_boxqp *p, const tl_capture_info *info, talus_error *err);
talus_status tl_capture_cone(const char *path, const tl_cone *p, const tl_capture_info *info, talus_error *err);
talus_status tl_capture_contact(const char *path, const tl_contact *p, const tl_capture_info *info, talus_error *err);
/* Without appended unknowns; bodies as U U^T. */
talus_status tl_capture_pressure(const char *path, const tl_pressure *p, const tl_capture_info *info, talus_error *err);
talus_status tl_capture_fixedpoint(const char *path, const tl_projected *p, const tl_capture_info *info,
                                   talus_error *err);
/* Unknown are impulses [3 contacts], then velocities [n + 6 rigid]: x0 and the solution have both. No factors. */
talus_status tl_capture_flex(const char *path, const tl_flex *p, const tl_capture_info *info, talus_error *err);

typedef enum tl_kind {
    TL_KIND_LINEAR,
    TL_KIND_BOXQP,
    TL_KIND_CONE,
    TL_KIND_CONTACT,
    TL_KIND_PRESSURE,
    TL_KIND_FIXEDPOINT,
    TL_KIND_FLEX
} tl_kind;

const char *tl_kind_name(tl_kind kind); /* "linear", "boxqp", "cone", "contact", "pressure", "fixedpoint", "flex" */

#define TL_CAPTURED_ARRAYS 16

/* A problem read from a file, with all that it points to. */
typedef struct tl_captured {
    tl_kind kind;
    /* the one of its kind is set */
    tl_linear linear;
    tl_boxqp boxqp;
    tl_cone cone;
    tl_contact contact;
    tl_pressure pressure;
    tl_projected projected;
    tl_fixedpoint fixedpoint; /* the same as callbacks */
    tl_flex flex;             /* its parts have no factor */

    double tolerance;       /* NAN when not in the file */
    double certificate;     /* NAN when not in the file */
    const double *x0;       /* [space.n], NULL when not in the file */
    const double *solution; /* [space.n], NULL when not in the file */
    char note[TL_CAPTURE_NOTE_MAX + 1];
    char version[64]; /* of the talus that wrote it; empty when not in the file */

    /* owned storage */
    tl_space space;
    tl_csr A;                /* W of a contact problem; H of all parts of a flex problem */
    tl_csr J;                /* of a contact problem with bodies, of a flex problem; U of a pressure's */
    tl_csr Jt, R;            /* of a flex problem; roots of all its parts */
    tl_flex_part *part;      /* [flex.parts] */
    tl_csr *H;               /* [2 flex.parts] of each part, then roots of each */
    tl_contact_box *box;     /* [flex.boxes] */
    double *moved;           /* [J.cols] scratch of U */
    int32_t *cells, *active; /* [9n] places and neighbours of a pressure; [contacts] */
    float *coefficient;      /* [8n] of a pressure */
    tl_contact_bodies bodies;
    struct {
        const char *name; /* as in the file */
        int64_t count;
        double *data;
    } array[TL_CAPTURED_ARRAYS];
    int arrays;
} tl_captured;

/* Files are not trusted: sizes, offsets, columns, values and each kind's own rules are checked. */
talus_status tl_capture_load(const char *path, tl_captured **out, talus_error *err);
void tl_captured_free(tl_captured *c); /* NULL is fine */

/* Matrix Market files PREFIX-A.mtx, PREFIX-b.mtx, ... one per matrix and array that the capture has. */
talus_status tl_captured_export(const tl_captured *c, const char *prefix, talus_error *err);

#endif
