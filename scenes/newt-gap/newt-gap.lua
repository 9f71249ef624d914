-- A newt is pulled by its nose between two columns that are closer together than its head and its gills are wide.
-- paper: 5.3k nodes; edge = 0.0068 gives 11.8k.
local p = params { edge = size == "paper" and 0.0089 or 0.013, young = 1e6, friction = 0.2, gap = 0.095, speed = 0.25 }
local start = -0.21
local column = cylinder { radius = 0.1, height = 0.24, round = 0.01, center = {0, 0.11, 0} }
local function columned(name, side)
  return { name = name, kind = "static", shape = column, at = {0, 0, side * (0.5 * p.gap + 0.1)}, friction = p.friction, colour = "#8a6a4a" }
end
return scene {
  talus = 1, engine = "lg",
  title = "Newt through a gap",
  about = "a soft creature is pulled between two columns",
  figure = "Zeng2025 table 3, pulling wooper",
  minutes = size == "paper" and 3 or 1.2,
  duration = 2, fps = 50, dt_max = 0.01,
  lg = { iterations = 5, inner = 3, corrections = size == "paper" and 0 or -1 }, -- at its size rounds alone, as in the paper
  bodies = {
    { name = "newt", shape = shape_file "newt", at = {start, 0.001, 0}, edge = p.edge,
      material = elastic { density = 1000, young = p.young, poisson = 0.3, model = "neo_hookean", friction = p.friction, colour = "#9aa0a6" } },
    columned("left column", -1), columned("right column", 1),
    { name = "ground", kind = "static", shape = plane {}, friction = 0.1 },
  },
  handles = { { body = "newt", shape = box { size = {0.05, 0.06, 0.06}, center = {start + 0.075, 0.145, 0} }, at = {start + 0.075, 0.145, 0},
                motion = function(t) return { at = {start + 0.075 + p.speed * math.max(0, t - 0.1), 0.145, 0} } end } },
  camera = { eye = {0.86, 0.55, 0.3}, target = {0.02, 0.08, 0}, fov_deg = 34 },
}
