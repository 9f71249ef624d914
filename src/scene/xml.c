#include "scene/xml.h"

#include <string.h>

typedef struct parser {
    const char *text;
    size_t bytes, at;
    int line, count, depth;
    tl_arena *arena;
    tl_xml *open, *root; /* the innermost element that has not ended */
    talus_error *err;
} parser;

static talus_status no_memory(parser *p) { return TL_FAIL(p->err, TALUS_NO_MEMORY, "no memory for an XML file"); }
static char peek(const parser *p) { return p->at < p->bytes ? p->text[p->at] : 0; }
static bool at_end(const parser *p) { return p->at >= p->bytes; }

static void step(parser *p)
{
    if (p->text[p->at] == '\n') p->line++;
    p->at++;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static void skip_space(parser *p)
{
    while (!at_end(p) && is_space(peek(p))) step(p);
}

static bool begins(const parser *p, const char *word)
{
    const size_t n = strlen(word);
    return p->bytes - p->at >= n && !memcmp(p->text + p->at, word, n);
}

/* Past the end of what `word` closes. */
static talus_status skip_past(parser *p, const char *word, const char *what)
{
    while (!at_end(p) && !begins(p, word)) step(p);
    if (at_end(p)) return TL_FAIL(p->err, TALUS_BAD_INPUT, "%s does not end", what);
    p->at += strlen(word);
    return TALUS_OK;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':'; }
static bool is_name(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.'; }

static talus_status read_name(parser *p, const char *what, const char **out)
{
    const size_t from = p->at;
    if (!is_letter(peek(p))) return TL_FAIL(p->err, TALUS_BAD_INPUT, "%s must begin with a letter", what);
    while (is_name(peek(p))) p->at++;
    const size_t n = p->at - from;
    if (n > TL_XML_NAME) return TL_FAIL(p->err, TALUS_BAD_INPUT, "%s has more than %d letters", what, TL_XML_NAME);
    char *name = tl_arena_take_zero(p->arena, n + 1);
    if (!name) return no_memory(p);
    memcpy(name, p->text + from, n);
    *out = name;
    return TALUS_OK;
}

/* One of the five entities, at "&". */
static talus_status read_entity(parser *p, char *out)
{
    static const struct {
        const char *text;
        char is;
    } known[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (begins(p, known[i].text)) {
            *out = known[i].is;
            p->at += strlen(known[i].text);
            return TALUS_OK;
        }
    return TL_FAIL(p->err, TALUS_BAD_INPUT, "an entity other than &lt; &gt; &amp; &quot; &apos; is not read");
}

static talus_status read_value(parser *p, const char *name, const char **out)
{
    const char quote = peek(p);
    if (quote != '"' && quote != '\'')
        return TL_FAIL(p->err, TALUS_BAD_INPUT, "the value of attribute %s must be in quotes", name);
    const size_t from = ++p->at;
    const char *end = memchr(p->text + from, quote, p->bytes - from);
    if (!end) return TL_FAIL(p->err, TALUS_BAD_INPUT, "the value of attribute %s does not end", name);
    char *value = tl_arena_take_zero(p->arena, (size_t)(end - p->text) - from + 1), *to = value;
    if (!value) return no_memory(p);
    while (p->text + p->at < end) {
        const char c = peek(p);
        if (c == '<') return TL_FAIL(p->err, TALUS_BAD_INPUT, "attribute %s has a < in its value", name);
        if (c == '&') {
            TL_TRY(read_entity(p, to++));
            continue;
        }
        *to++ = is_space(c) ? ' ' : c;
        step(p);
    }
    p->at++;
    *out = value;
    return TALUS_OK;
}

static talus_status read_attribute(parser *p, tl_xml *e)
{
    tl_xml_attribute *a = TL_TAKE_ZERO(p->arena, tl_xml_attribute, 1);
    if (!a) return no_memory(p);
    TL_TRY(read_name(p, "the name of an attribute", &a->name));
    for (const tl_xml_attribute *b = e->attributes; b; b = b->next)
        if (!strcmp(a->name, b->name))
            return TL_FAIL(p->err, TALUS_BAD_INPUT, "<%s> has attribute %s twice", e->name, a->name);
    if (++e->attribute_count > TL_XML_ATTRIBUTES)
        return TL_FAIL(p->err, TALUS_BAD_INPUT, "<%s> has more than %d attributes", e->name, TL_XML_ATTRIBUTES);
    skip_space(p);
    if (peek(p) != '=') return TL_FAIL(p->err, TALUS_BAD_INPUT, "attribute %s must have a value", a->name);
    p->at++;
    skip_space(p);
    TL_TRY(read_value(p, a->name, &a->value));
    *(e->last_attribute ? &e->last_attribute->next : &e->attributes) = a;
    e->last_attribute = a;
    return TALUS_OK;
}

static talus_status hang(parser *p, tl_xml *e)
{
    if (!p->open && p->root)
        return TL_FAIL(p->err, TALUS_BAD_INPUT, "<%s> stands after the end of <%s>", e->name, p->root->name);
    e->parent = p->open;
    if (p->open) *(p->open->last ? &p->open->last->next : &p->open->child) = e, p->open->last = e;
    if (!p->root) p->root = e;
    return TALUS_OK;
}

/* <name a="b"> or <name a="b"/> */
static talus_status read_start(parser *p)
{
    tl_xml *e = TL_TAKE_ZERO(p->arena, tl_xml, 1);
    if (!e) return no_memory(p);
    e->line = p->line;
    e->number = p->count;
    if (++p->count > TL_XML_ELEMENTS)
        return TL_FAIL(p->err, TALUS_BAD_INPUT, "the file has more than %d elements", TL_XML_ELEMENTS);
    p->at++;
    TL_TRY(read_name(p, "the name of an element", &e->name));
    TL_TRY(hang(p, e));
    for (;;) {
        const bool space = is_space(peek(p));
        skip_space(p);
        if (at_end(p)) return TL_FAIL(p->err, TALUS_BAD_INPUT, "<%s> does not end", e->name);
        if (begins(p, "/>")) {
            p->at += 2;
            return TALUS_OK;
        }
        if (peek(p) == '>') break;
        if (!space) return TL_FAIL(p->err, TALUS_BAD_INPUT, "<%s> must have a space before an attribute", e->name);
        TL_TRY(read_attribute(p, e));
    }
    p->at++;
    if (++p->depth > TL_XML_DEPTH)
        return TL_FAIL(p->err, TALUS_BAD_INPUT, "elements are nested deeper than %d", TL_XML_DEPTH);
    p->open = e;
    return TALUS_OK;
}

/* </name> */
static talus_status read_stop(parser *p)
{
    const char *name;
    p->at += 2;
    TL_TRY(read_name(p, "the name of an element", &name));
    skip_space(p);
    if (peek(p) != '>') return TL_FAIL(p->err, TALUS_BAD_INPUT, "</%s must end with >", name);
    p->at++;
    if (!p->open) return TL_FAIL(p->err, TALUS_BAD_INPUT, "</%s> ends what never began", name);
    if (strcmp(name, p->open->name))
        return TL_FAIL(p->err, TALUS_BAD_INPUT, "</%s> ends <%s> of line %d", name, p->open->name, p->open->line);
    p->open = p->open->parent;
    p->depth--;
    return TALUS_OK;
}

static talus_status read_piece(parser *p)
{
    if (begins(p, "<!--")) return skip_past(p, "-->", "a comment");
    if (begins(p, "<?")) return skip_past(p, "?>", "<?");
    if (begins(p, "<![CDATA[") && p->open) return skip_past(p, "]]>", "CDATA");
    if (begins(p, "<!")) return TL_FAIL(p->err, TALUS_BAD_INPUT, "DOCTYPE and other declarations are not read");
    if (begins(p, "</")) return read_stop(p);
    if (peek(p) == '<') return read_start(p);
    if (!p->open && !is_space(peek(p)))
        return TL_FAIL(p->err, TALUS_BAD_INPUT,
                       p->root ? "there is text after the last element" : "this is not XML: it must begin with <");
    char c;
    if (peek(p) == '&') return read_entity(p, &c);
    step(p);
    return TALUS_OK;
}

static talus_status parse(parser *p)
{
    if (memchr(p->text, 0, p->bytes)) return TL_FAIL(p->err, TALUS_BAD_INPUT, "the file has a byte 0 in it");
    if (begins(p, "\xef\xbb\xbf")) p->at += 3;
    while (!at_end(p)) TL_TRY(read_piece(p));
    if (p->open) {
        const int begun = p->open->line;
        return TL_FAIL(p->err, TALUS_BAD_INPUT, "<%s> of line %d does not end", p->open->name, begun);
    }
    if (!p->root) return TL_FAIL(p->err, TALUS_BAD_INPUT, "the file has no element");
    return TALUS_OK;
}

talus_status tl_xml_parse(tl_xml **root, const char *text, size_t bytes, tl_arena *a, int *line, talus_error *err)
{
    parser p = {.text = text, .bytes = bytes, .line = 1, .arena = a, .err = err};
    *root = NULL;
    talus_status status = bytes ? parse(&p) : TL_FAIL(err, TALUS_BAD_INPUT, "the file is empty");
    *line = p.line;
    if (status == TALUS_OK) *root = p.root;
    return status;
}

const char *tl_xml_get(const tl_xml *e, const char *name)
{
    for (tl_xml_attribute *a = e->attributes; a; a = a->next)
        if (!strcmp(a->name, name)) {
            a->used = true;
            return a->value;
        }
    return NULL;
}

static tl_xml *named(tl_xml *e, const char *name)
{
    while (e && strcmp(e->name, name)) e = e->next;
    if (e) e->used = true;
    return e;
}

tl_xml *tl_xml_child(const tl_xml *e, const char *name) { return named(e->child, name); }
tl_xml *tl_xml_again(const tl_xml *e) { return named(e->next, e->name); }

void tl_xml_use_all(tl_xml *e)
{
    e->used = true;
    for (tl_xml_attribute *a = e->attributes; a; a = a->next) a->used = true;
    for (tl_xml *c = e->child; c; c = c->next) tl_xml_use_all(c); /* at most TL_XML_DEPTH deep */
}
