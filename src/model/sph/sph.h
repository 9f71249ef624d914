/* Particles of the SPH engine: samples of bodies, neighbours, volumes, forces, and the system that pressure and
 * friction solve. [Probst2023], with the corrections listed below.
 *
 * One spacing h. Fluid fills volumes; bodies and walls are sampled on their surface. Unknowns of a step: a pressure p
 * >= 0 per fluid particle and per surface particle of a free body that has solid neighbours (a "contact"), and a
 * friction force lambda, N, per contact. Kinematic and static surfaces have no unknowns, their pressure is 0.
 *
 *     Verr_i = 1 - V0_i/V_i - V0_i dt sum_j (v_i - v_j).grad W_ij      >= 0, complementary to p_i
 *     v_tan  = slip velocity at a contact                               opposed to lambda, |lambda| <= mu |F_N|
 *
 * A step calls, in this order:
 *     tl_sph_begin        positions of surface particles, fluid sorted by cells
 *     tl_sph_neighbours   pairs, gradients, volumes of fluid
 *     tl_sph_contacts     volumes, normals and friction coefficients of contacts
 *     (the step predicts velocities: writes v, body_v, body_w)
 *     tl_sph_system       diagonals, and the volume errors and slips of the predicted velocities
 *     tl_sph_warm_start   x from the state
 *     (the step solves tl_sph_problem)
 *     tl_sph_finish       velocities and forces, in double
 *     (the step moves all; tl_sph_stop, model/sph/stop.h, stops liquid at bodies)
 *     tl_sph_remember     warm starts for the next step
 * Which method solves, how long a step is, viscosity, motion and commit are the step's (src/step/sph.c).
 *
 * Differs from [Probst2023]: (3.15) ends with V0_f^2 p_f, (A.8b) has its gradient turned round, p = 0 on all that has
 * no unknowns (the appendix says otherwise in words, not in formulas), the contact volume of (3.23) is summed directly,
 * the coefficient of friction belongs to a pair of bodies, slip is the kernel-weighted mean of velocity differences
 * where the friction acts. tests/unit/sph_system.c has the proofs.
 *
 * Same bits for any number of threads: every output has one owner, sums over bodies go in fixed chunks. */
#ifndef TL_MODEL_SPH_H
#define TL_MODEL_SPH_H

#include "model/rigid/joints.h"
#include "model/rigid/rigid.h"
#include "model/sph/kernel.h"
#include "model/sph/lanes.h"
#include "model/sph/state.h"
#include "solve/fixedpoint/problem.h"

/* ---- constant in a run ---- */

/* Samples below a surface, h, where the scene says nothing. Solids touch at 0.76 h (boxes on planes 0.82 h), so
 * bodies look as if they touched. Liquid has samples of its own: a lattice that begins half a spacing from the
 * surface is at rest 1 h from a flat sheet of them. So whether there is liquid in a scene changes nothing between
 * solids. An inset that the scene names is for both. */
#define TL_SPH_INSET 0.4
#define TL_SPH_INSET_WET 0.5

/* With a sum of W over samples in its density and no pressure of theirs, the layer of liquid at a solid carries
 * twice the pressure that it should and is pressed to 0.73 h from them: bodies displace too little, a held box of 8
 * h by 3.5 %, and water sinks by 0.2 h when it starts. Samples of firm bodies (boxes, balls, planes and walls of the
 * domain with the default inset: even, and not hollow) add S^2 / S1 instead of their sum S, where S1 is that of a flat
 * sheet at 1 h: the same density there and twice the slope, as the layers beyond would have with their pressures. Each
 * body for itself, so that corners add up. */
#define TL_SPH_HOLDS 6 /* firm bodies that a particle of liquid sees, at most; more have the plain sum */
typedef struct tl_sph_hold {
    int32_t body; /* -1: none */
    float slope;  /* d density / d S */
} tl_sph_hold;

/* h times the change of V0/V with the distance of two flat surfaces that just touch; measured. */
#define TL_SPH_FLAT_SLOPE 0.7

/* Times sqrt(g h): how fast overlaps and compressed liquid are taken apart where the scene names no speed, 0.2 m/s at
 * h = 0.02 m; compressed liquid at least. With 0.2 m/s alone, a pool of particles 0.1 m apart lost half its volume in
 * 2 s (tests/physics/sph_liquid.c); with 1 instead its start throws it about. */
#define TL_SPH_WAVE_PUSH 0.45
#define TL_SPH_EARTH 9.80665 /* m/s^2: g of that where there is no gravity */

/* What a sample meets. */
#define TL_SPH_MEETS_SOLIDS 1
#define TL_SPH_MEETS_LIQUID 2

/* Particles on the surface of one shape, shared by its bodies. */
typedef struct tl_sph_surface {
    int32_t count;
    int32_t touching;     /* the first so many meet solids; the rest, if any, only liquid */
    int32_t dry;          /* the first so many do not meet liquid */
    tl_vec3 *at, *normal; /* shape's frame; outward */
    double *V0;           /* [touching] m^3: gamma / (sum of W over the surface's own particles that touch solids) */
    tl_vec3 sunk;         /* m below the shape's surface: along the axes of a box; else all three the same */
    tl_vec3 wet_sunk;     /* the same, of samples that meet liquid */
} tl_sph_surface;

typedef struct tl_sph_body {
    tl_collider_round round; /* as the rigid body's; but not of thin ones, whose samples are too few for a circle */
    int32_t surface;
    int32_t first, count;   /* its particles' numbers; of static bodies: count only, they are sorted by place */
    tl_vec3 sunk, wet_sunk; /* as its surface's */
    bool firm;              /* its samples add the square of their sum of W to the density of liquid, above */
    bool thin;              /* somewhere thinner than 2 h: squeezed from both sides it keeps more distance */
} tl_sph_body;

/* Where the particles of sorted arrays begin, by cells of edge 2h: x fastest. Particles outside of the table are in
 * its border cells, which keeps neighbours in neighbouring cells. */
typedef struct tl_sph_cells {
    int32_t low[3], n[3]; /* first cell: floor(place / 2h); counts */
    int32_t *start;       /* [n0 n1 n2 + 1] */
} tl_sph_cells;

/* Sorted particles as the search sees them: places in their cell, in units of 2h / 2^22, so that differences are
 * exact. */
typedef struct tl_sph_sorted {
    int32_t count;
    tl_sph_cells cells;
    int32_t *cell[3]; /* [count] the true one, also of particles outside of the table */
    float *at[3];     /* [count] */
    int32_t *number;  /* [count] who it is; NULL: itself */
} tl_sph_sorted;

typedef enum tl_sph_sampling { TL_SPH_LATTICE, TL_SPH_POISSON } tl_sph_sampling;

typedef struct tl_sph_options {
    double gamma; /* rest volume of surface samples */
    double inset; /* of samples below a surface, in h */
    tl_sph_sampling
        sampling; /* boxes are always lattices and spheres spirals with LATTICE; all is random with POISSON */
} tl_sph_options;

/* The particles that have numbers, "solids": of free bodies from 0, of kinematic ones from free_count, of static
 * ones and walls from free_count + kinematic_count =: moving. */
typedef struct tl_sph {
    double h;  /* m */
    double V0; /* of a fluid particle, h^3 */
    tl_sph_kernel kernel;
    tl_sph_options options;
    double sheet;     /* S1 */
    double wet_inset; /* h: of samples that meet liquid; options.inset: of those that meet solids */
    int32_t surfaces, bodies;
    tl_sph_surface *surface;
    tl_sph_body *body; /* [bodies] of tl_rigid, walls included */
    int32_t free_count, kinematic_count, static_count;
    int32_t *body_of;    /* [free + kinematic + static] */
    uint8_t *meets;      /* [same] TL_SPH_MEETS_... */
    tl_vec3 *fixed;      /* [static_count] world */
    tl_sph_sorted walls; /* the static ones */
    int32_t *part_start; /* [bodies + 1] into part; NULL: no joint keeps two bodies from touching */
    int32_t *part;       /* bodies that do not touch this one, since a joint holds both */
    tl_arena memory;     /* of everything here */
} tl_sph;

/* Defaults of the scene: the inset -1, where it names none, is TL_SPH_INSET. */
tl_sph_options tl_sph_options_of(const tl_scene *s);
/* `o` NULL: the scene's. Boxes: lattice of round(L/h) intervals per edge, edges and corners included. Spheres:
 * Fibonacci spiral. Closed walls of the domain: lattices. Unbounded shapes are sampled in the domain, or around
 * everything else. Other shapes: marched surface. Thin bodies have less inset, so that two sides stay 2h apart where
 * they can. */
talus_status tl_sph_create(tl_sph *out, const tl_scene *s, const tl_rigid *r, const tl_sph_options *o,
                           talus_error *err);
void tl_sph_free(tl_sph *s); /* leaves {0} */
/* Bodies that a joint holds together do not touch, as with engine grid. */
talus_status tl_sph_part_joined(tl_sph *s, const tl_joints *joints, talus_error *err);

/* Fluid of the scene's fills at t = 0; _empty: without them, for a state that is read from elsewhere. */
talus_status tl_sph_state_begin(tl_sph_state *out, const tl_sph *c, const tl_scene *s, talus_error *err);
talus_status tl_sph_state_empty(tl_sph_state *out, const tl_scene *s, talus_error *err);

/* ---- one step ---- */

/* What the step knows of bodies, [rigid->count], walls included (a wall rests at the origin). */
typedef struct tl_sph_bodies {
    const tl_rigid *rigid;
    const tl_motion *motion;    /* at the start of the step; v and w of kinematic ones lead to their next pose */
    const double *inv_mass;     /* 0 unless free */
    const tl_mat3 *inv_inertia; /* world frame; 0 unless free */
    const double *friction;     /* each one's own */
} tl_sph_bodies;

/* Joints in the system: what a push does to bodies is what joints let it do. Of bodies that they hold, inverse masses
 * are those of the whole mechanism, and contacts that push share the work with those of others that it moves too. */
typedef struct tl_sph_joined {
    int32_t count;
    int32_t *number; /* [bodies] among those that joints hold; -1 */
    double *moved;   /* [count][36] by rows: velocity and spin of a body by a unit impulse and angular impulse on it */
    double *along;   /* [count][count] how much of what moves one moves the other, 0 to 1; 1 with itself */
    /* changes of velocity by pushes, in; what they are with joints, out. Of predicted velocities that joints allow. */
    void (*respond)(void *ctx, tl_vec3 *add_v, tl_vec3 *add_w);
    void *ctx;
} tl_sph_joined;

/* Fluid neighbour of a fluid particle: h^4 grad_i W_ij / TL_SPH_G_UNIT in whole numbers, and its place among the
 * candidates of the particle's cell. 8 bytes, because the sweeps over pairs wait for memory. Rounding is a fault of
 * 1.5e-5 of the steepest gradient in the constraint's direction; both sides of a pair round alike, so the system
 * stays symmetric and momentum is kept. */
typedef struct tl_sph_link {
    int16_t g[3];
    uint16_t place;
} tl_sph_link;
#define TL_SPH_G_UNIT (0.3184 / 32767) /* the steepest, at r = 2h/3, is 1/pi */
#define TL_SPH_PLACES 65535            /* candidates, at most */
#define TL_SPH_LINKS_BEYOND 4          /* empty ones after the last: sums read four at a time */

/* Fluid in one cell, and the fluid around it: up to 9 rows of sorted particles, in this order its candidates. */
typedef struct tl_sph_cell {
    int32_t first, count;
    int32_t row[9], length[9];
} tl_sph_cell;

/* Neighbour j of i, where one of them is a surface particle. */
typedef struct tl_sph_pair {
    float g[3]; /* h^4 grad_i W_ij; g_ji = -g_ij exactly */
    int32_t j;
} tl_sph_pair;

static inline tl_vec3 tl_sph_pair_g(const tl_sph_pair *p)
{
    return (tl_vec3){(double)p->g[0], (double)p->g[1], (double)p->g[2]};
}

/* Solid neighbour of a contact. */
typedef struct tl_sph_touch {
    tl_vec3 g; /* grad_r W_rj */
    double w;  /* W_rj, 1/m^3 */
    tl_vec3
        turn; /* moment of g at r about the centre of r's body, without what turns a round body about its own axis */
    tl_vec3 back;  /* the same at j, about the centre of j's body */
    tl_vec3 arm;   /* x_j - centre of its body */
    int32_t body;  /* of j */
    int32_t other; /* its number among contacts; -1: no unknowns */
} tl_sph_touch;

/* A surface particle of a free body with neighbours in fluid or on other bodies. */
typedef struct tl_sph_near {
    int32_t particle, body;
    int32_t contact; /* number among contacts, -1: none */
    int32_t zero;
    tl_vec3 arm; /* x - centre of mass */
} tl_sph_near;

/* A near particle with solid neighbours. D = 0: it has no weight, its pressure stays 0. */
typedef struct tl_sph_contact {
    int32_t near, body;
    double V0, V, Vt; /* m^3: at rest, now, of the solid neighbours alone */
    double force;     /* |F_N| / p, m^2 */
    tl_vec3 normal;   /* of F_N: into the body; 0: not defined, no friction */
    double sunk;      /* m that it is below the body's surface, along the normal; of a ball: that its centre is */
    bool ball;
    double mu;     /* mean over its neighbours */
    double D, Dl;  /* d Verr / dp, 1/Pa; mean of d v_tan / d lambda, m/(s N) */
    double max;    /* Pa: no pressure is larger, system.c */
    double source; /* room between surfaces before anything moves; negative: what the step takes away of an overlap */
    double Verr;   /* of the predicted velocities */
    tl_vec3 slip;  /* relative velocity of the predicted velocities, not yet projected */
    bool far;      /* too far to touch in this step: left out of the solve */
} tl_sph_contact;

/* Contacts or near particles that are summed together: of one body, at most TL_SPH_CHUNK. */
#define TL_SPH_CHUNK 256
typedef struct tl_sph_chunk {
    int32_t body, begin, end; /* near particles */
} tl_sph_chunk;

typedef struct tl_sph_force {
    tl_vec3 force, torque; /* about the centre of mass */
} tl_sph_force;

typedef struct tl_sph_step {
    const tl_sph *sph;
    const tl_scene *scene;
    const tl_rigid *rigid;
    tl_sph_bodies bodies;
    tl_arena *arena;
    double dt;
    /* set by the step before tl_sph_system; tl_sph_begin sets the defaults */
    double relax;      /* nu of the projected step, 0.5; above 0.7 it may diverge */
    double push_out;   /* fastest that overlaps of bodies and compressed liquid are taken apart, m/s; 0.5 */
    double unresolved; /* compression of liquid that solves leave, in parts of its density; 0 */
    double strict;     /* how many times its mean error liquid counts with in a measure; 1 */

    /* begin */
    int32_t fluid;
    tl_sph_particle *particle;    /* [fluid] sorted by cells */
    tl_vec3 *v;                   /* [fluid] as the particles', then as the step predicts */
    float *inv_m;                 /* [fluid] 1/kg */
    bool one_mass;                /* the same for all */
    tl_vec3 *x;                   /* [free + kinematic] world */
    tl_vec3 *body_v, *body_w;     /* [bodies] as in bodies.motion, then as the step predicts */
    tl_sph_sorted liquid, moving; /* moving: free, then kinematic, by cell */

    /* neighbours */
    int32_t cells, candidates; /* candidates: most of a cell */
    tl_sph_cell *cell;         /* [cells] rising first */
    int64_t *start; /* [fluid + 1] into link and neighbour: fluid neighbours of fluid, itself is not among them */
    tl_sph_link *link;
    int32_t *neighbour; /* their numbers */
    float *weight;      /* h^3 W_ij, as exact as single precision; W_ji has the same bits */
    float *density;     /* [fluid] V0/V_i: 1 at rest */
    float (*sum_g)[4];  /* [fluid] sum of g over all neighbours; [3]: sum of |g|^2 m_i/m_j over fluid ones */
    int32_t edges;      /* fluid particles with solid neighbours */
    int32_t *edge;      /* [edges] rising */
    int64_t *
        /* [2 edges + 1] into edge_pair: near neighbours of edge e from 2e, kinematic and static ones from 2e + 1 */
        edge_start;
    tl_sph_pair *edge_pair; /* j: number among near, or solid number */
    tl_sph_hold *hold;      /* [edges][TL_SPH_HOLDS] */
    int32_t nears;
    tl_sph_near *near;      /* [nears] rising particle, so by body */
    int64_t *near_start;    /* [nears + 1] into near_pair */
    tl_sph_pair *near_pair; /* j: fluid */
    int32_t contacts;
    tl_sph_contact *contact; /* [contacts] rising near */
    int64_t *touch_start;    /* [contacts + 1] */
    tl_sph_touch *touch;
    int32_t *near_of;                                   /* [free] number among near, or -1 */
    int32_t *count_touch, *count_wet, (*count_edge)[2]; /* of the search */
    int32_t chunks;
    tl_sph_chunk *chunk; /* [chunks] rising body */

    /* system */
    double *D;          /* [fluid] d Verr / dp, 1/Pa, with its floor */
    double *Verr;       /* [fluid] of the predicted velocities */
    double liquid_push; /* m/s: push_out of liquid, more where waves are faster */
    double held;        /* N s: what joints pass on, in this step without contacts and in the last one with them */

    /* problem: which unknowns a solve is for, the others stay as they are; then scratch of an evaluation */
    enum { TL_SPH_ALL, TL_SPH_CONTACTS, TL_SPH_LIQUID } only;
    tl_vec3 *given; /* [contacts] N: friction that is not solved for; NULL: it is */
    tl_space space;
    float *p;             /* [fluid] */
    float (*gathered)[4]; /* [threads][candidates, and room] */
    float (*a)[4];        /* [fluid] velocity that pressure adds, m/s; [3] is 0 */
    tl_vec3 *dv;          /* [fluid] the same in double, for residual and finish */
    tl_d4 *at_p;          /* [fluid] place and pressure of each, for the same */
    tl_sph_force *chunk_sum;
    tl_vec3 *add_v, *add_w;      /* [bodies] velocity that pressure and friction add */
    const tl_sph_joined *joined; /* NULL: no joints */
    int32_t *active;             /* [bodies] n_R: contacts that push, */
    double *sharing;             /* [bodies] and how many share the work of one, at least 1 */
    bool *reached;               /* [contacts] has a force, or touches one that has */
    double error[3];             /* mean errors of fluid, contact and friction at the last measure, */
    double worst[3];             /* and the largest of one particle */

    /* finish */
    tl_sph_force *contact_force, *fluid_force; /* [bodies] on them, N and N m; on kinematic and static ones too */
} tl_sph_step;

/* h^4 grad_i W_ij of a pair of fluid particles; j = neighbour[k]. */
static inline tl_vec3 tl_sph_link_g(const tl_sph_step *s, int64_t k)
{
    const int16_t *g = s->link[k].g;
    return (tl_vec3){TL_SPH_G_UNIT * g[0], TL_SPH_G_UNIT * g[1], TL_SPH_G_UNIT * g[2]};
}

static inline tl_vec3 tl_sph_solid(const tl_sph_step *s, int32_t number) /* world place of a surface particle */
{
    int32_t moving = s->sph->free_count + s->sph->kinematic_count;
    return number < moving ? s->x[number] : s->sph->fixed[number - moving];
}

/* Where friction acts between contact r and its neighbour j, from the centre of r's body; their slip is measured
 * there too, so that friction takes energy and never gives it, and its block is symmetric. At the middle between
 * bodies that both move, which keeps angular momentum; at the shape's surface above r on what has no unknowns, so
 * that balls roll with v = w R. Differs from [Probst2023], which always has the force at the middle and the
 * velocities at r and j: a box that turns on an edge then gains energy (tests/physics/sph_energy.c). */
static inline tl_vec3 tl_sph_rub_at(const tl_sph_step *s, const tl_sph_contact *r, const tl_sph_touch *j)
{
    tl_vec3 arm = s->near[r->near].arm;
    if (j->other < 0) return tl_vec3_add_scaled(r->ball ? (tl_vec3){0, 0, 0} : arm, -r->sunk, r->normal);
    tl_vec3 between = tl_vec3_sub(s->bodies.motion[j->body].x, s->bodies.motion[r->body].x);
    return tl_vec3_scale(0.5, tl_vec3_add(arm, tl_vec3_add(between, j->arm)));
}

/* m between two flat surfaces with the volume that contact r has; negative: overlap. */
static inline double tl_sph_gap(const tl_sph_step *s, const tl_sph_contact *r)
{
    return (1 - r->V0 / r->V) * s->sph->h / TL_SPH_FLAT_SLOPE;
}

/* (v_r - v_j).grad W_rj of a touch of a contact on body `own`, where bodies move at v, w [bodies]. */
static inline double tl_sph_approach(const tl_sph_touch *j, const tl_vec3 *v, const tl_vec3 *w, int32_t own)
{
    return tl_vec3_dot(tl_vec3_sub(v[own], v[j->body]), j->g) + tl_vec3_dot(w[own], j->turn) -
           tl_vec3_dot(w[j->body], j->back);
}

/* Fastest that overlaps of bodies are taken apart, m/s: what the scene says, else by gravity and spacing. */
double tl_sph_push_out(const tl_scene *s);

/* Positions that are not finite, or farther than 2^23 cells from the origin, are bad input with the particle's or
 * body's name. */
talus_status tl_sph_begin(tl_sph_step *s, const tl_sph *c, const tl_scene *scene, const tl_sph_state *state,
                          const tl_sph_bodies *bodies, double dt, tl_arena *a, talus_error *err);
talus_status tl_sph_neighbours(tl_sph_step *s, talus_error *err);
talus_status tl_sph_contacts(tl_sph_step *s, talus_error *err);
talus_status tl_sph_system(tl_sph_step *s, talus_error *err);

/* Leaves contacts out of the solve that would not touch if contacts changed no velocity by more than twice the
 * speeds of their bodies: in a pile nine of ten. After a solve, tl_sph_call_back looks whether one of them was
 * missed, more than `tolerance` compressed; then all are back and true is returned: to be solved again. */
void tl_sph_leave_far(tl_sph_step *s);
bool tl_sph_call_back(tl_sph_step *s, double tolerance);

/* The system as a problem; `out` points into `s`.
 *     x [n]  pressures of fluid, pressures of contacts, lambda of contacts (3 each);   n = fluid + 4 contacts
 *     r [n]  Verr of fluid, Verr of contacts, v_tan of contacts
 * Fluid is evaluated in float (errors of Verr below 1e-6), contacts in double. measure: the largest of s->error,
 * each a mean of Fischer-Burmeister values without dimension: fluid over all, contacts over active ones, friction
 * over active ones. */
talus_status tl_sph_problem(tl_sph_step *s, tl_fixedpoint *out, talus_error *err);
/* Verr and v_tan in double, as finish would move things; for certificates and tests. r [n]. */
void tl_sph_residual(tl_sph_step *s, const double *x, double *r);

/* x [n] from the last step: pressures of fluid times `keep`, those of contacts as they were, lambda in the new
 * tangent plane and cone. */
void tl_sph_warm_start(const tl_sph_step *s, const tl_sph_state *state, double keep, double *x);

/* add_v, add_w of x: as finish would move bodies. */
void tl_sph_push_bodies(tl_sph_step *s, const double *x);

/* Explicit friction, the baseline of figure 3 in [Probst2023], after [Gissler2019]: forces that would stop the
 * predicted slips if the contacts of a body shared the work, within the cones of the last step's pressures. They
 * stay as they are while pressures are solved. */
talus_status tl_sph_give_friction(tl_sph_step *s, const tl_sph_state *state, talus_error *err);

/* Velocities after the step's pressures and friction: v, body_v, body_w, and the forces on bodies. Momentum is kept
 * to rounding. */
void tl_sph_finish(tl_sph_step *s, const double *x);

/* J, at most what taking overlaps and compression away has given to motion: sum of V0 p times the volume error that
 * is taken away. */
double tl_sph_push_work(const tl_sph_step *s, const double *x);

/* Memories of x into out [contacts]; returns how many there are. */
int64_t tl_sph_remember(const tl_sph_step *s, const double *x, tl_sph_memory *out);

#endif
