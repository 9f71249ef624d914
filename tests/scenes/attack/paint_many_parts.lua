--! 8: the script did not end within its 10000000 units of work
local painted = sphere { radius = 1 }
for _ = 1, 19000 do paint(painted, "#ff0000") end
local parts, part = {}, sphere { radius = 2 }
for i = 1, 4096 do parts[i] = part end
local last
for _ = 1, 1000 do
  last = union(parts)
end
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = last, density = 1 } } }
