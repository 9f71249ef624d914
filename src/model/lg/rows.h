/* Contacts and bilateral rows of one step as rows H over elastic nodes and free rigid bodies, and their compliance W =
 * H A^-1 H^T.
 *
 * Rows: three per contact (normal, two tangents), then one per bilateral. Everything is done by way of nodes: a product
 * with W scatters row forces to the nodes and bodies that rows hang on, solves there, and gathers:
 *
 *     explicit      A^-1 between these nodes, a dense scalar matrix B (9 times less than W), three columns at once
 *     matrix-free   one solve with the factor; its displacement of all nodes stays in `moved`
 *     auto          B for few nodes; for more, B of those whose rows are in play (tl_lg_rows_focus) and solves for the others to follow
 *
 * A free body is six more unknowns with A = diag(m, I): displacement and turn of its centre over the step. Products
 * include the compliance of bilateral rows. Sums over the rows of a node run in a fixed order. What is asked of the
 * rows (laws, solver) is the step's. */
#ifndef TL_MODEL_LG_ROWS_H
#define TL_MODEL_LG_ROWS_H

#include "model/lg/bilateral.h"
#include "model/lg/columns.h"
#include "model/lg/contact.h"
#include "model/rigid/contacts.h"

/* One contact. U = sum of weight node + point of body[0] - point of body[1]. */
typedef struct tl_lg_link {
    int32_t nodes, node[8]; /* of tl_lg_rows.node */
    int32_t body[2];        /* of tl_lg_rows.body; < 0: none */
    double weight[8];
    tl_vec3 lever[2]; /* from the centre of mass, m */
    tl_vec3 axis[3];
    double zero[3]; /* m: gap and slips are axis . U - zero */
    double mu;
} tl_lg_link;

typedef struct tl_lg_pull {
    int32_t row; /* of contacts: first of three */
    double weight;
} tl_lg_pull;

/* B between nodes that were in play in this step, in the order in which they came; single precision unless the
 * solver's is double. */
typedef struct tl_lg_focus {
    bool dense;              /* all nodes in play are in; false: they are too many, products are solves */
    int32_t max;             /* nodes that there is room for */
    int32_t nodes, *node;    /* of tl_lg_rows.node */
    int32_t *lg_node;        /* [nodes] of lg */
    int32_t *place;          /* [all nodes] in this list; < 0: not in */
    float *B, *push, *shift; /* [most][most], [3][most] */
    double *B_double, *push_double, *shift_double; /* instead of these */
} tl_lg_focus;

typedef struct tl_lg_rows {
    const tl_lg *lg;
    const tl_lg_solver *solver;
    tl_lg_precision precision;
    double he;              /* s: A = M + he^2 (...) */
    int32_t contacts, soft; /* the first `soft` are those of tl_lg_contacts, the others of tl_rigid_contacts */
    int64_t rows;
    tl_lg_link *link; /* [contacts] */
    tl_lg_bilaterals bilateral;
    /* what rows hang on */
    int32_t nodes, *node;     /* [nodes] of lg, rising */
    int32_t bodies, *body;    /* [bodies] of tl_rigid, rising */
    double *inverse_mass;     /* [bodies] times (h / he)^2: bodies are moved over h, and rows know he^2 times forces */
    tl_mat3 *inverse_inertia; /* [bodies] the same */
    int32_t *pull_start;      /* [nodes + 1] contacts by node */
    tl_lg_pull *pull;
    int32_t *term_start, *term; /* [nodes + 1] bilateral terms by node */
    int32_t *term_row;          /* [terms] */
    int32_t *body_start;        /* [bodies + 1]: link and end, 2 link + end; bilateral rows after 2 contacts */
    int32_t *body_pull;
    const double *node_diagonal; /* [lg nodes] of A^-1 */
    double *B;                   /* [nodes][nodes], NULL: matrix-free */
    double *diagonal;            /* [rows] of W, compliance included, kg^-1 */
    double *mass;                /* [rows] the same with M for A */
    /* of products */
    double *force, *moved; /* [lg nodes][3]; zero outside of `node`, see above */
    double *push, *shift;  /* explicit: [3][nodes] */
    tl_lg_columns *columns;
    tl_lg_focus focus;
    uint8_t *part;                  /* [lg nodes] matrix-free: of the factor, what products of rows in play need */
    double *room;                   /* [2][lg nodes][3] of columns; the first half is zero */
    double *body_push, *body_shift; /* [bodies][6] */
} tl_lg_rows;

typedef enum tl_lg_compliance_kind {
    TL_LG_COMPLIANCE_AUTO,
    TL_LG_COMPLIANCE_EXPLICIT,
    TL_LG_COMPLIANCE_FREE
} tl_lg_compliance_kind;

/* What rows are made of. */
typedef struct tl_lg_rows_of {
    const tl_lg *lg;
    tl_lg_solver *solver;
    tl_lg_columns *columns;
    tl_lg_precision precision;
    double h, he;       /* s: length of the step; of the time integration, see phase/lg/time.h */
    const double *from; /* [lg nodes][3] start of the step */
    const tl_lg_contacts *soft;
    const tl_rigid *rigid;
    const tl_motion *body;         /* [rigid->count] start of the step */
    const tl_rigid_contacts *hard; /* between rigid bodies */
    double slop;                   /* m: what these may overlap */
    const tl_lg_bilaterals *bilateral;
    const bool
        *joined; /* [rigid->count] free bodies that joints hold: in the list, whatever touches them. NULL: none */
    tl_lg_compliance_kind compliance;
} tl_lg_rows_of;

/* Lives in the arena; keeps the pointers of its bilateral rows. */
talus_status tl_lg_rows_make(tl_lg_rows *out, const tl_lg_rows_of *from, tl_arena *a, talus_error *err);
/* Bilateral rows for positions q: `along`, targets, their diagonals. */
void tl_lg_rows_renew(tl_lg_rows *r, const double *q);

/* Gaps and slips, value minus target of bilateral rows: out [rows], m. body_moved [bodies][6]: displacements and
 * turns since the start. */
void tl_lg_rows_values(const tl_lg_rows *r, const double *q, const double *body_moved, double *out);
/* The same of changes: H dq with bodies moved by `shift` [bodies][6]. */
void tl_lg_rows_slopes(const tl_lg_rows *r, const double *dq, const double *shift, double *out);
/* H^T x: forces on nodes into r->force, on bodies into r->body_push. x [rows] */
void tl_lg_rows_scatter(const tl_lg_rows *r, const double *x);
/* out = W x. Matrix-free: r->moved is A^-1 H^T x afterwards, of all nodes; r->body_shift that of bodies in either
 * case. */
void tl_lg_rows_multiply(const tl_lg_rows *r, const double *x, double *out);
/* The same where x is zero but in rows with part [rows] != 0, and for these rows of `out` alone. Call
 * tl_lg_rows_focus whenever `part` does. */
talus_status tl_lg_rows_focus(tl_lg_rows *r, const double *part, talus_error *err);
void tl_lg_rows_multiply_part(const tl_lg_rows *r, const double *x, double *out);
/* World force of a contact on its a side from its three rows. */
static inline tl_vec3 tl_lg_link_force(const tl_lg_link *l, const double x[3])
{
    tl_vec3 f = tl_vec3_add_scaled(tl_vec3_scale(x[0], l->axis[0]), x[1], l->axis[1]);
    return tl_vec3_add_scaled(f, x[2], l->axis[2]);
}

#endif
