/* Small text helpers. */
#ifndef TL_BASE_TEXT_H
#define TL_BASE_TEXT_H

#include <locale.h>

/* The entry of `names` (ended by NULL) with the least edit distance to `word`, if it is at most a
 * third of the word's length plus one; else NULL. Earlier entries win ties. */
const char *tl_text_nearest(const char *word, const char *const *names);

/* printf and strtod use the point for the duration, in this thread, whatever the program's locale. */
typedef struct tl_c_numbers {
    locale_t mine, before;
} tl_c_numbers;

tl_c_numbers tl_c_numbers_begin(void);
void tl_c_numbers_end(tl_c_numbers c);

#endif
