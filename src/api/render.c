#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <talus/program.h>
#include <talus/render.h>

#include "api/need.h"
#include "api/scene.h"
#include "render/mp4.h"
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
    talus_status status =
        m.triangles > 0 ? tl_trimesh_weld(&m, 0, err) : TL_FAIL(err, TALUS_BAD_INPUT, "%s: no triangle in it", path);
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

/* What the functions below share: the input with its options, and the sizes in force once it is read. */
typedef struct job {
    const char *input;
    const talus_render_options *o;
    tl_render_options r;
} job;

static talus_status read_picture(job *j, const char *view, tl_picture *p, talus_error *err)
{
    talus_render_options o = *j->o;
    o.view = view;
    *p = (tl_picture){0};
    if (!is_mesh(j->input)) return picture_of_lua(p, j->input, &o, &j->r, err);
    take_sizes(&o, NULL, &j->r);
    TL_TRY(check_sizes(&j->r, err));
    return picture_of_mesh(p, j->input, view, err);
}

static talus_status write_image(const job *j, const tl_image *image, int frame, const char *output, talus_error *err)
{
    char software[64], number[16];
    snprintf(software, sizeof software, "talus %s", talus_version());
    snprintf(number, sizeof number, "%d", frame);
    const tl_png_note notes[] = {{"Title", name_of(j->input)}, {"Software", software}, {"Frame", number}, {NULL, NULL}};
    return tl_png_write(image, output, notes, err);
}

static talus_status one_picture(job *j, const char *output, talus_error *err)
{
    tl_picture p = {0};
    tl_image image = {0};
    talus_status status = read_picture(j, j->o->view, &p, err);
    if (status == TALUS_OK) status = tl_render(&p, &j->r, &image, err);
    if (status == TALUS_OK) status = write_image(j, &image, 0, output, err);
    tl_image_free(&image);
    tl_picture_free(&p);
    return status;
}

static talus_status contact_sheet(job *j, const char *output, talus_error *err)
{
    static const char *const views[] = {"corner", "front", "right", "back", "left", "top"};
    enum { count = sizeof views / sizeof views[0], columns = 3 };
    tl_image image[count] = {{0}}, sheet = {0};
    talus_status status = TALUS_OK;
    for (int i = 0; i < count && status == TALUS_OK; i++) {
        tl_picture p = {0};
        status = read_picture(j, views[i], &p, err);
        if (status == TALUS_OK) status = tl_render(&p, &j->r, &image[i], err);
        tl_picture_free(&p);
    }
    if (status == TALUS_OK)
        status = tl_image_contact_sheet(count, image, views, columns, (j->r.width + 1) / 2, &sheet, err);
    if (status == TALUS_OK) status = write_image(j, &sheet, 0, output, err);
    for (int i = 0; i < count; i++) tl_image_free(&image[i]);
    tl_image_free(&sheet);
    return status;
}

/* "turn-%.png" and 7 give "turn-0007.png". */
static talus_status numbered(const char *pattern, int frame, char *out, size_t room, talus_error *err)
{
    const char *mark = strchr(pattern, '%');
    if (!mark || strchr(mark + 1, '%') || !ends_with(pattern, ".png"))
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "a film goes to a file.mp4, or to pictures named like turn-%%.png; got '%s'", pattern);
    if (snprintf(out, room, "%.*s%04d%s", (int)(mark - pattern), pattern, frame, mark + 1) >= (int)room)
        return TL_FAIL(err, TALUS_BAD_INPUT, "the name '%.60s...' is too long", pattern);
    return TALUS_OK;
}

/* Around the vertical through the middle of what is there, framed as the corner view is. */
static talus_status turntable(job *j, const char *output, talus_error *err)
{
    char path[1024];
    bool film = ends_with(output, ".mp4");
    if (!film) TL_TRY(numbered(output, 0, path, sizeof path, err));
    if (j->o->turn < 2 || j->o->turn > 9999)
        return TL_FAIL(err, TALUS_BAD_INPUT, "a turn needs 2 to 9999 frames, got %d", j->o->turn);
    tl_picture p = {0};
    tl_mp4 *mp4 = NULL;
    talus_status status = read_picture(j, "corner", &p, err);
    if (status == TALUS_OK && film) status = tl_mp4_begin(&mp4, output, j->r.width, j->r.height, 25, err);
    tl_vec3 start = p.camera.view;
    for (int i = 0; i < j->o->turn && status == TALUS_OK; i++) {
        double a = 2 * 3.14159265358979323846 * i / j->o->turn, c = cos(a), s = sin(a);
        p.camera.view = (tl_vec3){c * start.x + s * start.z, start.y, c * start.z - s * start.x};
        tl_image image = {0};
        status = tl_render(&p, &j->r, &image, err);
        if (status == TALUS_OK && film) status = tl_mp4_frame(mp4, &image, err);
        if (status == TALUS_OK && !film) status = numbered(output, i, path, sizeof path, err);
        if (status == TALUS_OK && !film) status = write_image(j, &image, i, path, err);
        tl_image_free(&image);
    }
    if (status == TALUS_OK && film)
        status = tl_mp4_end(mp4, err);
    else
        tl_mp4_discard(mp4);
    tl_picture_free(&p);
    return status;
}

talus_status talus_render_file(const char *input, const char *output, const talus_render_options *options,
                               talus_error *err)
{
    TL_NEED(input);
    TL_NEED(output);
    talus_error own = {0};
    if (!err) err = &own;
    talus_render_options plain = talus_render_options_default();
    job j = {.input = input, .o = options ? options : &plain, .r = tl_render_options_default()};
    j.r.denoise = !j.o->plain;
    j.r.progress = j.o->progress;
    j.r.user = j.o->user;
    if (j.o->sheet && j.o->turn) return TL_FAIL(err, TALUS_BAD_INPUT, "either a contact sheet or a turn, not both");
    return j.o->sheet  ? contact_sheet(&j, output, err)
           : j.o->turn ? turntable(&j, output, err)
                       : one_picture(&j, output, err);
}
