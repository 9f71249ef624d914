-- A column of two sands: smooth grains on the left, rough ones on the right. Each side gets the slope of its own angle.
local paper = size == "paper"
local p = params { cells = paper and 80 or 40, left = 20.0, right = 40.0, duration = 1.2 } -- cells per metre
local h = 1 / p.cells
local wide, high, deep = 0.24, 0.2, 8 / 40
local function half(x) return box { size = {wide / 2, high, deep}, center = {0.5 + x * wide / 4, high / 2, deep / 2} } end

return scene {
  talus = 1, engine = "grid",
  title = "Two sands side by side",
  about = "a column of two sands with different friction angles forms two slopes",
  minutes = paper and 10 or 1,
  duration = p.duration, fps = 50, dt_max = 0.01,
  grid = { cells = {p.cells, 12 * p.cells // 40, 8 * p.cells // 40}, cell = h, periodic = {false, false, true} },
  fill = {
    { material = granular { name = "smooth", density = 1600, friction_angle_deg = p.left, colour = "#e6cf9a" }, shape = half(-1) },
    { material = granular { name = "rough", density = 1600, friction_angle_deg = p.right, colour = "#a8653a" }, shape = half(1) },
  },
  solver = { density = "carried" }, -- the mass that is on a face: steps miss the stress in 0.8 instead of 5.8 % of them
  camera = { eye = {0.5, 0.4, 1.5}, target = {0.5, 0.08, 0.1}, fov_deg = 32 },
}
