#include <math.h>
#include <string.h>

#include "base/cancel.h"
#include "solve/dual/work.h"

#define CONE_SWEEPS 20 /* as of kind "coupled" */
#define SWEEPS 60      /* at an impact up to 30 are needed, as of kind "coupled" */

static const tl_dual_scheme schemes[] = {
    {.name = "pec",
     .help = "pressure and normal forces as one, contact with its friction, until still",
     .sweeps = SWEEPS,
     .block = {tl_dual_pressure_normal, tl_dual_contact}},
    {.name = "pec-gs",
     .help = "pressure, contact with its friction, until still",
     .sweeps = SWEEPS,
     .block = {tl_dual_pressure, tl_dual_contact}},
    {.name = "pe-ec",
     .help = "pressure, then contact, once",
     .sweeps = 1,
     .block = {tl_dual_pressure, tl_dual_contact}},
    {.name = "ec-pe",
     .help = "contact, then pressure, once",
     .sweeps = 1,
     .block = {tl_dual_contact, tl_dual_pressure}},
    {.name = "pec-g",
     .help = "pec with a factor of the stiffness among its unknowns, as published",
     .projected = true,
     .sweeps = SWEEPS,
     .block = {tl_dual_by_g, tl_dual_contact}},
    {.name = "pec-g-scaled",
     .help = "the same, scaled, with a thousandth of the mass",
     .projected = true,
     .sweeps = SWEEPS,
     .block = {tl_dual_by_g_scaled, tl_dual_contact}},
    {.name = "pec-z1z2",
     .help = "pec with velocities of nodes among its unknowns",
     .projected = true,
     .sweeps = SWEEPS,
     .block = {tl_dual_by_z1z2, tl_dual_contact}},
    {.name = "pec-ica",
     .help = "pec with masses in place of bodies, and bodies, in turns",
     .projected = true,
     .sweeps = SWEEPS,
     .block = {tl_dual_by_ica, tl_dual_contact}},
    {.name = "pec-ucg",
     .help = "pec by conjugate gradients without a preconditioner",
     .sweeps = SWEEPS,
     .block = {tl_dual_by_ucg, tl_dual_contact}},
    {.name = "pvec",
     .help = "pressure and viscous stress, contact with its friction, until still",
     .sweeps = SWEEPS,
     .block = {tl_dual_viscous_stress, tl_dual_contact}},
    {.name = "pvec-ucg",
     .help = "pvec by conjugate gradients on pressures alone",
     .uzawa = true,
     .sweeps = SWEEPS,
     .block = {tl_dual_viscous_stress, tl_dual_contact}},
    {.name = "pve-ec",
     .help = "pressure and viscous stress, then contact, once",
     .sweeps = 1,
     .block = {tl_dual_viscous_stress, tl_dual_contact}},
    {.name = "ec-pve",
     .help = "contact, then pressure and viscous stress, once",
     .sweeps = 1,
     .block = {tl_dual_contact, tl_dual_viscous_stress}},
    {.name = "f-p-c",
     .help = "stress, pressure, contact with its friction, until still",
     .cones = true,
     .sweeps = CONE_SWEEPS,
     .block = {tl_dual_stress, tl_dual_pressure, tl_dual_contact}},
};

int tl_dual_scheme_count(void) { return (int)(sizeof schemes / sizeof *schemes); }
const tl_dual_scheme *tl_dual_scheme_at(int i) { return i >= 0 && i < tl_dual_scheme_count() ? &schemes[i] : NULL; }
const char *tl_dual_scheme_name(const tl_dual_scheme *s) { return s->name; }
bool tl_dual_scheme_cones(const tl_dual_scheme *s) { return s->cones; }
bool tl_dual_scheme_projected(const tl_dual_scheme *s) { return s->projected; }

bool tl_dual_scheme_split(const tl_dual_scheme *s)
{
    bool split = true;
    for (int b = 0; b < TL_DUAL_BLOCKS; b++)
        split = split && (!s->block[b] || s->block[b] == tl_dual_pressure || s->block[b] == tl_dual_contact ||
                          s->block[b] == tl_dual_viscous_stress || s->block[b] == tl_dual_stress);
    return split;
}

bool tl_dual_scheme_written(const tl_dual_scheme *s) { return s->projected; }

bool tl_dual_scheme_viscous(const tl_dual_scheme *s)
{
    return s->block[0] == tl_dual_viscous_stress || s->block[1] == tl_dual_viscous_stress;
}

const tl_dual_scheme *tl_dual_scheme_find(const char *name)
{
    for (int i = 0; i < tl_dual_scheme_count(); i++)
        if (!strcmp(schemes[i].name, name)) return &schemes[i];
    return NULL;
}

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a solve of liquid and solids");
}

static talus_status make_plans(tl_dual_solver *s, talus_error *err)
{
    tl_dual_work *w = s->work;
    const tl_pressure_options options = tl_pressure_options_default();
    for (int k = 0; k < 2; k++) {
        tl_pressure *q = &w->problem[k];
        *q = s->p->pressure;
        q->dir = w->dir;
        q->own = w->own;
        q->d = w->d;
        q->b = w->b;
        q->extras = k ? w->contacts : 0;
        q->extra = (tl_pressure_extra){.add = k ? tl_dual_add_with_normals : tl_dual_add_alone,
                                       .ctx = s,
                                       .diag = w->normal,
                                       .rest = 1,
                                       .columns = w->columns_max,
                                       .gather = k ? tl_dual_gather : tl_dual_gather_alone,
                                       .scatter = k ? tl_dual_scatter : tl_dual_scatter_alone};
        bool wanted = false;
        for (int b = 0; b < TL_DUAL_BLOCKS; b++)
            wanted |= s->scheme->block[b] == (k && w->contacts ? tl_dual_pressure_normal : tl_dual_pressure);
        if (!w->contacts) wanted = k == 0;
        if (wanted && w->cells) TL_TRY(tl_pressure_plan_make(&w->plan[k], s->method, q, &options, s->arena, err));
    }
    return TALUS_OK;
}

talus_status tl_dual_begin(tl_dual_solver *s, talus_error *err)
{
    tl_arena *a = s->arena;
    const tl_flex *f = s->p->flex;
    tl_dual_work *w = s->work = TL_TAKE_ZERO(a, tl_dual_work, 1);
    if (!w) return no_memory(err);
    w->cells = s->p->pressure.n;
    w->contacts = f->contacts;
    w->n = tl_flex_size(f);
    w->columns_max = TL_DUAL_MODES * f->parts;
    for (int32_t b = 0; b < f->rigid; b++) w->columns_max += f->inv_mass[b] > 0 ? TL_DUAL_MODES : 0;
    const int64_t all = (int64_t)w->cells + w->contacts, bodies = (int64_t)f->parts + f->rigid;
    struct {
        double **to;
        int64_t n;
    } const room[] = {{&w->x, all},
                      {&w->x0, all},
                      {&w->b, all},
                      {&w->went, all},
                      {&w->gap, w->cells},
                      {&w->r, w->n},
                      {&w->w, w->n},
                      {&w->D, w->n},
                      {&w->load, w->n},
                      {&w->u, 3 * (int64_t)w->contacts},
                      {&w->share, w->cells},
                      {&w->d, w->cells},
                      {&w->scale, w->contacts},
                      {&w->normal, w->contacts},
                      {&w->inner, TL_DUAL_MODES * TL_DUAL_MODES * bodies}};
    for (size_t k = 0; k < sizeof room / sizeof *room; k++)
        if (!(*room[k].to = TL_TAKE_ZERO(a, double, room[k].n + 1))) return no_memory(err);
    s->load = w->load;
    w->dir = TL_TAKE(a, float, w->cells + 1);
    w->own = TL_TAKE_ZERO(a, float, w->cells + 1);
    w->part = TL_TAKE(a, int32_t, bodies + 1);
    if (!w->dir || !w->own || !w->part) return no_memory(err);
    memcpy(w->dir, s->p->pressure.dir, sizeof *w->dir * (size_t)w->cells);
    memcpy(w->d, s->p->pressure.d, sizeof *w->d * (size_t)w->cells);
    for (int32_t j = 0; j < w->contacts; j++) w->normal[j] = TL_DUAL_NORMAL_DIAGONAL;
    if (s->p->sand) TL_TRY(tl_anderson_begin(&w->mixing, all, a, err));
    if (s->scheme->projected) TL_TRY(tl_dual_joint_begin(s, err));
    TL_TRY(tl_dual_mix_begin(s, err));
    return s->p->viscous ? tl_dual_viscous_begin(s, err) : make_plans(s, err);
}

static bool good(const tl_dual_solver *s, const tl_dual_certificate *c)
{
    return c->pressure <= s->tolerance && c->stress <= s->tolerance && c->solids.contact <= s->slack;
}

talus_status tl_dual_run_block(tl_dual_solver *s, tl_dual_block *block, tl_dual_report *out, talus_error *err)
{
    if (!block) return TALUS_OK;
    if (block == tl_dual_pressure_normal && !s->work->contacts) block = tl_dual_pressure;
    size_t mark = tl_arena_mark(s->arena);
    TL_TRY(block(s, out, err));
    if (block != tl_dual_contact) tl_arena_release(s->arena, mark); /* contacts keep the room of their matrices */
    if (s->work->failed != TALUS_OK) {
        if (err) *err = s->work->why;
        return s->work->failed;
    }
    return tl_cancel_check(err);
}

talus_status tl_dual_solve(tl_dual_solver *s, bool fresh, double *p, double *lam, double *dv, tl_dual_report *out,
                           talus_error *err)
{
    tl_dual_work *w = s->work;
    const bool once = s->scheme->sweeps == 1;
    int max = !once && s->sweeps > 0 ? s->sweeps : s->scheme->sweeps;
    w->p = p;
    w->lam = lam;
    w->dv = dv;
    *out = (tl_dual_report){.result = TL_OUT_OF_ITERATIONS};
    if (fresh) {
        tl_dual_fit(s);
        w->fresh = true;
        w->joined = false;
    }
    if (s->p->viscous) {
        TL_TRY(tl_dual_viscous_plan(s, err));
        tl_dual_viscous_start(s);
    } else {
        TL_TRY(tl_dual_settle(s, err));
    }
    if (s->scheme->cones) return tl_dual_sweep_cones(s, out, err);
    TL_TRY(tl_dual_mix_start(s, err));
    for (bool moves = true; out->sweeps < max && out->result != TL_CONVERGED && moves;) {
        int before = out->pressure_iterations;
        if (out->sweeps > 0) {
            tl_dual_mix(s);
            if (!s->p->viscous) TL_TRY(tl_dual_settle(s, err));
        }
        for (int k = 0; k < TL_DUAL_BLOCKS; k++) TL_TRY(tl_dual_run_block(s, s->scheme->block[k], out, err));
        TL_TRY(tl_dual_certify(s, &out->certificate, err));
        tl_dual_mix_end(s);
        if (good(s, &out->certificate)) out->result = TL_CONVERGED;
        out->sweeps++;
        /* a pressure that stays leaves contacts the problem that they have just had */
        moves = s->p->viscous || out->pressure_iterations > before;
    }
    return TALUS_OK;
}
