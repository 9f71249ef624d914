-- The letter H, hollow, 60 cm high, 36 cm wide and 12 cm deep: walls of 2.5 cm around a closed hollow. Its middle is at the origin, eyelets for the links of a chain
-- are at the outer sides of its two legs.
-- Suggested edge of triangles and tetrahedra: 0.012 m.
local t, wall = 0.12, 0.025 -- width of a stroke
local function prism(points)
  local profile = {}
  for i, q in ipairs(points) do profile[i] = {(q[1] - 1.5) * t, (q[2] - 2.5) * t} end
  return extrude { profile = profile, height = t, rotation_deg = {-90, 0, 0} }
end
local function eyelet(x, y, turn) return torus { radius = 0.055, tube = 0.02, rotation_deg = {90, turn, 0}, center = {x, y, 0} } end
local out = 2.5 * t + 0.055 + 0.003
local letter = prism { {0, 0}, {1, 0}, {1, 2}, {2, 2}, {2, 0}, {3, 0}, {3, 5}, {2, 5}, {2, 3}, {1, 3}, {1, 5}, {0, 5} }
local side = out - t
return (shell { letter, thickness = wall } + eyelet(side, 0, 0) + eyelet(-side, 0, 0)):paint({ "#3f8f5f", gloss = 0.5 })
