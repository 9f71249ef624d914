--! 3: there is no 'lenght'; did you mean 'length'?
length = 1
local x = lenght * 2
