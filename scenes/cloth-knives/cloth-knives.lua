-- A cloth falls on five blades, each a wedge of 44 degrees with a sharp edge on top. Nothing cuts; the cloth drapes.
-- paper: 71 x 71 squares (10 225 nodes); squares = 50 and 87 give 5.1k and 15.3k.
local p = params { squares = size == "paper" and 71 or 30, friction = 0.3, young = 1e5 }
local cloth = elastic { density = 1000, young = p.young, poisson = 0.4, model = "neo_hookean", friction = p.friction }
-- A profile lies in x and z and is drawn out along y; turned, the edge points up and the blade runs along z.
local half = 0.3 * math.tan(math.rad(22))
local blade = extrude { profile = { {-half, 0.3}, {half, 0.3}, {0, 0} }, height = 1.4 }:rotate({90, 0, 0})
local bodies = {
  { name = "cloth", shape = box { size = {1, 0.002, 1} }, at = {0, 0.42, 0}, cells = {p.squares, 1, p.squares}, thickness = 0.002, material = cloth, colour = "#b8483f" },
  { name = "ground", kind = "static", shape = plane {}, friction = p.friction },
}
for i = -2, 2 do
  bodies[#bodies + 1] = { name = "knife " .. i + 3, kind = "static", shape = blade, at = {0.24 * i, 0.38 - 0.03 * i * i, 0}, friction = p.friction, colour = "#8d979e" }
end
return scene {
  talus = 1, engine = "lg",
  title = "Cloth on knives",
  about = "a cloth comes to rest on five sharp edges",
  figure = "Zeng2025 table 3, cloth on knives",
  minutes = size == "paper" and 2 or 2.5,
  duration = 1.5, fps = 50, dt_max = 0.01,
  lg = { iterations = 5, inner = 2, cr_iterations = 15, corrections = size == "paper" and 0 or -1 }, -- at its size rounds alone, as in the paper
  bodies = bodies,
  camera = { eye = {1.3, 1.25, 1.9}, target = {0, 0.26, 0}, fov_deg = 36 },
}
