#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "geom/mesh_reader.h"
#include "geom/trimesh_make.h"
#include "tempdir.h"

static talus_error err;

typedef talus_status (*reader)(tl_trimesh *, const char *, const char *, size_t, talus_error *);

static tl_trimesh read_text(reader read, const char *text)
{
    tl_trimesh m;
    CHECK_OK(read(&m, "a", text, strlen(text), &err));
    return m;
}

/* The text is refused, with exactly this message. */
static void refused(reader read, const char *text, const char *message)
{
    tl_trimesh m;
    assert_int_equal(read(&m, "a", text, strlen(text), &err), TALUS_BAD_INPUT);
    assert_string_equal(err.message, message);
    assert_null(m.vertex);
}

static void check_triangle(const tl_trimesh *m, int32_t t, int32_t a, int32_t b, int32_t c)
{
    assert_true(t < m->triangles);
    if (m->triangle[t][0] != a || m->triangle[t][1] != b || m->triangle[t][2] != c)
        fail_msg("triangle %d is (%d, %d, %d), expected (%d, %d, %d)", t, m->triangle[t][0], m->triangle[t][1],
                 m->triangle[t][2], a, b, c);
}

static double area_of(const tl_trimesh *m) /* z part: signed, for flat meshes */
{
    double sum = 0;
    for (int32_t t = 0; t < m->triangles; t++) {
        tl_vec3 a = m->vertex[m->triangle[t][0]];
        sum +=
            0.5 *
            tl_vec3_cross(tl_vec3_sub(m->vertex[m->triangle[t][1]], a), tl_vec3_sub(m->vertex[m->triangle[t][2]], a)).z;
    }
    return sum;
}

/* Every triangle has positive area, and all of them together the polygon's: nothing overlaps. */
static void check_cover(const tl_trimesh *m, int32_t triangles, double area)
{
    assert_int_equal(m->triangles, triangles);
    for (int32_t t = 0; t < triangles; t++) {
        tl_trimesh one = {m->vertices, 1, m->vertex, &m->triangle[t]};
        assert_true(area_of(&one) > 1e-9);
    }
    CHECK_REL(area_of(m), area, 1e-12);
}

/* ---- OBJ ---- */

static void obj_of_all_kinds(void **state)
{
    (void)state;
    tl_trimesh m = read_text(tl_trimesh_read_obj,
                             "# comment\r\nmtllib x.mtl\r\no thing\r\n\r\nv 1 2 3\r\n  v\t-1.5e-1 .5 2. 1.0\r\n"
                             "v 0 0 1 0.1 0.2 0.3\r\nvt 0 0\nvn 0 0 1\ng part\nusemtl red\ns off\n"
                             "f 1 2 3\nf 1/1 2/1 3/1\rf 3//1 2//1 1//1 # back\nf 1/1/1 \\\n -2/1/1 \\\r\n-1/1/1");
    assert_int_equal(m.vertices, 3);
    assert_int_equal(m.triangles, 4);
    assert_true(m.vertex[1].x == -0.15 && m.vertex[1].y == 0.5 && m.vertex[1].z == 2);
    check_triangle(&m, 0, 0, 1, 2);
    check_triangle(&m, 1, 0, 1, 2);
    check_triangle(&m, 2, 2, 1, 0);
    check_triangle(&m, 3, 0, 1, 2);
    tl_trimesh_free(&m);

    /* negative numbers count back from the face's own line, positive ones may look ahead */
    m = read_text(tl_trimesh_read_obj, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -1 -2 -3\nv 5 5 5\nf -1 1 2\nf 1 2 5\nv 6 6 6\n");
    check_triangle(&m, 0, 2, 1, 0);
    check_triangle(&m, 1, 3, 0, 1);
    check_triangle(&m, 2, 0, 1, 4);
    tl_trimesh_free(&m);
}

static void obj_polygons(void **state)
{
    (void)state;
    tl_trimesh m = read_text(tl_trimesh_read_obj, "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n");
    check_triangle(&m, 0, 0, 1, 2); /* convex: a fan */
    check_triangle(&m, 1, 0, 2, 3);
    tl_trimesh_free(&m);

    /* an arrow: a fan from its first corner would leave the polygon */
    m = read_text(tl_trimesh_read_obj, "v 0 2 0\nv -1 0 0\nv 0 0.5 0\nv 1 0 0\nf 1 2 3 4\nf 2 3 4 1\nf 3 4 1 2\n");
    check_cover(&m, 6, 3 * 1.5);
    tl_trimesh_free(&m);

    /* an L, a comb, a spiral; in a tilted plane the projection takes care */
    m = read_text(tl_trimesh_read_obj, "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\nf 1 2 3 4 5 6\n");
    check_cover(&m, 4, 3);
    tl_trimesh_free(&m);
    m = read_text(
        tl_trimesh_read_obj,
        "v 0 0 0\nv 7 0 7\nv 7 3 7\nv 6 3 6\nv 6 1 6\nv 5 1 5\nv 5 3 5\nv 4 3 4\nv 4 1 4\nv 3 1 3\nv 3 3 3\nv 2 3 2\n"
        "v 2 1 2\nv 1 1 1\nv 1 3 1\nv 0 3 0\nf 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
    check_cover(&m, 14, 7 + 4 * 2);
    tl_trimesh_free(&m);
    m = read_text(
        tl_trimesh_read_obj,
        "v 0 0 0\nv 5 0 0\nv 5 5 0\nv 1 5 0\nv 1 2 0\nv 3 2 0\nv 3 3 0\nv 2 3 0\nv 2 4 0\nv 4 4 0\nv 4 1 0\nv 0 1 0\n"
        "f 1 2 3 4 5 6 7 8 9 10 11 12\n");
    check_cover(&m, 10, 5 + 4 + 3 + 2 + 1);
    tl_trimesh_free(&m);

    /* corners in a row: no triangle without area */
    m = read_text(tl_trimesh_read_obj,
                  "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4 5 6\nf 2 3 4 5 6 1\n");
    check_cover(&m, 8, 4);
    tl_trimesh_free(&m);

    /* crossing itself, or flat: some triangles, no trouble */
    m = read_text(tl_trimesh_read_obj, "v 0 0 0\nv 1 1 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 4\nf 1 1 1 1 1\nf 1 2 1 2 1 2\n");
    assert_int_equal(m.triangles, 2 + 3 + 4);
    tl_trimesh_free(&m);
}

static void obj_refused(void **state)
{
    (void)state;
    reader obj = tl_trimesh_read_obj;
    refused(obj, "", "a: no vertex in it");
    refused(obj, "v 0 0\n", "a:1: a vertex needs three numbers, got 2");
    refused(obj, "\n\nv 0 x 0\n", "a:3: y of a vertex must be a number, got 'x'");
    refused(obj, "v 0 0 1,5\n", "a:1: z of a vertex must be a number, got '1,5'");
    refused(obj, "v 0 nan 0\n", "a:1: y of a vertex must be finite, got 'nan'");
    refused(obj, "v -inf 0 0\n", "a:1: x of a vertex must be finite, got '-inf'");
    refused(obj, "v 0 0 1e999\n", "a:1: z of a vertex must be finite, got '1e999'");
    refused(obj, "v 0 0 1e61\n", "a:1: coordinates must be finite and at most 1e+60, got (0, 0, 1e+61)");
    refused(obj, "v 0 0 0\nf 1 1\n", "a:2: a face needs three vertices or more, got 2");
    refused(obj, "v 0 0 0\r\nf 1 1 2\r\n", "a:2: a face names vertex 2, but there are 1 in the file, 1 of them above");
    refused(obj, "v 0 0 0\rf 1 0 1\r", "a:2: a face names vertex 0, but there are 1 in the file, 1 of them above");
    refused(obj, "v 0 0 0\nf -2 1 1\nv 0 0 0\n",
            "a:2: a face names vertex -2, but there are 2 in the file, 1 of them above");
    refused(obj, "v 0 0 0\nf 1 1 99999999999999999999\n",
            "a:2: a face's vertex must be an integer, got '99999999999999999999'");
    refused(obj, "v 0 0 0\nf 1 1 1.5\n", "a:2: a face's vertex must be an integer, got '1.5'");
    refused(obj, "v 0 0 0\nf 1 1 /1\n", "a:2: a face's vertex must be an integer, got ''");
    refused(obj, "hello\nv 0 0 0\n", "a:1: 'hello' is no statement of an OBJ file");
    refused(obj, "\x01\xff", "a:1: '?\?' is no statement of an OBJ file");
    char text[400] = "v 0 0 ";
    memset(text + 6, '1', 300);
    refused(obj, text, "a:1: z of a vertex must be a number, got '111111111111111111111111111111111111...'");
}

static void obj_concave_faces_have_a_limit(void **state)
{
    (void)state;
    int n = TL_MESH_CONCAVE_MAX + 2;
    char *text = TL_NEW(char, 80 * n), *at = text;
    for (int i = 0; i < n; i++)
        at += sprintf(at, "v %.9f %.9f 0\n", (1 + i % 2) * cos(6.28318 * i / n), (1 + i % 2) * sin(6.28318 * i / n));
    char *face = at;
    at += sprintf(at, "f");
    for (int i = 1; i <= n - 2; i++) at += sprintf(at, " %d", i);
    tl_trimesh m = read_text(tl_trimesh_read_obj, text); /* a star with 2048 rays */
    assert_int_equal(m.triangles, n - 4);
    tl_trimesh_free(&m);
    at = face + sprintf(face, "f");
    for (int i = 1; i <= n; i++) at += sprintf(at, " %d", i);
    assert_int_equal(tl_trimesh_read_obj(&m, "a", text, strlen(text), &err), TALUS_BAD_INPUT);
    assert_string_equal(err.message, "a:4099: a face of 4098 vertices is not convex; such faces may have at most 4096");
    tl_free(text);
}

/* ---- PLY ---- */

static void ply_ascii(void **state)
{
    (void)state;
    tl_trimesh m = read_text(
        tl_trimesh_read_ply,
        "ply\nformat ascii 1.0\ncomment hello\nobj_info x\nelement vertex 4\nproperty double z\nproperty uchar red\n"
        "property list uchar float junk\nproperty float32 x\nproperty int y\nelement edge 1\nproperty int a\nproperty "
        "int b\n"
        "element face 2\nproperty list uint8 int32 vertex_index\nproperty float quality\nend_header\n"
        "0.5 255 0 1e2 -7\n0 0 2 nan inf 1 0\n0 0 1 9 0 1\n0 0 0 0 0\n3 4\n3 0 1 2 0.5\n4 0 1 2 3 nan\ntrailing "
        "words\n");
    assert_int_equal(m.vertices, 4);
    assert_true(m.vertex[0].x == 100 && m.vertex[0].y == -7 && m.vertex[0].z == 0.5);
    assert_true(m.vertex[1].x == 1 && m.vertex[2].y == 1);
    assert_int_equal(m.triangles, 3);
    check_triangle(&m, 0, 0, 1, 2);
    tl_trimesh_free(&m);

    m = read_text(
        tl_trimesh_read_ply,
        "ply\r\nformat ascii 1.0\r\nelement face 1\r\nproperty list int int vertex_indices\r\nelement vertex 3\r\n"
        "property float x\r\nproperty float y\r\nproperty float z\r\nend_header\r\n3 2 1 0\r\n0 0 0\r\n1 0 0\r\n0 1 "
        "0\r\n");
    check_triangle(&m, 0, 2, 1, 0); /* faces above the vertices, CR LF */
    tl_trimesh_free(&m);

    m = read_text(tl_trimesh_read_ply, "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float "
                                       "y\nproperty float z\nend_header\n1 2 3\n");
    assert_true(m.vertices == 1 && m.triangles == 0); /* a cloud of points */
    tl_trimesh_free(&m);
}

/* Values of all types; vertex 0 = (1, -2, 0.25), 1 = (200, 3, 4), 2 = (0, 0, -1). */
static void ply_binary(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        static const char *const head[2] = {"ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty uchar "
                                            "x\nproperty list char ushort skip\nproperty short y\n"
                                            "property float z\nelement face 1\nproperty double area\nproperty list "
                                            "ushort uint vertex_indices\nend_header\n",
                                            "ply\nformat binary_big_endian 1.0\nelement vertex 3\nproperty uchar "
                                            "x\nproperty list char ushort skip\nproperty short y\n"
                                            "property float z\nelement face 1\nproperty double area\nproperty list "
                                            "ushort uint vertex_indices\nend_header\n"};
        static const uint8_t x[3] = {1, 200, 0};
        static const int16_t y[3] = {-2, 3, 0};
        static const float z[3] = {0.25f, 4, -1};
        char data[600], *at = data;
        size_t length = strlen(head[big]);
        memcpy(at, head[big], length);
        at += length;
#define PUT(value, bytes)                                                                                              \
    for (int b_ = 0; b_ < (bytes); b_++) *at++ = (char)((uint64_t)(value) >> 8 * (big ? (bytes)-1 - b_ : b_) & 0xff)
        for (int i = 0; i < 3; i++) {
            uint32_t bits;
            memcpy(&bits, &z[i], 4);
            PUT(x[i], 1);
            PUT(i, 1);
            for (int k = 0; k < i; k++) PUT(0xabcd, 2);
            PUT((uint16_t)y[i], 2);
            PUT(bits, 4);
        }
        PUT(0x7ff8000000000000u, 8); /* a NaN that nobody asks for */
        PUT(3, 2);
        for (uint32_t i = 0; i < 3; i++) PUT(2 - i, 4);
        size_t bytes = (size_t)(at - data);
        tl_trimesh m;
        CHECK_OK(tl_trimesh_read_ply(&m, "a", data, bytes, &err));
        assert_true(m.vertex[0].x == 1 && m.vertex[0].y == -2 && m.vertex[0].z == 0.25);
        assert_true(m.vertex[1].x == 200 && m.vertex[1].y == 3 && m.vertex[2].z == -1);
        check_triangle(&m, 0, 2, 1, 0);
        tl_trimesh_free(&m);
        for (size_t cut = 0; cut < bytes; cut++) { /* every shorter file ends too early */
            assert_int_equal(tl_trimesh_read_ply(&m, "a", data, cut, &err), TALUS_BAD_INPUT);
            assert_null(m.vertex);
        }
        assert_int_equal(tl_trimesh_read_ply(&m, "a", data, bytes - 1, &err), TALUS_BAD_INPUT);
        char expected[200];
        snprintf(expected, sizeof expected, "a: byte %d: a list cannot have 3 entries: 11 bytes are left",
                 (int)bytes - 12);
        assert_string_equal(err.message, expected);
    }
}

static void ply_refused(void **state)
{
    (void)state;
    reader ply = tl_trimesh_read_ply;
#define HEAD "ply\nformat ascii 1.0\n"
#define XYZ "property float x\nproperty float y\nproperty float z\n"
#define FACE "property list uchar int vertex_indices\nend_header\n"
    refused(ply, "", "a:1: a PLY file starts with 'ply', got ''");
    refused(ply, "plyx\n", "a:1: a PLY file starts with 'ply', got 'plyx'");
    refused(ply, "ply\nelement vertex 0\n" XYZ "end_header\n", "a:6: a header needs its format, got 'end_header'");
    refused(ply, "ply\nformat binary 1.0\n",
            "a:2: the format must be ascii, binary_little_endian or binary_big_endian, got 'binary'");
    refused(ply, "ply\nformat ascii 2.0\n", "a:2: the version of the format must be 1.0, got '2.0'");
    refused(ply, HEAD "property int x\n", "a:3: a property before the first element, got ''");
    refused(ply, HEAD "element vertex -1\n", "a:3: the count of an element must be in 0..2147483647, got '-1'");
    refused(ply, HEAD "element vertex 99999999999\n",
            "a:3: the count of an element must be in 0..2147483647, got '99999999999'");
    refused(ply, HEAD "element vertex\n", "a:3: the count of an element must be an integer, got ''");
    refused(ply, HEAD "element vertex 1\nelement vertex 1\n", "a:4: an element stands twice, got 'vertex'");
    refused(ply, HEAD "element vertex 1\nproperty half x\n",
            "a:4: a property needs a type (char, uchar, short, ushort, int, uint, float, double), got 'half'");
    refused(ply, HEAD "element vertex 1\nproperty list float int x\n",
            "a:4: the count of a list must be of an integer type, got 'float'");
    refused(ply, HEAD "element vertex 1\nproperty float x\nproperty float x\n",
            "a:5: a property stands twice, got 'x'");
    refused(ply, HEAD "element vertex 1\nproperty float x\nend_header\n0\n",
            "a:3: the vertices need the properties x, y and z");
    refused(ply, HEAD "element face 1\n" FACE, "a: no element 'vertex' in the header");
    refused(ply, HEAD "element vertex 0\n" XYZ "element face 1\nend_header\n",
            "a:7: the faces need a list vertex_indices");
    refused(ply, HEAD "element tristrips 1\n",
            "a:3: triangle strips are not read: save the mesh with faces, got 'tristrips'");
    refused(ply, HEAD "elephant 1\n",
            "a:3: a header line is format, comment, element, property or end_header, got 'elephant'");
    refused(ply, HEAD "element vertex 1\n" XYZ, "a:7: the header has no end_header");
    refused(ply, HEAD "element vertex 2000000000\n" XYZ "end_header\n1 2 3\n",
            "a:8: 2000000000 items are promised, but only 6 bytes are left");
    refused(ply, HEAD "element vertex 2\n" XYZ "end_header\n1 2 3\n", "a:9: the file ends before x of a vertex");
    refused(ply, HEAD "element vertex 1\n" XYZ "end_header\n1 nan 3\n", "a:8: y of a vertex must be finite, got 'nan'");
    refused(ply, HEAD "element vertex 1\n" XYZ "element face 1\n" FACE "1 2 3\n3 0 0 1\n",
            "a:11: a face names vertex 1 (counted from 0), but there are 1");
    refused(ply, HEAD "element vertex 1\n" XYZ "element face 1\n" FACE "1 2 3\n3 0 0 -1\n",
            "a:11: a face names vertex -1 (counted from 0), but there are 1");
    refused(ply, HEAD "element vertex 1\n" XYZ "element face 1\n" FACE "1 2 3\n3 0 0 0.5\n",
            "a:11: a vertex of a face must be an integer, got 0.5");
    refused(ply, HEAD "element vertex 1\n" XYZ "element face 1\n" FACE "1 2 3\n-3 0 0 0\n",
            "a:11: a list cannot have -3 entries: 7 bytes are left");
    refused(ply, HEAD "element vertex 1\n" XYZ "element face 1\n" FACE "1 2 3\n2 0 0\n",
            "a:11: a face needs three vertices or more, got 2");
    /* an element without properties takes no bytes, whatever its count */
    tl_trimesh m = read_text(ply, HEAD "element nothing 2147483647\nelement vertex 1\n" XYZ "end_header\n1 2 3\n");
    assert_int_equal(m.vertices, 1);
    tl_trimesh_free(&m);
}

/* ---- STL ---- */

#define TRIANGLE(n, ax, ay, bx, by, cx, cy)                                                                            \
    "facet normal " n "\nouter loop\nvertex " ax " " ay " 0\nvertex " bx " " by " 0\nvertex " cx " " cy                \
    " 0\nendloop\nendfacet\n"

static void stl_ascii(void **state)
{
    (void)state;
    tl_trimesh m =
        read_text(tl_trimesh_read_stl, "solid a b c facet\n" TRIANGLE("0 0 1", "0", "0", "1", "0", "1", "1")
                                           TRIANGLE("nan nan nan", "0", "0", "1", "1", "0", "1") "endsolid a b c\n");
    assert_int_equal(m.vertices, 4); /* welded */
    assert_int_equal(m.triangles, 2);
    check_triangle(&m, 1, 0, 2, 3);
    tl_trimesh_free(&m);

    m = read_text(tl_trimesh_read_stl, "  SOLID\r\nFACET NORMAL 0 0 1 OUTER LOOP\r\nVERTEX 0 0 0 VERTEX 1 0 "
                                       "0\r\nVERTEX 0 1 0 ENDLOOP ENDFACET\r\nENDSOLID\r\n"
                                       "solid two\n" TRIANGLE("0 0 1", "5", "0", "6", "0", "5", "1") "endsolid");
    assert_true(m.vertices == 6 && m.triangles == 2);
    tl_trimesh_free(&m);
    m = read_text(tl_trimesh_read_stl, "solid\nendsolid\n");
    assert_int_equal(m.triangles, 0);
    tl_trimesh_free(&m);
}

static void stl_binary(void **state)
{
    (void)state;
    static const char *const headers[3] = {"made by hand", "solid but binary", "solid with a tail"};
    for (int kind = 0; kind < 3; kind++) {
        char data[84 + 2 * 50 + 7] = {0};
        size_t bytes = 84 + 2 * 50 + (kind == 2 ? 7 : 0);
        memset(data, kind ? ' ' : 0, 80);
        memcpy(data, headers[kind], strlen(headers[kind]));
        data[80] = 2;
        static const float v[2][9] = {{0, 0, 0, 1, 0, 0, 1, 1, 0}, {0, 0, 0, 1, 1, 0, 0, 1, 0}};
        for (int t = 0; t < 2; t++) memcpy(data + 84 + 50 * t + 12, v[t], sizeof v[t]);
        tl_trimesh m;
        CHECK_OK(tl_trimesh_read_stl(&m, "a", data, bytes, &err));
        assert_true(m.vertices == 4 && m.triangles == 2);
        check_triangle(&m, 1, 0, 2, 3);
        tl_trimesh_free(&m);
        const float nan = NAN;
        memcpy(data + 84 + 50 + 16, &nan, 4);
        assert_int_equal(tl_trimesh_read_stl(&m, "a", data, bytes, &err), TALUS_BAD_INPUT);
        assert_non_null(strstr(err.message, "a: byte 134: coordinates must be finite"));
        data[83] = 1; /* 2^24 more triangles */
        assert_int_equal(tl_trimesh_read_stl(&m, "a", data, bytes, &err), TALUS_BAD_INPUT);
        assert_non_null(strstr(err.message, "a: byte 80: 16777218 triangles need 838860984 bytes, but the file has 1"));
    }
}

static void stl_refused(void **state)
{
    (void)state;
    reader stl = tl_trimesh_read_stl;
    refused(stl, "", "a: neither an ascii STL (no 'solid') nor a binary one (0 bytes, at least 84 needed)");
    refused(stl, "hello", "a: neither an ascii STL (no 'solid') nor a binary one (5 bytes, at least 84 needed)");
    refused(stl, "solid a\n", "a:2: the file ends inside a solid");
    refused(stl, "solid a\nfacet normal 0 0 1\n", "a:3: the file ends inside a facet");
    refused(stl, "solid a\nvertex 0 0 0\n", "a:2: 'vertex' does not belong between facets");
    refused(stl, "solid a\nfacet normal 0 0 1\nfacet", "a:3: 'facet' does not belong into a facet");
    refused(stl, "solid a\nfacet\nouter loop\nvertex 0 0\n", "a:4: a vertex needs three numbers, got 2");
    refused(stl, "solid a\nfacet\nouter loop\nvertex 0 0 e\n", "a:4: z of a vertex must be a number, got 'e'");
    refused(stl, "solid a\nfacet\nouter loop\nvertex 0 0 inf\n", "a:4: z of a vertex must be finite, got 'inf'");
    refused(stl, "solid a\nfacet\nvertex 0 0 0\nvertex 0 0 0\nendfacet\nendsolid\n",
            "a:5: a face needs three vertices or more, got 2");
}

/* ---- files ---- */

static void same_mesh(const tl_trimesh *a, const tl_trimesh *b)
{
    assert_int_equal(a->vertices, b->vertices);
    assert_int_equal(a->triangles, b->triangles);
    assert_memory_equal(a->vertex, b->vertex, sizeof *a->vertex * (size_t)a->vertices);
    assert_memory_equal(a->triangle, b->triangle, sizeof *a->triangle * (size_t)a->triangles);
}

static void written_and_read_back(void **state)
{
    (void)state;
    char folder[TL_TEMPDIR_MAX], path[TL_TEMPDIR_MAX + 20];
    tl_tempdir_create(folder);
    tl_trimesh m, back;
    CHECK_OK(tl_trimesh_icosphere(&m, 1.0 / 3, 2, &err)); /* numbers with all their digits */
    static const char *const names[3] = {"m.obj", "m.PLY", "m.stl"};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        CHECK_OK(tl_trimesh_write(&m, path, &err));
        CHECK_OK(tl_trimesh_read(&back, path, &err));
        if (i < 2) same_mesh(&m, &back);
        assert_int_equal(back.vertices, m.vertices);
        assert_int_equal(back.triangles, m.triangles);
        CHECK_NEAR(tl_trimesh_mass(&back).volume, tl_trimesh_mass(&m).volume, i < 2 ? 0 : 1e-7);
        tl_trimesh_free(&back);
        /* without a known ending the content tells */
        char plain[TL_TEMPDIR_MAX + 20];
        snprintf(plain, sizeof plain, "%s/%d", folder, i);
        assert_int_equal(rename(path, plain), 0);
        CHECK_OK(tl_trimesh_read(&back, plain, &err));
        assert_int_equal(back.triangles, m.triangles);
        tl_trimesh_free(&back);
    }
    assert_int_equal(tl_tempdir_files(folder), 3); /* nothing temporary left */

    snprintf(path, sizeof path, "%s/m.vtk", folder);
    assert_int_equal(tl_trimesh_write(&m, path, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "m.vtk: the name of a mesh file must end with .obj, .ply or .stl"));
    snprintf(path, sizeof path, "%s/none/m.obj", folder);
    assert_int_equal(tl_trimesh_write(&m, path, &err), TALUS_IO);
    assert_int_equal(tl_trimesh_read(&back, path, &err), TALUS_IO);
    assert_int_equal(tl_trimesh_read(&back, folder, &err), TALUS_IO);
    assert_non_null(strstr(err.message, "not a file"));
    assert_null(back.vertex);
    tl_trimesh_free(&m);
    tl_tempdir_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(obj_of_all_kinds),
        cmocka_unit_test(obj_polygons),
        cmocka_unit_test(obj_refused),
        cmocka_unit_test(obj_concave_faces_have_a_limit),
        cmocka_unit_test(ply_ascii),
        cmocka_unit_test(ply_binary),
        cmocka_unit_test(ply_refused),
        cmocka_unit_test(stl_ascii),
        cmocka_unit_test(stl_binary),
        cmocka_unit_test(stl_refused),
        cmocka_unit_test(written_and_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
