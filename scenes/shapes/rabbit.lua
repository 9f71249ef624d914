-- A sitting rabbit, 28 cm high with its ears, standing on y = 0, looking towards +x, the same on both sides of z = 0.
-- Suggested edge of triangles and tetrahedra: 0.006 m.
-- Modelled in centimetres; the last line makes metres of them.
local function egg(radii, center, rotation)
  return ellipsoid { radii = radii, center = center, rotation_deg = rotation }
end
local function pair(shape) return mirror(shape, "z") end -- left and right

-- Body and neck flow into each other.
local torso = smooth_union {
  egg({7.6, 5.7, 5.0}, {-1.6, 6.4, 0}, {0, 0, 16}),
  egg({5.9, 5.7, 5.4}, {-4.6, 5.8, 0}),                                                  -- rump
  egg({4.0, 5.2, 4.0}, {3.6, 8.0, 0}),                                                   -- chest
  capsule { from = {3.4, 10.4, 0}, to = {5.6, 14.0, 0}, radius = 3.5, radius_to = 3.0 }, -- neck
  blend = 1.8,
}
local face = smooth_union {
  egg({4.6, 4.0, 3.7}, {6.8, 15.4, 0}, {0, 0, -16}),
  egg({2.5, 2.1, 2.3}, {10.2, 13.9, 0}, {0, 0, -8}),   -- muzzle
  pair(sphere { radius = 2.1, center = {8.4, 13.6, 1.6} }), -- cheeks
  blend = 1.0,
}

-- An ear is a spoon: long, flat, hollow in front. Both lean back and turn outwards.
local function ear(shape) return pair(shape:rotate({13, -32, 14}):move({4.6, 23.0, 2.5})) end
local ears = ear(smooth_subtract { egg({0.95, 6.2, 2.0}), egg({0.8, 5.2, 1.4}, {0.85, -0.3, 0}), blend = 0.25 })

local tail = sphere { radius = 2.7, center = {-10.4, 6.4, 0} }
local eyes = pair(sphere { radius = 0.85, center = {8.7, 16.4, 2.85} })
local nose = egg({0.55, 0.5, 0.75}, {12.3, 14.6, 0}, {0, 0, -20})

local rabbit = smooth_union { torso, pair(egg({4.7, 4.5, 2.0}, {-3.6, 5.2, 4.5}, {6, 0, -16})), blend = 0.5 } -- thighs
rabbit = smooth_union { rabbit, pair(capsule { from = {4.8, 7.6, 2.1}, to = {6.7, 1.7, 2.2}, radius = 1.9, radius_to = 1.3 }), blend = 0.8 }
rabbit = smooth_union {
  rabbit, tail,
  pair(egg({4.6, 1.4, 1.7}, {0.6, 1.2, 4.5}, {0, 5, 0})), -- hind feet
  pair(egg({2.1, 1.2, 1.45}, {7.6, 1.1, 2.2})),           -- paws
  blend = 0.4,
}
rabbit = smooth_union { rabbit, face, blend = 1.2 }
rabbit = smooth_union { rabbit, ears, blend = 0.5 }
rabbit = smooth_union { rabbit, nose, blend = 0.15 }
rabbit = intersect { rabbit + eyes, half_space { normal = {0, -1, 0} } } -- flat soles

rabbit:paint("#b08560")
rabbit:paint(ear(egg({0.95, 4.7, 1.5}, {0.9, 0.25, 0})), { "#dfa79a", gloss = 0 })
rabbit:paint(offset { tail, by = 0.35 }, { "#f4efe6", gloss = 0 })
rabbit:paint(eyes, { "#16100e", gloss = 0.95 })
rabbit:paint(offset { nose, by = 0.08 }, "#c77d78")
return rabbit:scale(0.01)
