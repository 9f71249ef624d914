-- Ducks in a basin that fills: they wait on the floor, lift off and bump into each other.
local p = params { cells = size == "paper" and 80 or 40, ducks = size == "paper" and 9 or 4, duration = 6, rate = 0.02 } -- cells per metre
local h = 1 / p.cells
local water = liquid { density = 1000, name = "water", colour = "#4a90c2" }
local duck = shape_file "duck":scale(1.3)
local bodies = {}
local side = math.ceil(math.sqrt(p.ducks))
for i = 0, p.ducks - 1 do
  bodies[#bodies + 1] = { name = "duck " .. i + 1, shape = duck, density = 300, friction = 0.3,
    at = {0.25 + 0.5 * ((i % side) + 0.5) / side, 0.02, 0.25 + 0.5 * ((i // side) + 0.5) / side}, rotation_deg = {0, 70 * i, 0} }
end

return scene {
  talus = 1, engine = "grid",
  title = "Ducks in a filling basin",
  about = "a tap fills a basin, ducks lift off and float",
  minutes = size == "paper" and 60 or 4,
  duration = p.duration, fps = 50,
  grid = { cells = {p.cells, p.cells // 2, p.cells}, cell = h, cfl = 2 },
  emitters = { { material = water, shape = box { size = {0.12, 0.08, 0.12}, center = {0.08, 0.4, 0.08} }, velocity = {0.3, -1, 0.3}, rate = p.rate } },
  bodies = bodies,
  render = { walls = "glass" },
  camera = { eye = {1.6, 1.0, 1.9}, target = {0.5, 0.12, 0.5} },
}
