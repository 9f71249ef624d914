-- A column of water breaks and bends a soft beam that stands on the floor; the beam springs back. After figures 7 and 8
-- of Takahashi and Batty 2022.
local p = params { cells = size == "paper" and 80 or 32, duration = 3 }
local h = 1 / p.cells
local fine = size == "paper"
local deep, long = fine and 1 or 0.5, fine and 0.4 or 0.3
local water = liquid { density = 1000, name = "water", colour = "#3d86c6" }
local rubber = elastic { density = 200, young = 3e4, poisson = 0.4, name = "rubber", colour = "#d9734e" }

return scene {
  talus = 1, engine = "grid",
  title = "A beam in a dam break",
  about = "liquid and an elastic solid in one solve: a wave bends a beam, which springs back",
  figure = "Takahashi 2022, figures 7 and 8",
  minutes = fine and 60 or 4,
  duration = p.duration, fps = 50,
  grid = { cells = {p.cells, p.cells, fine and p.cells or p.cells // 2}, cell = h, cfl = 2 },
  fill = { { material = water, shape = box { size = {long, 0.6, deep}, center = {long / 2, 0.3, deep / 2} } } },
  bodies = {
    { name = "beam", shape = box { size = {0.12, 0.5, 0.2} }, at = {0.6, 0.25, deep / 2}, material = rubber, friction = 0.3,
      cells = fine and {8, 30, 7} or {3, 12, 5}, anchor = box { center = {0, -0.25, 0}, size = {1, 0.01, 1} } },
  },
  render = { walls = "frame" },
  camera = { eye = {1.5, 0.9, 2.0}, target = {0.5, 0.3, deep / 2} },
}
