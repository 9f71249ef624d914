-- A house of cards with a hole: the middle frame of the first storey is missing and a plank of double length bridges it. Nothing sleeps. A duck hangs beside
-- the house, is thrown at it at `hit` seconds and brings it down.
local p = params { levels = 7, friction = 0.6, lean = 20.0, h = size == "paper" and 0.005 or 0.0125, hit = 3.0, lift = -0.13, speed = 6.0 }
local u = 0.01 -- unit of lengths: cards do not change with h
local length, depth, thick = 24 * u, (size == "paper" and 12 or 8) * u, 2.8 * p.h -- thinner ones are sampled closer to their surface, and keep more distance
local a = math.rad(p.lean)
local sin, cos = math.sin(a), math.cos(a)
local pitch = length + 0.4 * u
local lift = p.lift * p.h -- of every contact: edges of cards are sampled inside of their corners
local height = length * cos + thick * sin + 2 * lift
local aside = 0.5 * length * sin + 0.5 * thick * cos - 0.1 * p.h
local hole = 1 -- storey without its middle frame. Higher up the plank below the hole would carry nothing, and the frames beside it lean inwards and fall
local bodies = { { name = "ground", kind = "static", shape = box { size = {(p.levels + 7) * length, 4 * u, 8 * depth} }, at = {0, -2 * u, 0}, friction = p.friction, colour = "#d8d6d0" } }
local function put(name, shape, x, y, lean, colour)
  bodies[#bodies + 1] = { name = name, shape = shape, at = {x, y, 0}, rotation_deg = {0, 0, lean}, density = 700, friction = p.friction, colour = colour }
end
local card, plank, long = box { size = {thick, length, depth} }, box { size = {length, thick, depth} }, box { size = {2 * length, thick, depth} }
local y = 0
for level = 1, p.levels do
  local frames = p.levels - level + 1
  local middle = level == hole and frames % 2 == 1 and frames >= 3 and (frames + 1) // 2 or 0
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
local mass, push = 3, 0.05 -- kg, s
bodies[#bodies + 1] = { name = "duck", shape = shape_file "duck", mass = mass, at = {-0.5 * length * (p.levels + 2), 0.4 * y, 0},
  force = function(t)
    if t < p.hit then return {0, 9.81 * mass, 0} end
    return t < p.hit + push and {mass * p.speed / push, 9.81 * mass, 0} or {0, 0, 0}
  end }
return scene {
  talus = 1, engine = "sph",
  title = "Card house of " .. p.levels .. " storeys with a hole",
  about = "a house of cards with a hole stands without sleeping, and falls when it is hit",
  figure = "Probst and Teschner 2023, figure 10",
  minutes = size == "paper" and 60 or 2,
  duration = p.hit + 0.5, fps = 50, dt_max = 1e-3,
  sph = { spacing = p.h, push_out = 0.05 },
  solver = { tolerance = 2e-5, pressure = { method = "nncg", iterations = 200 } },
  bodies = bodies,
  camera = { eye = {0.3, 0.22 * p.levels, 0.55 * p.levels + 0.3}, target = {0, 0.11 * p.levels, 0}, fov_deg = 32 },
  render = { ground_height = -4 * u },
}
