-- A wall of water breaks into a shallow pool where toys float: ducks, rings, a beach ball and a crate.
local p = params { cells = size == "paper" and 80 or 40, duration = 1.5 } -- cells per metre
local h = 1 / p.cells
local water = liquid { density = 1000, name = "water", colour = "#2f86c9", opacity = 0.8 }
local depth, wide, high, deep = 0.11, 1.8, 0.9, 0.8
local duck = shape_file "duck"
local bodies = {}
local function float(name, shape, x, z, up, density, colour, turn)
  bodies[#bodies + 1] = { name = name, shape = shape, at = {x, up, z}, rotation_deg = {0, turn or 0, 0}, density = density, friction = 0.2, colour = colour }
end

float("duck", duck:scale(1.6), 0.82, 0.26, 0.055, 250, nil, 60)
float("duckling", duck, 1.02, 0.52, 0.075, 250, nil, 110)
float("small duck", duck, 1.22, 0.24, 0.075, 250, nil, 30)
float("red ring", torus { radius = 0.11, tube = 0.04 }, 1.5, 0.28, 0.1, 350, "#d8433b")
float("white ring", torus { radius = 0.09, tube = 0.035 }, 0.78, 0.6, 0.1, 350, "#f4f1e8")
float("ball", sphere { radius = 0.1 }, 1.3, 0.58, 0.16, 150, "#f0a63a")
float("crate", box { size = 0.14, round = 0.01 }, 1.58, 0.6, 0.11, 450, "#b98b5a", 20)

return scene {
  talus = 1, engine = "grid",
  title = "Toys in a wave",
  about = "a wall of water breaks into a pool where ducks, rings, a ball and a crate float",
  minutes = size == "paper" and 15 or 1.5,
  duration = p.duration, fps = 25,
  grid = { cells = {72 * p.cells // 40, 36 * p.cells // 40, 32 * p.cells // 40}, cell = h, cfl = 2 },
  fill = {
    { material = water, shape = box { size = {0.5, 0.62, deep}, center = {0.25, 0.31, deep / 2} } },
    { material = water, shape = box { size = {wide - 0.5, depth, deep}, center = {0.5 + (wide - 0.5) / 2, depth / 2, deep / 2} } },
  },
  bodies = bodies,
  solver = { tolerance = 1e-3 },
  render = { walls = "glass" },
  camera = { eye = {1.75, 1.0, 2.5}, target = {0.95, 0.22, 0.4}, fov_deg = 34 },
}
