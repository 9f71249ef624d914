-- A house of cards: frames of two cards that lean together 25 degrees from the vertical, and planks from frame to frame that carry the next
-- level. All are 1 x 0.6 x 0.02 m and 12 kg, with friction 0.6. Everything touches with no gap.
local p = params { levels = size == "paper" and 5 or 2, friction = 0.6, lean = 25.0 }
local length, depth, thick = 1, 0.6, 0.02
local a = math.rad(p.lean)
local sin, cos = math.sin(a), math.cos(a)
local card = box { size = {thick, length, depth} }
local plank = box { size = {length, thick, depth} }
local pitch = 1.002                                  -- from frame to frame; planks end to end are 2 mm apart
local height = length * cos + thick * sin            -- of a frame
local aside = 0.5 * length * sin + 0.5 * thick * cos -- of a card's middle, so that the inner top edges meet

local bodies = { { name = "ground", kind = "static", shape = plane {}, friction = p.friction } }
local function put(name, shape, x, y, lean, colour)
  bodies[#bodies + 1] = { name = name, shape = shape, at = {x, y, 0}, rotation_deg = {0, 0, lean}, mass = 12, friction = p.friction, colour = colour }
end
local y = 0
for level = 1, p.levels do
  local frames = p.levels - level + 1
  local x0 = -0.5 * (frames - 1) * pitch
  for i = 1, frames do
    local x = x0 + (i - 1) * pitch
    put(string.format("left %d.%d", level, i), card, x - aside, y + 0.5 * height, -p.lean, "#c0392b")
    put(string.format("right %d.%d", level, i), card, x + aside, y + 0.5 * height, p.lean, "#ecece6")
  end
  y = y + height
  for i = 1, frames - 1 do
    put(string.format("plank %d.%d", level, i), plank, x0 + (i - 0.5) * pitch, y + 0.5 * thick, 0, "#d9b26f")
  end
  y = y + thick
end

return scene {
  talus = 1, engine = "grid",
  title = "Card house of " .. p.levels .. " levels",
  about = "a house of cards, held by friction alone, stands still",
  minutes = size == "paper" and 0.5 or 0.2,
  duration = 5, fps = 50, dt_max = 0.01,
  bodies = bodies,
  camera = { eye = {0.6 * p.levels, 0.75 * p.levels + 0.3, 2.1 * p.levels + 1.2}, target = {0, 0.43 * p.levels, 0}, fov_deg = 32 },
}
