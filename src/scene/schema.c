#include "scene/schema.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TL_ENGINE(NAME, name) "|" #name
static const char engine_words[] = /* the first is skipped */
#include "scene/engines.def"
    ;
#undef TL_ENGINE

const char *tl_engine_name(tl_engine e)
{
#define TL_ENGINE(NAME, name) #name,
    static const char *const names[] = {
#include "scene/engines.def"
    };
#undef TL_ENGINE
    return names[e];
}

#pragma GCC diagnostic ignored                                                                                         \
    "-Wmissing-field-initializers" /* most keys have no words, tables or engines of their own */

/* Far beyond any scene, and squares and cubes of it are still finite. */
#define FAR 1e15

/* A key is one line, however long. */
/* clang-format off */

#define ANY {-FAR, FAR, false}
#define ABOVE(a) {a, FAR, true}
#define FROM(a) {a, FAR, false}
#define WITHIN(a, b) {a, b, false}
#define WITHIN_OPEN(a, b) {a, b, true}

#define AT(field) offsetof(OBJECT, field)
#define KEYS(list) list, (int)(sizeof list / sizeof *list)

#define ROTATIONS(what)                                                                                                        \
    {"rotation", TL_ROTATION, AT(rotation), "", ANY, "{1, 0, 0, 0}", what ", in one of the forms of `rotation`"},                \
    {"rotation_deg", TL_ANGLES_DEG, AT(rotation), "degrees", ANY, "", what ", as angles about x, then y, then z", .alias = true}, \
    {"rotation_rad", TL_ANGLES_RAD, AT(rotation), "rad", ANY, "", what ", as angles about x, then y, then z", .alias = true}

/* ---- world ---- */

#define OBJECT tl_grid_spec
static const tl_key grid_keys[] = {
    {"cells", TL_INTEGER3, AT(cells), "", WITHIN(1, 4096), NULL, "cells along x, y and z; one cell on a periodic axis is the 2D mode"},
    {"cell", TL_NUMBER, AT(cell), "m", WITHIN(1e-9, 1e9), NULL, "edge of a cell"},
    {"origin", TL_VEC3, AT(origin), "m", ANY, "{0, 0, 0}", "lowest corner of the grid"},
    {"cfl", TL_NUMBER, AT(cfl), "cells", WITHIN_OPEN(0, 20), "2", "how far anything may move in one step"},
    {"correct_density", TL_BOOLEAN, AT(correct_density), "", ANY, "true", "particles that crowd are parted; `false` for comparison: volume is then lost or gained"},
    {"mixture", TL_CHOICE, AT(mixture), "", ANY, "none", "sand that liquid covers: `none`, refused; `mud`, one flow with one velocity and one pressure, in which sand under water is as strong as dry sand under that pressure. Water does not flow through the pores of sand so far", "none|mud"},
    {"periodic", TL_BOOLEAN3, AT(periodic), "", ANY, "{false, false, false}", "axes whose two ends are the same place"},
};
#undef OBJECT
static const tl_context grid = {"grid", "the grid", "The grid of the grid engine. Its box is the domain; the solid layer that solvers need outside is added by talus.",
                                NULL, KEYS(grid_keys), sizeof(tl_grid_spec), NULL, false};

#define OBJECT tl_domain_spec
#define WALL(name, i, side) {name, TL_CHOICE, AT(wall[i]), "", ANY, "closed", side, "closed|open"}
static const tl_key domain_keys[] = {
    {"min", TL_VEC3, AT(box.lo), "m", ANY, "", "lowest corner; with a `grid`, not to be given"},
    {"max", TL_VEC3, AT(box.hi), "m", ANY, "", "highest corner; with a `grid`, not to be given"},
    WALL("x_min", 0, "the wall at the low end of x; what passes an open wall is gone"),
    WALL("x_max", 1, "the wall at the high end of x"),
    WALL("y_min", 2, "the floor"),
    WALL("y_max", 3, "the ceiling"),
    WALL("z_min", 4, "the wall at the low end of z"),
    WALL("z_max", 5, "the wall at the high end of z"),
    {"friction", TL_NUMBER, AT(friction), "", WITHIN(0, 100), "0.5", "Coulomb coefficient of the walls against bodies"},
    {"sand_friction", TL_CHOICE, AT(sand_friction), "", ANY, "material", "of the walls, as of bodies: what limits the shear of sand along them", "material|own", .engines = TL_ON_GRID},
    {"liquid_slip", TL_BOOLEAN, AT(liquid_slip), "", ANY, "false", "viscous liquids slip along the walls; `false`: they stick to them", .engines = TL_ON_GRID},
    {"restitution", TL_NUMBER, AT(restitution), "", WITHIN(0, 1), "0", "bounce of bodies off the walls"},
    {"rolling_friction", TL_NUMBER, AT(rolling_friction), "m", WITHIN(0, 1e3), "0", "of the walls against bodies, as of bodies", .engines = TL_ON_GRID},
    {"spinning_friction", TL_NUMBER, AT(spinning_friction), "m", WITHIN(0, 1e3), "0", "of the walls against bodies, as of bodies", .engines = TL_ON_GRID},
};
#undef OBJECT
static const tl_context domain = {"domain", "the domain", "The box that holds the world: the grid, where there is one, else from `min` to `max`, else there is no box.",
                                  NULL, KEYS(domain_keys), sizeof(tl_domain_spec), NULL, false};

#define OBJECT tl_sph_spec
static const tl_key sph_keys[] = {
    {"spacing", TL_NUMBER, AT(spacing), "m", WITHIN(1e-9, 1e9), NULL, "distance of particles, of fluid and on surfaces"},
    {"gamma", TL_NUMBER, AT(gamma), "", WITHIN(0.3, 1), "0.7", "rest volume of surface samples, in volumes of a particle: how far apart surfaces rest; below 0.5 a single layer of samples lets another through"},
    {"inset", TL_NUMBER, AT(inset), "spacings", WITHIN(-1, 2), "-1", "depth of samples below a body's surface; -1: 0.4 of those that meet solids, 0.5 of those that meet liquid"},
    {"viscosity", TL_NUMBER, AT(viscosity), "", WITHIN(0, 100), "0.25", "numerical viscosity of liquids that have none of their own, m^2/s, over 0.15 h sqrt(g h): rate in sqrt(g / h) per second at which differences to the neighbours' mean velocity are taken away"},
    {"grain_viscosity", TL_NUMBER, AT(grain_viscosity), "", WITHIN(0, 1000), "8", "numerical viscosity of fourth order, of liquids that have none of their own: rate in sqrt(g / h) per second at which the noise of single particles falls; waves of 10 h feel a 500th of it"},
    {"arrangement", TL_NUMBER, AT(arrangement), "", WITHIN(0, 2), "1.25", "times the shear stress that liquid without viscosity and surface tension carries because of how its particles lie, that is taken away; 0: quiet liquid resists shear with 2 to 10 % of its pressure, and small waves are up to 5 % too fast"},
    {"relaxation", TL_NUMBER, AT(relaxation), "", WITHIN(0.01, 0.7), "0.5", "of a Jacobi step; more than 0.7 makes liquids blow up"},
    {"push_out", TL_NUMBER, AT(push_out), "m/s", FROM(0), "0", "fastest way out for bodies that overlap and liquid that is compressed; 0: 0.45 sqrt(g spacing), 0.2 m/s at 2 cm (without gravity, g is that on earth)"},
    {"cfl", TL_NUMBER, AT(cfl), "spacings", WITHIN(0.01, 1), "0.4", "farthest that anything moves in a step"},
    {"warm_start", TL_BOOLEAN, AT(warm_start), "", ANY, "true", "solvers start from the last step's pressures and friction"},
    {"worst", TL_NUMBER, AT(worst), "", WITHIN(0, 1e6), "20", "largest error of one particle that a solve may leave, in tolerances; 0: the means alone decide"},
    {"quiet", TL_NUMBER, AT(quiet), "", WITHIN(0, 1), "1e-3", "noise that solves may leave in still liquid, m/s over sqrt(g h); of what moves, 10 times this part of its speed. Where the tolerance would leave more, liquid is solved more exactly; 0: the tolerance alone decides"},
    {"friction", TL_CHOICE, AT(friction), "", ANY, "implicit", "solved with the pressures, or found once from the start of the step and the last step's pressures, as in earlier methods (for comparison: bodies on slopes creep)", "implicit|explicit"},
    {"fit", TL_BOOLEAN, AT(fit), "", ANY, "true", "liquid of fills that would be too near to solids is pushed out and parted from the rest at the start, so that no volume is missing; false: it is left out"},
    {"iterations_least", TL_INTEGER, AT(iterations_least), "", WITHIN(-1, 100000), "-1", "of a solve; -1: 20 where solids touch, else 2"},
    {"surface_particles", TL_BOOLEAN, AT(surface_particles), "", ANY, "false", "also write the samples on bodies into frames"},
};
#undef OBJECT
static const tl_context sph = {"sph", "sph", "The particles of the sph engine.", NULL, KEYS(sph_keys), sizeof(tl_sph_spec), NULL, false};

#define OBJECT tl_lg_spec
static const tl_key lg_keys[] = {
    {"iterations", TL_INTEGER, AT(iterations), "", WITHIN(1, 10000), "8", "local-global rounds per step at most; what they leave is `elastic_certificate` of steps.csv"},
    {"budget_ms", TL_NUMBER, AT(budget), "ms", WITHIN(0, 1e9), "0", "time for the rounds and corrections of a step, by the clock: none begins after it, and what they leave is in steps.csv. 0: no limit. With a limit results depend on the machine"},
    {"mixing", TL_CHOICE, AT(mixing), "", ANY, "anderson", "rounds of a step are combined so that what is left of forces is smallest, or taken as they come; not with `newton` and `jacobi`", "anderson|none"},
    {"time", TL_CHOICE, AT(time), "", ANY, "bdf2", "integration: of second order, keeps motion; implicit Euler, which damps what is faster than a few steps; or the positions in which forces balance at the end of each step, to 1e-8 of them, without contact", "bdf2|euler|static"},
    {"corrections", TL_INTEGER, AT(corrections), "", WITHIN(-1, 1000), "-1", "Newton corrections after the rounds of a step at most; -1: until they meet the target where something touches or cables and joins hold; 0: rounds alone, as for real time"},
    {"inner", TL_INTEGER, AT(inner), "", WITHIN(1, 1000), "3", "contact steps per round"},
    {"local_step", TL_CHOICE, AT(local), "", ANY, "exact", "`exact` is projective for `arap` and ADMM for others; `newton` is quasi-Newton with a line search; `prox` is softer than the material it names, for comparison", "exact|newton|prox"},
    {"global_step", TL_CHOICE, AT(global), "", ANY, "factor", "Cholesky factor, sparse inverse of the factor, or Jacobi steps (for comparison)", "factor|inverse|jacobi"},
    {"precision", TL_CHOICE, AT(precision), "", ANY, "float", "of the global step's increments; positions are always double", "float|double"},
    {"chebyshev", TL_NUMBER, AT(chebyshev), "", WITHIN(0, 0.99999), "0", "spectral radius that `jacobi` assumes for Chebyshev weights; 0: none"},
    {"contact_law", TL_CHOICE, AT(ncp), "", ANY, "fischer-burmeister", "equations of contact and friction; `minimum-printed` has the factor that makes the published minimum map stick, for comparison", "fischer-burmeister|minimum|minimum-printed"},
    {"contact_form", TL_CHOICE, AT(form), "", ANY, "exact", "Newton steps of the contact laws: rows divided by their weights, or weighted on both sides as published", "exact|symmetric"},
    {"preconditioner", TL_CHOICE, AT(scale), "", ANY, "compliance", "what scales forces in the contact laws: the diagonal of the contact compliance, or inverse masses (for comparison: sticks or chatters)", "compliance|mass"},
    {"compliance", TL_CHOICE, AT(compliance), "", ANY, "auto", "contact compliance as a matrix between the nodes that touch, or by solves with the factor; `auto` decides by their number", "auto|explicit|matrix-free"},
    {"cr_iterations", TL_INTEGER, AT(cr), "", WITHIN(1, 10000), "10", "conjugate residual iterations per contact step; 24 where friction decides"},
    {"project_friction", TL_BOOLEAN, AT(project), "", ANY, "true", "the law of friction is linearised as if friction were within its disc; `false` creeps, for comparison"},
    {"guard", TL_BOOLEAN, AT(guard), "", ANY, "true", "elastic surfaces that would pass through each other on the way of a step are held apart by impulses along their normals, whatever contact was found; `false` for comparison"},
};
#undef OBJECT
static const tl_context lg = {"lg", "lg", "The rounds of the local-global engine.", NULL, KEYS(lg_keys), sizeof(tl_lg_spec), NULL, false};

#define OBJECT tl_fem_spec
static const tl_key fem_keys[] = {
    {"integrator", TL_CHOICE, AT(integrator), "", ANY, "euler", "implicit Euler damps; `midpoint` keeps momentum, angular momentum and oscillations of bodies that nothing touches, those with a contact in reach take Euler's step", "euler|midpoint"},
    {"elements", TL_CHOICE, AT(elements), "", ANY, "auto", "`auto`: hexahedra where a box has `cells`, else `smoothed`; `smoothed`: strains are means over the tetrahedra around each edge, which hardly lock; `tets`: one strain per tetrahedron, cheaper and too stiff", "auto|smoothed|tets"},
    {"iterations", TL_INTEGER, AT(iterations), "", WITHIN(0, 1000), "0", "Newton corrections per step at most; 0: 40"},
};
#undef OBJECT
static const tl_context fem = {"fem", "fem", "Finite elements: how elastic bodies of the grid engine are computed.", NULL, KEYS(fem_keys), sizeof(tl_fem_spec), NULL, false};

/* ---- materials ---- */

#define OBJECT tl_material
#define DENSITY {"density", TL_NUMBER, AT(density), "kg/m^3", ABOVE(0), NULL, "mass per volume"}
#define NAMED {"name", TL_TEXT, AT(name), "", ANY, "", "for `contacts` and for messages"}
#define LOOKS(default_colour)                                                                              \
    {"colour", TL_COLOUR, AT(colour), "", WITHIN(0, 1), default_colour, "how it is drawn"},                  \
    {"opacity", TL_NUMBER, AT(opacity), "", WITHIN(0, 1), "1", "1 is solid, 0 is not there; glass is about 0.2"}
#define RUBBING                                                                                                                   \
    {"friction", TL_TIMED1, AT(friction), "", WITHIN(0, 100), "0.5", "Coulomb coefficient, or a function of time; see `contacts`"}, \
    {"restitution", TL_NUMBER, AT(restitution), "", WITHIN(0, 1), "0", "speed after an impact over speed before"}

static const tl_key granular_keys[] = {
    NAMED, DENSITY,
    {"friction_angle_deg", TL_NUMBER, AT(friction_angle_deg), "degrees", WITHIN(0, 89), NULL, "internal friction: the slope that a heap keeps"},
    {"angle_means", TL_CHOICE, AT(angle_means), "", ANY, "cone", "friction on a plane: `cone`, the sine of the angle, as in Mohr's circle; `slope`, its tangent, so that a layer slips at that slope (up to 45 degrees)", "cone|slope"},
    {"dynamic_friction_angle_deg", TL_NUMBER, AT(dynamic_friction_angle_deg), "degrees", WITHIN(0, 89), "0", "friction of fast flow: mu(I) = mu_1 + (mu_2 - mu_1) / (1 + I0 / I) with I = shear rate grain_size / sqrt(pressure / grain density), grains being 0.6 of the volume; 0: with `grain_size`, 1.685 times the friction, as measured for glass beads, and at most 1"},
    {"grain_size", TL_NUMBER, AT(grain_size), "m", FROM(0), "0", "diameter of grains: friction rises with the shear rate, up to that of `dynamic_friction_angle_deg`; 0: one friction at all rates"},
    {"inertial_number", TL_NUMBER, AT(inertial_number), "", ABOVE(0), "0.279", "I0 of mu(I)"},
    {"cohesion", TL_NUMBER, AT(cohesion), "Pa", WITHIN(0, 1e9), "0", "shear that a plane bears without pressure (Mohr-Coulomb); sand still bears no tension"},
    LOOKS("#c9a66b"),
};
static const tl_key liquid_keys[] = {
    NAMED, DENSITY,
    {"surface_tension", TL_NUMBER, AT(surface_tension), "N/m", WITHIN(0, 100), "0", "of the free surface"},
    LOOKS("#4a90c2"),
};
static const tl_key viscous_keys[] = {
    NAMED, DENSITY,
    {"viscosity", TL_NUMBER, AT(viscosity), "Pa s", ABOVE(0), NULL, "dynamic viscosity"},
    {"surface_tension", TL_NUMBER, AT(surface_tension), "N/m", WITHIN(0, 100), "0", "of the free surface"},
    LOOKS("#d99a2b"),
};
static const tl_key elastic_keys[] = {
    NAMED, DENSITY,
    {"young", TL_NUMBER, AT(young), "Pa", ABOVE(0), NULL, "Young's modulus"},
    {"poisson", TL_NUMBER, AT(poisson), "", WITHIN(0, 0.4999), NULL, "Poisson's ratio"},
    {"model", TL_CHOICE, AT(model), "", ANY, "stable_neo_hookean", "energy; `neo_hookean` is the ln J form of the lg engine. The grid engine has `stable_neo_hookean`, and the same without its logarithm, which stays collapsed once it is, for comparison", "stable_neo_hookean|neo_hookean|arap|corotated|stable_neo_hookean_nolog"},
    {"damping", TL_NUMBER, AT(damping), "s", WITHIN(0, 1e6), "0", "inner friction (Kelvin and Voigt): stress of a rate of strain over that of the strain. An oscillation of angular frequency w falls as exp(-damping w^2 t / 2); turning is not damped", .engines = TL_ON_GRID | TL_ON_LG},
    RUBBING, LOOKS("#b5534b"),
};
static const tl_key solid_keys[] = {NAMED, DENSITY, RUBBING,
    {"rolling_friction", TL_NUMBER, AT(rolling_friction), "m", WITHIN(0, 1e3), "0", "torque that resists rolling at a contact, at most, over its normal force; see bodies", .engines = TL_ON_GRID},
    {"spinning_friction", TL_NUMBER, AT(spinning_friction), "m", WITHIN(0, 1e3), "0", "the same for turning about the normal; see bodies", .engines = TL_ON_GRID},
    LOOKS("#9aa0a6")};
#undef OBJECT

#define MATERIAL(word, keys, help) {word, "a " word " material", help, NULL, KEYS(keys), sizeof(tl_material), NULL, true}
static const tl_context granular = MATERIAL("granular", granular_keys, "Sand, gravel, grain: resists shear in proportion to pressure. `friction` of solids acts on it where they say `sand_friction = \"own\"`; else its own friction does.");
static const tl_context liquid = MATERIAL("liquid", liquid_keys, "A liquid without viscosity of its own.");
static const tl_context viscous = MATERIAL("viscous", viscous_keys, "A liquid with viscosity.");
static const tl_context elastic = {"elastic", "an elastic material", "For bodies that deform and come back.", NULL, KEYS(elastic_keys), sizeof(tl_material), NULL, true};
static const tl_context solid = MATERIAL("solid", solid_keys, "For rigid bodies: what several bodies share.");

/* ---- things ---- */

#define OBJECT tl_fill
static const tl_key fill_keys[] = {
    {"material", TL_MATERIAL, AT(material), "", ANY, NULL, "granular, liquid or viscous"},
    {"shape", TL_SHAPE, AT(shape), "", ANY, NULL, "what is filled, in world coordinates; bodies inside are cut out"},
    {"velocity", TL_VEC3, AT(velocity), "m/s", ANY, "{0, 0, 0}", "at the start"},
    {"spacing", TL_NUMBER, AT(spacing), "m", FROM(0), "0", "distance of particles; 0: half a cell, or `sph.spacing`"},
    {"sampling", TL_CHOICE, AT(sampling), "", ANY, "jitter", "how particles are placed", "lattice|jitter|blue_noise"},
};
#undef OBJECT
static const tl_context fill = {"fill", "a fill", "Material that is there at the start.", NULL, KEYS(fill_keys), sizeof(tl_fill), NULL, true};

#define OBJECT tl_emitter
static const tl_key emitter_keys[] = {
    {"material", TL_MATERIAL, AT(material), "", ANY, NULL, "granular, liquid or viscous"},
    {"shape", TL_SHAPE, AT(shape), "", ANY, NULL, "where it comes from, in world coordinates"},
    {"velocity", TL_TIMED3, AT(velocity), "m/s", ANY, "{0, 0, 0}", "of what comes out, or a function of time"},
    {"rate", TL_TIMED1, AT(rate), "m^3/s", FROM(0), NULL, "volume per second, or a function of time"},
    {"start", TL_NUMBER, AT(start), "s", FROM(0), "0", "when it opens"},
    {"stop", TL_NUMBER, AT(stop), "s", FROM(0), "1e9", "when it closes"},
    {"spacing", TL_NUMBER, AT(spacing), "m", FROM(0), "0", "distance of particles; 0: as in a fill", .engines = TL_ON_GRID},
};
#undef OBJECT
static const tl_context emitter = {"emitter", "an emitter", "Material that arrives later.", NULL, KEYS(emitter_keys), sizeof(tl_emitter), NULL, true};

#define OBJECT tl_body
static const tl_key body_keys[] = {
    {"name", TL_TEXT, AT(name), "", ANY, "", "unique; \"body 3\" when not given"},
    {"kind", TL_CHOICE, AT(kind), "", ANY, "", "`free` moves by forces, `kinematic` by its `motion`, `static` never; default: kinematic with a motion, else free", "free|kinematic|static"},
    {"shape", TL_SHAPE, AT(shape), "", ANY, NULL, "in the body's own frame"},
    {"material", TL_MATERIAL, AT(material), "", ANY, "", "solid or elastic; gives density, friction (rolling and spinning too), restitution and colour that the body does not state"},
    {"at", TL_VEC3, AT(at), "m", ANY, "{0, 0, 0}", "where the origin of the shape's frame is"},
    ROTATIONS("how the shape is turned about its origin"),
    {"velocity", TL_VEC3, AT(velocity), "m/s", ANY, "{0, 0, 0}", "of the centre of mass at the start"},
    {"spin_rad_per_s", TL_VEC3, AT(spin), "rad/s", ANY, "{0, 0, 0}", "angular velocity at the start, world frame"},
    {"density", TL_NUMBER, AT(density), "kg/m^3", ABOVE(0), "", "mass per volume; a free body needs this, `mass`, or a material"},
    {"mass", TL_NUMBER, AT(mass), "kg", ABOVE(0), "", "instead of `density`"},
    {"center_of_mass", TL_VEC3, AT(center_of_mass), "m", ANY, "", "rigid bodies with an `inertia`: in the body's own frame; default: that of the shape"},
    {"inertia", TL_VEC3, AT(inertia), "kg m^2", FROM(0), "", "rigid bodies with a `mass`: moments of inertia xx, yy, zz about the centre of mass, axes of the body's frame; default: those of the shape filled evenly"},
    {"inertia_products", TL_VEC3, AT(inertia_products), "kg m^2", ANY, "{0, 0, 0}", "entries xy, xz, yz of the matrix of inertia (as URDF has them: minus the sum of mass times x y, ...)"},
    {"friction", TL_TIMED1, AT(friction), "", WITHIN(0, 100), "0.5", "Coulomb coefficient against other solids, or a function of time; on sand with `sand_friction = \"own\"`"},
    {"sand_friction", TL_CHOICE, AT(sand_friction), "", ANY, "material", "shear of sand along the body, over the pressure on it, at most: `material`, as inside of the sand, sin(friction_angle_deg) (a rough wall); `own`, the body's `friction` where that is less", "material|own", .engines = TL_ON_GRID},
    {"liquid_slip", TL_BOOLEAN, AT(liquid_slip), "", ANY, "false", "viscous liquids slip along the body; `false`: they stick to it", .engines = TL_ON_GRID},
    {"restitution", TL_NUMBER, AT(restitution), "", WITHIN(0, 1), "0", "speed after an impact over speed before"},
    {"rolling_friction", TL_NUMBER, AT(rolling_friction), "m", WITHIN(0, 1e3), "0", "torque that resists rolling at a contact, at most, over its normal force: a ball of radius R stays on slopes up to this over R. Of a pair the larger one counts", .engines = TL_ON_GRID},
    {"spinning_friction", TL_NUMBER, AT(spinning_friction), "m", WITHIN(0, 1e3), "0", "the same for spinning about the normal of a contact", .engines = TL_ON_GRID},
    {"motion", TL_POSE, AT(motion), "", ANY, "", "function of time that returns `{ at = ..., rotation = ... }` (or rotation_deg, rotation_rad); what it leaves out stays as the body has it. Velocities are the exact difference of poses"},
    {"force", TL_TIMED3, AT(force), "N", ANY, "{0, 0, 0}", "at the centre of mass, or a function of time"},
    {"torque", TL_TIMED3, AT(torque), "N m", ANY, "{0, 0, 0}", "world frame, or a function of time"},
    {"colour", TL_COLOUR, AT(colour), "", WITHIN(0, 1), "#9aa0a6", "how it is drawn"},
    {"opacity", TL_NUMBER, AT(opacity), "", WITHIN(0, 1), "1", "1 is solid, 0 is not there; glass is about 0.2"},
    {"anchor", TL_SHAPE, AT(anchor), "", ANY, "", "elastic bodies: nodes inside of this shape (body frame) keep to the body's pose", .engines = TL_ON_LG | TL_ON_GRID},
    {"pressure", TL_TIMED1, AT(pressure), "Pa", ANY, "0", "elastic bodies: pushes its surface along the outward normals, wherever these turn (of an open cloth along its normals), a number or a function of time: blows a closed cloth up; below 0 it presses on a solid", .engines = TL_ON_LG},
    {"pressure_in", TL_SHAPE, AT(pressure_in), "", ANY, "", "`pressure` acts on triangles of the surface whose corners are inside of this shape (body frame, at rest), as on the wall of a cavity; default: on all", .engines = TL_ON_LG},
    {"edge", TL_NUMBER, AT(edge), "m", FROM(0), "0", "elastic bodies: edge of the tetrahedra; 0: from the shape (engine `grid`: such that all bodies together have some 1500 nodes; `talus check` says how many and how long that takes), or those of its file", .engines = TL_ON_LG | TL_ON_GRID},
    {"cells", TL_INTEGER3, AT(cells), "", WITHIN(0, 4096), "{0, 0, 0}", "elastic boxes: regular cells along x, y and z instead of `edge`; of a cloth, squares of four triangles", .engines = TL_ON_LG | TL_ON_GRID},
    {"element", TL_CHOICE, AT(element), "", ANY, "hexahedron", "what `cells` are: hexahedra, which bend and twist as they should from one cell across on; or six tetrahedra each, as in papers, which lock", "hexahedron|tetrahedra", .engines = TL_ON_LG},
    {"thickness", TL_NUMBER, AT(thickness), "m", FROM(0), "0", "elastic bodies: above 0 the body is a cloth: the middle plane of the flat box that is its shape, or the triangles of its `sheet` or `mesh`, curved at rest as they are", .engines = TL_ON_LG},
    {"bending", TL_CHOICE, AT(bending), "", ANY, "hinge", "of a cloth: angles between triangles, curvature at nodes, or none", "hinge|ring|none", .engines = TL_ON_LG},
    {"bending_stiffness", TL_NUMBER, AT(bending_stiffness), "N m", FROM(-1), "-1", "of a cloth; -1: Young's modulus times thickness^3 / (12 (1 - poisson^2))", .engines = TL_ON_LG},
    {"anchor_weight", TL_NUMBER, AT(anchor_weight), "N/m", FROM(0), "0", "stiffness of the anchor at each node; 0: 20 shear moduli times the mean edge with engine `lg`, held exactly with engine `grid`", .engines = TL_ON_LG | TL_ON_GRID},
    {"self_contact", TL_BOOLEAN, AT(self_contact), "", ANY, "false", "elastic bodies: whether its parts touch each other", .engines = TL_ON_LG | TL_ON_GRID},
};
#undef OBJECT
static const tl_context body = {"body", "a body", "A rigid solid, or an elastic one when its material is elastic.", NULL, KEYS(body_keys), sizeof(tl_body), NULL, true};

#define OBJECT tl_handle
static const tl_key handle_keys[] = {
    {"body", TL_TEXT, AT(body), "", ANY, NULL, "name of the elastic body"},
    {"shape", TL_SHAPE, AT(shape), "", ANY, NULL, "nodes inside of this shape (world coordinates, at the start) are led"},
    {"at", TL_VEC3, AT(at), "m", ANY, "{0, 0, 0}", "place that the motion starts from and turns about"},
    {"motion", TL_POSE, AT(motion), "", ANY, "", "function of time that returns `{ at = ..., rotation = ... }`; what it leaves out stays as it was. Without one, nodes are held"},
    {"weight", TL_NUMBER, AT(weight), "N/m", FROM(0), "0", "stiffness at each node; 0: 20 shear moduli times the mean edge with engine `lg`, held exactly with engine `grid`"},
};
#undef OBJECT
static const tl_context handle = {"handle", "a handle", "Nodes of an elastic body that are led along a pose of their own: grips, clamps, turning ends.", NULL, KEYS(handle_keys), sizeof(tl_handle), NULL, true};

#define OBJECT tl_cable
static const tl_key cable_keys[] = {
    {"body", TL_TEXT, AT(body), "", ANY, NULL, "name of the elastic body"},
    {"points", TL_PATH, AT(path), "m", ANY, NULL, "where the cable runs, world coordinates at the start; each point moves with the body's matter around it"},
    {"length", TL_TIMED1, AT(length), "m", FROM(-1), "-1", "sum of the distances between the points, or a function of time; -1: as at the start"},
    {"compliance", TL_NUMBER, AT(compliance), "m/N", FROM(1e-9), "1e-6", "how much longer it gets per newton"},
    {"two_sided", TL_BOOLEAN, AT(two_sided), "", ANY, "false", "also push when shorter than `length`; else it only pulls"},
};
#undef OBJECT
static const tl_context cable = {"cable", "a cable", "A line of given length through points of an elastic body: a tendon that bends a finger.", "cables = { { body = \"finger\", points = { {0, 0, 0.02}, {0, 0.1, 0.02}, {0, 0.2, 0.02} }, length = function(t) return 0.2 - 0.05 * t end } }",
                                 KEYS(cable_keys), sizeof(tl_cable), NULL, true};

#define OBJECT tl_join
static const tl_key join_keys[] = {
    {"body", TL_TEXT, AT(body), "", ANY, NULL, "name of the elastic body"},
    {"shape", TL_SHAPE, AT(shape), "", ANY, NULL, "nodes inside of this shape (world coordinates, at the start) are bound"},
    {"to", TL_TEXT, AT(to), "", ANY, "", "name of another body: each node keeps to the nearest place of an elastic one, to its place in the frame of a rigid one, which it then does not touch; default: to places of the world"},
    {"at", TL_VEC3, AT(at), "m", ANY, "{0, 0, 0}", "without `to`: place that the motion starts from and turns about"},
    {"motion", TL_POSE, AT(motion), "", ANY, "", "without `to`: function of time that returns `{ at = ..., rotation = ... }`, as of a handle"},
    {"compliance", TL_NUMBER, AT(compliance), "m/N", FROM(1e-9), "1e-8", "of each node along each axis: 1 over a stiffness"},
};
#undef OBJECT
static const tl_context join = {"join", "a join", "Nodes of an elastic body that are bound to the world or to another body, elastic or rigid. A handle does the same with springs inside of the elastic solve; a join is a constraint, solved with the contacts, and may be as stiff as one likes.", NULL,
                                KEYS(join_keys), sizeof(tl_join), NULL, true};

#define OBJECT tl_motor_spec
static const tl_key motor_keys[] = {
    {"force", TL_TIMED1, AT(force), "N or N m", ANY, "0", "force or torque on `a` along the axis, its opposite on `b`; a number or a function of time"},
    {"speed", TL_TIMED1, AT(speed), "m/s or rad/s", ANY, "0", "speed of `a` against `b` at the end of each step, with whatever force that takes, up to `max`; a number or a function of time"},
    {"position", TL_TIMED1, AT(position), "m or rad", ANY, "0", "where the coordinate is to be, 0 at the start; a number or a function of time. Without gains it is there exactly, up to `max`"},
    {"stiffness", TL_NUMBER, AT(stiffness), "N/m or N m/rad", FROM(0), "0", "gain of `position`: force per error"},
    {"damping", TL_NUMBER, AT(damping), "N s/m or N m s/rad", FROM(0), "0", "gain of `position`: force per error of the speed"},
    {"max", TL_NUMBER, AT(max), "N or N m", FROM(0), "0", "of `speed` and `position`: force or torque that it can have; 0: any"},
};
#undef OBJECT
static const tl_context motor = {"motor", "a motor", "Drives the free coordinate of a hinge, slider, cylinder (along its axis) or screw (its turning): one of `force`, `speed` and `position`.", "motor = { speed = function(t) return math.min(t, 2) end, max = 5 }",
                                 KEYS(motor_keys), sizeof(tl_motor_spec), NULL, true};

#define OBJECT tl_joint_spec
static const tl_key joint_keys[] = {
    {"name", TL_TEXT, AT(name), "", ANY, "", "for tables, messages and motors that a program drives"},
    {"kind", TL_CHOICE, AT(kind), "", ANY, NULL, "what it leaves free: `fixed` nothing; `ball` turning; `hinge` turning about the axis; `slider` motion along it; `cylinder` both; `screw` both, one following the other; `universal` turning about two axes; `planar` motion in a plane and turning in it; `distance` all but the length between two points; `rope` the same, which may be slack; `spring` nothing is held, a spring and damper pull; `gear` couples how two bodies turn", "fixed|ball|hinge|slider|cylinder|universal|planar|distance|rope|spring|gear|screw"},
    {"a", TL_TEXT, AT(a), "", ANY, NULL, "name of a body"},
    {"b", TL_TEXT, AT(b), "", ANY, "", "name of another one; default: the world"},
    {"at", TL_VEC3, AT(at), "m", ANY, "", "where the joint is, world coordinates at the start"},
    {"at_a", TL_VEC3, AT(at_a), "m", ANY, "", "the same in the frame of `a`"},
    {"at_b", TL_VEC3, AT(at_b), "m", ANY, "", "the same in the frame of `b`. Distances, ropes and springs have two points: default the origins of both frames"},
    {"axis", TL_VEC3, AT(axis), "", ANY, "", "world direction at the start: of a hinge, slider, cylinder or screw; normal of a planar joint; first axis of a universal joint, which turns with `a`; axis of `a` in a gear; of a ball with `limits` the direction whose swing is limited"},
    {"axis_b", TL_VEC3, AT(axis_b), "", ANY, "", "second axis of a universal joint, which turns with `b`; axis of `b` in a gear (default: `axis`)"},
    {"limits", TL_RANGE, AT(limits), "m or rad", ANY, "", "of the free coordinate, which is 0 at the start: of a slider or cylinder along the axis, of a hinge or screw about it; of a ball the angle between `axis` in both frames, its first number 0"},
    {"friction", TL_NUMBER, AT(friction), "N or N m", FROM(0), "0", "force or torque that resists moving along the free coordinate"},
    {"compliance", TL_NUMBER, AT(compliance), "m/N, rad/(N m)", FROM(0), "0", "what it holds gives way by this per newton, and turns by this per newton metre; 0: not at all"},
    {"breaks_at", TL_NUMBER, AT(breaks_at), "N", FROM(0), "0", "a step in which it carries more breaks it for good; 0: never"},
    {"breaks_torque", TL_NUMBER, AT(breaks_turn), "N m", FROM(0), "0", "the same of torques"},
    {"length", TL_NUMBER, AT(length), "m", FROM(-1), "-1", "of a distance, rope or spring; -1: as at the start"},
    {"stiffness", TL_NUMBER, AT(stiffness), "N/m", FROM(0), "0", "of a spring"},
    {"damping", TL_NUMBER, AT(damping), "N s/m", FROM(0), "0", "of a spring"},
    {"ratio", TL_NUMBER, AT(ratio), "", ANY, "-1", "of a gear: speed of `a` about its axis over that of `b` about its own, both against the world; negative: they turn opposite ways"},
    {"pitch", TL_NUMBER, AT(pitch), "m", ANY, "0", "of a screw: way of `a` along the axis per turn"},
    {"grip", TL_NUMBER, AT(grip), "m", FROM(0), "0", "of elastic bodies: nodes within this distance of the anchor are held, by their mean motion; 0: a quarter of the body's smallest extent, but at least 1.5 edges of its mesh", .engines = TL_ON_LG},
    {"collide", TL_BOOLEAN, AT(collide), "", ANY, "false", "whether `a` and `b` also touch each other"},
    {"motor", TL_TABLE, AT(motor), "", ANY, "", "what drives it", .inside = &motor},
};
#undef OBJECT
static const tl_context joint = {"joint", "a joint", "Two bodies, or one and the world, that can move against each other in some ways only; solved together with the contacts, exactly. Frames are taken from the poses at the start. See docs/joints.md.", "joints = { { name = \"hinge\", kind = \"hinge\", a = \"door\", at = {0, 1, 0}, axis = {0, 1, 0}, limits = {0, 1.5} } }",
                                 KEYS(joint_keys), sizeof(tl_joint_spec), NULL, true};

#define OBJECT tl_import_args
static const tl_key import_keys[] = {
    {"file", TL_TEXT, AT(file), "", ANY, NULL, "a URDF file, or one of MJCF, in the scene's folder or below; its meshes too"},
    {"at", TL_VEC3, AT(at), "m", ANY, "{0, 0, 0}", "where the origin of the file is"},
    ROTATIONS("how the file is turned about its origin"),
    {"up", TL_CHOICE, AT(up), "", ANY, "z", "which axis of the file is y of the scene: `z`, as in most such files; `y`: axes stay as they are", "z|y"},
    {"fixed_base", TL_BOOLEAN, AT(fixed_base), "", ANY, "false", "what nothing holds does not move: the first link of URDF, bodies with a free joint of MJCF. A link `world` of URDF never does"},
    {"prefix", TL_TEXT, AT(prefix), "", ANY, "", "put before all names, so that a file can be read twice"},
    {"density", TL_NUMBER, AT(density), "kg/m^3", ABOVE(0), "1000", "of what the file gives no mass, inertia or density"},
};
#undef OBJECT
static const tl_context import = {"import", "an import", "A robot from a file: `import { file = ... }` returns `{ bodies = {...}, joints = {...}, body = {...}, joint = {...}, effort = {...} }`, lists as a scene has them and the same tables by the names in the file. `scene { import { ... }, ... }` puts them into the scene. What of the file is not understood is told with its lines. See docs/import.md.", "scene { import { file = \"arm.urdf\", fixed_base = true }, talus = 1, engine = \"grid\", duration = 2 }",
                                  KEYS(import_keys), sizeof(tl_import_args), NULL, true};

#define OBJECT tl_region
static const tl_key region_keys[] = {
    {"body", TL_TEXT, AT(body), "", ANY, NULL, "name of the elastic body, whose shape is a `mesh` of tetrahedra"},
    {"region", TL_INTEGER, AT(number), "", WITHIN(-2147483647, 2147483647), NULL, "number of the region in the file: of .msh the physical group, or the entity where there is none; of .vtk the cell data `region`, `material`, `CellEntityIds` or `gmsh:physical`"},
    {"material", TL_MATERIAL, AT(material), "", ANY, NULL, "elastic; gives `young` and `density`, and has the body's `model` and `poisson`"},
};
#undef OBJECT
static const tl_context region = {"region", "a region", "A part of an elastic body that is stiffer, softer, heavier or lighter than the rest, as its file of tetrahedra numbers it.", "regions = { { body = \"sole\", region = 2, material = elastic { young = 1e7, poisson = 0.3, density = 1100 } } }",
                                  KEYS(region_keys), sizeof(tl_region), NULL, true};

#define OBJECT tl_contact_pair
static const tl_key contact_keys[] = {
    {"between", TL_NAMES2, AT(between), "", ANY, NULL, "two names of materials or bodies, or \"walls\""},
    {"friction", TL_NUMBER, AT(friction), "", WITHIN(0, 100), "", "Coulomb coefficient of this pair"},
    {"restitution", TL_NUMBER, AT(restitution), "", WITHIN(0, 1), "", "bounce of this pair"},
    {"rolling_friction", TL_NUMBER, AT(rolling_friction), "m", WITHIN(0, 1e3), "", "of this pair", .engines = TL_ON_GRID},
    {"spinning_friction", TL_NUMBER, AT(spinning_friction), "m", WITHIN(0, 1e3), "", "of this pair", .engines = TL_ON_GRID},
};
#undef OBJECT
static const tl_context contact = {"contact", "a contact",
                                   "Friction and bounce of one pair. Without an entry, friction is the geometric mean of the two coefficients (equal ones stay, a frictionless one wins) and "
                                   "restitution, rolling and spinning friction are the larger of the two. The last entry that names a pair decides; a body goes by its own name and by its material's.",
                                   NULL, KEYS(contact_keys), sizeof(tl_contact_pair), NULL, true};

/* ---- solver ---- */

#define OBJECT tl_method_spec
#define METHOD_KEY(words) {"method", TL_WORD, AT(method), "", ANY, "", "by name; default: the scheme's own", words}
#define ITERATIONS {"iterations", TL_INTEGER, AT(iterations), "", WITHIN(0, 1000000), "0", "at most; 0: the method's own"}
static const tl_key pressure_keys[] = {
    METHOD_KEY("multigrid|mic|multigrid-double|cg-multigrid|cg-mic|cg|mprgp|mprgp-original|admm|pip|auglag|nncg|jacobi|interlinked"),
    {"tolerance", TL_NUMBER, AT(tolerance), "", WITHIN(0, 1), "0", "0: that of the solver", .engines = TL_ON_SPH},
    ITERATIONS,
};
static const tl_key friction_keys[] = {
    METHOD_KEY("apgd|auglag-ipn|jcsp|jcsp-pyramid|narain|narain-printed|box|primal-dual"),
    {"precond", TL_WORD, AT(precond), "", ANY, "", "preconditioner of methods that solve stress by parts; default: jacobi", "jacobi|ssor"},
    ITERATIONS,
};
static const tl_key elastic_method_keys[] = {
    METHOD_KEY("schur|schur-last|g|g-scaled|g-matfree|nf|ic|ucg|ucg-mprgp|admm|ica|sum"),
    {"precond", TL_WORD, AT(precond), "", ANY, "", "preconditioner of schemes that write out liquid and solids as one matrix, pec-g, pec-g-scaled, pec-z1z2 and pec-ica; default: ic", "ic|mic|ssor|jacobi|none"},
};
#undef OBJECT
#define METHOD(name, article, keys, help) {name, article, help, NULL, KEYS(keys), sizeof(tl_method_spec), "method", false}
static const tl_context pressure_method = METHOD("pressure", "a pressure method", pressure_keys, "A method for box-constrained problems; with engine \"sph\" for pressures, contacts and friction together: `nncg`, `jacobi` or `interlinked`. A bare text is its `method`: `pressure = \"mprgp\"`.");
static const tl_context friction_method = METHOD("friction", "a friction method", friction_keys, "A method for cone-constrained problems: shear stress of sand.");
static const tl_context elastic_method = METHOD("elastic method", "an elastic method", elastic_method_keys, "How velocities of elastic nodes and impulses of contacts are found in a Newton correction. All end in the same; all but `schur` and `schur-last` are for comparison and slower. See docs/elastic.md.");

#define OBJECT tl_contact_spec
static const tl_key contact_method_keys[] = {
    {"method", TL_WORD, AT(method), "", ANY, "", "by name; default: `newton-shift`, with `cone = \"pyramid\"` `pgs-pyramid`; that one and `*-convex` solve other problems, for comparison", "newton-shift|newton-convex|apgd-shift|apgd-convex|admm|pgs|pgs-momentum|pgs-pyramid|staggered", .engines = TL_ON_GRID},
    {"tolerance", TL_NUMBER, AT(tolerance), "m/s", WITHIN(0, 1), "0", "largest error of a contact's velocity; 0: 1e-7 of what forces do in a step (g dt), or 1e-5 of the fastest body's speed if that is more"},
    {"iterations", TL_INTEGER, AT(iterations), "", WITHIN(0, 1000000), "0", "at most; 0: the method's own", .engines = TL_ON_GRID},
    {"slop", TL_NUMBER, AT(slop), "m", FROM(0), "0", "overlap that is left alone; deeper ones are pushed out after the step, without changing velocities; 0: 2e-3 of the smallest extent of the free bodies", .engines = TL_ON_GRID},
    {"touch", TL_NUMBER, AT(touch), "", WITHIN(0, 1), "0.01", "of the slop: points that carried in the step before and are apart by no more than this still touch; 0: any gap has to close first, so that heaps that lie look for new forces in every step", .engines = TL_ON_GRID},
    {"keep", TL_NUMBER, AT(keep), "", WITHIN(0, 0.1), "0.001", "of the slop: bodies that stand on each other and have moved against each other by no more than this keep their contact points, moved along with them; 0: all points are found anew in every step", .engines = TL_ON_GRID},
    {"impacts", TL_CHOICE, AT(impacts), "", ANY, "together", "restitution of several contacts at once: all of them together, or one after the other, the fastest first, as in Newton's cradle", "together|sequence", .engines = TL_ON_GRID},
    {"bound", TL_BOOLEAN, AT(bound), "", ANY, "true", "scenes of rigid bodies: energy that moving bodies along chords and pushing overlaps apart has made is taken from velocities; `false` for comparison", .engines = TL_ON_GRID},
    {"rest", TL_BOOLEAN, AT(rest), "", ANY, "false", "scenes of rigid bodies: islands of bodies that touch, do not move (1e-7 of g dt, or `tolerance`) and that nothing comes near keep places and forces, and cost next to nothing", .engines = TL_ON_GRID},
};
#undef OBJECT
static const tl_context contact_method = {"contact method", "a contact method", "A method for contacts of solids. A bare text is its `method`: `contact = \"pgs\"`.", NULL, KEYS(contact_method_keys), sizeof(tl_contact_spec), "method", false};

#define OBJECT tl_parts_spec
static const tl_key parts_keys[] = {
    {"pyramid", TL_NUMBER, AT(pyramid), "", WITHIN_OPEN(0, 2), "0.7071067811865476", "half-width of boxes over the cone's radius; the papers' text says 1, which is sqrt 2 too strong"},
    {"loose", TL_NUMBER, AT(loose), "", WITHIN(0, 100), "3", "auxiliary boxes around the cone, over its radius / sqrt 2; 1 is tight and cuts it, 0: none"},
    {"damping", TL_NUMBER, AT(damping), "", WITHIN(0, 1), "0", "of steps of all components at once; 0: 0.3 for the cone, 0.5 for boxes"},
    {"penalty", TL_NUMBER, AT(penalty), "", WITHIN(0, 1e9), "0", "of the cone, relative to the largest row of the matrix; 0: 100 for colocated stress, 1 for staggered, which locks with more"},
    {"keep", TL_BOOLEAN, AT(keep), "", ANY, "false", "multipliers of the cone go on from sweep to sweep"},
    {"line_search", TL_BOOLEAN, AT(line_search), "", ANY, "false", "instead of the damping"},
    {"newton", TL_INTEGER, AT(newton), "", WITHIN(1, 1000), "1", "steps per sweep"},
    {"stiffen", TL_NUMBER, AT(stiffen), "", WITHIN(0, 1), "0", "added to the diagonal of the Hessian, relative to its largest row"},
    {"as_energy", TL_BOOLEAN, AT(as_energy), "", ANY, "false", "and to the energy, as printed: heaps then melt"},
};
#undef OBJECT
static const tl_context parts = {"parts", "stress by parts", "Options of `jcsp`, `jcsp-pyramid`, `narain`, `narain-printed`, `box` and `primal-dual`.", NULL, KEYS(parts_keys), sizeof(tl_parts_spec), NULL, false};

#define OBJECT tl_rules_spec
static const tl_key rules_keys[] = {
    {"closed_slivers", TL_BOOLEAN, AT(closed_slivers), "", ANY, "true", "sand: a face that a solid covers by three quarters or more is the solid's; viscous liquid: one whose centre lies in a solid that it sticks to moves with it"},
    {"closed_fringe", TL_BOOLEAN, AT(closed_fringe), "", ANY, "true", "a face that a solid covers in part, that shear reaches and no pressure holds is the solid's: beyond the front of a pile the floor goes on"},
    {"single_grains", TL_BOOLEAN, AT(single_grains), "", ANY, "true", "grains where no pressure acts are points in contact with solids, and have no velocity gradient"},
};
#undef OBJECT
static const tl_context rules = {"rules", "rules of sand", "Rules of sand beyond its equations; `false` turns one off, for comparison. See docs/grid.md.", NULL, KEYS(rules_keys), sizeof(tl_rules_spec), NULL, false};

#define OBJECT tl_solver_spec
static const tl_key solver_keys[] = {
    {"scheme", TL_WORD, AT(scheme), "", ANY, "", "order of the block solves; default: the engine's", "p-c|c-p|t-pn|t-p-n|p-tn|tn-pn|pf-c|c-pf|t-f-pn|t-f-p-n|f-p-c|pec|pe-ec|ec-pe|pec-gs|pec-g|pec-g-scaled|pec-z1z2|pec-ica|pec-ucg|pvec|pve-ec|ec-pve|pvec-ucg", .engines = TL_ON_GRID},
    {"stress", TL_CHOICE, AT(stress), "", ANY, "colocated", "where shear stress lives", "colocated|staggered", .engines = TL_ON_GRID},
    {"edges", TL_CHOICE, AT(edges), "", ANY, "auto", "shear stress beside cells of sand without a pressure: at walls and in the steps of slopes, as much as the load of the cells around carries, or by volume; nowhere; or everywhere; auto: load, wall for stress by parts", "auto|load|wall|strict|inactive-zero", .engines = TL_ON_GRID},
    {"density", TL_CHOICE, AT(density), "", ANY, "auto", "of sand on a face: mass of the face and of those that go with it, which keeps momentum; mass over the part of the kernel, or of the face's volume, that could hold any; the material's; or mass over a whole cell; auto: carried in scenes with bodies or emitters, else kernel", "auto|carried|kernel|share|const|mass", .engines = TL_ON_GRID},
    {"static_stress", TL_CHOICE, AT(static_stress), "", ANY, "auto", "which of all stresses that balance sand at rest: that of least elastic energy, with the pressure at rest of the angle; or none, what the last motion left; auto: least-energy where stress is colocated and cones are exact", "auto|least-energy|none", .engines = TL_ON_GRID},
    {"weights", TL_CHOICE, AT(weights), "", ANY, "auto", "how solids cut faces of cells: by area, or by the volume around a face; auto: by volume where bodies float freely, else by area", "auto|area|volume", .engines = TL_ON_GRID},
    {"surface", TL_CHOICE, AT(surface), "", ANY, "fractional", "free surface of liquids: where the level set has it, or by whole cells", "fractional|binary", .engines = TL_ON_GRID},
    {"cone", TL_CHOICE, AT(cone), "", ANY, "exact", "friction cone of sand and of solids, exact or as a pyramid", "exact|pyramid", .engines = TL_ON_GRID},
    {"coupling", TL_CHOICE, AT(coupling), "", ANY, "hybrid", "how elastic surfaces and liquid meet: `hybrid` keeps momentum and angular momentum exactly; `cut` and `complement` for comparison", "hybrid|cut|complement", .engines = TL_ON_GRID},
    {"seal", TL_BOOLEAN, AT(seal), "", ANY, "true", "parts of elastic bodies thinner than two cells let no liquid through; `false`, for comparison: they leak", .engines = TL_ON_GRID},
    {"offset", TL_BOOLEAN, AT(offset), "", ANY, "true", "elastic bodies feel the hydrostatic difference between their surface and the centres of cells; `false`, for comparison: buoyancy is of first order in the cell", .engines = TL_ON_GRID},
    {"follow", TL_BOOLEAN, AT(follow), "", ANY, "true", "pressure on elastic surfaces turns with them within a step; without it bodies under pressure spin up by 2 p V dt / I per second", .engines = TL_ON_GRID},
    {"tolerance", TL_NUMBER, AT(tolerance), "", WITHIN_OPEN(0, 1), "1e-4", "relative target of the coupled solve"},
    {"sweeps", TL_INTEGER, AT(sweeps), "", WITHIN(0, 100000), "0", "passes of a scheme, at most; 0: the scheme's own", .engines = TL_ON_GRID},
    {"on_unconverged", TL_CHOICE, AT(on_unconverged), "", ANY, "accept", "what to do when the target is missed; every step's certificate is recorded either way", "accept|shrink_dt|fail"},
    {"guard", TL_BOOLEAN, AT(guard), "", ANY, "true", "a step that gives more energy than there is, and nothing explains it, is tried again with half the length, and then ends the run; `false` goes on whatever happens"},
    {"pressure", TL_TABLE, AT(pressure), "", ANY, "", "method for pressure", .inside = &pressure_method, .engines = TL_ON_GRID | TL_ON_SPH},
    {"friction", TL_TABLE, AT(friction), "", ANY, "", "method for the shear stress of sand", .inside = &friction_method, .engines = TL_ON_GRID},
    {"parts", TL_TABLE, AT(parts), "", ANY, "", "of methods that solve stress by parts", .inside = &parts, .engines = TL_ON_GRID},
    {"rules", TL_TABLE, AT(rules), "", ANY, "", "of sand, beyond its equations", .inside = &rules, .engines = TL_ON_GRID},
    {"contact", TL_TABLE, AT(contact), "", ANY, "", "method for contacts of solids", .inside = &contact_method, .engines = TL_ON_GRID | TL_ON_LG},
    {"elastic", TL_TABLE, AT(elastic), "", ANY, "", "method for elastic solids", .inside = &elastic_method, .engines = TL_ON_GRID},
};
#undef OBJECT
static const tl_context solver = {"solver", "the solver", "How the equations are solved. Every method is known by name.", NULL, KEYS(solver_keys), sizeof(tl_solver_spec), NULL, false};

/* ---- results ---- */

#define OBJECT tl_output_spec
static const tl_key output_keys[] = {
    {"frames", TL_BOOLEAN, AT(frames), "", ANY, "true", "write particles, bodies and nodes of every frame"},
    {"bodies", TL_BOOLEAN, AT(bodies), "", ANY, "true", "write bodies.csv, and holds.csv where anchors, handles, cables or joins hold elastic bodies"},
    {"history", TL_BOOLEAN, AT(history), "", ANY, "false", "keep every solver's iteration curve"},
    {"checkpoint_every", TL_INTEGER, AT(checkpoint_every), "frames", WITHIN(0, 1000000), "0", "keep a checkpoint this often; 0: only the latest"},
    {"images_every", TL_INTEGER, AT(images_every), "frames", WITHIN(0, 1000000), "0", "draw a picture this often; 0: only the last"},
};
#undef OBJECT
static const tl_context output = {"output", "the output", "What a run writes.", NULL, KEYS(output_keys), sizeof(tl_output_spec), NULL, false};

#define OBJECT tl_accept_spec
#define LIMIT(name, help) {#name, TL_NUMBER, AT(name), "", ABOVE(0), "", help}
static const tl_key accept_keys[] = {
    LIMIT(missed, "share of steps that miss the target of a solve"),
    LIMIT(momentum, "momentum that nothing explains, of what moved and what gravity gave"),
    LIMIT(energy, "energy that was gained and nothing explains, of the energy in play"),
    LIMIT(volume, "change of a liquid's or of sand's volume"),
    LIMIT(penetration, "deepest overlap, of the smallest extent of a body"),
    LIMIT(escaped, "share of particles, or of free bodies, that left the domain"),
};
#undef OBJECT
static const tl_context accept = {"accept", "accept", "What a run's verdict may be at worst. A run that is worse ends with exit status 1; without a limit here it ends with a warning.",
                                  NULL, KEYS(accept_keys), sizeof(tl_accept_spec), NULL, false};

#define OBJECT tl_camera
static const tl_key camera_keys[] = {
    {"eye", TL_VEC3, AT(eye), "m", ANY, NULL, "where the camera is"},
    {"target", TL_VEC3, AT(target), "m", ANY, NULL, "what it looks at"},
    {"up", TL_VEC3, AT(up), "", ANY, "{0, 1, 0}", "what is up in the picture"},
    {"fov_deg", TL_NUMBER, AT(fov_deg), "degrees", WITHIN(1, 150), "35", "vertical field of view"},
};
#undef OBJECT
static const tl_context camera = {"camera", "the camera", "Without one, the scene is framed automatically.", NULL, KEYS(camera_keys), sizeof(tl_camera), NULL, false};

#define OBJECT tl_render_spec
static const tl_key render_keys[] = {
    {"width", TL_INTEGER, AT(width), "pixels", WITHIN(16, 16384), "1280", "of a picture"},
    {"height", TL_INTEGER, AT(height), "pixels", WITHIN(16, 16384), "720", "of a picture"},
    {"samples", TL_INTEGER, AT(samples), "", WITHIN(1, 65536), "16", "rays per pixel"},
    {"background", TL_COLOUR, AT(background), "", WITHIN(0, 1), "#f2f2ef", "colour behind everything"},
    {"ground", TL_BOOLEAN, AT(ground), "", ANY, "true", "draw a ground"},
    {"ground_height", TL_NUMBER, AT(ground_height), "m", ANY, "0", "y of the ground; a lower floor of the domain takes it along, and so do bodies that hang lower where there is no floor"},
    {"ground_colour", TL_COLOUR, AT(ground_colour), "", WITHIN(0, 1), "#d8d6d0", "colour of the ground"},
    {"colour_by", TL_CHOICE, AT(colour_by), "", ANY, "material", "what colours show; `strain`: of elastic bodies, how much the most stretched or squeezed line through a point has changed, over its length", "material|speed|pressure|density|body|strain"},
    {"range", TL_RANGE, AT(range), "", ANY, "{0, 0}", "values at the ends of the colour scale; equal: from the data"},
    {"walls", TL_CHOICE, AT(walls), "", ANY, "none", "how the domain is drawn", "none|glass|frame"},
    {"light", TL_VEC3, AT(light), "", ANY, "{-0.55, 1, 0.62}", "direction towards the main light"},
    {"particle_radius", TL_NUMBER, AT(particle_radius), "m", FROM(0), "0", "of drawn particles; 0: half their spacing"},
    {"liquid", TL_CHOICE, AT(liquid), "", ANY, "surface", "how liquids are drawn where `colour_by` is `material`; other fields are shown on particles", "surface|particles"},
    {"joints", TL_BOOLEAN, AT(joints), "", ANY, "false", "draw joints: lines for distances, ropes and springs, bars along axes, marks at balls; those that broke are left out"},
};
#undef OBJECT
static const tl_context render = {"render", "render", "How pictures look.", NULL, KEYS(render_keys), sizeof(tl_render_spec), NULL, false};

/* ---- scene ---- */

#define OBJECT tl_scene
#define LIST(name, field, count, context, help) {name, TL_LIST, AT(field), "", ANY, "", help, .inside = &context, .count_offset = AT(count)}
#define TABLE(name, field, context, help) {name, TL_TABLE, AT(field), "", ANY, "", help, .inside = &context}
static const tl_key scene_keys[] = {
    {"talus", TL_INTEGER, AT(version), "", WITHIN(TL_SCENE_VERSION, TL_SCENE_VERSION), NULL, "version of the scene language; 1"},
    {"engine", TL_CHOICE, AT(engine), "", ANY, NULL, "`grid`: sand, liquid and solids on a grid; `sph`: particles; `lg`: elastic solids, local-global", &engine_words[1]},
    {"title", TL_TEXT, AT(title), "", ANY, "", "one line"},
    {"about", TL_TEXT, AT(about), "", ANY, "", "what the scene shows, for `talus scenes`"},
    {"figure", TL_TEXT, AT(figure), "", ANY, "", "figure or table of a paper that it reproduces"},
    {"minutes", TL_NUMBER, AT(minutes), "min", FROM(0), "0", "expected time on two cores; 0: not said"},
    {"duration", TL_NUMBER, AT(duration), "s", WITHIN(1e-9, 1e6), NULL, "simulated time"},
    {"fps", TL_NUMBER, AT(fps), "1/s", WITHIN(1e-6, 1e6), "50", "frames per simulated second"},
    {"gravity", TL_VEC3, AT(gravity), "m/s^2", ANY, "{0, -9.81, 0}", "y is up by default"},
    {"seed", TL_SEED, AT(seed), "", WITHIN(0, 0x1p53), "1", "of every random choice of talus", .engines = TL_ON_GRID | TL_ON_SPH},
    {"dt_max", TL_NUMBER, AT(dt_max), "s", FROM(0), "0", "longest time step; 0: one frame"},
    {"dt_min", TL_NUMBER, AT(dt_min), "s", FROM(0), "0", "a step that must be shorter ends the run"},
    {"grid", TL_TABLE, AT(grid), "", ANY, "", "the grid; a scene of rigid and elastic bodies alone needs none", .inside = &grid, .engines = TL_ON_GRID},
    TABLE("domain", domain, domain, "walls"),
    {"sph", TL_TABLE, AT(sph), "", ANY, "", "particles", .inside = &sph, .engines = TL_ON_SPH},
    {"lg", TL_TABLE, AT(lg), "", ANY, "", "local-global rounds", .inside = &lg, .engines = TL_ON_LG},
    {"fem", TL_TABLE, AT(fem), "", ANY, "", "finite elements", .inside = &fem, .engines = TL_ON_GRID},
    LIST("fill", fills, fill_count, fill, "list of fills"),
    LIST("emitters", emitters, emitter_count, emitter, "list of emitters"),
    LIST("bodies", bodies, body_count, body, "list of bodies"),
    {"handles", TL_LIST, AT(handles), "", ANY, "", "list of handles of elastic bodies", .inside = &handle, .count_offset = AT(handle_count), .engines = TL_ON_LG | TL_ON_GRID},
    {"cables", TL_LIST, AT(cables), "", ANY, "", "list of cables in elastic bodies", .inside = &cable, .count_offset = AT(cable_count), .engines = TL_ON_LG},
    {"regions", TL_LIST, AT(regions), "", ANY, "", "list of parts of elastic bodies with a material of their own", .inside = &region, .count_offset = AT(region_count), .engines = TL_ON_LG | TL_ON_GRID},
    {"joins", TL_LIST, AT(joins), "", ANY, "", "list of hard bonds of elastic bodies", .inside = &join, .count_offset = AT(join_count), .engines = TL_ON_LG},
    {"joints", TL_LIST, AT(joints), "", ANY, "", "list of joints between bodies; elastic ones in engine \"lg\" alone", .inside = &joint, .count_offset = AT(joint_count)},
    LIST("contacts", contacts, contact_count, contact, "list of pairs with a friction or bounce of their own"),
    TABLE("solver", solver, solver, "methods and targets"),
    TABLE("output", output, output, "what a run writes"),
    TABLE("accept", accept, accept, "limits of the verdict"),
    TABLE("camera", camera, camera, "point of view"),
    TABLE("render", render, render, "how pictures look"),
};
#undef OBJECT
static const tl_context scene = {"scene", "a scene", "What a file returns: `return scene { ... }`.", NULL, KEYS(scene_keys), sizeof(tl_scene), NULL, false};

/* ---- shapes ---- */

#define OBJECT tl_shape_args
#define CENTER {"center", TL_VEC3, AT(center), "m", ANY, "{0, 0, 0}", "where its own origin goes"}
#define PLACED CENTER, ROTATIONS("how it is turned about its own origin")
#define LENGTH(name, field, fallback, help) {name, TL_NUMBER, AT(field), "m", ABOVE(0), fallback, help}
static const tl_key box_keys[] = {
    {"size", TL_SIZE3, AT(size), "m", ABOVE(0), NULL, "full edges along x, y, z; one number for a cube"},
    {"round", TL_NUMBER, AT(round), "m", FROM(0), "0", "radius of the edges, inside of `size`"}, PLACED};
static const tl_key sphere_keys[] = {LENGTH("radius", radius, NULL, "of the ball"), CENTER};
static const tl_key hemisphere_keys[] = {LENGTH("radius", radius, NULL, "of the half ball; flat side down, at the origin"), PLACED};
static const tl_key ellipsoid_keys[] = {{"radii", TL_SIZE3, AT(radii), "m", ABOVE(0), NULL, "half axes along x, y, z"}, PLACED};
static const tl_key cylinder_keys[] = {LENGTH("radius", radius, NULL, "around the y axis"), LENGTH("height", height, NULL, "along y, origin in the middle"),
    {"round", TL_NUMBER, AT(round), "m", FROM(0), "0", "radius of the two edges, inside"}, PLACED};
static const tl_key capsule_keys[] = {
    {"from", TL_VEC3, AT(from), "m", ANY, NULL, "centre of one end"}, {"to", TL_VEC3, AT(to), "m", ANY, NULL, "centre of the other end"},
    LENGTH("radius", radius, NULL, "at `from`"), {"radius_to", TL_NUMBER, AT(radius_to), "m", FROM(0), "0", "at `to`; 0: the same"}, PLACED};
static const tl_key cone_keys[] = {{"radius", TL_NUMBER, AT(radius), "m", ABOVE(0), NULL, "at the bottom"},
    {"radius_top", TL_NUMBER, AT(radius_top), "m", FROM(0), "0", "at the top; 0 is a point"}, LENGTH("height", height, NULL, "along y, origin in the middle"), PLACED};
static const tl_key torus_keys[] = {LENGTH("radius", radius, NULL, "of the ring around y"), LENGTH("tube", tube, NULL, "radius of the tube"), PLACED};
static const tl_key plane_keys[] = {{"height", TL_NUMBER, AT(height), "m", ANY, "0", "everything with y below this"}};
static const tl_key half_space_keys[] = {{"normal", TL_VEC3, AT(normal), "", ANY, "{0, 1, 0}", "out of the solid; any length"},
    {"point", TL_VEC3, AT(point), "m", ANY, "{0, 0, 0}", "a point of its surface"}};
static const tl_key revolve_keys[] = {{"profile", TL_PROFILE, AT(profile), "m", ANY, NULL, "list of {radius, y}: a closed line that does not cross itself, turned around y"}, PLACED};
static const tl_key extrude_keys[] = {{"profile", TL_PROFILE, AT(profile), "m", ANY, NULL, "list of {x, z}: a closed line that does not cross itself"},
    LENGTH("height", height, NULL, "along y, origin in the middle"), PLACED};
static const tl_key mesh_keys[] = {{"file", TL_TEXT, AT(file), "", ANY, NULL, "a closed triangle mesh (.obj, .ply, .stl) in the scene's folder or below; or tetrahedra (.msh of gmsh, legacy .vtk): their outer surface, and an elastic body that names no `edge` has these tetrahedra"},
    {"scale", TL_NUMBER, AT(scale), "", ABOVE(0), "1", "factor on the file's lengths"}, PLACED};
static const tl_key sheet_keys[] = {{"file", TL_TEXT, AT(file), "", ANY, NULL, "a triangle mesh (.obj, .ply, .stl) in the scene's folder or below, open or closed"},
    LENGTH("thickness", thickness, "0.001", "of the solid, half on each side; a cloth has that of its body"),
    {"scale", TL_NUMBER, AT(scale), "", ABOVE(0), "1", "factor on the file's lengths"}, PLACED};
#define PARTS(help) {"[1], [2], ...", TL_SHAPES, AT(shapes), "", ANY, NULL, help}
#define BLEND {"blend", TL_NUMBER, AT(blend), "m", ABOVE(0), NULL, "width of the smooth seam"}
static const tl_key union_keys[] = {PARTS("the shapes to join")};
static const tl_key intersect_keys[] = {PARTS("what all of these share")};
static const tl_key subtract_keys[] = {PARTS("the first, without all others")};
static const tl_key smooth_union_keys[] = {PARTS("the shapes to join"), BLEND};
static const tl_key smooth_subtract_keys[] = {PARTS("the first, without all others"), BLEND};
static const tl_key shell_keys[] = {PARTS("one shape, made hollow"), LENGTH("thickness", thickness, NULL, "of the wall, inwards")};
static const tl_key offset_keys[] = {PARTS("one shape"), {"by", TL_NUMBER, AT(by), "m", ANY, NULL, "grown by this, with round edges; negative shrinks"}};
#undef OBJECT

#define SHAPE(word, article, keys, help, example) {word, article, help, example, KEYS(keys), sizeof(tl_shape_args), NULL, true}
static const tl_context shape_contexts[] = {
    SHAPE("box", "a box", box_keys, "A box with its centre at the origin.", "box { size = {0.3, 0.03, 0.3}, round = 0.002 }"),
    SHAPE("sphere", "a sphere", sphere_keys, "A ball.", "sphere { radius = 0.1, center = {0, 0.1, 0} }"),
    SHAPE("hemisphere", "a hemisphere", hemisphere_keys, "The upper half of a ball.", "hemisphere { radius = 0.2 }"),
    SHAPE("ellipsoid", "an ellipsoid", ellipsoid_keys, "A ball stretched along the axes.", "ellipsoid { radii = {0.2, 0.1, 0.1} }"),
    SHAPE("cylinder", "a cylinder", cylinder_keys, "A cylinder around y.", "cylinder { radius = 0.1, height = 0.4 }"),
    SHAPE("capsule", "a capsule", capsule_keys, "Two balls and everything between them.", "capsule { from = {0, 0, 0}, to = {0, 0.3, 0}, radius = 0.05 }"),
    SHAPE("cone", "a cone", cone_keys, "A cone, or the lower part of one.", "cone { radius = 0.2, height = 0.3 }"),
    SHAPE("torus", "a torus", torus_keys, "A ring around y.", "torus { radius = 0.2, tube = 0.05 }"),
    SHAPE("plane", "a plane", plane_keys, "Ground: everything below a height. Not bounded.", "plane { height = 0 }"),
    SHAPE("half_space", "a half space", half_space_keys, "Everything on one side of a plane. Not bounded.", "half_space { normal = {1, 1, 0} }"),
    SHAPE("revolve", "a revolve", revolve_keys, "A profile turned around y: bowls, bottles, hourglasses.", "revolve { profile = { {0, 0}, {0.2, 0}, {0.1, 0.3}, {0, 0.3} } }"),
    SHAPE("extrude", "an extrude", extrude_keys, "A profile drawn out along y.", "extrude { profile = { {0, 0}, {1, 0}, {0, 1} }, height = 0.1 }"),
    SHAPE("mesh", "a mesh", mesh_keys, "A closed triangle mesh from a file, or the outside of tetrahedra.", "mesh { file = \"drum.obj\" }"),
    SHAPE("sheet", "a sheet", sheet_keys, "A surface from a file: the rest shape of a curved cloth, or a thin solid.", "sheet { file = \"sail.obj\" }"),
    SHAPE("union", "a union", union_keys, "Everything that is in one of them. Short: `a + b`.", "union { a, b, c }"),
    SHAPE("intersect", "an intersect", intersect_keys, "What is in all of them. Short: `a * b`.", "intersect { a, b }"),
    SHAPE("subtract", "a subtract", subtract_keys, "The first without the others. Short: `a - b`.", "subtract { a, b }"),
    SHAPE("smooth_union", "a smooth union", smooth_union_keys, "A union with a smooth seam.", "smooth_union { a, b, blend = 0.02 }"),
    SHAPE("smooth_subtract", "a smooth subtract", smooth_subtract_keys, "A subtract with a smooth seam.", "smooth_subtract { a, b, blend = 0.02 }"),
    SHAPE("shell", "a shell", shell_keys, "A hollow copy.", "shell { a, thickness = 0.01 }"),
    SHAPE("offset", "an offset", offset_keys, "A grown or shrunk copy.", "offset { a, by = 0.005 }"),
};

/* clang-format on */

/* ---- lookups ---- */

static const tl_context *const contexts[] = {
    &scene,
    &grid,
    &domain,
    &sph,
    &lg,
    &fem,
    &fill,
    &emitter,
    &body,
    &handle,
    &cable,
    &join,
    &joint,
    &motor,
    &import,
    &region,
    &contact,
    &solver,
    &pressure_method,
    &friction_method,
    &contact_method,
    &parts,
    &rules,
    &elastic_method,
    &output,
    &accept,
    &camera,
    &render,
    &granular,
    &liquid,
    &viscous,
    &elastic,
    &solid,
};
#define CONTEXTS ((int)(sizeof contexts / sizeof *contexts))
#define SHAPES ((int)(sizeof shape_contexts / sizeof *shape_contexts))

const tl_context *tl_schema_at(int i)
{
    if (i < 0 || i >= CONTEXTS + SHAPES) return NULL;
    return i < CONTEXTS ? contexts[i] : &shape_contexts[i - CONTEXTS];
}

const tl_context *tl_schema_find(const char *name)
{
    for (int i = 0; tl_schema_at(i); i++)
        if (!strcmp(tl_schema_at(i)->name, name)) return tl_schema_at(i);
    return NULL;
}

const tl_context *tl_schema_material(tl_material_kind kind)
{
    static const char *const names[] = {"granular", "liquid", "viscous", "elastic", "solid"};
    return tl_schema_find(names[kind]);
}

bool tl_schema_in_range(const tl_key *key, double value)
{
    return (key->range.above ? value > key->range.low : value >= key->range.low) && value <= key->range.high;
}

const tl_key *tl_schema_key(const tl_context *c, const char *name)
{
    for (int i = 0; i < c->key_count; i++)
        if (!strcmp(c->keys[i].name, name)) return &c->keys[i];
    return NULL;
}

bool tl_schema_word_at(const char *words, int i, char *text, size_t room)
{
    for (; i > 0; i--) {
        words = strchr(words, '|');
        if (!words) return false;
        words++;
    }
    size_t n = strcspn(words, "|");
    snprintf(text, room, "%.*s", (int)n, words);
    return true;
}

int tl_schema_word(const char *words, const char *word)
{
    char text[64];
    for (int i = 0; tl_schema_word_at(words, i, text, sizeof text); i++)
        if (!strcmp(text, word)) return i;
    return -1;
}
