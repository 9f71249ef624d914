-- Cubes of wood and ice in a tank of water come to float; how deep they sit is their density over the water's.
local p = params { cells = 15, duration = 4, tilt = 0 } -- cells per edge of a cube
local h = 0.3 / p.cells
local water = liquid { density = 1000, name = "water" }
local n = math.floor(0.6 / h + 0.5)
local tall = math.floor(0.75 / h + 0.5)

return scene {
  talus = 1, engine = "grid",
  title = "Floating cubes",
  about = "a cube of 500 kg/m^3 and one of 900 kg/m^3 float in water, half and nine tenths of them below the surface",
  minutes = 3,
  duration = p.duration, fps = 50,
  grid = { cells = {2 * n, tall, n}, cell = h, cfl = 2 },
  fill = { { material = water, shape = box { size = {1.2, 0.5, 0.6}, center = {0.6, 0.25, 0.3} } } },
  bodies = {
    { name = "wood", shape = box { size = 0.3 }, at = {0.3, 0.47, 0.3}, rotation_deg = {0, 0, p.tilt}, density = 500, colour = "#c9a066" },
    { name = "ice", shape = box { size = 0.3 }, at = {0.9, 0.38, 0.3}, rotation_deg = {0, 0, p.tilt}, density = 900, colour = "#bfe3f2" },
  },
  render = { walls = "frame" },
}
