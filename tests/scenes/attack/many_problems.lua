--! 9: the scene has more tables or more problems than are read
--! more
local b, list = {}, {}
for i = 1, 30 do b["key" .. i] = 1 end
for i = 1, 90000 do list[i] = b end
return scene {
  talus = 1, engine = "lg", duration = 1,
  bodies = list,
}
