--! 2: 'string.gmatch' is not available in scenes
for w in ("a b"):gmatch("%a") do end
