/* A small XML reader for robot files: elements and attributes with their lines.
 *
 * What such files need and no more: names, attributes in either kind of quotes, comments, processing instructions and
 * CDATA (skipped), the five entities of the standard. A DOCTYPE and every other entity are refused, so nothing can
 * grow while it is read. Text between elements has no meaning here and is not kept. Depth, count of elements and count
 * of attributes are bounded. */
#ifndef TL_SCENE_XML_H
#define TL_SCENE_XML_H

#include <stdbool.h>

#include "base/arena.h"

#define TL_XML_DEPTH 64
#define TL_XML_ELEMENTS 20000
#define TL_XML_ATTRIBUTES 64 /* of one element */
#define TL_XML_NAME 64       /* longest name, bytes */

typedef struct tl_xml_attribute {
    const char *name, *value;
    bool used; /* somebody asked for it */
    struct tl_xml_attribute *next;
} tl_xml_attribute;

typedef struct tl_xml {
    const char *name;
    int line;   /* of its "<" */
    int number; /* in the order of the file, from 0 */
    bool used;
    int attribute_count;
    tl_xml_attribute *attributes, *last_attribute;
    struct tl_xml *parent, *child, *last, *next;
} tl_xml;

/* The root element; everything is the arena's. On failure *line says where. */
talus_status tl_xml_parse(tl_xml **root, const char *text, size_t bytes, tl_arena *a, int *line, talus_error *err);

/* An attribute's value, NULL: it has none. The attribute is then one that was used. */
const char *tl_xml_get(const tl_xml *e, const char *name);
/* The first child of this name, and the next of the same name after one; these are then used. NULL: none. */
tl_xml *tl_xml_child(const tl_xml *e, const char *name);
tl_xml *tl_xml_again(const tl_xml *e);
void tl_xml_use_all(tl_xml *e); /* it, its attributes and all inside */

#endif
