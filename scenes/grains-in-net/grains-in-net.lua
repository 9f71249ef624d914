-- A piston pushes grains with limbs through a pipe; they fall into a net of rings that hangs in a frame, hook into each other and pile up. Rings of the
-- net lie flat and are held by upright rings between them; the upright ones at the border go round the frame.
local paper = size == "paper"
local p = params { h = paper and 0.004 or 0.0125, rings = paper and 14 or 4, across = paper and 12 or 5, length = paper and 60 or 12, speed = 1.2, seconds = 2.2, friction = 0.6 }
local u = 0.01                                     -- unit of lengths: nothing changes with h
local R, wire = 6.5 * u, 1.6 * u                   -- flat rings
local r = 5.4 * u                                  -- upright rings
local hold = r - 2 * wire                          -- from an upright ring's middle to the wires that it holds, taut
local pitch = 2 * (R + hold) - 0.6 * u             -- between flat rings
local net = p.rings * pitch
local level = 0.5                                  -- of the net, m
local bodies, steel = {}, solid { name = "steel", density = 3000, friction = p.friction, colour = "#8b9299" }
local flat, upright_x, upright_z = torus { radius = R, tube = wire }, torus { radius = r, tube = wire, rotation_deg = {90, 0, 0} }, torus { radius = r, tube = wire, rotation_deg = {0, 0, 90} }
local function at(i) return (i - 0.5 - 0.5 * p.rings) * pitch end
for i = 1, p.rings do
  for j = 1, p.rings do bodies[#bodies + 1] = { name = string.format("flat %d.%d", i, j), shape = flat, at = {at(i), level, at(j)}, material = steel } end
end
for i = 0, p.rings do
  for j = 1, p.rings do
    bodies[#bodies + 1] = { name = string.format("x %d.%d", i, j), shape = upright_x, at = {at(i) + 0.5 * pitch, level, at(j)}, material = steel }
    bodies[#bodies + 1] = { name = string.format("z %d.%d", j, i), shape = upright_z, at = {at(j), level, at(i) + 0.5 * pitch}, material = steel }
  end
end
-- the frame: four bars where the next flat rings would have their wire
local bar = 0.5 * net + hold - 0.3 * u
for i, b in ipairs { {bar, 0}, {-bar, 0}, {0, bar}, {0, -bar} } do
  local along_z = b[1] ~= 0
  local to = along_z and {0, 0, bar + wire} or {bar + wire, 0, 0}
  bodies[#bodies + 1] = { name = "bar " .. i, kind = "static", shape = capsule { from = {-to[1], 0, -to[3]}, to = to, radius = wire }, at = {b[1], level, b[2]}, friction = p.friction, colour = "#5b4636" }
end
for i = -1, 1, 2 do
  for j = -1, 1, 2 do
    bodies[#bodies + 1] = { name = string.format("leg %d %d", i, j), kind = "static", shape = cylinder { radius = 2 * u, height = level }, at = {i * (bar + 2 * wire), 0.5 * level, j * (bar + 2 * wire)}, colour = "#5b4636" }
  end
end
bodies[#bodies + 1] = { name = "ground", kind = "static", shape = box { size = {net + 1.2, 4 * u, net + 0.8} }, at = {0, -2 * u, 0}, friction = p.friction, colour = "#d8d6d0" }

-- the pipe, its mouth above the middle of the net, and the piston in it
local cell = 8.4 * u
local half, mouth, floor = 0.5 * p.across * cell + 0.5 * u, 0.08 * net, level + (paper and 1.6 or 0.3)
local long = p.length * cell + 0.3
local function plank(name, size, x, y, z, opacity) bodies[#bodies + 1] = { name = name, kind = "static", shape = box { size = size }, at = {mouth - 0.5 * long, y, 0}, friction = 0.2, colour = "#a8a196", opacity = opacity } ; bodies[#bodies].at[3] = z end
plank("pipe floor", {long, 4 * u, 2 * half + 8 * u}, 0, floor - 2 * u, 0, 1)
plank("pipe left", {long, 2 * half, 4 * u}, 0, floor + half, half + 2 * u, 0.25)
plank("pipe right", {long, 2 * half, 4 * u}, 0, floor + half, -half - 2 * u, 0.25)
local back = mouth - p.length * cell - 3 * u
bodies[#bodies + 1] = { name = "piston", shape = box { size = {4 * u, 2 * half - 3 * u, 2 * half - 3 * u} }, at = {back, floor + half, 0}, friction = 0.2, colour = "#4a7fb5",
  motion = function(t) return { at = {back + math.min(p.speed * math.max(0, t - 0.1), mouth - back), floor + half, 0} } end }
local grain, n = shape_file "grain", 0
for i = 1, p.length do
  for j = 1, p.across do
    for k = 1, p.across do
      n = n + 1
      bodies[#bodies + 1] = { name = "grain " .. n, shape = grain, at = {mouth - (i - 0.5) * cell, floor + (j - 0.5) * cell + 0.5 * u, (k - 0.5 - 0.5 * p.across) * cell},
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
  duration = p.seconds, fps = 25, dt_max = 2e-3,
  sph = { spacing = p.h, push_out = 0.1, iterations_least = 6 },
  solver = { pressure = { method = "nncg", iterations = 15 } },
  bodies = bodies,
  camera = { eye = {1.3, 1.5, 2.2}, target = {0, 0.5, 0}, fov_deg = 40 },
}
