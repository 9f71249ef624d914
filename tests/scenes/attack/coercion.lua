--! 3: duration must be a number from 1e-09 to 1000000 s, got "1"
local s = { talus = 1, engine = "lg", bodies = { { shape = box { size = 1 }, density = 1 } } }
s.duration = "1"
return s
