#include "lab/bench/gen_pressure.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"

#define THETA_MIN 0.01 /* least liquid share of a surface link */
#define OPEN_MIN 1e-6  /* faces less open than this are closed */
#define MARGIN 0.031   /* between the unit cube and the container; no multiple of a cell width */
#define RADIUS 0.45    /* of the ball-shaped container */
#define SOLIDS 8
#define DROPS 90
#define WAVES 6

typedef struct ball {
    double at[3], r;
} ball;

typedef struct world {
    tl_pressure_scene scene;
    int n;
    double dx;
    double level[2], lean[2]; /* surfaces: height and slope */
    ball drop[DROPS];         /* droplets, the last third bubbles */
    ball solid[SOLIDS];       /* odd ones: boxes with half edge r */
    double wave[WAVES][3], amp[WAVES][3], phase[WAVES], fall;
} world;

const char *tl_pressure_scene_name(tl_pressure_scene s)
{
    static const char *const names[TL_SCENES] = {"sphere", "dam", "tank", "cavity", "plates", "fall"};
    return names[s];
}

static double between(double lo, double hi, uint64_t seed, uint64_t id, uint64_t step)
{
    return lo + (hi - lo) * tl_random(seed, id, step);
}

static void make_world(world *w, tl_pressure_scene scene, int cells, uint64_t seed)
{
    *w = (world){.scene = scene, .n = cells, .dx = 1.0 / cells};
    w->level[0] = between(0.36, 0.40, seed, 1, 0);
    w->level[1] = between(0.70, 0.74, seed, 1, 1);
    for (uint64_t s = 0; s < 2; s++) w->lean[s] = between(-0.1, 0.1, seed, 2, s);
    for (uint64_t k = 0; k < DROPS; k++) {
        ball *b = &w->drop[k];
        bool bubble = k >= DROPS * 2 / 3;
        b->at[0] = bubble ? between(0.08, 0.38, seed, 100 + k, 0) : between(0.5, 0.94, seed, 100 + k, 0);
        b->at[1] = bubble ? between(0.08, 0.6, seed, 100 + k, 1) : between(0.15, 0.95, seed, 100 + k, 1);
        b->at[2] = between(0.06, 0.94, seed, 100 + k, 2);
        b->r = between(0.008, bubble ? 0.03 : 0.045, seed, 100 + k, 3);
    }
    for (uint64_t k = 0; k < SOLIDS; k++) {
        ball *b = &w->solid[k];
        for (uint64_t a = 0; a < 3; a++) /* one in each octant of the liquid */
            b->at[a] =
                (k >> a & 1 ? (a == 1 ? 0.55 : 0.72) : (a == 1 ? 0.22 : 0.28)) + between(-0.04, 0.04, seed, 300 + k, a);
        b->r = between(0.07, 0.12, seed, 300 + k, 3);
    }
    for (uint64_t k = 0; k < WAVES; k++) {
        w->phase[k] = between(0, 6.28, seed, 500 + k, 6);
        for (uint64_t a = 0; a < 3; a++) {
            w->wave[k][a] = between(-9, 9, seed, 500 + k, a);
            w->amp[k][a] = scene == TL_SCENE_FALL ? 0 : between(-0.06, 0.06, seed, 500 + k, 3 + a);
        }
    }
    w->fall = scene == TL_SCENE_DAM ? 0.05 : scene == TL_SCENE_TANK || scene == TL_SCENE_PLATES ? 0.2 : 0.5;
}

static double length(double x, double y, double z) { return sqrt(x * x + y * y + z * z); }
static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

static double solid_distance(const ball *b, bool box, const double p[3])
{
    double x = p[0] - b->at[0], y = p[1] - b->at[1], z = p[2] - b->at[2];
    return box ? larger(larger(fabs(x), fabs(y)), fabs(z)) - b->r : length(x, y, z) - b->r;
}

/* Signed distance to solids, negative outside of them; largest where several are near. */
static double wall(const world *w, const double p[3])
{
    if (w->scene == TL_SCENE_SPHERE || w->scene == TL_SCENE_CAVITY || w->scene == TL_SCENE_FALL)
        return length(p[0] - 0.5, p[1] - 0.5, p[2] - 0.5) - RADIUS;
    double d = -1;
    for (int a = 0; a < 3; a++) d = larger(d, larger(MARGIN - p[a], p[a] - (1 - MARGIN)));
    if (w->scene == TL_SCENE_TANK)
        for (int k = 0; k < SOLIDS; k++) d = larger(d, -solid_distance(&w->solid[k], k & 1, p));
    if (w->scene == TL_SCENE_PLATES) {
        double half = 1.05 * w->dx;
        d = larger(d, half - fabs(p[0] - 0.6123));
        d = larger(d, smaller(half - fabs(p[0] - 0.3071), p[1] - 0.15));
    }
    return d;
}

/* Negative in the liquid. */
static double liquid(const world *w, const double p[3])
{
    double ripple = 0.015 * sin(17 * p[0] + w->phase[0]) * cos(13 * p[2]);
    double tilt = w->lean[0] * (p[0] - 0.5) + w->lean[1] * (p[2] - 0.5) + ripple;
    switch (w->scene) {
    case TL_SCENE_SPHERE: return smaller(p[1] - (w->level[0] + tilt), w->level[1] + tilt - p[1]);
    case TL_SCENE_TANK: return p[1] - (w->level[1] + tilt);
    case TL_SCENE_PLATES: return p[1] - ((p[0] > 0.6123 ? 0.75 : 0.6) + tilt);
    case TL_SCENE_CAVITY: return -1;
    case TL_SCENE_FALL: return 0.4 - p[1];
    default: break;
    }
    double d = larger(p[0] - 0.4 - tilt, p[1] - 0.68 - tilt);
    for (int k = 0; k < DROPS; k++) {
        const ball *b = &w->drop[k];
        double away = length(p[0] - b->at[0], p[1] - b->at[1], p[2] - b->at[2]) - b->r;
        d = k < DROPS * 2 / 3 ? smaller(d, away) : larger(d, -away);
    }
    return d;
}

/* Component `axis` of the velocity: what falls, plus the curl of A cos(k.x + phase) for a few waves. */
static double velocity(const world *w, int axis, const double p[3])
{
    double u = axis == 1 ? -w->fall : 0;
    int b = (axis + 1) % 3, c = (axis + 2) % 3;
    for (int k = 0; k < WAVES; k++) {
        const double *wave = w->wave[k], *amp = w->amp[k];
        u -=
            (wave[b] * amp[c] - wave[c] * amp[b]) * sin(wave[0] * p[0] + wave[1] * p[1] + wave[2] * p[2] + w->phase[k]);
    }
    return u;
}

/* Share of a face where f < 0: 8 x 8 samples of a ramp one sample wide, exact for axis-aligned walls. */
static double open_area(const world *w, int axis, const double centre[3])
{
    double far = wall(w, centre);
    if (far < -w->dx) return 1;
    if (far > w->dx) return 0;
    int b = (axis + 1) % 3, c = (axis + 2) % 3;
    double sub = w->dx / 8, open = 0;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            double p[3] = {centre[0], centre[1], centre[2]};
            p[b] += (i - 3.5) * sub;
            p[c] += (j - 3.5) * sub;
            double inside = 0.5 - wall(w, p) / sub;
            open += inside < 0 ? 0 : inside > 1 ? 1 : inside;
        }
    open /= 64;
    return open < OPEN_MIN ? 0 : open;
}

static void cell_centre(const world *w, const int32_t at[3], double p[3])
{
    for (int a = 0; a < 3; a++) p[a] = (at[a] + 0.5) * w->dx;
}

/* Exactly the same numbers from either side. */
static void face_centre(const world *w, const int32_t at[3], int k, double p[3])
{
    cell_centre(w, at, p);
    p[k / 2] = (at[k / 2] + (k & 1)) * w->dx;
}

static bool is_active(const world *w, const int32_t at[3])
{
    double p[3];
    cell_centre(w, at, p);
    if (liquid(w, p) >= 0) return false;
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
        face_centre(w, at, k, p);
        if ((float)open_area(w, k / 2, p) > 0) return true;
    }
    return false;
}

static void make_row(const world *w, tl_pressure_case *c, int32_t i)
{
    const int32_t *at = c->ijk[i];
    double centre[3], face[3], other[3];
    cell_centre(w, at, centre);
    double here = liquid(w, centre), dir = 0, ar = 0, flux = 0;
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
        face_centre(w, at, k, face);
        cell_centre(w, at, other);
        other[k / 2] = (at[k / 2] + (k & 1 ? 1.5 : -0.5)) * w->dx;
        double open = open_area(w, k / 2, face), there = liquid(w, other);
        c->c[k][i] = 0;
        if ((float)open == 0) continue;
        if (there < 0) {
            c->c[k][i] = (float)open;
        } else {
            double theta = here / (here - there);
            dir += open / larger(theta, THETA_MIN);
            ar += open;
        }
        flux += (k & 1 ? 1 : -1) * open * velocity(w, k / 2, face);
    }
    c->dir[i] = (float)dir;
    c->ar[i] = (float)ar;
    c->b[i] = -flux;
    c->d[i] = c->dir[i];
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) c->d[i] += c->c[k][i];
}

/* ---- bodies ---- */

static void apply_bodies(const void *ctx, const double *x, double *y)
{
    const tl_pressure_case *c = ctx;
    for (int k = 0; k < c->bodies; k++) {
        const tl_pressure_body *b = &c->body[k];
        double r[6] = {0};
        for (int32_t m = 0; m < b->count; m++)
            for (int f = 0; f < 6; f++) r[f] += b->u[m][f] * x[b->cell[m]];
        for (int f = 0; f < 6; f++) r[f] *= b->inverse[f];
        for (int32_t m = 0; m < b->count; m++)
            for (int f = 0; f < 6; f++) y[b->cell[m]] += b->u[m][f] * r[f];
    }
}

/* Row of J'G for cell i and body s: false when the body is not there. A face is solid where it is not open. */
static bool body_row(const world *w, const int32_t at[3], const ball *s, bool box, double u[6])
{
    double centre[3], face[3];
    bool any = false;
    cell_centre(w, at, centre);
    memset(u, 0, sizeof(double) * 6);
    if (solid_distance(s, box, centre) > 2 * w->dx) return false;
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
        face_centre(w, at, k, face);
        double solid = 1 - open_area(w, k / 2, face), sign = k & 1 ? -1 : 1;
        if (solid <= 0) continue;
        int a = k / 2, b = (a + 1) % 3, c = (a + 2) % 3;
        any = true;
        u[a] += sign * solid;
        u[3 + b] += sign * solid * (face[c] - s->at[c]) / w->dx; /* r x e_a */
        u[3 + c] -= sign * solid * (face[b] - s->at[b]) / w->dx;
    }
    return any;
}

static talus_status make_bodies(const world *w, tl_pressure_case *c, double density, uint64_t seed, talus_error *err)
{
    c->body = TL_NEW_ZERO(tl_pressure_body, SOLIDS);
    if (!c->body) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for bodies");
    for (int k = 0; k < SOLIDS; k++) {
        tl_pressure_body *b = &c->body[k];
        const ball *s = &w->solid[k];
        double u[6], r = s->r / w->dx;
        c->bodies++;
        for (int32_t i = 0; i < c->p.n; i++) b->count += body_row(w, c->ijk[i], s, k & 1, u);
        b->cell = TL_NEW(int32_t, b->count + 1);
        b->u = tl_alloc(sizeof *b->u * (size_t)(b->count + 1));
        if (!b->cell || !b->u) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a body in %d cells", b->count);
        b->count = 0;
        for (int32_t i = 0; i < c->p.n; i++) {
            if (!body_row(w, c->ijk[i], s, k & 1, b->u[b->count])) continue;
            b->cell[b->count++] = i;
        }
        double volume = k & 1 ? 8 * r * r * r : 4.18879 * r * r * r;
        double mass = density * between(0.5, 2, seed, 700 + (uint64_t)k, 0) * volume;
        for (int f = 0; f < 3; f++) b->inverse[f] = 1 / mass;
        for (int f = 3; f < 6; f++) b->inverse[f] = 1 / ((k & 1 ? 2.0 / 3 : 0.4) * mass * r * r);
    }
    c->p.extra = (tl_pressure_extra){.add = apply_bodies, .ctx = c};
    return TALUS_OK;
}

/* ---- all together ---- */

void tl_pressure_case_free(tl_pressure_case *c)
{
    tl_free(c->ijk);
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
        tl_free(c->nb[k]);
        tl_free(c->c[k]);
    }
    tl_free(c->dir);
    tl_free(c->ar);
    tl_free(c->d);
    tl_free(c->b);
    for (int k = 0; k < c->bodies; k++) {
        tl_free(c->body[k].cell);
        tl_free(c->body[k].u);
    }
    tl_free(c->body);
    *c = (tl_pressure_case){0};
}

static talus_status take_arrays(tl_pressure_case *c, int32_t n, talus_error *err)
{
    bool good = true;
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
        c->nb[k] = TL_NEW(int32_t, n + 1);
        c->c[k] = TL_NEW(float, n + 1);
        good = good && c->nb[k] && c->c[k];
    }
    c->dir = TL_NEW(float, n + 1);
    c->ar = TL_NEW(float, n + 1);
    c->d = TL_NEW(double, n + 1);
    c->b = TL_NEW(double, n + 1);
    if (!good || !c->dir || !c->ar || !c->d || !c->b)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a problem of %d cells", n);
    return TALUS_OK;
}

/* ijk of the active cells, red first; n of them, *red red. */
static talus_status find_cells(const world *w, tl_pressure_case *c, int32_t *red, talus_error *err)
{
    int n = w->n;
    uint8_t *active = tl_alloc((size_t)n * (size_t)n * (size_t)n);
    if (!active) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d^3 cells", n);
#pragma omp parallel for schedule(dynamic, 1)
    for (int x = 0; x < n; x++)
        for (int y = 0; y < n; y++)
            for (int z = 0; z < n; z++) {
                int32_t at[3] = {x, y, z};
                active[((size_t)x * (size_t)n + (size_t)y) * (size_t)n + (size_t)z] = is_active(w, at);
            }
    int32_t count = 0;
    for (int pass = 0; pass < 3; pass++) { /* count, then red, then black cells */
        size_t at = 0;
        if (pass == 1) {
            c->ijk = tl_alloc(sizeof *c->ijk * (size_t)(count + 1));
            if (!c->ijk) {
                tl_free(active);
                return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d cells", count);
            }
            count = 0;
        }
        if (pass == 2) *red = count;
        for (int32_t x = 0; x < n; x++)
            for (int32_t y = 0; y < n; y++)
                for (int32_t z = 0; z < n; z++) {
                    if (!active[at++] || (pass && ((x + y + z) & 1) != pass - 1)) continue;
                    if (pass) memcpy(c->ijk[count], (int32_t[3]){x, y, z}, sizeof *c->ijk);
                    count++;
                }
    }
    tl_free(active);
    c->p.n = count;
    return TALUS_OK;
}

static talus_status fill(const world *w, tl_pressure_case *c, double density, uint64_t seed, talus_error *err)
{
    int32_t red = 0;
    TL_TRY(find_cells(w, c, &red, err));
    TL_TRY(take_arrays(c, c->p.n, err));
    const int32_t period[3] = {0, 0, 0};
    TL_TRY(tl_pressure_neighbours(c->p.n, red, (const int32_t(*)[3])c->ijk, period, c->nb, err));
#pragma omp parallel for schedule(dynamic, 512)
    for (int32_t i = 0; i < c->p.n; i++) make_row(w, c, i);
    c->p = (tl_pressure){.n = c->p.n,
                         .none = c->p.n,
                         .red = red,
                         .ijk = (const int32_t(*)[3])c->ijk,
                         .dir = c->dir,
                         .ar = c->ar,
                         .d = c->d,
                         .b = c->b,
                         .unilateral = true};
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
        c->p.nb[k] = c->nb[k];
        c->p.c[k] = c->c[k];
    }
    if (density > 0) TL_TRY(make_bodies(w, c, density, seed, err));
    return TALUS_OK;
}

talus_status tl_gen_pressure(tl_pressure_case *c, tl_pressure_scene scene, int cells, uint64_t seed, double density,
                             talus_error *err)
{
    *c = (tl_pressure_case){0};
    if (cells < 8 || cells > 400 || scene >= TL_SCENES || (density > 0 && scene != TL_SCENE_TANK))
        return TL_FAIL(err, TALUS_BAD_INPUT, "no pressure problem with %d cells per edge (8 to 400) of scene %d", cells,
                       (int)scene);
    world w;
    make_world(&w, scene, cells, seed);
    talus_status status = fill(&w, c, density, seed, err);
    if (status != TALUS_OK) tl_pressure_case_free(c);
    return status;
}
