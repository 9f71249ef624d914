-- A round-headed water creature with gill plumes, stub arms and a flat tail, 22 cm high, standing on y = 0, looking towards +x, the same on both sides of z = 0.
-- Suggested edge of triangles and tetrahedra: 0.006 m.
-- Modelled in centimetres; the last line makes metres of them.
local function egg(radii, center, rotation)
  return ellipsoid { radii = radii, center = center, rotation_deg = rotation }
end
local function pair(shape) return mirror(shape, "z") end -- left and right

local head = egg({5.6, 5.0, 6.8}, {0.6, 15.4, 0})
local trunk = smooth_union {
  egg({4.2, 5.0, 4.0}, {-0.4, 7.4, 0}),
  egg({3.6, 3.4, 3.6}, {-0.8, 5.2, 0}),
  blend = 1.5,
}
local tail = smooth_union {
  capsule { from = {-3.0, 4.6, 0}, to = {-9.0, 6.4, 0}, radius = 2.0, radius_to = 1.4 },
  egg({3.6, 3.0, 1.1}, {-10.0, 7.2, 0}, {0, 0, -18}),
  blend = 1.2,
}
local legs = pair(capsule { from = {0.2, 4.0, 2.0}, to = {0.9, 1.4, 2.5}, radius = 1.9, radius_to = 1.7 })
local feet = pair(egg({2.3, 1.2, 1.7}, {1.7, 1.1, 2.6}))
local arms = pair(capsule { from = {1.4, 9.2, 3.0}, to = {2.6, 7.4, 5.4}, radius = 1.25, radius_to = 1.0 })
-- a gill is a stem with three branches
local function branch(to) return capsule { from = {-0.6, 16.2, 8.4}, to = to, radius = 1.2, radius_to = 1.0 } end
local gills = pair(smooth_union {
  capsule { from = {0, 15.8, 5.8}, to = {-0.6, 16.2, 8.6}, radius = 1.5, radius_to = 1.3 },
  branch({-1.0, 19.4, 10.0}), branch({-1.4, 16.6, 11.6}), branch({-1.0, 13.6, 10.3}),
  blend = 0.7,
})
local eyes = pair(sphere { radius = 0.85, center = {5.15, 16.4, 2.9} })

local newt = smooth_union { trunk, head, blend = 2.2 }
newt = smooth_union { newt, tail, legs, arms, blend = 1.0 }
newt = smooth_union { newt, feet, gills, blend = 0.6 }
newt = intersect { newt + eyes, half_space { normal = {0, -1, 0} } } -- flat soles

newt:paint({ "#6fa3c8", gloss = 0.5 })
newt:paint(offset { gills, by = 0.3 } - offset { head, by = 0.25 }, { "#a4557f", gloss = 0.4 })
newt:paint(egg({3, 3.4, 2.7}, {2.6, 6.9, 0}), { "#a9cbe0", gloss = 0.5 })
-- a wide smile
local function disc(radius) return cylinder { radius = radius, height = 9, rotation_deg = {0, 0, 90}, center = {6, 17.0, 0} } end
newt:paint((disc(3.5) - disc(3.1)) * box { size = {9, 3, 5.4}, center = {6, 13.6, 0} }, "#2c4156")
newt:paint(eyes, { "#14181c", gloss = 0.95 })
return newt:move({1.5, 0, 0}):scale(0.01)
