-- A round arch of stone wedges without mortar. It stands on the ground by its own weight and friction.
local p = params { n = size == "paper" and 25 or 15, inner = 1.0, outer = 1.3, depth = 0.5, friction = 0.7 }
local half = math.rad(90 / p.n) -- of the angle of a wedge
local middle = 0.5 * (p.inner + p.outer)
local s, c = math.sin(half), math.cos(half)

-- Drawn out along the depth; the profile's z points outwards.
local wedge = extrude { height = p.depth, profile = {
  {-p.inner * s, p.inner * c - middle}, {p.inner * s, p.inner * c - middle}, {p.outer * s, p.outer * c - middle}, {-p.outer * s, p.outer * c - middle},
} }

local bodies = { { name = "ground", kind = "static", shape = plane {}, friction = p.friction, colour = "#b7bda4" } }
for i = 1, p.n do
  local deg = 90 - (i - 0.5) * 180 / p.n -- from the crown, to -x
  local a = math.rad(deg)
  bodies[#bodies + 1] = {
    name = "stone " .. i, shape = wedge, density = 2400, friction = p.friction, colour = i % 2 == 0 and "#b8ab95" or "#a08f76",
    at = {-middle * math.sin(a), middle * math.cos(a), 0}, rotation_deg = {-90, 0, deg},
  }
end

return scene {
  talus = 1, engine = "grid",
  title = "Arch of " .. p.n .. " stones",
  about = "a masonry arch stands without mortar",
  minutes = 0.3,
  duration = 5, fps = 50, dt_max = 0.01,
  bodies = bodies,
  camera = { eye = {1.6, 1.3, 3.6}, target = {0, 0.6, 0}, fov_deg = 34 },
}
