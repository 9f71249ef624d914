--! 6: solver.tolerance is for sand or liquid (contacts have solver.contact.tolerance), of which this scene has none
--! 6: solver.stress is for sand, of which this scene has none
--! 7: fem is for elastic bodies, of which this scene has none
return scene {
  talus = 1, engine = "grid", duration = 1,
  solver = { tolerance = 1e-3, stress = "staggered" },
  fem = { iterations = 3 },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
}
