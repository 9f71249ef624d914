-- A tower of posts and planks stands in a basin of water. Two ducks hang beside it, are thrown at it at `hit` seconds and bring it down into the water.
-- With `slide = true` (size paper) they come down a waterslide instead, on a sheet of water.
-- A storey is nine posts and three planks, turned by 90 degrees from storey to storey.
local paper = size == "paper"
local p = params { storeys = paper and 42 or 13, h = 0.025, posts = paper and 4 or 3, hit = 1.0, speed = 7.0, friction = 0.6, slide = paper }
local h = p.h
local post, plank, wide = 3 * h, 3 * h, 6 * h -- edges of posts; height and width of planks: wider than posts, which lean where edges are flush
local step = 7 * h                           -- between posts
local span = (p.posts - 1) * step + wide
local sink = 0.19 * h -- where sampled surfaces of small posts come to rest
local storey = post + plank - 2 * sink
local depth = (paper and 2 or 1) * storey
local side = (paper and 3 or 2.4) * span
local bodies = {}
local function put(name, shape, at, colour)
  bodies[#bodies + 1] = { name = name, shape = shape, at = at, density = 1400, friction = p.friction, colour = colour }
end
local cube, along_x, along_z = box { size = {post, post, post} }, box { size = {span, plank, wide} }, box { size = {wide, plank, span} }
for s = 1, p.storeys do
  local y = (s - 1) * storey - sink
  for i = 1, p.posts do
    for j = 1, p.posts do
      put(string.format("post %d.%d.%d", s, i, j), cube, {(i - 0.5 - 0.5 * p.posts) * step, y + 0.5 * post, (j - 0.5 - 0.5 * p.posts) * step}, s % 2 == 0 and "#d9b26f" or "#b5793d")
    end
    local aside = (i - 0.5 - 0.5 * p.posts) * step
    if s % 2 == 0 then put(string.format("plank %d.%d", s, i), along_x, {0, y + post - sink + 0.5 * plank, aside}, "#e8d9b5")
    else put(string.format("plank %d.%d", s, i), along_z, {aside, y + post - sink + 0.5 * plank, 0}, "#e8d9b5") end
  end
end
local mass, push = paper and 40 or 12, 0.05 -- kg of a duck, s
local big = scale(shape_file "duck", paper and 3 or 1.6)
local function thrown(from, way, fast) -- hangs, and is thrown at that speed at that time
  return function(t)
    if t < from then return {0, 9.81 * mass, 0} end
    local f = t < from + push and mass * fast / push or 0
    return {f * way[1], f * way[2] + (t < from + push and 9.81 * mass or 0), 0}
  end
end
local basin, top, emitters = -0.5 * side, (p.storeys + 3) * storey, {}
local water = liquid { density = 1000, colour = "#4a90c2" }
if not p.slide then
  for i, at in ipairs { {-0.8 * span, (p.storeys * 0.55) * storey, 0.1 * span}, {-0.8 * span, (p.storeys * 0.25 + 1) * storey, -0.1 * span} } do
    bodies[#bodies + 1] = { name = "duck " .. i, shape = big, mass = mass, at = at, force = thrown(p.hit, {1, 0}, p.speed) }
  end
else
  -- From its end to the left: level, an arc, then straight up at 45 degrees. place(s): point and normal at that way from the end.
  local duck = (paper and 3 or 1.6) * 0.23                                 -- its length
  local bend, level, straight = 2 * duck, 4 * h, 5 * duck
  local x, y, arc = -0.5 * span - 8 * h, 0.4 * p.storeys * storey, bend * math.pi / 4
  local c = math.sqrt(0.5)
  local function place(s)
    if s < level then return {x - s, y}, {0, 1} end
    local a = math.min(s - level, arc) / bend
    local more = math.max(0, s - level - arc)
    return {x - level - bend * math.sin(a) - more * c, y + bend * (1 - math.cos(a)) + more * c}, {math.sin(a), math.cos(a)}
  end
  local function strip(below, above, depth, z)
    local lower, upper, n = {}, {}, 12
    for i = 0, n do
      local at, normal = place(i == 0 and 0 or i == n and level + arc + straight or level + arc * (i - 1) / (n - 2))
      upper[n + 1 - i] = {at[1] + above * normal[1], at[2] + above * normal[2]}
      lower[i + 1] = {at[1] - below * normal[1], at[2] - below * normal[2]}
    end
    for _, q in ipairs(upper) do lower[#lower + 1] = q end
    return extrude { profile = lower, height = depth, rotation_deg = {-90, 0, 0}, center = {0, 0, z} }
  end
  local wide, wall = 1.4 * duck, 2.5 * h
  bodies[#bodies + 1] = { name = "slide", kind = "static", friction = 0, colour = "#c9d4dc",
    shape = union { strip(wall, 0, wide + 2 * wall, 0), strip(wall, 0.4 * duck, wall, 0.5 * (wide + wall)), strip(wall, 0.4 * duck, wall, -0.5 * (wide + wall)) } }
  local left = place(level + arc + straight)[1] - 4 * h
  bodies[#bodies + 1] = { name = "wall of the basin", kind = "static", shape = box { size = {3 * h, depth + 6 * h, side} }, at = {basin - 1.5 * h, 0.5 * depth + 3 * h, 0}, colour = "#bdb7aa" }
  basin, top = left, math.max(top, place(level + arc + straight)[2] + 2 * duck)
  -- ducks wait above a sheet of water that runs ahead of them, and are let go so that the first is there at `hit`
  local first = level + arc + straight - 1.7 * duck
  local fast = math.sqrt(math.max(0, p.speed ^ 2 - 2 * 9.81 * (place(first)[2] - y)))
  local from = math.max(0.05, p.hit - first / (0.5 * (fast + p.speed)))
  for i = 1, 2 do
    local at, normal = place(first + (i - 1) * 1.15 * duck)
    bodies[#bodies + 1] = { name = "duck " .. i, shape = big, mass = mass, friction = 0.1, rotation_deg = {0, 0, -45}, force = thrown(from, {c, -c}, fast),
                            at = {at[1] + 2.5 * h * normal[1], at[2] + 2.5 * h * normal[2], 0} }
  end
  local at, normal = place(first - 0.8 * duck)
  emitters[1] = { material = water, shape = box { size = {4 * h, 3 * h, wide - 1.2 * h}, center = {at[1] + 2.2 * h * normal[1], at[2] + 2.2 * h * normal[2], 0}, rotation_deg = {0, 0, -45} },
                  start = math.max(0, from - 0.45), stop = from, rate = 2.5 * 2.5 * h * wide, velocity = {2.5 * c, -2.5 * c, 0} }
end
return scene {
  talus = 1, engine = "sph",
  title = "Tower of " .. p.storeys .. " storeys in a basin",
  about = "a tower stands in water until two ducks hit it",
  figure = "Probst and Teschner 2023, figure 12",
  minutes = paper and 600 or 4,
  duration = p.hit + 1.2, fps = 25, dt_max = 2e-3,
  solver = { pressure = { iterations = 400 } }, sph = { spacing = h, inset = 0.5, push_out = 0.1 },
  domain = { min = {basin, 0, -0.5 * side}, max = {0.5 * side, top, 0.5 * side}, y_max = "open", friction = p.friction },
  bodies = bodies,
  fill = { { material = water, sampling = "lattice", shape = box { size = {side - 0.5 * h, depth, side - 0.5 * h}, center = {0, 0.5 * depth, 0} } } },
  emitters = emitters,
  camera = { eye = {2.6 * span, 0.62 * p.storeys * storey, 4 * span + 1.0 * p.storeys * storey}, target = {0, 0.5 * p.storeys * storey, 0}, fov_deg = 36 },
  render = { walls = "frame" },
}
