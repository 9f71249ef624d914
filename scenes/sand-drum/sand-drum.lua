-- A drum turns with sand and rabbits in it: they are carried up, slide down and roll.
local paper = size == "paper"
local p = params { cells = paper and 64 or 36, angle = 30.0, turns = 0.25, rabbits = paper and 8 or 3, duration = paper and 8 or 1.6 } -- cells per metre, turns per second
local h = 1 / p.cells
local sand = granular { name = "sand", density = 1600, friction_angle_deg = p.angle, colour = "#dba24a" }
local radius, wall, deep = 0.42, math.max(2.2 * h, 0.05), 0.4
local middle = {0.5, 0.5, 0.5}

-- A hollow drum around z with closed ends.
local function lying(r, length) return cylinder { radius = r, height = length }:rotate({90, 0, 0}) end
local drum = lying(radius + wall, deep + 2 * wall) - lying(radius, deep)
local low = lying(radius, deep) * box { size = {1, 0.3, 1}, center = {0, paper and -0.395 or -0.27, 0} }

local bodies = {
  { name = "drum", shape = drum, at = middle, colour = "#cfe3ea", opacity = 0.16,
    motion = function(t) return { at = middle, rotation_deg = {0, 0, 360 * p.turns * t} } end },
}
local furs = { "#efe8dc", "#b08560", "#8d8780", "#d8c3a5" }
for i = 1, p.rabbits do
  local row, place = (i - 1) // 4, (i - 1) % 4
  bodies[#bodies + 1] = { name = "rabbit " .. i, shape = shape_file "rabbit":scale(0.55), at = {0.32 + 0.16 * place, 0.42 + 0.18 * row, 0.42 + 0.14 * (i % 2)},
                          rotation_deg = {0, -60 + 90 * i, 0}, density = 300, colour = furs[(i - 1) % #furs + 1] }
end

return scene {
  talus = 1, engine = "grid",
  title = "Drum with sand and rabbits",
  about = "sand and rabbits tumble in a turning drum",
  figure = "FM21 Fig. 1",
  minutes = paper and 200 or 3,
  duration = p.duration, fps = paper and 50 or 25, dt_max = paper and 0.02 or 1 / 75,
  grid = { cells = {p.cells, p.cells, p.cells * 3 // 4}, cell = h, origin = {0, 0, 0.125} },
  fill = { { material = sand, shape = low:move(middle) } },
  bodies = bodies,
  camera = { eye = {0.7, 1.2, 2.4}, target = {0.5, 0.48, 0.5}, fov_deg = 34 },
}
