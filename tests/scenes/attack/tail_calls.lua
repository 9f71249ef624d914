--! the script did not end within its 10000000 units of work
local function f(n) return f(n + 1) end
return f(1)
