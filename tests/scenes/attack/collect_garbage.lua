--! 2: 'collectgarbage' is not available in scenes
while true do collectgarbage() end
