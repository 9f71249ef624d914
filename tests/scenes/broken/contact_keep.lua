--! 5: solver.contact.keep must be
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  solver = { contact = { keep = 1 } },
}
