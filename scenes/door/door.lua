-- A door on two hinges, with a closer (spring and damper), that a ball pushes open. Two hinges on one axis hold five ways
-- twice: the redundant loop has an answer all the same.
local p = params { ball_speed = 3.0, ball_mass = 20, stiffness = 8, damping = 8 }
return scene {
  talus = 1, engine = "grid",
  title = "A door with two hinges and a closer",
  about = "a ball pushes a door open; its closer brings it back to the frame",
  minutes = 0.2,
  duration = size == "paper" and 12 or 6, fps = 50, dt_max = 0.01,
  bodies = {
    { name = "floor", kind = "static", shape = plane {}, colour = "#bdb6a8" },
    { name = "door", shape = box { size = {0.9, 2.0, 0.04} }, at = {0.46, 1.02, 0}, density = 600, colour = "#8e5a2b" },
    { name = "left post", kind = "static", shape = box { size = {0.1, 2.1, 0.1} }, at = {-0.06, 1.05, 0}, colour = "#ecf0f1" },
    { name = "right post", kind = "static", shape = box { size = {0.1, 2.1, 0.1} }, at = {0.98, 1.05, 0}, colour = "#ecf0f1" },
    { name = "ball", shape = sphere { radius = 0.15 }, at = {0.75, 0.15, 1.2}, velocity = {0, 0, -p.ball_speed},
      spin_rad_per_s = {-p.ball_speed / 0.15, 0, 0}, mass = p.ball_mass, colour = "#c0392b" },
  },
  joints = {
    { name = "lower hinge", kind = "hinge", a = "door", b = "left post", at = {0, 0.3, 0}, axis = {0, 1, 0}, limits = {0, 2.4},
      motor = { position = 0, stiffness = p.stiffness, damping = p.damping } },
    { name = "upper hinge", kind = "hinge", a = "door", b = "left post", at = {0, 1.7, 0}, axis = {0, 1, 0} },
  },
  camera = { eye = {2.6, 2.0, 3.2}, target = {0.5, 0.9, 0}, fov_deg = 40 },
}
