--! calls are nested deeper than 150
local g
local function f(n) return { g(n) } end
g = function(n) return { f(n) } end
return f(1)
