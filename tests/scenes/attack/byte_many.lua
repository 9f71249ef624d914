--! 2: string.byte gives at most 64 values
return string.byte(("x"):rep(1000), 1, -1)
