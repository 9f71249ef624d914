#include "base/parallel.h"
#include "base/sum.h"
#include "model/lg/lg.h"

void tl_lg_targets(const tl_lg *lg, const tl_pose *handle, tl_vec3 *target)
{
    for (int32_t k = 0; k < lg->anchors; k++)
        target[k] = tl_pose_apply(&handle[lg->anchor[k].handle], lg->anchor[k].local);
}

/* Rows of K sum to nothing: written with differences, rounding is that of a cell's size and not of the distance to
 * the origin. `energy`: twice that of the row. */
static tl_vec3 bending_force(const tl_csr *K, int32_t i, const double *q, double *energy)
{
    tl_vec3 f = {0, 0, 0}, x = tl_vec3_load(q + 3 * (int64_t)i);
    double sum = 0;
    for (int64_t k = K->start[i]; k < K->start[i + 1]; k++) {
        tl_vec3 d = tl_vec3_sub(tl_vec3_load(q + 3 * (int64_t)K->col[k]), x);
        f = tl_vec3_add_scaled(f, -K->val[k], d);
        sum -= 0.5 * K->val[k] * tl_vec3_norm2(d);
    }
    if (energy) *energy = sum;
    return f;
}

void tl_lg_residual(const tl_lg *lg, double h, const double *q, const double *qtil, const tl_vec3 *target,
                    const double *force, double *r)
{
    bool bends = lg->K.start[lg->nodes] > 0;
#pragma omp parallel for schedule(static) if (lg->nodes > 500)
    for (int32_t i = 0; i < lg->nodes; i++) {
        double f[3] = {0, 0, 0};
        for (int64_t k = lg->pull_start[i]; k < lg->pull_start[i + 1]; k++)
            for (int c = 0; c < 3; c++) f[c] += force[lg->pull[k] + 8 * c];
        if (bends) {
            tl_vec3 b = bending_force(&lg->K, i, q, NULL);
            f[0] += b.x, f[1] += b.y, f[2] += b.z;
        }
        for (int c = 0; c < 3; c++)
            r[3 * (int64_t)i + c] = lg->mass[i] * (qtil[3 * (int64_t)i + c] - q[3 * (int64_t)i + c]) + h * h * f[c];
    }
    for (int32_t k = 0; k < lg->anchors; k++) {
        const tl_lg_anchor *a = &lg->anchor[k];
        int64_t i = 3 * (int64_t)a->vertex;
        tl_vec3 pull = tl_vec3_scale(h * h * a->weight, tl_vec3_sub(target[k], tl_vec3_load(q + i)));
        r[i] += pull.x, r[i + 1] += pull.y, r[i + 2] += pull.z;
    }
}

double tl_lg_linear_energy(const tl_lg *lg, const double *q, const tl_vec3 *target)
{
    double energy = 0;
    for (int32_t k = 0; k < lg->anchors; k++)
        energy += 0.5 * lg->anchor[k].weight *
                  tl_vec3_norm2(tl_vec3_sub(target[k], tl_vec3_load(q + 3 * (int64_t)lg->anchor[k].vertex)));
    if (lg->K.start[lg->nodes] == 0) return energy;
    tl_blocks blocks = tl_blocks_of(lg->nodes);
    double part[TL_BLOCKS_MAX];
#pragma omp parallel for schedule(static)
    for (int b = 0; b < blocks.count; b++) {
        part[b] = 0;
        for (int64_t i = tl_block_begin(blocks, b); i < tl_block_end(blocks, b); i++) {
            double row;
            (void)bending_force(&lg->K, (int32_t)i, q, &row);
            part[b] += 0.5 * row;
        }
    }
    return energy + tl_sum_ordered(blocks.count, part);
}
