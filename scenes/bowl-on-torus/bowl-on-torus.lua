-- A bowl of liquid falls onto a ring, rigid or elastic, water or honey. After figures 13 and 14 of Takahashi and Batty
-- 2022.
local paper = size == "paper"
-- cells per metre
local p = params { cells = paper and 108 or 28, solids = "elastic", viscosity = 0, young = 4e5,
                   duration = paper and 2 or 0.5 }
local h = 1 / p.cells
local soft = p.solids == "elastic"
local honey = p.viscosity > 0
local water = honey and viscous { name = "honey", density = 1000, viscosity = p.viscosity, colour = "#d98a1c" }
  or liquid { name = "water", density = 1000, colour = "#3d86c6" }
local function stuff(name, colour)
  return soft and elastic { name = name, density = 1100, young = p.young, poisson = 0.4, colour = colour }
    or solid { name = name, density = 1100, colour = colour }
end

-- A bowl: outside from its foot to the rim, then inside.
local profile, n = { {0, 0} }, paper and 10 or 6
local function arc(radius, low, from, to)
  for i = from, to, from < to and 1 or -1 do
    local a = math.rad(90 * i / n)
    profile[#profile + 1] = {radius * math.sin(a), low + radius * (1 - math.cos(a))}
  end
end
arc(0.3, 0, 1, n)
arc(0.21, 0.09, n, 0)

return scene {
  talus = 1, engine = "grid",
  title = "A bowl on a ring",
  about = "a bowl of liquid falls onto a ring; rigid or elastic, water or honey",
  figure = "Takahashi 2022, figures 13 and 14",
  minutes = paper and 120 or 3,
  duration = p.duration, fps = 25,
  grid = { cells = {p.cells, p.cells * 7 // 8, p.cells}, cell = h },
  -- wider than the bowl, which cuts it: a gap would be air, and count as liquid where the liquid closes it
  fill = { { material = water, shape = intersect { sphere { radius = 0.22, center = {0.5, 0.63, 0.5} },
                                                   box { size = {1, 0.3, 1}, center = {0.5, 0.44, 0.5} } } } },
  bodies = {
    { name = "bowl", shape = revolve { profile = profile }, at = {0.5, 0.33, 0.5},
      material = stuff("rubber", "#d9734e"), friction = 0.4, edge = soft and (paper and 0.045 or 0.1) or nil },
    { name = "ring", shape = torus { radius = 0.24, tube = 0.07 }, at = {0.5, 0.075, 0.5},
      material = stuff("blue rubber", "#4a6fb5"), friction = 0.4, edge = soft and (paper and 0.045 or 0.09) or nil },
  },
  render = { walls = "frame" },
  camera = { eye = {1.4, 1.1, 1.8}, target = {0.5, 0.3, 0.5} },
}
