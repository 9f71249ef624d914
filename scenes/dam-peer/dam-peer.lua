-- Dam break in a tank of 3 x 2 x 1.25 m (height 1.25), the block of water from (0.01, 0.01, 0.01) to (1.0, 1.0, 1.24): the same work as other
-- SPH programs are timed with. `scale` enlarges all.
local p = params { h = 0.02, scale = 1.0 }
local x, y, z = 3 * p.scale, 1.25 * p.scale, 2 * p.scale
-- Lattices of liquid go through multiples and a half of h: the tank is moved so that the first layer is as near to the walls as liquid may begin. A
-- block that hangs higher begins with a blow.
local o = 0.59 * p.h
return scene {
  talus = 1, engine = "sph",
  title = "Dam break",
  about = "a block of water falls into a tank: timings against other programs",
  minutes = 10,
  duration = 1, fps = 50, dt_max = 5e-3,
  sph = { spacing = p.h, inset = 0 },
  solver = { tolerance = 1e-3 },
  domain = { min = {o, o, o}, max = {x + o, y + o, z + o}, y_max = "open" },
  fill = { { material = liquid { density = 1000 }, sampling = "lattice", shape = box { size = {0.99 * p.scale, 1.23 * p.scale, 0.99 * p.scale}, center = {0.505 * p.scale, 0.625 * p.scale, 0.505 * p.scale} } } },
  camera = { eye = {4.2, 2.6, 5.2}, target = {1.4, 0.4, 1.0}, fov_deg = 32 },
  render = { walls = "frame", colour_by = "speed" },
}
