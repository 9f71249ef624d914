-- A crane turns, its trolley runs out and its load swings on a rope of 2.5 m.
local p = params { load = 100, turn = 0.6, run = 0.5, rope = 2.5 }
local height, reach = 4, 1.5
return scene {
  talus = 1, engine = "grid",
  title = "A crane with a rope",
  about = "a jib turns, a trolley runs along it, and a load on a rope swings below",
  minutes = 0.2,
  duration = size == "paper" and 20 or 6, fps = 50, dt_max = 0.01,
  bodies = {
    { name = "floor", kind = "static", shape = plane {}, colour = "#bdb6a8" },
    { name = "tower", kind = "static", shape = box { size = {0.3, height, 0.3} }, at = {0, height / 2, 0}, colour = "#f39c12" },
    { name = "jib", shape = box { size = {4.4, 0.16, 0.16} }, at = {1.4, height + 0.12, 0}, mass = 200, colour = "#f1c40f" },
    { name = "trolley", shape = box { size = {0.3, 0.1, 0.24} }, at = {reach, height - 0.02, 0}, mass = 20, colour = "#34495e" },
    { name = "load", shape = box { size = {0.5, 0.5, 0.5} }, at = {reach, height - 0.07 - p.rope - 0.25, 0}, mass = p.load, colour = "#8e44ad" },
  },
  joints = {
    { name = "slew", kind = "hinge", a = "jib", b = "tower", at = {0, height, 0}, axis = {0, 1, 0},
      motor = { speed = function(t) return p.turn * math.min(1, t) end } },
    { name = "run", kind = "slider", a = "trolley", b = "jib", at = {reach, height, 0}, axis = {1, 0, 0}, limits = {-1, 2},
      motor = { speed = function(t) return t < 3 and p.run * math.min(1, t) or 0 end } },
    { name = "rope", kind = "rope", a = "load", b = "trolley", at_a = {0, 0.25, 0}, at_b = {0, -0.05, 0}, length = p.rope },
  },
  render = { joints = true },
  camera = { eye = {6, 4.5, 7}, target = {0.8, 2.2, 0}, fov_deg = 42 },
}
