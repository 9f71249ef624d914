#include "base/text.h"

#include <stddef.h>
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
