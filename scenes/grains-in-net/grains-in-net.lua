-- Grains with limbs fall down a chute into a net of rings that hangs in a frame (or on the ground: `net = false`), hook into each other and pile up. Rings of the
-- net lie flat and are held by upright rings between them; the upright ones at the border go round the frame. With `feeder = true` (size paper) the chute ends in a trough, where a spiral
-- pushes the grains through a pipe whose mouth is above the net.
local paper = size == "paper"
local p = params { h = paper and 0.004 or 0.010, rings = paper and 16 or 7, across = paper and 12 or 6, layers = paper and 60 or 10, friction = 0.6, net = true, feeder = paper, turns = 1.5 } -- turns: of the spiral, per second
local seconds = params { seconds = p.feeder and 4.5 or 2.4 }.seconds
local u = 0.01                                     -- unit of lengths: nothing changes with h
local wire = 1.35 * u                              -- thin enough that rings are narrower than grains
local touch = 2 * (wire - p.h * math.max(0, math.min(0.4, wire / p.h - 1))) + 0.85 * p.h -- middles of two wires at rest: thin ones are sampled on their surface
local R, r = 1.85 * touch, 1.6 * touch             -- flat rings, upright rings
local hold = r - touch                             -- from an upright ring's middle to the wires that it holds, taut
local pitch = 2 * (R + hold) - 0.4 * u             -- between flat rings
local net = p.rings * pitch
local level = p.net and 0.5 or 0                                  -- of the net, m
local bodies, steel = {}, solid { name = "steel", density = 3000, friction = p.friction, colour = "#8b9299" }
local flat, upright_x, upright_z = torus { radius = R, tube = wire }, torus { radius = r, tube = wire, rotation_deg = {90, 0, 0} }, torus { radius = r, tube = wire, rotation_deg = {0, 0, 90} }
local function at(i) return (i - 0.5 - 0.5 * p.rings) * pitch end
for i = 1, p.net and p.rings or 0 do
  for j = 1, p.rings do bodies[#bodies + 1] = { name = string.format("flat %d.%d", i, j), shape = flat, at = {at(i), level, at(j)}, material = steel } end
end
for i = 0, p.net and p.rings or -1 do
  for j = 1, p.rings do
    bodies[#bodies + 1] = { name = string.format("x %d.%d", i, j), shape = upright_x, at = {at(i) + 0.5 * pitch, level, at(j)}, material = steel }
    bodies[#bodies + 1] = { name = string.format("z %d.%d", j, i), shape = upright_z, at = {at(j), level, at(i) + 0.5 * pitch}, material = steel }
  end
end
-- the frame: four bars where the next flat rings would have their wire
local bar = 0.5 * net + hold - 0.2 * u
for i, b in ipairs(p.net and { {bar, 0}, {-bar, 0}, {0, bar}, {0, -bar} } or {}) do
  local along_z = b[1] ~= 0
  local to = along_z and {0, 0, bar + wire} or {bar + wire, 0, 0}
  bodies[#bodies + 1] = { name = "bar " .. i, kind = "static", shape = capsule { from = {-to[1], 0, -to[3]}, to = to, radius = wire }, at = {b[1], level, b[2]}, friction = p.friction, colour = "#5b4636" }
end
for i = -1, p.net and 1 or -2, 2 do
  for j = -1, 1, 2 do
    bodies[#bodies + 1] = { name = string.format("leg %d %d", i, j), kind = "static", shape = cylinder { radius = 2 * u, height = level }, at = {i * (bar + 2 * wire), 0.5 * level, j * (bar + 2 * wire)}, colour = "#5b4636" }
  end
end
bodies[#bodies + 1] = { name = "ground", kind = "static", shape = box { size = {net + 1.2, 4 * u, net + 0.8} }, at = {0, -2 * u, 0}, friction = p.friction, colour = "#d8d6d0" }

-- the chute above the middle of the net, and the grains in it
local cell = 7.7 * u + 0.8 * p.h
local half, high = 0.5 * p.across * cell + 0.5 * u, p.layers * cell
local bore, reach, pitch_screw = half, 0.4, 2.4 * cell -- of the pipe; how far it goes on beyond the chute; from blade to blade
local out = p.feeder and -0.1 * net or 0                         -- x of the pipe's mouth
local aside = p.feeder and out - reach - half or 0               -- x of the chute
local mouth = level + 0.3 + (p.feeder and bore + half or 0)      -- lower end of the chute
if p.feeder then
  local from, to, axis = aside - half, out, level + 0.3 + half
  local long, middle = to - from, 0.5 * (from + to)
  local pipe = subtract {
    box { size = {long + 4 * u, 2 * half + 4 * u, 2 * half + 8 * u}, center = {-2 * u, 0, 0} },
    cylinder { radius = bore, height = long, center = {0.01 * u, 0, 0}, rotation_deg = {0, 0, 90} },
    box { size = {2 * half, half + 4 * u, 2 * bore}, center = {from + half - middle, 0.5 * half + 2 * u, 0} },
  }
  bodies[#bodies + 1] = { name = "pipe", kind = "static", shape = pipe, at = {middle, axis, 0}, friction = 0.2, colour = "#a8a196", opacity = 0.25 }
  local parts, slices, rim = { cylinder { radius = 3 * u, height = long - 2 * u, rotation_deg = {0, 0, 90} } }, 24, bore - 2.5 * u
  for i = 0, math.floor((long - 6 * u) / pitch_screw * slices) do
    local a, x = 2 * math.pi * i / slices, 3 * u + i * pitch_screw / slices - 0.5 * long
    parts[#parts + 1] = box { size = {2.6 * u, rim, 2.3 * math.pi * rim / slices}, center = {x, 0.5 * rim * math.cos(a), 0.5 * rim * math.sin(a)}, rotation_deg = {math.deg(a), 0, 0} }
  end
  bodies[#bodies + 1] = { name = "spiral", kind = "kinematic", shape = union(parts), at = {middle, axis, 0}, friction = 0.2, colour = "#b5534b",
                          motion = function(t) return { rotation_rad = {-2 * math.pi * p.turns * t, 0, 0} } end }
end
for i, way in ipairs { {1, 0}, {-1, 0}, {0, 1}, {0, -1} } do
  local along_z = way[1] ~= 0
  bodies[#bodies + 1] = { name = "chute " .. i, kind = "static", shape = box { size = {along_z and 4 * u or 2 * half, high, along_z and 2 * half or 4 * u} },
                          at = {aside + way[1] * (half + 2 * u), mouth + 0.5 * high, way[2] * (half + 2 * u)}, friction = 0.2, colour = "#a8a196", opacity = 0.25 }
end
local grain, n = shape_file "grain", 0
for i = 1, p.layers do
  for j = 1, p.across do
    for k = 1, p.across do
      n = n + 1
      bodies[#bodies + 1] = { name = "grain " .. n, shape = grain, at = {aside + (j - 0.5 - 0.5 * p.across) * cell, mouth + (i - 0.5) * cell, (k - 0.5 - 0.5 * p.across) * cell},
                              rotation_deg = {90 * math.random(4), 90 * math.random(4), 90 * math.random(4)}, density = 1000, friction = p.friction }
    end
  end
end
return scene {
  talus = 1, engine = "sph",
  title = n .. " grains into a net",
  about = "grains with limbs fall into a net of rings and form a pile that rests",
  figure = "Probst and Teschner 2023, figure 13",
  minutes = paper and 3000 or 6,
  duration = seconds, fps = 25, dt_max = paper and 5e-4 or 2e-3,
  sph = { spacing = p.h, push_out = 0.1, iterations_least = 6 },
  solver = { pressure = { method = "nncg", iterations = 120 } },
  bodies = bodies,
  camera = { eye = {1.3, p.feeder and 1.9 or 1.5, p.feeder and 3 or 2.2}, target = {0.6 * aside, p.feeder and 0.9 or 0.62, 0}, fov_deg = 40 },
}
