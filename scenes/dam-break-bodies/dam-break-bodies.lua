-- A column of water breaks and takes a crate, a ball and a ring with it.
local p = params { cells = size == "paper" and 64 or 32, duration = 3 }
local h = 1 / p.cells
local water = liquid { density = 1000, name = "water", colour = "#3d86c6" }

return scene {
  talus = 1, engine = "grid",
  title = "Dam break with floating bodies",
  about = "a wave lifts a crate, a ball and a ring, which then float",
  minutes = size == "paper" and 12 or 1.5,
  duration = p.duration, fps = 50,
  grid = { cells = {3 * p.cells // 2, p.cells, p.cells // 2}, cell = h, cfl = 2 },
  fill = { { material = water, shape = box { size = {0.45, 0.7, 0.5}, center = {0.225, 0.35, 0.25} } } },
  bodies = {
    { name = "crate", shape = box { size = 0.18, round = 0.01 }, at = {0.85, 0.09, 0.25}, density = 400, friction = 0.3, colour = "#c08a4a" },
    { name = "ball", shape = sphere { radius = 0.09 }, at = {1.12, 0.09, 0.14}, density = 250, friction = 0.3, colour = "#c0392b" },
    { name = "ring", shape = torus { radius = 0.1, tube = 0.04 }, at = {1.3, 0.04, 0.33}, density = 600, friction = 0.3, colour = "#e0b040" },
  },
  render = { walls = "frame" },
  camera = { eye = {1.5, 1.1, 2.3}, target = {0.75, 0.25, 0.25} },
}
