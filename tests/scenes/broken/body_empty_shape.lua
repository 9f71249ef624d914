--! 5: intersect: nothing is left of the shape
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    { shape = sphere { radius = 0.1 } * sphere { radius = 0.1, center = {5, 0, 0} }, density = 1 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
