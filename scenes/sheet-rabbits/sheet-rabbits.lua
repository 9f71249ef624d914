-- A rabbit of water, or of honey, falls onto an elastic sheet, and rigid rabbits after it. After figure 1 of Takahashi
-- and Batty 2022.
local paper = size == "paper"
-- cells per metre
local p = params { cells = paper and 80 or 28, viscosity = 0, young = 2e5, rabbits = paper and 4 or 2,
                   duration = paper and 2 or 0.6 }
local h = 1 / p.cells
local honey = p.viscosity > 0
local m = honey and viscous { name = "honey", density = 1000, viscosity = p.viscosity, colour = "#d98a1c" }
  or liquid { name = "water", density = 1000, colour = "#3d86c6" }
local rubber = elastic { name = "rubber", density = 500, young = p.young, poisson = 0.4, colour = "#4a6fb5" }
local thick = 0.075

local bodies = {
  { name = "sheet", shape = box { size = {0.84, thick, 0.84} }, at = {0.5, 0.2, 0.5}, material = rubber, friction = 0.5,
    cells = paper and {30, 3, 30} or {10, 2, 10},
    anchor = union { box { center = {-0.42, 0, 0}, size = {0.01, 1, 1} }, box { center = {0.42, 0, 0}, size = {0.01, 1, 1} } } },
}
for i = 1, p.rabbits do
  local a = 2 * math.pi * i / p.rabbits + 0.6
  bodies[i + 1] = { name = "rabbit " .. i, shape = shape_file "rabbit":scale(0.65), density = 700, friction = 0.5,
    at = {0.5 + 0.2 * math.cos(a), paper and 0.79 or 0.75, 0.5 + 0.2 * math.sin(a)}, rotation_deg = {0, 80 * i, 0}, velocity = {0, -1, 0},
    colour = "#efe8dc" }
end

return scene {
  talus = 1, engine = "grid",
  title = "Rabbits on a sheet",
  about = "a rabbit of water or honey falls onto an elastic sheet, rigid rabbits on top",
  figure = "Takahashi 2022, figure 1",
  minutes = paper and 120 or 4,
  duration = p.duration, fps = 50,
  grid = { cells = {p.cells, p.cells, p.cells}, cell = h },
  fill = { { material = m, shape = shape_file "rabbit":scale(paper and 1.8 or 1.5):move({0.5, 0.245, 0.5}) } },
  bodies = bodies,
  render = { walls = "frame" },
  camera = { eye = {1.5, 1.15, 1.9}, target = {0.5, 0.35, 0.5} },
}
