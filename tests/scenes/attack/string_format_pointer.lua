--! 2: string.format knows
return string.format("%p", {})
