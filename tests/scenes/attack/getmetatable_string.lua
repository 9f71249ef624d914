--! 2: 'getmetatable' is not available in scenes
getmetatable("").__index = function() while true do end end
