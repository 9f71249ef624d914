--! 2:
local x <close> = { __close = function() while true do end end }
