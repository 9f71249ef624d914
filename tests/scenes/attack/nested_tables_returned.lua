--! more
--! 4: fill must be a list
local t = {}
for i = 1, 10000 do t = { fill = t } end
return t
