-- 8 x 8 x 8 cubes with a little air between the layers fall straight down and stack.
local p = params { edge = size == "paper" and 8 or 4, gap = 0.02, friction = 0.5 }
local cube = box { size = 0.2 }
local colours = { "#c0392b", "#e0b040", "#3f8f5f", "#2d6cb5" }

return scene {
  talus = 1, engine = "grid",
  title = "Pile of " .. p.edge ^ 3 // 1 .. " cubes",
  about = "columns of cubes fall a little, and stack",
  minutes = 0.3,
  duration = 4, fps = 50, dt_max = 0.01,
  bodies = join {
    { { name = "ground", kind = "static", shape = plane {}, friction = p.friction } },
    grid_of { count = {p.edge, p.edge, p.edge}, spacing = {0.25, 0.2 + p.gap, 0.25}, at = {-0.125 * (p.edge - 1), 0.1 + p.gap, -0.125 * (p.edge - 1)},
      body = function(i) return { name = "cube " .. i, shape = cube, density = 1000, friction = p.friction, colour = colours[(i - 1) % 4 + 1] } end },
  },
  camera = { eye = {0.36 * p.edge, 0.36 * p.edge, 0.5 * p.edge}, target = {0, 0.08 * p.edge, 0}, fov_deg = 36 },
}
