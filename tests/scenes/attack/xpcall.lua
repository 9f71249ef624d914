--! 2: 'xpcall' is not available in scenes
xpcall(error, print)
