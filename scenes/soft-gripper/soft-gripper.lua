-- Four soft fingers hang from a plate. Cables in their pads curl them around a raptor; the plate goes up, aside and down again. Friction alone
-- carries the raptor: nothing is attached to it.
-- paper: 21.2k nodes in all; edge = 0.0079 gives about 10.3k. paper = 1: the paper's material, 10 kg/m^3 and 2e4 Pa, for fingers and raptor.
local p = params { edge = size == "paper" and 0.0062 or 0.010, friction = 0.9, pull = 0.018, lift = 0.12, aside = 0.15, paper = 0 }
local rubber = elastic { density = 1000, young = 3e5, poisson = 0.3, model = "neo_hookean", friction = p.friction, colour = "#9aa0a6" }
local plush = elastic { density = 100, young = 2e5, poisson = 0.2, model = "neo_hookean", friction = p.friction, colour = "#9aa0a6" }
if p.paper == 1 then
  rubber = elastic { density = 10, young = 2e4, poisson = 0.1, model = "neo_hookean", friction = p.friction, colour = "#9aa0a6" }
  plush = rubber
end
local top = 0.205
-- close until 0.6 s, lift until 1.2 s, go aside until 1.8 s; smooth at both ends
local function ramp(t, from, to)
  local x = math.max(0, math.min(1, (t - from) / (to - from)))
  return x * x * (3 - 2 * x)
end
local function shift(t) return p.aside * ramp(t, 1.3, 2.0), p.lift * ramp(t, 0.7, 1.2) end
local bodies = { { name = "raptor", shape = shape_file "raptor", at = {0, 0.0005, 0}, edge = p.edge, material = plush },
                 { name = "ground", kind = "static", shape = plane {}, friction = p.friction } }
local cables = {}
local finger = shape_file "finger"
for i, place in ipairs({ {0.035, 1}, {0.035, -1}, {-0.04, 1}, {-0.04, -1} }) do
  local x, side = place[1], place[2]
  local z = 0.062 * side
  local turn = { axis = {0, 1, 0}, angle_deg = 90 * side } -- pads look inward
  bodies[#bodies + 1] = {
    name = "finger " .. i, shape = finger, at = {x, top, z}, rotation = turn, edge = 0.75 * p.edge, material = rubber, kind = "kinematic",
    anchor = box { size = {0.1, 0.024, 0.1}, center = {0, 0, 0} },
    motion = function(t) local dx, dy = shift(t); return { at = {x + dx, top + dy, z} } end,
  }
  for _, s in ipairs({-1, 1}) do
    local points = {}
    for k = 0, 7 do points[k + 1] = {x + 0.008 * s, top - 0.012 - 0.0195 * k, z - 0.004 * side} end
    cables[#cables + 1] = { body = "finger " .. i, points = points, compliance = 1e-5,
                            length = function(t) return 7 * 0.0195 - p.pull * ramp(t, 0.05, 0.6) end }
  end
end
bodies[#bodies + 1] = { name = "plate", shape = box { size = {0.16, 0.012, 0.19}, round = 0.004 }, at = {0, top + 0.007, 0}, colour = "#50585e",
                        motion = function(t) local dx, dy = shift(t); return { at = {dx, top + 0.007 + dy, 0} } end }
return scene {
  talus = 1, engine = "lg",
  title = "Soft gripper",
  about = "fingers with cables lift a raptor and carry it by friction alone",
  figure = "Zeng2025 table 3, raptor and gripper",
  minutes = size == "paper" and 5 or 3,
  duration = 2.4, fps = 50, dt_max = 0.01,
  lg = { iterations = 5, inner = 3 },
  bodies = bodies, cables = cables,
  camera = { eye = {0.36, 0.33, 0.66}, target = {0.06, 0.18, 0}, fov_deg = 36 },
}
