--! 5: must depend on the time only, but gave another answer when asked again
local state = {}
return scene { talus = 1, engine = "lg", duration = 1, bodies = { {
  shape = box { size = 1 },
  motion = function(t) state[#state + 1] = t return { at = {#state, 0, 0} } end } } }
