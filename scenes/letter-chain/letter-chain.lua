-- A chain with hollow letters in it hangs from an axle. The letters hold water and small ducks. After `hang` seconds the axle turns and winds the chain
-- up. Links must stay at their distance whatever they carry.
local paper = size == "paper"
local p = params { links = paper and 100 or 30, h = paper and 0.005 or 0.01, hang = 0.6, spin = 5.0, seconds = 2.0, apart = 0.0378, letters = true }
local wire = 0.02                                   -- radius
local stroke, inside = 0.12, 0.07                   -- width of a letter's stroke, of the hollow in it
local letters = { -- reach: from the middle to the middle of an eyelet's outer wire; x: of its eyelets; wet: what holds water, from the middle
  { shape = shape_file "letter-s", x = 0, turn = 0, reach = 0.30 + 0.113, wet = { size = {3 * stroke - 0.05, inside, inside}, at = {0, -2 * stroke} } },
  { shape = shape_file "letter-p", x = -stroke, turn = 0, reach = 0.30 + 0.113, wet = { size = {inside, 2.6 * stroke, inside}, at = {-stroke, -stroke + 0.02} } },
  { shape = shape_file "letter-h", x = 0, turn = 90, reach = 0.18 + 0.113, wet = { size = {5 * stroke - 0.05, inside, inside}, at = {0, -stroke} } },
}
local link, small_duck = shape_file "link", scale(shape_file "duck", 0.25)
local water = liquid { density = 1000, colour = "#4a90c2" }
local bodies, fills = {}, {}
local hook, across = 0, true                         -- middle of the lowest wire; whether it runs along z

local function hang(name, shape, x, reach, rotation, density, opacity)
  local y = hook + p.apart - reach -- wires rest a little closer: nothing overlaps at the start
  bodies[#bodies + 1] = { name = name, shape = shape, at = {-x, y, 0}, rotation_deg = rotation, density = density, friction = 0.3, opacity = opacity }
  hook, across = y - reach, not across
  return y
end
local function hang_letter(i)
  local l = letters[i]
  local y = hang("letter " .. i, l.shape, l.x, l.reach, {0, 0, l.turn}, 1200, 0.35)
  local at = {l.wet.at[1] - l.x, y + l.wet.at[2], 0}
  fills[#fills + 1] = { material = water, sampling = "lattice", shape = box { size = l.wet.size, center = at } }
  bodies[#bodies + 1] = { name = "duck " .. i, shape = small_duck, at = {at[1], at[2] - 0.024, 0}, density = 600, colour = "#c0392b" }
end

-- the axle along z, a ring below it for the first link
local ring = torus { radius = 0.055, tube = wire, rotation_deg = {90, 90, 0}, center = {0, -0.09 - 0.06, 0} }
bodies[1] = { name = "axle", shape = ring + cylinder { radius = 0.1, height = 0.9, rotation_deg = {90, 0, 0} }, friction = 0.3, colour = "#5b4636",
  motion = function(t) return { rotation_rad = {0, 0, p.spin * math.max(0, t - p.hang)} } end }
hook = -0.09 - 0.06 - 0.055
local letter = 0
for i = 1, p.links do
  hang("link " .. i, link, 0, 0.085, {0, across and 0 or 90, 0}, 2000, 1)
  if p.letters and letter < 3 and i >= (letter + 1) * p.links // 4 and across then
    letter = letter + 1
    hang_letter(letter)
  end
end
return scene {
  talus = 1, engine = "sph",
  title = "Chain of " .. p.links .. " links",
  about = "a chain with letters full of water and ducks does not stretch, hanging or wound up",
  figure = "Probst and Teschner 2023, figure 14",
  minutes = paper and 600 or 4,
  duration = p.seconds, fps = 50, dt_max = 1e-3,
  solver = { pressure = { iterations = 600 } }, sph = { spacing = p.h, inset = 0.5, push_out = 0.05 },
  bodies = bodies, fill = fills,
  camera = { eye = {2.2, 0.4 * hook, 4.2 - 0.3 * hook}, target = {0, 0.5 * hook, 0}, fov_deg = 60 },
  render = { ground = false },
}
