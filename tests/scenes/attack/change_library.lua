--! 2: 'math' cannot be changed
math.sin = function() return 0 end
