--! 4: domain: the grid is the box of this scene, so domain.min and domain.max have no place
return scene {
  talus = 1, engine = "grid", duration = 1,
  domain = { max = {1, 1, 1} },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
