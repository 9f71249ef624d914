--! 2: grid_of.space is not a key; there are count, spacing, at, body
return scene { talus = 1, engine = "lg", duration = 1, bodies = grid_of { count = 2, space = 1, body = {} } }
