--! 4: accept.momentun is not a key of accept; did you mean 'momentum'?
return scene {
  talus = 1, engine = "grid", duration = 1,
  accept = { momentun = 0.01 },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
