--! 7: cables[1].points must be a list of 2 to 64 points {x, y, z}, got a list of 1
--! 8: cables[2].compliance must be >= 1e-09 m/N, got 0
--! 9: cables[3].body must be elastic, "stone" is not
return scene { talus = 1, engine = "lg", duration = 1,
  bodies = { { name = "jelly", shape = sphere { radius = 1 }, material = elastic { density = 1, young = 1, poisson = 0 } }, { name = "stone", shape = sphere { radius = 1 }, density = 1 } },
  cables = {
    { body = "jelly", points = { {0, 0, 0} } },
    { body = "jelly", points = { {0, 0, 0}, {0, 0, 1} }, compliance = 0 },
    { body = "stone", points = { {0, 0, 0}, {0, 0, 1} } },
  },
}
