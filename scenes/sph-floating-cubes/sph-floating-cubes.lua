-- Cubes of 300, 500, 700 and 900 kg/m^3 float at their draught.
local p = params { h = size == "paper" and 0.01 or 0.02, across = 8 }
local edge = size == "paper" and 0.24 or p.across * p.h
local pitch = 2 * edge
local bodies = {}
for i, density in ipairs { 300, 500, 700, 900 } do
  bodies[i] = { name = density .. " kg/m3", shape = box { size = edge }, density = density, at = {(i - 2.5) * pitch, 1.5 * edge + edge * (0.5 - density / 1000), 0},
                colour = ({ "#f0e6d2", "#d9b26f", "#b5793d", "#7a4a2a" })[i] }
end
local half = {2 * pitch, 0, pitch}
return scene {
  talus = 1, engine = "sph",
  title = "Floating cubes",
  about = "four cubes of different weight find their draught",
  minutes = size == "paper" and 60 or 2,
  duration = 1.5, fps = 25, dt_max = 2e-3,
  sph = { spacing = p.h },
  domain = { min = {-half[1], 0, -half[3]}, max = {half[1], 3.5 * edge, half[3]} },
  bodies = bodies,
  fill = { { material = liquid { density = 1000 }, sampling = "lattice", shape = box { size = {2 * half[1] - 0.5 * p.h, 1.5 * edge, 2 * half[3] - 0.5 * p.h}, center = {0, 0.75 * edge, 0} } } },
  camera = { eye = {0.8, 1.0, 2.6}, target = {0, 0.3, 0}, fov_deg = 32 },
  render = { walls = "frame" },
}
