/* The state of a run of several parts as a whole: for files, and from them. */
#include "base/alloc.h"
#include "base/hash.h"
#include "phase/sim.h"

talus_status tl_sim_collect(tl_sim *sim, tl_state *whole, int64_t *cut, talus_error *err)
{
    *whole = (tl_state){0};
    int64_t *own = TL_NEW_ZERO(int64_t, tl_cut_length(sim->comm ? sim->comm->parts : 1));
    talus_status status = own ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the parts of a run");
    if (status == TALUS_OK && (!sim->comm || sim->comm->part == 0)) status = tl_state_copy(whole, &sim->state, err);
    status = tl_comm_agree(sim->comm, status, err);
    if (status == TALUS_OK && sim->comm) status = sim->engine->parts->collect(sim, whole, cut ? cut : own, err);
    tl_free(own);
    if (status != TALUS_OK) tl_state_free(whole);
    return status;
}

talus_status tl_sim_deal(tl_sim *sim, const tl_state *whole, const int64_t *cut, talus_error *err)
{
    talus_status status = TALUS_OK;
    if (!sim->comm || sim->comm->part == 0) status = tl_state_copy(&sim->state, whole, err);
    TL_TRY(tl_comm_agree(sim->comm, status, err));
    if (!sim->comm) return TALUS_OK;
    TL_TRY(tl_state_tell(&sim->state, sim->comm, err));
    return sim->engine->parts->deal(sim, whole, cut, err);
}

uint64_t tl_sim_hash(const tl_sim *sim)
{
    uint64_t mine = tl_state_hash(&sim->state), all[TL_COMM_PARTS_MAX];
    if (!sim->comm) return mine;
    tl_comm_share(sim->comm, sizeof mine, &mine, all);
    return tl_hash(TL_HASH_START, all, sizeof mine * (size_t)sim->comm->parts);
}
