/* Films through the ffmpeg program, when there is one. Frames go to it as they come, through a socket (a
 * program that uses the library keeps its own SIGPIPE habits); no shell is involved. */
#ifndef TL_RENDER_MP4_H
#define TL_RENDER_MP4_H

#include "render/image.h"

typedef struct tl_mp4 tl_mp4;

bool tl_mp4_available(void); /* is there an ffmpeg in PATH */

/* Without ffmpeg: TALUS_UNSUPPORTED, and the message says what to install. Sides must be even and at least 2. */
talus_status tl_mp4_begin(tl_mp4 **out, const char *path, int width, int height, double fps, talus_error *err);
talus_status tl_mp4_frame(tl_mp4 *f, const tl_image *m, talus_error *err); /* of exactly that size */
talus_status tl_mp4_end(tl_mp4 *f,
                        talus_error *err); /* waits for ffmpeg; the file is complete or absent; frees f in any case */
void tl_mp4_discard(tl_mp4 *f);            /* stops ffmpeg, leaves no file; NULL is fine */

#endif
