-- A pyramid of boxes, each on two others: 210 of them in 20 rows, 1600 contact points.
local p = params { rows = size == "paper" and 20 or 8, friction = 0.5 }
local edge, pitch = 0.2, 0.22
local cube = box { size = edge }
local colours = { "#c0392b", "#d35400", "#e0b040", "#3f8f5f", "#2d6cb5" }

local bodies = { { name = "ground", kind = "static", shape = plane {}, friction = p.friction } }
for row = 1, p.rows do
  local n = p.rows - row + 1
  for i = 1, n do
    bodies[#bodies + 1] = {
      name = string.format("box %d.%d", row, i), shape = cube, density = 1000, friction = p.friction, colour = colours[(row - 1) % 5 + 1],
      at = {(i - 0.5 * (n + 1)) * pitch, (row - 0.5) * edge, 0},
    }
  end
end

return scene {
  talus = 1, engine = "grid",
  title = "Pyramid of " .. p.rows * (p.rows + 1) // 2 .. " boxes",
  about = "a pyramid of boxes stands still; 1600 contact points at the paper's size",
  minutes = 0.3,
  duration = 5, fps = 50, dt_max = 0.01,
  bodies = bodies,
  camera = { eye = {0.09 * p.rows, 0.16 * p.rows + 0.2, 0.36 * p.rows + 0.6}, target = {0, 0.09 * p.rows, 0}, fov_deg = 34 },
}
