#include "model/elastic/material.h"

#include <string.h>

#include "math/eig3.h"
#include "math/svd3.h"

tl_stable tl_stable_make(tl_stable_form form, double young, double poisson)
{
    double muL = young / (2 * (1 + poisson)), lamL = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
    tl_stable m = {.form = form, .mu = muL, .lam = lamL + muL, .a = 1};
    if (form == TL_STABLE_NOLOG) return m;
    m.mu = 4.0 / 3 * muL;
    m.lam = lamL + 5.0 / 6 * muL;
    m.a = 1 + 0.75 * m.mu / m.lam;
    m.rest = 0.5 * m.lam * (1 - m.a) * (1 - m.a) - 0.5 * m.mu * log(4.0);
    return m;
}

static double square(tl_mat3 F)
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) sum += F.m[i][j] * F.m[i][j];
    return sum;
}

/* d det F / dF */
static tl_mat3 cofactor(tl_mat3 F)
{
    tl_vec3 a = tl_mat3_column(F, 0), b = tl_mat3_column(F, 1), c = tl_mat3_column(F, 2);
    return tl_mat3_from_columns(tl_vec3_cross(b, c), tl_vec3_cross(c, a), tl_vec3_cross(a, b));
}

static double determinant(tl_mat3 F)
{
    return tl_vec3_dot(tl_mat3_column(F, 0), tl_vec3_cross(tl_mat3_column(F, 1), tl_mat3_column(F, 2)));
}

double tl_stable_energy(const tl_stable *m, tl_mat3 F)
{
    double Ic = square(F), J = determinant(F);
    if (m->form == TL_STABLE_NOLOG) return 0.5 * m->mu * (Ic - 3) - m->mu * (J - 1) + 0.5 * m->lam * (J - 1) * (J - 1);
    return 0.5 * m->mu * (Ic - 3) + 0.5 * m->lam * (J - m->a) * (J - m->a) - 0.5 * m->mu * log(Ic + 1) - m->rest;
}

/* P = shear F + volume cof F */
static void slopes(const tl_stable *m, double Ic, double J, double *shear, double *volume)
{
    *shear = m->form == TL_STABLE_NOLOG ? m->mu : m->mu * (1 - 1 / (Ic + 1));
    *volume = m->form == TL_STABLE_NOLOG ? m->lam * (J - 1) - m->mu : m->lam * (J - m->a);
}

tl_mat3 tl_stable_stress(const tl_stable *m, tl_mat3 F)
{
    double shear, volume;
    slopes(m, square(F), determinant(F), &shear, &volume);
    return tl_mat3_add_scaled(tl_mat3_scale(shear, F), volume, cofactor(F));
}

static void project_scale(double A[3][3])
{
    double minor = A[0][0] * A[1][1] - A[0][1] * A[0][1];
    double det = A[0][2] * (A[0][1] * A[1][2] - A[1][1] * A[0][2]) - A[1][2] * (A[0][0] * A[1][2] - A[0][1] * A[0][2]) +
                 A[2][2] * minor;
    if (A[0][0] > 0 && minor > 0 && det > 0) return;
    tl_mat3 M, Q;
    double w[3];
    memcpy(M.m, A, sizeof M.m);
    tl_eig3(M, w, &Q);
    if (w[0] >= 0) return;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            A[i][k] = 0;
            for (int e = 0; e < 3; e++) A[i][k] += fmax(w[e], 0) * Q.m[i][e] * Q.m[k][e];
        }
}

void tl_stable_hessian(const tl_stable *m, tl_mat3 F, bool project, tl_stable_modes *out)
{
    double s[3], shear, volume;
    tl_svd3(F, &out->U, s, &out->V);
    double Ic = s[0] * s[0] + s[1] * s[1] + s[2] * s[2], J = s[0] * s[1] * s[2];
    slopes(m, Ic, J, &shear, &volume);
    double second = m->form == TL_STABLE_NOLOG ? 0 : 2 * m->mu / ((Ic + 1) * (Ic + 1));
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out->scale[i][i] = shear + second * s[i] * s[i] + m->lam * s[j] * s[j] * s[k] * s[k];
        out->scale[i][j] = out->scale[j][i] = second * s[i] * s[j] + s[k] * (m->lam * J + volume);
        out->twist[k] = shear + s[k] * volume;
        out->flip[k] = shear - s[k] * volume;
    }
    if (project) tl_stable_project(out);
}

void tl_stable_project(tl_stable_modes *h)
{
    for (int k = 0; k < 3; k++) {
        h->twist[k] = fmax(h->twist[k], 0);
        h->flip[k] = fmax(h->flip[k], 0);
    }
    project_scale(h->scale);
}

tl_mat3 tl_stable_block(const tl_stable_modes *h, tl_vec3 ga, tl_vec3 gb)
{
    const double a[3] = {ga.x, ga.y, ga.z}, b[3] = {gb.x, gb.y, gb.z};
    tl_mat3 C;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double sum_k = 0.5 * (h->flip[k] + h->twist[k]), sum_j = 0.5 * (h->flip[j] + h->twist[j]);
        double less_k = 0.5 * (h->flip[k] - h->twist[k]);
        C.m[i][i] = h->scale[i][i] * a[i] * b[i] + sum_k * a[j] * b[j] + sum_j * a[k] * b[k];
        C.m[i][j] = h->scale[i][j] * a[i] * b[j] + less_k * a[j] * b[i];
        C.m[j][i] = h->scale[i][j] * a[j] * b[i] + less_k * a[i] * b[j];
    }
    return tl_mat3_mul(h->U, tl_mat3_mul_t(C, h->U));
}
