--! 2: '...' is not available in scenes
local function f(...) return f(1, 2, ...) end
return f()
