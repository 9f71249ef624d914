--! 7: solver.elastic.precond is that of a solver.scheme out of pec-g|pec-g-scaled|pec-z1z2|pec-ica, which write out a matrix, got "ssor"
return scene {
  talus = 1, engine = "grid", duration = 1,
  grid = { cells = {8, 8, 8}, cell = 0.1 },
  fill = { { material = liquid { density = 1000 }, shape = box { size = 0.4, center = {0.2, 0.2, 0.2} } } },
  bodies = { { shape = box { size = 0.2 }, at = {0.6, 0.1, 0.6}, material = elastic { density = 1000, young = 1e5, poisson = 0.3 } } },
  solver = { scheme = "pec", elastic = { precond = "ssor" } },
}
