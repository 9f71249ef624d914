-- Rabbits, ducks, rings, dice and balls slide down a chute, pass under a stone arch without mortar and tumble down the stairs into a bowl. Beside
-- them a house of cards stands, as it should.
local p = params { n = size == "paper" and 120 or 60, seed = 5, levels = 5 }
math.randomseed(p.seed)

local stone = solid { name = "stone", density = 2400, friction = 0.7, colour = "#c9bda6" }
local steps = solid { name = "steps", density = 2400, friction = 0.5, colour = "#ded6c6" }
local wood = solid { name = "wood", density = 600, friction = 0.3, colour = "#b98b5a" }
local paper = solid { name = "paper", density = 800, friction = 0.6 }
local toy = solid { name = "toy", density = 500, friction = 0.35, restitution = 0.2 }

local bodies = { { name = "ground", kind = "static", shape = plane {}, friction = 0.7 } }
local function put(body) bodies[#bodies + 1] = body end
local function block(name, material, low, high, colour)
  put { name = name, kind = "static", material = material, colour = colour, shape = box { size = {high[1] - low[1], high[2] - low[2], high[3] - low[3]} },
        at = {0.5 * (low[1] + high[1]), 0.5 * (low[2] + high[2]), 0.5 * (low[3] + high[3])} }
end

-- The stairs: a landing, five steps, and kerbs on both sides.
local half, rise, tread, top = 0.62, 0.16, 0.32, 1.5
block("landing", steps, {-1.75, 0, -0.8}, {-0.9, top, 0.8})
for i = 1, 5 do
  local x, y = -0.9 + (i - 1) * tread, top - i * rise
  block("step " .. i, steps, {x, 0, -0.8}, {x + tread, y, 0.8}, i % 2 == 1 and "#d3c9b6" or nil)
  for side = -1, 1, 2 do
    local z = side * 0.5 * (half + 0.8)
    block("kerb " .. i .. (side < 0 and " back" or " front"), stone, {x, y, z - 0.09}, {x + tread, y + 0.2, z + 0.09})
  end
end

-- The chute, 26 degrees steep.
local slope, long = 26, 3.2
local a = math.rad(slope)
local foot = {-1.75, top}
local function on_chute(along, up) return {foot[1] - along * math.cos(a) + up * math.sin(a), foot[2] + along * math.sin(a) + up * math.cos(a)} end
local function plank(name, along, up, z, shape)
  local at = on_chute(along, up)
  put { name = name, kind = "static", material = wood, shape = shape, at = {at[1], at[2], z}, rotation_deg = {0, 0, -slope} }
end
plank("chute", 0.5 * long, -0.03, 0, box { size = {long, 0.06, 1.1} })
plank("rail back", 0.5 * long, 0.1, -0.52, box { size = {long, 0.2, 0.06} })
plank("rail front", 0.5 * long, 0.1, 0.52, box { size = {long, 0.2, 0.06} })

-- The arch over the landing.
local stones, inner, outer, depth = 13, 0.56, 0.76, 0.3
local middle, w = 0.5 * (inner + outer), math.rad(90 / 13)
local s, c = math.sin(w), math.cos(w)
local wedge = extrude { height = depth, profile = {
  {-inner * s, inner * c - middle}, {inner * s, inner * c - middle}, {outer * s, outer * c - middle}, {-outer * s, outer * c - middle},
} }:rotate({-90, 0, 0})
for i = 1, stones do
  local deg = 90 - (i - 0.5) * 180 / stones
  local b = math.rad(deg)
  put { name = "stone " .. i, shape = wedge:rotate({0, 0, deg}):rotate({0, 90, 0}), material = stone, colour = i % 2 == 0 and "#a8987c" or "#91816a",
        at = {-1.32, top + middle * math.cos(b), middle * math.sin(b)} }
end

-- The house of cards.
local length, thick, lean = 0.25, 0.005, math.rad(25)
local card = box { size = {thick, length, 0.15} }
local flat = box { size = {length, thick, 0.15} }
local pitch, height = length + 0.0005, length * math.cos(lean) + thick * math.sin(lean)
local aside = 0.5 * (length * math.sin(lean) + thick * math.cos(lean))
local house, y = {-0.35, 1.45}, 0
for level = 1, p.levels do
  local frames = p.levels - level + 1
  for i = 1, frames do
    local x = house[1] + (i - 0.5 * (frames + 1)) * pitch
    put { name = string.format("card %d.%d left", level, i), shape = card, at = {x - aside, y + 0.5 * height, house[2]}, rotation_deg = {0, 0, -25}, material = paper, colour = "#c8402f" }
    put { name = string.format("card %d.%d right", level, i), shape = card, at = {x + aside, y + 0.5 * height, house[2]}, rotation_deg = {0, 0, 25}, material = paper, colour = "#f4f1e8" }
    if i < frames then
      put { name = string.format("card %d.%d flat", level, i), shape = flat, at = {x + 0.5 * pitch, y + height + 0.5 * thick, house[2]}, material = paper, colour = "#3f6fa8" }
    end
  end
  y = y + height + thick
end

-- The toys.
local bowl = shape_file "bowl":scale(5.6)
put { name = "bowl", kind = "static", shape = bowl, at = {1.46, 0, 0}, friction = 0.4, colour = "#4f8fa8" }

local function die(colour)
  local d = box { size = 0.14 }:paint({ colour, gloss = 0.5 })
  local e, q, pips = 0.07, 0.035, {}
  for _, at in ipairs { {0, e, 0}, {e, q, q}, {e, -q, -q}, {q, q, e}, {0, 0, e}, {-q, -q, e}, {-e, q, q}, {-e, q, -q}, {-e, -q, q}, {-e, -q, -q},
                        {q, q, -e}, {q, -q, -e}, {-q, q, -e}, {-q, -q, -e}, {0, 0, -e}, {q, -e, q}, {q, -e, 0}, {q, -e, -q}, {-q, -e, q}, {-q, -e, 0}, {-q, -e, -q} } do
    pips[#pips + 1] = sphere { radius = 0.015, center = at }
  end
  return d:paint(union(pips), "#fbfaf6")
end
local function ball(radius, colour) return sphere { radius = radius }:paint({ colour, gloss = 0.8 }) end
local kinds = {
  { shape_file "rabbit", {0, 0.12, 0} }, { shape_file "duck", {0, 0.08, 0} }, { die("#b3322b"), {0, 0, 0} }, { ball(0.1, "#2d6cb5"), {0, 0, 0} },
  { shape_file "rabbit", {0, 0.12, 0} }, { shape_file "torus", {0, 0.03, 0} }, { die("#2f6b4f"), {0, 0, 0} }, { ball(0.075, "#e0b040"), {0, 0, 0} },
  { shape_file "duck", {0, 0.08, 0} }, { ball(0.085, "#8e5ea2"), {0, 0, 0} },
}
local furs = { "#b08560", "#8a6a50", "#d8c3a5", "#6f6259", "#efe8dc" }
local i = 0
while i < p.n do
  local row, column = i // 3, i % 3
  local at = on_chute(0.3 + 0.34 * (row % 8), 0.2 + 0.36 * (row // 8))
  local kind = kinds[i % #kinds + 1]
  local rabbit = i % #kinds == 0 or i % #kinds == 4
  put { name = "toy " .. i + 1, shape = kind[1], material = toy, colour = rabbit and furs[math.random(1, #furs)] or nil,
        at = {at[1] - kind[2][1], at[2] - kind[2][2], (column - 1) * 0.33}, rotation_deg = {0, math.random(0, 359), 0},
        velocity = {1.5 * math.cos(a), -1.5 * math.sin(a), 0} }
  i = i + 1
end

return scene {
  talus = 1, engine = "grid",
  title = "Down the stairs",
  about = "rabbits, ducks and dice pass under a dry stone arch and tumble down the stairs into a bowl, beside a house of cards",
  minutes = size == "paper" and 10 or 1,
  duration = size == "paper" and 5 or 2.5, fps = 50, dt_max = 0.01,
  bodies = bodies,
  contacts = { { between = {"toy", "wood"}, friction = 0.05 }, { between = {"toy", "steps"}, friction = 0.08 } }, -- waxed
  camera = { eye = {3.6, 3.1, 4.4}, target = {-0.3, 0.92, 0.2}, fov_deg = 34 },
}
