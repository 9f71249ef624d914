/* Simple polygons in the plane: what revolved and extruded shapes are made of. Counter-clockwise, closed
 * from the last point to the first. Points are (x, y); a lathe profile has x = radius >= 0. */
#ifndef TL_GEOM_POLYGON_H
#define TL_GEOM_POLYGON_H

#include "base/status.h"
#include "math/vec.h"

#define TL_POLYGON_MAX 2000 /* the check for crossing edges is quadratic: 2000 points take some 10 ms */

/* Finite, no repeated neighbours, no crossing or touching edges, area > 0; a lathe profile also x >= 0. `what` opens
 * the message. */
talus_status tl_polygon_check(int n, const double (*v)[2], bool lathe, const char *what, talus_error *err);

double tl_polygon_area(int n, const double (*v)[2]); /* positive when counter-clockwise */

/* Exact signed distance, negative inside; gradient (unit) when g is not NULL. With `lathe`, edges on x = 0 are no
 * boundary. */
double tl_polygon_distance(int n, const double (*v)[2], bool lathe, double x, double y, double *g);

/* The shortest of the straight lines that leave an edge's middle inwards and end at another edge. */
double tl_polygon_thickness(int n, const double (*v)[2], bool lathe);

#endif
