-- Elastic rings hang in each other; the first is held. The chain falls into its links, stretches and swings.
local paper = size == "paper"
local p = params { links = paper and 8 or 4, young = 3e5, edge = paper and 0.012 or 0.02, friction = 0.3 }
local R, r = 0.1, 0.022
local bodies = {}
for k = 1, p.links do
  bodies[k] = {
    name = "link " .. k, shape = torus { radius = R, tube = r }, edge = p.edge, friction = p.friction,
    at = {0.15 * (k - 1), 0, 0}, rotation_deg = {k % 2 == 1 and 90 or 0, 0, 0},
    material = elastic { density = 1000, young = p.young, poisson = 0.3, friction = p.friction, colour = k % 2 == 1 and "#c0504d" or "#4f81bd" },
    anchor = k == 1 and box { size = {0.06, 1, 1}, center = {-R, 0, 0} } or nil,
  }
end
return scene {
  talus = 1, engine = "grid",
  title = "Soft chain",
  about = "a chain of elastic rings that is held at one end falls and stretches",
  minutes = paper and 20 or 3,
  duration = 1.5, fps = 50, dt_max = 0.005,
  bodies = bodies,
  camera = { eye = {0.2, -0.1, 1.8}, target = {0.2, -0.25, 0}, fov_deg = 40 },
}
