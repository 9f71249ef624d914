-- A gingerbread man lies on a table and is dragged by its head between pegs that stand closer than its arms are wide.
-- paper: 11.1k nodes; edge = 0.00435 gives 19.5k.
local p = params { edge = size == "paper" and 0.00525 or 0.009, young = 1e6, density = 600, friction = 0.2, speed = 0.35 }
local bodies = {
  { name = "man", shape = shape_file "gingerbread", at = {-0.30, 0.0135, 0}, rotation = { axis = {1, 1, 0}, angle_deg = 180 }, edge = p.edge, -- on its back, head towards +x
    material = elastic { density = p.density, young = p.young, poisson = 0.3, model = "neo_hookean", friction = p.friction, colour = "#9aa0a6" } },
  { name = "table", kind = "static", shape = plane {}, friction = p.friction },
}
local peg = cylinder { radius = 0.016, height = 0.08, center = {0, 0.04, 0} }
local rows = { { 0.00, {-0.065, 0.065} }, { 0.14, {-0.055, 0.085} }, { 0.28, {-0.085, 0.055} }, { 0.42, {-0.06, 0.06} } }
for i, row in ipairs(rows) do
  for j, z in ipairs(row[2]) do
    bodies[#bodies + 1] = { name = string.format("peg %d.%d", i, j), kind = "static", shape = peg, at = {row[1], 0, z}, friction = p.friction, colour = "#5d7f9a" }
  end
end
return scene {
  talus = 1, engine = "lg",
  title = "Gingerbread man and pegs",
  about = "a soft gingerbread man is dragged through rows of pegs",
  figure = "Zeng2025 table 3, gingerbread",
  minutes = size == "paper" and 4 or 2.5,
  duration = 2, fps = 50, dt_max = 0.01,
  lg = { iterations = 5, inner = 3, corrections = size == "paper" and 0 or -1 }, -- at its size rounds alone, as in the paper
  bodies = bodies,
  handles = { { body = "man", shape = box { size = {0.03, 0.1, 0.05}, center = {-0.10, 0.0135, 0} }, at = {-0.10, 0.0135, 0},
                motion = function(t) return { at = {-0.10 + p.speed * math.max(0, t - 0.1), 0.0135, 0} } end } },
  camera = { eye = {0.34, 0.5, 0.46}, target = {0.13, 0.0, 0.03}, fov_deg = 42 },
}
