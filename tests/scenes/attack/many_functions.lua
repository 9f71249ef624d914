--! the scene's 60000 functions of time take too long
local list, shape, still = {}, sphere { radius = 1 }, function(t) return {} end
for i = 1, 60000 do list[i] = { shape = shape, motion = still } end
return scene { talus = 1, engine = "lg", duration = 1, bodies = list }
