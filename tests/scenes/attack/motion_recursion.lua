--! 2: bodies[1].motion(0): calls are nested deeper than 150
local function f(t) return 1 + f(t) end
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = box { size = 1 }, motion = f } } }
