-- A Lewis: a wedge is pulled up between two others that press against the walls of a slot in a heavy block. Friction alone carries the block.
-- The flanks of the puller are greased: it slips along the wedges until they press hard enough, and only then lifts.
local p = params { h = size == "paper" and 0.005 or 0.01, friction = 0.6, grease = 0.05, speed = 0.15, start = 0.3 }
local clear = 0.27 * p.h                             -- where sampled surfaces of these shapes come to rest
local slot, depth = 0.10, 0.12                       -- half width; along z
local play = 0.002                                   -- between wedges and what they press on, at the start
local lean = math.tan(math.rad(12))                  -- of the wedges' flanks
local wide = slot - 0.03 - 0.03 * lean - 2 * play    -- half width of the puller, below
local narrow = wide - 0.20 * lean                    -- and above
local function prism(profile) return extrude { profile = profile, height = depth, rotation_deg = {-90, 0, 0} } end -- profile in x, y
local wedge = shape_file "wedge"
local block = prism { {-0.22, -0.08}, {0.22, -0.08}, {0.22, 0.26}, {slot, 0.26}, {slot, -0.03}, {-slot, -0.03}, {-slot, 0.26}, {-0.22, 0.26} }
local puller = prism { {-wide, 0}, {wide, 0}, {narrow, 0.20}, {narrow, 0.36}, {-narrow, 0.36}, {-narrow, 0.20} }
local function rise(t) return { at = {0, math.max(0, p.speed * (t - p.start)), 0} } end
return scene {
  talus = 1, engine = "sph",
  title = "Lewis lift",
  about = "two wedges carry a heavy block by friction alone while the third is pulled up",
  figure = "Probst and Teschner 2023, figure 9",
  minutes = size == "paper" and 10 or 1,
  duration = p.start + 2.3, fps = 50, dt_max = 2e-3,
  solver = { pressure = { iterations = 400 } }, sph = { spacing = p.h },
  bodies = {
    { name = "ground", kind = "static", shape = box { size = {0.8, 0.05, 0.5} }, at = {0, -0.105 - 0.26 * clear, 0} },
    { name = "block", shape = block, density = 2000, friction = p.friction, colour = "#8d8d85" },
    { name = "left", shape = wedge, at = {play - slot, -0.03 + clear, 0}, rotation_deg = {0, 180, 0}, density = 2000, friction = p.friction, colour = "#b5534b" },
    { name = "right", shape = wedge, at = {slot - play, -0.03 + clear, 0}, density = 2000, friction = p.friction, colour = "#b5534b" },
    { name = "puller", shape = puller, motion = rise, friction = p.friction, colour = "#4a7fb5" },
  },
  contacts = {
    { between = {"puller", "left"}, friction = p.grease },
    { between = {"puller", "right"}, friction = p.grease },
  },
  camera = { eye = {0.5, 0.5, 1.8}, target = {0, 0.2, 0}, fov_deg = 32 },
  render = { ground_height = -0.13 },
}
