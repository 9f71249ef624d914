-- Cubes of 0.2 m on top of each other. They must not sag.
local p = params { n = size == "paper" and 30 or 10, friction = 0.5 }
local cube = box { size = 0.2 }
local colours = { "#c0392b", "#e0b040", "#3f8f5f", "#2d6cb5", "#8e5ea2" }

return scene {
  talus = 1, engine = "grid",
  title = "Stack of " .. p.n .. " cubes",
  about = "a stack of cubes stands for 10 s without sagging",
  minutes = size == "paper" and 0.3 or 0.1,
  duration = 10, fps = 50, dt_max = 0.01,
  bodies = join {
    { { name = "ground", kind = "static", shape = plane {}, friction = p.friction } },
    stack_of { count = p.n, step = 0.2, at = {0, 0.1, 0}, body = function(i)
      return { name = "cube " .. i, shape = cube, density = 1000, friction = p.friction, colour = colours[(i - 1) % 5 + 1] }
    end },
  },
  camera = { eye = {0.32 * p.n, 0.14 * p.n + 0.2, 0.42 * p.n}, target = {0, 0.1 * p.n, 0}, fov_deg = 30 },
}
