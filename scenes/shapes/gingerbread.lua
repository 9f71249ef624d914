-- A gingerbread man, 22 cm high and 2.6 cm thick with round edges, standing on y = 0, looking towards +x, the same on both sides of z = 0.
-- Suggested edge of triangles and tetrahedra: 0.006 m.
-- Modelled in centimetres; the last line makes metres of them.
local round, half = 1.0, 0.3 -- radius of the edges; half of the flat core's thickness
local function pair(shape) return mirror(shape, "z") end -- left and right
local function limb(from, to, radius, radius_to)
  return capsule { from = {0, from[1], from[2]}, to = {0, to[1], to[2]}, radius = radius - round, radius_to = (radius_to or radius) - round }
end
local function dot(radius, y, z) return sphere { radius = radius, center = {half + round, y, z} } end

local figure = smooth_union {
  sphere { radius = 4.3 - round, center = {0, 17.7, 0} },  -- head
  limb({12.4, 0}, {8.6, 0}, 3.4, 3.7),                     -- trunk
  pair(limb({12.3, 2.0}, {11.0, 7.6}, 2.1, 2.2)),          -- arms
  pair(limb({7.6, 1.8}, {2.3, 4.0}, 2.4, 2.3)),            -- legs
  blend = 1.4,
}
local man = offset { figure * box { size = {2 * half, 60, 60} }, by = round }

man:paint({ "#a9642f", gloss = 0.1 })
local icing = { "#f6efe2", gloss = 0.5 }
man:paint(pair(dot(0.62, 18.7, 1.55)), icing) -- eyes
-- a smile, buttons, and stripes of icing at wrists and ankles
local smile = torus { radius = 2.2, tube = 0.3, rotation_deg = {0, 0, 90}, center = {half + round, 18.0, 0} }
man:paint(smile * box { size = {4, 2, 3.2}, center = {half + round, 16.1, 0} }, icing)
man:paint(dot(0.75, 13.0, 0) + dot(0.75, 10.4, 0) + dot(0.75, 7.8, 0), { "#b8303a", gloss = 0.7 })
man:paint(pair(box { size = {9, 9, 0.5}, center = {0, 11.3, 6.6} }), icing)
man:paint(pair(box { size = {9, 0.5, 6}, center = {0, 4.0, 4} }), icing)
man:paint(pair(dot(0.35, 18.7, 1.55)), { "#2a1a12", gloss = 0.6 })
return man:scale(0.01)
