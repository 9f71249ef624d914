/* A seal in front of our HDF5 files: length and hash of all that follows, checked before HDF5 reads a byte.
 *
 * HDF5 notices most damage by itself, but some of it only after its own structures were confused
 * (1.10.8 then complains on stderr when the program ends). With the seal a cut or altered file is
 * refused at once. It lies in HDF5's user block, the first 512 bytes, as text that `head` shows;
 * other HDF5 tools skip it. Files made by other tools have none and are read without. The seal
 * tells accidents, not forgeries: anyone can compute it. */
#ifndef TL_IO_SEAL_H
#define TL_IO_SEAL_H

#include "base/status.h"

#define TL_SEAL_BYTES 512 /* the smallest user block */

/* Fill the user block of a closed file. `name` is what messages call it. */
talus_status tl_seal_write(const char *path, const char *name, talus_error *err);

/* TALUS_OK when the seal matches or the file begins with the HDF5 signature, which means no seal. One
 * pass over the file, at the speed of reading it. */
talus_status tl_seal_check(const char *path, talus_error *err);

#endif
