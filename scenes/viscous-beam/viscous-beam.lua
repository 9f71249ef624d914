-- A rabbit of honey lands on an elastic beam and bends it. After figures 11 and 12 of Takahashi and Batty 2022.
local paper = size == "paper"
-- cells per metre
local p = params { cells = paper and 64 or 24, viscosity = 100, young = 5e4, duration = paper and 2 or 0.6 }
local h = 1 / p.cells
local beam = paper and 0.3 or 0.52 -- m, its middle
local honey = viscous { name = "honey", density = 1000, viscosity = p.viscosity, colour = "#d98a1c" }
local rubber = elastic { name = "rubber", density = 500, young = p.young, poisson = 0.4, colour = "#5a86c2" }

return scene {
  talus = 1, engine = "grid",
  title = "A viscous rabbit on a beam",
  about = "viscous liquid and an elastic solid in one solve: a rabbit of honey bends a beam and flows off it",
  figure = "Takahashi 2022, figures 11 and 12",
  minutes = paper and 90 or 3,
  duration = p.duration, fps = 25,
  grid = { cells = {p.cells, p.cells, p.cells * 3 // 5}, cell = h },
  fill = { { material = honey, shape = shape_file "rabbit":scale(paper and 2 or 1.2):move({paper and 0.6 or 0.66, beam + 0.08, 0.3}) } },
  bodies = {
    { name = "beam", shape = box { size = {0.8, 0.12, 0.24} }, at = {0.45, beam, 0.3}, material = rubber,
      cells = paper and {40, 5, 8} or {10, 2, 3}, anchor = box { center = {-0.4, 0, 0}, size = {0.01, 1, 1} } },
  },
  render = { walls = "frame" },
  camera = { eye = {1.35, 1.0, 1.75}, target = {0.5, 0.42, 0.3} },
}
