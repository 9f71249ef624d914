-- An hourglass, 22 cm high, standing on y = 0 around the y axis: two glass bulbs, hollow and closed, in a wooden frame.
-- The neck is 15 mm wide inside, the glass 4 mm thick. Suggested edge of triangles and tetrahedra: 0.003 m.
-- Modelled in centimetres around its middle; the last line makes metres of them.
local half, wall, n = 9.6, 0.4, 60

-- Inner radius at height y: round shoulders, a smooth funnel to the neck.
local function bulb(y)
  local a = math.min(math.abs(y) / half, 1)
  local s = math.sin(0.5 * math.pi * a ^ 0.62)
  local shoulder = math.max(0, (math.abs(y) - 7.4) / 2.2)
  return (0.75 + 5.4 * s * s) * math.sqrt(1 - 0.4 * shoulder * shoulder)
end
local profile = { {0, -half} }
for i = 0, n do
  local y = half * (2 * i / n - 1)
  profile[#profile + 1] = {bulb(y) + wall, y}
end
profile[#profile + 1] = {0, half}
local glass = shell { revolve { profile = profile }, thickness = wall }

local disc = cylinder { radius = 7.6, height = 1.5, round = 0.35 }
local discs = disc:move({0, -10.25, 0}) + disc:move({0, 10.25, 0})
local frame = discs
for i = 0, 2 do
  local a = math.rad(120 * i + 30)
  local at = {6.6 * math.cos(a), 0, 6.6 * math.sin(a)}
  frame = union { frame, cylinder { radius = 0.55, height = 20, center = at }, sphere { radius = 0.95, center = at } }
end

local hourglass = frame + glass
hourglass:paint({ "#dfeeea", opacity = 0.15 })
hourglass:paint(frame + offset { discs, by = 0.31 }, { "#9a6a3f", gloss = 0.55 }) -- wood is seen through the bulbs' ends
return hourglass:move({0, 11, 0}):scale(0.01)
