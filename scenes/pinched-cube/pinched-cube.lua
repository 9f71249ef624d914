-- A hollow cube with water inside falls between a wall block and a block that is pushed against it: with enough friction it hangs.
--   talus run pinched-cube --sweep friction=0.05,0.20
local p = params { cells = size == "paper" and 64 or 32, friction = 0.2, force = 0, duration = 1.2 } -- cells per metre
local h = 1 / p.cells
local water = liquid { density = 1000, name = "water" }
local edge, wall = 0.4, math.max(0.05, 2.2 * h)
local inside = edge - 2 * wall
local weight = 9.81 * ((edge ^ 3 - inside ^ 3) * 500 + 0.6 * inside ^ 3 * 1000) -- of cube and water
local force = p.force > 0 and p.force or 5 * weight -- holds up to 2 friction force = 10 friction weights
local at = {1, 1.35, 0.5}
local block = {0.3, 0.9, 0.5}

return scene {
  talus = 1, engine = "grid",
  title = "Pinched cube of water, friction " .. p.friction,
  about = "a glass cube of water is pinched between a fixed and a pushed block: slides at friction 0.05, hangs at 0.20",
  figure = "FrictionalMonolith fig. 19",
  minutes = size == "paper" and 40 or 3,
  duration = p.duration, fps = 50,
  grid = { cells = {2 * p.cells, 2 * p.cells, p.cells}, cell = h, cfl = 2 },
  fill = { { material = water, shape = box { size = {inside - h, 0.6 * inside, inside - h}, center = {at[1], at[2] - 0.15 * inside, at[3]} } } },
  bodies = {
    { name = "wall block", kind = "static", shape = box { size = block }, at = {at[1] - 0.5 * (edge + block[1]) - 0.002, 0.95, 0.5},
      friction = p.friction, colour = "#2f4a7a" },
    { name = "pushed block", shape = box { size = block }, at = {at[1] + 0.5 * (edge + block[1]) + 0.002, 0.95, 0.5}, density = 2000,
      friction = p.friction, colour = "#a8d0e6", force = {-force, 9.81 * 2000 * block[1] * block[2] * block[3], 0} },
    { name = "cube", shape = box { size = edge } - box { size = inside }, at = at, density = 500,
      friction = p.friction, colour = "#9fc4d8", opacity = 0.25 },
  },
  camera = { eye = {1.3, 1.5, 4.2}, target = {1, 0.95, 0.5} },
}
