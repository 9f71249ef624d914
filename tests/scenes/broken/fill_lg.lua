--! 5: fill[1]: engine "lg" has elastic solids only, got liquid
return scene {
  talus = 1, engine = "lg", duration = 1,
  fill = {
    { material = preset "water", shape = box { size = 1 } } },
}
