#include "run/verdict.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"

#define LINE_ROOM ((size_t)1 << 16) /* bytes of a row: about 3000 */
#define COLUMNS_MAX 256
#define SOLVES_MAX 8

/* ---- the table that is read ---- */

typedef enum column {
    TIME,
    DT,
    KINETIC,
    POTENTIAL,
    ELASTIC,
    MASS,
    GYRATION,
    LX,
    LY,
    LZ,
    GX,
    GY,
    GZ,
    FX,
    FY,
    FZ,
    AX,
    AY,
    AZ,
    UX,
    UY,
    UZ,
    WX,
    WY,
    WZ,
    E_FORCES,
    E_SCRIPTED,
    E_CORRECTIONS,
    E_UNEXPLAINED,
    VOLUME_ERROR,
    COMPRESSION,
    LIQUID,
    PARTICLES,
    PENETRATION,
    SMALLEST,
    ESCAPED,
    BODIES,
    BODIES_ESCAPED,
    FASTEST,
    COLUMNS
} column;

static const char *const names[COLUMNS] = {"t_s",
                                           "dt_s",
                                           "kinetic_J",
                                           "potential_J",
                                           "elastic_J",
                                           "mass_kg",
                                           "gyration_m",
                                           "angular_momentum_x_kg_m2_s",
                                           "angular_momentum_y_kg_m2_s",
                                           "angular_momentum_z_kg_m2_s",
                                           "impulse_gravity_x_N_s",
                                           "impulse_gravity_y_N_s",
                                           "impulse_gravity_z_N_s",
                                           "impulse_forces_x_N_s",
                                           "impulse_forces_y_N_s",
                                           "impulse_forces_z_N_s",
                                           "angular_impulse_x_N_m_s",
                                           "angular_impulse_y_N_m_s",
                                           "angular_impulse_z_N_m_s",
                                           "momentum_unexplained_x_kg_m_s",
                                           "momentum_unexplained_y_kg_m_s",
                                           "momentum_unexplained_z_kg_m_s",
                                           "angular_unexplained_x_kg_m2_s",
                                           "angular_unexplained_y_kg_m2_s",
                                           "angular_unexplained_z_kg_m2_s",
                                           "energy_forces_J",
                                           "energy_scripted_J",
                                           "energy_corrections_J",
                                           "energy_unexplained_J",
                                           "volume_error",
                                           "compression",
                                           "liquid_volume_m3",
                                           "particles",
                                           "penetration_m",
                                           "smallest_extent_m",
                                           "escaped",
                                           "bodies",
                                           "bodies_escaped",
                                           "fastest_m_s"};

typedef struct solve {
    char name[24];
    int outcome, certificate, target; /* columns */
    int64_t missed, spent;            /* steps */
    double worst;                     /* certificate over its target */
    double left, most_left;           /* certificates of steps that spent a budget: sum, largest */
} solve;

typedef struct reckoning {
    int at[COLUMNS]; /* column of the file, -1: not there */
    int solves;
    solve solve[SOLVES_MAX];
    int64_t steps;
    double t;
    /* momentum */
    double p[3], L[3];       /* unexplained so far */
    double most_p, most_L;   /* largest of them */
    double scale_p, scale_L; /* impulses of gravity and forces; torques of all that is known */
    double moving, turning;  /* largest sqrt(2 m K); largest |L| and the same times the radius of gyration */
    /* energy */
    double e, e_low, e_high, gained, lost; /* unexplained so far, its least and largest, the largest rise and fall */
    double most_kinetic, potential_low, potential_high, work, fall;
    /* volume, penetration, escaped */
    double volume, compression, penetration, share, escaped, particles, bodies, bodies_escaped;
    bool liquid, open;
} reckoning;

static int split(char *line, char *cell[COLUMNS_MAX])
{
    int count = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *p = line; p && count < COLUMNS_MAX;) {
        cell[count++] = p;
        p = strchr(p, ',');
        if (p) *p++ = '\0';
    }
    return count;
}

static int find(int count, char **cell, const char *name)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(cell[i], name)) return i;
    return -1;
}

static void read_header(reckoning *r, int count, char **cell)
{
    static const char ending[] = "_outcome";
    for (int k = 0; k < COLUMNS; k++) r->at[k] = find(count, cell, names[k]);
    for (int i = 0; i < count && r->solves < SOLVES_MAX; i++) {
        size_t length = strlen(cell[i]);
        if (length <= sizeof ending || length >= 40 || strcmp(cell[i] + length - sizeof ending + 1, ending)) continue;
        solve *s = &r->solve[r->solves++];
        char name[64];
        snprintf(s->name, sizeof s->name, "%.*s", (int)(length - sizeof ending + 1), cell[i]);
        s->outcome = i;
        snprintf(name, sizeof name, "%s_certificate", s->name);
        s->certificate = find(count, cell, name);
        snprintf(name, sizeof name, "%s_target", s->name);
        s->target = find(count, cell, name);
    }
}

static double number(int count, char **cell, int i) { return i >= 0 && i < count ? strtod(cell[i], NULL) : NAN; }

static double part(double x, double of) { return x == 0 ? 0 : x / of; }

static double length3(const double *x) { return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }

/* Errors of contacts that are m/s are measured by what moves fastest, and by what gravity gives in a step. */
static void add_solves(reckoning *r, int count, char **cell, double speed)
{
    for (int k = 0; k < r->solves; k++) {
        solve *s = &r->solve[k];
        const char *outcome = s->outcome < count ? cell[s->outcome] : "";
        double certificate = number(count, cell, s->certificate), target = number(count, cell, s->target);
        bool spent = !strcmp(outcome, "budget spent");
        s->missed += *outcome && strcmp(outcome, "converged") && !spent;
        s->spent += spent;
        double left = strcmp(s->name, "elastic") ? part(certificate, speed) : certificate;
        if (spent && left > 0) s->left += left, s->most_left = fmax(s->most_left, left);
        if (target > 0) s->worst = fmax(s->worst, certificate / target);
    }
}

static double or_0(double x) { return isfinite(x) ? x : 0; }

/* Components that are not accounted for (NaN) are left out; the line says so when all are. */
static void add_momentum(reckoning *r, const double *x)
{
    for (int k = 0; k < 3; k++) {
        r->p[k] += x[UX + k];
        r->L[k] += or_0(x[WX + k]);
    }
    r->most_p = fmax(r->most_p, length3(r->p)) + 0 * length3(r->p); /* NaN stays */
    r->most_L = fmax(r->most_L, length3(r->L));
    r->scale_p += length3(x + GX) + or_0(length3(x + FX));
    r->scale_L += or_0(length3(x + AX));
    double moving = sqrt(2 * x[MASS] * x[KINETIC]);
    r->moving = fmax(r->moving, moving);
    r->turning = fmax(r->turning, length3(x + LX) + moving * x[GYRATION]);
    r->scale_L += x[GYRATION] * length3(x + GX);
}

static void add_energy(reckoning *r, const double *x)
{
    double g = x[MASS] > 0 && x[DT] > 0 ? length3(x + GX) / (x[MASS] * x[DT]) : 0, step = g * x[DT];
    r->e += x[E_UNEXPLAINED] + or_0(x[E_CORRECTIONS]);
    r->gained = fmax(r->gained, r->e - r->e_low);
    r->lost = fmax(r->lost, r->e_high - r->e);
    r->e_low = fmin(r->e_low, r->e);
    r->e_high = fmax(r->e_high, r->e);
    r->most_kinetic = fmax(r->most_kinetic, x[KINETIC] + fabs(or_0(x[ELASTIC])));
    r->potential_low = r->steps ? fmin(r->potential_low, x[POTENTIAL]) : x[POTENTIAL];
    r->potential_high = r->steps ? fmax(r->potential_high, x[POTENTIAL]) : x[POTENTIAL];
    r->fall = fmax(r->fall, 0.5 * x[MASS] * step * step);
    /* a press that squeezes does work without end: only what is of the size of the motion is in play */
    r->work += fmin(fabs(or_0(x[E_FORCES])) + fabs(or_0(x[E_SCRIPTED])), x[KINETIC] + fabs(or_0(x[ELASTIC])) + r->fall);
}

static void add_row(reckoning *r, int count, char **cell)
{
    double x[COLUMNS];
    for (int k = 0; k < COLUMNS; k++) x[k] = number(count, cell, r->at[k]);
    add_solves(r, count, cell, x[FASTEST] + (x[MASS] > 0 ? length3(x + GX) / x[MASS] : 0));
    add_momentum(r, x);
    add_energy(r, x);
    if (x[PARTICLES] > 0 && isfinite(x[VOLUME_ERROR])) {
        r->liquid = true;
        if (fabs(x[VOLUME_ERROR]) > fabs(r->volume)) r->volume = x[VOLUME_ERROR];
        r->compression = fmax(r->compression, or_0(x[COMPRESSION]));
    }
    r->penetration = fmax(r->penetration, x[PENETRATION]);
    if (x[SMALLEST] > 0) r->share = fmax(r->share, x[PENETRATION] / x[SMALLEST]);
    r->escaped = fmax(r->escaped, x[ESCAPED] - or_0(x[BODIES_ESCAPED]));
    r->bodies = fmax(r->bodies, x[BODIES]);
    r->bodies_escaped = fmax(r->bodies_escaped, x[BODIES_ESCAPED]);
    r->particles = fmax(r->particles, x[PARTICLES]);
    r->t = x[TIME];
    r->steps++;
}

static talus_status read_rows(reckoning *r, FILE *f, const char *path, talus_error *err)
{
    char *line = TL_NEW(char, LINE_ROOM), *cell[COLUMNS_MAX];
    if (!line) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to read %.300s", path);
    int columns = 0;
    while (fgets(line, (int)LINE_ROOM, f)) {
        if (!strchr(line, '\n')) break; /* a row that is being written */
        int count = split(line, cell);
        if (!columns)
            read_header(r, columns = count, cell);
        else if (count == columns)
            add_row(r, count, cell);
    }
    tl_free(line);
    return ferror(f) ? TL_FAIL(err, TALUS_IO, "%.300s: cannot read it", path) : TALUS_OK;
}

/* ---- what it comes to ---- */

static void say(talus_verdict_line *l, const char *format, ...)
{
    va_list a;
    size_t used = strlen(l->text);
    va_start(a, format);
    vsnprintf(l->text + used, sizeof l->text - used, format, a);
    va_end(a);
}

static const char *solve_remedy(const char *name, bool spent)
{
    if (spent)
        return "shorter steps (dt_max), lg.corrections if it is 0, more lg.iterations; where friction decides more "
               "lg.inner or "
               "lg.cr_iterations";
    static const char *const remedy[][2] = {
        {"contact",
         "shorter steps (dt_max), or more solver.contact.iterations; with liquid or sand more solver.sweeps"},
        {"pressure", "shorter steps (dt_max, cfl), or more solver.sweeps or solver.pressure.iterations"},
        {"stress", "more solver.sweeps, or shorter steps (dt_max, grid.cfl)"},
        {"viscosity", "shorter steps (dt_max)"},
    };
    for (size_t k = 0; k < sizeof remedy / sizeof remedy[0]; k++)
        if (!strcmp(name, remedy[k][0])) return remedy[k][1];
    return "shorter steps (dt_max)";
}

/* The share of steps that missed, of the worst solve; for those that only spend a budget, the mean of what they left
 * over. */
static void judge_solves(const reckoning *r, talus_verdict_line *l, const char **remedy)
{
    double worst = -1;
    int told = 0;
    for (int k = 0; k < r->solves; k++) {
        const solve *s = &r->solve[k];
        double share = (double)(s->missed + s->spent) / (double)r->steps;
        if (s->spent) share = s->left / (double)r->steps;
        if (share > worst) worst = share, *remedy = solve_remedy(s->name, s->spent > 0);
        if (!s->missed && !s->spent) continue;
        say(l, told++ ? "; " : "");
        if (s->spent)
            say(l, "%s left %.2g %% of %s in the mean, %.2g %% at worst, with its rounds spent", s->name,
                100 * s->left / (double)r->steps, strcmp(s->name, "elastic") ? "speeds open" : "forces unbalanced",
                100 * s->most_left);
        else
            say(l, "%s missed its target in %.3g %% of the steps, at worst %.2g times", s->name, 100 * share, s->worst);
    }
    if (!told) say(l, r->solves ? "all reached their targets in all steps" : "nothing to solve");
    l->value = fmax(worst, 0);
}

static void judge_momentum(const reckoning *r, talus_verdict_line *l, const char **remedy)
{
    double p = part(r->most_p, r->scale_p + r->moving), L = part(r->most_L, r->scale_L + r->turning);
    *remedy = "shorter steps (dt_max, cfl), smaller cells, walls and bodies at least two cells thick";
    l->value = isnan(p) ? NAN : fmax(p, L);
    if (isnan(p))
        say(l, "not accounted for by this engine");
    else
        say(l, "%.2g %% unexplained, angular %.2g %%", 100 * p, 100 * L);
}

static void judge_energy(const reckoning *r, talus_verdict_line *l, const char **remedy)
{
    double scale = r->most_kinetic + (r->potential_high - r->potential_low) + r->work + r->fall;
    *remedy = "shorter steps (dt_max, cfl); where solves missed, cure that first";
    if (isnan(r->e) || isnan(scale)) {
        l->value = NAN;
        say(l, "not accounted for by this engine");
        return;
    }
    l->value = part(r->gained, scale);
    say(l, "%.2g %% gained, %.2g %% lost that nothing explains, of %.3g J", 100 * l->value, 100 * part(r->lost, scale),
        scale);
}

static void judge_volume(const reckoning *r, talus_verdict_line *l, const char **remedy)
{
    *remedy = "walls and bodies at least two cells thick, smaller cells, or shorter steps (cfl)";
    l->value = r->liquid ? fmax(fabs(r->volume), r->compression) : 0;
    if (r->liquid) say(l, "off by %+.2g %% at worst", 100 * r->volume);
    if (r->liquid && r->compression > 0) say(l, ", particles %.2g %% too dense in the mean", 100 * r->compression);
    if (!r->liquid) say(l, "nothing flows");
}

static void judge_penetration(const reckoning *r, talus_verdict_line *l, const char **remedy)
{
    *remedy = "shorter steps (dt_max), thicker bodies";
    l->value = r->share;
    say(l, "%.2g mm at the deepest", 1e3 * r->penetration);
    if (r->share > 0) say(l, ", %.2g %% of the smallest body", 100 * r->share);
}

static void judge_escaped(const reckoning *r, talus_verdict_line *l, const char **remedy)
{
    *remedy = "a larger domain, closed walls (domain.x_min, ...), thicker walls or shorter steps";
    l->value = fmax(part(r->escaped, fmax(r->escaped, r->particles)), part(r->bodies_escaped, r->bodies));
    if (r->particles > 0) say(l, "%.0f of %.0f particles", r->escaped, r->particles);
    if (r->particles > 0 && r->bodies_escaped > 0) say(l, ", ");
    if (r->bodies_escaped > 0) say(l, "%.0f of %.0f bodies", r->bodies_escaped, r->bodies);
    if (!(r->particles > 0 || r->bodies_escaped > 0)) say(l, "%.0f", r->escaped);
    if (r->open) say(l, ", with open walls");
}

static const struct row {
    const char *name;
    size_t accept; /* of the scene's limit in tl_accept_spec */
    double limit;  /* of talus */
    void (*judge)(const reckoning *r, talus_verdict_line *l, const char **remedy);
} rows[] = {
    {"solves", offsetof(tl_accept_spec, missed), 0.05, judge_solves},
    {"momentum", offsetof(tl_accept_spec, momentum), 0.05, judge_momentum},
    {"energy", offsetof(tl_accept_spec, energy), 0.05, judge_energy},
    {"volume", offsetof(tl_accept_spec, volume), 0.03, judge_volume},
    {"penetration", offsetof(tl_accept_spec, penetration), 0.02, judge_penetration},
    {"escaped", offsetof(tl_accept_spec, escaped), 0.01, judge_escaped},
};
#define ROWS ((int)(sizeof rows / sizeof rows[0]))

static void judge(const reckoning *r, const tl_accept_spec *accept, talus_verdict *out)
{
    out->steps = r->steps;
    out->time = r->t;
    for (int k = 0; k < ROWS && r->steps; k++) {
        talus_verdict_line *l = &out->line[out->lines++];
        const char *remedy = "";
        double asked = *(const double *)((const char *)accept + rows[k].accept);
        snprintf(l->name, sizeof l->name, "%s", rows[k].name);
        rows[k].judge(r, l, &remedy);
        bool meant = r->open && rows[k].judge == judge_escaped;
        l->limit = asked > 0 ? asked : meant ? 1 : rows[k].limit;
        l->bad = l->value > l->limit;
        l->refused = asked > 0 && !(l->value <= asked);
        out->bad += l->bad || l->refused;
        out->refused += l->refused;
        if (l->bad) snprintf(l->remedy, sizeof l->remedy, "%s", remedy);
    }
}

talus_status tl_verdict_reckon(const char *steps_csv, const tl_accept_spec *accept, bool open, talus_verdict *out,
                               talus_error *err)
{
    reckoning r = {.open = open};
    *out = (talus_verdict){0};
    FILE *f = tl_file_reader(steps_csv);
    if (!f && errno == ENOENT) return TALUS_OK;
    if (!f) return TL_FAIL(err, TALUS_IO, "%.300s: %s", steps_csv, strerror(errno));
    tl_c_numbers point = tl_c_numbers_begin();
    talus_status status = read_rows(&r, f, steps_csv, err);
    tl_c_numbers_end(point);
    fclose(f);
    if (status == TALUS_OK) judge(&r, accept, out);
    return status;
}
