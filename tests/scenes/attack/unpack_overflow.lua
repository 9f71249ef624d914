--! 2: table.unpack gives at most 64 values
return table.unpack({}, math.mininteger, math.maxinteger)
