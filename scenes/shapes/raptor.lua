-- A small two-legged dinosaur, 24 cm long and 17 cm high, standing on y = 0, looking towards +x, the same on both sides of z = 0.
-- Suggested edge of triangles and tetrahedra: 0.006 m.
-- Modelled in centimetres; the last line makes metres of them.
local function egg(radii, center, rotation)
  return ellipsoid { radii = radii, center = center, rotation_deg = rotation }
end
local function pair(shape) return mirror(shape, "z") end -- left and right
local function bone(from, to, radius, radius_to) return capsule { from = from, to = to, radius = radius, radius_to = radius_to } end

local trunk = smooth_union {
  egg({4.6, 3.3, 2.8}, {-0.6, 8.8, 0}, {0, 0, 8}),
  egg({2.9, 2.8, 2.5}, {2.8, 9.6, 0}),                  -- chest
  bone({3.6, 10.6, 0}, {6.0, 14.0, 0}, 1.9, 1.6),        -- neck
  bone({-4.0, 8.8, 0}, {-9.5, 9.6, 0}, 2.2, 1.3),        -- tail
  bone({-9.5, 9.6, 0}, {-13.6, 11.2, 0}, 1.3, 0.9),
  blend = 1.3,
}
local head = smooth_union {
  egg({2.5, 1.9, 1.75}, {6.6, 15.0, 0}, {0, 0, -10}),
  bone({7.4, 14.8, 0}, {10.4, 14.2, 0}, 1.35, 1.0),      -- snout
  pair(sphere { radius = 0.8, center = {6.9, 16.2, 1.0} }), -- brows
  blend = 0.8,
}
local thighs = pair(egg({2.5, 3.3, 1.7}, {0.5, 6.8, 2.2}, {0, 0, 18}))
local shins = pair(bone({1.5, 4.8, 2.3}, {-0.4, 2.7, 2.4}, 1.5, 1.25) + bone({-0.4, 2.7, 2.4}, {0.9, 1.1, 2.4}, 1.25, 1.1))
local feet = pair(smooth_union {
  bone({-0.2, 0.75, 2.4}, {4.4, 0.7, 2.4}, 1.05, 0.8),
  bone({1.0, 0.75, 2.5}, {3.7, 0.7, 4.2}, 0.9, 0.75),
  blend = 0.5,
})
local arms = pair(smooth_union { bone({3.6, 8.8, 1.9}, {4.9, 7.2, 2.6}, 0.95, 0.8), bone({4.9, 7.2, 2.6}, {6.6, 7.5, 2.4}, 0.8, 0.7), blend = 0.4 })
local eyes = pair(sphere { radius = 0.55, center = {7.75, 15.75, 1.25} })

local raptor = smooth_union { trunk, head, blend = 1.0 }
raptor = smooth_union { raptor, thighs, blend = 0.7 }
raptor = smooth_union { raptor, shins, arms, blend = 0.6 }
raptor = smooth_union { raptor, feet, blend = 0.5 }
raptor = intersect { raptor + eyes, half_space { normal = {0, -1, 0} } } -- flat soles

raptor:paint({ "#6f8f4a", gloss = 0.35 })
raptor:paint(smooth_union { egg({4.4, 2.2, 2.0}, {0.4, 6.9, 0}, {0, 0, 12}), bone({3.8, 8.6, 0}, {8.2, 13.0, 0}, 1.6, 0.8), blend = 1 }, { "#d9d2a4", gloss = 0.3 })
local stripes = box { size = {0.9, 8, 9}, center = {-2.0, 13.1, 0} }
for i = 1, 6 do stripes = stripes + box { size = {0.9 - 0.06 * i, 8, 9}, center = {-2.0 - 1.9 * i, 13.4 + 0.12 * i, 0} } end
for i = 1, 2 do stripes = stripes + box { size = {0.9, 8, 9}, center = {-2.0 + 1.9 * i, 13.5 + 0.5 * i, 0} } end
raptor:paint(stripes * box { size = {14.4, 40, 40}, center = {-6.6, 10, 0} }, { "#41592c", gloss = 0.35 })
raptor:paint(eyes, { "#e8b53a", gloss = 0.9 })
raptor:paint(pair(sphere { radius = 0.3, center = {8.1, 15.85, 1.65} }), { "#101010", gloss = 0.9 })
return raptor:move({1.6, 0, 0}):scale(0.01)
