--! 2: at least two
assert(1 > 2, "at least two")
