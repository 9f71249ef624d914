--! bodies must have at most 100000 entries, got 100001
local b, list = {}, {}
for i = 1, 100001 do list[i] = b end
return scene { talus = 1, engine = "lg", duration = 1, bodies = list }
