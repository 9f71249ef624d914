--! 4: solver.scheme must be one of "p-c", "c-p", "t-pn", "t-p-n", "p-tn", "tn-pn", "pf-c", "c-pf", "t-f-pn", "t-f-p-n", "f-p-c", "pec", "pe-ec", "ec-pe", "pec-gs", "pec-g", "pec-g-scaled", "pec-z1z2", "pec-ica", "pec-ucg", "pvec", "pve-ec", "ec-pve", "pvec-ucg", got "t-f-n"; did you mean "t-p-n"?
return scene {
  talus = 1, engine = "grid", duration = 1,
  solver = { scheme = "t-f-n" },
  fill = { { material = preset "water", shape = box { size = 0.5, center = {0.5, 0.3, 0.5} } } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
