-- A gripper of joints: a carriage on a slider, two knuckles on hinges with motors, soft fingers welded to them. They close
-- on a cube and lift it. Beside them a bar of jelly swings on a ball joint, with a bob on a hinge in its other end.
local p = params { young = 5e6, close = 0.27, lift = 0.25 }
local function ease(t, from, to)
  local s = math.max(0, math.min(1, (t - from) / (to - from)))
  return s * s * (3 - 2 * s)
end
local finger = elastic { density = 1100, young = p.young, poisson = 0.4, friction = 0.8, damping = 0.02 }
local bodies = {
  { name = "table", kind = "static", shape = plane {}, friction = 0.6, colour = "#bdb6a8" },
  { name = "carriage", shape = box { size = {0.34, 0.05, 0.1} }, at = {0, 0.45, 0}, density = 1500, colour = "#34495e" },
  { name = "cube", shape = box { size = 0.1 }, at = {0, 0.05, 0}, density = 400, friction = 0.8, colour = "#c0392b" },
}
local joints = {
  { name = "lift", kind = "slider", a = "carriage", at = {0, 0.45, 0}, axis = {0, 1, 0},
    motor = { position = function(t) return p.lift * ease(t, 0.9, 1.7) end } },
}
for k, side in ipairs { "left", "right" } do
  local s = k == 1 and -1 or 1
  bodies[#bodies + 1] = { name = side .. " knuckle", shape = box { size = {0.04, 0.06, 0.08} }, at = {0.12 * s, 0.39, 0},
                          density = 1500, colour = "#7f8c8d" }
  bodies[#bodies + 1] = { name = side .. " finger", shape = box { size = {0.04, 0.34, 0.06} }, at = {0.12 * s, 0.19, 0},
                          cells = {2, 10, 2}, material = finger, colour = "#27ae60" }
  joints[#joints + 1] = { name = side .. " hinge", kind = "hinge", a = side .. " knuckle", b = "carriage",
                          at = {0.12 * s, 0.42, 0}, axis = {0, 0, 1},
                          motor = { position = function(t) return -s * p.close * ease(t, 0.1, 0.8) end } }
  joints[#joints + 1] = { name = side .. " weld", kind = "fixed", a = side .. " finger", b = side .. " knuckle",
                          at = {0.12 * s, 0.36, 0}, grip = 0.05 }
end
bodies[#bodies + 1] = { name = "pendulum", shape = box { size = {0.3, 0.06, 0.06} }, at = {0.5, 0.6, 0}, cells = {6, 2, 2},
                        material = elastic { density = 1000, young = 5e4, poisson = 0.4 }, colour = "#8e44ad" }
bodies[#bodies + 1] = { name = "bob", shape = sphere { radius = 0.05 }, at = {0.7, 0.6, 0}, density = 1500,
                        colour = "#f39c12" }
joints[#joints + 1] = { name = "nail", kind = "ball", a = "pendulum", at = {0.36, 0.6, 0}, grip = 0.05 }
joints[#joints + 1] = { name = "swivel", kind = "hinge", a = "bob", b = "pendulum", at = {0.65, 0.6, 0}, axis = {0, 0, 1},
                        grip = 0.05 }
return scene {
  talus = 1, engine = "lg",
  title = "Soft fingers on hinges",
  about = "joints and motors between rigid and elastic bodies: a gripper lifts a cube, a soft pendulum swings",
  minutes = 1,
  duration = 2, fps = 50, dt_max = 0.01,
  bodies = bodies, joints = joints, render = { joints = true },
  camera = { eye = {0.9, 0.75, 1.7}, target = {0.2, 0.38, 0}, fov_deg = 36 },
}
