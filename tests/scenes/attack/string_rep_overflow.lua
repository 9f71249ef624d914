--! 2: string.rep makes texts of at most 4096 bytes
local s = string.rep("abc", math.maxinteger, "de")
