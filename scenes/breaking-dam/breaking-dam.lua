-- A wall of loose blocks holds back water that keeps rising. When the water's moment about the wall's foot is more than its weight can hold the wall leans over
-- and falls apart, and the flood takes a bridge downstream along. A wall of height H and thickness T tips where the water stands at
-- cbrt(3 T^2 H density / 1000), and slides at sqrt(2 friction T H density / 1000), which is more.
local paper = size == "paper"
local p = params { h = paper and 0.012 or 0.03, friction = 0.6, density = 1800.0, rise = 0.18, seconds = 3.5 }
local u = 0.03                                    -- unit of lengths: blocks do not change with h
local T, course, wide = 6 * u, 5 * u, 10 * u      -- a block: along the channel, up, across
local courses, across = 5, 3
local play = 0.9 * p.h                            -- between blocks and the walls: less jams
local joint = 0.4 * p.h                           -- between blocks of a course: less and the block above, which meets both, pushes them apart
local half = 0.5 * (across * wide + (across - 1) * joint) + play
local lake, run = 26 * u, 56 * u                  -- lengths before and behind the wall
local depth0 = 9 * u
local sink, stand = 0.21 * p.h, -0.16 * p.h     -- where sampled surfaces come to rest: blocks on blocks, on the floor
local bodies = {}
local function put(name, size, at, density, colour)
  bodies[#bodies + 1] = { name = name, shape = box { size = size }, at = at, density = density, friction = p.friction, colour = colour }
end
for c = 1, courses do
  local y, k = stand + (c - 0.5) * course - (c - 1) * sink, 0
  local function block(z, w)
    k = k + 1
    put(string.format("block %d.%d", c, k), {T, course, w}, {0.5 * T, y, z}, p.density, (c + k) % 2 == 0 and "#a8a196" or "#8d8678")
  end
  if c % 2 == 1 then
    for i = 1, across do block((i - 0.5 - 0.5 * across) * (wide + joint), wide) end
  else
    local off = 0.5 * (across - 0.5) * wide + 0.5 * across * joint
    block(-off, 0.5 * wide)
    for i = 1, across - 1 do block((i - 0.5 * across) * (wide + joint), wide) end
    block(off, 0.5 * wide)
  end
end
-- the bridge: three piers, five planks
local bx, pier = T + 22 * u, 4 * u
sink, stand = 0.23 * p.h, -0.18 * p.h              -- one below the other, without joints
for i = -1, 1 do
  for k = 1, 2 do put(string.format("pier %d.%d", i + 2, k), {6 * u, pier, 4 * u}, {bx, stand + (k - 0.5) * pier - (k - 1) * sink, i * 11 * u}, 900, "#b5534b") end
end
for i = 1, 2 do
  put("deck " .. i, {7 * u, 3 * u, 12 * u}, {bx, stand + 2 * (pier - sink) + 1.5 * u + 0.08 * p.h, (i - 1.5) * 12.2 * u}, 500, "#d9b26f")
  for k = -1, 1, 2 do put(string.format("rail %d.%d", i, k), {2 * u, 3 * u, 11 * u}, {bx + (2.4 * u + 0.06 * p.h) * k, stand + 2 * pier - 3 * sink + 4.5 * u + 0.1 * p.h, (i - 1.5) * 12.2 * u}, 500, "#7a4a2a") end
end
local inlet = {10 * u, 2 * u, 20 * u}
return scene {
  talus = 1, engine = "sph",
  title = "Breaking dam",
  about = "a wall of loose blocks holds rising water until it is tipped over; a bridge goes with it",
  figure = "Probst and Teschner 2023, figure 11",
  minutes = paper and 400 or 2,
  duration = p.seconds, fps = 25, dt_max = paper and 1e-3 or 3e-3,
  sph = { spacing = p.h, inset = 0.5, push_out = 0.1 },
  domain = { min = {-lake, 0, -half}, max = {run, (courses + 1) * course + 8 * u, half}, x_max = "open", y_max = "open", friction = p.friction },
  bodies = bodies,
  fill = { { material = liquid { density = 1000 }, sampling = "lattice", shape = box { size = {lake - 0.75 * p.h, depth0, 2 * half - 0.5 * p.h}, center = {-0.5 * lake - 0.125 * p.h, 0.5 * depth0, 0} } } },
  emitters = { { material = liquid { density = 1000 }, shape = box { size = inlet, center = {-0.6 * lake, (courses + 1) * course, 0} }, velocity = {0, -1, 0},
                 rate = 2 * half * lake * p.rise, start = 0.6 } },
  camera = { eye = {1.5, 1.7, 3.0}, target = {0.35, 0.25, 0}, fov_deg = 34 },
  render = { walls = "frame", width = 960, height = 540 },
}
