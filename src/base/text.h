/* Small text helpers. */
#ifndef TL_BASE_TEXT_H
#define TL_BASE_TEXT_H

/* The entry of `names` (ended by NULL) with the least edit distance to `word`, if it is at most a
 * third of the word's length plus one; else NULL. Earlier entries win ties. */
const char *tl_text_nearest(const char *word, const char *const *names);

#endif
