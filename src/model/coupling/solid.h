/* Solids as the coupled solve sees them, rigid or elastic: a set of velocities v with an inverse mass, sampled on the
 * faces of the grid and weighted by the part of each face that the solid takes away from what flows.
 *
 *     J v      [faces]  sampled motion times solid fraction
 *     J^T y    [n]      its exact adjoint: forces that a force density y on faces (per volume of a cell) exerts
 *
 * F_p = -J^T G and F_s = -J^T D of [FM21 eq. 9] are this adjoint after the operators of what flows. Fractions of all
 * solids and W_F sum to one on every face, which is what makes the exchange of momentum exact. What is inside of a
 * solid is its own business. */
#ifndef TL_MODEL_COUPLING_SOLID_H
#define TL_MODEL_COUPLING_SOLID_H

#include <stdint.h>

typedef struct tl_coupled_solid {
    int64_t n;                                                                    /* velocities */
    void (*sample)(const struct tl_coupled_solid *s, const double *v, double *y); /* y [faces] += J v */
    void (*gather)(const struct tl_coupled_solid *s, const double *y, double *r); /* r [n] = J^T y */
    /* v = M^-1 r; 0 for what does not move freely */
    void (*inverse_mass)(const struct tl_coupled_solid *s, const double *r, double *v);
    /* out [faces] += |J| |M^-1| |J|^T y, element by element: what bounds of a Hessian need; y >= 0 */
    void (*spread)(const struct tl_coupled_solid *s, const double *y, double *out);
    /* What faces do not say of the normal stress in cells that a surface cuts; NULL: nothing. r [n] += C^T d, d of cell
     * i along axis a at 6 i + a; e [3 cells] = C v. */
    void (*gather_cells)(const struct tl_coupled_solid *s, const double *d, double *r);
    void (*sample_cells)(const struct tl_coupled_solid *s, const double *v, double *e);
    double *e; /* [3 cells] scratch for them */
    const void *ctx;
} tl_coupled_solid;

#endif
