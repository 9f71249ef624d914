#include <stddef.h>

#include "scene/schema.h"

/* clang-format off */
#define RGB(r, g, b) {(r) / 255.0, (g) / 255.0, (b) / 255.0}
#define RUB(mu) {TL_NO_FUNCTION, {mu, 0, 0}}

/* Values at about 20 degrees Celsius unless said otherwise. Friction of a material is for the pair with itself, dry. */
static const tl_preset presets[] = {
    {"water", "[CRC97] density, surface tension",
     {.kind = TL_MATERIAL_LIQUID, .density = 998, .surface_tension = 0.0728, .colour = RGB(74, 144, 194), .opacity = 0.6}},
    {"honey", "[Yanniotis2006] 17 % moisture, 25 degrees: 1.4e3 kg/m^3, about 10 Pa s",
     {.kind = TL_MATERIAL_VISCOUS, .density = 1400, .viscosity = 10, .surface_tension = 0.05, .colour = RGB(217, 138, 28), .opacity = 0.8}},
    {"dry sand", "[Terzaghi1996] loose quartz sand: 1.5e3 to 1.7e3 kg/m^3, 30 degrees or a little more",
     {.kind = TL_MATERIAL_GRANULAR, .density = 1600, .friction_angle_deg = 30, .colour = RGB(201, 166, 107), .opacity = 1}},
    {"gravel", "[Terzaghi1996] rounded gravel: 35 to 40 degrees",
     {.kind = TL_MATERIAL_GRANULAR, .density = 1700, .friction_angle_deg = 38, .colour = RGB(140, 134, 125), .opacity = 1}},
    {"rubber", "[Ashby2019] natural rubber, soft: 1 to 2 MPa, nearly incompressible",
     {.kind = TL_MATERIAL_ELASTIC, .density = 930, .young = 1.5e6, .poisson = 0.49, .friction = RUB(1.0), .restitution = 0.6, .colour = RGB(181, 83, 75), .opacity = 1}},
    {"wood", "[Ashby2019] pine, along the grain, as a rigid body; friction wood on wood",
     {.kind = TL_MATERIAL_SOLID, .density = 500, .friction = RUB(0.4), .restitution = 0.3, .colour = RGB(193, 154, 107), .opacity = 1}},
    {"steel", "[Ashby2019] density; [Rabinowicz1995] steel on steel, dry: 0.6 to 0.8",
     {.kind = TL_MATERIAL_SOLID, .density = 7850, .friction = RUB(0.6), .restitution = 0.5, .colour = RGB(143, 152, 163), .opacity = 1}},
    {"ice", "[CRC97] density at 0 degrees; [Rabinowicz1995] ice on ice: below 0.1",
     {.kind = TL_MATERIAL_SOLID, .density = 917, .friction = RUB(0.05), .restitution = 0.3, .colour = RGB(200, 225, 240), .opacity = 0.7}},
};
/* clang-format on */

const tl_preset *tl_preset_at(int i)
{
    return i >= 0 && i < (int)(sizeof presets / sizeof *presets) ? &presets[i] : NULL;
}
