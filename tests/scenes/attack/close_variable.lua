--! 2: variable 'x' got a non-closable value
local x <close> = { __close = function() while true do end end }
