-- Every primitive once, beside a heap of sand: what the shapes look like.
local cell = size == "paper" and 1/128 or 1/48
local sand = preset "dry sand"
local y = 0.001

local function thing(name, shape, at, colour)
  return { name = name, shape = shape, at = at, density = 700, friction = 0.5, colour = colour }
end

local vase = revolve { profile = {
  {0, 0}, {0.07, 0}, {0.1, 0.06}, {0.09, 0.16}, {0.045, 0.24}, {0.06, 0.3}, {0.05, 0.3}, {0.035, 0.24}, {0.08, 0.155}, {0.088, 0.065}, {0.062, 0.012}, {0, 0.012},
} }
local star = {}
for i = 0, 9 do
  local r, a = i % 2 == 0 and 0.1 or 0.045, math.rad(36 * i)
  star[#star + 1] = {r * math.cos(a), r * math.sin(a)}
end
local die = box { size = 0.14, round = 0.012 }
for _, at in ipairs { {0, 0.07, 0}, {0.07, 0.035, 0.035}, {0.07, -0.035, -0.035}, {0.035, 0.035, 0.07}, {0, 0, 0.07}, {-0.035, -0.035, 0.07} } do
  die = die - sphere { radius = 0.014, center = at }
end

return scene {
  talus = 1, engine = "grid",
  title = "Still life",
  about = "the primitive shapes, set operations and a heap of sand",
  minutes = 1,
  duration = 1, fps = 50,
  grid = { cells = {math.floor(1.6 / cell), math.floor(0.8 / cell), math.floor(1.2 / cell)}, cell = cell, origin = {-0.8, 0, -0.6} },
  fill = { { material = sand, shape = cone { radius = 0.24, height = 0.14, center = {0.42, 0.07, -0.2} } } },
  bodies = {
    thing("die", die, {-0.55, 0.07 + y, 0.3}, "#c0392b"),
    thing("ball", sphere { radius = 0.08 }, {-0.3, 0.08 + y, 0.38}, "#2d6cb5"),
    thing("dome", hemisphere { radius = 0.11 }, {0, y, 0.4}, "#e0b040"),
    thing("egg", ellipsoid { radii = {0.07, 0.095, 0.07} }, {0.25, 0.095 + y, 0.4}, "#f0e6d2"),
    thing("drum", cylinder { radius = 0.085, height = 0.16, round = 0.006 }, {-0.6, 0.08 + y, -0.02}, "#3f8f5f"),
    thing("pill", capsule { from = {-0.09, 0, 0}, to = {0.09, 0, 0}, radius = 0.05, radius_to = 0.035 }, {0.52, 0.05 + y, 0.34}, "#8e5ea2"),
    thing("hat", cone { radius = 0.1, radius_top = 0.02, height = 0.2 }, {-0.35, 0.1 + y, 0.02}, "#d35400"),
    thing("ring", torus { radius = 0.09, tube = 0.03 }, {-0.08, 0.03 + y, 0.12}, "#16a0a0"),
    thing("vase", vase, {-0.5, y, -0.35}, "#5d7a8c"),
    thing("star", extrude { profile = star, height = 0.05 }, {0.2, 0.025 + y, 0.14}, "#f4c430"),
    thing("cup", shell { cylinder { radius = 0.1, height = 0.2 }, thickness = 0.012 } - cylinder { radius = 0.088, height = 0.1, center = {0, 0.08, 0} }, {-0.2, 0.1 + y, -0.28}, "#b0b7bd"),
    thing("blob", smooth_union { sphere { radius = 0.07 }, sphere { radius = 0.05, center = {0.09, 0.04, 0} }, sphere { radius = 0.04, center = {0.02, 0.09, 0.03} }, blend = 0.05 },
      {0.1, 0.07 + y, -0.32}, "#c2587a"),
  },
  camera = { eye = {0.2, 1.05, 1.75}, target = {0, 0.08, 0.02}, fov_deg = 34 },
}
