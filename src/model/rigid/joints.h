/* Joints: rows that hold two bodies together, limit how they move, or drive them.
 *
 * A joint is up to TL_JOINT_ROWS rows. Each says how fast something changes that it has a number for: a distance
 * along a direction, or an angle times a length that makes it metres. Both sides of a row act along one line (or with
 * opposite torques), so that a pair exchanges momentum and angular momentum to rounding. Only gears differ: their
 * axes are held by the world, which takes the rest.
 *
 * Rows of one joint come in a fixed order, those that hold first; in the contact problem they are blocks of three,
 * after all contacts. What a row asks for (tl_joint_law) depends on how the step moves bodies: places by the mean of
 * both velocities when impulses act half-way, by the new one when they act at the start. Targets, friction and gains
 * of motors are about velocities at the end of the step, springs about the mean.
 *
 * A side may be a region of an elastic body instead: a frame that follows its nodes (model/lg/grips.h). Frames have
 * places of their own behind the bodies in all arrays of motions and velocities that a step makes, and nothing moves
 * them but their nodes. */
#ifndef TL_MODEL_RIGID_JOINTS_H
#define TL_MODEL_RIGID_JOINTS_H

#include "model/rigid/rigid.h"
#include "model/state.h"

#define TL_JOINT_ROWS 9

typedef enum tl_row_law {
    TL_ROW_NONE,
    TL_ROW_HOLD,  /* x = 0 at the end of the step */
    TL_ROW_LIMIT, /* x >= 0 */
    TL_ROW_DRY,   /* friction against the speed of the end */
    TL_ROW_MOTOR,
    TL_ROW_SPRING
} tl_row_law;

/* Made from the scene, constant. */
typedef struct tl_joint {
    const tl_joint_spec *spec;
    int32_t a, b;                         /* bodies; b -1: the world; from rigid->count on: frames */
    bool soft[2];                         /* that side is such a frame */
    tl_vec3 at[2];                        /* from the centre of mass, in the bodies' frames */
    tl_vec3 axis[2], first[2], second[2]; /* in the bodies' frames: an axis and two at right angles */
    tl_vec3 still[2][2];                  /* gears: the last two of both, in the world's */
    tl_quat turn;                         /* rotation of a in b's frame at the start */
    double length;                        /* m: makes angles metres */
    double unit;                          /* of the free coordinate: 1, or `length` */
    int rows;
    tl_row_law law[TL_JOINT_ROWS];
} tl_joint;

typedef struct tl_joints {
    int32_t count;
    int32_t frames;  /* behind the bodies, 2 count, or 0: there are none */
    tl_joint *joint; /* [count] owned */
} tl_joints;

/* A side that is a frame of an elastic body. */
typedef struct tl_joint_frame {
    bool soft;
    tl_motion at;    /* where it is at the start */
    double gyration; /* m */
} tl_joint_frame;

/* What the next step starts from, and what tables show. All doubles. */
typedef struct tl_joint_memory {
    double force[TL_JOINT_ROWS];   /* N, mean over the last step */
    double position, speed;        /* of the free coordinate, m or rad; turns are counted */
    double turn[2];                /* rad: angle about the axis; gears: of both bodies */
    double carries, carries_turn;  /* N, N m: what it holds with */
    double motor;                  /* N or N m */
    double broken;                 /* 1 or 0 */
    double driven, target;         /* 1: the caller gave the motor another target, this one */
    double strain;                 /* J: in its spring or in what gives */
    tl_vec3 at, on_a, torque_on_a; /* world, at the end of the step: place; force on a there and torque */
} tl_joint_memory;

typedef struct tl_joint_state {
    int64_t count;
    tl_joint_memory *joint;
} tl_joint_state;
extern const tl_state_kind tl_joints_kind;

/* A row where bodies are now. Velocities of the bodies times these are how fast x changes. */
typedef struct tl_joint_row {
    tl_vec3 push_a, turn_a, push_b, turn_b;
    double x; /* m */
} tl_joint_row;

/* frame [joints][2], NULL: all sides are rigid bodies. */
talus_status tl_joints_create(tl_joints *out, const tl_scene *s, const tl_rigid *r, const tl_rigid_state *state,
                              const tl_joint_frame *frame, talus_error *err);
void tl_joints_free(tl_joints *j); /* leaves {0} */
talus_status tl_joint_state_begin(tl_joint_state *out, const tl_joints *j, talus_error *err);

/* Rows where the bodies are; turns are counted from those of `m`. body [rigid->count]. Returns the free coordinate. */
double tl_joint_measure(const tl_joint *j, const tl_motion *body, const tl_joint_memory *m,
                        tl_joint_row row[TL_JOINT_ROWS], double turn[2]);

/* J: in its spring, or in what gives where it has a compliance. */
double tl_joint_energy(const tl_joint *j, const tl_motion *body, const tl_joint_memory *m);

double tl_joint_row_energy(const tl_joint *j, int row, double x);

/* How fast that coordinate changes. */
double tl_joint_speed(const tl_joint *j, const tl_motion *body);

/* v [6 count] */
double tl_joint_row_speed(const tl_joint *j, const tl_joint_row *row, const double *v);
/* Does it hold these two bodies without touching? */
bool tl_joints_part(const tl_joints *j, int32_t a, int32_t b);

/* What a motor is asked for in this step. */
typedef struct tl_motor_ask {
    double value; /* at the end of the step */
    double rate;  /* how fast a position changes then */
} tl_motor_ask;

/* How the step moves bodies, and what is known before it is solved. */
typedef struct tl_row_ask {
    double dt;
    bool half;    /* impulses act half-way: places move with the mean of the velocities, */
    bool mean;    /* and what gives pushes by its mean place in the step, not that of the end: no loss. Without
                   * `half`: velocities are chords of the way, it pushes by a mean over this step and the last */
    double start; /* m: x at the start of the step, put right for how it curves */
    double speed; /* m/s: of x just before the impulses; of the last step where velocities are chords */
    tl_motor_ask motor;
} tl_row_ask;

/* Bounds and compliance of a row, and what is added to its velocity after the impulses: tl_contact_box. */
typedef struct tl_row_law_out {
    double lo, hi, give, bias;
} tl_row_law_out;
tl_row_law_out tl_joint_law(const tl_joint *j, int row, const tl_row_ask *ask);

double tl_joint_compliance(const tl_joint *j, int row); /* m/N, of a row that holds */

/* A motor that is where it should be, exactly. */
bool tl_joint_leads(const tl_joint *j, int row);

/* Blocks of a contact problem. */
typedef struct tl_joint_blocks {
    int32_t count;
    int32_t (*body)[2];  /* [count] second -1: the world */
    tl_joint_row *row;   /* [3 count] */
    tl_contact_box *box; /* [count] */
    double *bias;        /* [3 count] */
} tl_joint_blocks;

/* Of row k of all; v [6 bodies]. */
double tl_joint_block_speed(const tl_joint_blocks *j, int64_t k, const double *v);

#endif
