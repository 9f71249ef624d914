-- A house of cards with a hole: the middle frame of one storey is missing and a plank of double length bridges it. Nothing sleeps. A ball brings it
-- down at `hit` seconds.
local p = params { levels = size == "paper" and 7 or 3, friction = 0.6, lean = 20.0, h = 0.01, hit = 3.0 }
local length, depth, thick = 24 * p.h, 12 * p.h, 2.5 * p.h
local a = math.rad(p.lean)
local sin, cos = math.sin(a), math.cos(a)
local pitch = length + 0.4 * p.h
local height = length * cos + thick * sin
local aside = 0.5 * length * sin + 0.5 * thick * cos
local hole = p.levels % 2 == 1 and (p.levels + 1) // 2 - (p.levels > 3 and 1 or 1) or 2 -- storey without its middle frame
while (p.levels - hole + 1) % 2 == 0 do hole = hole - 1 end
local bodies = { { name = "ground", kind = "static", shape = box { size = {(p.levels + 2.5) * length, 4 * p.h, 3 * depth} }, at = {0, -2 * p.h, 0}, friction = p.friction } }
local function put(name, shape, x, y, lean, colour)
  bodies[#bodies + 1] = { name = name, shape = shape, at = {x, y, 0}, rotation_deg = {0, 0, lean}, density = 700, friction = p.friction, colour = colour }
end
local card, plank, long = box { size = {thick, length, depth} }, box { size = {length, thick, depth} }, box { size = {2 * length, thick, depth} }
local y = 0
for level = 1, p.levels do
  local frames = p.levels - level + 1
  local middle = level == hole and frames >= 3 and (frames + 1) // 2 or 0
  local x0 = -0.5 * (frames - 1) * pitch
  for i = 1, frames do
    local x = x0 + (i - 1) * pitch
    if i ~= middle then
      put(string.format("left %d.%d", level, i), card, x - aside, y + 0.5 * height, -p.lean, "#c0392b")
      put(string.format("right %d.%d", level, i), card, x + aside, y + 0.5 * height, p.lean, "#ecece6")
    end
  end
  y = y + height
  for i = 1, frames - 1 do
    if i + 1 == middle then put(string.format("long %d.%d", level, i), long, x0 + i * pitch, y + 0.5 * thick, 0, "#d9b26f")
    elseif i ~= middle then put(string.format("plank %d.%d", level, i), plank, x0 + (i - 0.5) * pitch, y + 0.5 * thick, 0, "#d9b26f") end
  end
  y = y + thick
end
-- thrown so that it meets the house half way up
local speed, far = 5, 0.6 * p.levels * length
local drop = 0.5 * 9.81 * (far / speed) ^ 2
local from = {-far - speed * 0, 0.45 * y + drop, 0}
bodies[#bodies + 1] = { name = "ball", kind = "kinematic", shape = sphere { radius = 6 * p.h }, colour = "#2d6cb5",
  motion = function(t) return { at = {from[1] + speed * math.max(0, t - p.hit), from[2] - 4.905 * math.min(0.2, math.max(0, t - p.hit)) ^ 2, 0} } end }
return scene {
  talus = 1, engine = "sph",
  title = "Card house of " .. p.levels .. " storeys with a hole",
  about = "a house of cards with a hole stands without sleeping, and falls when it is hit",
  figure = "Probst and Teschner 2023, figure 10",
  minutes = size == "paper" and 120 or 10,
  duration = p.hit + 0.8, fps = 50, dt_max = 1e-3,
  sph = { spacing = p.h, iterations_least = 20 },
  bodies = bodies,
  camera = { eye = {0.3, 0.25 * p.levels, 0.62 * p.levels + 0.3}, target = {0, 0.11 * p.levels, 0}, fov_deg = 32 },
}
