--! 7: joins[1].to must name a body, got "jam"
--! 8: joins[2].to must be another body than "jelly"
--! 9: joins[3].motion is for joins to the world, this one has `to`
return scene { talus = 1, engine = "lg", duration = 1,
  bodies = { { name = "jelly", shape = sphere { radius = 1 }, material = elastic { density = 1, young = 1, poisson = 0 } }, { name = "aspic", shape = sphere { radius = 1 }, material = elastic { density = 1, young = 1, poisson = 0 } } },
  joins = {
    { body = "jelly", shape = sphere { radius = 1 }, to = "jam" },
    { body = "jelly", shape = sphere { radius = 1 }, to = "jelly" },
    { body = "jelly", shape = sphere { radius = 1 }, to = "aspic", motion = function(t) return {} end },
  },
}
