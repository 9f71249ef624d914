-- Rabbits are poured into a bowl, layer by layer, and come to rest.
local p = params { n = size == "paper" and 1000 or 125, friction = 0.4, seed = 3 }
math.randomseed(p.seed)
local rabbit = shape_file "rabbit":move({0, -0.13, 0}) -- about its middle
local furs = { "#b08560", "#8a6a50", "#d8c3a5", "#6f6259", "#c9a27a", "#efe8dc" }

-- The bowl grows with what it holds.
local radius = 0.75 * (p.n / 125) ^ (1 / 3) -- inside
local wall = 0.12
local rim = 0.35 * radius                   -- straight part above the half ball
local profile = { {0, 0} }
local function put(r, y) profile[#profile + 1] = {r, y} end
put(0.55 * radius, 0)
local n = 48
for i = 0, n do
  local a = math.rad(34 + 56 * i / n)
  put((radius + wall) * math.sin(a), (radius + wall) * (1 - math.cos(a)))
end
put(radius + wall, radius + wall + rim)
put(radius, radius + wall + rim)
for i = n, 0, -1 do
  local a = math.rad(90 * i / n)
  put(radius * math.sin(a), wall + radius * (1 - math.cos(a)))
end
local bowl = revolve { profile = profile }

local function any_rotation()
  local u, v, w = math.random(), 2 * math.pi * math.random(), 2 * math.pi * math.random()
  local a, b = math.sqrt(1 - u), math.sqrt(u)
  return {a * math.sin(v), a * math.cos(v), b * math.sin(w), b * math.cos(w)}
end

-- Rabbits reach 0.17 m from their middle: places of a lattice inside the bowl's opening, upwards.
local pitch = 0.35
local places, y = {}, wall + 0.75 * radius
while #places < p.n do
  local side = math.floor((radius - 0.22) / pitch)
  for i = -side, side do
    for k = -side, side do
      local x, z = i * pitch, k * pitch
      if math.sqrt(x * x + z * z) < radius - 0.22 and #places < p.n then places[#places + 1] = {x, y, z} end
    end
  end
  y = y + pitch
end

local bodies = { { name = "bowl", kind = "static", shape = bowl, friction = p.friction, colour = "#4f8fa8", opacity = 0.35 },
                 { name = "ground", kind = "static", shape = plane {}, friction = p.friction } }
for i, at in ipairs(places) do
  bodies[#bodies + 1] = { name = "rabbit " .. i, shape = rabbit, at = at, rotation = any_rotation(), density = 500, friction = p.friction,
                          colour = furs[math.random(1, #furs)] }
end

return scene {
  talus = 1, engine = "grid",
  title = p.n .. " rabbits in a bowl",
  about = "rabbits are poured into a bowl and come to rest",
  minutes = size == "paper" and 60 or 5,
  duration = 6, fps = 50, dt_max = 0.01,
  bodies = bodies,
  camera = { eye = {1.9 * radius, 3.1 * radius, 3.4 * radius}, target = {0, 0.9 * radius, 0}, fov_deg = 36 },
}
