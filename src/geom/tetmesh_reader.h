/* What the tetrahedral mesh readers share: numbers out of text or bytes, and a mesh that grows and is checked at
 * the end.
 *
 * Memory taken is a small multiple of the bytes read, whatever a file claims. */
#ifndef TL_GEOM_TETMESH_READER_H
#define TL_GEOM_TETMESH_READER_H

#include "geom/mesh_reader.h"
#include "geom/tetmesh.h"

/* ---- numbers ---- */

typedef enum tl_number {
    TL_INT8,
    TL_UINT8,
    TL_INT16,
    TL_UINT16,
    TL_INT32,
    TL_UINT32,
    TL_INT64,
    TL_UINT64,
    TL_FLOAT32,
    TL_FLOAT64
} tl_number;
int tl_number_bytes(tl_number type);

/* A file as words of text, or as bytes from where the text ends. */
typedef struct tl_source {
    tl_scan scan;
    const char *begin;
    bool binary, big_endian;
    bool had_bytes; /* lines are no longer counted */
} tl_source;

tl_place tl_source_place(const tl_source *s);
static inline int64_t tl_source_left(const tl_source *s) { return s->scan.end - s->scan.at; }
/* Integers beyond 2^59, and unsigned ones beyond 2^63, are refused. `what` is named in messages. */
talus_status tl_source_integer(tl_source *s, tl_number type, const char *what, int64_t *out, talus_error *err);
talus_status tl_source_real(tl_source *s, tl_number type, const char *what, double *out, talus_error *err);
talus_status tl_source_skip(tl_source *s, tl_number type, int64_t count, const char *what, talus_error *err);
/* A number of items of at least `bytes` each in binary (2 characters each in text) that must fit into what is left. */
talus_status tl_source_count(tl_source *s, tl_number type, int64_t bytes, const char *what, int64_t *out,
                             talus_error *err);
talus_status tl_source_fits(const tl_source *s, int64_t count, int64_t bytes, const char *what, talus_error *err);

/* ---- building ---- */

typedef struct tl_tet_entry {
    int64_t tag[4];
    int64_t region;
    int64_t where; /* line, or byte in binary files */
} tl_tet_entry;

typedef struct tl_tet_builder {
    const char *name;
    int64_t vertices, vertex_room, tets, tet_room, other_elements;
    tl_vec3 *vertex;
    int64_t *tag; /* of each vertex, any numbers */
    tl_tet_entry *tet;
    bool binary;
} tl_tet_builder;

talus_status tl_tet_add_vertex(tl_tet_builder *b, int64_t tag, tl_vec3 x, tl_place where, talus_error *err);
talus_status tl_tet_add(tl_tet_builder *b, const int64_t tag[4], int64_t region, tl_place where, talus_error *err);
/* Resolve the tags and check everything (tetmesh.h says what); on a bad status leave {0}. Frees the builder. */
talus_status tl_tet_finish(tl_tet_builder *b, talus_status status, tl_tetmesh *out, tl_tet_read_report *report,
                           talus_error *err);

#endif
