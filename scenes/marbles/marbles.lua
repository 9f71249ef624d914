-- Marbles poured into a glass bin.
local p = params { n = size == "paper" and 1000 or 250, friction = 0.3, restitution = 0.3, seed = 2 }
math.randomseed(p.seed)
local radius, side = 0.05, 6
local pitch = 2.15 * radius
local half = 0.5 * side * pitch + 0.02
local glass = solid { name = "glass", density = 2500, friction = p.friction, restitution = p.restitution }
local colours = { "#2d6cb5", "#c0392b", "#3f8f5f", "#e0b040", "#8e5ea2", "#16a0a0" }
local ball = {}
for i, c in ipairs(colours) do ball[i] = sphere { radius = radius }:paint({ c, gloss = 0.9 }) end

local marbles = {}
for i = 0, p.n - 1 do
  local function jitter() return 0.07 * radius * (2 * math.random() - 1) end -- less than half of the room between them
  marbles[#marbles + 1] = {
    name = "marble " .. i + 1, shape = ball[math.random(1, #ball)], material = glass,
    at = {(i % side + 0.5 - 0.5 * side) * pitch + jitter(), 2 * radius + i // (side * side) * pitch * 1.1, (i // side % side + 0.5 - 0.5 * side) * pitch + jitter()},
  }
end

return scene {
  talus = 1, engine = "grid",
  title = p.n .. " marbles",
  about = "marbles are poured into a bin",
  minutes = size == "paper" and 5 or 1,
  duration = 3, fps = 50, dt_max = 0.01,
  domain = { min = {-half, 0, -half}, max = {half, 40, half}, y_max = "open", friction = p.friction },
  bodies = marbles,
  camera = { eye = {0.9, 0.9, 1.5}, target = {0, 0.3, 0}, fov_deg = 34 },
}
