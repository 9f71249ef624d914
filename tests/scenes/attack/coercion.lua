--! 3: duration must be a number > 0 and <= 1000000 s, got "1"
local s = { talus = 1, engine = "lg", bodies = { { shape = box { size = 1 }, density = 1 } } }
s.duration = "1"
return s
