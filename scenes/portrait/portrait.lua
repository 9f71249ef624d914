-- The library's own shapes together: rabbit, duck, bowl, torus, hourglass.
local cell = size == "paper" and 1/256 or 1/96
local sand = granular { density = 1600, friction_angle_deg = 32, colour = "#d9b36c" }
local wood = solid { density = 600, friction = 0.4 }
local lift = 0.0005 -- nothing touches at the start

local function thing(name, shape, at, turn)
  return { name = name, shape = shape_file(shape), at = {at[1], lift, at[2]}, rotation_deg = {0, turn, 0}, material = wood }
end

-- Sand in the hourglass: what is left above, the heap below.
local function in_hourglass(shape) return shape:move({-0.25, lift, -0.12}) end
local above = cone { radius = 0.006, radius_top = 0.038, height = 0.038, center = {0, 0.131, 0} }
local below = cone { radius = 0.052, height = 0.045, center = {0, 0.0425, 0} }
-- And in the bowl, filled to 6 cm.
local bowl = {0.15, 0.23}
local filling = ellipsoid { radii = {0.1, 0.04, 0.1} } * half_space { normal = {0, 1, 0} }

return scene {
  talus = 1, engine = "grid",
  title = "Group portrait",
  about = "the shapes of the library: rabbit, duck, bowl, torus, hourglass",
  minutes = 1,
  duration = 1, fps = 50,
  grid = { cells = {math.floor(1.0 / cell), math.floor(0.35 / cell), math.floor(0.7 / cell)}, cell = cell, origin = {-0.5, 0, -0.35} },
  fill = {
    { material = sand, shape = in_hourglass(above), spacing = 0.0016 },
    { material = sand, shape = in_hourglass(below), spacing = 0.0016 },
    { material = sand, shape = filling:move({bowl[1], 0.06, bowl[2]}), spacing = 0.004 },
  },
  bodies = {
    thing("hourglass", "hourglass", {-0.25, -0.12}, 20),
    thing("rabbit", "rabbit", {-0.02, 0.0}, -38),
    thing("duck", "duck", {0.29, -0.06}, -150),
    thing("torus", "torus", {-0.21, 0.17}, 0),
    thing("bowl", "bowl", bowl, 0),
  },
  camera = { eye = {0.14, 0.56, 1.24}, target = {0.025, 0.07, 0.02}, fov_deg = 27 },
}
