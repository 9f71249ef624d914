--! 5: bodies[1].motion(0.35875) must depend on the time only, but gave another answer when asked again
local calls = 0
return scene { talus = 1, engine = "lg", duration = 1, bodies = { {
  shape = box { size = 1 },
  motion = function(t) calls = calls + 1 return { at = {calls, 0, 0} } end } } }
