-- Boxes of many sizes, turned at random, tumble into a glass bin and come to rest.
local p = params { n = size == "paper" and 128 or 54, friction = 0.5, seed = 1 }
math.randomseed(p.seed)
local colours = { "#c0392b", "#d35400", "#e0b040", "#3f8f5f", "#16a0a0", "#2d6cb5", "#8e5ea2", "#f0e6d2" }
local side, pitch = 4, 0.35
local half = 0.5 * side * pitch

-- A rotation that is equally likely to be any.
local function any_rotation()
  local u, v, w = math.random(), 2 * math.pi * math.random(), 2 * math.pi * math.random()
  local a, b = math.sqrt(1 - u), math.sqrt(u)
  return {a * math.sin(v), a * math.cos(v), b * math.sin(w), b * math.cos(w)}
end
local function edge() return 0.12 + 0.08 * math.random() end
local function any(most) return most * (2 * math.random() - 1) end

local boxes = {}
for i = 0, p.n - 1 do
  local layer = i // (side * side)
  boxes[#boxes + 1] = {
    name = "box " .. i + 1, shape = box { size = {edge(), edge(), edge()} }, density = 700, friction = p.friction, colour = colours[math.random(1, 8)],
    at = {(i % side + 0.5) * pitch - half, 0.2 + pitch * layer, (i // side % side + 0.5) * pitch - half}, rotation = any_rotation(),
    velocity = {any(1.5), 0, any(1.5)}, spin_rad_per_s = {any(5), any(5), any(5)}, -- or they would stack in columns
  }
end

return scene {
  talus = 1, engine = "grid",
  title = "Tumbling pile of " .. p.n .. " boxes",
  about = "boxes turned at random tumble into a bin and come to rest",
  minutes = 0.5,
  duration = 5, fps = 50, dt_max = 0.01,
  domain = { min = {-half, 0, -half}, max = {half, 0.35 * (2 + p.n // (side * side)), half}, y_max = "open", friction = p.friction },
  bodies = boxes,
  camera = { eye = {1.7, 1.9, 2.6}, target = {0, 0.3, 0}, fov_deg = 34 },
  render = { walls = "frame" },
}
