-- A ball with friction 0.5 set sliding at `speed`: friction turns it until it rolls, at 5/7 of the speed.
-- With --set speed=0 --set angle=20 it rolls down a slope instead, with 5/7 g sin(angle); with rolling friction, a length, it stays on slopes up to rolling / radius.
local p = params { speed = 3.0, angle = 0.0, friction = 0.5, radius = 0.1, rolling = 0.0 }
local b = math.rad(p.angle)

return scene {
  talus = 1, engine = "grid",
  title = "Rolling ball",
  about = "a ball that slides comes to roll at 5/7 of its speed",
  minutes = 0.1,
  duration = 2, fps = 50, dt_max = 0.01,
  gravity = {9.81 * math.sin(b), -9.81 * math.cos(b), 0},
  bodies = {
    { name = "ground", kind = "static", shape = plane {}, friction = p.friction },
    { name = "ball", shape = sphere { radius = p.radius }:paint("#2d6cb5"):paint(half_space {}, "#f0e6d2"), density = 1000, friction = p.friction, rolling_friction = p.rolling, at = {0, p.radius, 0}, velocity = {p.speed, 0, 0} },
  },
  camera = { eye = {2.2, 1.2, 3.6}, target = {2.2, 0, 0}, fov_deg = 40 },
}
