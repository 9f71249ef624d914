/* joints.csv of a run, read back: in which frame each joint was first seen broken. Joints break for good. */
#ifndef TL_IO_JOINT_TABLE_H
#define TL_IO_JOINT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* broke [joints]: INT64_MAX where it never did. A file that is not there says nothing; half a last line is left out. */
talus_status tl_joint_table_read(const char *path, int joints, int64_t *broke, talus_error *err);

#endif
