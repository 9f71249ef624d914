--! 3: my own words
local n = 3
error("my own words")
