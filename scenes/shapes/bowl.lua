-- A bowl on a foot ring, 25 cm wide and 10 cm high, open at the top, standing on y = 0 around the y axis.
-- The wall is 7 mm thick. Suggested edge of triangles and tetrahedra: 0.004 m.
-- Modelled in centimetres; the last line makes metres of them.
local n = 80 -- points of a quarter turn
local profile = { {0, 0.5}, {4.3, 0.5}, {4.6, 0}, {5.4, 0}, {5.7, 0.9} } -- under the foot, its ring
local function put(radius, y) profile[#profile + 1] = {radius, y} end
for i = 1, n do -- outside, up to the rim
  local a = math.rad(90 * i / n)
  put(5.7 + 6.8 * math.sin(a), 0.9 + 8.6 * (1 - math.cos(a)))
end
for i = 1, 11 do -- over the rim
  local a = math.rad(15 * i)
  put(12.15 + 0.35 * math.cos(a), 9.5 + 0.35 * math.sin(a))
end
for i = n, 0, -1 do -- inside, down to the middle
  local a = math.rad(90 * i / n)
  put(11.8 * math.sin(a), 1.4 + 8.1 * (1 - math.cos(a)))
end
return revolve { profile = profile }:paint({ "#4f8fa8", gloss = 0.75 }):scale(0.01)
