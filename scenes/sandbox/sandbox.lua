-- A board falls on a pile of sand in a glass box.
local cells = size == "paper" and 128 or 48
local sand = granular { name = "sand", density = 1600, friction_angle_deg = 35 }

return scene {
  talus = 1, engine = "grid",
  title = "Board on a pile",
  about = "a wooden board and a ball come to rest on a pile of dry sand",
  figure = "FM21 Fig. 17",
  minutes = size == "paper" and 240 or 5,
  duration = 2, fps = 50,
  grid = { cells = {cells, cells // 2, cells}, cell = 1 / cells },
  fill = { { material = sand, shape = hemisphere { center = {0.5, 0, 0.5}, radius = 0.3 } } },
  bodies = {
    { name = "board", shape = box { size = {0.4, 0.03, 0.25} }, at = {0.5, 0.36, 0.5}, rotation_deg = {0, 20, 0}, material = preset "wood" },
    { name = "ball", shape = sphere { radius = 0.05 }, at = {0.58, 0.44, 0.5}, density = 400, friction = 0.4, colour = "#2d6cb5" },
  },
  camera = { eye = {1.5, 0.9, 1.7}, target = {0.5, 0.15, 0.5} },
  render = { walls = "glass" },
}
