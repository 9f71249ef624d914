/* Pressure on surfaces of elastic bodies: p times the area, along the normal of where the surface is now, a third of
 * every triangle's at each of its corners. Where the surface is sealed these forces are the slope of p times the
 * volume: they add no momentum, turn nothing, and their curvature is symmetric. At a rim it is not, and corrections
 * take its symmetric part. Faces of hexahedra are cut along both diagonals, each cut with half of the pressure, so
 * that a flat face loads its corners alike and a box under pressure is strained alike everywhere. A face counts
 * where all its corners do. Forces and work are in lg.h. */
#ifndef TL_MODEL_LG_PRESSURE_H
#define TL_MODEL_LG_PRESSURE_H

#include "model/lg/lg.h"

/* loaded, sealed, inside_out of what has been made. */
talus_status tl_lg_press_begin(tl_lg *lg, int parts, const tl_lg_part *part, talus_error *err);
/* Pressure on each of the triangles, along the order of their corners. */
double tl_lg_loaded_with(const tl_lg_body *b, double pressure);

#endif
