/* Views: one table of everything that can be looked at, and where its numbers are. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/need.h"
#include "api/sim_own.h"
#include "base/alloc.h"
#include "base/text.h"
#include "io/vtk_rigid.h"
#include "render/liquid_surface.h"
#include "run/clouds.h"

/* Whose array: offsets are those in its rows. */
typedef enum view_of {
    OF_ENGINE, /* of the engine, or of elastic bodies: phase/sim.h */
    OF_MOTION,
    OF_BODY,
    OF_POSITION,
    OF_LIQUID_FORCE,
    OF_REPORT,
    OF_CONTACT,
    OF_JOINT,
    OF_SAMPLE,
    OF_SURFACE_POINT,
    OF_SURFACE_VELOCITY,
    OF_SURFACE_TRIANGLE,
    OF_SURFACE_BODY,
    OF_LIQUID_POINT,
    OF_LIQUID_TRIANGLE,
    OF_LIQUID_MATERIAL,
} view_of;

#define MOTION(field) OF_MOTION, offsetof(tl_motion, field)
#define CONTACT(field) OF_CONTACT, offsetof(tl_contact_row, field)
#define JOINT(field) OF_JOINT, offsetof(tl_joint_memory, field)
#define SAMPLE(field) OF_SAMPLE, offsetof(tl_sample, field)
#define REPORT(field) OF_REPORT, offsetof(tl_report, field)
#define F64 TL_NUMBER_F64
#define F32 TL_NUMBER_F32
#define I32 TL_NUMBER_I32
#define I64 TL_NUMBER_I64

/* The order is that of docs/views.md. */
static const struct {
    const char *name;
    view_of of;
    size_t offset;
    int width;
    tl_number type;
    const char *unit, *engines, *frame, *help;
} views[] = {
    {"bodies.position", OF_POSITION, 0, 3, F64, "m", "all", "", "origin of the shape's frame"},
    {"bodies.rotation", MOTION(q), 4, F64, "", "all", "", "of the shape's frame: unit quaternion w x y z"},
    {"bodies.center", MOTION(x), 3, F64, "m", "all", "", "centre of mass; of what does not move freely the origin"},
    {"bodies.velocity", MOTION(v), 3, F64, "m/s", "all", "", "of the centre of mass"},
    {"bodies.spin", MOTION(w), 3, F64, "rad/s", "all", "", "angular velocity, world frame"},
    {"bodies.mass", OF_BODY, offsetof(tl_rigid_body, mass), 1, F64, "kg", "all", "", "0: it does not move freely"},
    {"bodies.force", MOTION(contact_force), 3, F64, "N", "all", "", "of all contacts, mean over the last step"},
    {"bodies.torque", MOTION(contact_torque), 3, F64, "N m", "all", "", "the same about the centre of mass"},
    {"bodies.fluid_force", MOTION(fluid_force), 3, F64, "N", "grid, sph", "",
     "of everything that flows, liquid and sand, mean over the last step"},
    {"bodies.fluid_torque", MOTION(fluid_torque), 3, F64, "N m", "grid, sph", "", "the same about the centre of mass"},
    {"bodies.sand_force", MOTION(sand_force), 3, F64, "N", "grid", "",
     "of that, what cells with sand do, mud included"},
    {"bodies.sand_torque", MOTION(sand_torque), 3, F64, "N m", "grid", "", "the same about the centre of mass"},
    {"bodies.liquid_force", OF_LIQUID_FORCE, 0, 3, F64, "N", "grid, sph", "", "the rest of it: what liquid does"},
    {"bodies.liquid_torque", OF_LIQUID_FORCE, sizeof(tl_vec3), 3, F64, "N m", "grid, sph", "", "the same"},
    {"bodies.correction_force", MOTION(correction_force), 3, F64, "N", "all", "",
     "of rules that keep energy and rest, which no contact and no joint has; mean over the last step"},
    {"bodies.correction_torque", MOTION(correction_torque), 3, F64, "N m", "all", "", "the same"},
    {"bodies.mean_force", MOTION(mean_contact_force), 3, F64, "N", "all", "",
     "of contacts, mean over the frame so far; without frames over the run"},
    {"bodies.mean_torque", MOTION(mean_contact_torque), 3, F64, "N m", "all", "", "the same"},
    {"bodies.mean_fluid_force", MOTION(mean_fluid_force), 3, F64, "N", "grid, sph", "", "the same of what flows"},
    {"bodies.mean_fluid_torque", MOTION(mean_fluid_torque), 3, F64, "N m", "grid, sph", "", "the same"},
    {"bodies.push", MOTION(force), 3, F64, "N", "all", "", "what talus_sim_set_force set"},
    {"bodies.push_torque", MOTION(torque), 3, F64, "N m", "all", "", "what talus_sim_set_force set"},
    {"surface.position", OF_SURFACE_POINT, 0, 3, F32, "m", "all", "bodies: points",
     "vertices of the surfaces of rigid bodies, at their poses"},
    {"surface.velocity", OF_SURFACE_VELOCITY, 0, 3, F32, "m/s", "all", "bodies: velocity", "of these vertices"},
    {"surface.triangle", OF_SURFACE_TRIANGLE, 0, 3, I32, "", "all", "bodies: connectivity", "three vertices, outward"},
    {"surface.body", OF_SURFACE_BODY, 0, 1, I32, "", "all", "bodies: body", "of each triangle: index of its body"},
    {"contacts.bodies", CONTACT(body), 2, I32, "", "all", "contacts: bodies",
     "first and second body; from the number of bodies on they are walls of the domain"},
    {"contacts.position", CONTACT(at), 3, F64, "m", "all", "contacts: points",
     "contact points of the last step; in engine \"sph\" midway between the particles that touch: torques of the "
     "forces "
     "there are bodies.torque to half a spacing"},
    {"contacts.normal", CONTACT(normal), 3, F64, "", "all", "contacts: normal",
     "out of the second body into the first"},
    {"contacts.force", CONTACT(force), 3, F64, "N", "all", "contacts: force",
     "on the first body, mean over the step; of a body they add up to bodies.force"},
    {"contacts.gap", CONTACT(gap), 1, F64, "m", "all", "contacts: gap",
     "at the start of the step, of elastic bodies at its end; negative: overlap"},
    {"joints.position", JOINT(position), 1, F64, "m or rad", "all", "",
     "of the free coordinate of each joint of the scene, from where it started; turns are counted"},
    {"joints.speed", JOINT(speed), 1, F64, "m/s or rad/s", "all", "", "how fast it changes"},
    {"joints.anchor", JOINT(at), 3, F64, "m", "all", "", "where the joint is"},
    {"joints.force", JOINT(on_a), 3, F64, "N", "all", "", "on the first body, there; mean over the last step"},
    {"joints.torque", JOINT(torque_on_a), 3, F64, "N m", "all", "", "on the first body, about that place"},
    {"joints.motor", JOINT(motor), 1, F64, "N or N m", "all", "", "what its motor does"},
    {"joints.target", JOINT(target), 1, F64, "", "all", "", "what talus_sim_set_motor set; 0 where nobody did"},
    {"joints.broken", JOINT(broken), 1, F64, "", "all", "", "1: it broke and holds nothing any more"},
    {"particles.position", OF_ENGINE, 0, 3, F64, "m", "grid, sph", "particles: points",
     "liquid and sand; the order may change from step to step, ids stay. Frames have them sorted by material and id"},
    {"particles.velocity", OF_ENGINE, 0, 3, F64, "m/s", "grid, sph", "particles: velocity",
     "frames have it in single precision"},
    {"particles.gradient", OF_ENGINE, 0, 9, F64, "1/s", "grid", "", "derivatives of the velocity, rows of dv_a / dx_b"},
    {"particles.volume", OF_ENGINE, 0, 1, F64, "m^3", "grid, sph", "particles: volume",
     "frames have it in single precision; in engine \"sph\" all have the same: stride 0"},
    {"particles.pressure", OF_ENGINE, 0, 1, F64, "Pa", "grid, sph", "particles: pressure",
     "of the last step; in engine \"grid\" that of the cell around it. Frames have it in single precision"},
    {"particles.stress", OF_ENGINE, 0, 6, F64, "Pa", "grid", "",
     "xx yy zz xy yz zx, tension positive, pressure included; that of the cell around it"},
    {"particles.id", OF_ENGINE, 0, 1, I32, "", "grid, sph", "particles: id", "given once, never used again"},
    {"particles.material", OF_ENGINE, 0, 1, I32, "", "grid, sph", "particles: material", "index in the scene"},
    {"samples.position", SAMPLE(at), 3, F64, "m", "sph", "particles: points",
     "points on bodies that the engine computes with; in frames with sph.surface_particles"},
    {"samples.velocity", SAMPLE(v), 3, F64, "m/s", "sph", "particles: velocity", "of these"},
    {"samples.id", SAMPLE(id), 1, I32, "", "sph", "particles: id", "of these"},
    {"samples.body", SAMPLE(body), 1, I32, "", "sph", "particles: material",
     "index of its body; frames have -1 - body"},
    {"liquid_surface.position", OF_LIQUID_POINT, 0, 3, F64, "m", "grid, sph", "",
     "vertices of the surfaces of liquids, as pictures show them"},
    {"liquid_surface.triangle", OF_LIQUID_TRIANGLE, 0, 3, I32, "", "grid, sph", "", "three vertices, outward"},
    {"liquid_surface.material", OF_LIQUID_MATERIAL, 0, 1, I32, "", "grid, sph", "", "of each triangle"},
    {"emitters.owed", OF_ENGINE, 0, 1, F64, "m^3", "grid, sph", "", "came due and is not yet a particle"},
    {"emitters.emitted", OF_ENGINE, 0, 1, F64, "m^3", "grid", "", "since the start"},
    {"emitters.refused", OF_ENGINE, 0, 1, F64, "m^3", "grid", "", "that no free place was found for"},
    {"emitters.skipped", OF_ENGINE, 0, 1, I64, "", "sph", "", "particles that found their place taken"},
    {"nodes.position", OF_ENGINE, 0, 3, F64, "m", "grid, lg", "nodes: points",
     "nodes of elastic bodies; their order changes only where bodies come and go"},
    {"nodes.velocity", OF_ENGINE, 0, 3, F64, "m/s", "grid, lg", "nodes: velocity", ""},
    {"nodes.momentum", OF_ENGINE, 0, 3, F64, "kg m/s", "grid, lg", "",
     "what forces change at once; with time steps of second order (engine \"lg\") not mass times velocity"},
    {"nodes.mass", OF_ENGINE, 0, 1, F64, "kg", "grid, lg", "", ""},
    {"nodes.push", OF_ENGINE, 0, 3, F64, "N", "grid, lg", "", "what talus_sim_set_node_forces set"},
    {"nodes.body", OF_ENGINE, 0, 1, I32, "", "grid, lg", "", "index of its body among the elastic ones"},
    {"nodes.scene_body", OF_ENGINE, 0, 1, I32, "", "grid, lg", "nodes: body", "index of its body in the scene"},
    {"nodes.id", OF_ENGINE, 0, 1, I32, "", "grid, lg", "nodes: id", "its number, 0, 1, ..."},
    {"node_surface.triangle", OF_ENGINE, 0, 3, I32, "", "grid, lg", "nodes: connectivity",
     "surfaces of elastic solids and all triangles of cloth: three nodes, outward"},
    {"node_surface.body", OF_ENGINE, 0, 1, I32, "", "grid, lg", "nodes: body", "of each of these triangles"},
    {"elements.nodes", OF_ENGINE, 0, 8, I32, "", "grid, lg", "",
     "4 of a tetrahedron, 3 of a piece of cloth, 8 of a cell; then -1"},
    {"elements.body", OF_ENGINE, 0, 1, I32, "", "grid, lg", "", "index of its body in the scene"},
    {"elements.volume", OF_ENGINE, 0, 1, F64, "m^3", "grid, lg", "", "at rest"},
    {"elements.gradient", OF_ENGINE, 0, 9, F64, "", "grid, lg", "",
     "deformation gradient by rows; of cloth from a frame of the triangle at rest, the third axis goes to the normal"},
    {"elements.strain", OF_ENGINE, 0, 6, F64, "", "grid, lg", "", "Green's, xx yy zz xy yz zx, in the frame at rest"},
    {"elements.stress", OF_ENGINE, 0, 6, F64, "Pa", "grid, lg", "",
     "Cauchy's, xx yy zz xy yz zx, world frame, tension positive; by the law of the material, without damping"},
    {"holds.kind", OF_ENGINE, 0, 1, I32, "", "grid, lg", "nodes: holds_kind",
     "0 anchor, 1 handle, 2 cable, 3 join: one row per elastic body (its anchor), then the scene's handles, cables and "
     "joins in their order"},
    {"holds.number", OF_ENGINE, 0, 1, I32, "", "grid, lg", "nodes: holds_number",
     "of the scene's bodies, handles, cables or joins"},
    {"holds.position", OF_ENGINE, 0, 3, F64, "m", "grid, lg", "nodes: holds_position",
     "mean of the nodes that it holds"},
    {"holds.force", OF_ENGINE, 0, 3, F64, "N", "grid, lg", "nodes: holds_force",
     "on the body, mean over the last step; zero before the first. What pushes a node that is held is not in it: it "
     "holds "
     "against that"},
    {"holds.torque", OF_ENGINE, 0, 3, F64, "N m", "grid, lg", "nodes: holds_torque", "the same, about that place"},
    {"holds.tension", OF_ENGINE, 0, 1, F64, "N", "grid, lg", "nodes: holds_tension", "of a cable; 0 of all others"},
    {"handles.position", OF_ENGINE, 0, 3, F64, "m", "grid, lg", "", "where talus_sim_set_handle leads to"},
    {"handles.rotation", OF_ENGINE, 0, 4, F64, "", "grid, lg", "", "the same, w x y z; all 0: code does not lead it"},
    {"cables.length", OF_ENGINE, 0, 1, F64, "m", "lg", "", "what talus_sim_set_cable set; negative: the scene's"},
    {"energy.kinetic", REPORT(kinetic), 1, F64, "J", "all", "", "of everything, at the end of the last step"},
    {"energy.potential", REPORT(potential), 1, F64, "J", "all", "", "in gravity, zero at the origin"},
    {"energy.elastic", REPORT(elastic), 1, F64, "J", "all", "", ""},
    {"energy.unexplained", REPORT(accounts.energy_unexplained), 1, F64, "J", "all", "",
     "what nothing accounts for in the last step"},
};
#define VIEWS ((int)(sizeof views / sizeof views[0]))
#define VIEWS_MAX 160 /* with those of engines that the table does not know */

/* ---- names ---- */

static int find_row(const char *name)
{
    int k = 0;
    while (k < VIEWS && strcmp(views[k].name, name)) k++;
    return k < VIEWS ? k : -1;
}

/* Of an engine that is not in this one; NULL: no engine has it. */
static const tl_view *find_elsewhere(const char *name)
{
    for (int e = 0; tl_engine_at(e); e++)
        for (int i = 0; i < tl_engine_at(e)->view_count; i++)
            if (!strcmp(tl_engine_at(e)->views[i].name, name)) return &tl_engine_at(e)->views[i];
    return NULL;
}

/* Names of all views, each once; the number of them. */
static int list_names(const char *out[VIEWS_MAX + 1])
{
    int n = 0;
    for (int i = 0; i < VIEWS; i++) out[n++] = views[i].name;
    for (int e = 0; tl_engine_at(e); e++)
        for (int i = 0; i < tl_engine_at(e)->view_count; i++) {
            const char *name = tl_engine_at(e)->views[i].name;
            int k = 0;
            while (k < n && strcmp(out[k], name)) k++;
            if (k == n && n < VIEWS_MAX) out[n++] = name;
        }
    out[n] = NULL;
    return n;
}

const char *talus_sim_view_name(int i)
{
    const char *names[VIEWS_MAX + 1];
    return i >= 0 && i < list_names(names) ? names[i] : NULL;
}

/* Whether a view of engines is computed, in whichever engine has it. */
static bool is_computed(const char *name)
{
    for (int i = 0; i < tl_elastic_view_count; i++)
        if (!strcmp(tl_elastic_views[i].name, name)) return tl_elastic_views[i].fill != NULL;
    for (int e = 0; tl_engine_at(e); e++)
        for (int i = 0; i < tl_engine_at(e)->view_count; i++)
            if (!strcmp(tl_engine_at(e)->views[i].name, name) && tl_engine_at(e)->views[i].fill) return true;
    return false;
}

int talus_view_info_at(int i, talus_view_info *out)
{
    const char *name = talus_sim_view_name(i);
    if (!name || !out) return 0;
    if (i >= VIEWS) {
        const tl_view *v = find_elsewhere(name);
        *out = (talus_view_info){name, "", "", "", "", (talus_type)v->type, v->width, v->fill != NULL};
        return 1;
    }
    const view_of of = views[i].of;
    *out = (talus_view_info){name,
                             views[i].unit,
                             views[i].help,
                             views[i].engines,
                             views[i].frame,
                             (talus_type)views[i].type,
                             views[i].width,
                             of == OF_ENGINE ? is_computed(name)
                                             : of != OF_MOTION && of != OF_BODY && of != OF_REPORT && of != OF_JOINT};
    return 1;
}

/* ---- arrays that are made when somebody looks ---- */

typedef struct packed {
    uint64_t of; /* generation that it belongs to; 0: none */
    void *data;
} packed;

struct tl_looked {
    uint64_t positions_of, forces_of, contacts_of, samples_of, surface_of, liquid_of;
    tl_vec3 *position;          /* [bodies] */
    tl_vec3 (*liquid_force)[2]; /* [bodies] and torque */
    tl_contact_row *contact;
    int64_t contacts, contact_room;
    tl_sample *sample;
    int64_t samples;
    bool meshed;
    tl_body_meshes meshes;
    tl_body_surface surface;
    tl_trimesh liquid;
    int32_t *liquid_material; /* [triangles] */
    packed packed[VIEWS_MAX];
};

talus_status tl_looked_create(tl_looked **out, talus_error *err)
{
    *out = TL_NEW_ZERO(tl_looked, 1);
    return *out ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a simulation");
}

static void free_liquid(tl_looked *l)
{
    tl_trimesh_free(&l->liquid);
    tl_free(l->liquid_material);
    l->liquid = (tl_trimesh){0};
    l->liquid_material = NULL;
}

void tl_looked_free(tl_looked *l)
{
    if (!l) return;
    tl_free(l->position);
    tl_free(l->liquid_force);
    tl_free(l->contact);
    tl_free(l->sample);
    tl_body_meshes_free(&l->meshes);
    tl_body_surface_free(&l->surface);
    free_liquid(l);
    for (int i = 0; i < VIEWS_MAX; i++) tl_free(l->packed[i].data);
    tl_free(l);
}

void tl_looked_forget(tl_looked *l)
{
    tl_body_meshes_free(&l->meshes);
    l->meshed = false;
}

static talus_status find_positions(talus_sim *s, talus_error *err)
{
    tl_looked *l = s->looked;
    const tl_rigid_state *r = &s->sim->state.rigid;
    if (l->positions_of == s->generation) return TALUS_OK;
    tl_free(l->position);
    l->position = TL_NEW(tl_vec3, r->count + 1);
    l->positions_of = l->position ? s->generation : 0;
    if (!l->position) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a view of %lld bodies", (long long)r->count);
    for (int64_t i = 0; i < r->count; i++) l->position[i] = tl_rigid_pose(&s->sim->rigid.body[i], &r->body[i]).at;
    return TALUS_OK;
}

static talus_status find_liquid_forces(talus_sim *s, talus_error *err)
{
    tl_looked *l = s->looked;
    const tl_rigid_state *r = &s->sim->state.rigid;
    if (l->forces_of == s->generation) return TALUS_OK;
    tl_free(l->liquid_force);
    l->liquid_force = tl_alloc(sizeof *l->liquid_force * (size_t)(r->count + 1));
    l->forces_of = l->liquid_force ? s->generation : 0;
    if (!l->liquid_force)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a view of %lld bodies", (long long)r->count);
    for (int64_t i = 0; i < r->count; i++) {
        const tl_motion *m = &r->body[i];
        l->liquid_force[i][0] = tl_vec3_sub(m->fluid_force, m->sand_force);
        l->liquid_force[i][1] = tl_vec3_sub(m->fluid_torque, m->sand_torque);
    }
    return TALUS_OK;
}

static talus_status find_contacts(talus_sim *s, talus_error *err)
{
    tl_looked *l = s->looked;
    if (l->contacts_of == s->generation) return TALUS_OK;
    int64_t count = tl_sim_contacts(s->sim, NULL);
    if (!l->contact || count > l->contact_room) {
        int64_t room = 2 * count + 64;
        tl_contact_row *larger = tl_realloc(l->contact, sizeof *larger * (size_t)room);
        if (!larger) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld contacts", (long long)count);
        l->contact = larger;
        l->contact_room = room;
    }
    l->contacts = tl_sim_contacts(s->sim, l->contact);
    l->contacts_of = s->generation;
    return TALUS_OK;
}

static talus_status find_samples(talus_sim *s, talus_error *err)
{
    tl_looked *l = s->looked;
    const tl_engine_entry *engine = s->sim->engine;
    if (l->samples_of == s->generation) return TALUS_OK;
    tl_free(l->sample);
    l->samples_of = 0;
    l->samples = engine->samples ? engine->samples(s->sim, NULL) : 0;
    l->sample = TL_NEW(tl_sample, l->samples + 1);
    if (!l->sample) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld samples", (long long)l->samples);
    if (l->samples) engine->samples(s->sim, l->sample);
    l->samples_of = s->generation;
    return TALUS_OK;
}

static talus_status find_surface(talus_sim *s, talus_error *err)
{
    tl_looked *l = s->looked;
    const tl_sim *sim = s->sim;
    if (l->surface_of == s->generation) return TALUS_OK;
    if (!l->meshed) TL_TRY(tl_body_meshes_create(&l->meshes, sim->scene, err));
    l->meshed = true;
    tl_body_surface_free(&l->surface);
    l->surface_of = 0;
    TL_TRY(tl_body_surface_make(&l->surface, &l->meshes, sim->scene, &sim->rigid, &sim->state, err));
    l->surface_of = s->generation;
    return TALUS_OK;
}

/* Adds `more` to the surface, all of it of one material. */
static talus_status add_liquid(tl_looked *l, const tl_trimesh *more, int material, talus_error *err)
{
    tl_trimesh *to = &l->liquid;
    const int32_t vertices = to->vertices + more->vertices, triangles = to->triangles + more->triangles;
    tl_vec3 *vertex = tl_realloc(to->vertex, sizeof *vertex * (size_t)(vertices + 1));
    if (vertex) to->vertex = vertex;
    int32_t(*triangle)[3] = tl_realloc(to->triangle, sizeof *triangle * (size_t)(triangles + 1));
    if (triangle) to->triangle = triangle;
    int32_t *of = tl_realloc(l->liquid_material, sizeof *of * (size_t)(triangles + 1));
    if (of) l->liquid_material = of;
    if (!vertex || !triangle || !of) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the surface of a liquid");
    for (int32_t i = 0; i < more->vertices; i++) vertex[to->vertices + i] = more->vertex[i];
    for (int32_t i = 0; i < more->triangles; i++) {
        for (int k = 0; k < 3; k++) triangle[to->triangles + i][k] = to->vertices + more->triangle[i][k];
        of[to->triangles + i] = material;
    }
    to->vertices = vertices;
    to->triangles = triangles;
    return TALUS_OK;
}

static talus_status add_cloud(tl_looked *l, const tl_scene *scene, const tl_scene_cloud *c, talus_error *err)
{
    tl_trimesh mesh = {0};
    if (scene->materials[c->material].kind == TL_MATERIAL_GRANULAR || c->count == 0) return TALUS_OK;
    TL_TRY(tl_liquid_surface((int32_t)c->count, c->at, c->spacing, tl_scene_cloud_box(scene, c), &mesh, err));
    talus_status status = mesh.triangles > 0 ? add_liquid(l, &mesh, c->material, err) : TALUS_OK;
    tl_trimesh_free(&mesh);
    return status;
}

static talus_status find_liquid(talus_sim *s, talus_error *err)
{
    tl_looked *l = s->looked;
    tl_clouds clouds;
    if (l->liquid_of == s->generation) return TALUS_OK;
    free_liquid(l);
    l->liquid_of = 0;
    TL_TRY(tl_clouds_gather(&clouds, s->sim, false, err));
    talus_status status = TALUS_OK;
    for (int i = 0; i < clouds.clouds && status == TALUS_OK; i++)
        status = add_cloud(l, s->sim->scene, &clouds.cloud[i], err);
    tl_clouds_free(&clouds);
    if (status == TALUS_OK) l->liquid_of = s->generation;
    return status;
}

/* ---- looking ---- */

static talus_status of_surface(talus_sim *s, view_of of, tl_rows *out, talus_error *err)
{
    TL_TRY(find_surface(s, err));
    const tl_body_surface *f = &s->looked->surface;
    switch (of) {
    case OF_SURFACE_POINT: *out = (tl_rows){f->at, sizeof *f->at, f->points}; break;
    case OF_SURFACE_VELOCITY: *out = (tl_rows){f->velocity, sizeof *f->velocity, f->points}; break;
    case OF_SURFACE_TRIANGLE: *out = (tl_rows){f->triangle, sizeof *f->triangle, f->triangles}; break;
    default: *out = (tl_rows){f->body, sizeof *f->body, f->triangles}; break;
    }
    return TALUS_OK;
}

static talus_status of_liquid(talus_sim *s, view_of of, tl_rows *out, talus_error *err)
{
    TL_TRY(find_liquid(s, err));
    const tl_trimesh *m = &s->looked->liquid;
    switch (of) {
    case OF_LIQUID_POINT: *out = (tl_rows){m->vertex, sizeof *m->vertex, m->vertices}; break;
    case OF_LIQUID_TRIANGLE: *out = (tl_rows){m->triangle, sizeof *m->triangle, m->triangles}; break;
    default: *out = (tl_rows){s->looked->liquid_material, sizeof(int32_t), m->triangles}; break;
    }
    return TALUS_OK;
}

/* Rows of what every engine has. */
static talus_status common_rows(talus_sim *s, view_of of, tl_rows *out, talus_error *err)
{
    const tl_rigid_state *r = &s->sim->state.rigid;
    const tl_joint_state *j;
    tl_looked *l = s->looked;
    switch (of) {
    case OF_MOTION: *out = (tl_rows){r->body, sizeof *r->body, r->count}; return TALUS_OK;
    case OF_BODY: *out = (tl_rows){s->sim->rigid.body, sizeof *s->sim->rigid.body, r->count}; return TALUS_OK;
    case OF_REPORT: *out = (tl_rows){&s->sim->report, sizeof s->sim->report, 1}; return TALUS_OK;
    case OF_POSITION:
        TL_TRY(find_positions(s, err));
        *out = (tl_rows){l->position, sizeof *l->position, r->count};
        return TALUS_OK;
    case OF_LIQUID_FORCE:
        TL_TRY(find_liquid_forces(s, err));
        *out = (tl_rows){l->liquid_force, sizeof *l->liquid_force, r->count};
        return TALUS_OK;
    case OF_JOINT:
        j = tl_state_find(&s->sim->state, &tl_joints_kind);
        *out = (tl_rows){j ? j->joint : NULL, sizeof(tl_joint_memory), j ? j->count : 0};
        return TALUS_OK;
    case OF_CONTACT:
        TL_TRY(find_contacts(s, err));
        *out = (tl_rows){l->contact, sizeof *l->contact, l->contacts};
        return TALUS_OK;
    case OF_SAMPLE:
        TL_TRY(find_samples(s, err));
        *out = (tl_rows){l->sample, sizeof *l->sample, l->samples};
        return TALUS_OK;
    default: return of >= OF_LIQUID_POINT ? of_liquid(s, of, out, err) : of_surface(s, of, out, err);
    }
}

/* Rows of an engine's own view; `slot`: where they are kept when they are computed. */
static talus_status engine_rows(talus_sim *s, const tl_view *v, int slot, tl_rows *out, talus_error *err)
{
    packed *p = &s->looked->packed[slot];
    *out = v->rows(s->sim);
    if (!v->fill) {
        if (out->data) out->data = (const char *)out->data + v->offset;
        return TALUS_OK;
    }
    if (p->of != s->generation) {
        tl_free(p->data);
        p->of = 0;
        p->data = tl_sim_pack(s->sim, v);
        if (!p->data) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the view %s", v->name);
        p->of = s->generation;
    }
    *out = (tl_rows){p->data, tl_view_row(v), out->count};
    return TALUS_OK;
}

static talus_status no_view(const char *name, talus_error *err)
{
    const char *names[VIEWS_MAX + 1];
    list_names(names);
    const char *near = tl_text_nearest(name, names);
    return TL_FAIL(err, TALUS_BAD_INPUT, "no view '%.60s'%s%s%s", name, near ? "; did you mean '" : "",
                   near ? near : "", near ? "'?" : "");
}

talus_status talus_sim_view(talus_sim *s, const char *name, talus_view *out, talus_error *err)
{
    TL_NEED_SIM(s);
    TL_NEED(name);
    TL_NEED(out);
    const char *names[VIEWS_MAX + 1];
    const int row = find_row(name), count = list_names(names);
    const tl_view *own = tl_sim_view(s->sim, name), *any = own ? own : find_elsewhere(name);
    tl_rows rows = {0};
    if (row < 0 && !any) return no_view(name, err);
    if (row >= 0 && views[row].of != OF_ENGINE) {
        TL_TRY(common_rows(s, views[row].of, &rows, err));
        if (rows.data) rows.data = (const char *)rows.data + views[row].offset;
        *out = (talus_view){rows.data, rows.count, views[row].width, (talus_type)views[row].type, rows.stride};
        return TALUS_OK;
    }
    int slot = 0;
    while (slot < count - 1 && strcmp(names[slot], name)) slot++;
    if (own) TL_TRY(engine_rows(s, own, slot, &rows, err)); /* else it is there, and empty */
    if (!own) rows.stride = tl_view_row(any);
    *out = (talus_view){rows.count ? rows.data : NULL, rows.count, any->width, (talus_type)any->type, rows.stride};
    return TALUS_OK;
}

/* ---- docs/views.md ---- */

static void put(void (*write)(void *user, const char *text), void *user, const char *format, ...) TL_PRINTF(3, 4);
static void put(void (*write)(void *user, const char *text), void *user, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    write(user, text);
}

static const char intro[] =
    "# Views\n\n"
    "Made by `talus check --views` from the table that `talus_sim_view` reads; the two cannot differ.\n\n"
    "A view is an array of a simulation, by name: `talus_sim_view` in C, `sim.view` in Python. Rows of one set "
    "(`particles.`) belong together. Units are SI, vectors are in the world's frame. *Engines* says where a view can "
    "have rows; in others it is there and empty. *Frames* says which file of a run's `frames/` has the same numbers, "
    "and under which name. Views marked *made* are computed when they are looked at and then kept until the state "
    "changes; all others point into the state.\n";

static const char *shape_of(const talus_view_info *v, char out[40])
{
    static const char *const types[] = {"float64", "float32", "int32", "int64"};
    if (v->components > 1)
        snprintf(out, 40, "[n][%d] %s", v->components, types[v->type]);
    else
        snprintf(out, 40, "[n] %s", types[v->type]);
    return out;
}

void talus_view_reference(void (*write)(void *user, const char *text), void *user)
{
    talus_view_info v;
    char set[40] = "", shape[40];
    if (!write) return;
    put(write, user, "%s", intro);
    for (int i = 0; talus_view_info_at(i, &v); i++) {
        const size_t length = (size_t)(strchr(v.name, '.') - v.name);
        if (strncmp(set, v.name, length) || set[length]) {
            snprintf(set, sizeof set, "%.*s", (int)length, v.name);
            put(write, user,
                "\n## %s\n\n| view | shape | unit | engines | frames | what |\n|---|---|---|---|---|---|\n", set);
        }
        put(write, user, "| `%s` | %s | %s | %s | %s | %s%s%s |\n", v.name, shape_of(&v, shape), v.unit, v.engines,
            v.frame, v.help, *v.help && v.computed ? "; " : "", v.computed ? "made" : "");
    }
}
