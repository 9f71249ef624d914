-- Elastic and rigid blocks in turns, heavy ones on light ones: the stack sags and stands.
local paper = size == "paper"
local p = params { levels = paper and 8 or 4, young = 2e5, friction = 0.6, cells = paper and 5 or 3 }
local bodies = { { name = "ground", kind = "static", shape = plane {}, friction = p.friction } }
for k = 1, p.levels do
  local soft = k % 2 == 1
  bodies[#bodies + 1] = {
    name = (soft and "soft " or "hard ") .. k, shape = box { size = {0.3, 0.1, 0.3} }, at = {0.012 * (k % 3 - 1), 0.1 * k - 0.05, 0.01 * (k % 2)},
    friction = p.friction, density = not soft and 500 * k or nil, colour = soft and "#d98f4e" or "#77848c",
    cells = soft and {p.cells, 2, p.cells} or nil,
    material = soft and elastic { density = 1000, young = p.young, poisson = 0.35, friction = p.friction, colour = "#d98f4e" } or nil,
  }
end
return scene {
  talus = 1, engine = "grid",
  title = "Soft stack",
  about = "a stack of elastic and rigid blocks sags and stands",
  minutes = paper and 3 or 0.3,
  duration = 2, fps = 50, dt_max = 0.01,
  bodies = bodies,
  camera = { eye = {0.7, 0.5, 1.1}, target = {0, 0.05 * p.levels, 0}, fov_deg = 36 },
}
