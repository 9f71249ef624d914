-- A wedge of a Lewis, 20 cm high and 12 cm deep, standing on y = 0: its outer side is the plane x = 0, its flank leans by 12 degrees towards -x, 3 cm
-- from it below and 7.25 cm above.
-- Suggested edge of triangles and tetrahedra: 0.01 m.
local tall, depth, thin = 0.20, 0.12, 0.03
local thick = thin + tall * math.tan(math.rad(12))
local wedge = extrude { profile = { {0, 0}, {-thin, 0}, {-thick, tall}, {0, tall} }, height = depth, rotation_deg = {-90, 0, 0} }
return wedge:paint("#b5534b")
