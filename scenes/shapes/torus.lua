-- A ring, 24 cm across, lying on y = 0 around the y axis; its tube is 6 cm thick.
-- Suggested edge of triangles and tetrahedra: 0.008 m.
return torus { radius = 0.09, tube = 0.03, center = {0, 0.03, 0} }:paint({ "#c4556b", gloss = 0.7 })
