-- A link of a chain, 21 cm long in y, 15 cm wide in x, of wire 4 cm thick, its middle at the origin. Links in a row along y, every other one turned by 90
-- degrees about y, hang taut at 13 cm from middle to middle.
-- Suggested edge of triangles and tetrahedra: 0.01 m.
local bend, straight, wire = 0.055, 0.03, 0.02
local ring = torus { radius = bend, tube = wire, rotation_deg = {90, 0, 0}, center = {0, straight, 0} }
local half = ring * half_space { normal = {0, -1, 0}, point = {0, straight, 0} }
local sides = mirror(capsule { from = {bend, -straight, 0}, to = {bend, straight, 0}, radius = wire }, "x")
return (mirror(half, "y") + sides):paint({ "#8b9299", gloss = 0.7 })
