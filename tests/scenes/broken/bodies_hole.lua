--! 5: bodies must be a list
return scene {
  talus = 1, engine = "grid", duration = 1,
  -- 1 and 3, but no 2
  bodies = { [1] = { shape = box { size = 0.2 }, density = 1 }, [3] = { shape = box { size = 0.2 }, density = 1 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
