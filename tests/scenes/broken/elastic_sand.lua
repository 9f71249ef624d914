--! 5: bodies[1] (jelly) is elastic and in sand, whose stress is colocated with exact cones then: leave out solver.stress, solver.cone and solver.friction.method
local m = elastic { density = 1000, young = 1e4, poisson = 0.4 }
return scene { talus = 1, engine = "grid", duration = 1, grid = { cells = {8, 8, 8}, cell = 0.125 },
  solver = { stress = "staggered" },
  bodies = { { name = "jelly", shape = box { size = 0.2 }, at = {0.5, 0.8, 0.5}, material = m } },
  fill = { { material = granular { density = 1600, friction_angle_deg = 30 }, shape = plane { height = 0.3 } } },
}
