#include "model/grid/sums.h"

#include "base/comm.h"
#include "base/parallel.h"
#include "base/sum.h"

tl_flow_sums tl_faces_sums(const tl_grid *g, const tl_faces *faces, double *const u[3], tl_vec3 gravity)
{
    const double pull[3] = {gravity.x, gravity.y, gravity.z};
    tl_blocks blocks = tl_blocks_of(tl_grid_summed(g));
    double kinetic[TL_BLOCKS_MAX], power[TL_BLOCKS_MAX];
    tl_flow_sums out = {0, 0};
    for (int a = 0; a < 3; a++) {
        const double *mass = faces->mass[a], *v = u[a];
#pragma omp parallel for schedule(static) if (g->cells >= TL_PARALLEL_MIN)
        for (int b = 0; b < blocks.count; b++) {
            double k[TL_LANES] = {0}, p[TL_LANES] = {0};
            const int64_t begin = tl_block_begin(blocks, b), end = tl_block_end(blocks, b);
            int64_t i = begin;
            for (; i + TL_LANES <= end; i += TL_LANES)
                for (int l = 0; l < TL_LANES; l++) {
                    double q = mass[i + l] * v[i + l];
                    p[l] += q;
                    k[l] += q * v[i + l];
                }
            for (; i < end; i++) {
                p[i % TL_LANES] += mass[i] * v[i];
                k[i % TL_LANES] += mass[i] * v[i] * v[i];
            }
            kinetic[b] = tl_lanes_total(k);
            power[b] = tl_lanes_total(p);
        }
        out.kinetic += 0.5 * tl_sum_ordered(blocks.count, kinetic);
        out.power += pull[a] * tl_sum_ordered(blocks.count, power);
    }
    out.kinetic = tl_comm_sum(g->comm, out.kinetic);
    out.power = tl_comm_sum(g->comm, out.power);
    return out;
}

void tl_impulse_sum(const tl_comm *c, tl_impulse *i)
{
    if (tl_comm_alone(c)) return;
    double all[6];
    tl_vec3_store(i->linear, all);
    tl_vec3_store(i->angular, all + 3);
    tl_comm_reduce(c, TL_REDUCE_SUM, 6, all);
    *i = (tl_impulse){tl_vec3_load(all), tl_vec3_load(all + 3)};
}

tl_impulse tl_faces_closed(const tl_grid *g, const tl_faces *faces, const tl_fractions *fractions)
{
    tl_blocks blocks = tl_blocks_of(tl_grid_summed(g));
    tl_impulse part[TL_BLOCKS_MAX], out = {{0, 0, 0}, {0, 0, 0}};
    for (int a = 0; a < 3; a++) {
        const double *open = fractions->open[a], *mass = faces->mass[a], *u = faces->u[a];
#pragma omp parallel for schedule(static) if (g->cells >= TL_PARALLEL_MIN)
        for (int b = 0; b < blocks.count; b++) {
            part[b] = (tl_impulse){{0, 0, 0}, {0, 0, 0}};
            for (int64_t i = tl_block_begin(blocks, b); i < tl_block_end(blocks, b); i++) {
                double p[3] = {0, 0, 0};
                if (open[i] > 0 || !(mass[i] > 0)) continue;
                p[a] = mass[i] * u[i];
                tl_vec3 v = tl_vec3_load(p), at = tl_grid_face_centre(g, a, (int32_t)i);
                part[b].linear = tl_vec3_add(part[b].linear, v);
                part[b].angular = tl_vec3_add(part[b].angular, tl_vec3_cross(at, v));
            }
        }
        for (int b = 0; b < blocks.count; b++) {
            out.linear = tl_vec3_add(out.linear, part[b].linear);
            out.angular = tl_vec3_add(out.angular, part[b].angular);
        }
    }
    tl_impulse_sum(g->comm, &out);
    return out;
}
