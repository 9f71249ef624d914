--! 2: 'pcall' is not available in scenes
while true do pcall(function() while true do end end) end
