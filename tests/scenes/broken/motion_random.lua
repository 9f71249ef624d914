--! 4: bodies[1].motion(0): a function of time must not use math.random: its answer may depend on the time only
return scene { talus = 1, engine = "lg", duration = 1, bodies = { {
  shape = box { size = 1 },
  motion = function(t) return { at = {math.random(), 0, 0} } end } } }
