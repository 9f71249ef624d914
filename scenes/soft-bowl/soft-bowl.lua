-- A rabbit of water falls into an elastic bowl, which lands on the ground with it. After figures 9 and 10 of Takahashi
-- and Batty 2022.
local paper = size == "paper"
-- cells per metre
local p = params { cells = paper and 128 or 32, young = 1e5, density = 500, duration = paper and 2 or 0.6 }
local h = 1 / p.cells
local water = liquid { name = "water", density = 1000, colour = "#3d86c6" }
local rubber = elastic { name = "rubber", density = p.density, young = p.young, poisson = 0.4, colour = "#d9734e" }

-- A bowl with a flat foot: outside from its foot to the rim, then inside.
local foot, n = 0.1, paper and 10 or 5
local profile = { {0, 0}, {foot, 0} }
local function arc(radius, low, high, from, to)
  for i = from, to, from < to and 1 or -1 do
    local a = math.rad(90 * i / n)
    profile[#profile + 1] = {(low > 0 and 0 or foot) + radius * math.sin(a), low + high * (1 - math.cos(a))}
  end
end
arc(0.24, 0, 0.24, 1, n)
arc(0.26, 0.08, 0.16, n, 0)

return scene {
  talus = 1, engine = "grid",
  title = "A soft bowl",
  about = "a rabbit of water falls into an elastic bowl that lands on the ground",
  figure = "Takahashi 2022, figures 9 and 10",
  minutes = paper and 120 or 4,
  duration = p.duration, fps = 50,
  grid = { cells = {p.cells, p.cells * 5 // 8, p.cells}, cell = h },
  fill = { { material = water, shape = shape_file "rabbit":scale(1.1):move({0.5, 0.27, 0.5}) } },
  bodies = {
    { name = "bowl", shape = revolve { profile = profile }, at = {0.5, 0.17, 0.5}, material = rubber, friction = 0.5,
      edge = paper and 0.034 or 0.08 },
  },
  render = { walls = "frame" },
  camera = { eye = {1.35, 0.95, 1.7}, target = {0.5, 0.22, 0.5} },
}
