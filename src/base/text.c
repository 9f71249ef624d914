#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LONGEST 63 /* longer words are cut: nobody names a key like that */

static int edit_distance(const char *a, const char *b)
{
    int row[LONGEST + 1];
    size_t n = strlen(a), m = strlen(b);
    n = n < LONGEST ? n : LONGEST;
    m = m < LONGEST ? m : LONGEST;
    for (size_t j = 0; j <= m; j++) row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int above = row[j], swap = diagonal + (a[i - 1] != b[j - 1]);
            int gap = 1 + (above < row[j - 1] ? above : row[j - 1]);
            row[j] = swap < gap ? swap : gap;
            diagonal = above;
        }
    }
    return row[m];
}

const char *tl_text_nearest(const char *word, const char *const *names)
{
    const char *best = NULL;
    int least = (int)strlen(word) / 3 + 2;
    for (; *names; names++) {
        int d = edit_distance(word, *names);
        if (d < least) {
            least = d;
            best = *names;
        }
    }
    return best;
}

tl_c_numbers tl_c_numbers_begin(void)
{
    tl_c_numbers c = {newlocale(LC_ALL_MASK, "C", (locale_t)0), (locale_t)0};
    if (c.mine) c.before = uselocale(c.mine);
    return c;
}

void tl_c_numbers_end(tl_c_numbers c)
{
    if (!c.mine) return;
    uselocale(c.before);
    freelocale(c.mine);
}

int tl_text_character(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    int more = s[0] < 0x80                   ? 0
               : s[0] >= 0xc2 && s[0] < 0xe0 ? 1
               : (s[0] & 0xf0) == 0xe0       ? 2
               : s[0] >= 0xf0 && s[0] < 0xf5 ? 3
                                             : -1;
    for (int k = 1; k <= more; k++)
        if ((s[k] & 0xc0) != 0x80) return 0;
    if (more == 2 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)))
        return 0; /* overlong, surrogate */
    if (more == 3 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))) return 0;
    return more + 1;
}

/* U+2028 and U+2029 end lines, U+202A to U+202E and U+2066 to U+2069 turn the direction of writing; all are e2 80 ..
 * or e2 81 .. */
static bool misleads(const unsigned char *s)
{
    return s[0] == 0xe2 &&
           ((s[1] == 0x80 && s[2] >= 0xa8 && s[2] <= 0xae) || (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9));
}

/* One character as it is to appear; *used: bytes of the text that it stands for. */
static size_t quote_one(char out[8], const char *text, int *used)
{
    static const char from[] = "\n\t\r", into[] = "ntr";
    const unsigned char *s = (const unsigned char *)text;
    int length = tl_text_character(text);
    const char *known = strchr(from, *text);
    *used = length ? length : 1;
    if (known && *text) return (size_t)snprintf(out, 8, "\\%c", into[known - from]);
    if (length == 3 && misleads(s))
        return (size_t)snprintf(out, 8, "\\u20%02x", (unsigned)((s[1] & 3) << 6 | (s[2] & 0x3f)));
    if (length == 2 && s[0] == 0xc2 && s[1] < 0xa0) return (size_t)snprintf(out, 8, "\\x%02x", s[1]);
    if (!length || s[0] < 0x20 || s[0] == 0x7f) return (size_t)snprintf(out, 8, "\\x%02x", s[0]);
    memcpy(out, text, (size_t)length);
    return (size_t)length;
}

size_t tl_text_quote(char *out, size_t room, const char *text)
{
    size_t done = 0;
    while (*text && room) {
        char piece[8];
        int used;
        size_t n = quote_one(piece, text, &used);
        if (done + n >= room) break;
        memcpy(out + done, piece, n);
        done += n;
        text += used;
    }
    if (room) out[done] = '\0';
    return done;
}
