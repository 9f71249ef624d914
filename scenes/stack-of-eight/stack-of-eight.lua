-- Eight cubes on each other, held by pressure and friction of their surface particles.
local p = params { n = 8, h = 0.02, across = 5.8 }
local edge = p.across * p.h
return scene {
  talus = 1, engine = "sph",
  title = "Stack of " .. p.n .. " cubes",
  about = "a stack of cubes stands still, as particles",
  figure = "Probst and Teschner 2023, figure 6",
  minutes = 0.3,
  duration = 1.5, fps = 50, dt_max = 1e-3,
  sph = { spacing = p.h, iterations_least = 20 },
  bodies = join {
    { { name = "ground", kind = "static", shape = box { size = {30 * p.h, 4 * p.h, 30 * p.h} }, at = {0, -2 * p.h, 0} } },
    stack_of { count = p.n, step = edge, at = {0, 0.5 * edge, 0}, body = function(i)
      return { name = "cube " .. i, shape = box { size = edge }, density = 1000, colour = i % 2 == 0 and "#c96f4a" or "#e8d9b5" }
    end },
  },
  camera = { eye = {1.0, 0.8, 1.9}, target = {0, 0.5 * edge * p.n, 0}, fov_deg = 32 },
}
