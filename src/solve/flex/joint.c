/* Routes that factor the stiffness N = Q C Q^T in place of H [Takahashi2022 sec. 3.7.2]: with z = C Q^T x for another
 * unknown, M alone stands between unknowns,
 *
 *     (S + V M^-1 V^T) (t, z) = V M^-1 r,     V = [B^T J; Q^T],  S = diag(I, 1 / C),     x = M^-1 (r - V^T (t, z)).
 *
 * Q comes from an LDLT factor of N, from an incomplete one, or from elements. */
#include "base/alloc.h"
#include "solve/flex/inside.h"

#define CLAMP 1e-10 /* of the largest pivot: smaller ones of "g" are taken as that [Takahashi2022] */
#define MASS_SHARE                                                                                                     \
    1e-3 /* of M that goes into the factor of the scaled routes: K of a free body has six vanishing pivots */
#define MOST 3000
#define SHIFT_FIRST 1e-4 /* of the diagonal, for an incomplete factor that breaks down; then four times as much */
#define SHIFT_MAX 100.0

typedef struct joint {
    const tl_flex *p;
    tl_flex_data *kept;
    const double *B;
    const int32_t *rank;
    tl_flex_cg cg;
    int64_t t;                                                   /* unknowns of contacts, before z */
    double *y, *right, *push, *x, *lam, *diag, *blocks, *weight; /* [cg.n]; [n + 6 rigid]; [3 contacts]; [n] 1 / mass */
    tl_flex_report *report;
} joint;

/* ---- roots ---- */

void tl_flex_roots_empty(tl_flex_roots *r)
{
    tl_csr_free(&r->Q);
    tl_csr_free(&r->Qt);
    tl_csr_free(&r->A);
    tl_precond_free(r->P);
    tl_free(r->sigma);
    tl_free(r->weight);
    r->P = NULL;
    r->sigma = r->weight = NULL;
}

/* From rows of L^T in the factor's numbering: columns back to those of the part, rising. */
static talus_status renumber(tl_flex_roots *r, tl_csr *Lt, const int32_t *perm, talus_error *err)
{
    for (int64_t k = 0; k < Lt->start[Lt->rows]; k++) Lt->col[k] = perm[Lt->col[k]];
    talus_status status = tl_csr_transpose(&r->Q, Lt, err);
    tl_csr_free(Lt);
    if (status != TALUS_OK) return status;
    return tl_csr_transpose(&r->Qt, &r->Q, err);
}

double tl_flex_roots_mass(bool scaled) { return scaled ? 1 - MASS_SHARE : 1; }

talus_status tl_flex_roots_factor(tl_flex_roots *r, const tl_flex_part *part, bool scaled, talus_error *err)
{
    const int32_t n = part->H->rows;
    TL_TRY(tl_flex_whole(&r->N, part->H, part->mass, tl_flex_roots_mass(scaled), err));
    if (!r->ldlt) {
        tl_factor_options options = tl_factor_options_default();
        options.kind = TL_FACTOR_LDLT;
        TL_TRY(tl_factor_create(&r->ldlt, &options, err));
    }
    TL_TRY(tl_factor_update(r->ldlt, &r->N, err));
    tl_csr Lt = {0};
    r->sigma = TL_NEW(double, n + 1);
    if (!r->sigma) return tl_flex_no_memory(err);
    TL_TRY(tl_factor_lower(r->ldlt, &Lt, r->sigma, err));
    double max = 0;
    for (int32_t i = 0; i < n; i++) max = fmax(max, r->sigma[i]);
    for (int32_t i = 0; i < n; i++) {
        double pivot = r->sigma[i], root = sqrt(fmax(pivot, 0));
        r->sigma[i] = scaled ? 1 : 1 / fmax(pivot, CLAMP * max);
        for (int64_t k = Lt.start[i]; k < Lt.start[i + 1] && scaled; k++) Lt.val[k] *= root;
    }
    r->count = n;
    return renumber(r, &Lt, tl_factor_info_of(r->ldlt)->perm, err);
}

/* L without fill of N + shift diag(N), in the order of rows. False when a pivot is not positive. */
static bool incomplete(const tl_csr *N, double shift, tl_csr *L)
{
    for (int32_t i = 0; i < N->rows; i++) {
        int64_t end = L->start[i + 1] - 1;
        for (int64_t k = L->start[i], from = N->start[i]; k <= end; k++, from++) {
            int32_t j = L->col[k];
            double sum = N->val[from] * (j == i ? 1 + shift : 1);
            int64_t a = L->start[i], b = L->start[j];
            while (a < k && b < L->start[j + 1] - 1) {
                if (L->col[a] == L->col[b]) sum -= L->val[a] * L->val[b];
                int32_t at = L->col[a], to = L->col[b];
                a += at <= to;
                b += to <= at;
            }
            if (j == i) {
                if (!(sum > 0)) return false;
                L->val[k] = sqrt(sum);
            } else {
                L->val[k] = sum / L->val[L->start[j + 1] - 1];
            }
        }
    }
    return true;
}

static talus_status incomplete_roots(tl_flex_roots *r, const tl_flex_part *part, talus_error *err)
{
    const int32_t n = part->H->rows;
    int64_t count = 0;
    TL_TRY(tl_flex_whole(&r->N, part->H, part->mass, 1, err));
    for (int32_t i = 0; i < n; i++)
        for (int64_t k = r->N.start[i]; k < r->N.start[i + 1]; k++) count += r->N.col[k] <= i;
    TL_TRY(tl_csr_create(&r->Q, n, n, count, err));
    count = 0;
    for (int32_t i = 0; i < n; i++) {
        for (int64_t k = r->N.start[i]; k < r->N.start[i + 1]; k++)
            if (r->N.col[k] <= i) r->Q.col[count++] = r->N.col[k];
        r->Q.start[i + 1] = count;
    }
    double shift = 0;
    while (!incomplete(&r->N, shift, &r->Q)) {
        shift = shift > 0 ? 4 * shift : SHIFT_FIRST;
        if (shift > SHIFT_MAX)
            return TL_FAIL(err, TALUS_NOT_DEFINITE,
                           "the stiffness has no incomplete factor, even with %g of its diagonal added", SHIFT_MAX);
    }
    r->sigma = TL_NEW(double, n + 1);
    if (!r->sigma) return tl_flex_no_memory(err);
    for (int32_t i = 0; i < n; i++) r->sigma[i] = 1;
    r->count = n;
    return tl_csr_transpose(&r->Qt, &r->Q, err);
}

static talus_status given(tl_flex_roots *r, const tl_flex_part *part, talus_error *err)
{
    r->count = part->roots->rows;
    r->sigma = TL_NEW(double, r->count + 1);
    if (!r->sigma) return tl_flex_no_memory(err);
    for (int64_t i = 0; i < r->count; i++) r->sigma[i] = 1;
    TL_TRY(tl_csr_transpose(&r->Q, part->roots, err));
    return tl_csr_transpose(&r->Qt, &r->Q, err);
}

enum kind { PLAIN, SCALED, MATFREE, NATURAL, INCOMPLETE };

static talus_status make(tl_flex_solver *s, enum kind kind, talus_error *err)
{
    const tl_flex *p = s->p;
    int64_t first = 0;
    TL_TRY(tl_flex_data_fit(s->kept, p->parts, err));
    for (int32_t b = 0; b < p->parts; b++) {
        tl_flex_roots *r = &s->kept->roots[b];
        const tl_flex_part *part = &p->part[b];
        tl_flex_roots_empty(r);
        if (kind == NATURAL)
            TL_TRY(given(r, part, err));
        else if (kind == INCOMPLETE)
            TL_TRY(incomplete_roots(r, part, err));
        else
            TL_TRY(tl_flex_roots_factor(r, part, kind != PLAIN, err));
        r->first = first;
        first += r->count;
        r->weight = TL_NEW(double, part->H->rows + 1);
        if (!r->weight) return tl_flex_no_memory(err);
        double share = tl_flex_roots_mass(kind == SCALED || kind == MATFREE);
        for (int32_t i = 0; i < part->H->rows; i++) r->weight[i] = 1 / (share * part->mass[i]);
        if (kind == MATFREE || kind == NATURAL) continue;
        TL_TRY(tl_csr_gram(&r->A, &r->Q, r->weight, err));
        for (int32_t i = 0; i < r->A.rows; i++)
            for (int64_t k = r->A.start[i]; k < r->A.start[i + 1]; k++)
                if (r->A.col[k] == i) r->A.val[k] += r->sigma[i];
        TL_TRY(tl_precond_create(&r->P, tl_precond_find("ssor"), &r->A, err));
    }
    return TALUS_OK;
}

static talus_status make_plain(tl_flex_solver *s, tl_flex_report *r, talus_error *err)
{
    r->work.factorizations++;
    return make(s, PLAIN, err);
}
static talus_status make_scaled(tl_flex_solver *s, tl_flex_report *r, talus_error *err)
{
    r->work.factorizations++;
    return make(s, SCALED, err);
}
static talus_status make_matfree(tl_flex_solver *s, tl_flex_report *r, talus_error *err)
{
    r->work.factorizations++;
    return make(s, MATFREE, err);
}
static talus_status make_natural(tl_flex_solver *s, tl_flex_report *r, talus_error *err)
{
    (void)r;
    return make(s, NATURAL, err);
}
static talus_status make_incomplete(tl_flex_solver *s, tl_flex_report *r, talus_error *err)
{
    r->work.factorizations++;
    return make(s, INCOMPLETE, err);
}

/* ---- the system ---- */

/* out = V^T (t, z) over all unknowns; formed: without z, whose own block is written out. */
static void spread(const joint *s, const double *y, bool with_z, double *out)
{
    const tl_flex *p = s->p;
    for (int64_t c = 0; c < p->contacts; c++)
        for (int k = 0; k < 3; k++) {
            s->lam[3 * c + k] = 0;
            for (int e = 0; e < s->rank[c]; e++) s->lam[3 * c + k] += s->B[9 * c + 3 * e + k] * y[3 * c + e];
        }
    if (p->contacts > 0)
        tl_csr_mul(p->Jt, s->lam, out);
    else
        memset(out, 0, sizeof *out * (size_t)tl_flex_size(p));
    for (int32_t b = 0; b < p->parts && with_z; b++)
        tl_csr_mul_add(&s->kept->roots[b].Q, 1, y + s->t + s->kept->roots[b].first, out + p->part[b].first);
}

static void divide(const joint *s, double *x)
{
    for (int64_t i = 0; i < s->p->n; i++) x[i] *= s->weight[i];
    tl_flex_rigid_inverse(s->p, x);
}

static void gather_contacts(const joint *s, const double *x, double *y)
{
    if (s->p->contacts == 0) return;
    tl_csr_mul(s->p->J, x, s->lam);
    for (int64_t c = 0; c < s->p->contacts; c++)
        for (int e = 0; e < 3; e++) {
            double sum = 0;
            for (int k = 0; k < 3 && e < s->rank[c]; k++) sum += s->B[9 * c + 3 * e + k] * s->lam[3 * c + k];
            y[3 * c + e] = sum;
        }
}

/* A product reads Q and Q^T, or, where z's own block is written out, that block, and Q and Q^T for the contacts. */
static void apply(void *ctx, const double *y, double *out)
{
    joint *s = ctx;
    const tl_flex *p = s->p;
    bool formed = s->kept->roots[0].A.start != NULL;
    if (formed && p->contacts == 0) {
        for (int32_t b = 0; b < p->parts; b++) {
            const tl_flex_roots *r = &s->kept->roots[b];
            tl_csr_mul(&r->A, y + s->t + r->first, out + s->t + r->first);
        }
        return;
    }
    spread(s, y, true, s->push);
    divide(s, s->push);
    gather_contacts(s, s->push, out);
    for (int64_t i = 0; i < s->t; i++) out[i] += y[i];
    if (formed) { /* contacts' share of z's rows, then z's own */
        spread(s, y, false, s->push);
        divide(s, s->push);
    }
    for (int32_t b = 0; b < p->parts; b++) {
        const tl_flex_roots *r = &s->kept->roots[b];
        double *z = out + s->t + r->first;
        const double *from = y + s->t + r->first;
        tl_csr_mul(&r->Qt, s->push + p->part[b].first, z);
        if (formed)
            tl_csr_mul_add(&r->A, 1, from, z);
        else
            for (int64_t i = 0; i < r->count; i++) z[i] += r->sigma[i] * from[i];
    }
}

static void precond(void *ctx, const double *r, double *z)
{
    const joint *s = ctx;
    bool formed = s->kept->roots[0].A.start != NULL;
    for (int64_t i = 0; i < (formed ? s->t : s->cg.n); i++) z[i] = r[i] / s->diag[i];
    for (int32_t b = 0; b < s->p->parts && formed; b++) {
        const tl_flex_roots *own = &s->kept->roots[b];
        tl_work none = {0};
        tl_precond_apply(own->P, own->count, r + s->t + own->first, z + s->t + own->first, &none);
    }
}

static void find_diagonal(joint *s)
{
    const tl_flex *p = s->p;
    for (int64_t c = 0; c < p->contacts; c++)
        for (int e = 0; e < 3; e++) {
            const double *b = s->B + 9 * c + 3 * e, *W = s->blocks + 9 * c;
            double sum = 1;
            for (int i = 0; i < 3 && e < s->rank[c]; i++)
                for (int j = 0; j < 3; j++) sum += b[i] * W[3 * i + j] * b[j];
            s->diag[3 * c + e] = sum;
        }
    for (int32_t b = 0; b < p->parts; b++) {
        const tl_flex_roots *r = &s->kept->roots[b];
        for (int64_t i = 0; i < r->count; i++) {
            double sum = r->sigma[i];
            for (int64_t k = r->Qt.start[i]; k < r->Qt.start[i + 1]; k++)
                sum += r->Qt.val[k] * r->Qt.val[k] * r->weight[r->Qt.col[k]];
            s->diag[s->t + r->first + i] = sum;
        }
    }
}

static talus_status linear(void *ctx, const double *B, const int32_t *rank, const double *r, double eta, double *x,
                           tl_flex_report *report, talus_error *err)
{
    joint *s = ctx;
    const tl_flex *p = s->p;
    (void)err;
    s->B = B;
    s->rank = rank;
    find_diagonal(s);
    memcpy(s->push, r, sizeof *r * (size_t)tl_flex_size(p));
    divide(s, s->push);
    gather_contacts(s, s->push, s->right);
    for (int32_t b = 0; b < p->parts; b++) {
        const tl_flex_roots *own = &s->kept->roots[b];
        tl_csr_mul(&own->Qt, s->push + p->part[b].first, s->right + s->t + own->first);
    }
    tl_flex_cg_run(&s->cg, s->right, s->y, eta, MOST, &report->work);
    spread(s, s->y, true, s->x);
    for (int64_t i = 0; i < tl_flex_size(p); i++) x[i] = r[i] - s->x[i];
    divide(s, x);
    return TALUS_OK;
}

/* H with the roots in place of N. */
static void product(void *ctx, const double *x, double *y)
{
    joint *s = ctx;
    const tl_flex *p = s->p;
    tl_flex_product(p, x, y); /* rigid bodies */
    for (int32_t b = 0; b < p->parts; b++) {
        const tl_flex_roots *r = &s->kept->roots[b];
        const int64_t first = p->part[b].first;
        double *z = s->right + s->t + r->first;
        tl_csr_mul(&r->Qt, x + first, z);
        for (int64_t i = 0; i < r->count; i++) z[i] /= r->sigma[i];
        for (int32_t i = 0; i < p->part[b].H->rows; i++) y[first + i] = x[first + i] / r->weight[i];
        tl_csr_mul_add(&r->Q, 1, z, y + first);
    }
}

static talus_status solve(tl_flex_solver *s, const tl_stop *stop, double *lam, double *dv, tl_flex_report *r,
                          talus_error *err)
{
    const tl_flex *p = s->p;
    const int64_t n = tl_flex_size(p), m = p->contacts;
    int64_t z = 0;
    for (int32_t b = 0; b < p->parts; b++) z += s->kept->roots[b].count;
    size_t mark = tl_arena_mark(s->arena);
    joint j = {.p = p,
               .kept = s->kept,
               .t = 3 * m,
               .cg = {.apply = apply, .precond = precond},
               .y = TL_TAKE(s->arena, double, 3 * m + z + 1),
               .right = TL_TAKE(s->arena, double, 3 * m + z + 1),
               .diag = TL_TAKE(s->arena, double, 3 * m + z + 1),
               .push = TL_TAKE_ZERO(s->arena, double, n + 1),
               .x = TL_TAKE_ZERO(s->arena, double, n + 1),
               .lam = TL_TAKE(s->arena, double, 3 * m + 1),
               .blocks = TL_TAKE(s->arena, double, 9 * m + 1),
               .weight = TL_TAKE(s->arena, double, n + 1)};
    j.cg.ctx = &j;
    if (!tl_flex_cg_take(&j.cg, 3 * m + z, s->arena) || !j.y || !j.right || !j.diag || !j.push || !j.x || !j.lam ||
        !j.blocks || !j.weight)
        return tl_flex_no_memory(err);
    r->unknowns = 3 * m + z;
    for (int32_t b = 0; b < p->parts; b++) {
        const tl_flex_roots *own = &s->kept->roots[b];
        for (int32_t i = 0; i < p->part[b].H->rows; i++) {
            j.weight[p->part[b].first + i] = own->weight[i];
            j.push[p->part[b].first + i] = 1 / own->weight[i];
        }
        r->nonzeros +=
            2 * own->Q.start[own->Q.rows] * (m > 0 || !own->A.start) + (own->A.start ? own->A.start[own->A.rows] : 0);
    }
    if (m > 0) tl_flex_blocks(p, j.push, j.blocks);
    tl_flex_linear way = {.ctx = &j, .solve = linear};
    if (s->route->needs & TL_FLEX_OTHER_H) way.product = product;
    TL_TRY(tl_flex_newton(p, &way, stop, lam, dv, s->arena, r, err));
    tl_arena_release(s->arena, mark);
    return TALUS_OK;
}

const tl_flex_route tl_flex_g = {"g",
                                 "a factor of the stiffness alone, pivots from below clamped, as published",
                                 TL_FLEX_SEMIDEFINITE,
                                 NULL,
                                 make_plain,
                                 solve};
const tl_flex_route tl_flex_g_scaled = {
    "g-scaled", "the same, scaled, with a thousandth of the mass", TL_FLEX_SEMIDEFINITE, NULL, make_scaled, solve};
const tl_flex_route tl_flex_g_matfree = {
    "g-matfree", "the same, factor by factor", TL_FLEX_SEMIDEFINITE, NULL, make_matfree, solve};
const tl_flex_route tl_flex_nf = {
    "nf", "roots of the stiffness by elements", TL_FLEX_SEMIDEFINITE | TL_FLEX_ROOTS, NULL, make_natural, solve};
const tl_flex_route tl_flex_ic = {"ic",
                                  "an incomplete factor of the stiffness in place of it",
                                  TL_FLEX_SEMIDEFINITE | TL_FLEX_OTHER_H,
                                  NULL,
                                  make_incomplete,
                                  solve};
