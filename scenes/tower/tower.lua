-- A round tower of 600 wooden blocks, hit by a steel ball.
local p = params { layers = 30, around = 20, speed = 12.0 }

local block = { size = {0.118, 0.06, 0.24} }
local radius = 0.5 * block.size[3] / math.tan(math.pi / p.around) + 0.5 * block.size[1] + 0.003 -- inner edges just apart
local wood = solid { name = "wood", density = 500, friction = 0.5, colour = "#c19a6b" }
local dark = solid { name = "dark wood", density = 500, friction = 0.5, colour = "#96683f" }
local shape = box { size = block.size }

local blocks = {}
for layer = 1, p.layers do
  for i = 1, p.around do
    local deg = (i - 1 + 0.5 * (layer % 2)) * 360 / p.around
    local a = math.rad(deg)
    blocks[#blocks + 1] = {
      name = string.format("block %d.%d", layer, i),
      shape = shape,
      at = {radius * math.cos(a), (layer - 0.5) * block.size[2], -radius * math.sin(a)},
      rotation_deg = {0, deg, 0},
      material = (layer + i) % 2 == 0 and wood or dark,
    }
  end
end

local ball = {
  name = "ball", shape = sphere { radius = 0.18 }, at = {-3, 0.9, 0.1}, velocity = {p.speed, 1.0, 0},
  material = preset "steel",
}
local ground = { name = "ground", kind = "static", shape = plane { height = 0 }, friction = 0.6, colour = "#d8d6d0" }

return scene {
  talus = 1, engine = "grid",
  title = "Tower of " .. p.layers * p.around .. " blocks",
  about = "a steel ball hits a round tower of wooden blocks: stacking, friction, impact",
  minutes = 3,
  duration = 3, fps = 50,
  bodies = join { {ground, ball}, blocks },
  contacts = { { between = {"wood", "steel"}, friction = 0.3 } },
  camera = { eye = {4.2, 2.6, 4.6}, target = {0, 0.8, 0}, fov_deg = 36 },
}
