/* Fluid at t = 0. */
#include <string.h>

#include "base/alloc.h"
#include "geom/surface.h"
#include "model/sph/sph.h"

static talus_status add_fill(tl_sph_state *out, const tl_sph *c, const tl_scene *s, int k, talus_error *err)
{
    static const tl_filling how[] = {TL_FILL_LATTICE, TL_FILL_JITTER, TL_FILL_BLUE_NOISE};
    const tl_fill *f = &s->fills[k];
    if (f->spacing > 0 && f->spacing != c->h)
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "%.120s:%d: spacing is %g m, but all particles of a scene are sph.spacing = %g m apart",
                       f->where.file ? f->where.file : "scene", f->where.line, f->spacing, c->h);
    tl_points p;
    TL_TRY(tl_sample_volume(s->shapes, f->shape, c->h, 0, how[f->sampling], (uint64_t)s->seed + (uint64_t)k, &p, err));
    int64_t want = out->count + p.count;
    talus_status status = want > INT32_MAX / 8
                              ? TL_FAIL(err, TALUS_BAD_INPUT, "%lld fluid particles are too many", (long long)want)
                              : tl_sph_state_reserve(out, want, 0, err);
    for (int32_t i = 0; status == TALUS_OK && i < p.count; i++)
        out->particle[out->count + i] =
            (tl_sph_particle){.x = p.at[i], .v = f->velocity, .id = (int32_t)out->count + i, .material = f->material};
    if (status == TALUS_OK) out->count = want;
    tl_points_free(&p);
    return status;
}

static talus_status begin(tl_sph_state *out, const tl_sph *c, const tl_scene *s, talus_error *err)
{
    out->counters = 1;
    out->emitters = s->emitter_count;
    out->counter = TL_NEW_ZERO(tl_sph_counters, 1);
    out->emitter = TL_NEW_ZERO(tl_sph_emitter, s->emitter_count + 1);
    if (!out->counter || !out->emitter) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for fluid");
    TL_TRY(tl_sph_state_reserve(out, 0, 0, err));
    for (int k = 0; k < s->fill_count; k++) TL_TRY(add_fill(out, c, s, k, err));
    out->counter->next_id = out->count;
    return TALUS_OK;
}

talus_status tl_sph_state_begin(tl_sph_state *out, const tl_sph *c, const tl_scene *s, talus_error *err)
{
    *out = (tl_sph_state){0};
    talus_status status = begin(out, c, s, err);
    if (status != TALUS_OK) tl_sph_state_free(out);
    return status;
}
