#include "model/lg/bilateral.h"

talus_status tl_lg_bilateral_rows(const tl_lg *lg, const tl_scene *s, double t, const double *q, tl_arena *a,
                                  tl_lg_bilaterals *out, talus_error *err)
{
    (void)lg, (void)s, (void)t, (void)q, (void)a, (void)err;
    *out = (tl_lg_bilaterals){0};
    return TALUS_OK;
}
