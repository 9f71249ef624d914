-- Three square cloths, equal but for their material, are pulled to 1.4 times their length. ARAP has no sideways contraction, the others have.
-- paper: 71 x 71 squares each (10 225 nodes, 20 164 triangles).
local p = params { squares = size == "paper" and 71 or 24, young = 1e5, stretch = 0.4 }
local models = { { "arap", "#b8483f" }, { "corotated", "#3f7fb8" }, { "neo_hookean", "#5d9a4c" } }
local bodies, handles = {}, {}
for i, m in ipairs(models) do
  local x = 1.25 * (i - 2)
  bodies[i] = { name = m[1], shape = box { size = {1, 0.001, 1} }, at = {x, 0.5, 0}, cells = {p.squares, 1, p.squares}, thickness = 0.001, colour = m[2],
                material = elastic { density = 1000, young = p.young, poisson = 0.45, model = m[1] } }
  for _, side in ipairs({-1, 1}) do
    handles[#handles + 1] = {
      body = m[1], shape = box { size = {1.1, 1, 0.001}, center = {x, 0.5, 0.5 * side} }, at = {x, 0.5, 0.5 * side},
      motion = function(t) return { at = {x, 0.5, side * (0.5 + 0.5 * p.stretch * math.min(t, 1))} } end,
    }
  end
end
return scene {
  talus = 1, engine = "lg",
  title = "Cloth extension",
  about = "three cloths of three materials are stretched by two fifths",
  figure = "Zeng2025 table 3, cloth extension",
  minutes = size == "paper" and 0.5 or 0.1,
  duration = 1.5, fps = 50, dt_max = 0.01, gravity = {0, 0, 0},
  lg = { iterations = 5 },
  bodies = bodies, handles = handles,
  camera = { eye = {0, 3.6, 3.2}, target = {0, 0.3, 0.1}, fov_deg = 36 },
}
