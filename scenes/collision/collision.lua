-- A steel ball meets a row of equal ones with no gravity: momentum is kept to rounding; with restitution 1 the last one leaves, if the gaps are
-- longer than what a ball travels in a step, so that the blows come one after another.
local p = params { n = 5, speed = 2.0, restitution = 1.0, gap = 0.02 }
local radius = 0.05
local steel = solid { name = "steel", density = 7850, friction = 0.2, restitution = p.restitution, colour = "#aeb6bd" }

local balls = {}
for i = 1, p.n do
  balls[i] = { name = "ball " .. i, shape = sphere { radius = radius }, material = steel, at = {(i - 1) * (2 * radius + p.gap), radius + 0.05, 0} }
end
balls[#balls + 1] = { name = "striker", shape = sphere { radius = radius }, material = steel, colour = "#c0392b", at = {-0.5, radius + 0.05, 0}, velocity = {p.speed, 0, 0} }

return scene {
  talus = 1, engine = "grid",
  title = "A row of " .. p.n .. " balls, struck",
  about = "free bodies collide; momentum is kept to rounding",
  minutes = 0.1,
  duration = 0.6, fps = 50, dt_max = 0.005,
  gravity = {0, 0, 0},
  bodies = balls,
  camera = { eye = {0.4, 0.5, 1.3}, target = {0.25, 0.1, 0}, fov_deg = 36 },
}
