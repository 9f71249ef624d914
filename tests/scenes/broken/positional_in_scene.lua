--! 4: [1] has no name; the keys of a scene are named, as in talus = ...
return scene {
  talus = 1, engine = "grid", duration = 1,
  { shape = box { size = 1 } },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
