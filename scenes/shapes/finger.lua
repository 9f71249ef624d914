-- A finger of a soft gripper, 16 cm long: it hangs from y = 0 down to y = -0.16 m, its ribbed pads look towards +x, the same on both sides of z = 0.
-- Cables run 8 mm behind the pads, at x = 0.004 m, from y = -0.01 to -0.15 m: pulled, they curl the finger towards +x.
-- Suggested edge of triangles and tetrahedra: 0.005 m.
-- Modelled in centimetres; the last line makes metres of them.
local back = box { size = {1.4, 15.2, 3.0}, round = 0.5, center = {-0.7, -7.6, 0} }
local tip = capsule { from = {-0.45, -14.6, -0.55}, to = {-0.45, -14.6, 0.55}, radius = 1.1 }
local finger = smooth_union { back, tip, blend = 0.6 }
for i = 0, 6 do -- pads: wide ribs with gaps that close when the finger curls
  local pad = box { size = {2.0, 1.45, 3.0}, round = 0.35, center = {0.4, -1.8 - 2.05 * i, 0} }
  finger = smooth_union { finger, pad, blend = 0.35 }
end
finger:paint({ "#4d7f8c", gloss = 0.3 })
finger:paint(box { size = {1.2, 30, 8}, center = {1.45, -7, 0} }, { "#e0ddd2", gloss = 0.1 })
return finger:scale(0.01)
