/* Surfaces and clouds of points for ParaView and other readers of VTK's XML files, and the list of a run's files with
 * their times.
 *
 * One PolyData per file: appended raw binary, 64-bit headers, the machine's (little) endianness; complete or absent.
 * What the arrays mean is the caller's. The time is in the field data as TimeValue, which readers know. */
#ifndef TL_IO_VTK_H
#define TL_IO_VTK_H

#include "model/state.h"

/* One value of `components` numbers per point or cell, tightly packed. */
typedef struct tl_vtk_array {
    const char *name;
    tl_number type;
    int components;
    const void *data;
} tl_vtk_array;

#define TL_VTK_ARRAYS 16

typedef struct tl_vtk_poly {
    double t;
    int64_t points;
    tl_number type; /* of `at`: TL_NUMBER_F32 or TL_NUMBER_F64 */
    const void *at; /* [points][3] */
    int64_t triangles;
    const int32_t (*triangle)[3]; /* NULL: a cloud, all of it one cell of points */
    int point_arrays, cell_arrays;
    tl_vtk_array point[TL_VTK_ARRAYS], cell[TL_VTK_ARRAYS]; /* cells: the triangles */
    int field_arrays;                                       /* in the field data, of field_count values each */
    int64_t field_count;
    tl_vtk_array field[TL_VTK_ARRAYS];
    int64_t names;
    const char *const *name; /* [names] of what ids refer to, in the field data; NULL: none */
} tl_vtk_poly;

talus_status tl_vtk_write(const char *path, const tl_vtk_poly *p, talus_error *err);

/* run.pvd: for every frame from 0 to `frames` the files frames/GROUP-NNNN.vtp of each group. */
talus_status tl_vtk_write_list(const char *path, int64_t frames, double fps, int groups, const char *const *group,
                               talus_error *err);

/* "DIR/frames/bodies-0012.vtp" for ("DIR/frames", "bodies", 12, "vtp"): one rule for frames, images and kept
 * checkpoints. */
void tl_frame_path(char *out, size_t room, const char *folder, const char *group, int64_t frame, const char *ending);

#endif
