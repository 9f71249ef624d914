-- A bath duck, 19 cm high, floating level: flat below at y = 0, looking towards +x, the same on both sides of z = 0.
-- Suggested edge of triangles and tetrahedra: 0.006 m.
-- Modelled in centimetres; the last line makes metres of them.
local function egg(radii, center, rotation)
  return ellipsoid { radii = radii, center = center, rotation_deg = rotation }
end
local function pair(shape) return mirror(shape, "z") end -- left and right

local body = smooth_union {
  egg({8.6, 5.6, 6.4}, {0, 4.9, 0}),
  sphere { radius = 5.0, center = {4.0, 6.4, 0} },        -- chest
  egg({4.4, 1.7, 3.1}, {-7.6, 8.4, 0}, {0, 0, -40}),      -- tail
  blend = 2.2,
}
local neck = capsule { from = {4.4, 9.0, 0}, to = {5.2, 12.5, 0}, radius = 3.4, radius_to = 3.1 }
local head = sphere { radius = 4.4, center = {5.4, 14.6, 0} }
local wings = pair(egg({5.0, 3.0, 1.3}, {-1.4, 7.0, 5.5}, {-14, 6, -18}))
local beak = smooth_union {
  egg({2.9, 0.8, 2.0}, {9.9, 14.3, 0}, {0, 0, 10}),       -- upper half
  egg({2.3, 0.6, 1.6}, {9.6, 13.1, 0}, {0, 0, -12}),      -- lower half
  egg({1.5, 1.45, 1.8}, {8.6, 13.8, 0}),
  blend = 0.35,
}
local eyes = pair(sphere { radius = 1.05, center = {8.05, 16.1, 2.45} })

local duck = smooth_union { body, neck, blend = 1.6 }
duck = smooth_union { duck, head, blend = 1.2 }
duck = smooth_union { duck, wings, blend = 0.45 }
duck = intersect { union { duck, beak, eyes }, half_space { normal = {0, -1, 0} } }

duck:paint({ "#f2bf2a", gloss = 0.65 })
duck:paint(beak, { "#e57428", gloss = 0.65 })
duck:paint(eyes, { "#fbfaf6", gloss = 0.8 })
duck:paint(pair(sphere { radius = 0.78, center = {8.75, 16.25, 2.95} }), { "#101010", gloss = 0.9 })
return duck:move({-0.8, 0, 0}):scale(0.01)
