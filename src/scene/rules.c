/* What depends on more than one key. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "math/eig3.h"
#include "scene/read.h"

static bool flows(const tl_material *m) { return m->kind <= TL_MATERIAL_VISCOUS; }
static const char *kind_name(const tl_material *m)
{
    static const char *const names[] = {"granular", "liquid", "viscous", "elastic", "solid"};
    return names[m->kind];
}
static double product(const int n[3]) { return (double)n[0] * n[1] * n[2]; }

/* ---- parts ---- */

static void check_grid(tl_reader *r, const tl_seen *seen, const tl_grid_spec *g)
{
    if (!tl_seen_good(seen, "cells")) return;
    if (product(g->cells) > 1e9)
        tl_read_problem(r, tl_seen_where(r, seen, "cells"), "grid.cells must be at most 1e9 cells together, got %.3g",
                        product(g->cells));
    for (int k = 0; k < 3; k++)
        if (g->cells[k] == 1 && !g->periodic[k])
            tl_read_problem(r, tl_seen_where(r, seen, "cells"),
                            "grid.cells[%d] is 1, the 2D mode, so grid.periodic[%d] must be true, got false", k + 1,
                            k + 1);
}

static void check_flowing(tl_reader *r, const tl_seen *seen, int material)
{
    if (!tl_seen_good(seen, "material")) return;
    const tl_material *m = &r->materials[material];
    if (!flows(m))
        tl_read_problem(r, tl_seen_where(r, seen, "material"),
                        "%s.material must be granular, liquid or viscous, got %s", seen->path, kind_name(m));
    else if (r->scene->engine == TL_ENGINE_LG)
        tl_read_problem(r, seen->where, "%s: engine \"lg\" has elastic solids only, got %s", seen->path, kind_name(m));
    else if (r->scene->engine == TL_ENGINE_SPH && m->kind == TL_MATERIAL_GRANULAR)
        tl_read_problem(r, tl_seen_where(r, seen, "material"),
                        "%s.material must be liquid or viscous with engine \"sph\", got granular", seen->path);
}

static void check_emitter(tl_reader *r, const tl_seen *seen, const tl_emitter *e)
{
    check_flowing(r, seen, e->material);
    if (e->stop <= e->start)
        tl_read_problem(r, tl_seen_where(r, seen, "stop"), "%s.stop must be > %s.start = %.10g s, got %.10g",
                        seen->path, seen->path, e->start, e->stop);
}

static void check_camera(tl_reader *r, const tl_seen *seen, const tl_camera *c)
{
    if (!tl_seen_good(seen, "eye") || !tl_seen_good(seen, "target")) return;
    tl_vec3 view = tl_vec3_sub(c->target, c->eye);
    double length = tl_vec3_norm(view);
    if (!(length > 1e-9))
        tl_read_problem(r, tl_seen_where(r, seen, "target"),
                        "camera.target must differ from camera.eye, got the same point");
    else if (tl_vec3_norm(tl_vec3_cross(view, c->up)) < 1e-6 * length * tl_vec3_norm(c->up) ||
             !(tl_vec3_norm(c->up) > 0))
        tl_read_problem(r, tl_seen_where(r, seen, "up"),
                        "camera.up must not be zero or along the view, got {%g, %g, %g}", c->up.x, c->up.y, c->up.z);
}

static void check_render(tl_reader *r, const tl_seen *seen, const tl_render_spec *o)
{
    if (!(tl_vec3_norm(o->light) > 0))
        tl_read_problem(r, tl_seen_where(r, seen, "light"), "render.light must not be zero, got {0, 0, 0}");
}

/* Contacts of particles are inelastic. What a material brings along is left out, what the scene itself asks for is
 * refused. */
static void check_bounce(tl_reader *r, const tl_seen *seen, double restitution)
{
    if (r->scene->engine == TL_ENGINE_SPH && tl_seen_has(seen, "restitution") && restitution > 0)
        tl_read_problem(r, tl_seen_where(r, seen, "restitution"),
                        "%s.restitution must be 0 with engine \"sph\", where nothing bounces; got %g", seen->path,
                        restitution);
}

static void check_contact(tl_reader *r, const tl_seen *seen, tl_contact_pair *p)
{
    bool friction = tl_seen_has(seen, "friction"), restitution = tl_seen_has(seen, "restitution");
    check_bounce(r, seen, p->restitution);
    if (!friction) p->friction = -1;
    bool rolling = tl_seen_has(seen, "rolling_friction"), spinning = tl_seen_has(seen, "spinning_friction");
    if (!restitution) p->restitution = -1;
    if (!rolling) p->rolling_friction = -1;
    if (!spinning) p->spinning_friction = -1;
    if (!friction && !restitution && !rolling && !spinning)
        tl_read_problem(r, seen->where, "%s says nothing about its pair; give friction or restitution", seen->path);
}

static void check_handle(tl_reader *r, const tl_seen *seen, const tl_handle *h)
{
    (void)seen;
    if (h->motion < 0) return;
    double rest[7] = {h->at.x, h->at.y, h->at.z, 1, 0, 0, 0};
    memcpy(r->scene->lua->functions[h->motion].rest, rest, sizeof rest);
}

static void check_join(tl_reader *r, const tl_seen *seen, const tl_join *j)
{
    if (tl_seen_has(seen, "to") && tl_seen_has(seen, "motion"))
        tl_read_problem(r, tl_seen_where(r, seen, "motion"), "%s.motion is for joins to the world, this one has `to`",
                        seen->path);
    if (j->motion < 0) return;
    double rest[7] = {j->at.x, j->at.y, j->at.z, 1, 0, 0, 0};
    memcpy(r->scene->lua->functions[j->motion].rest, rest, sizeof rest);
}

static void check_angle(tl_reader *r, const tl_seen *seen, const void *args)
{
    (void)args;
    if (tl_seen_has(seen, "angle_deg") == tl_seen_has(seen, "angle_rad"))
        tl_read_problem(r, seen->where, "%s must have angle_deg or angle_rad, got %s", seen->path,
                        tl_seen_has(seen, "angle_deg") ? "both" : "neither");
}

/* ---- bodies ---- */

static void body_mass(tl_reader *r, const tl_seen *seen, tl_body *b, const tl_material *m)
{
    if (tl_seen_has(seen, "density") && tl_seen_has(seen, "mass"))
        tl_read_problem(r, tl_seen_where(r, seen, "mass"), "%s has both density and mass; give one of them",
                        seen->path);
    if (!tl_seen_has(seen, "density") && !tl_seen_has(seen, "mass")) {
        if (m)
            b->density = m->density;
        else if (b->kind == TL_BODY_FREE && !tl_seen_has(seen, "material"))
            tl_read_problem(
                r, seen->where,
                "%s.density is missing; a free body needs a density > 0 kg/m^3, a mass > 0 kg, or a material",
                seen->path);
    }
}

#define TRIANGLE 1e-6 /* relative: what rounding of printed moments of inertia may miss */

/* Moments of inertia of matter are > 0, and none is larger than the sum of the two others. */
static void body_inertia(tl_reader *r, const tl_seen *seen, tl_body *b, bool elastic)
{
    static const char *const keys[] = {"inertia", "center_of_mass", "inertia_products"};
    b->has_inertia = tl_seen_good(seen, "inertia");
    b->has_center = tl_seen_good(seen, "center_of_mass");
    for (int k = 0; k < 3; k++) {
        if (!tl_seen_has(seen, keys[k])) continue;
        const tl_where where = tl_seen_where(r, seen, keys[k]);
        if (elastic || b->kind != TL_BODY_FREE)
            tl_read_problem(r, where, "%s.%s is for rigid bodies that move freely", seen->path, keys[k]);
        else if (k == 0 && !tl_seen_has(seen, "mass"))
            tl_read_problem(r, where, "%s.inertia needs a mass", seen->path);
        else if (k > 0 && !tl_seen_has(seen, "inertia"))
            tl_read_problem(r, where, "%s.%s needs an inertia", seen->path, keys[k]);
    }
    if (!b->has_inertia) return;
    const tl_vec3 d = b->inertia, p = b->inertia_products;
    double w[3];
    tl_mat3 V;
    tl_eig3((tl_mat3){{{d.x, p.x, p.y}, {p.x, d.y, p.z}, {p.y, p.z, d.z}}}, w, &V); /* ascending */
    if (!(w[0] > 0))
        tl_read_problem(r, tl_seen_where(r, seen, "inertia"),
                        "%s.inertia must have principal moments > 0 kg m^2, got %g, %g, %g", seen->path, w[0], w[1],
                        w[2]);
    else if (w[2] > (w[0] + w[1]) * (1 + TRIANGLE))
        tl_read_note(r, tl_seen_where(r, seen, "inertia"),
                     "%s.inertia is of no matter: the principal moment %g kg m^2 is larger than %g and %g together",
                     seen->path, w[2], w[0], w[1]);
}

static void body_motion(tl_reader *r, const tl_seen *seen, tl_body *b)
{
    static const char *const moving[] = {"velocity", "spin_rad_per_s", "force", "torque"};
    static const char *const kinds[] = {"free", "kinematic", "static"};
    if (!tl_seen_has(seen, "kind")) b->kind = tl_seen_has(seen, "motion") ? TL_BODY_KINEMATIC : TL_BODY_FREE;
    if (b->kind == TL_BODY_KINEMATIC && !tl_seen_has(seen, "motion") && !r->options->driven)
        tl_read_problem(
            r, tl_seen_where(r, seen, "kind"),
            "%s.motion is missing; a kinematic body needs a function of time that returns { at = ..., rotation = ... }",
            seen->path);
    if (b->kind != TL_BODY_KINEMATIC && tl_seen_has(seen, "motion"))
        tl_read_problem(r, tl_seen_where(r, seen, "motion"), "%s.motion is for kinematic bodies, this one is %s",
                        seen->path, kinds[b->kind]);
    for (int i = 0; i < 4 && b->kind != TL_BODY_FREE; i++)
        if (tl_seen_has(seen, moving[i]))
            tl_read_problem(r, tl_seen_where(r, seen, moving[i]), "%s.%s is for free bodies, this one is %s",
                            seen->path, moving[i], kinds[b->kind]);
    if (b->motion >= 0) {
        double rest[7] = {b->at.x, b->at.y, b->at.z, b->rotation.w, b->rotation.x, b->rotation.y, b->rotation.z};
        memcpy(r->scene->lua->functions[b->motion].rest, rest, sizeof rest);
    }
}

static void body_shape(tl_reader *r, const tl_seen *seen, const tl_body *b)
{
    if (!tl_seen_good(seen, "shape")) return;
    tl_box3 box = tl_shape_bounds(r->scene->shapes, b->shape);
    if (box.lo.x > box.hi.x || box.lo.y > box.hi.y || box.lo.z > box.hi.z)
        tl_read_problem(r, tl_seen_where(r, seen, "shape"),
                        "%s.shape must not be empty, got a shape without a single point", seen->path);
    else if (b->kind == TL_BODY_FREE && !tl_shape_bounded(r->scene->shapes, b->shape))
        tl_read_problem(
            r, tl_seen_where(r, seen, "shape"),
            "%s.shape must be bounded, because the body is free; write kind = \"static\", or cut the shape off",
            seen->path);
}

#define NEARLY_VOLUME                                                                                                  \
    0.45 /* Poisson's ratio from which tetrahedra that keep their volume hinder bending; at 0.3 they are 6 % too stiff with two edges across */

/* Elastic bodies by finite elements. What a material brings along and cannot be is left out. */
static void check_elements(tl_reader *r, const tl_seen *seen, tl_body *b, const tl_material *m)
{
    if (b->restitution > 0 && tl_seen_has(seen, "restitution"))
        tl_read_problem(r, tl_seen_where(r, seen, "restitution"),
                        "%s.restitution must be 0 for elastic bodies of engine \"grid\", got %g: nodes that touch do "
                        "not bounce, the body does by its own elasticity",
                        seen->path, b->restitution);
    else if (b->restitution > 0)
        tl_read_note(r, tl_seen_where(r, seen, "material"),
                     "%s: restitution %g of the material does not act with engine \"grid\": nodes that touch do not "
                     "bounce, the body does by its own elasticity",
                     seen->path, b->restitution);
    b->restitution = 0;
    if (m->poisson > NEARLY_VOLUME && !tl_seen_has(seen, "cells"))
        tl_read_note(
            r, tl_seen_where(r, seen, "material"),
            "%s: tetrahedra of nu %g bend too little when they are coarse: at nu 0.49 a beam by 49 %% with two "
            "edges across, by 17 %% with four; a box with cells by 3 %%",
            seen->path, m->poisson);
}

static void check_body(tl_reader *r, const tl_seen *seen, tl_body *b)
{
    const tl_material *m = tl_seen_good(seen, "material") ? &r->materials[b->material] : NULL;
    if (m && flows(m)) {
        tl_read_problem(r, tl_seen_where(r, seen, "material"), "%s.material must be solid or elastic, got %s",
                        seen->path, kind_name(m));
        m = NULL;
        b->density = 1; /* one mistake, one message */
    }
    body_motion(r, seen, b);
    body_mass(r, seen, b, m);
    body_shape(r, seen, b);
    bool elastic = m && m->kind == TL_MATERIAL_ELASTIC;
    body_inertia(r, seen, b, elastic);
    if (elastic && r->scene->engine == TL_ENGINE_SPH)
        tl_read_problem(r, tl_seen_where(r, seen, "material"),
                        "%s.material must be solid with engine \"sph\", got elastic", seen->path);
    if (tl_seen_has(seen, "anchor") && !elastic)
        tl_read_problem(r, tl_seen_where(r, seen, "anchor"),
                        "%s.anchor is for elastic bodies; the material must be elastic", seen->path);
    if (tl_seen_has(seen, "edge") && !elastic)
        tl_read_problem(r, tl_seen_where(r, seen, "edge"),
                        "%s.edge is for elastic bodies; the material must be elastic", seen->path);
    static const char *const soft[] = {"cells",         "thickness",    "bending",  "bending_stiffness",
                                       "anchor_weight", "self_contact", "pressure", "pressure_in"};
    for (size_t k = 0; k < sizeof soft / sizeof *soft && !elastic; k++)
        if (tl_seen_has(seen, soft[k]))
            tl_read_problem(r, tl_seen_where(r, seen, soft[k]),
                            "%s.%s is for elastic bodies; the material must be elastic", seen->path, soft[k]);
    check_bounce(r, seen, b->restitution);
    if (!m) return;
    if (!tl_seen_has(seen, "friction")) b->friction = m->friction;
    if (!tl_seen_has(seen, "restitution")) b->restitution = m->restitution;
    if (!tl_seen_has(seen, "rolling_friction")) b->rolling_friction = m->rolling_friction;
    if (!tl_seen_has(seen, "spinning_friction")) b->spinning_friction = m->spinning_friction;
    if (elastic && r->scene->engine == TL_ENGINE_GRID) check_elements(r, seen, b, m);
    if (!tl_seen_has(seen, "colour")) b->colour = m->colour;
    if (!tl_seen_has(seen, "opacity")) b->opacity = m->opacity;
}

/* ---- materials ---- */

static void check_granular(tl_reader *r, const tl_seen *seen, const tl_material *m)
{
    if (!tl_seen_good(seen, "friction_angle_deg")) return;
    if (m->angle_means == TL_ANGLE_SLOPE && fmax(m->friction_angle_deg, m->dynamic_friction_angle_deg) > 45)
        tl_read_problem(r, tl_seen_where(r, seen, "angle_means"),
                        "%s.angle_means = \"slope\" is for angles up to 45 degrees, got %g", seen->path,
                        fmax(m->friction_angle_deg, m->dynamic_friction_angle_deg));
    if (!(m->dynamic_friction_angle_deg > 0)) return;
    if (m->dynamic_friction_angle_deg < m->friction_angle_deg)
        tl_read_problem(r, tl_seen_where(r, seen, "dynamic_friction_angle_deg"),
                        "%s.dynamic_friction_angle_deg must be at least friction_angle_deg = %g, got %g", seen->path,
                        m->friction_angle_deg, m->dynamic_friction_angle_deg);
    if (!(m->grain_size > 0))
        tl_read_problem(r, tl_seen_where(r, seen, "dynamic_friction_angle_deg"),
                        "%s.grain_size must be > 0 m with dynamic_friction_angle_deg", seen->path);
}

/* ---- the whole ---- */

static int by_name(const void *a, const void *b)
{
    const tl_body *const *p = a, *const *q = b;
    int names = strcmp((*p)->name, (*q)->name);
    return names ? names : (*p > *q) - (*p < *q);
}

static void name_bodies(tl_reader *r, tl_scene *s)
{
    const tl_body **sorted = tl_reader_take(r, (size_t)s->body_count * sizeof *sorted);
    for (int i = 0; i < s->body_count; i++) {
        char text[32];
        snprintf(text, sizeof text, "body %d", i + 1);
        if (!*s->bodies[i].name) s->bodies[i].name = tl_reader_text(r, text);
        sorted[i] = &s->bodies[i];
    }
    qsort(sorted, (size_t)s->body_count, sizeof *sorted, by_name);
    for (int i = 1; i < s->body_count; i++)
        if (!strcmp(sorted[i]->name, sorted[i - 1]->name))
            tl_read_problem(r, sorted[i]->where,
                            "bodies[%d].name must be unique, got \"%s\", which is also that of bodies[%d]",
                            (int)(sorted[i] - s->bodies) + 1, sorted[i]->name, (int)(sorted[i - 1] - s->bodies) + 1);
}

static bool overlap(tl_box3 a, tl_box3 b)
{
    return a.lo.x < b.hi.x && b.lo.x < a.hi.x && a.lo.y < b.hi.y && b.lo.y < a.hi.y && a.lo.z < b.hi.z &&
           b.lo.z < a.hi.z;
}
static bool holds(tl_box3 a, tl_box3 b, double slack)
{
    return b.lo.x >= a.lo.x - slack && b.lo.y >= a.lo.y - slack && b.lo.z >= a.lo.z - slack &&
           b.hi.x <= a.hi.x + slack && b.hi.y <= a.hi.y + slack && b.hi.z <= a.hi.z + slack;
}

/* A grid carries what flows; bodies alone do without. */
static bool needs_grid(const tl_seen *seen) { return tl_seen_has(seen, "fill") || tl_seen_has(seen, "emitters"); }

/* An elastic body in what flows: liquid, between walls or in free space. */
static void check_wet(tl_reader *r, const tl_scene *s, int body)
{
    const char *name = s->bodies[body].name;
    const tl_where where = s->bodies[body].where;
    bool sand = false;
    for (int i = 0; i < s->fill_count + s->emitter_count; i++) {
        int m = i < s->fill_count ? s->fills[i].material : s->emitters[i - s->fill_count].material;
        sand |= m >= 0 && r->materials[m].kind == TL_MATERIAL_GRANULAR;
    }
    if (sand && (s->solver.stress == TL_STRESS_STAGGERED || s->solver.cone == TL_CONE_PYRAMID ||
                 (s->solver.friction.method && *s->solver.friction.method)))
        tl_read_problem(
            r, where,
            "bodies[%d] (%s) is elastic and in sand, whose stress is colocated with exact cones then: leave "
            "out solver.stress, solver.cone and solver.friction.method",
            body + 1, name);
    if (s->grid.periodic[0] || s->grid.periodic[1] || s->grid.periodic[2])
        tl_read_problem(
            r, where,
            "bodies[%d] (%s) is elastic: in liquid and sand its surface is cut along the grid, which has no "
            "periodic axis then",
            body + 1, name);
    const char *route = s->solver.elastic.method;
    if (route && *route && strcmp(route, "schur") && strcmp(route, "schur-last"))
        tl_read_problem(r, where,
                        "bodies[%d] (%s) is elastic and in liquid: solver.elastic must be schur or schur-last, got %s",
                        body + 1, name, route);
    if (s->fem.integrator == 1)
        tl_read_problem(r, where,
                        "bodies[%d] (%s) is elastic and in liquid, which takes Euler's steps: fem.integrator must be "
                        "euler",
                        body + 1, name);
}

/* Elastic bodies of the grid engine: what is not there yet or has no meaning there. */
static void check_bending(tl_reader *r, const tl_seen *seen, const tl_scene *s)
{
    static const char *const models[] = {"stable_neo_hookean", "neo_hookean", "arap", "corotated"};
    for (int i = 0; i < s->body_count; i++) {
        int m = s->bodies[i].material;
        if (m < 0 || r->materials[m].kind != TL_MATERIAL_ELASTIC) continue;
        tl_elastic_model model = r->materials[m].model;
        if (s->engine == TL_ENGINE_GRID && model != TL_ELASTIC_STABLE_NEO_HOOKEAN &&
            model != TL_ELASTIC_STABLE_NEO_HOOKEAN_NOLOG)
            tl_read_problem(r, s->bodies[i].where,
                            "bodies[%d].material.model must be stable_neo_hookean or stable_neo_hookean_nolog with "
                            "engine \"grid\", got %s, which is one of engine \"lg\"",
                            i + 1, models[model]);
        if (s->engine == TL_ENGINE_LG && model == TL_ELASTIC_STABLE_NEO_HOOKEAN_NOLOG)
            tl_read_problem(r, s->bodies[i].where,
                            "bodies[%d].material.model must be one of engine \"lg\", got stable_neo_hookean_nolog, "
                            "which is one of engine \"grid\"",
                            i + 1);
        if (s->engine == TL_ENGINE_GRID && needs_grid(seen)) check_wet(r, s, i);
    }
}

/* Rolling and spinning friction are part of contacts between rigid bodies, and of nothing else. */
static void check_turning(tl_reader *r, const tl_seen *seen, const tl_scene *s)
{
    bool flows = needs_grid(seen);
    for (int i = 0; i < s->body_count; i++) {
        const tl_body *b = &s->bodies[i];
        if (!(b->rolling_friction > 0 || b->spinning_friction > 0)) continue;
        if (flows)
            tl_read_problem(r, b->where,
                            "bodies[%d] (%s) has rolling or spinning friction, which scenes of bodies alone have, "
                            "without sand or liquid",
                            i + 1, b->name);
        if (b->material >= 0 && r->materials[b->material].kind == TL_MATERIAL_ELASTIC)
            tl_read_problem(r, b->where,
                            "bodies[%d] (%s) is elastic and has rolling or spinning friction, which acts between rigid "
                            "bodies; what deforms resists rolling by itself",
                            i + 1, b->name);
    }
    if (flows && (s->domain.rolling_friction > 0 || s->domain.spinning_friction > 0))
        tl_read_problem(r, tl_seen_where(r, seen, "domain"),
                        "domain has rolling or spinning friction, which scenes of bodies alone have, without sand or "
                        "liquid");
    for (int i = 0; i < s->contact_count && flows; i++)
        if (s->contacts[i].rolling_friction > 0 || s->contacts[i].spinning_friction > 0)
            tl_read_problem(r, s->contacts[i].where,
                            "contacts[%d] has rolling or spinning friction, which scenes of bodies alone have, "
                            "without sand or liquid",
                            i + 1);
}

static void check_domain(tl_reader *r, const tl_seen *seen, tl_domain_spec *d)
{
    check_bounce(r, seen, d->restitution);
    d->bounded = tl_seen_has(seen, "min") || tl_seen_has(seen, "max");
}

static void set_domain(tl_reader *r, const tl_seen *seen, tl_scene *s)
{
    if (s->engine == TL_ENGINE_GRID && tl_seen_has(seen, "grid")) {
        if (s->domain.bounded)
            tl_read_problem(r, tl_seen_where(r, seen, "domain"),
                            "domain: the grid is the box of this scene, so domain.min and domain.max have no place");
        tl_vec3 size = {s->grid.cells[0] * s->grid.cell, s->grid.cells[1] * s->grid.cell,
                        s->grid.cells[2] * s->grid.cell};
        s->domain.bounded = tl_seen_good(seen, "grid");
        s->domain.box = (tl_box3){s->grid.origin, tl_vec3_add(s->grid.origin, size)};
        for (int k = 0; k < 6; k++)
            if (s->grid.periodic[k / 2] && s->domain.wall[k] == TL_WALL_OPEN)
                tl_read_problem(r, tl_seen_where(r, seen, "domain"),
                                "domain: the grid is periodic along %c, so it has no wall there to open", "xyz"[k / 2]);
        return;
    }
    tl_vec3 size = tl_vec3_sub(s->domain.box.hi, s->domain.box.lo);
    if (s->domain.bounded && !(size.x > 0 && size.y > 0 && size.z > 0)) {
        tl_read_problem(r, tl_seen_where(r, seen, "domain"),
                        "domain.max must be > domain.min on every axis, got a box of {%g, %g, %g} m", size.x, size.y,
                        size.z);
        s->domain.bounded = false;
    }
}

/* The part of a shape that is in the domain; the shape itself after a problem. */
static int inside_domain(tl_reader *r, const tl_scene *s, tl_where where, const char *what, int number, int shape)
{
    talus_error err = {0};
    tl_box3 b = s->domain.box;
    const double upright[4] = {1, 0, 0, 0};
    int both[2] = {shape, tl_shape_box(s->shapes, tl_vec3_sub(b.hi, b.lo), 0, &err)}, cut = -1;
    if (both[1] >= 0)
        both[1] = tl_shape_place(s->shapes, both[1], tl_vec3_scale(0.5, tl_vec3_add(b.lo, b.hi)), upright, 1, &err);
    if (both[1] >= 0) cut = tl_shape_intersect(s->shapes, 2, both, &err);
    if (cut >= 0) return cut;
    if (err.status == TALUS_NO_MEMORY) tl_reader_starved(r);
    tl_read_problem(r, where, "%s[%d].shape cannot be cut off at the domain: %s", what, number, err.message);
    return shape;
}

/* A fill or an emitter against the domain. Returns what of the shape is inside. */
static int check_place(tl_reader *r, const tl_scene *s, tl_where where, const char *what, int number, int shape)
{
    if (shape < 0) return shape;
    tl_box3 box = tl_shape_bounds(s->shapes, shape);
    if (box.lo.x > box.hi.x || box.lo.y > box.hi.y || box.lo.z > box.hi.z)
        tl_read_problem(r, where, "%s[%d].shape must not be empty, got a shape without a single point", what, number);
    else if (!s->domain.bounded && !tl_shape_bounded(s->shapes, shape))
        tl_read_problem(r, where, "%s[%d].shape must be bounded, because the domain is not", what, number);
    else if (s->domain.bounded && !overlap(s->domain.box, box))
        tl_read_problem(r, where,
                        "%s[%d].shape must overlap the domain, {%g, %g, %g} to {%g, %g, %g} m, got one from {%g, %g, "
                        "%g} to {%g, %g, %g}",
                        what, number, s->domain.box.lo.x, s->domain.box.lo.y, s->domain.box.lo.z, s->domain.box.hi.x,
                        s->domain.box.hi.y, s->domain.box.hi.z, box.lo.x, box.lo.y, box.lo.z, box.hi.x, box.hi.y,
                        box.hi.z);
    else if (s->domain.bounded && !holds(s->domain.box, box, 1e-9 * (1 + tl_vec3_norm(s->domain.box.hi)))) {
        if (tl_shape_bounded(s->shapes, shape))
            tl_read_note(r, where, "%s[%d].shape reaches out of the domain; what is outside is cut off", what, number);
        return inside_domain(r, s, where, what, number, shape);
    }
    return shape;
}

static void check_bodies_inside(tl_reader *r, const tl_scene *s)
{
    for (int i = 0; i < s->body_count && s->domain.bounded; i++) {
        const tl_body *b = &s->bodies[i];
        if (b->shape < 0 || !tl_shape_bounded(s->shapes, b->shape)) continue;
        /* the ball around the shape's box stays outside however it is turned */
        tl_box3 box = tl_shape_bounds(s->shapes, b->shape);
        double radius = 0.5 * tl_vec3_norm(tl_vec3_sub(box.hi, box.lo));
        tl_vec3 c = tl_vec3_add(b->at, tl_quat_rotate(b->rotation, tl_vec3_scale(0.5, tl_vec3_add(box.lo, box.hi))));
        tl_box3 ball = {{c.x - radius, c.y - radius, c.z - radius}, {c.x + radius, c.y + radius, c.z + radius}};
        if (!overlap(s->domain.box, ball))
            tl_read_note(r, b->where, "bodies[%d] (%s) starts outside of the domain", i + 1, b->name);
    }
}

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static void check_pairs(tl_reader *r, const tl_scene *s)
{
    if (!s->contact_count) return;
    const char **names = tl_reader_take(r, (size_t)(s->body_count + r->material_count + 2) * sizeof *names);
    size_t n = 0;
    names[n++] = "walls";
    for (int m = 0; m < r->material_count; m++)
        if (*r->materials[m].name) names[n++] = r->materials[m].name;
    for (int b = 0; b < s->body_count; b++) names[n++] = s->bodies[b].name;
    qsort(names, n, sizeof *names, by_text);

    int looked = 0;
    for (int i = 0; i < s->contact_count; i++)
        for (int k = 0; k < 2; k++) {
            const char *name = s->contacts[i].between[k];
            if (!*name || bsearch(&name, names, n, sizeof *names, by_text)) continue; /* none: told already */
            const char *near = looked++ < 20 ? tl_text_nearest(name, names) : NULL;
            tl_read_problem(r, s->contacts[i].where,
                            "contacts[%d].between must name materials, bodies or \"walls\", got \"%.60s\"%s%s%s", i + 1,
                            name, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
        }
}

/* list[i].key must be the name of an elastic body. */
static void check_elastic(tl_reader *r, const tl_scene *s, tl_where where, const char *list, int i, const char *key,
                          const char *name)
{
    int b = 0;
    if (!*name) return; /* told already, or not asked for */
    while (b < s->body_count && strcmp(s->bodies[b].name, name)) b++;
    int m = b < s->body_count ? s->bodies[b].material : -1;
    if (b == s->body_count)
        tl_read_problem(r, where, "%s[%d].%s must name a body, got \"%.60s\"", list, i + 1, key, name);
    else if (m < 0 || r->materials[m].kind != TL_MATERIAL_ELASTIC)
        tl_read_problem(r, where, "%s[%d].%s must be elastic, \"%.60s\" is not", list, i + 1, key, name);
}

static void check_holds(tl_reader *r, const tl_scene *s)
{
    for (int i = 0; i < s->handle_count; i++)
        check_elastic(r, s, s->handles[i].where, "handles", i, "body", s->handles[i].body);
    for (int i = 0; i < s->region_count; i++) {
        const tl_region *g = &s->regions[i];
        check_elastic(r, s, g->where, "regions", i, "body", g->body);
        if (g->material >= 0 && r->materials[g->material].kind != TL_MATERIAL_ELASTIC)
            tl_read_problem(r, g->where, "regions[%d].material must be elastic", i + 1);
    }
    for (int i = 0; i < s->cable_count; i++)
        check_elastic(r, s, s->cables[i].where, "cables", i, "body", s->cables[i].body);
    for (int i = 0; i < s->join_count; i++) {
        const tl_join *j = &s->joins[i];
        check_elastic(r, s, j->where, "joins", i, "body", j->body);
        int to = 0;
        while (*j->to && to < s->body_count && strcmp(s->bodies[to].name, j->to)) to++;
        if (to == s->body_count)
            tl_read_problem(r, j->where, "joins[%d].to must name a body, got \"%.60s\"", i + 1, j->to);
        if (*j->to && !strcmp(j->to, j->body))
            tl_read_problem(r, j->where, "joins[%d].to must be another body than \"%.60s\"", i + 1, j->body);
    }
}

/* Coulomb friction of bodies acts on sand where they say so; whoever writes both may expect it to. */
static void note_friction_on_sand(tl_reader *r, const tl_seen *seen, const tl_scene *s)
{
    bool sand = false;
    for (int i = 0; i < s->fill_count; i++)
        sand |= s->fills[i].material >= 0 && r->materials[s->fills[i].material].kind == TL_MATERIAL_GRANULAR;
    for (int i = 0; i < s->emitter_count; i++)
        sand |= s->emitters[i].material >= 0 && r->materials[s->emitters[i].material].kind == TL_MATERIAL_GRANULAR;
    if (!sand || !s->body_count) return;
    lua_State *L = r->L;
    lua_pushliteral(L, "bodies");
    lua_rawget(L, seen->table);
    for (int i = 1; i <= s->body_count; i++) {
        lua_rawgeti(L, -1, i);
        lua_pushliteral(L, "friction");
        bool given = lua_rawget(L, -2) != LUA_TNIL;
        if (given && s->bodies[i - 1].sand_friction == TL_SAND_FRICTION_MATERIAL) {
            tl_read_note(r, tl_read_where(r, -2, "friction", 0, seen->where),
                         "bodies[%d].friction acts between solids; on sand it does with sand_friction = \"own\", else "
                         "the sand's own "
                         "friction_angle_deg does",
                         i);
            lua_pop(L, 2);
            break;
        }
        lua_pop(L, 2);
    }
    lua_pop(L, 1);
}

static tl_where place_in_solver(tl_reader *r, const tl_seen *seen, const char *key)
{
    lua_State *L = r->L;
    tl_where at = seen->where;
    lua_pushliteral(L, "solver");
    if (lua_rawget(L, seen->table) == LUA_TTABLE) at = tl_read_where(r, lua_gettop(L), key, 0, at);
    lua_pop(L, 1);
    return at;
}

/* One word of the solver that the schema knows, but not for this matter and engine. */
static void check_word(tl_reader *r, const tl_seen *seen, const char *key, const char *got, const char *words,
                       const char *with)
{
    if (!got || !*got || tl_schema_word(words, got) >= 0) return;
    char list[256] = "", word[64];
    size_t n = 0;
    for (int i = 0; tl_schema_word_at(words, i, word, sizeof word) && n < sizeof list; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s\"%s\"", i ? ", " : "", word);
    tl_read_problem(r, place_in_solver(r, seen, key), "solver.%s must be one of %s with %s, got \"%.60s\"", key, list,
                    with, got);
}

/* Whether two shapes come as near as a cell: looked at on a lattice of cells, of 64 per axis at most. */
static bool shapes_meet(const tl_scene *s, int a, int b)
{
    const double cell = s->grid.cell, near = 0.75 * cell;
    tl_box3 p = tl_shape_bounds(s->shapes, a), q = tl_shape_bounds(s->shapes, b);
    const double lo[3] = {fmax(p.lo.x, q.lo.x), fmax(p.lo.y, q.lo.y), fmax(p.lo.z, q.lo.z)};
    const double hi[3] = {fmin(p.hi.x, q.hi.x), fmin(p.hi.y, q.hi.y), fmin(p.hi.z, q.hi.z)};
    double step[3];
    int count[3];
    for (int k = 0; k < 3; k++) {
        if (!(hi[k] + cell >= lo[k])) return false;
        double size = hi[k] - lo[k] + cell;
        count[k] = (int)fmin(64, ceil(2 * size / cell)) + 1;
        step[k] = size / (count[k] - 1);
    }
    for (int x = 0; x < count[0]; x++)
        for (int y = 0; y < count[1]; y++)
            for (int z = 0; z < count[2]; z++) {
                tl_vec3 at = {lo[0] - 0.5 * cell + x * step[0], lo[1] - 0.5 * cell + y * step[1],
                              lo[2] - 0.5 * cell + z * step[2]};
                if (tl_shape_distance(s->shapes, a, at) < near && tl_shape_distance(s->shapes, b, at) < near)
                    return true;
            }
    return false;
}

/* Sand that liquid covers from the start. What meets later is refused when it does (step/grid.c). */
static void check_mixture(tl_reader *r, const tl_scene *s)
{
    const int all = s->fill_count + s->emitter_count;
    if (s->grid.mixture == TL_MIXTURE_MUD || !(s->grid.cell > 0)) return;
    for (int i = 0; i < all; i++)
        for (int k = 0; k < all; k++) {
            int a = i < s->fill_count ? s->fills[i].material : s->emitters[i - s->fill_count].material;
            int b = k < s->fill_count ? s->fills[k].material : s->emitters[k - s->fill_count].material;
            int p = i < s->fill_count ? s->fills[i].shape : s->emitters[i - s->fill_count].shape;
            int q = k < s->fill_count ? s->fills[k].shape : s->emitters[k - s->fill_count].shape;
            if (a < 0 || b < 0 || p < 0 || q < 0 || r->materials[a].kind != TL_MATERIAL_GRANULAR ||
                r->materials[b].kind != TL_MATERIAL_LIQUID || !shapes_meet(s, p, q))
                continue;
            tl_read_problem(r, i < s->fill_count ? s->fills[i].where : s->emitters[i - s->fill_count].where,
                            "sand that liquid covers cannot be run: nothing flows through its pores, and its strength "
                            "would grow with the pressure of the water; grid.mixture = \"mud\" runs both as one flow");
            return;
        }
}

static bool any_bends(const tl_reader *r, const tl_scene *s)
{
    bool bends = false;
    for (int i = 0; i < s->body_count; i++)
        bends |= s->bodies[i].material >= 0 && r->materials[s->bodies[i].material].kind == TL_MATERIAL_ELASTIC;
    return bends;
}

/* What the step of sand runs, by arrangement of stress. A method that is named decides between cone and boxes,
 * whatever solver.cone says. */
static void check_sand(tl_reader *r, const tl_seen *seen, const tl_scene *s)
{
    const tl_solver_spec *o = &s->solver;
    const bool staggered = o->stress == TL_STRESS_STAGGERED;
    check_word(r, seen, "pressure", o->pressure.method, TL_LIQUID_PRESSURE_WORDS, "sand");
    const bool bends = any_bends(r, s);
    check_word(r, seen, "scheme", o->scheme, bends ? TL_SOFT_SAND_SCHEME_WORDS : TL_SAND_SCHEME_WORDS,
               bends ? "sand and elastic bodies" : "sand and rigid bodies");
    check_word(r, seen, "friction", o->friction.method, staggered ? TL_STAGGERED_WORDS : TL_COLOCATED_WORDS,
               staggered ? "solver.stress \"staggered\"" : "sand");
    if (s->grid.periodic[1] && s->grid.cells[1] == 1)
        tl_read_problem(r, tl_seen_where(r, seen, "grid"),
                        "grid.cells[2] must be > 1 with sand, got 1: a slab of sand is one cell thick along x or z, "
                        "because s_yy is the part of the stress that is eliminated");
}

/* What steps of liquids run. Sand has other schemes; the methods' own lists are held against these
 * (tests/unit/scene.c). */
static void check_solver(tl_reader *r, const tl_seen *seen, const tl_scene *s)
{
    bool liquid = false, sand = false, viscous = false;
    for (int i = 0; i < s->fill_count + s->emitter_count; i++) {
        int m = i < s->fill_count ? s->fills[i].material : s->emitters[i - s->fill_count].material;
        liquid |= m >= 0 && r->materials[m].kind == TL_MATERIAL_LIQUID;
        viscous |= m >= 0 && r->materials[m].kind == TL_MATERIAL_VISCOUS;
        sand |= m >= 0 && r->materials[m].kind == TL_MATERIAL_GRANULAR;
    }
    const char *pressure = s->solver.pressure.method;
    if (s->engine == TL_ENGINE_SPH) check_word(r, seen, "pressure", pressure, TL_SPH_PRESSURE_WORDS, "engine \"sph\"");
    if (s->engine != TL_ENGINE_GRID) return;
    if (sand) check_sand(r, seen, s);
    if (sand && liquid) check_mixture(r, s);
    if ((!liquid && !viscous) || sand) return;
    if (!viscous) check_word(r, seen, "pressure", pressure, TL_LIQUID_PRESSURE_WORDS, "liquids of engine \"grid\"");
    const bool bends = any_bends(r, s);
    const char *soft = viscous ? TL_VISCOUS_SOFT_SCHEME_WORDS : TL_SOFT_SCHEME_WORDS;
    if (s->solver.elastic.precond && *s->solver.elastic.precond &&
        tl_schema_word(TL_JOINT_SCHEME_WORDS, s->solver.scheme ? s->solver.scheme : "") < 0)
        tl_read_problem(r, tl_seen_where(r, seen, "solver"),
                        "solver.elastic.precond is that of a solver.scheme out of %s, which write out a matrix, got "
                        "\"%s\"",
                        TL_JOINT_SCHEME_WORDS, s->solver.elastic.precond);
    if (bends || liquid)
        check_word(r, seen, "scheme", s->solver.scheme, bends ? soft : TL_LIQUID_SCHEME_WORDS,
                   bends && viscous ? "viscous liquids and elastic bodies"
                   : bends          ? "liquids and elastic bodies"
                                    : "liquids and rigid bodies");
}

/* ---- keys that only some matter has a use for ---- */

#define LIQUID 1u
#define SAND 2u
#define ELASTIC 4u
#define BODIES 8u
#define VISCOUS 16u

/* What scenes of engine "grid" hold decides what is solved, and with it which keys are read. Whoever sets another
 * one would wait for an effect. */
static const struct {
    const char *table, *key; /* NULL: all of the table */
    unsigned matter;
    const char *what;
} uses[] = {
    {"grid", "cfl", LIQUID | SAND, "sand or liquid"},
    {"grid", "correct_density", LIQUID | SAND, "sand or liquid"},
    {"grid", "mixture", SAND, "sand"},
    {"solver", "scheme", LIQUID | SAND | ELASTIC, "sand, liquid or elastic bodies"},
    {"solver", "stress", SAND, "sand"},
    {"solver", "edges", SAND, "sand"},
    {"solver", "density", SAND, "sand"},
    {"solver", "static_stress", SAND, "sand"},
    {"solver", "friction", SAND, "sand"},
    {"solver", "parts", SAND, "sand"},
    {"solver", "rules", SAND | VISCOUS, "sand or viscous liquid"},
    {"solver", "weights", LIQUID | SAND, "sand or liquid"},
    {"solver", "surface", LIQUID, "liquid"},
    {"solver", "tolerance", LIQUID | SAND, "sand or liquid (contacts have solver.contact.tolerance)"},
    {"solver", "sweeps", LIQUID | SAND, "sand or liquid"},
    {"solver", "pressure", LIQUID | SAND, "sand or liquid"},
    {"solver", "elastic", ELASTIC, "elastic bodies"},
    {"solver", "coupling", ELASTIC, "elastic bodies"},
    {"solver", "seal", ELASTIC, "elastic bodies"},
    {"solver", "offset", ELASTIC, "elastic bodies"},
    {"solver", "contact", BODIES, "bodies"},
    {"fem", NULL, ELASTIC, "elastic bodies"},
};

static unsigned matter_of(const tl_reader *r, const tl_scene *s)
{
    unsigned all = s->body_count ? BODIES : 0;
    for (int i = 0; i < s->fill_count + s->emitter_count; i++) {
        const int m = i < s->fill_count ? s->fills[i].material : s->emitters[i - s->fill_count].material;
        if (m < 0) continue;
        all |= r->materials[m].kind == TL_MATERIAL_GRANULAR ? SAND : LIQUID;
        if (r->materials[m].kind == TL_MATERIAL_VISCOUS) all |= VISCOUS;
    }
    for (int i = 0; i < s->body_count; i++)
        if (s->bodies[i].material >= 0 && r->materials[s->bodies[i].material].kind == TL_MATERIAL_ELASTIC)
            all |= ELASTIC;
    return all;
}

static void check_uses(tl_reader *r, const tl_seen *seen, const tl_scene *s)
{
    const unsigned matter = matter_of(r, s);
    lua_State *L = r->L;
    for (size_t k = 0; k < sizeof uses / sizeof *uses; k++) {
        if (uses[k].matter & matter || !tl_seen_has(seen, uses[k].table)) continue;
        const char *dot = uses[k].key ? "." : "", *key = uses[k].key ? uses[k].key : "";
        lua_pushstring(L, uses[k].table);
        if (lua_rawget(L, seen->table) == LUA_TTABLE) {
            tl_where at = uses[k].key ? tl_read_where(r, lua_gettop(L), key, 0, seen->where)
                                      : tl_seen_where(r, seen, uses[k].table);
            bool given = !uses[k].key;
            if (!given) {
                lua_pushstring(L, key);
                given = lua_rawget(L, -2) != LUA_TNIL;
                lua_pop(L, 1);
            }
            if (given)
                tl_read_problem(r, at, "%s%s%s is for %s, of which this scene has none", uses[k].table, dot, key,
                                uses[k].what);
        }
        lua_pop(L, 1);
    }
}

static void check_lg(tl_reader *r, const tl_seen *seen, const tl_lg_spec *o)
{
    if (tl_seen_has(seen, "chebyshev") && o->global != 2)
        tl_read_problem(r, tl_seen_where(r, seen, "chebyshev"),
                        "lg.chebyshev is for lg.global_step = \"jacobi\", which this scene does not have");
}

/* What no machine ends. A millisecond per step makes 1e10 of them four months. */
static void check_length(tl_reader *r, const tl_seen *seen, const tl_scene *s)
{
    if (!tl_seen_good(seen, "duration") || !(s->fps > 0)) return;
    if (s->duration * s->fps > TL_FRAMES_MAX)
        tl_read_problem(r, tl_seen_where(r, seen, "fps"),
                        "%.10g s at %.10g frames per second are %.3g frames, at most %g", s->duration, s->fps,
                        s->duration * s->fps, TL_FRAMES_MAX);
    if (s->dt_max > 0 && s->duration / s->dt_max > TL_STEPS_MAX)
        tl_read_problem(r, tl_seen_where(r, seen, "dt_max"), "dt_max of %.3g s makes more than %g steps of %.10g s",
                        s->dt_max, TL_STEPS_MAX, s->duration);
    if (!(s->dt_max > 0) && s->dt_min * s->fps > 1)
        tl_read_problem(r, tl_seen_where(r, seen, "dt_min"), "dt_min must be at most a frame of %.10g s, got %.10g",
                        1 / s->fps, s->dt_min);
}

/* Wall separation is asked for by name, and a viscous liquid cannot have it: the pressure of one that is stretched is
 * below that of the air, whatever holds it. */
static void note_pull(tl_reader *r, const tl_seen *seen, const tl_scene *s)
{
    const char *method = s->solver.pressure.method;
    bool viscous = false;
    for (int i = 0; i < s->fill_count; i++)
        viscous |= s->fills[i].material >= 0 && r->materials[s->fills[i].material].kind == TL_MATERIAL_VISCOUS;
    for (int i = 0; i < s->emitter_count; i++)
        viscous |= s->emitters[i].material >= 0 && r->materials[s->emitters[i].material].kind == TL_MATERIAL_VISCOUS;
    if (s->engine != TL_ENGINE_GRID || !viscous || !method || !*method) return;
    tl_read_note(
        r, tl_seen_where(r, seen, "solver"),
        "solver.pressure \"%.40s\" is not used: pressure and stress of a viscous liquid are one solve of their "
        "own, in which pressure may pull (no wall separation)",
        method);
}

static void check_scene(tl_reader *r, const tl_seen *seen, tl_scene *s)
{
    s->camera.given = tl_seen_good(seen, "camera");
    if (s->body_count) name_bodies(r, s);
    check_pairs(r, s);
    check_holds(r, s);
    tl_rules_joints(r, s);
    if (!tl_seen_good(seen, "engine")) return; /* what follows depends on it */
    if (s->engine == TL_ENGINE_GRID && !tl_seen_has(seen, "grid") && needs_grid(seen))
        tl_read_problem(r, seen->where, "grid is missing; what flows needs grid = { cells = {...}, cell = ... }");
    if (s->engine == TL_ENGINE_SPH && !tl_seen_has(seen, "sph"))
        tl_read_problem(r, seen->where, "sph is missing; engine \"sph\" needs sph = { spacing = ... }");
    if (s->dt_max > 0 && s->dt_min > s->dt_max)
        tl_read_problem(r, tl_seen_where(r, seen, "dt_min"), "dt_min must be <= dt_max = %.10g s, got %.10g", s->dt_max,
                        s->dt_min);
    check_length(r, seen, s);
    if (!tl_seen_has(seen, "fill") && !tl_seen_has(seen, "emitters") && !tl_seen_has(seen, "bodies"))
        tl_read_problem(r, seen->where, "the scene is empty; it needs fill, emitters or bodies");
    set_domain(r, seen, s);
    for (int i = 0; i < s->fill_count; i++)
        s->fills[i].shape = check_place(r, s, s->fills[i].where, "fill", i + 1, s->fills[i].shape);
    for (int i = 0; i < s->emitter_count; i++)
        s->emitters[i].shape = check_place(r, s, s->emitters[i].where, "emitters", i + 1, s->emitters[i].shape);
    check_bodies_inside(r, s);
    check_bending(r, seen, s);
    check_turning(r, seen, s);
    check_solver(r, seen, s);
    if (s->engine == TL_ENGINE_GRID) check_uses(r, seen, s);
    note_friction_on_sand(r, seen, s);
    note_pull(r, seen, s);
}

typedef void rule_fn(tl_reader *r, const tl_seen *seen, void *object);
#define RULE(name, type)                                                                                               \
    static void rule_##name(tl_reader *r, const tl_seen *seen, void *object) { check_##name(r, seen, (type *)object); }
RULE(scene, tl_scene)
RULE(grid, tl_grid_spec)
RULE(domain, tl_domain_spec)
RULE(emitter, tl_emitter)
RULE(camera, tl_camera)
RULE(render, tl_render_spec)
RULE(contact, tl_contact_pair)
RULE(handle, tl_handle)
RULE(join, tl_join)
RULE(body, tl_body)
static void rule_joint(tl_reader *r, const tl_seen *seen, void *object) { tl_rules_joint(r, seen, object); }
static void rule_motor(tl_reader *r, const tl_seen *seen, void *object) { tl_rules_motor(r, seen, object); }
RULE(angle, void)
RULE(granular, tl_material)
RULE(lg, tl_lg_spec)
static void rule_fill(tl_reader *r, const tl_seen *seen, void *object)
{
    check_flowing(r, seen, ((tl_fill *)object)->material);
}

void tl_rules_of(tl_reader *r, const tl_seen *seen, void *object)
{
    static const struct {
        const char *context;
        rule_fn *check;
    } rules[] = {
        {"scene", rule_scene},       {"grid", rule_grid},     {"domain", rule_domain},   {"emitter", rule_emitter},
        {"camera", rule_camera},     {"render", rule_render}, {"contact", rule_contact}, {"body", rule_body},
        {"handle", rule_handle},     {"join", rule_join},     {"fill", rule_fill},       {"rotation", rule_angle},
        {"granular", rule_granular}, {"lg", rule_lg},         {"joint", rule_joint},     {"motor", rule_motor}};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!strcmp(rules[i].context, seen->context->name)) rules[i].check(r, seen, object);
}
