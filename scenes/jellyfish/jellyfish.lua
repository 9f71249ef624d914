-- A soft bell in water, led up and down at its crown: its rim lags behind, opens and closes.
local p = params { cells = size == "paper" and 64 or 24, duration = 2 }
local h = 1 / p.cells
local fine = size == "paper"
local water = liquid { density = 1000, name = "water", colour = "#3d86c6" }
local jelly = elastic { density = 1020, young = 2e4, poisson = 0.4, name = "jelly", colour = "#e0709a" }

-- A bell: outside, then inside.
local profile, n = {}, 8
local function arc(radius, height, from, to)
  for i = from, to, from < to and 1 or -1 do
    local a = math.rad(80 * i / n)
    profile[#profile + 1] = {radius * math.sin(a), height * math.cos(a)}
  end
end
arc(0.26, 0.22, 0, n)
arc(0.17, 0.10, n, 0)

return scene {
  talus = 1, engine = "grid",
  title = "A jellyfish",
  about = "a soft bell that is led up and down in water opens and closes",
  minutes = fine and 60 or 4,
  duration = p.duration, fps = 50,
  grid = { cells = {p.cells, p.cells, p.cells}, cell = h },
  fill = { { material = water, shape = plane { height = 0.85 } } },
  bodies = {
    { name = "bell", shape = revolve { profile = profile }, at = {0.5, 0.4, 0.5}, material = jelly, edge = fine and 0.04 or 0.07 },
  },
  handles = {
    { body = "bell", shape = sphere { radius = 0.1, center = {0.5, 0.6, 0.5} },
      motion = function(t) return { at = {0, 0.06 * (1 - math.cos(2 * math.pi * t)), 0} } end },
  },
  render = { walls = "frame" },
  camera = { eye = {1.5, 0.6, 1.9}, target = {0.5, 0.45, 0.5} },
}
