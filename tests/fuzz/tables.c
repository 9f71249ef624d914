/* Any bytes as bodies.csv: read back frame by frame, and cut as --resume does. */
#include "fuzz_file.h"
#include "io/body_table.h"
#include "io/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    talus_error err = {0};
    const char *path = fuzz_file(data, size);
    for (int bodies = 1; bodies < 3; bodies++) {
        tl_body_table *t;
        tl_body_row rows[3];
        double time;
        if (tl_body_table_open(&t, path, bodies, &err) != TALUS_OK) continue;
        for (int64_t i = 0; i < tl_body_table_frames(t) && i < 100; i++)
            (void)tl_body_table_read(t, i, &time, rows, &err);
        tl_body_table_close(t);
    }
    int64_t found;
    (void)tl_csv_cut(path, 3, &found, &err);
    return 0;
}
