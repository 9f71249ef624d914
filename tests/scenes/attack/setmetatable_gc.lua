--! 2: 'setmetatable' is not available in scenes
setmetatable({}, { __gc = function() while true do end end })
