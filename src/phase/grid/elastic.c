/* Elastic bodies in a step in which something flows. */
#include <math.h>
#include <string.h>

#include "phase/grid/trial.h"

talus_status tl_grid_solve_elastic(tl_grid_trial *s, bool *again, talus_error *err)
{
    tl_elastic_trial *e = s->soft;
    for (bool more = true, end = false; more || !end; e->looks += more) {
        end |= !more || e->looks == TL_ELASTIC_LOOKS;
        TL_TRY(tl_elastic_newton(e, end ? e->tolerance : TL_ELASTIC_EARLY_LOOK * e->tolerance, again, err));
        more = false;
        if (e->looks < TL_ELASTIC_LOOKS) TL_TRY(tl_elastic_look_again(e, &more, err));
    }
    tl_elastic_hand_over(e);
    tl_grid_lap(s, TL_GRID_SOLVE); /* what moves bodies laps for itself */
    TL_TRY(tl_bodies_move(&s->b, again, err));
    TL_TRY(tl_bodies_joints_settle(&s->b, again, err));
    memcpy(e->v_rigid, s->b.v, sizeof *s->b.v * 6 * (size_t)s->b.rigid->count);
    tl_elastic_end_nodes(e);
    tl_elastic_riders_end(e, e->load);
    tl_grid_lap(s, TL_GRID_SOLVE);
    if (isfinite(s->wet->solved.certificate.pressure)) return TALUS_OK;
    *again = true;
    return TL_FAIL(err, TALUS_NOT_DEFINITE, "velocities became NaN or infinite in scheme \"%s\"",
                   tl_dual_scheme_name(s->data->dual));
}

talus_status tl_grid_end_elastic(tl_grid_trial *s, talus_error *err)
{
    tl_elastic_trial *e = s->soft;
    const tl_pose *end;
    TL_TRY(tl_elastic_remember(e, err));
    TL_TRY(tl_bodies_poses(&s->b, &end, err));
    e->view.from = e->view.to = e->x_end;
    e->view.before = e->view.after = end;
    TL_TRY(tl_lg_depth(&e->view, s->arena, &e->depth, err));
    tl_elastic_place_bodies(e);
    return TALUS_OK;
}
