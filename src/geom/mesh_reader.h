/* What the mesh readers share: words and numbers out of text, and a mesh that grows polygon by polygon.
 *
 * Memory taken is a small multiple of the bytes read, whatever a file claims. */
#ifndef TL_GEOM_MESH_READER_H
#define TL_GEOM_MESH_READER_H

#include "geom/trimesh.h"

/* The whole of a regular file; tl_free(*data). */
talus_status tl_mesh_load(const char *path, char **data, size_t *bytes, talus_error *err);

/* ---- text ---- */

typedef struct tl_scan {
    const char *name; /* of the file, for messages */
    const char *at, *end;
    int64_t line; /* of `at`, from 1 */
} tl_scan;

typedef struct tl_word {
    const char *at;
    int64_t length;
} tl_word;

/* Lines end with LF, CR LF or CR. A backslash before the end joins two lines. */
bool tl_scan_word(tl_scan *s, tl_word *w);         /* next word of this line; false at its end */
bool tl_scan_any(tl_scan *s, tl_word *w);          /* next word of this or a later line; false at the end of the text */
bool tl_scan_line(tl_scan *s);                     /* to the start of the next line; false when there is none */
bool tl_word_is(tl_word w, const char *text);      /* letters' case counts */
bool tl_word_is_like(tl_word w, const char *text); /* case does not count */
#define TL_WORD_SHOWN 40
const char *tl_word_show(tl_word w, char text[TL_WORD_SHOWN]); /* for messages: cut, printable */

/* Where something stands, for messages. */
typedef struct tl_place {
    const char *name;
    int64_t line; /* 0: not text, `byte` counts */
    int64_t byte;
} tl_place;
#define TL_PLACE_SHOWN 320
const char *tl_place_show(tl_place p, char text[TL_PLACE_SHOWN]); /* "file:12" or "file: byte 84" */
#define TL_AT(place) tl_place_show((place), (char[TL_PLACE_SHOWN]){0})
static inline tl_place tl_scan_place(const tl_scan *s) { return (tl_place){s->name, s->line, 0}; }

/* Inside tl_c_numbers_begin/end (base/text.h). `what` is named in the message. */
talus_status tl_scan_number(const tl_scan *s, tl_word w, const char *what, double *out, talus_error *err);
talus_status tl_scan_integer(const tl_scan *s, tl_word w, const char *what, int64_t *out, talus_error *err);

/* ---- building ---- */

typedef struct tl_mesh_corner {
    int32_t vertex, previous, next;
    bool ear;
    double x, y; /* in the polygon's plane */
} tl_mesh_corner;

typedef struct tl_mesh_builder {
    tl_trimesh mesh;
    int32_t vertex_room, triangle_room;
    tl_mesh_corner *corner; /* the polygon under way */
    int32_t corners, corner_room;
} tl_mesh_builder;

#define TL_MESH_COORDINATE_MAX 1e60 /* beyond, integrals of the fifth power overflow */
#define TL_MESH_CONCAVE_MAX 4096    /* cutting ears is quadratic */

talus_status tl_mesh_add_vertex(tl_mesh_builder *b, tl_vec3 x, tl_place where, talus_error *err);
talus_status tl_mesh_add_corner(tl_mesh_builder *b, int64_t vertex, tl_place where, talus_error *err);
/* Close the polygon: strictly convex ones become a fan, others lose ear after ear; what crosses itself is cut
 * somehow. */
talus_status tl_mesh_end_polygon(tl_mesh_builder *b, tl_place where, talus_error *err);
/* Hand the mesh over, or on a bad status leave {0}; frees the builder. */
talus_status tl_mesh_finish(tl_mesh_builder *b, talus_status status, tl_trimesh *out);

#endif
