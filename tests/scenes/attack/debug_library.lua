--! 2: 'debug' is not available in scenes
debug.sethook()
