--! 2: the file must return scene { ... }, got nothing
local x = 1
