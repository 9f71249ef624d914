--! 6: bodies[1].motion is for kinematic bodies, this one is free
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    { shape = box { size = 0.2 }, kind = "free", density = 1,
      motion = function(t) return {} end } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
