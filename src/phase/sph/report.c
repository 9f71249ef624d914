#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/sum.h"
#include "base/timer.h"
#include "phase/sph/trial.h"

static const char *const phase_names[TL_SPH_PHASES] = {"place", "neighbours", "predict", "system",
                                                       "solve", "move",       "emit"};

talus_status tl_sph_no_memory(talus_error *err) { return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a step of SPH"); }

void tl_sph_lap(tl_sph_trial *s, tl_sph_phase phase)
{
    double now = tl_seconds();
    s->seconds[phase] += now - s->mark;
    s->mark = now;
}

static void fill_solves(const tl_sph_trial *s, tl_report *r)
{
    const tl_fixedpoint_report *c = &s->solved;
    r->solve[0] = (tl_report_solve){"pressure",
                                    s->data->method->name,
                                    tl_result_name(c->outcome.result),
                                    c->outcome.iterations,
                                    c->certificate.residual,
                                    s->data->stop.tolerance,
                                    c->work};
    r->solves = 1;
    if (s->data->viscous)
        r->solve[r->solves++] = (tl_report_solve){"viscosity",
                                                  "cg",
                                                  tl_result_name(s->viscous.outcome.result),
                                                  s->viscous.outcome.iterations,
                                                  s->viscous.certificate.residual,
                                                  TL_SPH_VISCOUS_TOLERANCE,
                                                  s->viscous.work};
    if (s->joined)
        r->solve[r->solves++] = (tl_report_solve){
            .name = "joint",
            .method = "rows",
            .outcome = tl_result_name(s->joint_residual <= s->b.tolerance ? TL_CONVERGED : TL_STALLED),
            .certificate = s->joint_residual,
            .target = s->b.tolerance};
    for (int k = 0; k < r->solves; k++) r->solve[k].work.history = NULL;
}

/* Liquid's share of energy and momentum. Sums in fixed blocks. */
static void measure_liquid(const tl_sph_trial *s, tl_report *r)
{
    enum { KINETIC, POTENTIAL, PX, PY, PZ, LX, LY, LZ, SUMS };
    const tl_sph_step *f = &s->f;
    tl_blocks blocks = tl_blocks_of(s->stay);
    double part[TL_BLOCKS_MAX][SUMS], fastest[TL_BLOCKS_MAX], total[SUMS] = {0};
    double V0 = f->sph->V0;
#pragma omp parallel for schedule(static) if (f->fluid >= TL_PARALLEL_MIN / 8)
    for (int b = 0; b < blocks.count; b++) {
        memset(part[b], 0, sizeof part[b]);
        fastest[b] = 0;
        for (int64_t i = tl_block_begin(blocks, b); i < tl_block_end(blocks, b); i++) {
            const tl_sph_particle *p = &f->particle[i];
            double m = V0 * s->scene->materials[p->material].density;
            tl_vec3 mv = tl_vec3_scale(m, p->v), L = tl_vec3_cross(p->x, mv);
            part[b][KINETIC] += 0.5 * tl_vec3_dot(mv, p->v);
            part[b][POTENTIAL] -= m * tl_vec3_dot(s->scene->gravity, p->x);
            part[b][PX] += mv.x, part[b][PY] += mv.y, part[b][PZ] += mv.z;
            part[b][LX] += L.x, part[b][LY] += L.y, part[b][LZ] += L.z;
            fastest[b] = fmax(fastest[b], tl_vec3_norm2(p->v));
        }
    }
    for (int b = 0; b < blocks.count; b++) {
        for (int k = 0; k < SUMS; k++) total[k] += part[b][k];
        r->fastest = fmax(r->fastest, sqrt(fastest[b]));
    }
    r->kinetic += total[KINETIC];
    r->potential += total[POTENTIAL];
    r->momentum = tl_vec3_add(r->momentum, (tl_vec3){total[PX], total[PY], total[PZ]});
    r->angular_momentum = tl_vec3_add(r->angular_momentum, (tl_vec3){total[LX], total[LY], total[LZ]});
}

/* Pressure keeps it and all of its neighbours together: no air around. */
static bool is_full(const tl_sph_step *f, const double *p, int64_t i)
{
    if (!(p[i] > 0)) return false;
    for (int64_t k = f->start[i]; k < f->start[i + 1]; k++)
        if (!(p[f->neighbour[k]] > 0)) return false;
    return true;
}

/* Mean volumes of particles, over V0: what they take up less 1, and by how much they are pressed together. A particle
 * takes up V = V0 / density by its neighbours and the walls near it. Beside air that is too much, as the kernel reaches
 * into it: there it is at most V0, what is in it, as in cells of the grid that are not full. From places where the step
 * began, which are what the last solve left. */
static void measure_volume(const tl_sph_trial *s, double *excess, double *compression)
{
    const tl_sph_step *f = &s->f;
    tl_blocks blocks = tl_blocks_of(f->fluid);
    double more[TL_BLOCKS_MAX], pressed[TL_BLOCKS_MAX];
    *excess = *compression = 0;
    if (!f->fluid) return;
#pragma omp parallel for schedule(static) if (f->fluid >= TL_PARALLEL_MIN / 8)
    for (int b = 0; b < blocks.count; b++) {
        more[b] = pressed[b] = 0;
        for (int64_t i = tl_block_begin(blocks, b); i < tl_block_end(blocks, b); i++) {
            double density = f->density[i], taken = 1 / density - 1;
            pressed[b] += fmax(0, density - 1);
            more[b] += taken < 0 || is_full(f, s->x, i) ? taken : 0;
        }
    }
    *excess = tl_sum_ordered(blocks.count, more) / f->fluid;
    *compression = tl_sum_ordered(blocks.count, pressed) / f->fluid;
}

void tl_sph_fill_report(const tl_sph_trial *s)
{
    tl_report *r = &s->sim->report;
    const tl_sph_step *f = &s->f;
    *r = (tl_report){.phases = TL_SPH_PHASES, .force_balance = NAN};
    for (int k = 0; k < TL_SPH_PHASES; k++)
        r->phase[k] = (tl_report_phase){.name = phase_names[k], .seconds = s->seconds[k]};
    fill_solves(s, r);
    tl_bodies_measure(&s->b, r);
    measure_liquid(s, r);
    r->contacts = f->contacts;
    r->penetration = s->b.penetration;
    for (int32_t k = 0; k < f->contacts; k++) r->touching += s->x[f->fluid + k] > 0;
    r->particles = (int64_t)s->stay + s->births.count;
    r->particle_volume = (double)r->particles * f->sph->V0;
    measure_volume(s, &r->volume_error, &r->compression);
    r->liquid_volume = (1 + r->volume_error) * r->particle_volume;
    r->escaped += tl_sph_state_of(&s->sim->state)->counter->lost + (f->fluid - s->stay);
}
