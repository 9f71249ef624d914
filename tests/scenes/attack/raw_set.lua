--! 2: 'rawset' is not available in scenes
rawset(math, "pi", 3)
