-- A soft foot is pressed on the ground and twisted: its rim slips while its middle sticks.
local paper = size == "paper"
local p = params { press = 0.02, turn_deg = 60, young = 2e5, friction = 0.6, cells = paper and 12 or 6 }
return scene {
  talus = 1, engine = "grid",
  title = "Soft foot",
  about = "a soft foot is pressed and twisted on the ground: rim slips, middle sticks",
  minutes = paper and 6 or 0.5,
  duration = 1.5, fps = 50, dt_max = 0.01,
  bodies = {
    { name = "foot", shape = box { size = {0.2, 0.12, 0.2} }:paint({ "#8a6fb0", gloss = 0.3 }):paint(box { size = {0.02, 1, 1} } + box { size = {1, 1, 0.02} }, "#efe9f5"),
      at = {0, 0.061, 0}, cells = {p.cells, math.max(3, p.cells // 2), p.cells}, friction = p.friction,
      material = elastic { density = 1000, young = p.young, poisson = 0.45, friction = p.friction } },
    { name = "ground", kind = "static", shape = plane {}, friction = p.friction },
  },
  handles = { { body = "foot", shape = box { size = {1, 0.01, 1}, center = {0, 0.121, 0} }, at = {0, 0.121, 0},
    motion = function(t)
      return { at = {0, 0.121 - p.press * math.min(t / 0.5, 1), 0}, rotation_deg = {0, p.turn_deg * math.max(0, t - 0.5), 0} }
    end } },
  camera = { eye = {0.35, 0.28, 0.5}, target = {0, 0.05, 0}, fov_deg = 34 },
}
