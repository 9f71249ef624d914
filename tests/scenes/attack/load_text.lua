--! 2: 'load' is not available in scenes
load("return 1")()
