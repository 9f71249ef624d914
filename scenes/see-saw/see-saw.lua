-- A marble run: marbles roll down two ramps onto a see-saw, which tips when enough of them lie on its far side.
local p = params { marbles = 6, friction = 0.4 }
local wood, glass = "#c49a6c", "#2e86c1"
local bodies = {
  { name = "floor", kind = "static", shape = plane {}, colour = "#bdb6a8", friction = p.friction },
  { name = "ramp 1", kind = "static", shape = box { size = {1.2, 0.03, 0.16} }, at = {-0.5, 1.1, 0}, rotation_deg = {0, 0, -12}, colour = wood, friction = p.friction },
  { name = "ramp 2", kind = "static", shape = box { size = {1.2, 0.03, 0.16} }, at = {0.5, 0.7, 0}, rotation_deg = {0, 0, 12}, colour = wood, friction = p.friction },
  { name = "stop", kind = "static", shape = box { size = {0.03, 0.3, 0.16} }, at = {1.1, 0.95, 0}, colour = wood },
  { name = "see-saw", shape = box { size = {1.2, 0.03, 0.2} } + box { size = {0.03, 0.12, 0.2}, center = {-0.6, 0.06, 0} } + box { size = {0.03, 0.12, 0.2}, center = {0.6, 0.06, 0} },
    at = {-0.35, 0.3, 0}, density = 500, colour = "#d4ac6e", friction = p.friction },
}
for side = -1, 1, 2 do
  bodies[#bodies + 1] = { name = "rail 1 " .. side, kind = "static", shape = box { size = {1.2, 0.1, 0.01} }, at = {-0.5, 1.13, 0.085 * side}, rotation_deg = {0, 0, -12}, colour = wood, opacity = 0.5, friction = 0 }
  bodies[#bodies + 1] = { name = "rail 2 " .. side, kind = "static", shape = box { size = {1.2, 0.1, 0.01} }, at = {0.5, 0.73, 0.085 * side}, rotation_deg = {0, 0, 12}, colour = wood, opacity = 0.5, friction = 0 }
end
for k = 1, p.marbles do
  bodies[#bodies + 1] = { name = "marble " .. k, shape = sphere { radius = 0.04 }, density = 2500, friction = p.friction, restitution = 0.2,
                          at = {-1.02 + 0.09 * (k - 1), 1.28 - 0.0191 * (k - 1), 0}, colour = glass }
end
return scene {
  talus = 1, engine = "grid",
  title = "A marble run with a see-saw",
  about = "marbles roll down two ramps and tip a see-saw on a hinge",
  minutes = 0.3,
  duration = size == "paper" and 10 or 5, fps = 50, dt_max = 0.01,
  bodies = bodies,
  joints = { { name = "pivot", kind = "hinge", a = "see-saw", at = {-0.35, 0.3, 0}, axis = {0, 0, 1}, limits = {-0.3, 0.3}, friction = 0.02 } },
  camera = { eye = {0.3, 1.3, 3.2}, target = {0, 0.65, 0}, fov_deg = 40 },
}
