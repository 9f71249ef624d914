--! 2: string.rep makes texts of at most 4096 bytes
local s = ("x"):rep(1e9)
