-- Equal cubes, each `ratio` times as heavy as the one it stands on: 1, 10, 100, 1000 and 10000 kg upward.
-- With --set n=2 --set ratio=1000: one kilogram under a tonne.
local p = params { n = 5, ratio = 10.0, lightest = 1.0, friction = 0.5 }
local cube = box { size = 0.2 }
local colours = { "#f0e6d2", "#d9b26f", "#b5793d", "#7a4a2a", "#3b2a20" }

local tower = stack_of { count = p.n, step = 0.2, at = {0, 0.1, 0}, body = function(i)
  return { name = "cube " .. i, shape = cube, mass = p.lightest * p.ratio ^ (i - 1), friction = p.friction, colour = colours[(i - 1) % 5 + 1] }
end }

return scene {
  talus = 1, engine = "grid",
  title = "Tower of " .. p.n .. " cubes, each " .. p.ratio .. " times the one below",
  about = "heavy on light: a tower of 1 to 10000 kg, the heaviest on top, stands still",
  minutes = 0.1,
  duration = size == "paper" and 10 or 5, fps = 50, dt_max = 0.01,
  bodies = join { { { name = "ground", kind = "static", shape = plane {}, friction = p.friction } }, tower },
  camera = { eye = {1.5, 1.1, 2.2}, target = {0, 0.1 * p.n, 0}, fov_deg = 32 },
}
