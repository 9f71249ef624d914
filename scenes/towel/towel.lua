-- A towel is wrung: its ends turn against each other and come nearer. It winds up on itself and never passes through itself.
local p = params { cells = size == "paper" and 12 or 8, turns = size == "paper" and 5 or 2, rate = 1.0, young = 1e5, thickness = 0.002, friction = 0.3 }
local length, width = 0.6, 0.24
local cloth = elastic { density = 300, young = p.young, poisson = 0.3, model = "neo_hookean", friction = p.friction }
local function led(sign)
  return { body = "towel", shape = box { size = {0.002, 9, 9}, center = {sign * 0.5 * length, 0, 0} }, at = {sign * 0.5 * length, 0, 0},
           motion = function(t)
             local turned = math.min(p.rate * t, 0.5 * p.turns)
             return { rotation_rad = {sign * 2 * math.pi * turned, 0, 0}, at = {sign * (0.5 * length - 0.03 * turned), 0, 0} }
           end }
end
return scene {
  talus = 1, engine = "lg",
  title = "Wrung towel",
  about = "the ends of a towel turn against each other until it winds up on itself",
  minutes = size == "paper" and 25 or 0.6,
  duration = 0.5 * p.turns / p.rate + 0.2, fps = 25, dt_max = 0.005, gravity = {0, 0, 0},
  bodies = { { name = "towel", shape = box { size = {length, p.thickness, width} }, cells = {5 * p.cells // 2, 1, p.cells}, thickness = p.thickness,
               self_contact = true, material = cloth, colour = "#c0453f" } },
  handles = { led(-1), led(1) },
  render = { ground_height = -0.16 },
  camera = { eye = {0.35, 0.35, 0.8}, target = {0, 0, 0}, fov_deg = 40 },
}
