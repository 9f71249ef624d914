--! 3: grid is missing; what flows or is elastic needs grid = { cells = {...}, cell = ... }
local jelly = elastic { density = 1000, young = 1e4, poisson = 0.4 }
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 }, { shape = box { size = 0.2 }, at = {0.5, 0.8, 0.5}, material = jelly } },
}
