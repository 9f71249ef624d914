-- A paddle stirs honey in a bowl while more pours in: functions of time.
local p = params { turns_per_s = 0.5, pour = 2e-4 }
local honey = preset "honey"

local bowl = subtract { hemisphere { radius = 0.215 }:rotate {180, 0, 0}, hemisphere { radius = 0.185 }:rotate {180, 0, 0}:move {0, 0.001, 0} }
local paddle = union { box { size = {0.16, 0.1, 0.012}, round = 0.004 }, capsule { from = {0, 0, 0}, to = {0, 0.3, 0}, radius = 0.01 } }

return scene {
  talus = 1, engine = "sph",
  title = "Stirring honey",
  about = "a paddle turns in honey while more is poured in: viscosity, scripted motion, emission",
  minutes = 0.3,
  duration = 4, fps = 50,
  sph = { spacing = size == "paper" and 0.006 or 0.012 },
  fill = { { material = honey, shape = intersect { sphere { radius = 0.178, center = {0, 0.22, 0} }, half_space { point = {0, 0.16, 0} } } } },
  emitters = { { material = honey, shape = cylinder { radius = 0.012, height = 0.02, center = {0.06, 0.45, 0} }, velocity = {0, -0.5, 0},
                 rate = function(t) return t < 2 and p.pour * (1 - math.cos(math.pi * t)) or 0 end, stop = 3 } },
  bodies = {
    { name = "bowl", kind = "static", shape = bowl, at = {0, 0.22, 0}, colour = "#9fb4c0", opacity = 0.35 },
    { name = "paddle", shape = paddle, at = {0, 0.13, 0}, colour = "#b07a48",
      motion = function(t) return { rotation = { axis = {0, 1, 0}, angle_rad = 2 * math.pi * p.turns_per_s * t } } end },
  },
  camera = { eye = {0.55, 0.55, 0.6}, target = {0, 0.13, 0} },
}
