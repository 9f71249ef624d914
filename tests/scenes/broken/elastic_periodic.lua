--! 5: bodies[1] (jelly) is elastic: in liquid and sand its surface is cut along the grid, which has no periodic axis then
local m = elastic { density = 1000, young = 1e4, poisson = 0.4 }
return scene { talus = 1, engine = "grid", duration = 1,
  grid = { cells = {8, 8, 8}, cell = 0.125, periodic = {true, false, false} },
  bodies = { { name = "jelly", shape = box { size = 0.2 }, at = {0.5, 0.8, 0.5}, material = m } },
  fill = { { material = liquid { density = 1000 }, shape = plane { height = 0.3 } } },
}
