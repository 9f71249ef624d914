/* From particles on the grid to the coupled problem. */
#include "model/grid/flow.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/parallel.h"
#include "model/grid/emit.h"
#include "model/grid/extrapolate.h"
#include "model/grid/owners.h"
#include "solve/cone/problem.h"

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for what flows on the grid");
}

talus_status tl_flow_emit(const tl_flow *f, tl_grid_state *g, double t, tl_emitter_state *next, double *next_id,
                          tl_particles *all, talus_error *err)
{
    *all = g->particles;
    if (!f->scene->emitter_count) return TALUS_OK;
    tl_grid nothing;
    tl_solids solids;
    tl_grid_frame alone = f->set->frame;
    alone.owners = NULL;
    tl_emission *now = TL_TAKE(f->arena, tl_emission, f->scene->emitter_count);
    talus_status status = now ? TALUS_OK : no_memory(err);
    if (status == TALUS_OK) status = tl_emitters_read(f->scene, t, now, err);
    if (status == TALUS_OK) status = tl_grid_build(&nothing, &alone, 0, NULL, f->arena, err);
    if (status == TALUS_OK)
        status = tl_solids_with_skins(&solids, &nothing, f->rigid, &f->scene->domain, f->before,
                                      f->soft ? f->soft->start : NULL, f->arena, err);
    const tl_comm *comm = tl_frame_comm(&f->set->frame);
    TL_TRY(tl_comm_agree(comm, status, err));
    const tl_emitting step = {f->scene, &f->set->frame, &solids, now, f->dt, comm};
    status = tl_particles_emit(&step, g->emitter, next, all, next_id, f->arena, err);
    g->particles.particle = all->particle;
    g->particles.room = all->room;
    return status;
}

talus_status tl_flow_migrate(const tl_flow *f, tl_grid_state *g, tl_particles *all, talus_error *err)
{
    talus_status status = tl_particles_migrate(&f->set->frame, &f->scene->domain, all, f->arena, err);
    g->particles.particle = all->particle;
    g->particles.room = all->room;
    return status;
}

talus_status tl_flow_to_grid(tl_flow *f, const tl_particles *all, tl_lost *lost, talus_error *err)
{
    const tl_comm *comm = tl_frame_comm(&f->set->frame);
    uint64_t *key = TL_TAKE(f->arena, uint64_t, all->count);
    talus_status status = key ? TALUS_OK : no_memory(err);
    if (status == TALUS_OK)
        status = tl_particles_sort(&f->set->frame, &f->scene->domain, all, &f->particles, key, lost, f->arena, err);
    TL_TRY(tl_comm_agree(comm, status, err));
    TL_TRY(tl_grid_build(&f->grid, &f->set->frame, f->particles.count, key, f->arena, err));
    return tl_particles_to_grid(&f->grid, &f->particles, f->set->density, f->scene->material_count, f->arena, &f->faces,
                                err);
}

/* Faces without matter go on from their neighbours: zero there would be still air. */
talus_status tl_flow_fall(tl_flow *f, talus_error *err)
{
    double g[3];
    tl_vec3_store(tl_vec3_scale(f->dt, f->scene->gravity), g);
    for (int a = 0; a < 3; a++) f->known[a] = TL_TAKE(f->arena, uint8_t, f->grid.cells);
    const bool good = f->known[0] && f->known[1] && f->known[2];
    TL_TRY(tl_comm_agree(f->grid.comm, good ? TALUS_OK : no_memory(err), err));
    for (int a = 0; a < 3; a++) {
        double *u = f->faces.u[a];
        const double *mass = f->faces.mass[a], step = g[a];
        uint8_t *known = f->known[a];
#pragma omp parallel for schedule(static) if (f->grid.cells >= TL_PARALLEL_MIN)
        for (int64_t i = 0; i < f->grid.cells; i++) {
            known[i] = mass[i] > 0;
            u[i] = known[i] ? u[i] + step : 0;
        }
    }
    return tl_extrapolate(&f->grid, TL_EXTRAPOLATE_LAYERS, f->faces.u, f->known, f->arena, err);
}

/* Functions of places and poses alone: parts compute them for their halos as well. */
static talus_status find_solids(tl_flow *f, talus_error *err)
{
    tl_arena *a = f->arena;
    const tl_grid *g = &f->grid;
    TL_TRY(tl_solids_with_skins(&f->solids, g, f->rigid, &f->scene->domain, f->before, f->soft ? f->soft->start : NULL,
                                a, err));
    f->solid_phi = TL_TAKE(a, float, g->cells);
    f->phi = TL_TAKE(a, double, g->cells);
    f->excess = TL_TAKE(a, double, g->cells);
    if (!f->solid_phi || !f->phi || !f->excess) return no_memory(err);
    tl_solids_field(&f->solids, g, f->solid_phi);
    return tl_solid_fractions(g, &f->solids, f->set->family, a, &f->fractions, err);
}

talus_status tl_flow_classify(tl_flow *f, talus_error *err)
{
    tl_arena *a = f->arena;
    const tl_grid *g = &f->grid;
    TL_TRY(tl_comm_agree(g->comm, find_solids(f, err), err));
    bool sand = f->set->alpha != NULL;
    tl_vec3 up = tl_vec3_normalize_or(tl_vec3_scale(-1, f->scene->gravity), (tl_vec3){0, 0, 0});
    const tl_filled filled = {.grid = g,
                              .fill = f->faces.fill,
                              .fractions = &f->fractions,
                              .solids = &f->solids,
                              .solid_phi = f->solid_phi,
                              .spacing = f->set->spacing,
                              .particles = f->soft ? &f->particles : NULL,
                              .up = sand ? NULL : &up};
    TL_TRY(tl_liquid_distance(&filled, &f->set->rules.surface, a, f->phi, f->excess, &f->full, err));
    return sand ? tl_liquid_fractions(g, f->phi, false, true, true, a, &f->liquid, err) : TALUS_OK;
}

/* Bodies that a contact presses against each other, and what wets them, hang together with the liquid: water in a
 * vessel that stands on a floor, or floats, has its weight carried as if the vessel were a wall. A contact presses
 * when it had a force in the last step, or would close within this one. */
/* Faces with matter that elastic bodies cover, bodies that press against these, and which of them something holds. */
static talus_status link_soft(const tl_flow *f, tl_piece_links *links, talus_error *err)
{
    const tl_grid *g = &f->grid;
    const tl_skins *skins = f->soft->start;
    double *inverse = TL_TAKE(f->arena, double, f->rigid->count);
    if (!inverse) return no_memory(err);
    memcpy(inverse, f->inv_mass, sizeof *inverse * (size_t)f->rigid->count);
    for (int pass = 0; pass < 2; pass++) {
        if (pass && !(links->touch = TL_TAKE(f->arena, tl_piece_touch, links->touches + 1))) return no_memory(err);
        links->touches = 0;
        for (int32_t b = 0; b < skins->count; b++) {
            const tl_clip *c = skins->skin[b].clip;
            if (!skins->skin[b].lg) continue;
            inverse[b] = !f->soft->held[b];
            const int64_t cells = (int64_t)c->n[0] * c->n[1] * c->n[2];
            for (int64_t i = 0; i < 3 * cells; i++) {
                int32_t axis = (int32_t)(i % 3), z = (int32_t)(i / 3 % c->n[2]),
                        y = (int32_t)(i / 3 / c->n[2] % c->n[1]), x = (int32_t)(i / 3 / c->n[2] / c->n[1]);
                const int32_t cell[3] = {c->lo[0] + x, c->lo[1] + y, c->lo[2] + z};
                if (!(tl_skin_weight(c, f->set->family, axis, cell) > 0)) continue;
                int32_t id = tl_grid_cell(g, cell[0], cell[1], cell[2]);
                if (!tl_grid_exists(g, id)) continue;
                if (pass) links->touch[links->touches] = (tl_piece_touch){b, axis, id};
                links->touches++;
            }
        }
    }
    links->inv_mass = inverse;
    memcpy(links->pair + 2 * (int64_t)links->pairs, f->soft->pair, sizeof *links->pair * 2 * (size_t)f->soft->pairs);
    links->pairs += f->soft->pairs;
    return TALUS_OK;
}

talus_status tl_flow_find_pieces(tl_flow *f, const tl_rigid_contacts *c, const double *lam,
                                 const tl_joint_blocks *joints, talus_error *err)
{
    const int64_t pairs = (int64_t)c->count + joints->count + (f->soft ? f->soft->pairs : 0);
    tl_piece_links links = {.fixed = f->fractions.fixed,
                            .covers = &f->fractions.covers,
                            .bodies = f->rigid->count,
                            .inv_mass = f->inv_mass,
                            .pair = TL_TAKE(f->arena, int32_t, 2 * pairs)};
    if (f->set->alpha && f->set->density_rule != TL_DENSITY_KERNEL) return TALUS_OK;
    TL_TRY(tl_comm_agree(f->grid.comm, links.pair ? TALUS_OK : no_memory(err), err));
    for (int32_t k = 0; k < c->count; k++) {
        const tl_rigid_point *p = &c->point[k];
        if (!(lam[3 * (int64_t)k] > 0) && p->gap + f->dt * tl_rigid_point_speed(p, f->v_free) > 0) continue;
        links.pair[2 * links.pairs] = p->a;
        links.pair[2 * links.pairs++ + 1] = p->b;
    }
    for (int32_t k = 0; k < joints->count; k++) {
        links.pair[2 * links.pairs] = joints->body[k][0];
        links.pair[2 * links.pairs++ + 1] = joints->body[k][1];
    }
    if (f->soft) TL_TRY(link_soft(f, &links, err));
    return tl_pieces_find(&f->pieces, &f->grid, f->faces.fill, f->faces.mass, &links, f->arena, err);
}

/* Which solids have a friction of their own against sand. */
static talus_status find_slip(tl_flow *f, talus_error *err)
{
    const int32_t n = f->rigid->scene_count;
    const tl_domain_spec *domain = &f->scene->domain;
    double *mu = TL_TAKE(f->arena, double, n);
    if (!mu) return no_memory(err);
    f->slip = (tl_slip){.grid = &f->grid,
                        .fractions = &f->fractions,
                        .solids = &f->solids,
                        .friction = mu,
                        .walls = domain->sand_friction == TL_SAND_FRICTION_OWN ? domain->friction : -1};
    f->slips = f->slip.walls >= 0;
    for (int32_t i = 0; i < n; i++) {
        mu[i] = f->scene->bodies[i].sand_friction == TL_SAND_FRICTION_OWN ? f->friction[i] : -1;
        f->slips |= mu[i] >= 0;
    }
    return TALUS_OK;
}

/* Viscosity of what is there, and along which solids it slips. */
static talus_status find_viscosity(tl_flow *f, talus_error *err)
{
    const int32_t n = f->rigid->scene_count;
    double *eta = TL_TAKE(f->arena, double, f->grid.cells);
    bool *slips = TL_TAKE(f->arena, bool, n);
    if (!eta || !slips) return no_memory(err);
    f->viscosity = (tl_viscosity){.eta = eta,
                                  .fill = f->faces.fill,
                                  .solids = &f->solids,
                                  .slips = slips,
                                  .walls_slip = f->scene->domain.liquid_slip,
                                  .open_slivers = !f->scene->solver.rules.closed_slivers};
    for (int32_t i = 0; i < n; i++) slips[i] = f->scene->bodies[i].liquid_slip;
    TL_TRY(tl_particles_mean(&f->grid, &f->particles, f->set->viscosity, f->faces.fill, f->arena, eta, err));
    return tl_solid_edges(&f->grid, &f->solids, f->arena, f->viscosity.solid_edge, err);
}

talus_status tl_flow_assemble(tl_flow *f, const tl_grid_state *past, int64_t *recalled, talus_error *err)
{
    const tl_solver_spec *o = &f->scene->solver;
    const bool sand = f->set->alpha != NULL;
    tl_vec3 *centre = TL_TAKE(f->arena, tl_vec3, f->rigid->count);
    TL_TRY(tl_comm_agree(f->grid.comm, centre ? TALUS_OK : no_memory(err), err));
    for (int32_t i = 0; i < f->rigid->count; i++) centre[i] = f->before[i].x;
    if (f->set->viscosity) TL_TRY(find_viscosity(f, err));
    tl_liquid_domain d = {.grid = &f->grid,
                          .faces = &f->faces,
                          .fractions = &f->fractions,
                          .phi = f->phi,
                          .pieces = sand ? NULL : &f->pieces,
                          .loose = sand && f->pieces.of ? &f->pieces : NULL,
                          .binary = o->surface == TL_SURFACE_BINARY,
                          .granular = sand ? &f->liquid : NULL,
                          .viscosity = f->viscosity.eta ? &f->viscosity : NULL,
                          .staggered = f->set->staggered,
                          .edge_rule = f->set->edge_rule,
                          .density_rule = f->set->density_rule,
                          .open_slivers = !o->rules.closed_slivers,
                          .open_fringe = !o->rules.closed_fringe,
                          .bodies = f->rigid->count,
                          .centre = centre,
                          .inv_mass = f->inv_mass,
                          .inv_inertia = f->inv_inertia};
    TL_TRY(tl_liquid_system(&f->system, &d, f->dt, f->arena, err));
    f->p = TL_TAKE_ZERO(f->arena, double, tl_coupling_length(&f->system.c));
    TL_TRY(tl_comm_agree(f->grid.comm, f->p ? TALUS_OK : no_memory(err), err));
    if (sand) {
        f->stress = TL_TAKE(f->arena, double, f->system.stress.n);
        f->five = TL_TAKE(f->arena, double, TL_STRESS_GROUP *(int64_t)f->system.c.cells);
        if (!f->stress || !f->five) return no_memory(err);
    }
    *recalled = tl_active_recall(&f->grid, &f->system.active, past, f->p, f->five);
    *recalled = (int64_t)tl_comm_sum(f->grid.comm, (double)*recalled);
    if (!sand) return TALUS_OK;
    tl_stress_unpack(&f->system.stress, f->five, f->stress);
    return find_slip(f, err);
}

/* ---- cones of sand ---- */

/* Mean of a material's number over the cells of the lists. */
static talus_status mean_of(tl_flow *f, const double *value, double *out, talus_error *err)
{
    size_t mark = tl_arena_mark(f->arena);
    double *mean = TL_TAKE(f->arena, double, f->grid.cells);
    if (!mean) return no_memory(err);
    TL_TRY(tl_particles_mean(&f->grid, &f->particles, value, f->faces.fill, f->arena, mean, err));
    for (int32_t i = 0; i < f->system.c.cells; i++) out[i] = mean[f->system.active.cell[i]];
    tl_arena_release(f->arena, mark);
    return TALUS_OK;
}

/* mu(I) of the velocities and pressures that the step begins with, gravity of the step left out. [Jop2006] */
static talus_status add_rates(tl_flow *f, double *alpha, talus_error *err)
{
    tl_coupling *c = tl_flow_motion(f);
    const int32_t n = c->cells;
    double *twist = c->v + c->solid.n - 6 * (int64_t)f->rigid->count; /* of nodes it is there */
    if (!f->set->rise) return TALUS_OK;
    size_t mark = tl_arena_mark(f->arena);
    double *rise = TL_TAKE(f->arena, double, n), *inertia = TL_TAKE(f->arena, double, n);
    double *rate = TL_TAKE(f->arena, double, n), *scratch = TL_TAKE(f->arena, double, f->system.stress.n);
    if (!rise || !inertia || !rate || !scratch) return no_memory(err);
    TL_TRY(mean_of(f, f->set->rise, rise, err));
    TL_TRY(mean_of(f, f->set->inertia, inertia, err));
    double g[3], Q[TL_STRESS_GROUP * TL_STRESS_GROUP];
    tl_vec3_store(tl_vec3_scale(f->dt, f->scene->gravity), g);
    tl_system_load(&f->system, f->faces.u);
    for (int32_t k = 0; k < c->faces; k++) c->u[k] -= g[f->system.axis[k]];
    for (int32_t i = 0; i < f->rigid->count; i++) {
        tl_vec3_store(f->before[i].v, twist + 6 * (int64_t)i);
        tl_vec3_store(f->before[i].w, twist + 6 * (int64_t)i + 3);
    }
    /* rate of shear, |sym grad of (W_F u + J v)|_F without its trace, 1/s */
    tl_stress_form(&f->system.stress, Q);
    tl_stress_gradient(&f->system.stress, c, scratch);
    tl_cone_dual_norms(TL_STRESS_GROUP, Q, n, scratch, rate);
    for (int32_t i = 0; i < n; i++) {
        double p = f->p[i] / f->system.stress.cell[i], over = sqrt(2) * rate[i] * inertia[i]; /* I / I0 times sqrt p */
        if (over > 0) alpha[i] += rise[i] * over / (over + sqrt(fmax(p, 0)));
    }
    tl_arena_release(f->arena, mark);
    return TALUS_OK;
}

talus_status tl_flow_friction(tl_flow *f, const tl_parts_options *parts, tl_friction *out, talus_error *err)
{
    const int32_t n = f->system.c.cells;
    const tl_stress *t = &f->system.stress;
    double *alpha = TL_TAKE(f->arena, double, n), *own = TL_TAKE(f->arena, double, n), *cohesion = NULL;
    f->cone = TL_TAKE(f->arena, double, f->grid.cells);
    if (!f->cone || !alpha || !own) return no_memory(err);
    TL_TRY(tl_particles_mean(&f->grid, &f->particles, f->set->alpha, f->faces.fill, f->arena, f->cone, err));
    for (int32_t i = 0; i < n; i++) alpha[i] = own[i] = f->cone[f->system.active.cell[i]];
    TL_TRY(add_rates(f, alpha, err));
    if (f->set->cohesion) {
        if (!(cohesion = TL_TAKE(f->arena, double, n))) return no_memory(err);
        TL_TRY(mean_of(f, f->set->cohesion, cohesion, err));
    }
    *out = (tl_friction){.stress = t, .c = tl_flow_motion(f), .alpha = alpha, .own = own, .cohesion = cohesion};
    out->s = f->stress;
    out->parts = parts;
    TL_TRY(tl_slip_apply(&f->slip, &f->system, alpha, &out->slip, f->arena, err));
    /* what bears no load has none: a cell that was sand in the last step may be a solid's now. Sand does not stick
     * to a solid with a friction of its own */
    for (int32_t i = 0; i < n; i++) {
        if (t->diagonal[i] > 0) continue;
        const int64_t at = TL_STRESS_GROUP * (int64_t)i;
        if (f->slips) f->stress[at + TL_S_XX] = f->stress[at + TL_S_ZZ] = 0;
        if (cohesion) cohesion[i] = 0;
    }
    return tl_friction_begin(out, f->arena, err);
}

talus_status tl_flow_statics(const tl_flow *f, const tl_friction *friction, const tl_grid_state *past, bool on,
                             tl_statics *out, talus_error *err)
{
    const tl_system *y = &f->system;
    *out = (tl_statics){.system = y,
                        .motion = f->motion ? f->motion : &y->c,
                        .bends = f->bends,
                        .friction = friction,
                        .p = f->p,
                        .solid = f->fractions.solid_cell,
                        .gravity = tl_vec3_norm(f->scene->gravity),
                        .tolerance = f->scene->solver.tolerance,
                        .on = on,
                        .t = TL_TAKE(f->arena, double, y->c.faces),
                        .p_next = TL_TAKE(f->arena, double, y->c.cells),
                        .s_next = TL_TAKE(f->arena, double, y->stress.n)};
    if (!out->t || !out->p_next || !out->s_next) return no_memory(err);
    tl_system_recall(y, &f->grid, past, out->t);
    return TALUS_OK;
}

talus_status tl_flow_refuse_mixture(const tl_flow *f, double t, talus_error *err)
{
    if (!f->set->refuse_mixture) return TALUS_OK;
    const double least = 0.5 * f->set->sand_least;
    for (int32_t i = 0; i < f->system.c.cells; i++) {
        int32_t cell = f->system.active.cell[i];
        if (!(f->cone[cell] > least) || !(f->faces.fill[cell] > TL_ACTIVE_LIQUID)) continue;
        for (int k = 0; k < 6; k++) {
            int32_t other = tl_grid_step(&f->grid, cell, k / 2, k & 1 ? 1 : -1);
            /* cells inside of solids have nothing of their own, and what a wall keeps apart does not touch */
            if (f->system.active.number[other] < 0 || f->cone[other] > least ||
                !(f->fractions.open[k / 2][k & 1 ? other : cell] > 0) || !(f->faces.fill[other] > TL_ACTIVE_LIQUID))
                continue;
            tl_vec3 x = tl_grid_centre(&f->grid, cell);
            return TL_FAIL(
                err, TALUS_UNSUPPORTED,
                "t = %.6g s: liquid covers sand at {%.3g, %.3g, %.3g}: nothing flows through its pores, and "
                "its strength would grow with the pressure of the water; grid.mixture = \"mud\" runs both as "
                "one flow",
                t, x.x, x.y, x.z);
        }
    }
    return TALUS_OK;
}
