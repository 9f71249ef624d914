--! 3: the script made a text longer than 4096 bytes
local s = "x"
while true do s = s .. s end
