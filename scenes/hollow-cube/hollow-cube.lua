-- A hollow cube with water inside is dropped onto a slope. What the water pushes against moves, touches and rubs: schemes that solve
-- pressure and contact one after the other lose the water or the slope.
--   talus run hollow-cube --sweep solver.scheme=p-c,c-p,t-pn,t-p-n
local p = params { cells = size == "paper" and 96 or 32, angle = 20, friction = 0.5, duration = 1.5 } -- cells per metre
local h = 1 / p.cells
local water = liquid { density = 1000, name = "water" }
local edge, wall = 0.5, math.max(0.05, 2.2 * h) -- a wall of two cells keeps its sides apart
local a = math.rad(p.angle)
local foot = {0.6, 0.06 + 0.4 * math.tan(a) + 0.25 / math.cos(a) + 0.22, 0.5} -- cube above the slope
local inside = edge - 2 * wall
local content = size == "paper" and shape_file "rabbit":move({0, -0.13, 0}):scale(1.05 * inside / 0.33):move(foot)
  or box { size = {inside - h, 0.6 * inside, inside - h}, center = {foot[1], foot[2] - 0.15 * inside, foot[3]} }

return scene {
  talus = 1, engine = "grid",
  title = "Hollow cube of water on a slope",
  about = "a glass cube with water inside lands on a slope and slides; compare solver.scheme p-c, c-p, t-pn, t-p-n",
  figure = "FrictionalMonolith fig. 15, table 6",
  minutes = size == "paper" and 60 or 2,
  duration = p.duration, fps = 50,
  grid = { cells = {2 * p.cells, math.floor(1.5 * p.cells), p.cells}, cell = h, cfl = 2 },
  fill = { { material = water, shape = content } },
  bodies = {
    { name = "slope", kind = "static", shape = half_space { normal = {math.sin(a), math.cos(a), 0}, point = {1, 0.06, 0.5} },
      friction = p.friction },
    { name = "cube", shape = box { size = edge } - box { size = inside }, at = foot, density = 500,
      friction = p.friction, colour = "#9fc4d8", opacity = 0.25 },
  },
  domain = { x_max = "open" },
  camera = { eye = {1.2, 1.3, 3.4}, target = {0.9, 0.55, 0.5} },
}
