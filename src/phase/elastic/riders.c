/* Grains that ride on elastic surfaces (model/grid/grains.h) as points of the elastic problem: each is a mass that meets
 * the surface without bouncing and may leave it. Its own velocity is eliminated: of all that keep it from going through
 * the surface the nearest to its own, so that it adds
 *
 *     m/2 max(0, n . (u - v))^2 + m/2 |t|^2   where friction holds,   mu P |t| - (mu P)^2 / (2 m)   where it slides
 *
 * to what velocities minimise; u: of the surface at the grain, t: its part along the surface of u - v, P: what pressed
 * in the last correction. Convex, with a gradient that is continuous; friction follows P as corrections shrink. */
#include <math.h>

#include "model/grid/grains.h"
#include "phase/elastic/trial.h"

static tl_vec3 approach(const tl_rider *r, const double *v)
{
    tl_vec3 u = tl_vec3_scale(-1, r->v);
    for (int k = 0; k < 3; k++) u = tl_vec3_add_scaled(u, r->weight[k], tl_vec3_load(v + 3 * (int64_t)r->node[k]));
    return u;
}

/* The normal part, and what of the part along the surface friction carries. */
static tl_vec3 split(const tl_rider *r, const double *v, double *normal, double *carried)
{
    const tl_vec3 u = approach(r, v);
    const double along = tl_vec3_dot(u, r->normal);
    const tl_vec3 t = tl_vec3_add_scaled(u, -along, r->normal);
    const double speed = tl_vec3_norm(t), most = r->friction * r->pressed;
    *normal = fmax(0, along);
    *carried = r->mass * speed <= most ? 1 : most / (r->mass * speed);
    return t;
}

double tl_elastic_riders_energy(const tl_elastic_trial *s, const double *v)
{
    double sum = 0;
    for (int64_t i = 0; s->riders && i < s->riders->count; i++) {
        const tl_rider *r = &s->riders->of[i];
        double normal, carried;
        const double speed = tl_vec3_norm(split(r, v, &normal, &carried)), most = r->friction * r->pressed;
        sum += 0.5 * r->mass * normal * normal;
        sum += carried < 1 ? most * speed - 0.5 * most * most / r->mass : 0.5 * r->mass * speed * speed;
    }
    return sum;
}

/* m/s that the surface changes of the grain. */
static tl_vec3 change(const tl_rider *r, const double *v)
{
    double normal, carried;
    const tl_vec3 t = split(r, v, &normal, &carried);
    return tl_vec3_add_scaled(tl_vec3_scale(normal, r->normal), carried, t);
}

void tl_elastic_riders_press(const tl_elastic_trial *s, const double *v)
{
    for (int64_t i = 0; s->riders && i < s->riders->count; i++) {
        tl_rider *r = &s->riders->of[i];
        r->pressed = r->mass * fmax(0, tl_vec3_dot(approach(r, v), r->normal));
    }
}

void tl_elastic_riders_balance(const tl_elastic_trial *s, const double *v, double *g)
{
    for (int64_t i = 0; s->riders && i < s->riders->count; i++) {
        const tl_rider *r = &s->riders->of[i];
        const tl_vec3 push = tl_vec3_scale(r->mass, change(r, v));
        for (int k = 0; k < 3; k++) {
            double *to = g + 3 * (int64_t)r->node[k];
            if (s->fem->place[r->node[k]] >= 0)
                tl_vec3_store(tl_vec3_add_scaled(tl_vec3_load(to), r->weight[k], push), to);
        }
    }
}

static double *entry(tl_csr *A, int64_t row, int64_t col)
{
    for (int64_t k = A->start[row]; k < A->start[row + 1]; k++)
        if (A->col[k] == col) return &A->val[k];
    return NULL;
}

/* Values up to the diagonal of each row. Friction that slides counts with its secant, which is never too soft. */
void tl_elastic_riders_matrix(const tl_elastic_trial *s, const double *v)
{
    for (int64_t i = 0; s->riders && i < s->riders->count; i++) {
        const tl_rider *r = &s->riders->of[i];
        double normal, carried;
        split(r, v, &normal, &carried);
        const tl_mat3 nn = tl_mat3_outer(r->normal, r->normal);
        const double n = r->mass * ((normal > 0) - carried);
        const tl_mat3 B = tl_mat3_add(tl_mat3_scale(n, nn), tl_mat3_scale(r->mass * carried, tl_mat3_identity()));
        tl_csr *A = &s->fem->body[s->lg->owner[r->node[0]]].A;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                const int64_t p = 3 * (int64_t)s->fem->place[r->node[a]], q = 3 * (int64_t)s->fem->place[r->node[b]];
                for (int k = 0; k < 9 && p >= 0 && q >= 0; k++) {
                    double *at = q + k % 3 <= p + k / 3 ? entry(A, p + k / 3, q + k % 3) : NULL;
                    if (at) *at += r->weight[a] * r->weight[b] * B.m[k / 3][k % 3];
                }
            }
    }
}

void tl_elastic_riders_end(const tl_elastic_trial *s, double *load)
{
    for (int64_t i = 0; s->riders && i < s->riders->count; i++) {
        tl_rider *r = &s->riders->of[i];
        r->got = change(r, s->v);
        for (int k = 0; k < 3; k++) {
            double *to = load + 3 * (int64_t)r->node[k];
            tl_vec3_store(tl_vec3_add_scaled(tl_vec3_load(to), -r->weight[k] * r->mass, r->got), to);
        }
    }
}
