#include "grid.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "check.h"
#include "model/grid/emit.h"
#include "model/grid/owners.h"
#include "model/grid/particles.h"
#include "scene/load.h"

#define TEXT_MAX (1 << 15)

/* All parts have all particles: each keeps its own. */
static talus_status keep_own(grid_case *c, tl_particles *p, talus_error *err)
{
    int64_t kept = 0;
    if (!c->f.owners) return TALUS_OK;
    TL_TRY(tl_particles_cut(&c->f, &c->scene->domain, p, &c->arena, err));
    for (int64_t i = 0; i < p->count; i++)
        if (tl_particle_part(&c->f, &c->scene->domain, p->particle[i].x) == c->f.owners->comm->part)
            p->particle[kept++] = p->particle[i];
    p->count = kept;
    return TALUS_OK;
}

static talus_status begin(grid_case *c, struct tl_owners *owners, talus_error *err)
{
    TL_TRY(tl_rigid_create(&c->rigid, c->scene, err));
    TL_TRY(tl_rigid_state_begin(&c->state.rigid, &c->rigid, c->scene, err));
    c->f = tl_grid_frame_of(c->scene);
    tl_grid_state *g = tl_state_add(&c->state, &tl_grid_state_kind);
    if (!g) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory");
    const tl_fill_bodies bodies = {&c->rigid, c->state.rigid.body, NULL};
    TL_TRY(tl_grid_state_begin(g, c->scene, &c->f, &bodies, err));
    c->f.owners = owners;
    return keep_own(c, &g->particles, err);
}

talus_status grid_try_open(grid_case *c, struct tl_owners *owners, const char *text, talus_error *err)
{
    *c = (grid_case){0};
    char *all = TL_NEW(char, 2 * TEXT_MAX);
    if (!all) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory");
    int n = snprintf(all, 2 * TEXT_MAX,
                     "local water = liquid { density = 1000 }\nlocal heavy = liquid { density = 2000 }\nreturn scene { "
                     "talus = 1, engine = 'grid', duration = 1, fps = 50, %s }\n",
                     text);
    tl_load_options o = {.no_files = true};
    talus_status status = tl_scene_load_text(&c->scene, "case.lua", all, (size_t)n, &o, err);
    tl_free(all);
    return status == TALUS_OK ? begin(c, owners, err) : status;
}

grid_case grid_open(const char *text, ...)
{
    static char inside[TEXT_MAX];
    talus_error err;
    grid_case c;
    va_list args;
    va_start(args, text);
    vsnprintf(inside, sizeof inside, text, args);
    va_end(args);
    CHECK_OK(grid_try_open(&c, NULL, inside, &err));
    return c;
}

void grid_close(grid_case *c)
{
    tl_arena_free(&c->arena);
    tl_state_free(&c->state);
    tl_rigid_free(&c->rigid);
    tl_scene_free(c->scene);
}

talus_status grid_try_sort(grid_case *c, talus_error *err)
{
    tl_particles *p = &tl_grid_state_of(&c->state)->particles;
    tl_arena *a = &c->arena;
    tl_arena_reset(a);
    TL_TRY(tl_particles_migrate(&c->f, &c->scene->domain, p, a, err));
    c->rho = TL_TAKE(a, double, c->scene->material_count);
    c->sorted = (tl_particles){.room = p->count, .particle = TL_TAKE(a, tl_particle, p->count)};
    c->key = TL_TAKE(a, uint64_t, p->count);
    if (!c->rho || !c->sorted.particle || !c->key) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory");
    for (int k = 0; k < c->scene->material_count; k++) c->rho[k] = c->scene->materials[k].density;
    TL_TRY(tl_particles_sort(&c->f, &c->scene->domain, p, &c->sorted, c->key, &c->lost, a, err));
    return tl_grid_build(&c->g, &c->f, c->sorted.count, c->key, a, err);
}

talus_status grid_try_derive(grid_case *c, tl_weight_family family, talus_error *err)
{
    tl_arena *a = &c->arena;
    TL_TRY(grid_try_sort(c, err));
    TL_TRY(tl_particles_to_grid(&c->g, &c->sorted, c->rho, c->scene->material_count, a, &c->faces, err));
    TL_TRY(tl_solids_make(&c->solids, &c->g, &c->rigid, &c->scene->domain, c->state.rigid.body, a, err));
    c->solid_phi = TL_TAKE(a, float, c->g.cells);
    c->phi = TL_TAKE(a, double, c->g.cells);
    if (!c->solid_phi || !c->phi) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory");
    tl_solids_field(&c->solids, &c->g, c->solid_phi);
    TL_TRY(tl_solid_fractions(&c->g, &c->solids, family, a, &c->fractions, err));
    const tl_filled filled = {.grid = &c->g,
                              .fill = c->faces.fill,
                              .fractions = &c->fractions,
                              .solids = &c->solids,
                              .solid_phi = c->solid_phi,
                              .spacing = 0.5 * c->f.dx};
    TL_TRY(tl_liquid_distance(&filled, NULL, a, c->phi, NULL, &c->full, err));
    TL_TRY(tl_liquid_fractions(&c->g, c->phi, false, true, true, a, &c->liquid, err));
    return tl_active_cells(&c->g, c->faces.fill, &c->liquid, &c->fractions, true, a, &c->active, err);
}

void grid_sort(grid_case *c)
{
    talus_error err;
    CHECK_OK(grid_try_sort(c, &err));
}

void grid_derive(grid_case *c, tl_weight_family family)
{
    talus_error err;
    CHECK_OK(grid_try_derive(c, family, &err));
}

uint64_t grid_hash(const grid_case *c)
{
    size_t n = (size_t)c->g.cells, d = sizeof(double);
    uint64_t h = tl_hash(TL_HASH_START, c->sorted.particle, sizeof(tl_particle) * (size_t)c->sorted.count);
    h = tl_hash(h, c->g.key, sizeof *c->g.key * (size_t)c->g.blocks);
    h = tl_hash(h, c->faces.fill, d * n);
    h = tl_hash(h, c->solid_phi, sizeof(float) * n);
    h = tl_hash(h, c->phi, d * n);
    h = tl_hash(h, c->liquid.cell, d * n);
    h = tl_hash(h, c->fractions.solid_cell, d * n);
    h = tl_hash(h, c->active.number, sizeof(int32_t) * n);
    for (int k = 0; k < 3; k++) {
        h = tl_hash(h, c->faces.mass[k], d * n);
        h = tl_hash(h, c->faces.u[k], d * n);
        h = tl_hash(h, c->liquid.face[k], d * n);
        h = tl_hash(h, c->liquid.edge[k], d * n);
        h = tl_hash(h, c->fractions.open[k], d * n);
        h = tl_hash(h, c->fractions.fixed[k], d * n);
        h = tl_hash(h, c->active.edge[k], n);
    }
    const tl_covers *v = &c->fractions.covers;
    size_t covers = (size_t)v->start[3 * v->bodies];
    h = tl_hash(h, v->face, sizeof *v->face * covers);
    return tl_hash(h, v->weight, d * covers);
}
