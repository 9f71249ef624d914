/* `talus bench solvers`: the problems, made up or replayed from a captured file; bench/compare.c solves them. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "io/capture.h"
#include "lab/bench/compare.h"
#include "lab/bench/gen_boxqp.h"
#include "lab/bench/gen_chain.h"
#include "lab/bench/gen_cone.h"
#include "lab/bench/gen_contact.h"
#include "solve/boxqp/method.h"

#define SIZE_DEFAULT 32
#define REPEATS_DEFAULT 3

/* Write a problem to the folder of --capture: NAME.h5 to replay, NAME-*.mtx for other tools. */
static talus_status capture(tl_compare *c, const char *name, const tl_captured *p, talus_error *err)
{
    if (!c->o->capture) return TALUS_OK;
    char path[512], prefix[480];
    if (snprintf(prefix, sizeof prefix, "%s/%s", c->o->capture, name) >= (int)sizeof prefix)
        return TL_FAIL(err, TALUS_BAD_INPUT, "the folder name '%.60s...' is too long", c->o->capture);
    snprintf(path, sizeof path, "%s.h5", prefix);
    mkdir(c->o->capture, 0777); /* an existing folder is fine; a failure shows when the file is written */
    tl_capture_info info = {.note = name, .tolerance = NAN, .x0 = p->x0};
    if (p->kind == TL_KIND_BOXQP) TL_TRY(tl_capture_boxqp(path, &p->boxqp, &info, err));
    if (p->kind == TL_KIND_CONE) TL_TRY(tl_capture_cone(path, &p->cone, &info, err));
    if (p->kind == TL_KIND_LINEAR) TL_TRY(tl_capture_linear(path, &p->linear, &info, err));
    tl_captured *back;
    TL_TRY(tl_capture_load(path, &back, err));
    talus_status status = tl_captured_export(back, prefix, err);
    tl_captured_free(back);
    tl_table_line(c->t, TALUS_ROW_NOTE, "captured: %s and %s-*.mtx", path, prefix);
    return status;
}

static talus_status wall_separation(tl_compare *c, int size, talus_error *err)
{
    tl_boxqp_case wall;
    TL_TRY(tl_gen_wall_separation(&wall, size, 1, err));
    tl_captured as = {.kind = TL_KIND_BOXQP, .boxqp = wall.qp, .x0 = wall.x0};
    talus_status status = capture(c, "wall-separation", &as, err);
    if (status == TALUS_OK)
        status = tl_compare_boxqp(c, "Wall separation, liquid on the roof of a ball", &wall.qp, wall.x0, err);
    tl_boxqp_case_free(&wall);
    return status;
}

/* The step after: the stir has changed by a twentieth, the start is the pressure of the step before. This
 * is how a simulation meets the problem; for CG the step before was solved without bounds as well. */
static talus_status wall_separation_warm(tl_compare *c, int size, talus_error *err)
{
    tl_boxqp_case wall, other = {0};
    TL_TRY(tl_gen_wall_separation(&wall, size, 1, err));
    talus_status status = tl_gen_wall_separation(&other, size, 2, err);
    tl_options o = tl_options_default();
    if (status == TALUS_OK) status = tl_precond_create(&o.precond, tl_precond_find("mic"), &wall.A, err);
    if (status == TALUS_OK) {
        tl_boxqp_report before;
        tl_stop stop = {c->o->tolerance > 0 ? c->o->tolerance : TL_COMPARE_TOLERANCE, 0, 0};
        const char *first = c->o->method && !strcmp(c->o->method, "cg") ? "cg" : "mprgp";
        status = tl_boxqp_solve(tl_boxqp_method_find(first), &wall.qp, &o, &stop, wall.x0, &c->arena, &before, err);
    }
    tl_precond_free(o.precond);
    if (status == TALUS_OK) {
        for (int32_t i = 0; i < wall.A.rows; i++) wall.b[i] += 0.05 * (other.b[i] - wall.b[i]);
        tl_captured as = {.kind = TL_KIND_BOXQP, .boxqp = wall.qp, .x0 = wall.x0};
        status = capture(c, "wall-separation-warm", &as, err);
        if (status == TALUS_OK)
            status = tl_compare_boxqp(c, "Wall separation, the step after, warm start", &wall.qp, wall.x0, err);
    }
    tl_boxqp_case_free(&other);
    tl_boxqp_case_free(&wall);
    return status;
}

static talus_status pressure_linear(tl_compare *c, int size, talus_error *err)
{
    tl_boxqp_case wall;
    TL_TRY(tl_gen_wall_separation(&wall, size, 1, err));
    tl_linear p = {&wall.space, wall.qp.A, wall.b};
    tl_captured as = {.kind = TL_KIND_LINEAR, .linear = p};
    talus_status status = capture(c, "pressure-linear", &as, err);
    if (status == TALUS_OK)
        status = tl_compare_linear(c, "The same pressure without bounds, as a linear system", &p, NULL, err);
    tl_boxqp_case_free(&wall);
    return status;
}

static talus_status random_box(tl_compare *c, int size, talus_error *err)
{
    tl_boxqp_case box;
    int n = size < 8 ? 60 : size > 64 ? 600 : 10 * size;
    TL_TRY(tl_gen_random_boxqp(&box, n, 1e4, n, 1, err));
    tl_captured as = {.kind = TL_KIND_BOXQP, .boxqp = box.qp, .x0 = box.x0};
    talus_status status = capture(c, "random-box", &as, err);
    if (status == TALUS_OK)
        status = tl_compare_boxqp(c, "Random box QP, condition 1e4, full matrix", &box.qp, box.x0, err);
    tl_boxqp_case_free(&box);
    return status;
}

static talus_status sand_box(tl_compare *c, int size, talus_error *err)
{
    tl_gen_cone sand;
    int n = size < 4 ? 4 : size > 32 ? 32 : size / 2;
    TL_TRY(tl_gen_cone_stress(&sand, n, n, n, 1, err));
    tl_captured as = {.kind = TL_KIND_CONE, .cone = sand.problem};
    talus_status status = capture(c, "sand-box", &as, err);
    if (status == TALUS_OK)
        status = tl_compare_cone(c, "Frictional stress in a sand box at frozen pressure", &sand.problem, NULL, err);
    tl_gen_cone_free(&sand);
    return status;
}

static talus_status friction_blocks(tl_compare *c, int size, talus_error *err)
{
    tl_gen_cone blocks;
    tl_gen_cone_blocks_spec spec = {.columns = size < 4    ? 4
                                               : size > 64 ? 64
                                                           : size,
                                    .levels = 5,
                                    .tilt_deg = 30,
                                    .azimuth_deg = 22.5,
                                    .friction = 0.5,
                                    .side_press = 0.2,
                                    .mass_spread = 2,
                                    .seed = 1};
    TL_TRY(tl_gen_cone_blocks(&blocks, &spec, err));
    tl_captured as = {.kind = TL_KIND_CONE, .cone = blocks.problem};
    talus_status status = capture(c, "friction-blocks", &as, err);
    if (status == TALUS_OK)
        status = tl_compare_cone(c, "Friction of stacked blocks at frozen normal force", &blocks.problem, NULL, err);
    tl_gen_cone_free(&blocks);
    return status;
}

static talus_status pillar(tl_compare *c, int size, talus_error *err)
{
    tl_chain chain;
    int n = size > 100 ? 100 : size < 2 ? 2 : size;
    TL_TRY(tl_chain_create(&chain, n, 0, 0, err));
    tl_space space = tl_space_local(n);
    tl_chain_part whole = {&space, &chain.A, chain.c, chain.nu};
    tl_fixedpoint p = tl_chain_problem(&whole, 1);
    talus_status status = tl_compare_fixedpoint(c, "Pillar of blocks, each resting on the one below", &p, NULL, err);
    tl_chain_free(&chain);
    return status;
}

/* Stacks and walls whose normals must add up to a known sum; the last two punish methods that look at residuals
 * alone. */
static talus_status contact_walls(tl_compare *c, int size, talus_error *err)
{
    (void)size;
    static const double tower[5] = {1, 10, 100, 1000, 10000};
    static const struct {
        const char *title;
        int rows, bricks;
        double top;
    } walls[] = {{"Wall of 5 rows of 4 bricks (sum 23.544 N s)", 5, 4, 1},
                 {"Wall of 10 rows of 8 bricks (sum 172.656 N s)", 10, 8, 1},
                 {"Wall of 5 rows of 4 bricks, top row x1000 (sum 7863.696 N s)", 5, 4, 1000}};
    tl_gen_contact g;
    for (size_t k = 0; k < sizeof walls / sizeof walls[0] && !c->t->stopped; k++) {
        TL_TRY(tl_gen_contact_wall(&g, walls[k].rows, walls[k].bricks, walls[k].top, 0.6, err));
        talus_status status = tl_compare_contact(c, walls[k].title, &g.problem, NULL, err);
        tl_gen_contact_free(&g);
        TL_TRY(status);
    }
    TL_TRY(tl_gen_contact_stack(&g, 5, tower, 0.5, err));
    talus_status status =
        tl_compare_contact(c, "Tower of 1, 10, ... 10000 kg upwards (sum 5328.8901 N s)", &g.problem, NULL, err);
    tl_gen_contact_free(&g);
    return status;
}

static const struct {
    const char *name;
    talus_status (*run)(tl_compare *c, int size, talus_error *err);
} problems[] = {
    {"wall-separation", wall_separation},
    {"wall-separation-warm", wall_separation_warm},
    {"pressure-linear", pressure_linear},
    {"random-box", random_box},
    {"sand-box", sand_box},
    {"friction-blocks", friction_blocks},
    {"pillar", pillar},
    {"contact-walls", contact_walls},
};

static talus_status tell_answer(tl_compare *c, const tl_captured *p, talus_error *err)
{
    double certificate;
    TL_TRY(tl_compare_answer(p, &certificate, &c->arena, err));
    if (*p->note) tl_table_line(c->t, TALUS_ROW_NOTE, "%s", p->note);
    if (isfinite(certificate) && isfinite(p->certificate))
        tl_table_line(c->t, TALUS_ROW_NOTE, "the answer in the file: certificate %.3e, when it was captured %.3e",
                      certificate, p->certificate);
    else if (isfinite(certificate))
        tl_table_line(c->t, TALUS_ROW_NOTE, "the answer in the file: certificate %.3e", certificate);
    return TALUS_OK;
}

/* A captured problem with every method of its kind, from its own start and to its own target when it has them. */
static talus_status replay(tl_compare *c, const char *path, talus_error *err)
{
    tl_captured *p;
    TL_TRY(tl_capture_load(path, &p, err));
    talus_bench_options as_captured = *c->o;
    if (!(as_captured.tolerance > 0) && p->tolerance > 0) as_captured.tolerance = p->tolerance;
    c->o = &as_captured;
    talus_status status = tell_answer(c, p, err);
    if (status == TALUS_OK) switch (p->kind) {
        case TL_KIND_LINEAR: status = tl_compare_linear(c, path, &p->linear, p->x0, err); break;
        case TL_KIND_BOXQP: status = tl_compare_boxqp(c, path, &p->boxqp, p->x0, err); break;
        case TL_KIND_CONE: status = tl_compare_cone(c, path, &p->cone, p->x0, err); break;
        case TL_KIND_CONTACT: status = tl_compare_contact(c, path, &p->contact, p->x0, err); break;
        case TL_KIND_PRESSURE: status = tl_compare_pressure(c, path, &p->pressure, p->x0, err); break;
        case TL_KIND_FIXEDPOINT: status = tl_compare_fixedpoint(c, path, &p->fixedpoint, p->x0, err); break;
        case TL_KIND_FLEX: status = tl_compare_flex(c, path, &p->flex, p->x0, err); break;
        }
    tl_captured_free(p);
    return status;
}

static bool is_file(const char *name)
{
    size_t length = name ? strlen(name) : 0;
    return length > 3 && !strcmp(name + length - 3, ".h5");
}

static talus_status run(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    tl_compare c = {.o = o, .t = t, .repeats = o->repeats ? o->repeats : REPEATS_DEFAULT};
    int size = o->size ? o->size : SIZE_DEFAULT, known = 0;
    talus_status status = TALUS_OK;
    if (is_file(o->problem)) {
        known++;
        status = replay(&c, o->problem, err);
    }
    for (size_t i = 0; i < sizeof problems / sizeof problems[0] && status == TALUS_OK && !t->stopped; i++) {
        if (is_file(o->problem) || !(!o->problem || strstr(problems[i].name, o->problem))) continue;
        known++;
        status = problems[i].run(&c, size, err);
    }
    tl_arena_free(&c.arena);
    if (status == TALUS_OK && !known) {
        const char *names[sizeof problems / sizeof problems[0] + 1] = {0};
        for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) names[i] = problems[i].name;
        const char *near = tl_text_nearest(o->problem, names);
        return TL_FAIL(err, TALUS_BAD_INPUT, "no problem '%s'; %s%s%s see 'talus bench --help'", o->problem,
                       near ? "did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    if (status == TALUS_OK && !c.lines && !t->stopped)
        return TL_FAIL(err, TALUS_BAD_INPUT, "no method of these problems has '%s' in its name", o->method);
    return status;
}

const tl_bench tl_bench_solvers = {
    "solvers", "every solver method on the same problems: iterations, products, seconds, outcome, certificate", run};
