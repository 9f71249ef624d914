--! the scene's 2000 functions of time take too long
--! 5: bodies[1].motion(0): the script did not end within its 200000 units of work
local list = {}
for i = 1, 2000 do
  list[i] = { shape = box { size = 1 }, motion = function(t) while true do end end }
end
return scene { talus = 1, engine = "lg", duration = 1, bodies = list }
