-- A cloth falls on a cube that stands on one of its corners: a point and three edges, all sharp.
-- paper: 71 x 71 squares (10 225 nodes); squares = 50 gives 5.1k.
local p = params { squares = size == "paper" and 71 or 30, friction = 0.3, young = 1e5 }
local cloth = elastic { density = 1000, young = p.young, poisson = 0.4, model = "neo_hookean", friction = p.friction }
local edge = 0.5
-- turned about x by 45 degrees, then about z until the diagonal is upright
local tip = 0.5 * edge * math.sqrt(3)
return scene {
  talus = 1, engine = "lg",
  title = "Cloth on a sharp corner",
  about = "a cloth drapes over the corner of a cube",
  figure = "Zeng2025 table 3, sharp corner",
  minutes = size == "paper" and 3 or 4,
  duration = 1.5, fps = 50, dt_max = 0.01,
  lg = { iterations = 5, inner = 2, cr_iterations = 15, corrections = size == "paper" and 0 or -1 }, -- at its size rounds alone, as in the paper
  bodies = {
    { name = "cloth", shape = box { size = {1, 0.002, 1} }, at = {0, 0.5 + tip + 0.02, 0}, cells = {p.squares, 1, p.squares}, thickness = 0.002, material = cloth, colour = "#3f7fb8" },
    { name = "cube", kind = "static", shape = box { size = edge }, at = {0, 0.5, 0}, rotation_deg = {45, 0, math.deg(math.atan(1 / math.sqrt(2)))}, friction = p.friction, colour = "#c9b07a" },
  },
  render = { ground_height = 0 },
  camera = { eye = {1.5, 1.35, 1.9}, target = {0, 0.62, 0}, fov_deg = 34 },
}
