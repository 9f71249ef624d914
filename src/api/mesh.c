#include <talus/mesh.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/need.h"
#include "base/alloc.h"
#include "geom/mesh_distance.h"
#include "geom/surface.h"
#include "geom/tetmesh.h"
#include "scene/load.h"

enum { FIGURES = 24, NOTES = 16, MASS_CELLS = 96 }; /* cells: volume to about 0.1 % where it is not exact */

struct talus_mesh {
    talus_mesh_kind kind;
    tl_trimesh surface;
    tl_tetmesh tets;
    int figures, notes;
    char name[FIGURES][32], value[FIGURES][96];
    char note[NOTES][200];
};

_Static_assert(sizeof(tl_vec3) == 3 * sizeof(double) && sizeof(int) == sizeof(int32_t),
               "arrays are handed out as they are");

talus_mesh_options talus_mesh_options_default(void)
{
    return (talus_mesh_options){.mesher = "lattice", .gmsh_seconds = 600};
}

void talus_mesh_free(talus_mesh *m)
{
    if (!m) return;
    tl_trimesh_free(&m->surface);
    tl_tetmesh_free(&m->tets);
    tl_free(m);
}

/* ---- figures ---- */

TL_PRINTF(3, 4) static void add_figure(talus_mesh *m, const char *name, const char *format, ...)
{
    if (m->figures == FIGURES) return;
    va_list args;
    va_start(args, format);
    snprintf(m->name[m->figures], sizeof m->name[0], "%s", name);
    vsnprintf(m->value[m->figures], sizeof m->value[0], format, args);
    va_end(args);
    m->figures++;
}

TL_PRINTF(2, 3) static void add_note(talus_mesh *m, const char *format, ...)
{
    if (m->notes == NOTES) return;
    va_list args;
    va_start(args, format);
    vsnprintf(m->note[m->notes++], sizeof m->note[0], format, args);
    va_end(args);
}

/* reference: volume of the shape, 0 when not known. */
static void add_volume(talus_mesh *m, double volume, double reference)
{
    if (reference > 0)
        add_figure(m, "volume", "%.6g m^3 (%+.2f %% against the shape's)", volume, 100 * (volume / reference - 1));
    else
        add_figure(m, "volume", "%.6g m^3", volume);
}

static talus_status measure_surface(talus_mesh *m, double reference, talus_error *err)
{
    tl_trimesh_report r;
    char lines[NOTES][160];
    TL_TRY(tl_trimesh_check(&m->surface, &r, err));
    add_figure(m, "triangles", "%d", m->surface.triangles);
    add_figure(m, "vertices", "%d", m->surface.vertices);
    add_figure(m, "parts", "%d", r.components);
    add_figure(m, "closed", "%s", r.closed ? "yes" : "no");
    if (m->surface.vertices > 0)
        add_figure(m, "size", "%.4g x %.4g x %.4g m", r.bounds.hi.x - r.bounds.lo.x, r.bounds.hi.y - r.bounds.lo.y,
                   r.bounds.hi.z - r.bounds.lo.z);
    add_figure(m, "area", "%.6g m^2", r.area);
    if (r.closed) add_volume(m, r.volume, reference);
    int problems = tl_trimesh_explain(&r, NOTES, lines);
    for (int i = 0; i < problems; i++) add_note(m, "%s", lines[i]);
    return TALUS_OK;
}

static talus_status measure_tets(talus_mesh *m, double reference, talus_error *err)
{
    tl_tet_quality q;
    TL_TRY(tl_tetmesh_quality(&m->tets, &q, err));
    add_figure(m, "tetrahedra", "%d", m->tets.tets);
    add_figure(m, "vertices", "%d", m->tets.vertices);
    add_figure(m, "boundary triangles", "%d", q.boundary_triangles);
    add_figure(m, "parts", "%d", q.components);
    add_volume(m, q.volume, reference);
    add_figure(m, "dihedral angles", "%.1f to %.1f degrees", q.dihedral_min_deg, q.dihedral_max_deg);
    add_figure(m, "edges", "%.4g to %.4g m, mean %.4g", q.edge_min, q.edge_max, q.edge_mean);
    add_figure(m, "smallest volume", "%.3g m^3", q.smallest_volume);
    add_figure(m, "inverted", "%d", q.inverted);
    return TALUS_OK;
}

/* ---- making ---- */

typedef struct source {
    tl_scene *scene;    /* owns the tree, or */
    tl_shape_tree *own; /* this does */
    const tl_shape_tree *tree;
    int node;
    const tl_trimesh *given; /* the surface itself, when there is one */
} source;

static void close_source(source *s)
{
    tl_scene_free(s->scene);
    tl_shape_tree_free(s->own);
}

static talus_status start(const talus_mesh_options *o, talus_mesh **out, talus_error *err)
{
    if (strcmp(o->mesher, "lattice") && strcmp(o->mesher, "gmsh"))
        return TL_FAIL(err, TALUS_BAD_INPUT, "the mesher must be \"lattice\" or \"gmsh\", got \"%.60s\"", o->mesher);
    if (!(o->edge >= 0 && o->edge < INFINITY))
        return TL_FAIL(err, TALUS_BAD_INPUT, "the edge must be >= 0 m, got %g", o->edge);
    *out = TL_NEW_ZERO(talus_mesh, 1);
    if (!*out) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a mesh");
    (*out)->kind = o->kind;
    return TALUS_OK;
}

static talus_status fill_with_gmsh(const source *s, const talus_mesh_options *o, double edge, talus_mesh *m,
                                   talus_error *err)
{
    tl_trimesh marched = {0};
    if (!s->given) TL_TRY(tl_surface_march(s->tree, s->node, edge, &marched, err));
    talus_status status = tl_tetmesh_gmsh(s->given ? s->given : &marched, edge, o->gmsh_seconds, &m->tets, err);
    tl_trimesh_free(&marched);
    return status;
}

static talus_status fill_with_lattice(const source *s, double edge, talus_mesh *m, tl_lattice_report *r,
                                      talus_error *err)
{
    TL_TRY(tl_tetmesh_from_shape_reported(s->tree, s->node, edge, &m->tets, r, err));
    if (r->split_vertices + r->removed_tets > 0)
        add_note(m,
                 "%d vertices were split and %d tetrahedra left out to keep the boundary clean: the shape is too thin "
                 "for the lattice there",
                 r->split_vertices, r->removed_tets);
    return TALUS_OK;
}

static talus_status make(const source *s, const talus_mesh_options *o, talus_mesh *m, talus_error *err)
{
    if (!tl_shape_bounded(s->tree, s->node))
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "the shape is unbounded (a plane or half space): only bounded shapes can be meshed");
    double edge = o->edge > 0 ? o->edge : tl_tetmesh_suggested_edge(s->tree, s->node),
           feature = tl_shape_feature_size(s->tree, s->node);
    bool lattice = o->kind == TALUS_MESH_TETS && strcmp(o->mesher, "gmsh");
    tl_lattice_report r = {0};
    tl_mass mass;
    if (o->kind == TALUS_MESH_SURFACE)
        TL_TRY(tl_surface_march(s->tree, s->node, edge, &m->surface, err));
    else
        TL_TRY(lattice ? fill_with_lattice(s, edge, m, &r, err) : fill_with_gmsh(s, o, edge, m, err));
    if (s->given)
        mass = tl_trimesh_mass(s->given);
    else
        TL_TRY(tl_shape_mass(s->tree, s->node, MASS_CELLS, &mass, err));
    add_figure(m, "edge", "%.6g m%s", edge, o->edge > 0 ? "" : " (suggested)");
    TL_TRY(o->kind == TALUS_MESH_SURFACE ? measure_surface(m, mass.volume, err) : measure_tets(m, mass.volume, err));
    if (lattice) add_figure(m, "off the surface", "%.3g m at most (%.2f edges)", r.off_surface, r.off_surface / edge);
    if (feature < 2 * edge)
        add_note(
            m,
            "the smallest feature of the shape, %.3g m, is thinner than two edges: it may come out ragged or be missed",
            feature);
    return TALUS_OK;
}

static talus_status finish(talus_status status, source *s, talus_mesh *m, talus_mesh **out)
{
    close_source(s);
    if (status != TALUS_OK) {
        talus_mesh_free(m);
        m = NULL;
    }
    *out = m;
    return status;
}

/* ---- shapes ---- */

static bool ends_with(const char *text, const char *ending)
{
    size_t a = strlen(text), b = strlen(ending);
    return a >= b && !strcasecmp(text + a - b, ending);
}

/* Letters, digits, '_' and '-' only. */
static bool is_name(const char *text)
{
    return *text && text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")] == '\0';
}

static talus_status load_text(const char *shape, const tl_load_options *load, tl_scene **out, talus_error *err)
{
    bool whole = !strncmp(shape, "return", 6) || !strncmp(shape, "local ", 6);
    size_t room = strlen(shape) + 8;
    char *text = TL_NEW(char, room);
    if (!text) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the shape's text");
    int bytes = snprintf(text, room, "%s%s", whole ? "" : "return ", shape);
    talus_status status = tl_scene_load_text(out, "shape", text, (size_t)bytes, load, err);
    tl_free(text);
    return status;
}

static talus_status open_shape(const char *shape, const talus_mesh_options *o, source *s, talus_error *err)
{
    tl_load_options load = {
        .shape_only = true, .shapes_folder = o->shapes_folder, .setting_count = o->settings, .setting = o->setting};
    char path[4096];
    talus_status status;
    if (ends_with(shape, ".lua")) {
        status = tl_scene_load(&s->scene, shape, &load, err);
    } else if (is_name(shape)) {
        if (!o->shapes_folder)
            return TL_FAIL(err, TALUS_BAD_INPUT, "there is no folder of shapes to find '%.100s' in", shape);
        if ((size_t)snprintf(path, sizeof path, "%s/%s.lua", o->shapes_folder, shape) >= sizeof path)
            return TL_FAIL(err, TALUS_BAD_INPUT, "the shape's name is too long");
        status = tl_scene_load(&s->scene, path, &load, err);
        if (status == TALUS_IO)
            return TL_FAIL(err, TALUS_BAD_INPUT, "no shape '%.100s': there is no %.300s", shape, path);
    } else {
        status = load_text(shape, &load, &s->scene, err);
    }
    TL_TRY(status);
    s->tree = s->scene->shapes;
    s->node = s->scene->root;
    return TALUS_OK;
}

talus_status talus_mesh_from_shape(const char *shape, const talus_mesh_options *options, talus_mesh **out,
                                   talus_error *err)
{
    TL_NEED(shape);
    TL_NEED(out);
    source s = {0};
    talus_mesh *m = NULL;
    *out = NULL;
    TL_TRY(start(options, &m, err));
    talus_status status = open_shape(shape, options, &s, err);
    if (status == TALUS_OK) status = make(&s, options, m, err);
    return finish(status, &s, m, out);
}

/* ---- files ---- */

static const char *const surface_endings[] = {".obj", ".ply", ".stl"}, *const tet_endings[] = {".msh", ".vtk"};

static bool is_kind(const char *path, talus_mesh_kind kind)
{
    bool is = false;
    for (int i = 0; i < 3 && kind == TALUS_MESH_SURFACE; i++) is |= ends_with(path, surface_endings[i]);
    for (int i = 0; i < 2 && kind == TALUS_MESH_TETS; i++) is |= ends_with(path, tet_endings[i]);
    return is;
}

int talus_mesh_is_file(const char *path)
{
    if (!path) return 0;
    return is_kind(path, TALUS_MESH_SURFACE) || is_kind(path, TALUS_MESH_TETS);
}

static talus_status read_and_measure(const char *path, talus_mesh *m, talus_error *err)
{
    if (m->kind == TALUS_MESH_SURFACE) {
        TL_TRY(tl_trimesh_read(&m->surface, path, err));
        if (ends_with(path, ".stl"))
            TL_TRY(tl_trimesh_weld(&m->surface, 0, err)); /* STL names no vertices, only places */
        return measure_surface(m, 0, err);
    }
    tl_tet_read_report r;
    TL_TRY(tl_tetmesh_read_reported(&m->tets, path, &r, err));
    TL_TRY(measure_tets(m, 0, err));
    if (r.turned) add_note(m, "%d tetrahedra were negatively oriented and have been turned", r.turned);
    if (r.other_elements) add_note(m, "%d elements that are no tetrahedra have been left out", r.other_elements);
    if (r.unused_vertices) add_note(m, "%d vertices that no tetrahedron uses have been left out", r.unused_vertices);
    return TALUS_OK;
}

talus_status talus_mesh_read(const char *path, talus_mesh **out, talus_error *err)
{
    TL_NEED(path);
    TL_NEED(out);
    talus_mesh_options o = talus_mesh_options_default();
    talus_mesh *m = NULL;
    source none = {0};
    *out = NULL;
    if (!talus_mesh_is_file(path))
        return TL_FAIL(err, TALUS_BAD_INPUT, "%.300s: a mesh file's name ends with .obj, .ply, .stl, .msh or .vtk",
                       path);
    o.kind = is_kind(path, TALUS_MESH_TETS) ? TALUS_MESH_TETS : TALUS_MESH_SURFACE;
    TL_TRY(start(&o, &m, err));
    return finish(read_and_measure(path, m, err), &none, m, out);
}

talus_status talus_mesh_writable(talus_mesh_kind kind, const char *path, talus_error *err)
{
    TL_NEED(path);
    if (is_kind(path, kind)) return TALUS_OK;
    if (kind == TALUS_MESH_SURFACE)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%.300s: the name of a surface must end with .obj, .ply or .stl", path);
    return TL_FAIL(err, TALUS_BAD_INPUT, "%.300s: the name of a tetrahedral mesh must end with .msh or .vtk", path);
}

talus_status talus_mesh_write(const talus_mesh *m, const char *path, talus_error *err)
{
    TL_NEED(m);
    TL_NEED(path);
    TL_TRY(talus_mesh_writable(m->kind, path, err));
    return m->kind == TALUS_MESH_SURFACE ? tl_trimesh_write(&m->surface, path, err)
                                         : tl_tetmesh_write(&m->tets, path, err);
}

/* ---- a mesh of a mesh ---- */

static talus_status mesh_inside(const tl_trimesh *surface, const talus_mesh_options *o, source *s, talus_mesh *m,
                                talus_error *err)
{
    tl_mesh_distance *distance;
    s->given = surface;
    s->tree = s->own = tl_shape_tree_create();
    if (!s->own) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a shape");
    TL_TRY(tl_mesh_distance_create(&distance, surface, err));
    s->node = tl_shape_mesh(s->own, distance, err);
    if (s->node < 0) {
        tl_mesh_distance_free(distance);
        return TALUS_BAD_INPUT;
    }
    return make(s, o, m, err);
}

/* Tets again without an edge: as they are. */
static talus_status copy_tets(const tl_tetmesh *from, talus_mesh *m, talus_error *err)
{
    TL_TRY(tl_tetmesh_create(&m->tets, from->vertices, from->tets, err));
    memcpy(m->tets.vertex, from->vertex, sizeof *from->vertex * (size_t)from->vertices);
    memcpy(m->tets.tet, from->tet, sizeof *from->tet * (size_t)from->tets);
    return measure_tets(m, 0, err);
}

static talus_status again(const talus_mesh *from, const talus_mesh_options *o, source *s, talus_mesh *m,
                          talus_error *err)
{
    if (from->kind == TALUS_MESH_SURFACE) return mesh_inside(&from->surface, o, s, m, err);
    if (o->kind == TALUS_MESH_TETS && o->edge == 0) return copy_tets(&from->tets, m, err);
    tl_trimesh boundary;
    TL_TRY(tl_tetmesh_boundary(&from->tets, &boundary, NULL, err));
    if (o->edge == 0) {
        m->surface = boundary;
        return measure_surface(m, 0, err);
    }
    talus_status status = mesh_inside(&boundary, o, s, m, err);
    tl_trimesh_free(&boundary);
    return status;
}

talus_status talus_mesh_again(const talus_mesh *from, const talus_mesh_options *options, talus_mesh **out,
                              talus_error *err)
{
    TL_NEED(from);
    TL_NEED(out);
    source s = {0};
    talus_mesh *m = NULL;
    *out = NULL;
    TL_TRY(start(options, &m, err));
    return finish(again(from, options, &s, m, err), &s, m, out);
}

/* ---- what is in it ---- */

int talus_mesh_figure(const talus_mesh *m, int i, const char **name, const char **value)
{
    if (!m || !name || !value) return 0;
    if (i < 0 || i >= m->figures) return 0;
    *name = m->name[i];
    *value = m->value[i];
    return 1;
}

const char *talus_mesh_note(const talus_mesh *m, int i)
{
    if (!m) return NULL;
    return i >= 0 && i < m->notes ? m->note[i] : NULL;
}

talus_mesh_kind talus_mesh_kind_of(const talus_mesh *m)
{
    if (!m) return TALUS_MESH_SURFACE;
    return m->kind;
}

const double *talus_mesh_vertices(const talus_mesh *m, int *count)
{
    if (!m || !count) return NULL;
    bool tets = m->kind == TALUS_MESH_TETS;
    *count = tets ? m->tets.vertices : m->surface.vertices;
    return (const double *)(tets ? m->tets.vertex : m->surface.vertex);
}

const int *talus_mesh_elements(const talus_mesh *m, int *count)
{
    if (!m || !count) return NULL;
    bool tets = m->kind == TALUS_MESH_TETS;
    *count = tets ? m->tets.tets : m->surface.triangles;
    return tets ? (const int *)m->tets.tet : (const int *)m->surface.triangle;
}
