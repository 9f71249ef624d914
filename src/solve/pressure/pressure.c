#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/sum.h"
#include "base/timer.h"
#include "solve/pressure/algebraic.h"
#include "solve/pressure/as_box.h"
#include "solve/pressure/bounded.h"
#include "solve/pressure/cycle.h"
#include "solve/pressure/method.h"
#include "solve/pressure/mic.h"
#include "solve/pressure/nested.h"
#include "solve/pressure/space.h"

#define FEW_PARTS 8   /* up to which gathering level 3 costs less than messages of further levels [measured: 1 to 8] */
#define FIRST_WHOLE 3 /* a cell of that level is a block of the grid */
#define PATIENCE 30   /* iterations in which multigrid must gain a digit; a healthy one gains one in two */

#define ROUGH_BYTES 84 /* per cell, of a plan: 78 to 82 for multigrid, 81 for mic; small problems need more */

struct tl_pressure_method {
    const char *name;
    const tl_cycle_kind *cycle; /* NULL: mic */
    bool bounded;
    const char *box;     /* name of a method for boxes that does it; NULL: solved here */
    const char *algebra; /* of another library, in place of the cycle but for the nested start; NULL: none */
};

static const tl_pressure_method methods[] = {
    {"multigrid", &tl_cycle_float, true, NULL, NULL}, /* bounded, a multigrid cycle on the free cells (the default) */
    {"mic", NULL, true, NULL, NULL},                  /* bounded, an incomplete factor of the free cells */
    {"cg-multigrid", &tl_cycle_float, false, NULL, NULL}, /* ignores the bounds */
    {"cg-mic", NULL, false, NULL, NULL},                  /* ignores the bounds */
    {"multigrid-double", &tl_cycle_double, true, NULL, NULL},
    /* those for boxes, of [FM21 tab. 1], preconditioned by mic, for comparison */
    {"mprgp", NULL, true, "mprgp", NULL},
    {"mprgp-original", NULL, true, "mprgp-original", NULL}, /* with the expansion step of its authors */
    {"admm", NULL, true, "admm", NULL},                     /* iterations left out show as lost volume */
    {"pip", NULL, true, "pip", NULL},
    {"auglag", NULL, true, "auglag", NULL},
    {"cg", NULL, false, "cg", NULL}, /* ignores the bounds */
    /* with PETSc, where the run is on a cluster; the first two inside of the loop that multigrid has */
    {"petsc-hypre", &tl_cycle_float, true, NULL, "hypre"}, /* BoomerAMG of the free cells */
    {"petsc-gamg", &tl_cycle_float, true, NULL, "gamg"},   /* smoothed aggregation of the free cells */
    {"petsc-vi", &tl_cycle_float, true, NULL, "vi"},       /* Newton's method for variational inequalities */
};
#define METHODS ((int)(sizeof methods / sizeof methods[0]))
#define OF_THIS_KIND 5
#define ON_CLUSTERS 3
static const tl_pressure_method *const mic = &methods[1], *const in_double = &methods[4];

int tl_pressure_method_count(void) { return OF_THIS_KIND; }
int tl_pressure_method_count_all(void) { return METHODS - ON_CLUSTERS; }
const tl_pressure_method *tl_pressure_method_at(int i) { return &methods[i]; }
const char *tl_pressure_method_name(const tl_pressure_method *m) { return m->name; }
bool tl_pressure_method_bounded(const tl_pressure_method *m) { return m->bounded; }
bool tl_pressure_method_in_parts(const tl_pressure_method *m) { return m->cycle != NULL; }

const tl_pressure_method *tl_pressure_method_find(const char *name)
{
    for (int i = 0; i < METHODS; i++)
        if (!strcmp(methods[i].name, name)) return &methods[i];
    return NULL;
}

tl_pressure_options tl_pressure_options_default(void)
{
    return (tl_pressure_options){
        .start = TL_PRESSURE_NESTED,
        .mic_below = 2000, /* equal times between 1000 and 3000 cells */
        .retry = true,
        .rebuild = true,
        .split = true,
    };
}

/* ---- plans ---- */

struct tl_pressure_plan {
    const tl_pressure_method *method;
    tl_pressure_options options;
    int32_t n, extras;
    size_t bytes;
    double *vector[5]; /* [n + extras + 1] */
    tl_levels levels;
    tl_cycle *cycle;
    tl_nested nested;
    tl_mic mic;
    tl_lowrank lowrank;
    tl_algebraic algebraic;
};

static bool in_parts(const tl_pressure *p) { return p->space && !tl_comm_alone(p->space->comm); }

static int whole_level(const tl_pressure *p, const tl_pressure_options *o)
{
    if (!p->space) return 0;
    const int most = p->space->together, few = p->space->comm->parts <= FEW_PARTS;
    const int wanted = o->whole > 0 ? o->whole : few ? FIRST_WHOLE : most;
    return wanted < most ? wanted : most;
}

static talus_status no_memory(int32_t n, talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a pressure solve of %d cells", n);
}

static talus_status take_vectors(tl_pressure_plan *s, int64_t entries, tl_arena *a, talus_error *err)
{
    const size_t length = ((size_t)entries + 7) / 8 * 8;
    double *block = TL_TAKE(a, double, 5 * length);
    if (!block) return no_memory(s->n, err);
    for (int k = 0; k < 5; k++) s->vector[k] = block + (size_t)k * length;
    return TALUS_OK;
}

static talus_status take_structure(tl_pressure_plan *s, const tl_pressure *p, tl_arena *a, talus_error *err)
{
    double *scratch = s->vector[0]; /* five vectors in a row hold three of scratch */
    if (s->method->box) return TALUS_OK;
    if (!s->method->cycle) return tl_mic_take(&s->mic, p, scratch, a, err);
    const tl_levels_how how = {s->options.split, whole_level(p, &s->options)};
    TL_TRY(tl_levels_build(&s->levels, p, how, scratch, a, err));
    s->cycle = s->method->cycle->take(&s->levels, a);
    const int64_t longest = tl_nested_length(&s->levels);
    talus_status status = longest > tl_pressure_length(p) ? take_vectors(s, longest, a, err) : TALUS_OK;
    if (status == TALUS_OK && (!s->cycle || !tl_nested_take(&s->nested, &s->levels, a))) status = no_memory(p->n, err);
    TL_TRY(tl_comm_agree(tl_pressure_comm(p->space), status, err));
    return s->method->algebra ? tl_algebraic_take(&s->algebraic, s->method->algebra, p, a, err) : TALUS_OK;
}

static talus_status begin_plan(tl_pressure_plan **plan, const tl_pressure_method *m, const tl_pressure *p,
                               const tl_pressure_options *o, tl_arena *a, talus_error *err)
{
    tl_pressure_plan *s = *plan = tl_arena_take_zero(a, sizeof *s);
    if (!s) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a pressure solve");
    s->method = m == &methods[0] && p->n < o->mic_below && !in_parts(p) ? mic : m;
    s->options = *o;
    s->n = p->n;
    s->extras = p->extras;
    return take_vectors(s, tl_pressure_length(p), a, err);
}

/* What a method cannot do, the same on all parts. */
static talus_status refuse(const tl_pressure_method *m, const tl_pressure *p, talus_error *err)
{
    if (in_parts(p) && !m->cycle)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "pressure method %s works on one process, not on %d: multigrid does",
                       m->name, p->space->comm->parts);
    if (m->algebra && !(p->space && p->space->comm->algebra))
        return TL_FAIL(err, TALUS_UNSUPPORTED, "pressure method %s needs several processes and PETSc", m->name);
    if (m->algebra && !strcmp(m->algebra, "vi") && p->extra.add)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "pressure method %s does not know bodies or contacts", m->name);
    return TALUS_OK;
}

talus_status tl_pressure_plan_make(tl_pressure_plan **plan, const tl_pressure_method *m, const tl_pressure *p,
                                   const tl_pressure_options *o, tl_arena *a, talus_error *err)
{
    const tl_comm *comm = tl_pressure_comm(p->space);
    TL_TRY(refuse(m, p, err));
    TL_TRY(tl_comm_reserve(comm, a, (size_t)ROUGH_BYTES * (size_t)p->n, err)); /* one block, where it fits */
    size_t before = tl_arena_mark(a);
    tl_pressure_plan *s;
    TL_TRY(tl_comm_agree(comm, begin_plan(&s, m, p, o, a, err), err));
    TL_TRY(take_structure(s, p, a, err));
    talus_status status = TALUS_OK;
    if ((s->method->cycle || m->cycle) && !tl_lowrank_take(&s->lowrank, p, a))
        status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the bodies of a pressure solve");
    TL_TRY(tl_comm_agree(comm, status, err));
    s->bytes = tl_arena_mark(a) - before;
    *plan = s;
    return TALUS_OK;
}

size_t tl_pressure_plan_bytes(const tl_pressure_plan *plan) { return plan->bytes; }
void tl_pressure_plan_start(tl_pressure_plan *plan, tl_pressure_start start) { plan->options.start = start; }

/* ---- runs ---- */

static tl_pressure_system system_of(const tl_pressure *p, bool bounded)
{
    tl_pressure_system s = {
        .space = p->space, .n = p->n, .extras = p->extras, .none = p->none, .d = p->d, .b = p->b, .extra = p->extra};
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
        s.nb[k] = p->nb[k];
        s.c[k] = p->c[k];
    }
    s.lo = bounded && p->unilateral ? 0 : -INFINITY;
    s.lo_extra = bounded ? 0 : -INFINITY;
    return s;
}

/* True when x = 0 is the answer: nothing pulls. */
static bool nothing_pulls(const tl_pressure_system *s, double target)
{
    for (int64_t i = 0; i < (int64_t)s->n + s->extras; i++) {
        double lo = i < s->n ? s->lo : s->lo_extra, b = s->b[i];
        if (!(b <= target) || (lo < 0 && !(b >= -target))) return false;
    }
    return true;
}

/* v.x = the start that the options ask for. */
static void start(const tl_pressure_plan *plan, const tl_pressure *p, const tl_pressure_system *s, bool warm,
                  const double *x, tl_pressure_vectors *v, tl_pressure_report *report)
{
    const tl_cycle_kind *kind = plan->method->cycle;
    if (warm) {
        for (int32_t i = 0; i < p->n; i++) v->x[i] = x[i] > s->lo ? x[i] : 0;
    } else if (kind && plan->method->bounded) {
        report->nested_products = tl_nested_start(&plan->nested, p, &plan->levels, kind, plan->cycle, s->lo, v);
    } else {
        double small = plan->method->bounded ? tl_pressure_small(tl_pressure_comm(p->space), p->n, p->d, p->b) : 0;
        for (int32_t i = 0; i < p->n; i++) v->x[i] = small;
    }
    for (int32_t i = p->n; i < p->n + p->extras; i++) v->x[i] = x[i] > 0 || s->lo_extra < 0 ? x[i] : 0;
}

/* The preconditioner of a method, for the free set of x. */
static tl_pressure_precond preconditioner(tl_pressure_plan *plan, const tl_pressure *p, const double *x, double lo)
{
    const tl_pressure_method *m = plan->method;
    const tl_pressure_free f = {.x = x, .g = x, .lo = lo, .limit = -INFINITY};
    const bool rebuild = plan->options.rebuild;
    if (m->algebra) {
        tl_algebraic_attach(&plan->algebraic, p, rebuild);
        return tl_algebraic_precond(&plan->algebraic);
    }
    if (!m->cycle) {
        tl_mic_attach(&plan->mic, p, rebuild);
        return tl_mic_precond(&plan->mic);
    }
    m->cycle->reset(plan->cycle, 0, rebuild ? &f : NULL, rebuild);
    return m->cycle->precond(plan->cycle);
}

static tl_outcome solve(tl_pressure_plan *plan, const tl_pressure *p, const tl_pressure_system *s, const tl_stop *stop,
                        tl_pressure_vectors *v, tl_pressure_report *report)
{
    const tl_pressure_method *m = plan->method;
    if (m->algebra && !strcmp(m->algebra, "vi")) {
        const double scale = tl_comm_max(p->space->comm, tl_max_abs(p->n, p->b));
        tl_algebraic_attach(&plan->algebraic, p, true);
        return tl_algebraic_bounded(&plan->algebraic, s->lo, stop->tolerance * scale, stop, v->x, &report->work);
    }
    tl_pressure_precond P = preconditioner(plan, p, v->x, s->lo);
    report->work.factorizations += m->cycle && !m->algebra;
    /* bodies slow both preconditioners down, mic more so */
    int patience = m->cycle && m->bounded && plan->options.retry && !p->extra.add ? PATIENCE : 0;
    tl_pressure_counts counts = {0};
    tl_outcome out = tl_pressure_bounded(s, &P, v, stop, patience, &counts, &report->work);
    report->releases += counts.releases;
    report->expansions += counts.expansions;
    return out;
}

static void run_once(tl_pressure_plan *plan, const tl_pressure *p, const tl_stop *stop, bool warm, double *x,
                     tl_pressure_report *report)
{
    const tl_pressure_method *m = plan->method;
    tl_pressure_system s = system_of(p, m->bounded);
    tl_pressure_vectors v = {plan->vector[0], plan->vector[1], plan->vector[2], plan->vector[3], plan->vector[4]};
    if (m->cycle) m->cycle->attach(plan->cycle, p);
    if (plan->lowrank.columns) {
        tl_lowrank_attach(&plan->lowrank, p);
        s.lowrank = &plan->lowrank;
    }
    start(plan, p, &s, warm, x, &v, report);
    int before = report->outcome.iterations;
    report->outcome = solve(plan, p, &s, stop, &v, report);
    report->outcome.iterations += before;
    report->method = m->name;
    if (isfinite(report->outcome.residual)) memcpy(x, v.x, sizeof(double) * (size_t)(p->n + p->extras));
}

/* By a method for boxes, from x or from nothing. */
static talus_status run_box(const tl_pressure_plan *plan, const tl_pressure *p, const tl_stop *stop, double *x,
                            tl_arena *a, tl_pressure_report *report, talus_error *err)
{
    const int64_t all = (int64_t)p->n + p->extras;
    double *v = plan->vector[0];
    tl_pressure problem = *p;
    problem.unilateral &= plan->method->bounded;
    if (plan->options.start == TL_PRESSURE_WARM)
        memcpy(v, x, sizeof *v * (size_t)all);
    else
        memset(v, 0, sizeof *v * (size_t)all);
    TL_TRY(tl_pressure_as_box(tl_boxqp_method_find(plan->method->box), &problem, stop, v, a, &report->work,
                              &report->outcome, err));
    if (isfinite(report->outcome.residual)) memcpy(x, v, sizeof *v * (size_t)all);
    return TALUS_OK;
}

static bool take_double(tl_pressure_plan *s, const tl_levels *levels, tl_arena *a)
{
    s->levels = *levels;
    s->method = in_double;
    return (s->cycle = in_double->cycle->take(&s->levels, a)) != NULL;
}

/* Go on from x with mic, or in parts with cycles in double precision; without memory for it, the first outcome stands. */
static void retry(const tl_pressure_plan *plan, const tl_pressure *p, const tl_stop *stop, double *x, tl_arena *a,
                  tl_pressure_report *report)
{
    tl_pressure_plan second = {.method = mic, .options = plan->options, .n = plan->n, .extras = plan->extras};
    memcpy(second.vector, plan->vector, sizeof second.vector);
    size_t mark = tl_arena_mark(a);
    talus_status status;
    if (in_parts(p)) {
        status = take_double(&second, &plan->levels, a) ? TALUS_OK : TALUS_NO_MEMORY;
        status = tl_comm_agree(p->space->comm, status, NULL);
    } else {
        status = take_structure(&second, p, a, NULL);
    }
    if (status == TALUS_OK) run_once(&second, p, stop, true, x, report);
    tl_arena_release(a, mark);
}

static talus_status check_plan(const tl_pressure_plan *plan, const tl_pressure *p, talus_error *err)
{
    if (p->n == plan->n && p->extras == plan->extras) return TALUS_OK;
    return TL_FAIL(err, TALUS_BAD_INPUT, "the plan is for %d cells and %d more unknowns, the problem has %d and %d",
                   plan->n, plan->extras, p->n, p->extras);
}

/* Room for the certificate. */
static talus_status prepare(const tl_pressure_plan *plan, const tl_pressure *p, tl_arena *a, talus_error *err)
{
    const int64_t all = (int64_t)p->n + p->extras, length = p->space ? tl_pressure_length(p) : 0;
    TL_TRY(tl_comm_agree(tl_pressure_comm(p->space), check_plan(plan, p, err), err));
    TL_VALIDATE(tl_pressure_check_rows(p, err));
    return tl_comm_reserve(tl_pressure_comm(p->space), a, TL_ARENA_ROOM(double, all) + TL_ARENA_ROOM(double, length),
                           err);
}

talus_status tl_pressure_run(tl_pressure_plan *plan, const tl_pressure *p, const tl_stop *stop, double *x, tl_arena *a,
                             tl_history *history, tl_pressure_report *report, talus_error *err)
{
    const tl_comm *comm = tl_pressure_comm(p->space);
    TL_TRY(prepare(plan, p, a, err));
    *report = (tl_pressure_report){.work.history = history, .method = plan->method->name};
    double began = tl_seconds();
    tl_pressure_system s = system_of(p, plan->method->bounded);
    int64_t all = (int64_t)p->n + p->extras;
    double scale = tl_comm_max(comm, tl_max_abs(all, p->b)), target = stop->tolerance * (scale > 0 ? scale : 1);
    if (!isfinite(scale)) {
        report->outcome = (tl_outcome){.result = TL_BROKE_DOWN, .residual = INFINITY};
    } else if (!(tl_comm_max(comm, !nothing_pulls(&s, target)) > 0)) {
        memset(x, 0, sizeof(double) * (size_t)all);
        report->outcome = (tl_outcome){.result = TL_CONVERGED};
    } else if (plan->method->box) {
        TL_TRY(run_box(plan, p, stop, x, a, report, err));
    } else {
        run_once(plan, p, stop, plan->options.start == TL_PRESSURE_WARM, x, report);
        bool failed = report->outcome.result == TL_STALLED || report->outcome.result == TL_BROKE_DOWN;
        if (failed && plan->method->cycle && plan->method->bounded && plan->options.retry)
            retry(plan, p, stop, x, a, report);
    }
    report->seconds = tl_seconds() - began;
    TL_TRY(tl_pressure_certify(p, x, &report->certificate, a, err));
    /* methods for boxes stop by that kind's certificate, for which a next to nothing at its bound is nothing */
    bool confirmed = plan->method->box || report->certificate.optimality <= 10 * stop->tolerance;
    if (plan->method->bounded && report->outcome.result == TL_CONVERGED && !confirmed)
        report->outcome.result = TL_STALLED;
    return TALUS_OK;
}

talus_status tl_pressure_solve(const tl_pressure_method *m, const tl_pressure *p, const tl_pressure_options *o,
                               const tl_stop *stop, double *x, tl_arena *a, tl_pressure_report *report,
                               talus_error *err)
{
    const tl_comm *comm = tl_pressure_comm(p->space);
    size_t mark = tl_arena_mark(a);
    const int plans = tl_comm_mark(comm);
    tl_pressure_plan *plan = NULL;
    talus_status status = tl_pressure_plan_make(&plan, m, p, o, a, err);
    if (status == TALUS_OK) status = tl_pressure_run(plan, p, stop, x, a, NULL, report, err);
    tl_comm_release(comm, plans);
    tl_arena_release(a, mark);
    return status;
}
