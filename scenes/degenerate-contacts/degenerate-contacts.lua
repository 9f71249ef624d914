-- Nine contacts without a clear normal, after Erleben 2018: spikes, edges, cracks, cliffs, seams. Run all, or one with --set case=3. Nothing may gain energy.
--   1 a spike stands on a plane             2 a spike on a ridge of 90 degrees       3 a spike in a hole of five spacings
--   4 a box over a cliff, 2h on land        5 a box over a cliff, 0.8h over it       6 a box slides over the seams of four tiles
--   7 an edge across an edge                8 a box on a box, 45 % aside twice       9 a card under a box
local p = params { case = 0, h = 0.02, land = 2.0, aside = 0.5, tile_gap = 0.0 } -- spacings: a box on land, off the middle of ridges, between tiles
local h = p.h
local bodies = {}
local mu = 0.5
local function put(name, shape, at, rest) -- dynamic
  local b = { name = name, shape = shape, at = at, density = 1000, friction = mu, colour = "#c96f4a" }
  for k, v in pairs(rest or {}) do b[k] = v end
  bodies[#bodies + 1] = b
end
local function fix(name, shape, at, rotation, friction)
  bodies[#bodies + 1] = { name = name, kind = "static", shape = shape, at = at, rotation_deg = rotation, friction = friction or mu, colour = "#e8d9b5" }
end
local plate = box { size = {24 * h, 4 * h, 24 * h} }
local function spike(s) -- a pyramid with its tip down at the origin, s high, as wide
  local cut = box { size = {2 * s, s, 2 * s}, center = {0, 0.5 * s, 0} }
  for _, n in ipairs { {2, -1, 0}, {-2, -1, 0}, {0, -1, 2}, {0, -1, -2} } do cut = cut * half_space { normal = n } end
  return cut
end
local touch = 0.9 * h -- gap at the start: flat things touch at 0.76 to 0.82, so nothing overlaps
local cases = {
  function(x, z) fix("plane", plate, {x, -2 * h, z}); put("spike", spike(8 * h), {x, touch, z}) end,
  function(x, z)
    fix("ridge", box { size = {10 * h, 10 * h, 24 * h} }, {x, -5 * math.sqrt(2) * h, z}, {0, 0, 45})
    put("spike on ridge", spike(8 * h), {x + p.aside * h, touch, z})
  end,
  function(x, z)
    fix("hole", box { size = {24 * h, 6 * h, 24 * h} } - box { size = {5 * h, 8 * h, 5 * h} }, {x, -3 * h, z})
    put("spike in hole", spike(8 * h), {x, -1.5 * h, z})
  end,
  function(x, z) fix("cliff", plate, {x - 12 * h, -2 * h, z}); put("box on land", box { size = 8 * h }, {x - p.land * h, 4 * h + touch, z}) end,
  function(x, z) fix("cliff over", plate, {x - 12 * h, -2 * h, z}); put("box over", box { size = 8 * h }, {x + 0.8 * h, 4 * h + touch, z}) end,
  function(x, z)
    for i = 0, 3 do fix("tile " .. i, box { size = {16 * h, 4 * h, 16 * h} }, {x + (i - 1.5) * (16 + p.tile_gap) * h, -2 * h, z}, nil, 0) end
    put("slider", box { size = 6 * h }, {x - 24 * h, 3 * h + touch, z}, { velocity = {1, 0, 0}, friction = 0 })
  end,
  function(x, z)
    fix("long ridge", box { size = {8 * h, 8 * h, 24 * h} }, {x, -4 * math.sqrt(2) * h, z}, {0, 0, 45})
    put("edge", box { size = {14 * h, 6 * h, 6 * h} }, {x + p.aside * h, 3 * math.sqrt(2) * h + touch, z}, { rotation_deg = {45, 0, 0} })
  end,
  function(x, z)
    fix("floor", plate, {x, -2 * h, z})
    put("lower", box { size = 8 * h }, {x, 4 * h + touch, z})
    put("upper", box { size = 8 * h }, {x + 3.6 * h, 12 * h + touch + touch, z + 3.6 * h})
  end,
  function(x, z)
    fix("floor 9", plate, {x, -2 * h, z})
    put("card", box { size = {12 * h, 2 * h, 12 * h} }, {x, h + touch, z}, { colour = "#4a7fb5" })
    put("on card", box { size = 8 * h }, {x, 2 * h + touch + 4 * h + touch, z})
  end,
}
for i, case in ipairs(cases) do
  if p.case == 0 then case(((i - 1) % 3 - 1) * 50 * h, ((i - 1) // 3 - 1) * 40 * h) elseif p.case == i then case(0, 0) end
end
return scene {
  talus = 1, engine = "sph",
  title = "Degenerate contacts",
  about = "nine contacts without a clear normal: nothing may explode or gain energy",
  figure = "Probst and Teschner 2023, figure 5; Erleben 2018",
  minutes = 0.2,
  duration = 0.5, fps = 100, dt_max = 1e-3,
  sph = { spacing = h, inset = 0 },
  bodies = bodies,
  camera = p.case == 0 and { eye = {0, 2.4, 3.6}, target = {0, -0.1, 0}, fov_deg = 40 } or { eye = {0.5, 0.5, 1.1}, target = {0, 0, 0}, fov_deg = 36 },
  render = { ground_height = -0.3 },
}
