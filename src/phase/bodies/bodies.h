/* Phases that every step with rigid bodies has: velocities without contacts, contacts found and written as a problem,
 * places, second looks, overlaps, bounces, what is remembered. Who finds the contact forces, alone or together with
 * what flows, is the step's.
 *
 * tl_bodies holds what one step derives, grouped by the phase that writes it; all of it lives in the step's arena. Only
 * tl_bodies_commit writes the state. */
#ifndef TL_PHASE_BODIES_BODIES_H
#define TL_PHASE_BODIES_BODIES_H

#include "model/rigid/contacts.h"
#include "phase/rigid/rigid.h"
#include "solve/contact/method.h"

typedef enum tl_bodies_phase {
    TL_BODIES_PREDICT,
    TL_BODIES_DETECT,
    TL_BODIES_ASSEMBLE,
    TL_BODIES_SOLVE,
    TL_BODIES_MOVE,
    TL_BODIES_LOOK,
    TL_BODIES_BOUNCE,
    TL_BODIES_STABILISE,
    TL_BODIES_PHASES
} tl_bodies_phase;

/* On the wall clock, and of all threads. */
typedef struct tl_spent {
    double seconds, cpu;
} tl_spent;

/* Of a mechanism: kg, kg m, kg m^2 about the origin. */
typedef struct tl_joint_mass {
    double mass, second;
    tl_vec3 first;
} tl_joint_mass;

typedef struct tl_bodies {
    tl_sim *sim;
    const tl_scene *scene;
    const tl_rigid *rigid;
    const tl_rigid_data *data;
    tl_arena *arena;
    double dt;
    /* begin; where joints hold elastic bodies, their frames come behind the bodies in before, body, act, v_free, v, inv_mass
     * and inv_inertia: nothing but nodes moves them */
    tl_motion *before; /* [count] start of the step, walls included */
    tl_motion *body;   /* [count] the state that is to be */
    tl_pose *pose;     /* [count] of the shapes' frames at the start */
    bool flows;        /* set by a step whose solve has more in it than contacts and joints */
    bool straight;     /* set by a step whose constraints are told that places are x + dt v: no parabola in free fall */
    /* predict */
    double *friction;    /* [count] each one's own */
    double *v_free;      /* [6 count] */
    double *levers;      /* [3 count] N m s: of bounces, whose levers are others than those of their points */
    double *v_asked;     /* [6 count] the same before what ran into bodies pushed them; NULL: nothing did */
    double *inv_mass;    /* [count] */
    double *inv_inertia; /* [count][9] */
    double tolerance;    /* m/s */
    double pull;         /* m/s: what forces, motors and springs change of a velocity in this step, at most: g dt */
    double least;        /* m/s: the least that it can be, whatever the speeds */
    /* rest */
    bool *resting; /* [count] bodies that keep everything; NULL: the phase is not asked for */
    double aim;    /* m/s: written by assemble; what the solver goes on to where that is cheap */
    /* detect, match */
    tl_rigid_view view;
    tl_rigid_contacts contacts;
    double *lam; /* [3 contacts] N s; the step's solver goes on from here */
    /* halfway */
    const tl_motion *act; /* [count] where impulses act, with the velocities just before: the start, or half-way */
    struct {
        bool any;
        bool *on;        /* [count] bodies on which impulses act half-way; NULL before the phase */
        bool *refused;   /* [count] islands, by root, for which that is not */
        bool *barred;    /* [count] set by a step: their islands have none, others only with joints. NULL: all may */
        double *given;   /* [count] J that what bars them gave, before tl_bodies_bound */
        int32_t *island; /* [count] free bodies by their root */
        double *early;   /* [6 count] velocities just before the impulses; those of others with gravity and forces */
        tl_pose *pose;   /* [count] half-way */
        double *gain;    /* [count] by island: what contacts add to its energy, J */
        double *v_free, *inv_inertia; /* of the start, as all points of it */
        tl_rigid_contacts contacts;
        bool stops;                /* something was stopped at the start: */
        tl_rigid_contacts stopped; /* points of the start with an impact that ends there, and its impulses, */
        double *lam;               /* [3 stopped] N s, then those of joint.stop */
    } half;
    /* joints: begin, and each phase that has to do with them */
    struct {
        tl_joint_memory *now;   /* [joints] what is to be; NULL: there are none */
        tl_motor_ask *ask;      /* [joints] */
        int32_t *first;         /* [joints + 1] blocks; broken ones have none */
        double *start;          /* [joints][TL_JOINT_ROWS] m: where rows start, put right for how they curve */
        double *speed;          /* [3 blocks] m/s: just before the impulses */
        double *lam;            /* [3 blocks] N s */
        tl_joint_blocks blocks; /* where impulses act */
        tl_joint_blocks stop;   /* at the start, for what is stopped there */
        bool *taut;             /* [joints][TL_JOINT_ROWS] limits that pushed in the last step and still touch: holds */
        bool *mean;             /* [joints][TL_JOINT_ROWS] what gives slowly: half-way, by the mean place */
        int32_t *root;          /* [count] mechanisms, by a free body, */
        tl_joint_mass *whole;   /* [count] and what each weighs, at its root */
        double late_limits, late_motors; /* J: what impulses of the end took there, and gave */
        tl_joint_blocks impact;          /* where bodies have landed, for a bounce; empty: there was none */
        double *impact_lam;              /* [3 blocks] N s */
        double impact_motors;            /* J: what motors gave in it */
        bool *struck;                    /* [joints] of islands that an impact reached; NULL: none */
        double *late;                    /* [3 blocks] N s: of the end, that make velocities fit */
        tl_joint_blocks end;             /* where those act */
        double *did;                     /* [joints] J: what rows that do not hold gave to bodies */
        double off;                      /* m: what places are off by at the end; */
        double best_off;                 /* the least so far, */
        double *used, *best;             /* [joints][TL_JOINT_ROWS] `start` of this round and of that one; */
        bool last;                       /* which is the last */
        double missed;                   /* m/s: off over the step where it is more than it may be */
    } joint;
    /* assemble */
    bool resists; /* set by a step that solves rolling and spinning friction too */
    tl_rigid_resist resist;
    double *resist_lam; /* [3 resist] N s */
    tl_rigid_problem p;
    /* written by the step's solver: velocities with all forces */
    double *v;               /* [6 count] */
    tl_rigid_memory *memory; /* room for the points that the next step starts from; make_room */
    /* bounce: points where bodies have landed, and their impulses; none where nothing bounced */
    struct {
        tl_rigid_contacts points;
        double *lam; /* [3 points] N s */
    } bounce;
    /* find_depth */
    double penetration; /* m, deepest overlap of two shapes at the end of the step */
    /* accounts: what was told of so far */
    struct {
        double potential, kinetic; /* springs of joints are part of the first */
        double held;               /* J that rows of joints that hold, and springs, gave to bodies */
        double others;             /* J that other impulses than contacts gave to bodies */
    } account;
    tl_spent spent[TL_BODIES_PHASES], mark;
} tl_bodies;

static inline bool tl_bodies_is_free(const tl_bodies *s, int32_t i)
{
    return i >= 0 && i < s->rigid->count && s->rigid->body[i].kind == TL_BODY_FREE;
}

void tl_bodies_lap(tl_bodies *s, tl_bodies_phase phase); /* what was spent since the last lap goes to `phase` */
void tl_bodies_lap_to(tl_bodies *s, tl_spent *spent);    /* or to a phase of the step's own */

talus_status tl_bodies_begin(tl_bodies *s, tl_sim *sim, const tl_rigid_data *data, double dt, talus_error *err);
/* v_free = v + dt (gravity, forces); scripted bodies get the velocity that leads exactly to their pose. Functions of
 * time are read here and nowhere else. */
talus_status tl_bodies_predict(tl_bodies *s, talus_error *err);
/* Islands at rest that nothing comes near have no part in the step (rest.c). */
talus_status tl_bodies_rest(tl_bodies *s, talus_error *err);
/* The last phase before commit: islands that did not move by anything that counts get velocities of 0, if all was
 * `solved`. */
talus_status tl_bodies_settle(tl_bodies *s, bool solved, talus_error *err);
talus_status tl_bodies_detect(tl_bodies *s, talus_error *err); /* points that may touch within dt */
/* Islands that turn and have no impact: their contacts are looked for half-way, where their impulses act
 * (halfway.c). From then on these are the step's. Matches them, as the next one does. `any`: an approach of the
 * start was stopped, `solved` tells how it went. */
talus_status tl_bodies_halfway(tl_bodies *s, tl_contact_report *solved, bool *any, talus_error *err);
/* After the solve: impulses that an impact has are not such an island's, and its contacts may not add energy.
 * `again`: they did, contacts are to be assembled and solved again. */
talus_status tl_bodies_halfway_check(tl_bodies *s, tl_contact_report *solved, bool *again, talus_error *err);
/* Islands with points that a second look has added are not such; tells whether there are any. Then the phase is to
 * be done again. */
bool tl_bodies_halfway_refuse(tl_bodies *s, const tl_rigid_contacts *c, const int32_t *from);
talus_status tl_bodies_match(tl_bodies *s, talus_error *err); /* impulses of the last step, by position */
talus_status tl_bodies_assemble(tl_bodies *s, talus_error *err);
/* Joints (joints.c): where they are and what motors are asked for, after predict; their rows, for assemble; after the
 * move, whether places are right or the step is to be solved once more; velocities that fit the places of the end,
 * after all else; the state. */
talus_status tl_bodies_joints_begin(tl_bodies *s, talus_error *err);
double tl_bodies_joints_pull(const tl_bodies *s); /* m/s: what motors and springs change of velocities in this step */
talus_status tl_bodies_joints_assemble(tl_bodies *s, talus_error *err);
void tl_bodies_joints_place(tl_bodies *s, int round, bool *again);
/* Of that the first half alone: rows start from where bodies are now led; whether places were right. */
bool tl_bodies_joints_look(tl_bodies *s);
/* After the last move: what rows that do not hold gave to bodies (joint.did). */
talus_status tl_bodies_joints_work(tl_bodies *s, talus_error *err);
/* Rows where bodies have landed, with what each may do in an impact. */
talus_status tl_bodies_joints_land(tl_bodies *s, tl_joint_blocks *out, talus_error *err);
/* Where something flows a step is solved once, and then joints alone until places are right, all other impulses as
 * they are: what those rounds change is what turning bodies add to a straight row, of the second order in the step. */
talus_status tl_bodies_joints_settle(tl_bodies *s, bool *again, talus_error *err);
/* Impulses of contacts and joints as one problem has them, in the arena; and back. */
talus_status tl_bodies_join_impulses(tl_bodies *s, double **lam, talus_error *err);
void tl_bodies_part_impulses(tl_bodies *s, const double *lam);
talus_status tl_bodies_joints_end(tl_bodies *s, talus_error *err);
void tl_bodies_joints_commit(const tl_bodies *s);
/* Velocities of the start, v [6 count], that joints of islands half-way forbid: off by more than the tolerance. Speeds
 * of scripted bodies may jump; that is theirs. */
bool tl_bodies_joints_forbid(const tl_bodies *s, const double *v);
/* Row r of joint k does no work but that of the time step's error: it holds, or is a limit that went on holding. */
bool tl_bodies_joint_holds(const tl_bodies *s, int32_t k, int r);
/* J: what dampers of joint k took, where impulses act. */
double tl_bodies_joint_damped(const tl_bodies *s, int32_t k);
/* Radii of rolling and spinning friction follow the normal forces found; `change`, m/s: what that changes. Above the
 * tolerance the problem is to be solved again. */
double tl_bodies_update_resist(tl_bodies *s);
/* Fails where places x or velocities v [nodes][3] of elastic nodes are no numbers: body "NAME" became NaN or
 * infinite in PHASE, with both; tl_bodies_move says the same of rigid bodies. `again`: a shorter step may help. */
talus_status tl_bodies_check_nodes(const tl_lg *lg, const char *phase, const double *x, const double *v, bool *again,
                                   talus_error *err);
/* Frames of all shapes, [count] in the arena: where bodies are now; or at the end of the step, as if nothing touched
 * free ones (v NULL) or with velocities v [6 count]. */
talus_status tl_bodies_poses(const tl_bodies *s, const tl_pose **out, talus_error *err);
talus_status tl_bodies_poses_ahead(const tl_bodies *s, const double *v, const tl_pose **out, talus_error *err);
bool tl_bodies_flies(const tl_bodies *s, int32_t i); /* nothing touched it: it falls on a parabola */
/* Places and rotations from v. `again`: a body became NaN or infinite, a shorter step may help. */
talus_status tl_bodies_move(tl_bodies *s, bool *again, talus_error *err);
/* Points that moved into each other unseen become contacts of the start; `more` tells whether there are any. `looks`
 * before this one: after a few, bodies that still end up deep inside of each other ask for a shorter step (`again`),
 * others are left to the stabiliser. */
talus_status tl_bodies_look_again(tl_bodies *s, int looks, bool *more, bool *again, talus_error *err);
/* Another velocity of body i by a rule that is no contact and no joint: told as a correction. */
void tl_bodies_correct(tl_bodies *s, int32_t i, tl_vec3 v, tl_vec3 w);
talus_status tl_bodies_make_room(tl_bodies *s, talus_error *err); /* for what commit writes */
/* Overlaps deeper than the slop are pushed out: places only. */
talus_status tl_bodies_stabilise(tl_bodies *s, talus_error *err);
/* Islands have at most the energy that they had: what moving and pushing gave them is taken from their velocities
 * (bound.c); `joined`: those with joints, after tl_bodies_joints_end, else all others. */
talus_status tl_bodies_bound(tl_bodies *s, bool joined, talus_error *err);
/* Bodies that came together faster than resting ones do part again, by impulses of contacts alone, with e^2 of the
 * energy that the landing took (bounce.c); `any` tells whether there were such, `solved` how it went. They have
 * landed already: places keep the velocities without the bounce. */
talus_status tl_bodies_bounce(tl_bodies *s, tl_contact_report *solved, bool *any, talus_error *err);

/* How deep shapes are in each other where they end up, for the report: the last phase that looks at places. */
talus_status tl_bodies_find_depth(tl_bodies *s, talus_error *err);

/* Of all points, m, at the end of the step. Returns the least. */
double tl_bodies_end_gaps(const tl_bodies *s, double *gap);
/* Normal velocity when the point touched, from that of the start and its change under gravity and forces; positive:
 * it did not. v [6 count] of the start. */
double tl_bodies_impact_speed(const tl_bodies *s, const tl_rigid_point *p, const double *v);
double tl_bodies_resting_speed(const tl_bodies *s); /* m/s: slower approaches are rest, faster ones impacts */

/* Adds energies and momenta, and bodies that are outside, to a report. */
void tl_bodies_measure(const tl_bodies *s, tl_report *r);
/* Then those of elastic nodes; x, v, p [nodes][3], p: momentum per mass. */
void tl_bodies_measure_nodes(const tl_bodies *s, const double *x, const double *v, const double *p, tl_report *r);
/* The same, and phases and contacts. */
void tl_bodies_report(const tl_bodies *s, tl_report *r);
void tl_bodies_commit(tl_bodies *s);
/* Where a step has contacts of its own kind: motions, and the points that it shows (room reserved). */
void tl_bodies_commit_shown(tl_bodies *s, int64_t count, const tl_rigid_memory *contact);
/* After that: force f at a point of body a, its opposite on b, added to what tables show; walls and -1 are nobody. */
static inline void tl_bodies_add_contact(const tl_bodies *s, int32_t a, int32_t b, tl_vec3 at, tl_vec3 f)
{
    const int32_t side[2] = {a, b};
    for (int e = 0; e < 2; e++) {
        if (side[e] < 0 || side[e] >= s->rigid->scene_count) continue;
        tl_motion *m = &s->sim->state.rigid.body[side[e]];
        tl_vec3 lever = tl_vec3_sub(at, s->before[side[e]].x);
        m->contact_force = tl_vec3_add_scaled(m->contact_force, e ? -1 : 1, f);
        m->contact_torque = tl_vec3_add_scaled(m->contact_torque, e ? -1 : 1, tl_vec3_cross(lever, f));
    }
}

#endif
