/* A stroke font of our own: each glyph is a few polylines, drawn with round ends by image.c. */
#ifndef TL_RENDER_FONT_H
#define TL_RENDER_FONT_H

#define TL_FONT_CAP 70 /* units from the base line to the top of capitals; small letters reach 48, tails -20 */

/* "x,y x,y ..." in units, y up from the base line; '|' lifts the pen; a stroke that opens with '~' is a smooth curve
 * through its points. advance: units to the next glyph's origin. Codes outside 32..126 give a box. */
const char *tl_font_glyph(int code, int *advance);

#endif
