/* How fine elastic bodies are meshed when a scene does not say, and what that costs: before anything is meshed. */
#ifndef TL_MODEL_LG_PLAN_H
#define TL_MODEL_LG_PLAN_H

#include "scene/scene.h"

/* m. Engine "lg": where the volume is right to 0.6 %. Engine "grid", which factors a matrix several times per step:
 * no finer than leaves all bodies of the scene that do not say some 1500 nodes together, but two edges across the
 * smallest extent. */
double tl_lg_default_edge(const tl_scene *s, const tl_body *b);

/* Nodes that a body of engine "grid" will have, from its volume and edge or its file; 0: not elastic. */
double tl_lg_expected_nodes(const tl_scene *s, const tl_body *b);

/* Processor seconds of one step of engine "grid" with elastic bodies, as measured with some dozen contacts: 0.1
 * (nodes / 1000)^1.5 for each body. */
double tl_lg_expected_seconds(const tl_scene *s);

#endif
