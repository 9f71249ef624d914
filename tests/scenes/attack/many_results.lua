--! calls are nested deeper than 150
local t = {}
for i = 1, 64 do t[i] = i end
local function f(n) return 1, 2, 3, 4, 5, 6, 7, 8, table.unpack(t), f(n + 1) end
return { f(1) }
