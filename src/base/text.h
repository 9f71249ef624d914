/* Small text helpers. */
#ifndef TL_BASE_TEXT_H
#define TL_BASE_TEXT_H

#include <locale.h>
#include <stddef.h>

/* Bytes of the UTF-8 character at `s`, 0 when it is none. */
int tl_text_character(const char *s);

/* A copy that is safe on a terminal and in a line of text: control characters, what is no UTF-8 and characters that
 * turn the direction of writing become \n, \t, \x1b, \u202e. Cut where room ends, never inside of a character.
 * Returns the bytes of the copy without its 0. */
size_t tl_text_quote(char *out, size_t room, const char *text);

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
