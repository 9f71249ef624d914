-- Three trip hammers on hinges above soft blocks of three stiffnesses. A crank at constant speed lifts the middle one by
-- a rod between two balls; the others fall once and bounce. A tray on a slider with a spring carries a soft cube.
local p = params { speed = 6.0, young = 5e4 }
local function jelly(times) return elastic { density = 1000, young = p.young * times, poisson = 0.35, friction = 0.5 } end
local bodies = { { name = "floor", kind = "static", shape = plane {}, friction = 0.5, colour = "#bdb6a8" } }
local joints = {}
local colours = { "#e67e22", "#27ae60", "#2980b9" }
for k = 1, 3 do
  local z = 0.5 * (k - 2)
  bodies[#bodies + 1] = { name = "soft " .. k, shape = box { size = 0.24 }, at = {0.55, 0.12, z}, cells = {4, 4, 4},
                          material = jelly(4 ^ (k - 1)), colour = colours[k] }
  bodies[#bodies + 1] = { name = "hammer " .. k, shape = union {
                            box { size = {0.7, 0.1, 0.1} },
                            move(box { size = {0.14, 0.16, 0.16} }, {0.28, -0.02, 0}) },
                          at = {0.28, k == 2 and 0.44 or 0.57, z}, density = 900, friction = 0.5, colour = "#7f8c8d" }
  joints[#joints + 1] = { name = "hinge " .. k, kind = "hinge", a = "hammer " .. k,
                          at = {-0.05, k == 2 and 0.44 or 0.57, z}, axis = {0, 0, 1}, limits = {-1.2, 1.2} }
end
bodies[#bodies + 1] = { name = "crank", shape = cylinder { radius = 0.07, height = 0.1 }, rotation_deg = {90, 0, 0},
                        at = {0.3, 0.87, 0}, density = 2000, colour = "#c0392b" }
joints[#joints + 1] = { name = "axle", kind = "hinge", a = "crank", at = {0.3, 0.87, 0}, axis = {0, 0, 1},
                        motor = { speed = p.speed } }
joints[#joints + 1] = { name = "rod", kind = "rope", a = "crank", b = "hammer 2", at_a = {0.06, 0, 0},
                        at_b = {0.1, 0.05, 0}, length = 0.41 }
bodies[#bodies + 1] = { name = "tray", shape = box { size = {0.36, 0.1, 0.36} }, at = {0.55, 0.565, 1.05}, density = 600,
                        friction = 0.5, colour = "#ecf0f1" }
bodies[#bodies + 1] = { name = "soft 4", shape = box { size = 0.2 }, at = {0.55, 0.715, 1.05}, cells = {3, 3, 3},
                        material = jelly(1), colour = "#8e44ad" }
joints[#joints + 1] = { name = "lift", kind = "slider", a = "tray", at = {0.55, 0.6, 1.05}, axis = {0, 1, 0},
                        motor = { position = function(t) return 0.15 * math.sin(4 * t) end } }
return scene {
  talus = 1, engine = "grid",
  title = "Hammers on hinges and soft blocks",
  about = "hinges, limits, a crank with a rope and a slider, with elastic blocks that they hit and carry",
  minutes = 1,
  duration = 1.5, fps = 50, dt_max = 0.01,
  bodies = bodies, joints = joints, render = { joints = true },
  camera = { eye = {2.1, 1.4, 2.4}, target = {0.3, 0.35, 0.2}, fov_deg = 38 },
}
