--! 2: grid is missing; what flows needs grid = { cells = {...}, cell = ... }
return scene {
  talus = 1, engine = "grid", duration = 1,
  fill = { { material = preset "dry sand", shape = sphere { radius = 0.1 } } },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
}
