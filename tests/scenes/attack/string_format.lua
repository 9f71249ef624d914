--! 3: the script made a text longer than 4096 bytes
local s = ("x"):rep(4000)
local t = string.format("%s%s%s%s", s, s, s, s)
