#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <talus/program.h>
#include <talus/render.h>

#include "api/scene.h"
#include "render/png.h"
#include "render/render.h"
#include "render/scene_picture.h"

talus_render_options talus_render_options_default(void) { return (talus_render_options){0}; }
const char *talus_render_view(int i) { return tl_view_name(i); }

static bool ends_with(const char *path, const char *ending)
{
    size_t n = strlen(path), k = strlen(ending);
    return n > k && !strcasecmp(path + n - k, ending);
}

static bool is_mesh(const char *path)
{
    return ends_with(path, ".obj") || ends_with(path, ".ply") || ends_with(path, ".stl");
}

/* A mesh file as it is: open ones are shown too. */
static talus_status picture_of_mesh(tl_picture *p, const char *path, const char *view, talus_error *err)
{
    tl_trimesh m;
    tl_picture_begin(p);
    if (view && !tl_view_direction(view, &p->camera.view)) return TL_FAIL(err, TALUS_BAD_INPUT, "no view '%s'", view);
    TL_TRY(tl_trimesh_read(&m, path, err));
    talus_status status = tl_trimesh_weld(&m, 0, err);
    int mesh = status == TALUS_OK ? tl_picture_add_mesh(p, &m, 40, err) : -1;
    tl_trimesh_free(&m);
    if (mesh < 0) return err->status;
    TL_TRY(tl_picture_add_instance(p, mesh, tl_mat3_identity(), (tl_vec3){0, 0, 0},
                                   tl_look_glossy(tl_colour_palette(1), 0.45f), err));
    p->ground.height = tl_picture_bounds(p).lo.y;
    return TALUS_OK;
}

/* The sizes in force: asked for, else the scene's, else the defaults already in *r. */
static void take_sizes(const talus_render_options *o, const tl_scene *s, tl_render_options *r)
{
    if (s && s->root < 0) {
        r->width = s->render.width;
        r->height = s->render.height;
        r->samples = s->render.samples;
    }
    if (o->width) r->width = o->width;
    if (o->height) r->height = o->height;
    if (o->samples) r->samples = o->samples;
}

static talus_status check_sizes(const tl_render_options *r, talus_error *err)
{
    if (r->width >= 1 && r->height >= 1 && r->width <= TL_IMAGE_SIDE_MAX && r->height <= TL_IMAGE_SIDE_MAX)
        return TALUS_OK;
    return TL_FAIL(err, TALUS_BAD_INPUT, "an image of %d x %d pixels: each side must be from 1 to %d", r->width,
                   r->height, TL_IMAGE_SIDE_MAX);
}

static talus_status picture_of_lua(tl_picture *p, const char *path, const talus_render_options *o, tl_render_options *r,
                                   talus_error *err)
{
    talus_scene_options plain = talus_scene_options_default();
    tl_load_options load;
    tl_scene *s;
    TL_TRY(tl_scene_options_from(o->scene ? o->scene : &plain, &load, err));
    load.shape_too = true;
    TL_TRY(tl_scene_load(&s, path, &load, err));
    take_sizes(o, s, r);
    tl_scene_picture_options po = {.width = r->width, .height = r->height, .view = o->view};
    talus_status status = check_sizes(r, err);
    if (status == TALUS_OK)
        status = s->root >= 0 ? tl_picture_of_shape(p, s, s->root, &po, err) : tl_picture_of_scene(p, s, &po, err);
    tl_scene_free(s);
    return status;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

talus_status talus_render_file(const char *input, const char *output, const talus_render_options *options,
                               talus_error *err)
{
    talus_error own = {0};
    if (!err) err = &own;
    talus_render_options plain = talus_render_options_default();
    const talus_render_options *o = options ? options : &plain;
    tl_render_options r = tl_render_options_default();
    r.denoise = !o->plain;
    r.progress = o->progress;
    r.user = o->user;
    tl_picture p = {0};
    tl_image image = {0};
    talus_status status;
    if (is_mesh(input)) {
        take_sizes(o, NULL, &r);
        status = picture_of_mesh(&p, input, o->view, err);
    } else {
        status = picture_of_lua(&p, input, o, &r, err);
    }
    if (status == TALUS_OK) status = tl_render(&p, &r, &image, err);
    char software[64];
    snprintf(software, sizeof software, "talus %s", talus_version());
    const tl_png_note notes[] = {{"Title", name_of(input)}, {"Software", software}, {"Frame", "0"}, {NULL, NULL}};
    if (status == TALUS_OK) status = tl_png_write(&image, output, notes, err);
    tl_image_free(&image);
    tl_picture_free(&p);
    return status;
}
