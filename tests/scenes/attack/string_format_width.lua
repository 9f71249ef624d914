--! 2: string.format knows
return string.format("%999999999d", 1)
