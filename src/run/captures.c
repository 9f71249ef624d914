#include "run/captures.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "io/capture.h"
#include "model/lg/solver.h"
#include "model/sph/written.h"
#include "run/folder.h"
#include "run/step_capture.h"
#include "solve/coupled/apart.h"
#include "solve/coupled/cones.h"
#include "solve/dual/apart.h"
#include "solve/flex/problem.h"

#define SOLVED_BY_PARTS "its stress is solved by parts, not as one problem of cones"

/* What goes into the file beside the problem. */
typedef struct target {
    char path[TL_PATH_ROOM], note[400];
    const tl_shown *shown;
    const tl_sim *sim;
} target;

static tl_capture_info info_of(const target *t, const double *solution, double certificate)
{
    return (tl_capture_info){
        .note = t->note, .tolerance = t->shown->tolerance, .certificate = certificate, .solution = solution};
}

/* ---- one kind each. Unsupported, with the reason: not written, and the run goes on ---- */

static talus_status write_step(const target *t, talus_error *err)
{
    return tl_step_capture(t->path, t->shown->problem, t->note, err);
}

static talus_status write_pressure(const target *t, talus_error *err)
{
    const tl_grid_view *v = t->shown->problem;
    tl_pressure p;
    TL_TRY(tl_coupled_field_apart(v->coupled, &p, err));
    if (!p.n) return TL_FAIL(err, TALUS_UNSUPPORTED, "no cell has a pressure in it");
    const tl_capture_info info = info_of(t, v->coupled->p, v->solved->certificate.pressure);
    return tl_capture_pressure(t->path, &p, &info, err);
}

static talus_status write_stress(const target *t, talus_error *err)
{
    const tl_grid_view *v = t->shown->problem;
    const tl_friction *k = v->friction;
    if (!k) return TL_FAIL(err, TALUS_UNSUPPORTED, "nothing in it is granular");
    if (k->parts) return TL_FAIL(err, TALUS_UNSUPPORTED, SOLVED_BY_PARTS);
    const tl_cone problem = tl_friction_problem(k, v->flow->p);
    const tl_capture_info info = info_of(t, k->s, v->solved->certificate.stress);
    return tl_capture_cone(t->path, &problem, &info, err);
}

/* Beside elastic bodies what pushes a cell pushes all of them: rows instead of a stencil. */
static talus_status write_pressure_of_soft(const target *t, talus_error *err)
{
    tl_dual_solver *s = (tl_dual_solver *)t->shown->problem; /* its scratch is written */
    const int32_t n = s->p->pressure.n;
    const tl_space space = tl_space_local(n);
    const size_t mark = tl_arena_mark(s->arena);
    tl_boxqp p = {.space = &space};
    tl_csr A = {0};
    if (s->p->viscous)
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "pressure and stress of a viscous liquid are one problem, without a file");
    if (!n) return TL_FAIL(err, TALUS_UNSUPPORTED, "no cell has a pressure in it");
    talus_status status = tl_dual_pressure_apart(s, &p, &A, err);
    const tl_capture_info info = info_of(t, t->shown->answer, NAN);
    if (status == TALUS_OK) status = tl_capture_boxqp(t->path, &p, &info, err);
    tl_csr_free(&A);
    tl_arena_release(s->arena, mark);
    return status;
}

static talus_status write_stress_of_soft(const target *t, talus_error *err)
{
    const tl_dual_solver *s = t->shown->problem;
    if (!s->p->sand) return TL_FAIL(err, TALUS_UNSUPPORTED, "nothing in it is granular");
    const tl_cones *k = s->p->sand->cones;
    if (k->parts) return TL_FAIL(err, TALUS_UNSUPPORTED, SOLVED_BY_PARTS);
    const tl_cone problem = k->problem(k->ctx, t->shown->answer);
    const tl_capture_info info = info_of(t, k->s, NAN);
    return tl_capture_cone(t->path, &problem, &info, err);
}

static talus_status write_step_of_soft(const target *t, talus_error *err)
{
    (void)t;
    return TL_FAIL(err, TALUS_UNSUPPORTED,
                   "elastic bodies are part of it, which files of whole steps have no place for");
}

static talus_status write_rows_of_contact(const target *t, const tl_contact *p, const double *lam, double certificate,
                                          talus_error *err)
{
    const tl_capture_info info = info_of(t, lam, certificate);
    if (!p->space->n) return TL_FAIL(err, TALUS_UNSUPPORTED, "no bodies are in contact in it");
    if (p->W.csr || !p->bodies) return tl_capture_contact(t->path, p, &info, err);
    tl_contact_assembled rows;
    tl_contact with_rows = *p;
    TL_TRY(tl_contact_assemble(&rows, p->bodies, NULL, err));
    with_rows.W = tl_linop_csr(&rows.W);
    talus_status status = tl_capture_contact(t->path, &with_rows, &info, err);
    tl_contact_assembled_free(&rows);
    return status;
}

static talus_status write_contact(const target *t, talus_error *err)
{
    return write_rows_of_contact(t, t->shown->problem, t->shown->answer, t->shown->certificate, err);
}

/* The step measures contacts against what they close with: another number than the problem's own, which is not told. */
static talus_status write_coupled_contact(const target *t, talus_error *err)
{
    tl_coupled *c = ((const tl_grid_view *)t->shown->problem)->coupled;
    tl_contact p;
    TL_TRY(tl_coupled_contact_apart(c, &p, err));
    target own = *t;
    tl_shown shown = *t->shown;
    shown.tolerance = c->contact_tolerance;
    own.shown = &shown;
    return write_rows_of_contact(&own, &p, c->lam, NAN, err);
}

/* Impulses and velocities, one after the other. */
static talus_status write_flex(const target *t, talus_error *err)
{
    const tl_shown_flex *shown = t->shown->problem;
    const tl_flex *p = shown->problem;
    const int64_t m = 3 * (int64_t)p->contacts, n = tl_flex_size(p);
    if (!m) return TL_FAIL(err, TALUS_UNSUPPORTED, "nothing is in contact in it");
    double *x = TL_NEW(double, m + n);
    if (!x) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld unknowns", (long long)(m + n));
    memcpy(x, shown->lam, sizeof *x * (size_t)m);
    memcpy(x + m, shown->dv, sizeof *x * (size_t)n);
    const tl_capture_info info = info_of(t, x, t->shown->certificate);
    talus_status status = tl_capture_flex(t->path, p, &info, err);
    tl_free(x);
    return status;
}

static talus_status write_fixedpoint(const target *t, talus_error *err)
{
    tl_sph_step *s = (tl_sph_step *)t->shown->problem; /* its scratch is written */
    tl_projected p;
    tl_csr A = {0};
    const size_t mark = tl_arena_mark(s->arena);
    talus_status status = tl_sph_write_down(s, &p, &A, s->arena, err);
    const tl_capture_info info = info_of(t, t->shown->answer, t->shown->certificate);
    if (status == TALUS_OK) status = tl_capture_fixedpoint(t->path, &p, &info, err);
    tl_csr_free(&A);
    tl_arena_release(s->arena, mark);
    return status;
}

static talus_status write_round(const target *t, talus_error *err)
{
    const tl_lg_round *p = t->shown->problem;
    const tl_space space = tl_space_local(3 * (int64_t)p->lg->nodes);
    tl_csr A = {0};
    talus_status status = tl_lg_round_matrix(p, &A, err);
    const tl_linear problem = {&space, tl_linop_csr(&A), p->r};
    const tl_capture_info info = info_of(t, t->shown->answer, NAN);
    if (status == TALUS_OK) status = tl_capture_linear(t->path, &problem, &info, err);
    tl_csr_free(&A);
    return status;
}

/* ---- wishes ---- */

#define SHOWN_KINDS (TL_SHOWN_DUAL + 1)
static const struct {
    const char *name, *without; /* who solves it, for those that do not */
    talus_status (*write[SHOWN_KINDS])(const target *t, talus_error *err);
} kinds[TL_CAPTURES_KINDS] = {
    {"step",
     "engine \"grid\" has coupled steps, where liquid or sand is",
     {[TL_SHOWN_STEP] = write_step, [TL_SHOWN_DUAL] = write_step_of_soft}},
    {"pressure",
     "engine \"grid\" solves it, where liquid or sand is",
     {[TL_SHOWN_STEP] = write_pressure, [TL_SHOWN_DUAL] = write_pressure_of_soft}},
    {"stress",
     "engine \"grid\" solves it, where sand is",
     {[TL_SHOWN_STEP] = write_stress, [TL_SHOWN_DUAL] = write_stress_of_soft}},
    {"contact",
     "engine \"grid\" solves it, where rigid or elastic bodies touch, and \"lg\" in its corrections",
     {[TL_SHOWN_STEP] = write_coupled_contact, [TL_SHOWN_CONTACT] = write_contact, [TL_SHOWN_FLEX] = write_flex}},
    {"fixedpoint", "engine \"sph\" solves it", {[TL_SHOWN_FIXEDPOINT] = write_fixedpoint}},
    {"rounds", "engine \"lg\" makes them", {[TL_SHOWN_ROUND] = write_round}},
};

static talus_status read_wish(tl_captures *c, const char *word, size_t length, talus_error *err)
{
    char kind[32];
    const char *names[TL_CAPTURES_KINDS + 1] = {0};
    int k = 0, used = 0;
    long long step = 0;
    const char *at = memchr(word, '@', length);
    if (!at || at == word || (size_t)(at - word) >= sizeof kind || sscanf(at + 1, "%9lld%n", &step, &used) != 1 ||
        at + 1 + used != word + length || step < 1)
        return TL_FAIL(err, TALUS_BAD_INPUT, "a capture is KIND@STEP with a step from 1 on, got \"%.*s\"", (int)length,
                       word);
    snprintf(kind, sizeof kind, "%.*s", (int)(at - word), word);
    for (int i = 0; i < TL_CAPTURES_KINDS; i++) names[i] = kinds[i].name;
    while (k < TL_CAPTURES_KINDS && strcmp(kind, names[k]) != 0) k++;
    if (k == TL_CAPTURES_KINDS) {
        const char *near = tl_text_nearest(kind, names);
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "no kind of problem \"%s\" to capture%s%s%s; there are step, pressure, stress, contact, "
                       "fixedpoint, rounds",
                       kind, near ? ", did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    if (c->count == TL_CAPTURES_MAX) return TL_FAIL(err, TALUS_BAD_INPUT, "at most %d captures", TL_CAPTURES_MAX);
    c->wish[c->count++] = (tl_capture_wish){.kind = k, .step = step};
    return TALUS_OK;
}

talus_status tl_captures_read(tl_captures *c, const char *text, talus_error *err)
{
    c->count = 0;
    for (const char *word = text; word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL)
        TL_TRY(read_wish(c, word, strcspn(word, ","), err));
    return TALUS_OK;
}

static void name_file(const tl_capture_wish *w, char *out, size_t room)
{
    const int64_t number = w->met;
    if (number > 1)
        snprintf(out, room, "%s-%" PRId64 "-%" PRId64 ".h5", kinds[w->kind].name, w->step, number);
    else
        snprintf(out, room, "%s-%" PRId64 ".h5", kinds[w->kind].name, w->step);
}

static talus_status write_wish(tl_captures *c, tl_capture_wish *w, const tl_shown *shown, talus_error *err)
{
    target t = {.shown = shown, .sim = c->sim};
    char name[64];
    talus_error why = {0};
    if (w->tried != c->sim->tries) w->met = w->written = 0; /* a step that is tried again writes its files again */
    w->tried = c->sim->tries;
    if (++w->met > TL_CAPTURES_EACH) return TALUS_OK;
    name_file(w, name, sizeof name);
    if (snprintf(t.path, sizeof t.path, "%s/%s", c->folder, name) >= (int)sizeof t.path)
        return TL_FAIL(err, TALUS_BAD_INPUT, "the path '%.60s...' is too long", c->folder);
    snprintf(t.note, sizeof t.note, "%.300s, step %" PRId64, c->sim->scene->file ? c->sim->scene->file : "scene",
             w->step);
    talus_status status = kinds[w->kind].write[shown->kind](&t, &why);
    if (status == TALUS_UNSUPPORTED) {
        snprintf(w->why, sizeof w->why, "%.190s", why.message);
        w->met--;
        return TALUS_OK;
    }
    if (status != TALUS_OK) return TL_FAIL(err, status, "%.400s", why.message);
    w->written++;
    return TALUS_OK;
}

/* Steps are numbered from 1, as in steps.csv. */
talus_status tl_captures_look(void *captures, const tl_shown *shown, talus_error *err)
{
    tl_captures *c = captures;
    for (int i = 0; i < c->count; i++)
        if (c->wish[i].step == c->sim->state.step + 1 && kinds[c->wish[i].kind].write[shown->kind])
            TL_TRY(write_wish(c, &c->wish[i], shown, err));
    return TALUS_OK;
}

void tl_captures_tell(tl_captures *c)
{
    for (int i = 0; i < c->count; i++) {
        const tl_capture_wish *w = &c->wish[i];
        const char *name = kinds[w->kind].name;
        if (w->met > TL_CAPTURES_EACH)
            tl_log_write(&c->log, 1, "%s@%" PRId64 ": the first %d of %d problems are written", name, w->step,
                         TL_CAPTURES_EACH, w->met);
        if (w->written) continue;
        if (w->step > c->sim->state.step)
            tl_log_write(&c->log, 1, "%s@%" PRId64 " is not captured: the run ends after step %" PRId64, name, w->step,
                         c->sim->state.step);
        else
            tl_log_write(&c->log, 1, "%s@%" PRId64 " is not captured: %s", name, w->step,
                         *w->why ? w->why : kinds[w->kind].without);
    }
}
