--! 7: sand that liquid covers cannot be run: nothing flows through its pores, and its strength would grow with the pressure of the water; grid.mixture = "mud" runs both as one flow
local sand, water = granular { density = 1600, friction_angle_deg = 30 }, liquid { density = 1000 }
return scene {
  talus = 1, engine = "grid", duration = 1,
  grid = { cells = {16, 16, 16}, cell = 0.05 },
  fill = {
    { material = sand, shape = box { size = {0.4, 0.2, 0.4}, center = {0.4, 0.1, 0.4} } },
    { material = water, shape = box { size = {0.4, 0.2, 0.4}, center = {0.4, 0.3, 0.4} } },
  },
}
