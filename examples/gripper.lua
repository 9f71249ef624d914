-- Two soft fingers hang over a foam block. Cables in their pads, one each, bend them inward; handles at their tops lift
-- them. The program sets lengths and places (gripper.py, gripper.c): none of them is a function of time here.
local rubber = elastic { density = 1000, young = 3e5, poisson = 0.3, friction = 0.9, colour = "#9aa0a6" }
local foam = elastic { density = 100, young = 1e5, poisson = 0.2, friction = 0.9, colour = "#d9b36c" }
local top, long, gap = 0.13, 0.12, 0.031
local bodies = {
  { name = "block", shape = box { size = {0.05, 0.05, 0.04} }, at = {0, 0.0251, 0}, cells = {3, 3, 2}, material = foam },
  { name = "ground", kind = "static", shape = plane {}, friction = 0.9 },
}
local handles, cables = {}, {}
for _, side in ipairs({-1, 1}) do
  local name, x = side < 0 and "left" or "right", gap * side + 0.006 * side
  bodies[#bodies + 1] = { name = name, shape = box { size = {0.012, long, 0.03} }, at = {x, top - long / 2, 0},
                          cells = {1, 8, 2}, material = rubber }
  handles[#handles + 1] = { body = name, shape = box { size = {0.02, 0.032, 0.04}, center = {x, top, 0} } }
  local points = {}
  for k = 0, 6 do points[k + 1] = {x - 0.005 * side, top - 0.016 - 0.0165 * k, 0} end
  cables[#cables + 1] = { body = name, points = points, compliance = 1e-5 }
end
return scene {
  talus = 1, engine = "lg", title = "Gripper", duration = 10, dt_max = 0.002,
  lg = { iterations = 5 },
  bodies = bodies, handles = handles, cables = cables,
  camera = { eye = {0.2, 0.15, 0.35}, target = {0, 0.08, 0}, fov_deg = 36 },
}
