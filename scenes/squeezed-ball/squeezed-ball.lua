-- A soft ball of 15 cm radius is drawn through a gap of 18 cm between two turning rollers, falls on the ground and is round again.
-- paper: 7.1k nodes; edge = 0.01352 gives 14.7k.
local p = params { edge = size == "paper" and 0.01723 or 0.03, young = 1e4, friction = 0.5, rate = 6.0, gap = 0.18 }
local radius = 0.12
local function roller(name, side)
  return { name = name, shape = cylinder { radius = radius, height = 0.5 }:rotate({90, 0, 0}) -- axis along z; a painted stripe shows that it turns
             :paint({ "#7d8890", gloss = 0.6 }):paint(box { size = {0.3, 0.02, 1} } + box { size = {0.02, 0.3, 1} }, "#d9d4c8"),
           at = {side * (radius + 0.5 * p.gap), 0.75, 0}, friction = p.friction,
           motion = function(t) return { rotation_rad = {0, 0, side * p.rate * t} } end }
end
return scene {
  talus = 1, engine = "lg",
  title = "Squeezed ball",
  about = "two rollers draw a soft ball through a gap that is too narrow for it",
  figure = "Zeng2025 table 3, squeezing ball",
  minutes = size == "paper" and 2 or 0.5,
  duration = 1.6, fps = 50, dt_max = 0.01,
  lg = { iterations = 5, inner = 3, corrections = size == "paper" and 0 or -1 }, -- at its size rounds alone, as in the paper
  bodies = {
    { name = "ball", shape = sphere { radius = 0.15 }:paint({ "#d9a441", gloss = 0.4 }):paint(box { size = {1, 0.05, 1} }, "#f4efe6"):paint(box { size = {0.05, 1, 1} }, "#b8483f"),
      at = {0, 0.95, 0}, edge = p.edge, material = elastic { density = 1000, young = p.young, poisson = 0.4, model = "neo_hookean", friction = p.friction, colour = "#9aa0a6" } },
    roller("left roller", -1), roller("right roller", 1),
    { name = "ground", kind = "static", shape = plane {}, friction = p.friction },
  },
  camera = { eye = {0.5, 1.05, 1.9}, target = {0, 0.56, 0}, fov_deg = 34 },
}
