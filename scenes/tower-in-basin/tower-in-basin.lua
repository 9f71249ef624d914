-- A tower of posts and planks stands in a basin of water. Two ducks hang beside it, are thrown at it at `hit` seconds and bring it down into the water.
-- A storey is nine posts and three planks, turned by 90 degrees from storey to storey.
local paper = size == "paper"
local p = params { storeys = paper and 42 or 13, h = 0.025, posts = paper and 4 or 3, hit = 1.0, speed = 7.0, friction = 0.6 }
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
for i, at in ipairs { {-0.8 * span, (p.storeys * 0.55) * storey, 0.1 * span}, {-0.8 * span, (p.storeys * 0.25 + 1) * storey, -0.1 * span} } do
  bodies[#bodies + 1] = { name = "duck " .. i, shape = big, mass = mass, at = at,
    force = function(t)
      if t < p.hit then return {0, 9.81 * mass, 0} end
      return t < p.hit + push and {mass * p.speed / push, 9.81 * mass, 0} or {0, 0, 0}
    end }
end
return scene {
  talus = 1, engine = "sph",
  title = "Tower of " .. p.storeys .. " storeys in a basin",
  about = "a tower stands in water until two ducks hit it",
  figure = "Probst and Teschner 2023, figure 12",
  minutes = paper and 600 or 4,
  duration = p.hit + 1.2, fps = 25, dt_max = 2e-3,
  solver = { pressure = { iterations = 400 } }, sph = { spacing = h, inset = 0.5, push_out = 0.1 },
  domain = { min = {-0.5 * side, 0, -0.5 * side}, max = {0.5 * side, (p.storeys + 3) * storey, 0.5 * side}, y_max = "open", friction = p.friction },
  bodies = bodies,
  fill = { { material = liquid { density = 1000, colour = "#4a90c2" }, sampling = "lattice", shape = box { size = {side - 0.5 * h, depth, side - 0.5 * h}, center = {0, 0.5 * depth, 0} } } },
  camera = { eye = {2.6 * span, 0.62 * p.storeys * storey, 4 * span + 1.0 * p.storeys * storey}, target = {0, 0.5 * p.storeys * storey, 0}, fov_deg = 36 },
  render = { walls = "frame" },
}
