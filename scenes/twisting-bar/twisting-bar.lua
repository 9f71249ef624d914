-- A bar of square section, twice as long as wide, whose ends turn against each other at 1 rad/s each. No gravity.
-- paper: 13 x 13 x 26 cells of 5 cm (5292 nodes, 26 364 tetrahedra); cells = 17 or 21 gives the larger ones.
local p = params { cells = size == "paper" and 13 or 6, young = 1e9, poisson = 0.45, model = "arap", rate = 1.0 }
local n = p.cells
local width, length = 0.05 * n, 0.1 * n
local function turning(sign)
  return { body = "bar", shape = box { size = {0.001, 9, 9}, center = {sign * 0.5 * length, 0, 0} }, at = {sign * 0.5 * length, 0, 0},
           weight = 20 * p.young / (2 * (1 + p.poisson)) * 0.05,
           motion = function(t) return { rotation_rad = {sign * p.rate * t, 0, 0} } end }
end
return scene {
  talus = 1, engine = "lg",
  title = "Twisting bar, " .. p.model,
  about = "the two ends of an elastic bar turn against each other",
  figure = "Zeng2025 table 3, twisting bar",
  minutes = size == "paper" and 0.5 or 0.1,
  duration = 1.5, fps = 50, dt_max = 0.01, gravity = {0, 0, 0},
  lg = { iterations = 5 },
  bodies = { { name = "bar", shape = box { size = {length, width, width} }, cells = {2 * n, n, n}, element = "tetrahedra", colour = "#c0653a",
               material = elastic { density = 1000, young = p.young, poisson = p.poisson, model = p.model } } },
  handles = { turning(-1), turning(1) },
  render = { ground_height = -1.2 * width },
  camera = { eye = {0.45 * length, 0.9 * width, 2.0 * length}, target = {0, 0, 0}, fov_deg = 34 },
}
