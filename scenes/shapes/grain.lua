-- A grain with four limbs, 10 cm across, its middle at the origin: grains like this one hook into each other.
-- Suggested edge of triangles and tetrahedra: 0.005 m.
local reach, thick = 0.044, 0.013
local limbs = { blend = 0.012, sphere { radius = 0.018 } }
for i, to in ipairs { {1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1} } do
  local k = reach / math.sqrt(3)
  limbs[i + 1] = capsule { from = {0, 0, 0}, to = {k * to[1], k * to[2], k * to[3]}, radius = thick }
end
return smooth_union(limbs):paint({ "#b98a4e", gloss = 0.3 })
