--! 3: calls are nested deeper than 150
local function deep()
  table.sort({3, 2, 1}, function(a, b) deep_again() return a < b end)
end
deep_again = deep
deep()
