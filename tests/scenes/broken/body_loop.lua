--! 7: bodies[1].density must be > 0 kg/m^3, got -3 (and 9 more like this)
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = (function()
    local list = {}
    for i = 1, 10 do
      list[i] = { shape = box { size = 0.2 }, density = -3 }
    end
    return list
  end)(),
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
